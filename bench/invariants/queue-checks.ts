/** Checks of the queue: numbers, the draw, the order of arrival, and the rate. */
import { LEASE_MS } from '../../edge/queue/numbers/lease.ts'
import { orderBoundMs } from '../../edge/queue/numbers/tree.ts'
import { commitmentHolds, positionsOf } from '../../shared/draw.ts'
import { rankCorrelation } from '../../shared/lib/rank-correlation.ts'
import { isDrawn, servingExactly } from '../../shared/schedule.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, count, type Evidence, ifAny, type Seen, type VisitRecord } from './evidence.ts'

/**
 * After the lobby has closed, a shard may still issue a number of the lobby for the life of a lease and slightly
 * longer.
 */
const LOBBY_CLOSES_MS = 2 * LEASE_MS
/** The edge's default of NO_SHOW_BOOST: the queue may move this much faster to compensate for no-shows. */
const NO_SHOW_BOOST = 2
/** The clocks of two machines may differ by this much. */
const CLOCKS_MS = 100
/**
 * The rate is judged over RATE_WINDOW_MS. People who are called evenly click unevenly, so the visitors of BUNCH_MS
 * may click at once.
 */
const RATE_WINDOW_MS = 2_000
const BUNCH_MS = 2_000
/** A random deviation is at most this many standard deviations. */
const RATE_SIGMAS = 4
/** A random rank correlation exceeds this many standard deviations once in a million rehearsals. */
const CHANCE_SIGMAS = 5
/** This many visitors are enough for a rank correlation; each needs the calculation of a position. */
const SAMPLE = 20_000

type Draw = { readonly seed: string; readonly size: number; readonly beacon: string | null } | null
type Numbered = VisitRecord & { number: number }

export function queueChecks(e: Evidence): Check[] {
  const draw = drawOf(e)
  return [
    numbersUnique(e),
    drawCommitted(e, draw),
    earlyVisitorsDrawn(e, draw),
    positionsMatch(e),
    speedGainsNothing(e, draw),
    firstCome(e, draw),
    nobodyEarly(e, draw),
    neverBack(e),
    queueKeepsRate(e),
    checkoutsKeepRate(e),
  ]
}

const isNumber = (number: number) => Number.isSafeInteger(number) && number >= 1
const inDraw = (s: VisitRecord, draw: Draw) => s.number !== null && isNumber(s.number) && s.number <= (draw?.size ?? 0)

function numbersUnique({ visits, otherNumbers }: Evidence): Check {
  const numbers = [...visits.flatMap((s) => (s.number === null ? [] : [s.number])), ...otherNumbers]
  const twice = numbers.length - new Set(numbers).size
  const invalid = count(numbers, (number) => !isNumber(number))
  return check(
    'no ticket number issued twice',
    ifAny(numbers.length, twice === 0 && invalid === 0),
    `${n(numbers.length)} numbers, ${n(twice)} issued twice, ${n(invalid)} invalid`,
  )
}

/** The draw as first published; null if it never was. */
function drawOf({ documents }: Evidence): Draw {
  for (const { schedule } of documents)
    if (isDrawn(schedule))
      return { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon }
  return null
}

/** There is one commitment from the first schedule on, no seed before the opening, and one draw afterwards. */
function drawCommitted({ documents, opensAtMs }: Evidence, draw: Draw): Check {
  const what = 'the draw matches its commitment'
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
    `${n(draw.size)} numbers drawn, commitment ${commitment.slice(0, 12)}…; of ${n(documents.length)} schedules ` +
      `${n(recommitted)} had another, ${n(early)} a seed before the opening, ${n(changed)} another draw`,
  )
}

/** A join with a response before the opening is in the draw; one that was sent after the draw was public is not. */
function earlyVisitorsDrawn({ visits, opensAtMs, documents }: Evidence, draw: Draw): Check {
  const publicAtMs = documents.find(({ schedule }) => isDrawn(schedule))?.atMs ?? opensAtMs
  const closedMs = Math.max(opensAtMs, publicAtMs) + LOBBY_CLOSES_MS
  const early = visits.filter((s) => s.number !== null && s.joinAnsweredMs < opensAtMs - CLOCKS_MS)
  const late = visits.filter((s) => s.number !== null && s.joinSentMs > closedMs)
  const leftOut = count(early, (s) => !inDraw(s, draw))
  const letIn = count(late, (s) => inDraw(s, draw))
  return check(
    'the draw has everyone who came before the opening',
    ifAny(early.length + late.length, leftOut === 0 && letIn === 0),
    `${n(early.length)} came clearly before it, ${n(leftOut)} not drawn; ${n(late.length)} clearly after it, ` +
      `${n(letIn)} drawn`,
  )
}

function positionsMatch({ positions: { seen, wrong } }: Evidence): Check {
  return check(
    'positions in responses match the draw',
    ifAny(seen, wrong === 0),
    `${n(seen)} positions, ${n(wrong)} differ from the draw recomputed from the public seed`,
  )
}

/** Within the draw, the time of joining must not influence the position. */
function speedGainsNothing({ visits }: Evidence, draw: Draw): Check {
  const what = 'speed gains nothing before the opening'
  const early = visits.filter((s): s is Numbered => inDraw(s, draw))
  if (!draw || early.length < 30) return check(what, null, `${n(early.length)} in the draw: too few to judge`)
  const step = Math.max(1, Math.floor(early.length / SAMPLE))
  const sample = early.filter((_, i) => i % step === 0)
  const joined = sample.map((s) => s.joinAnsweredMs)
  const positionOf = positionsOf(draw)
  const positions = sample.map((s) => positionOf(s.number))
  const correlation = rankCorrelation(joined, positions) ?? 0
  const bound = CHANCE_SIGMAS / Math.sqrt(sample.length - 1)
  return check(
    what,
    Math.abs(correlation) <= bound,
    `${n(early.length)} in the draw; rank correlation of joining and position ${correlation.toFixed(4)}, by ` +
      `chance up to ±${bound.toFixed(4)}`,
  )
}

/**
 * After the opening, no visitor who clearly joined later may be ahead of one who had a response earlier. The limit is
 * a time. It is not judged with faults, because restarting servers take processor time from the edge.
 */
function firstCome({ visits, shards, faults }: Evidence, draw: Draw): Check {
  const late = visits.filter((s) => s.number !== null && s.number > (draw?.size ?? 0))
  const { worstMs, beyond, inverted } = inversions(late, orderBoundMs(shards))
  return check(
    'first come, first served',
    faults ? null : ifAny(late.length, beyond === 0),
    `${n(late.length)} joined after the opening; ${n(inverted)} overtook somebody, the worst by ` +
      `${worstMs.toFixed(0)} ms; ${n(beyond)} by more than ${orderBoundMs(shards)} ms + a round trip`,
  )
}

/**
 * An inversion: one visitor got a response, and another who joined this many milliseconds later got a lower number.
 * The limit is the life of a lease (`boundMs`) and the round trip of the visitor who overtook.
 */
export function inversions(
  visits: readonly VisitRecord[],
  boundMs: number,
): { worstMs: number; beyond: number; inverted: number } {
  const byNumber = [...visits].sort((a, b) => (b.number ?? 0) - (a.number ?? 0))
  let [worstMs, beyond, inverted] = [0, 0, 0]
  let earliestAnswerBehind = Number.POSITIVE_INFINITY
  for (const { joinSentMs, joinAnsweredMs } of byNumber) {
    const laterMs = joinSentMs - earliestAnswerBehind
    if (laterMs > 0) inverted++
    if (laterMs > boundMs + (joinAnsweredMs - joinSentMs)) beyond++
    worstMs = Math.max(worstMs, laterMs)
    earliestAnswerBehind = Math.min(earliestAnswerBehind, joinAnsweredMs)
  }
  return { worstMs, beyond, inverted }
}

/**
 * The check uses the response itself if it says how far the queue had come (a page does not), and the public
 * schedules until then.
 */
function nobodyEarly({ visits, servedByMs }: Evidence, draw: Draw): Check {
  const admitted = visits.filter((s) => s.admittedMs !== null)
  const positionOf = draw && positionsOf(draw)
  let byResponse = 0
  let bySchedule = 0
  for (const { number, admittedAtServing, admittedMs } of admitted) {
    const known = positionOf !== null && number !== null && isNumber(number)
    const position = known ? positionOf(number) : Number.POSITIVE_INFINITY
    if (admittedAtServing !== null && position > admittedAtServing) byResponse++
    if (position > servedByMs(admittedMs ?? 0)) bySchedule++
  }
  return check(
    'nobody admitted before their turn',
    ifAny(admitted.length, byResponse === 0 && bySchedule === 0),
    `${n(admitted.length)} admitted; early by their own response ${n(byResponse)}, by the public schedule ` +
      `${n(bySchedule)}`,
  )
}

function neverBack({ documents }: Evidence): Check {
  const places = documents
    .filter(({ schedule }) => isDrawn(schedule))
    .map((seen) => Math.floor(pointOf(seen, seen.atMs).position))
  const back = count([...places.keys()], (i) => (places[i] ?? 0) < (places[i - 1] ?? 0))
  return check(
    'the queue never moves back',
    ifAny(Math.max(0, places.length - 1), back === 0),
    `${n(places.length)} schedules after the draw, ${n(back)} steps back`,
  )
}

/**
 * The position of the queue at a moment according to a schedule. A schedule for a later time stays at its anchor
 * until then.
 */
function pointOf({ schedule }: Seen, atMs: number): { readonly atMs: number; readonly position: number } {
  if (!isDrawn(schedule)) return { atMs, position: 0 }
  return { atMs: Math.max(atMs, schedule.anchor_at_ms), position: servingExactly(schedule, atMs) }
}

/**
 * No schedule has a rate above the limit, and from one schedule to the next the queue does not move further than that
 * either.
 */
function queueKeepsRate({ documents, rate }: Evidence): Check {
  const most = rate * NO_SHOW_BOOST
  const drawn = documents.filter(({ schedule }) => isDrawn(schedule))
  const fastest = drawn.reduce((high, { schedule }) => Math.max(high, schedule.rate_per_second), 0)
  const leaps = count([...documents.keys()], (i) => {
    const [before, next] = [documents[i - 1], documents[i]]
    if (!before || !next || !isDrawn(next.schedule)) return false
    const [from, to] = [pointOf(before, before.lastMs), pointOf(next, next.atMs)]
    const seconds = (Math.max(0, to.atMs - from.atMs) + CLOCKS_MS) / 1000
    return to.position - from.position > most * seconds + 1
  })
  return check(
    'the queue runs no faster than the rate',
    ifAny(drawn.length, fastest <= most && leaps === 0),
    `${n(drawn.length)} schedules, the fastest at ${n(fastest)}/s; configured ${n(rate)}/s, at most ` +
      `${n(most)}/s to make up for no-shows; ${n(leaps)} leaps`,
  )
}

/**
 * Checkouts start at the rate at which the queue calls people, with bunches because people click at different speeds.
 */
function checkoutsKeepRate({ shoppingMs, documents, rate }: Evidence): Check {
  const called = documents.reduce((high, { schedule }) => Math.max(high, schedule.rate_per_second), rate)
  const fastest = Math.min(called, rate * NO_SHOW_BOOST)
  const windowed = (fastest * (RATE_WINDOW_MS + BUNCH_MS)) / 1000
  const bound = Math.floor(windowed + RATE_SIGMAS * Math.sqrt(windowed))
  const most = mostWithin(shoppingMs, RATE_WINDOW_MS)
  const few = shoppingMs.length <= bound
  return check(
    'checkouts start no faster than the rate',
    few ? null : most <= bound,
    few
      ? `${n(shoppingMs.length)} checkouts: too few to judge, since ${n(bound)} might start at once`
      : `at most ${n(most)} checkouts started within ${RATE_WINDOW_MS / 1000} seconds; with people's own haste at ` +
          `most ${n(bound)} may`,
  )
}

/** The highest number of moments (in any order) within a window. */
export function mostWithin(momentsMs: ArrayLike<number>, windowMs: number): number {
  const sorted = Float64Array.from(momentsMs).sort()
  let most = 0
  let from = 0
  for (let to = 0; to < sorted.length; to++) {
    while ((sorted[to] ?? 0) - (sorted[from] ?? 0) >= windowMs) from++
    most = Math.max(most, to - from + 1)
  }
  return most
}
