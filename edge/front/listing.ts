/**
 * The sales that the shop front lists, with their current states. This is the isolate's copy of the origin's
 * catalogue, which is refreshed behind requests. While the origin is away, the last copy is shown.
 */

import { type Catalogue, type ListedSale, Listing } from '../../shared/api/front.ts'
import { tryParse } from '../../shared/parse.ts'
import type { Phase } from '../../shared/schedule.ts'
import { readInternal } from '../goods/versions.ts'
import { type Call, refuse } from '../http/call.ts'
import { Copies } from '../http/copies.ts'
import type { Arranged, FrontSale } from '../pages/front/front-page.ts'

/** An isolate shows the same state for this long. */
const FRESH_MS = 2_000
/** A request waits for at most this long if there is an older copy. */
const WAIT_MS = 1_500

export interface Front {
  readonly version: string
  /** The object is the same for the same version. */
  readonly catalogue: Catalogue
  readonly states: Listing['states']
}

const copies = new Copies<Front>({ max: 1, freshMs: FRESH_MS, waitMs: WAIT_MS })
let latest: Front | null = null

/** Throws `try-again` if the origin is away and there is no copy. */
export async function frontNow(call: Call): Promise<Front> {
  const fresh = copies.of('', () => load(call))
  const before = latest
  if (!before) return fresh
  // If this request stops waiting, the next one may find the result.
  const settled = fresh.catch(() => before)
  call.ctx.waitUntil(settled)
  return Promise.race([settled, scheduler.wait(WAIT_MS).then(() => before)])
}

async function load(call: Call): Promise<Front> {
  const has = latest?.version ?? ''
  const response = await readInternal(`/catalogue?has=${has}`, call)
  const { version, catalogue, states } = tryParse(Listing, await response.json()) ?? refuse('try-again')
  const known = catalogue ?? (latest?.version === version ? latest.catalogue : null)
  latest = { version, catalogue: known ?? refuse('try-again', { retry_after_seconds: 1 }), states }
  return latest
}

// -- At a moment ----------------------------------------------------------------------------------------------------

/** The front lists at most this many sales of each kind; the search finds the others. */
const MOST = { now: 24, soon: 48, over: 12 } as const

type Listed = Pick<Front, 'catalogue' | 'states'>

/** All sales in their states. */
export const salesAt = ({ catalogue, states }: Listed, nowMs: number): FrontSale[] =>
  catalogue.sales.map((sale) => ({ ...sale, ...stateOf(sale, states[sale.sale], nowMs) }))

export function arrange(front: Listed, nowMs: number): Arranged {
  const sales = salesAt(front, nowMs)
  const { now = [], soon = [], over = [] } = Object.groupBy(sales, ({ phase }) => KIND[phase])
  const byOpening = (a: FrontSale, b: FrontSale) => a.opens_at.localeCompare(b.opens_at)
  const overSince = ({ ends_at, opens_at, phase }: FrontSale) => (phase === 'ended' && ends_at) || opens_at
  return {
    now: now.toSorted((a, b) => byOpening(b, a)).slice(0, MOST.now),
    soon: soon.toSorted(byOpening).slice(0, MOST.soon),
    over: over.toSorted((a, b) => overSince(b).localeCompare(overSince(a))).slice(0, MOST.over),
  }
}

const KIND = {
  upcoming: 'soon',
  pre_queue: 'soon',
  open: 'now',
  paused: 'now',
  all_in_carts: 'now',
  sold_out: 'over',
  ended: 'over',
} as const satisfies Record<Phase, keyof typeof MOST>

/** The origin sends no state of a sale that ended long ago. */
function stateOf(
  sale: ListedSale,
  state: Listing['states'][string] | undefined,
  nowMs: number,
): Pick<FrontSale, 'phase' | 'left' | 'tells_restock' | 'waiting' | 'wait_seconds'> {
  if (!state) return { phase: 'ended', left: 0, tells_restock: false }
  const hasLobby = state.phase === 'upcoming' && Date.parse(sale.pre_queue_opens_at) <= nowMs
  return hasLobby ? { ...state, phase: 'pre_queue' } : state
}
