/**
 * One visitor in a hundred comes by the client that other teams install (client/), which joins, waits and claims the
 * turn by itself; the steps after that are those of any program. Each of its calls is counted and timed as the others.
 */
import { FlashSale, WaitOver } from '../../client/src/index.ts'
import type { Answer } from '../lib/http.ts'
import type { Crowd } from './crowd.ts'
import type { Kind } from './tally.ts'
import { sourceOf } from './visitors/sources.ts'
import { PLAN, type Visitor } from './visitors/visitors.ts'

/** Half of those without a script, who are two in a hundred by default. */
export const comesByClient = ({ id, plan }: Visitor) => (plan & PLAN.poller) !== 0 && id % 2 === 1

/** A client that failed for good begins again after this time, and gives up after so many times. */
const AGAIN_MS = 2_000
const MAX_BEGINNINGS = 10

type Times = Pick<Answer, 'sentMs' | 'answeredMs'>

/** What becomes of a visitor, as the steps of all visitors have it (visit.ts). */
interface Steps {
  joined(place: { readonly number: number; readonly token: string }, times: Times): void
  admitted(token: string, endsMs: number, serving: number, answeredMs: number): void
  over(as: 'sold_out' | 'ended', seenMs: number): void
}

export async function waitByClient(crowd: Crowd, visitor: Visitor, steps: Steps): Promise<void> {
  const { tally, options } = crowd
  const { signal } = crowd.ending
  let last: Times = { sentMs: 0, answeredMs: 0 }
  /** When a call was first sent that is not served yet. */
  const meantMs = new Map<Kind, number>()
  const shop = new FlashSale(options.worker, {
    fetch: async (input, init) => {
      const kind = kindOf(String(input))
      tally.requested(kind, visitor)
      const sentMs = performance.now()
      if (!meantMs.has(kind)) meantMs.set(kind, sentMs)
      const headers = { ...(init?.headers as Record<string, string>), ...headersOf(crowd, visitor) }
      const response = await fetch(input, { ...init, headers }).catch((error) => {
        tally.refused(kind, { status: 0, failure: 'no response' })
        throw error
      })
      last = { sentMs, answeredMs: performance.now() }
      tally.refused(kind, { status: response.status, failure: 'no response' })
      if (response.status < 500 && response.status !== 429) {
        tally.latency[kind].add(last.answeredMs - (meantMs.get(kind) ?? sentMs))
        meantMs.delete(kind)
      }
      return response
    },
  })
  try {
    const place =
      visitor.number === null
        ? await shop.join(options.sale, sentBy(crowd, visitor), { signal })
        : shop.resume(options.sale, visitor.token)
    if (visitor.number === null && place.number !== undefined)
      steps.joined({ number: place.number, token: place.token }, last)
    let serving = 0
    const turn = await place.wait({
      signal,
      onStatus: ({ status, number, position_in_queue: position, now_serving }) => {
        serving = now_serving
        visitor.token = place.token
        if (number !== visitor.number) tally.complain('client: another number')
        crowd.checkPosition(visitor, status === 'waiting' && position !== null ? position + serving : null)
      },
    })
    if (!visitor.end) steps.admitted(turn.token, turn.expiresAt?.getTime() ?? 0, serving, performance.now())
  } catch (error) {
    if (visitor.end) return
    if (error instanceof WaitOver && error.reason === 'missed_turn') return crowd.finish(visitor, 'missed_turn')
    const over = error instanceof WaitOver ? error.reason : OVER[(error as { readonly type?: string }).type ?? '']
    if (over === 'sold_out' || over === 'ended') return steps.over(over, performance.now())
    tally.complain(`client: ${error}`)
    if (++visitor.attempts > MAX_BEGINNINGS) return crowd.finish(visitor, 'failed')
    crowd.at(visitor, performance.now() + AGAIN_MS)
  }
}

/** The problems of a join to a sale that is over. */
const OVER: Readonly<Record<string, 'sold_out' | 'ended'>> = { 'sold-out': 'sold_out', ended: 'ended' }

function kindOf(url: string): Kind {
  return url.endsWith('/queue/status') ? 'status' : url.includes('/challenge') ? 'challenge' : 'join'
}

function sentBy({ options }: Crowd, visitor: Visitor) {
  const { invitation } = options.identityOf(visitor.id)
  const source = sourceOf(visitor.id)
  return {
    ...(invitation !== null && { invitation }),
    ...(visitor.proof !== null && { altcha: visitor.proof }),
    ...(source && { source }),
  }
}

const headersOf = ({ options }: Crowd, { id }: Visitor): Record<string, string> =>
  Object.fromEntries(options.identityOf(id).headers.map((line) => line.split(/: */, 2) as [string, string]))
