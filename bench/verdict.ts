/**
 * The verdict on a rehearsal: pure, from what every client was told and from what the ledger and the payment provider
 * have on record. Every check can fail, and says by how much.
 */
import { commitmentHolds, positionOf } from '../shared/draw.ts'
import { isDrawn, type Schedule, servingExactly } from '../shared/schedule.ts'

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

/** What buyers pay with; what an accepted payment of each must come to. */
const PAID_ENDS = { pm_ok: 'bought', pm_declined: 'declined', pm_timeout: 'payment_timeout' } as const
export type Method = keyof typeof PAID_ENDS

/** A public document, and when it was seen first and last: `server_time_ms` of the two answers. */
export interface Seen {
  readonly atMs: number
  lastMs: number
  readonly schedule: Schedule
}

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
  /** When the checkout was asked for that made the order, at the earliest. */
  readonly reserveSentMs: number | null
  /** What they pay with when they come to it; null for those who were never to pay. */
  readonly method: Method | null
  /** When they first meant to pay; and when the call was sent that was accepted. */
  readonly payMeantMs: number | null
  readonly paidSentMs: number | null
  readonly soldOutToldMs: number | null
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
  readonly amount_minor: number
  readonly currency: string
}

/** The provider's records could not be read, and why: for a person. */
export interface Unread {
  readonly unread: string
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
  readonly price: { readonly unit_price_minor: number; readonly currency: string }
  readonly holdMs: number
  /** On the server's clock. */
  readonly opensAtMs: number
  /** True if it was played on a system of its own, of which everything can be read. */
  readonly ownSystem: boolean
  /** True if time ran out before everyone had come to an end. */
  readonly cutShort: boolean
  readonly stories: readonly Story[]
  /** Numbers that were given out and are in no story: to who joined again, and to bots with two names. */
  readonly otherNumbers: readonly number[]
  readonly orders: readonly LedgerOrder[]
  readonly inventory: { total: number; available: number; held: number; sold: number }
  /** The public documents in the order in which they were read; the first was read before anyone came. */
  readonly documents: readonly Seen[]
  /** The highest position the public documents had called by a moment of the server's clock. */
  readonly servedByMs: (atMs: number) => number
  /** Positions told by answers, and how many differ from the draw as recomputed. */
  readonly positions: { readonly told: number; readonly wrong: number }
  /** Moments of first checkout calls, milliseconds, in order. */
  readonly shoppingMs: readonly number[]
  /** From the provider's own records. */
  readonly charges: readonly Charge[] | Unread
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
/** A number of the lobby may still be handed out for a lease's life and a little more when the lobby has closed. */
const LOBBY_CLOSES_MS = 2 * LEASE_MS
/** The edge's NO_SHOW_BOOST, unless it was told another: the line may run so much faster, to make up for no-shows. */
const NO_SHOW_BOOST = 2
/** Moments by two clocks are no closer to each other than the clocks are: of two Workers, or a Worker's and ours. */
const CLOCKS_MS = 100
/** The rate is kept over RATE_WINDOW_MS; people who are called evenly click unevenly: those of BUNCH_MS may come at once. */
const RATE_WINDOW_MS = 2_000
const BUNCH_MS = 2_000
/** Chance brings so many standard deviations at most. */
const RATE_SIGMAS = 4
/** Whoever comes to pay so long before their hold is over has come in time; and no hold ends so much too soon. */
const HOLD_MARGIN_MS = 1_000
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
  const draw = drawOf(e)
  return [
    soldExactly(e),
    everyoneAnswered(e),
    soldOutWasTrue(e),
    reservedIsRecorded(e, orders),
    endsAreTrue(e, orders),
    paidIsServed(e),
    nothingUnasked(e, orders),
    limitKept(e),
    chargedOnce(e, orders),
    numbersUnique(e),
    drawCommitted(e, draw),
    earlyWereDrawn(e, draw),
    positionsTold(e),
    speedBoughtNothing(e, draw),
    firstCome(e, draw),
    nobodyEarly(e, draw),
    neverBack(e),
    lineKeepsRate(e),
    peopleKeepRate(e),
    ...bots(e),
  ]
}

/** What did not hold makes a rehearsal bad; what could not be judged does not. */
export const isGood = (checks: readonly Check[]) => checks.every((c) => c.holds !== false)

const check = (what: string, holds: boolean | null, detail: string): Check => ({ what, holds, detail })
const n = (count: number) => count.toLocaleString('en')
/** A check of something that did not occur says so, and proves nothing. */
const ifAny = (occurred: number, holds: boolean) => (occurred === 0 ? null : holds)

// -- Stock, orders, money ------------------------------------------------------------------------------------------

/**
 * If anyone was told "sold out" every unit must be sold; and however it ended, the ledger's sum must be right, nothing
 * may be held any more, and the clients who were told "confirmed" must be exactly those who have the units. A sale that
 * served nobody has sold nothing exactly.
 */
function soldExactly({ stock, stories, inventory }: Evidence): Check {
  const bought = count(stories, (s) => s.end === 'bought')
  const refused = count(stories, (s) => s.end === 'sold_out')
  const { total, available, held, sold } = inventory
  const wanted = refused > 0 ? stock : bought
  const right =
    total === stock &&
    available + held + sold === total &&
    available >= 0 &&
    held === 0 &&
    sold === wanted &&
    bought === sold
  const anyServed = bought + refused > 0
  const anyWilling = stories.some((s) => s.method === 'pm_ok')
  return check(
    'sold exactly',
    right && !anyServed && !anyWilling ? null : right && anyServed,
    `${n(sold)} sold of ${n(stock)}, ${n(bought)} clients told so; ${n(held)} held, ${n(available)} left; ${n(refused)} told "sold out"`,
  )
}

/** Nobody ends a rehearsal's sale before its verdict: to be told that it has ended is no honest end. */
function everyoneAnswered({ stories, cutShort }: Evidence): Check {
  const lost = count(stories, (s) => LOST.has(s.end))
  const ended = count(stories, (s) => s.end === 'ended')
  return check(
    'nobody lost',
    lost === 0 && !cutShort,
    `${n(lost)} of ${n(stories.length)} visitors without an honest end${ended > 0 ? `, ${n(ended)} of them told that it had ended` : ''}${cutShort ? '; time ran out' : ''}`,
  )
}

const LOST: ReadonlySet<End> = new Set(['failed', 'gave_up', 'missed_turn', 'ended'])

/** From the first "sold out" on, no unit may be in anyone's cart: it might come back. Restocks are not rehearsed. */
function soldOutWasTrue({ stories, orders, holdMs, inventory, stock }: Evidence): Check {
  const what = 'nobody told "sold out" while units were in carts'
  const told = stories.flatMap((s) => (s.soldOutToldMs === null ? [] : [s.soldOutToldMs]))
  if (told.length === 0 || inventory.total > stock) return check(what, null, 'nobody was told so')
  const firstMs = told.reduce((first, ms) => Math.min(first, ms))
  const expired = new Set(orders.filter((o) => o.status === 'expired').map((o) => o.order_id))
  const late = count(stories, (s) => inCartUntilMs(s, expired, holdMs) > firstMs)
  return check(
    what,
    late === 0,
    `${n(told.length)} told; after the first of them ${n(late)} units were still reserved, held or paid for`,
  )
}

/** Until when a visitor's unit was certainly in their cart: it was reserved, or paid for, or its hold ran out, after this. */
function inCartUntilMs(story: Story, expired: ReadonlySet<string>, holdMs: number): number {
  const { order, reserveSentMs, paidSentMs } = story
  if (order === null || reserveSentMs === null) return Number.NEGATIVE_INFINITY
  const ranOut = expired.has(order) ? reserveSentMs + holdMs - HOLD_MARGIN_MS : reserveSentMs
  return Math.max(ranOut, reserveSentMs, paidSentMs ?? 0)
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
    ifAny(told, lost === 0 && anothers === 0),
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
    ifAny(judged, untrue === 0),
    `${n(judged)} orders, ${n(untrue)} ended otherwise`,
  )
}

/** A payment that was accepted ends as its method does, never by expiring; and who comes to pay in time is accepted. */
function paidIsServed({ stories, holdMs }: Evidence): Check {
  const paid = stories.filter((s) => s.paidSentMs !== null)
  const broken = count(paid, (s) => s.method !== null && s.end !== PAID_ENDS[s.method])
  const unheard = count(
    stories,
    ({ end, paidSentMs, payMeantMs, reserveSentMs }) =>
      end === 'expired' &&
      paidSentMs === null &&
      payMeantMs !== null &&
      payMeantMs < (reserveSentMs ?? 0) + holdMs - HOLD_MARGIN_MS,
  )
  return check(
    'payments came to what they were',
    ifAny(paid.length + unheard, broken === 0 && unheard === 0),
    `${n(paid.length)} accepted, ${n(broken)} of them ended otherwise; ${n(unheard)} more came in time and were not accepted before their hold was over`,
  )
}

/** An order in the ledger that none of its clients was told of is a unit sold to nobody. */
function nothingUnasked({ stories, orders: all }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  const told = new Set(stories.flatMap((s) => (s.order === null ? [] : [s.order])))
  const unasked = count(all, (o) => LIVE.test(o.status) && !told.has(o.order_id))
  return check(
    'no live order that nobody was told of',
    ifAny(orders.size, unasked === 0),
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
    ifAny(units.size, over === 0),
    `${n(units.size)} visitors with live orders, ${n(over)} with more than ${limit}`,
  )
}

function chargedOnce(
  { charges, price, ownSystem }: Evidence,
  orders: ReadonlyMap<string, LedgerOrder>,
): Check {
  const what = 'charged once, and only for what was sold'
  if ('unread' in charges)
    return check(what, ownSystem ? false : null, `the provider's records: ${charges.unread}`)
  const sold = [...orders.values()].filter((o) => SOLD.test(o.status))
  const paid = charges.filter((c) => c.status === 'succeeded')
  const once = new Set(paid.map((c) => c.order))
  const twice = paid.length - once.size
  const wrong = count([...once], (order) => !SOLD.test(orders.get(order)?.status ?? ''))
  const unknown = count(charges, (c) => !orders.has(c.order))
  const amiss = count(charges, ({ order, amount_minor, currency }) => {
    const { quantity } = orders.get(order) ?? { quantity: 0 }
    return quantity > 0 && (amount_minor !== quantity * price.unit_price_minor || currency !== price.currency)
  })
  const unpaid = count(sold, (o) => !once.has(o.order_id))
  return check(
    what,
    ifAny(charges.length + sold.length, twice + wrong + unknown + amiss + unpaid === 0),
    `${n(paid.length)} charges for ${n(sold.length)} sold; ${n(twice)} twice, ${n(wrong)} for nothing, ${n(unknown)} for unknown orders, ${n(amiss)} of another amount, ${n(unpaid)} unpaid`,
  )
}

// -- The line --------------------------------------------------------------------------------------------------------

function numbersUnique({ stories, otherNumbers }: Evidence): Check {
  const numbers = [...stories.flatMap((s) => (s.number === null ? [] : [s.number])), ...otherNumbers]
  const twice = numbers.length - new Set(numbers).size
  const odd = count(numbers, (number) => !isNumber(number))
  return check(
    'no ticket number given twice',
    ifAny(numbers.length, twice === 0 && odd === 0),
    `${n(numbers.length)} numbers up to ${n(numbers.reduce((most, number) => Math.max(most, number), 0))}, ${n(twice)} given twice, ${n(odd)} that are none`,
  )
}

interface Drawn {
  readonly seed: string
  readonly size: number
  readonly beacon: string | null
}

/** The draw as it was published first; null if it never was. */
function drawOf({ documents }: Evidence): Drawn | null {
  for (const { schedule } of documents)
    if (isDrawn(schedule))
      return { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon }
  return null
}

/** One commitment from the first document on; no seed before the opening, and one draw ever after. */
function drawCommitted({ documents, opensAtMs }: Evidence, draw: Drawn | null): Check {
  const what = 'the draw is the one committed to'
  if (!draw) return check(what, false, 'the seed was never revealed')
  const commitment = documents[0]?.schedule.draw_commitment ?? ''
  const revealedAt = documents.findIndex(({ schedule }) => isDrawn(schedule))
  const recommitted = count(documents, ({ schedule }) => schedule.draw_commitment !== commitment)
  const early = count(documents, ({ atMs, schedule }) => atMs < opensAtMs && isDrawn(schedule))
  const changed = count(
    documents.slice(revealedAt),
    ({ schedule: { draw_seed, draw_beacon, pre_queue_size } }) =>
      draw_seed !== draw.seed || draw_beacon !== draw.beacon || pre_queue_size !== draw.size,
  )
  return check(
    what,
    commitmentHolds(commitment, draw.seed) && recommitted + early + changed === 0,
    `${n(draw.size)} numbers drawn; commitment ${commitment.slice(0, 12)}…; of ${n(documents.length)} public documents ${n(recommitted)} had another, ${n(early)} a seed before the opening, ${n(changed)} another draw`,
  )
}

/** Who was answered before the opening takes part in the draw; who asked when it was public already does not. */
function earlyWereDrawn({ stories, opensAtMs, documents }: Evidence, draw: Drawn | null): Check {
  const size = draw?.size ?? 0
  const publicAtMs = documents.find(({ schedule }) => isDrawn(schedule))?.atMs ?? opensAtMs
  const closedMs = Math.max(opensAtMs, publicAtMs) + LOBBY_CLOSES_MS
  const early = stories.filter((s) => s.number !== null && s.joinAnsweredMs < opensAtMs - CLOCKS_MS)
  const late = stories.filter((s) => s.number !== null && s.joinSentMs > closedMs)
  const leftOut = count(early, (s) => !inDraw(s, size))
  const letIn = count(late, (s) => inDraw(s, size))
  return check(
    'drawn were those who came before the opening',
    ifAny(early.length + late.length, leftOut === 0 && letIn === 0),
    `${n(early.length)} came clearly before it, ${n(leftOut)} of them not drawn; ${n(late.length)} clearly after it, ${n(letIn)} of them drawn`,
  )
}

function positionsTold({ positions: { told, wrong } }: Evidence): Check {
  return check(
    'positions told are those of the draw',
    told === 0 ? null : wrong === 0,
    `${n(told)} told by answers, ${n(wrong)} differ from the draw recomputed from the public seed`,
  )
}

/** Among those who were drawn, how early one joined must say nothing about one's position. */
function speedBoughtNothing({ stories }: Evidence, draw: Drawn | null): Check {
  const what = 'speed bought nothing before the opening'
  const early = stories.filter((s): s is Story & { number: number } => inDraw(s, draw?.size ?? 0))
  if (!draw || early.length < 30) return check(what, null, `${n(early.length)} in the draw: too few to tell`)
  // A sample is enough, and positions are dear.
  const step = Math.max(1, Math.floor(early.length / 20_000))
  const sample = early.filter((_, i) => i % step === 0)
  const agreement = correlation(
    ranks(sample.map((s) => s.joinAnsweredMs)),
    ranks(sample.map((s) => positionOf(draw, s.number))),
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
function firstCome({ stories }: Evidence, draw: Drawn | null): Check {
  const late = stories.filter((s) => s.number !== null && s.number > (draw?.size ?? 0))
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
function nobodyEarly({ stories, servedByMs }: Evidence, draw: Drawn | null): Check {
  const admitted = stories.filter((s) => s.admittedMs !== null)
  let byAnswer = 0
  let byDocument = 0
  for (const { number, admittedAtServing, admittedMs } of admitted) {
    const known = draw !== null && number !== null && isNumber(number)
    const position = known ? positionOf(draw, number) : Number.POSITIVE_INFINITY
    if (position > (admittedAtServing ?? 0)) byAnswer++
    if (position > servedByMs(admittedMs ?? 0)) byDocument++
  }
  return check(
    'nobody admitted before their turn',
    ifAny(admitted.length, byAnswer === 0 && byDocument === 0),
    `${n(admitted.length)} admitted; early by their own answer ${n(byAnswer)}, by the public schedule ${n(byDocument)}`,
  )
}

function neverBack({ documents }: Evidence): Check {
  const looks = documents.filter(({ schedule }) => isDrawn(schedule)).map((seen) => pointOf(seen, seen.atMs))
  let back = 0
  for (let i = 1; i < looks.length; i++)
    if (Math.floor(looks[i]?.line ?? 0) < Math.floor(looks[i - 1]?.line ?? 0)) back++
  return check(
    'the line never moved back',
    ifAny(Math.max(0, looks.length - 1), back === 0),
    `${n(looks.length)} public documents after the draw, ${n(back)} steps back`,
  )
}

/** How far a document had the line at a moment; one that is announced for later stands at its anchor until then. */
function pointOf({ schedule }: Seen, atMs: number): { readonly atMs: number; readonly line: number } {
  if (!isDrawn(schedule)) return { atMs, line: 0 }
  return { atMs: Math.max(atMs, schedule.anchor_at_ms), line: servingExactly(schedule, atMs) }
}

/** No document has a higher rate than may be, and from one to the next the line has not run further than that either. */
function lineKeepsRate({ documents, rate }: Evidence): Check {
  const most = rate * NO_SHOW_BOOST
  const drawn = documents.filter(({ schedule }) => isDrawn(schedule))
  const fastest = drawn.reduce((high, { schedule }) => Math.max(high, schedule.rate_per_second), 0)
  let leaps = 0
  for (const [i, next] of documents.entries()) {
    const before = documents[i - 1]
    if (!before || !isDrawn(next.schedule)) continue
    const [from, to] = [pointOf(before, before.lastMs), pointOf(next, next.atMs)]
    const seconds = (Math.max(0, to.atMs - from.atMs) + CLOCKS_MS) / 1000
    if (to.line - from.line > most * seconds + 1) leaps++
  }
  return check(
    'the line runs no faster than the rate',
    ifAny(drawn.length, fastest <= most && leaps === 0),
    `${n(drawn.length)} public documents, the fastest at ${n(fastest)} a second; ${n(rate)} as configured, and at most ${n(most)} to make up for no-shows; ${n(leaps)} leaps`,
  )
}

/** People come to the checkout as fast as the line calls them, and in bunches of their own haste; told only if they could have. */
function peopleKeepRate({ shoppingMs, documents, rate }: Evidence): Check {
  const called = documents.reduce((high, { schedule }) => Math.max(high, schedule.rate_per_second), rate)
  const fastest = Math.min(called, rate * NO_SHOW_BOOST)
  const windowed = (fastest * (RATE_WINDOW_MS + BUNCH_MS)) / 1000
  const bound = Math.floor(windowed + RATE_SIGMAS * Math.sqrt(windowed))
  const most = mostWithin(shoppingMs, RATE_WINDOW_MS)
  const what = 'people come no faster than the rate'
  if (shoppingMs.length <= bound)
    return check(
      what,
      null,
      `${n(shoppingMs.length)} came to the checkout: too few to tell, since ${n(bound)} might come at once`,
    )
  return check(
    what,
    most <= bound,
    `at most ${n(most)} came to the checkout within ${RATE_WINDOW_MS / 1000} seconds; with people's own haste at most ${n(bound)} come`,
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
      ifAny(seen.rejoins, seen.otherNumbers === 0),
      `${n(seen.rejoins)} joins by token or cookie, ${n(seen.otherNumbers)} with another number`,
    ),
    check(
      'no bot in without an admission',
      ifAny(seen.intrusions, seen.letIn === 0),
      `${n(seen.intrusions)} checkouts without an admission, ${n(seen.letIn)} not refused`,
    ),
    check(
      'double clicks and second keys make one order',
      ifAny(seen.rushes, seen.secondOrders === 0),
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
