/**
 * The controller: from what was seen of the sale to the next admission schedule. Pure functions; the coordinator calls
 * `observe` after each look at the origin and `nextSchedule` whenever the line may have to change.
 *
 * What it steers by is arrivals at the origin, not numbers called: numbers nobody holds and people who do not turn up
 * are made up for, within bounds. What it never does: move the line back, let it jump after a pause, or call more
 * people than may still find something.
 */
import type { SaleState } from '../../shared/api/internal.ts'
import { positionOf } from '../../shared/draw.ts'
import { type Phase, type Schedule, servingExactly } from '../../shared/schedule.ts'

export interface Settings {
  /** How long a turn may be claimed. */
  readonly claimSeconds: number
  /** Most people on their way in, or inside without a unit, for each one available. */
  readonly admissionsPerUnit: number
  /** The line runs at most so many times as fast as configured, to make up for those who do not turn up. */
  readonly noShowBoost: number
}

/** How often the coordinator looks at the origin while a sale is live. */
export const LOOK_EVERY_MS = 1_000
/** A reader waits for the next look if the last one is older: it is more than a look takes, so only after a pause. */
export const LOOK_LATE_MS = 2_000
/** Without an answer from the origin for so long, the line stands still. */
export const UNREACHED_MS = 2_000
/** The line never promises more than this ahead: what a clock that leaps can do is bounded by it. */
const HORIZON_SECONDS = 60
/** How far the line may run ahead of the last number given out: someone who joins an idle sale does not wait. */
const LOOKAHEAD_SECONDS = 0.2
/**
 * Who has not turned up so long after being called is taken for a no-show, for as long as they do not. People find their
 * phones slowly, and taken for no-shows they would be called twice over ..
 */
const SETTLE_MS = 20_000
/** .. and where the way in is slow, all are late: it is this many times as long as those took who came last, if that is more .. */
const SETTLE_LATENESS = 2
/** .. and half the time they have for it at most, which it is also until so many have come that it shows how late people are. */
const LATENESS_OF = 20
const LATENESS_KNOWN_OF = 5
/** The share who turn up is measured over about so many people called .. */
const WINDOW_CALLED = 1_000
/** .. but over no shorter and no longer a time than this. */
const WINDOW_MIN_MS = 15_000
const WINDOW_MAX_MS = 60_000
/** Before anything is known, the share is what it would be had this many been called and all turned up. */
const PRIOR_CALLED = 20
/** If a larger share than this turns up, nothing is made up for: the estimate itself may be wrong by so much. */
const NEARLY_ALL = 0.97
/** Speeding up is done slowly, since people may only be late; slowing down at once. */
const BOOST_RISE_PER_SECOND = 0.05
/** Standard deviations by which more people may turn up than expected without breaking a limit. */
const MARGIN_SIGMAS = 4
/** A slow origin halves the rate every second, down to this share of it .. */
const THROTTLE_MIN = 1 / 16
/** .. and gets a tenth more of it every second once it is well; after an outage it begins at a half. */
const THROTTLE_RISE_PER_SECOND = 0.1
const THROTTLE_AFTER_OUTAGE = 0.5
/** Time between two looks counts no longer than this: the rest is a clock's leap, or a night without visitors. */
const MAX_ELAPSED_MS = HORIZON_SECONDS * 1000
/** Samples are a second apart for the last minutes, then spread so that this many cover the claim window. */
const FINE_SAMPLES_MS = 2 * WINDOW_MAX_MS
const COARSE_SAMPLES = 64

/** Where the line stood at a moment of the open clock. */
interface Sample {
  readonly open_ms: number
  readonly called: number
  readonly arrivals: number
}

const OPENING: Sample = { open_ms: 0, called: 0, arrivals: 0 }

/** What is remembered from look to look: plain data, kept with the sale. */
export interface Memory {
  readonly looked_at_ms: number
  readonly reached_at_ms: number
  /** How long the line has been open: the claim window is measured on this clock, which stands still with the line. */
  readonly open_ms: number
  /** Arrivals since the opening; the origin's own counter may begin again when it restarts. */
  readonly arrivals: number
  readonly arrivals_told: number
  /** How long after their call those came who arrived last, on the open clock. */
  readonly lateness_ms: readonly number[]
  /** Whether the origin counted arrivals when it was last heard; until when, on the open clock, they are not known. */
  readonly counted: boolean
  readonly uncounted_until_ms: number
  /** Units held or sold then; since it ceased to count, the most there were. */
  readonly taken: number
  readonly throttle: number
  readonly boost: number
  readonly samples: readonly Sample[]
}

export const NOTHING_SEEN: Memory = {
  looked_at_ms: 0,
  reached_at_ms: 0,
  open_ms: 0,
  arrivals: 0,
  arrivals_told: 0,
  lateness_ms: [],
  counted: true,
  uncounted_until_ms: 0,
  taken: 0,
  throttle: 1,
  boost: 1,
  samples: [],
}

/** The memory of a sale that is heard of for the first time: what has been till then is no news. */
export function atFirst(state: SaleState, nowMs: number): Memory {
  return { ...NOTHING_SEEN, ...heard(NOTHING_SEEN, state, 0), looked_at_ms: nowMs, reached_at_ms: nowMs }
}

interface Look {
  readonly nowMs: number
  /** What the origin answered; null when it did not. */
  readonly state: SaleState | null
  /** The schedule that holds now. */
  readonly schedule: Schedule
  /** The highest number given out, or leased to be given out. */
  readonly highestNumber: number
}

/** Takes in one look. */
export function observe(memory: Memory, look: Look, settings: Settings): Memory {
  const { nowMs, state, schedule } = look
  const elapsedMs = Math.min(MAX_ELAPSED_MS, Math.max(0, nowMs - memory.looked_at_ms))
  const open_ms = memory.open_ms + (schedule.phase === 'open' ? elapsedMs : 0)
  const arrivals = memory.arrivals + (state ? newArrivals(memory, state) : 0)
  const called = calledBy(schedule, nowMs, look.highestNumber)
  const samples =
    schedule.draw_seed === null
      ? memory.samples
      : withSample(memory.samples, { open_ms, called, arrivals }, settings)
  const looked = {
    ...memory,
    ...(state ? heard(memory, state, open_ms) : {}),
    looked_at_ms: nowMs,
    open_ms,
    arrivals,
    samples,
  }
  const seen = { ...looked, lateness_ms: latenessAfter(looked, look) }
  return {
    ...seen,
    // Not later than now, also if the clock was put back since.
    reached_at_ms: state ? nowMs : Math.min(memory.reached_at_ms, nowMs),
    throttle: throttleAfter(memory, look, elapsedMs / 1000),
    boost: boostAfter(seen, elapsedMs / 1000, settings),
  }
}

/**
 * Who has arrived since the last look. While the origin cannot count them, only those are known who took a unit; what it
 * tells of that time when it counts again is left out, since it cannot be said when they came. So who is not known to
 * have arrived stays on their way for as long as their turn may be claimed, which calls too few rather than too many.
 */
function newArrivals(memory: Memory, state: SaleState): number {
  return state.counted && memory.counted
    ? Math.max(0, state.arrivals - memory.arrivals_told)
    : Math.max(0, unitsTaken(state) - memory.taken) / state.limit_per_visitor
}

/** What the origin told, as far as the next look is held against it. */
function heard(memory: Memory, state: SaleState, openMs: number) {
  const { counted, arrivals } = state
  const taken = unitsTaken(state)
  return {
    counted,
    uncounted_until_ms: counted && memory.counted ? memory.uncounted_until_ms : openMs,
    ...(counted ? { arrivals_told: arrivals, taken } : { taken: Math.max(memory.taken, taken) }),
  }
}

const unitsOf = ({ products }: SaleState, of: 'available' | 'held' | 'sold') =>
  products.reduce((units, product) => units + product[of], 0)
const unitsTaken = (state: SaleState) => unitsOf(state, 'held') + unitsOf(state, 'sold')

/** Numbers from `first` on came back unused: whoever gets them next has not been called, and has not missed a turn. */
export function uncalled(memory: Memory, first: number): Memory {
  const samples = memory.samples.map((sample) => ({ ...sample, called: Math.min(sample.called, first - 1) }))
  return { ...memory, samples }
}

function throttleAfter(memory: Memory, { state }: Look, elapsedSeconds: number): number {
  if (!state) return memory.throttle
  if (state.health === 'slow') return Math.max(THROTTLE_MIN, memory.throttle * 0.5 ** elapsedSeconds)
  if (isUnreached(memory)) return Math.min(memory.throttle, THROTTLE_AFTER_OUTAGE)
  return Math.min(1, memory.throttle + THROTTLE_RISE_PER_SECOND * elapsedSeconds)
}

/** The origin was looked for, and not found, for too long; that nobody looked is no sign of anything. */
function isUnreached({ looked_at_ms, reached_at_ms }: Memory): boolean {
  return looked_at_ms - reached_at_ms > UNREACHED_MS
}

function latenessAfter(seen: Memory, { state, schedule }: Look): readonly number[] {
  const { draw_seed: seed, draw_beacon: beacon, pre_queue_size: size } = schedule
  if (!state || seed === null) return seen.lateness_ms
  const lately = state.arrived_lately.map((number) =>
    calledAgoMs(seen, positionOf({ seed, size, beacon }, number)),
  )
  return [...seen.lateness_ms, ...lately].slice(-LATENESS_OF)
}

/** How long ago a position was called. */
function calledAgoMs(seen: Memory, position: number): number {
  const index = seen.samples.findIndex(({ called }) => called >= position)
  const [before, after] = [seen.samples[index - 1] ?? OPENING, seen.samples[index]]
  if (!after) return 0
  const share = Math.max(0, position - before.called) / (after.called - before.called)
  return seen.open_ms - before.open_ms - share * (after.open_ms - before.open_ms)
}

/** After how long who has not turned up is taken for a no-show. */
function settleMs({ lateness_ms }: Memory, { claimSeconds }: Settings): number {
  const mostMs = claimSeconds * 500
  if (lateness_ms.length < LATENESS_KNOWN_OF) return mostMs
  const median = [...lateness_ms].sort((a, b) => a - b)[lateness_ms.length >> 1] ?? 0
  return Math.min(mostMs, Math.max(SETTLE_MS, SETTLE_LATENESS * median))
}

function boostAfter(seen: Memory, elapsedSeconds: number, settings: Settings): number {
  const { share } = showRatio(seen, settings)
  const wanted = share > NEARLY_ALL ? 1 : Math.min(settings.noShowBoost, 1 / share)
  return Math.min(wanted, seen.boost * (1 + BOOST_RISE_PER_SECOND) ** elapsedSeconds)
}

/**
 * Which share of those called turns up: arrivals until now over numbers called until `settleMs` ago. As long as people
 * are merely slow this errs towards "everyone comes", which is the safe side. Surely no more than `sureShare` turn up.
 * Where the origin did not count all of them nothing is known: everyone comes.
 */
function showRatio(seen: Memory, settings: Settings): { share: number; sureShare: number } {
  const settledMs = seen.open_ms - settleMs(seen, settings)
  const lately = at(seen, settledMs, 'called') - at(seen, settledMs - WINDOW_MAX_MS, 'called')
  const enoughMs = (WINDOW_MAX_MS * WINDOW_CALLED) / Math.max(1, lately)
  const wantedMs = Math.min(WINDOW_MAX_MS, Math.max(WINDOW_MIN_MS, enoughMs))
  const { uncounted_until_ms } = seen
  if (uncounted_until_ms > 0 && settledMs - wantedMs < uncounted_until_ms) return { share: 1, sureShare: 1 }
  // The window begins at a sample, since arrivals between two looks are not known.
  const from = seen.samples[sampleAfter(seen, seen.open_ms - wantedMs) - 1] ?? OPENING
  const windowMs = seen.open_ms - from.open_ms
  const called = PRIOR_CALLED + at(seen, settledMs, 'called') - at(seen, settledMs - windowMs, 'called')
  const arrived = PRIOR_CALLED + seen.arrivals - from.arrivals
  const share = Math.min(1, arrived / called)
  const sureShare = Math.min(1, share + MARGIN_SIGMAS * Math.sqrt((share * (1 - share)) / called))
  return { share, sureShare }
}

/** How many people were called and will still come, if this share of those called turns up in the end. */
function onTheirWay(seen: Memory, called: number, share: number, settings: Settings): number {
  const claimMs = seen.open_ms - settings.claimSeconds * 1000
  const calledInTime = Math.max(0, called - at(seen, claimMs, 'called'))
  const arrivedInTime = seen.arrivals - at(seen, claimMs, 'arrivals')
  return Math.max(0, calledInTime * share - arrivedInTime)
}

/** The most who can be on their way of those called just now, whoever has arrived meanwhile. */
function atMostOnTheirWay(seen: Memory, called: number, share: number, settings: Settings): number {
  const unsettled = Math.max(0, called - at(seen, seen.open_ms - settleMs(seen, settings), 'called'))
  return Math.min(unsettled, unsettled * share + MARGIN_SIGMAS * Math.sqrt(unsettled * share * (1 - share)))
}

/** What the next schedule is made of. */
interface Situation {
  readonly nowMs: number
  /** From when the next schedule holds. */
  readonly fromMs: number
  /** The last schedule announced. */
  readonly previous: Schedule
  /** What the origin said last. */
  readonly state: SaleState
  readonly memory: Memory
  readonly highestNumber: number
  readonly preQueueOpensAtMs: number
  readonly opensAtMs: number
  readonly endsAtMs: number | null
  /** The draw, once the pre-queue is closed and the seed may be known. */
  readonly draw: { readonly size: number; readonly seed: string; readonly beacon: string | null } | null
}

/** The schedule from `fromMs` on: the previous one itself if nothing changes. */
export function nextSchedule(situation: Situation, settings: Settings): Schedule {
  const { previous, state, draw, fromMs } = situation
  const next: Schedule = {
    ...previous,
    ...(draw ? movingLine(situation, settings) : waitingLine(situation)),
    phase: phaseFrom(situation),
    pre_queue_size: draw ? draw.size : situation.highestNumber,
    draw_seed: draw?.seed ?? null,
    draw_beacon: draw?.beacon ?? null,
    pre_queue_opens_at: state.pre_queue_opens_at ?? previous.pre_queue_opens_at,
    opens_at: state.opens_at,
    ends_at: state.ends_at,
    pre_queue_opens_at_ms: situation.preQueueOpensAtMs,
    ends_at_ms: situation.endsAtMs,
    server_time_ms: fromMs,
  }
  return same(next, previous) ? previous : { ...next, version: previous.version + 1 }
}

function phaseFrom({ draw, state, fromMs, memory, preQueueOpensAtMs, opensAtMs }: Situation): Phase {
  if (state.phase === 'ended') return 'ended'
  if (!draw) return fromMs >= preQueueOpensAtMs ? 'pre_queue' : 'upcoming'
  if (state.phase === 'sold_out') return 'sold_out'
  if (isUnreached(memory)) return 'paused'
  // Told a moment before the opening, it is open by now; put off after it was drawn, which cannot be done again, it
  // stands still.
  if (state.phase === 'upcoming') return fromMs >= opensAtMs ? 'open' : 'paused'
  return state.phase
}

/** Before the draw nobody is served; the line as announced is the one to expect. */
function waitingLine({ state, opensAtMs }: Situation) {
  return {
    anchor_at_ms: opensAtMs,
    anchor_position: 0,
    rate_per_second: state.admission.rate_per_second,
    ceiling: 0,
    missed_through: 0,
  }
}

function movingLine(situation: Situation, settings: Settings) {
  const { previous, state, memory, highestNumber, nowMs, fromMs } = situation
  const opening = previous.draw_seed === null
  const reached = opening ? 0 : servingExactly(previous, fromMs)
  const open = phaseFrom(situation) === 'open'
  const rate = open ? rounded(state.admission.rate_per_second * memory.throttle * memory.boost) : 0
  const called = opening ? 0 : calledBy(previous, nowMs, highestNumber)
  const ceiling = open
    ? Math.min(
        Math.ceil(reached + rate * HORIZON_SECONDS),
        highestNumber + Math.max(1, Math.floor(state.admission.rate_per_second * LOOKAHEAD_SECONDS)),
        called + roomFor(called, state, memory, settings),
      )
    : previous.ceiling
  // As long as the line goes on as it went, its anchor stays, and so does every position's exact moment. Where a ceiling
  // begins or ceases to hold it back it is anchored anew as it stands, or it would slip back or leap ahead.
  const wasHeld = reached >= previous.ceiling
  const isHeld = reached >= ceiling
  const goesOn = !opening && rate === previous.rate_per_second && wasHeld === isHeld
  return {
    anchor_at_ms: goesOn ? previous.anchor_at_ms : fromMs,
    anchor_position: goesOn ? previous.anchor_position : reached,
    rate_per_second: rate,
    ceiling: Math.max(ceiling, Math.floor(reached)),
    missed_through: Math.max(
      opening ? 0 : previous.missed_through,
      Math.floor(at(memory, memory.open_ms - settings.claimSeconds * 1000, 'called')),
    ),
  }
}

/**
 * How many more may be called before someone is let in who can find nothing, or no room. What is available is met in
 * expectation, since a unit given back or a second one wanted cannot be foreseen; room is never exceeded.
 */
function roomFor(called: number, state: SaleState, memory: Memory, settings: Settings): number {
  const { share, sureShare } = showRatio(memory, settings)
  const units = settings.admissionsPerUnit * unitsOf(state, 'available') - state.hopeful
  const forUnits = units - onTheirWay(memory, called, share, settings)
  const { max_inside } = state.admission
  const inside =
    unitsOf(state, 'held') +
    state.hopeful +
    Math.max(
      onTheirWay(memory, called, sureShare, settings),
      atMostOnTheirWay(memory, called, sureShare, settings),
    )
  const forRoom = max_inside === null ? Number.POSITIVE_INFINITY : max_inside - inside
  return Math.max(0, Math.floor(Math.min(forUnits, forRoom, Number.MAX_SAFE_INTEGER - called)))
}

/**
 * The same line on a clock that was put back: it goes on from where it may have come since the last look, so that
 * nobody is moved back.
 */
export function onClockPutBack(schedule: Schedule, lookedAtMs: number, nowMs: number): Schedule {
  return shifted(schedule, nowMs - (lookedAtMs + LOOK_EVERY_MS))
}

/** The same line so much later: after a time that was none to it, it goes on from where it stood before. */
export function shifted(schedule: Schedule, byMs: number): Schedule {
  return { ...schedule, version: schedule.version + 1, anchor_at_ms: schedule.anchor_at_ms + byMs }
}

/** How many of those who have a number were called by a moment. */
export function calledBy(schedule: Schedule, atMs: number, highestNumber: number): number {
  if (schedule.draw_seed === null) return 0
  return Math.min(Math.floor(servingExactly(schedule, atMs)), highestNumber)
}

/** A remembered figure at a moment of the open clock; between the samples by a straight line. */
function at(memory: Memory, openMs: number, of: 'called' | 'arrivals'): number {
  const index = sampleAfter(memory, openMs)
  const after = memory.samples[index]
  const before = memory.samples[index - 1] ?? OPENING
  if (openMs < 0) return 0
  if (!after) return before[of]
  const share = (openMs - before.open_ms) / (after.open_ms - before.open_ms)
  return before[of] + (after[of] - before[of]) * share
}

/** The index of the first sample after a moment. */
function sampleAfter({ samples }: Memory, openMs: number): number {
  let low = 0
  let high = samples.length
  while (low < high) {
    const middle = (low + high) >> 1
    if ((samples[middle]?.open_ms ?? 0) <= openMs) low = middle + 1
    else high = middle
  }
  return low
}

function withSample(samples: readonly Sample[], sample: Sample, settings: Settings): readonly Sample[] {
  const last = samples[samples.length - 1]
  if (last && sample.open_ms - last.open_ms < 1_000) return samples
  const coarseMs = Math.max(1_000, (settings.claimSeconds * 1000) / COARSE_SAMPLES)
  const keepMs = Math.max(FINE_SAMPLES_MS, settings.claimSeconds * 1000) + coarseMs
  let slot = -1
  const kept = samples.filter(({ open_ms }) => {
    const ageMs = sample.open_ms - open_ms
    const firstOfSlot = Math.floor(open_ms / coarseMs) !== slot
    slot = Math.floor(open_ms / coarseMs)
    return ageMs <= FINE_SAMPLES_MS || (ageMs <= keepMs && firstOfSlot)
  })
  return [...kept, sample]
}

/** Three digits are enough for a rate, and kinder to those who read it. */
const rounded = (rate: number) => Math.round(rate * 1000) / 1000

function same(a: Schedule, b: Schedule): boolean {
  return (Object.keys(a) as (keyof Schedule)[]).every(
    (key) => key === 'server_time_ms' || key === 'version' || a[key] === b[key],
  )
}
