/** What is checked of the line: numbers, the draw, the order of arrival, and how fast it moved. */
import { LEASE_MS } from '../../edge/queue/lease.ts'
import { commitmentHolds, positionOf } from '../../shared/draw.ts'
import { isDrawn, servingExactly } from '../../shared/schedule.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, count, ifAny } from './check.ts'
import type { Evidence, Seen, Story } from './story.ts'

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
/** Ranks agree by chance this many standard deviations at most, once in a million rehearsals. */
const CHANCE_SIGMAS = 5

export function numbersUnique({ stories, otherNumbers }: Evidence): Check {
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
export function drawOf({ documents }: Evidence): Drawn | null {
  for (const { schedule } of documents)
    if (isDrawn(schedule))
      return { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon }
  return null
}

/** One commitment from the first document on; no seed before the opening, and one draw ever after. */
export function drawCommitted({ documents, opensAtMs }: Evidence, draw: Drawn | null): Check {
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
export function earlyWereDrawn({ stories, opensAtMs, documents }: Evidence, draw: Drawn | null): Check {
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

export function positionsTold({ positions: { told, wrong } }: Evidence): Check {
  return check(
    'positions told are those of the draw',
    told === 0 ? null : wrong === 0,
    `${n(told)} told by answers, ${n(wrong)} differ from the draw recomputed from the public seed`,
  )
}

/** Among those who were drawn, how early one joined must say nothing about one's position. */
export function speedBoughtNothing({ stories }: Evidence, draw: Drawn | null): Check {
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
export function firstCome({ stories }: Evidence, draw: Drawn | null): Check {
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
export function nobodyEarly({ stories, servedByMs }: Evidence, draw: Drawn | null): Check {
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

export function neverBack({ documents }: Evidence): Check {
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
export function lineKeepsRate({ documents, rate }: Evidence): Check {
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
export function peopleKeepRate({ shoppingMs, documents, rate }: Evidence): Check {
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
