/**
 * The verdict on a rehearsal: pure, from what every client was told and from what the ledger and the payment provider
 * have on record. Every check can fail, and says by how much.
 */
import { commitmentHolds, positionOf } from '../shared/draw.ts'
import { NO_CEILING } from '../shared/schedule.ts'

export const ENDS = [
  'bought',
  'declined',
  'payment_timeout',
  'abandoned',
  'expired',
  'no_show',
  'sold_out',
  'ended',
  'missed_turn',
  'gave_up',
  'failed',
] as const
export type End = (typeof ENDS)[number]

/** What one visitor went through. Times are milliseconds on the server's clock; null means it did not happen. */
export interface Story {
  /** Null for those who came when it was over, or never got one. */
  readonly number: number | null
  readonly joinSentMs: number
  readonly joinAnsweredMs: number
  readonly admittedMs: number | null
  /** How far the line was, as the answer that admitted them said. */
  readonly admittedAtServing: number | null
  /** The order they were told of, and the last status they saw. */
  readonly order: string | null
  readonly orderStatus: string | null
  readonly end: End
}

export interface LedgerOrder {
  readonly order_id: string
  readonly status: string
  readonly visitor: string
  readonly ticket_number: number
  readonly quantity: number
}

export interface Charge {
  readonly order: string
  readonly status: string
}

export interface BotEvidence {
  /** Joins of one who had joined, and how many of them got a number they should not have. */
  rejoins: number
  otherNumbers: number
  /** Checkouts without an admission, and how many of them were not refused. */
  intrusions: number
  letIn: number
  /** Answers to double clicks and second keys that named an order, and how many named a second one. */
  rushes: number
  secondOrders: number
}

export interface Evidence {
  readonly stock: number
  readonly rate: number
  readonly limit: number
  /** True if time ran out before everyone had come to an end. */
  readonly cutShort: boolean
  readonly stories: readonly Story[]
  readonly orders: readonly LedgerOrder[]
  readonly inventory: { total: number; available: number; held: number; sold: number }
  readonly draw: {
    readonly commitmentBefore: string
    readonly commitment: string
    readonly seed: string | null
    readonly size: number
    readonly beacon: string | null
  }
  /** The highest position the public documents had called by a moment of the server's clock. */
  readonly servedByMs: (atMs: number) => number
  /** The public documents in the order in which they were read: how far each had the line when it was made. */
  readonly served: readonly number[]
  /** Positions told by answers, and how many differ from the draw as recomputed. */
  readonly positions: { readonly told: number; readonly wrong: number }
  /** Moments of first checkout calls, milliseconds, in order. */
  readonly shoppingMs: readonly number[]
  /** From the provider's own records; null when they are out of reach. */
  readonly charges: readonly Charge[] | null
  /** Null where there were none. */
  readonly bots: BotEvidence | null
}

export interface Check {
  readonly what: string
  /** Null if there was nothing to judge by. */
  readonly holds: boolean | null
  readonly detail: string
}

/** A lease lives this long (DESIGN.md, promise 5). */
export const LEASE_MS = 250
/** The rate is kept within this over RATE_WINDOW_MS, beside what chance and a person's own time do to it. */
const RATE_TOLERANCE = 0.02
const RATE_WINDOW_MS = 10_000
/** People who are called evenly click unevenly: those of this time may come in a bunch. */
const BUNCH_MS = 2_000
/** Ranks agree by chance this many standard deviations at most, once in a million rehearsals. */
const CHANCE_SIGMAS = 5
const ORDER_ENDS: Partial<Record<End, RegExp>> = {
  bought: /^(confirmed|fulfilled)$/,
  declined: /^cancelled$/,
  payment_timeout: /^cancelled$/,
  abandoned: /^expired$/,
  expired: /^expired$/,
}
const LIVE = /^(reserved|paying|confirmed|fulfilled)$/
const SOLD = /^(confirmed|fulfilled)$/

export function verdict(e: Evidence): Check[] {
  const orders = new Map(e.orders.map((o) => [o.order_id, o]))
  return [
    soldExactly(e),
    everyoneAnswered(e),
    reservedIsRecorded(e, orders),
    endsAreTrue(e, orders),
    nothingUnasked(e, orders),
    limitKept(e),
    chargedOnce(e),
    numbersUnique(e),
    drawCommitted(e),
    positionsTold(e),
    speedBoughtNothing(e),
    firstCome(e),
    nobodyEarly(e),
    neverBack(e),
    rateKept(e),
    ...bots(e),
  ]
}

/** What did not hold makes a rehearsal bad; what could not be judged does not. */
export const isGood = (checks: readonly Check[]) => checks.every((c) => c.holds !== false)

const check = (what: string, holds: boolean | null, detail: string): Check => ({ what, holds, detail })
const n = (count: number) => count.toLocaleString('en')

// -- Stock, orders, money ------------------------------------------------------------------------------------------

/**
 * If anyone was told "sold out" every unit must be sold; and however it ended, the ledger's sum must be right, nothing
 * may be held any more, and the clients who were told "confirmed" must be exactly those who have the units.
 */
function soldExactly({ stock, stories, inventory }: Evidence): Check {
  const bought = count(stories, (s) => s.end === 'bought')
  const refused = count(stories, (s) => s.end === 'sold_out')
  const { total, available, held, sold } = inventory
  const wanted = refused > 0 ? stock : bought
  const holds =
    total === stock &&
    available + held + sold === total &&
    available >= 0 &&
    held === 0 &&
    sold === wanted &&
    bought === sold
  return check(
    'sold exactly',
    holds,
    `${n(sold)} sold of ${n(stock)}, ${n(bought)} clients told so; ${n(held)} held, ${n(available)} left; ${n(refused)} told "sold out"`,
  )
}

function everyoneAnswered({ stories, cutShort }: Evidence): Check {
  const lost = count(stories, (s) => s.end === 'failed' || s.end === 'gave_up' || s.end === 'missed_turn')
  return check(
    'nobody lost',
    lost === 0 && !cutShort,
    `${n(lost)} of ${n(stories.length)} visitors without an honest end${cutShort ? '; time ran out' : ''}`,
  )
}

function reservedIsRecorded({ stories }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  let told = 0
  let lost = 0
  let anothers = 0
  for (const story of stories) {
    if (story.order === null || story.orderStatus === 'processing') continue
    told++
    const recorded = orders.get(story.order)
    if (!recorded) lost++
    else if (recorded.ticket_number !== story.number) anothers++
  }
  return check(
    'nobody told "reserved" without an order',
    lost === 0 && anothers === 0,
    `${n(told)} told, ${n(lost)} without an order in the ledger, ${n(anothers)} with someone else's`,
  )
}

function endsAreTrue({ stories }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  let judged = 0
  let untrue = 0
  for (const story of stories) {
    const wanted = ORDER_ENDS[story.end]
    if (!wanted) continue
    judged++
    if (story.order === null || !wanted.test(orders.get(story.order)?.status ?? '')) untrue++
  }
  return check(
    'orders ended as their owners were told',
    untrue === 0,
    `${n(judged)} orders, ${n(untrue)} ended otherwise`,
  )
}

/** An order in the ledger that none of its clients was told of is a unit sold to nobody. */
function nothingUnasked({ stories, orders: all }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  const told = new Set(stories.flatMap((s) => (s.order === null ? [] : [s.order])))
  const unasked = count(all, (o) => LIVE.test(o.status) && !told.has(o.order_id))
  return check(
    'no live order that nobody was told of',
    unasked === 0,
    `${n(orders.size)} orders in the ledger, ${n(unasked)} live and unknown to the crowd`,
  )
}

function limitKept({ orders, limit }: Evidence): Check {
  const units = new Map<string, number>()
  for (const o of orders)
    if (LIVE.test(o.status)) units.set(o.visitor, (units.get(o.visitor) ?? 0) + o.quantity)
  const over = count([...units.values()], (of) => of > limit)
  return check(
    'no visitor over the limit',
    over === 0,
    `${n(units.size)} visitors with live orders, ${n(over)} with more than ${limit}`,
  )
}

function chargedOnce({ charges, orders }: Evidence): Check {
  const what = 'charged once, and only for what was sold'
  if (!charges) return check(what, null, "the provider's records are out of reach: give DATABASE_URL")
  const sold = new Set(orders.filter((o) => SOLD.test(o.status)).map((o) => o.order_id))
  const paid = charges.filter((c) => c.status === 'succeeded').map((c) => c.order)
  const once = new Set(paid)
  const twice = paid.length - once.size
  const wrong = count([...once], (order) => !sold.has(order))
  const unpaid = count([...sold], (order) => !once.has(order))
  return check(
    what,
    twice === 0 && wrong === 0 && unpaid === 0,
    `${n(paid.length)} charges for ${n(sold.size)} sold; ${n(twice)} twice, ${n(wrong)} for nothing, ${n(unpaid)} unpaid`,
  )
}

// -- The line --------------------------------------------------------------------------------------------------------

function numbersUnique({ stories }: Evidence): Check {
  const numbers = stories.flatMap((s) => (s.number === null ? [] : [s.number]))
  const twice = numbers.length - new Set(numbers).size
  const odd = count(numbers, (number) => !isNumber(number))
  return check(
    'no ticket number given twice',
    twice === 0 && odd === 0,
    `${n(numbers.length)} numbers up to ${n(numbers.reduce((most, number) => Math.max(most, number), 0))}, ${n(twice)} given twice`,
  )
}

function drawCommitted({ draw }: Evidence): Check {
  const what = 'the draw is the one committed to'
  if (draw.seed === null) return check(what, false, 'the seed was never revealed')
  const holds = draw.commitment === draw.commitmentBefore && commitmentHolds(draw.commitment, draw.seed)
  return check(what, holds, `${n(draw.size)} numbers drawn; commitment ${draw.commitment.slice(0, 12)}…`)
}

function positionsTold({ positions: { told, wrong } }: Evidence): Check {
  return check(
    'positions told are those of the draw',
    told === 0 ? null : wrong === 0,
    `${n(told)} told by answers, ${n(wrong)} differ from the draw recomputed from the public seed`,
  )
}

/** Among those who were drawn, how early one joined must say nothing about one's position. */
function speedBoughtNothing({ stories, draw }: Evidence): Check {
  const what = 'speed bought nothing before the opening'
  const early = stories.filter((s): s is Story & { number: number } => inDraw(s, draw.size))
  if (draw.seed === null || early.length < 30)
    return check(what, null, `${n(early.length)} in the draw: too few to tell`)
  const drawn = { seed: draw.seed, size: draw.size, beacon: draw.beacon }
  // A sample is enough, and positions are dear.
  const step = Math.max(1, Math.floor(early.length / 20_000))
  const sample = early.filter((_, i) => i % step === 0)
  const agreement = correlation(
    ranks(sample.map((s) => s.joinAnsweredMs)),
    ranks(sample.map((s) => positionOf(drawn, s.number))),
  )
  const bound = CHANCE_SIGMAS / Math.sqrt(sample.length - 1)
  return check(
    what,
    Math.abs(agreement) <= bound,
    `${n(early.length)} in the draw; rank correlation of joining and position ${agreement.toFixed(4)}, by chance up to ±${bound.toFixed(4)}`,
  )
}

const inDraw = (s: Story, size: number) => s.number !== null && isNumber(s.number) && s.number <= size
const isNumber = (number: number) => Number.isSafeInteger(number) && number >= 1

/** Those who joined after the opening: nobody who asked clearly later may stand before one who was answered earlier. */
function firstCome({ stories, draw }: Evidence): Check {
  const late = stories.filter((s) => s.number !== null && s.number > draw.size)
  const { worstMs, beyond, inverted } = inversions(late)
  return check(
    'first come, first served',
    late.length === 0 ? null : beyond === 0,
    `${n(late.length)} joined after the opening; ${n(inverted)} overtook someone, the worst by ${worstMs.toFixed(0)} ms; ${n(beyond)} by more than ${LEASE_MS} ms + a round trip`,
  )
}

/**
 * An inversion: someone was answered, and someone who asked only so many milliseconds later got a lower number. The
 * bound is a lease's life and the round trip of the one who overtook.
 */
export function inversions(stories: readonly Story[]): { worstMs: number; beyond: number; inverted: number } {
  const byNumber = [...stories].sort((a, b) => (a.number ?? 0) - (b.number ?? 0))
  let [worstMs, beyond, inverted] = [0, 0, 0]
  let earliestAnswerBehind = Number.POSITIVE_INFINITY
  for (let i = byNumber.length - 1; i >= 0; i--) {
    const story = byNumber[i]
    if (!story) continue
    const laterMs = story.joinSentMs - earliestAnswerBehind
    if (laterMs > 0) inverted++
    if (laterMs > LEASE_MS + (story.joinAnsweredMs - story.joinSentMs)) beyond++
    worstMs = Math.max(worstMs, laterMs)
    earliestAnswerBehind = Math.min(earliestAnswerBehind, story.joinAnsweredMs)
  }
  return { worstMs, beyond, inverted }
}

/** By what the answer itself said, and by what the public documents had called until then. */
function nobodyEarly({ stories, draw, servedByMs }: Evidence): Check {
  const admitted = stories.filter((s) => s.admittedMs !== null)
  const drawn = { seed: draw.seed ?? '', size: draw.size, beacon: draw.beacon }
  let byAnswer = 0
  let byDocument = 0
  for (const { number, admittedAtServing, admittedMs } of admitted) {
    const known = draw.seed !== null && number !== null && isNumber(number)
    const position = known ? positionOf(drawn, number) : NO_CEILING
    if (position > (admittedAtServing ?? 0)) byAnswer++
    if (position > servedByMs(admittedMs ?? 0)) byDocument++
  }
  return check(
    'nobody admitted before their turn',
    byAnswer === 0 && byDocument === 0,
    `${n(admitted.length)} admitted; early by their own answer ${n(byAnswer)}, by the public schedule ${n(byDocument)}`,
  )
}

function neverBack({ served }: Evidence): Check {
  let back = 0
  for (let i = 1; i < served.length; i++) if ((served[i] ?? 0) < (served[i - 1] ?? 0)) back++
  return check(
    'the line never moved back',
    back === 0,
    `${n(served.length)} public documents, ${n(back)} steps back`,
  )
}

/** People arrive at the checkout as fast as configured, and no faster, over any ten seconds. */
function rateKept({ shoppingMs, rate }: Evidence): Check {
  const windowed = (rate * RATE_WINDOW_MS) / 1000
  const bound = windowed * (1 + RATE_TOLERANCE) + (rate * BUNCH_MS) / 1000 + 4 * Math.sqrt(windowed)
  const most = mostWithin(shoppingMs, RATE_WINDOW_MS)
  return check(
    'no faster than the rate',
    most <= bound,
    `at most ${n(most)} came to the checkout within ten seconds; ${n(windowed)} are called, and with people's own haste at most ${n(Math.floor(bound))} come`,
  )
}

/** The most moments (in any order) within a window. */
export function mostWithin(momentsMs: readonly number[], windowMs: number): number {
  const sorted = Float64Array.from(momentsMs).sort()
  let most = 0
  let from = 0
  for (let to = 0; to < sorted.length; to++) {
    while ((sorted[to] ?? 0) - (sorted[from] ?? 0) >= windowMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}

// -- Machines ----------------------------------------------------------------------------------------------------------

function bots({ bots: seen }: Evidence): Check[] {
  if (!seen) return []
  return [
    check(
      'joining again gains no bot a number',
      seen.otherNumbers === 0,
      `${n(seen.rejoins)} joins by token or cookie, ${n(seen.otherNumbers)} with another number`,
    ),
    check(
      'no bot in without an admission',
      seen.letIn === 0,
      `${n(seen.intrusions)} checkouts without an admission, ${n(seen.letIn)} not refused`,
    ),
    check(
      'double clicks and second keys make one order',
      seen.secondOrders === 0,
      `${n(seen.rushes)} answers with an order, ${n(seen.secondOrders)} with a second one`,
    ),
  ]
}

// -- Arithmetic --------------------------------------------------------------------------------------------------------

function count<T>(list: readonly T[], holds: (item: T) => boolean): number {
  let found = 0
  for (const item of list) if (holds(item)) found++
  return found
}

/** Ranks from 0 on; who is equal comes in the order given. */
function ranks(values: readonly number[]): number[] {
  const order = values.map((_, i) => i).sort((a, b) => (values[a] ?? 0) - (values[b] ?? 0))
  const rank = new Array<number>(values.length).fill(0)
  for (const [at, i] of order.entries()) rank[i] = at
  return rank
}

/** Pearson's, on ranks Spearman's. */
function correlation(a: readonly number[], b: readonly number[]): number {
  const mean = (list: readonly number[]) => list.reduce((sum, x) => sum + x, 0) / list.length
  const [ma, mb] = [mean(a), mean(b)]
  let [ab, aa, bb] = [0, 0, 0]
  for (let i = 0; i < a.length; i++) {
    const [da, db] = [(a[i] ?? 0) - ma, (b[i] ?? 0) - mb]
    ab += da * db
    aa += da * da
    bb += db * db
  }
  return aa === 0 || bb === 0 ? 0 : ab / Math.sqrt(aa * bb)
}
