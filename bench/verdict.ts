/**
 * The verdict on a rehearsal: pure, from what every client was told and what the ledger says. Each check can fail, and
 * says by how much.
 */
import { commitmentHolds, positionOf } from '../shared/draw.ts'

/** What one visitor went through. Times are milliseconds on the rehearsal's clock; null means it did not happen. */
export interface Story {
  readonly number: number | null
  readonly joinSentMs: number
  readonly joinAnsweredMs: number
  /** As the server said when it called the turn. */
  readonly admittedAtServing: number | null
  readonly order: string | null
  readonly end: End
}

export const ENDS = [
  'bought',
  'declined',
  'abandoned',
  'sold_out',
  'ended',
  'missed_turn',
  'gave_up',
  'failed',
] as const
export type End = (typeof ENDS)[number]

export interface LedgerOrder {
  readonly order_id: string
  readonly status: string
}

export interface Evidence {
  readonly stock: number
  readonly stories: readonly Story[]
  readonly orders: readonly LedgerOrder[]
  readonly inventory: { total: number; available: number; held: number; sold: number }
  readonly draw: { commitment: string; commitmentBefore: string; seed: string; size: number }
  /** Charges by order, from the provider's own records; null when they are out of reach. */
  readonly charges: readonly { order: string; status: string }[] | null
  /** The worst round trip of a join, milliseconds: what the bound on inversions adds to the lease. */
  readonly worstRoundTripMs: number
}

export interface Check {
  readonly what: string
  readonly holds: boolean
  readonly detail: string
}

/** A lease lives this long (DESIGN.md, promise 5). */
const LEASE_MS = 250

export function verdict(e: Evidence): Check[] {
  return [
    soldExactly(e),
    reservedIsRecorded(e),
    everyoneAnswered(e),
    numbersUnique(e),
    ...order(e),
    ...charges(e),
  ]
}

const check = (what: string, holds: boolean, detail: string): Check => ({ what, holds, detail })

function soldExactly({ stock, stories, inventory }: Evidence): Check {
  const bought = stories.filter((s) => s.end === 'bought').length
  const { total, available, held, sold } = inventory
  const wanted = stories.some((s) => s.end === 'sold_out') ? stock : bought
  const holds = total === stock && available + held + sold === total && sold === wanted && bought === sold
  return check(
    'sold exactly',
    holds,
    `${sold} sold of ${stock}; ${bought} clients told so; ${held} held, ${available} left`,
  )
}

function reservedIsRecorded({ stories, orders }: Evidence): Check {
  const byId = new Map(orders.map((o) => [o.order_id, o.status]))
  const told = stories.filter((s) => s.order !== null)
  const lost = told.filter((s) => !byId.has(s.order ?? ''))
  const untrue = told.filter(
    (s) => s.end === 'bought' && !/^(confirmed|fulfilled)$/.test(byId.get(s.order ?? '') ?? ''),
  )
  return check(
    'nobody told "reserved" without an order',
    lost.length === 0 && untrue.length === 0,
    `${told.length} told reserved, ${lost.length} without an order, ${untrue.length} told bought and not confirmed`,
  )
}

function everyoneAnswered({ stories }: Evidence): Check {
  const lost = stories.filter((s) => s.number === null || s.end === 'failed' || s.end === 'gave_up')
  return check(
    'nobody lost',
    lost.length === 0,
    `${lost.length} of ${stories.length} visitors without an honest end`,
  )
}

function numbersUnique({ stories }: Evidence): Check {
  const numbers = stories.flatMap((s) => (s.number === null ? [] : [s.number]))
  const twice = numbers.length - new Set(numbers).size
  return check('no ticket number given twice', twice === 0, `${numbers.length} numbers, ${twice} given twice`)
}

function order({ stories, draw, worstRoundTripMs }: Evidence): Check[] {
  const drawn = { seed: draw.seed, size: draw.size }
  const early = stories.filter((s) => {
    if (s.number === null || s.admittedAtServing === null) return false
    return positionOf(drawn, s.number) > s.admittedAtServing
  })
  const late = stories.filter((s) => s.number !== null && s.number > draw.size)
  const worst = worstInversionMs(late)
  const bound = LEASE_MS + worstRoundTripMs
  return [
    check(
      'the draw is the one committed to',
      draw.commitment === draw.commitmentBefore && commitmentHolds(draw.commitment, draw.seed),
      `${draw.size} numbers drawn`,
    ),
    check('nobody admitted before their turn', early.length === 0, `${early.length} admitted early`),
    check(
      'first come, first served',
      worst <= bound,
      `worst inversion ${worst.toFixed(0)} ms; the bound is ${LEASE_MS} ms + a round trip = ${bound.toFixed(0)} ms`,
    ),
  ]
}

/**
 * The worst inversion: someone was answered, and someone who asked only so many milliseconds later got a lower number.
 */
export function worstInversionMs(stories: readonly Story[]): number {
  const byNumber = [...stories].sort((a, b) => (a.number ?? 0) - (b.number ?? 0))
  let worst = 0
  let earliestAnswerBehind = Number.POSITIVE_INFINITY
  for (let i = byNumber.length - 1; i >= 0; i--) {
    const story = byNumber[i]
    if (!story) continue
    worst = Math.max(worst, story.joinSentMs - earliestAnswerBehind)
    earliestAnswerBehind = Math.min(earliestAnswerBehind, story.joinAnsweredMs)
  }
  return worst
}

function charges({ charges: records, orders }: Evidence): Check[] {
  if (!records) return []
  const paid = records.filter((c) => c.status === 'succeeded')
  const confirmed = new Set(
    orders.filter((o) => /^(confirmed|fulfilled)$/.test(o.status)).map((o) => o.order_id),
  )
  const twice = paid.length - new Set(paid.map((c) => c.order)).size
  const wrong = paid.filter((c) => !confirmed.has(c.order)).length
  const unpaid = confirmed.size - new Set(paid.map((c) => c.order).filter((o) => confirmed.has(o))).size
  return [
    check(
      'charged once, and only for what was sold',
      twice === 0 && wrong === 0 && unpaid === 0,
      `${paid.length} charges for ${confirmed.size} sold; ${twice} twice, ${wrong} for nothing, ${unpaid} unpaid`,
    ),
  ]
}
