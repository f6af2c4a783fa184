/**
 * The coordinator's memory of a sale between two state refreshes, and what follows from it: the number of people
 * called, the share of them who arrive, and the rate that the origin can take. All functions are pure.
 */

import type { SaleState } from '../../../shared/api/internal.ts'
import { positionsOf } from '../../../shared/draw.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import { paidPerSecondAfter } from '../../../shared/next-read.ts'
import { type Phase, type Schedule, servingExactly } from '../../../shared/schedule.ts'
import type { Timeline } from '../timeline.ts'
import { lateness, openingPace, type Pace, paceAfter } from './congestion.ts'

export interface Settings {
  /** How long a turn may be claimed. */
  readonly claimSeconds: number
  /** The limit of people who are called or inside without a unit, for each available unit. */
  readonly admissionsPerUnit: number
  /** The queue runs at most this many times as fast as configured, to make up for no-shows. */
  readonly noShowBoost: number
  /**
   * The target for answers. Answers above it are slow, and so are arrivals that are later than usual by more than it.
   */
  readonly answerTargetMs: number
}

/** The queue stops if the origin has not responded for this time. */
export const UNREACHED_MS = 2_000
/**
 * The limit of time that counts between two refreshes. A longer time is a jump of the clock, or a night without
 * visitors.
 */
const MAX_ELAPSED_MS = 60_000
/**
 * A visitor who has not arrived this long after the call counts as a no-show until they arrive. People need time to
 * find their phones.
 */
const SETTLE_MS = 20_000
/**
 * If the way in is slow, everybody is late: then the wait is this many times the median lateness of the latest
 * arrivals.
 */
const SETTLE_LATENESS = 2
/**
 * The number of latest arrivals that show how late people come. With fewer than LATENESS_KNOWN_OF the wait is half
 * the claim time, which is also its maximum.
 */
const LATENESS_OF = 40
const LATENESS_KNOWN_OF = 5
/** The number of called people over whom the show-up share is measured. */
const WINDOW_CALLED = 1_000
/** The bounds of the time over which the share is measured. */
const WINDOW_MIN_MS = 15_000
const WINDOW_MAX_MS = 60_000
/** The initial share: it counts as if this many had been called and all had arrived. */
const PRIOR_CALLED = 20
/**
 * The same while units wait for a buyer. It is smaller, so that a few no-shows are enough to call several people for
 * the next unit.
 */
const PRIOR_FOR_UNITS = 2
/** Above this show-up share the queue does not speed up, because the estimate itself may be wrong by as much. */
const NEARLY_ALL = 0.97
/** The queue speeds up slowly, since people may only be late; it slows down at once. */
const BOOST_RISE_PER_SECOND = 0.05
/** The number of standard deviations by which more people than expected may arrive without breaking a limit. */
const MARGIN_SIGMAS = 4
/** After an outage the line starts at this share of its rate. */
const THROTTLE_AFTER_OUTAGE = 0.5
/** The arrival rate is measured over this time. */
const ARRIVING_OVER_MS = 3_000
/** Samples are a second apart for the last minutes, then spread so that this many cover the claim window. */
const FINE_SAMPLES_MS = 2 * WINDOW_MAX_MS
const COARSE_SAMPLES = 64

interface Sample {
  readonly open_ms: number
  readonly called: number
  readonly arrivals: number
}

/**
 * While all units are in carts the queue stops, and turns still pass: a place must not admit forever those who keep
 * the units in carts. While the sale is paused, or the origin is away, nobody can use their turn.
 */
const RUNNING: readonly Phase[] = ['open', 'all_in_carts']

const OPENING: Sample = { open_ms: 0, called: 0, arrivals: 0 }

/** Stored with the sale, in these field names. */
export interface Memory {
  /** When the state was last requested, and when the origin last responded. */
  readonly polled_at_ms: number
  readonly reached_at_ms: number
  /** How long the sale has been open: turns pass on this clock, which stops while the origin takes no orders. */
  readonly open_ms: number
  /**
   * Arrivals since the opening, and the origin's own counter as it last reported it: a restarted origin begins again.
   */
  readonly arrivals: number
  readonly arrivals_reported: number
  /** How long after their call the latest arrivals came, on the open clock. */
  readonly lateness_ms: readonly number[]
  /**
   * True if the origin counted arrivals in its last response, and the time on the open clock until which arrivals are
   * unknown.
   */
  readonly counted: boolean
  readonly uncounted_until_ms: number
  /**
   * The units held or sold at the last response. While the origin does not count, this is the highest number so far.
   */
  readonly taken: number
  /** The units paid for at the last response, and per second; absent in records of an earlier version. */
  readonly sold?: number
  readonly paid_per_second?: number
  readonly throttle: number
  /**
   * The other fields of the pace, and the usual lateness of the quickest arrivals; absent in records of an earlier
   * version.
   */
  readonly proven?: number
  readonly quick_seconds?: number
  readonly base_ms?: number
  readonly steady_ms?: number
  readonly steady_seconds?: number
  readonly usual_ms?: number
  /** The lateness of the latest quick arrivals, compared with the usual one. */
  readonly late_ms?: number
  readonly boost: number
  readonly samples: readonly Sample[]
}

export const EMPTY_MEMORY: Memory = {
  polled_at_ms: 0,
  reached_at_ms: 0,
  open_ms: 0,
  arrivals: 0,
  arrivals_reported: 0,
  lateness_ms: [],
  counted: true,
  uncounted_until_ms: 0,
  taken: 0,
  throttle: 1,
  boost: 1,
  samples: [],
}

/** The memory of a new sale: what the origin counted before does not count as arrivals. */
export function newMemory(state: SaleState, nowMs: number): Memory {
  return { ...EMPTY_MEMORY, ...counters(EMPTY_MEMORY, state, 0), polled_at_ms: nowMs, reached_at_ms: nowMs }
}

interface Observation {
  readonly nowMs: number
  /** The origin's response; null without one. */
  readonly state: SaleState | null
  /** The schedule that holds now. */
  readonly schedule: Schedule
  /** The time since the last refresh during which turns could be used (ranMs). */
  readonly ranMs: number
  /** The highest number given out, or leased to be given out. */
  readonly highestNumber: number
}

export function observe(memory: Memory, seen: Observation, settings: Settings): Memory {
  const { nowMs, state, schedule } = seen
  const elapsedMs = Math.min(MAX_ELAPSED_MS, Math.max(0, nowMs - memory.polled_at_ms))
  const open_ms = memory.open_ms + Math.min(MAX_ELAPSED_MS, seen.ranMs)
  const arrivals = memory.arrivals + (state ? newArrivals(memory, state) : 0)
  const called = calledBy(schedule, nowMs, seen.highestNumber)
  const isDrawn = schedule.draw_seed !== null
  const counted = {
    ...memory,
    ...(state ? counters(memory, state, open_ms) : {}),
    polled_at_ms: nowMs,
    open_ms,
    arrivals,
    ...(state ? salesPace(memory, state, elapsedMs) : {}),
    samples: isDrawn ? withSample(memory.samples, { open_ms, called, arrivals }, settings) : memory.samples,
  }
  const next = { ...counted, lateness_ms: latenessAfter(counted, seen) }
  return {
    ...next,
    // The time is at most now, even if the clock was put back since.
    reached_at_ms: state ? nowMs : Math.min(memory.reached_at_ms, nowMs),
    ...paceOf(memory, next, seen, settings),
    boost: boostAfter(next, elapsedMs / 1000, settings),
  }
}

/** How long turns could be used between two moments: a pause that began or ended in between counts in part. */
export function ranMs(timeline: Timeline, fromMs: number, untilMs: number): number {
  return timeline.reduce((sum, { from_ms, schedule }, i) => {
    const beganMs = i === 0 ? fromMs : Math.max(fromMs, from_ms)
    const endedMs = Math.min(untilMs, timeline[i + 1]?.from_ms ?? untilMs)
    return RUNNING.includes(schedule.phase) ? sum + Math.max(0, endedMs - beganMs) : sum
  }, 0)
}

/**
 * Numbers from `first` on came back unused: the visitors who get them next have not been called, and have not missed
 * a turn.
 */
export function uncalled(memory: Memory, first: number): Memory {
  const samples = memory.samples.map((sample) => ({ ...sample, called: Math.min(sample.called, first - 1) }))
  return { ...memory, samples }
}

/** True if the origin did not respond for too long; that nobody asked it is no sign of anything. */
export function isUnreached({ polled_at_ms, reached_at_ms }: Memory): boolean {
  return polled_at_ms - reached_at_ms > UNREACHED_MS
}

/** Returns how many visitors with a number were called by a moment. */
export function calledBy(schedule: Schedule, atMs: number, highestNumber: number): number {
  if (schedule.draw_seed === null) return 0
  return Math.min(Math.floor(servingExactly(schedule, atMs)), highestNumber)
}

/**
 * The last sample before the claim window: those called by then may no longer claim their turn. Who was called
 * between two samples, and when, is not known, and no turn may pass too early.
 */
const beforeClaimWindow = (memory: Memory, { claimSeconds }: Settings) =>
  sampleUntil(memory, memory.open_ms - claimSeconds * 1000)

/** Returns how many were called so long ago that their turn has expired. */
export const calledBeforeClaimWindow = (memory: Memory, settings: Settings) =>
  beforeClaimWindow(memory, settings).called

export const unitsOf = ({ products }: SaleState, of: 'available' | 'held' | 'sold') =>
  products.reduce((units, product) => units + product[of], 0)
/** False for a sale before a site that sells by itself: there are no units here that could bound anybody. */
export const hasUnits = ({ products }: SaleState) => products.length > 0
const unitsTaken = (state: SaleState) => unitsOf(state, 'held') + unitsOf(state, 'sold')

// -- Arrivals ------------------------------------------------------------------------------------------------------

/**
 * Arrivals since the last refresh. While the origin cannot count them, only those who took a unit are known; the
 * count it then catches up with is left out, since nobody knows when those people came. So a visitor who is not known
 * to have arrived stays on their way for the whole claim window, which calls too few people rather than too many.
 */
function newArrivals(memory: Memory, state: SaleState): number {
  return state.counted && memory.counted
    ? Math.max(0, state.arrivals - memory.arrivals_reported)
    : (Math.max(0, unitsTaken(state) - memory.taken) * state.share) / state.limit_per_visitor
}

function salesPace({ sold: before, paid_per_second = 0 }: Memory, state: SaleState, elapsedMs: number) {
  const sold = unitsOf(state, 'sold')
  return { sold, paid_per_second: paidPerSecondAfter(paid_per_second, sold - (before ?? sold), elapsedMs / 1000) }
}

/** The origin's counters, which the next refresh compares with. */
function counters(memory: Memory, state: SaleState, openMs: number) {
  const { counted, arrivals } = state
  const taken = unitsTaken(state)
  return {
    counted,
    uncounted_until_ms: counted && memory.counted ? memory.uncounted_until_ms : openMs,
    ...(counted ? { arrivals_reported: arrivals, taken } : { taken: Math.max(memory.taken, taken) }),
  }
}

function latenessAfter(memory: Memory, { state, schedule }: Observation): readonly number[] {
  const { draw_seed: seed, draw_beacon: beacon, pre_queue_size: size } = schedule
  if (!state || seed === null) return memory.lateness_ms
  const positions = state.arrived_lately.map(positionsOf({ seed, size, beacon }))
  const lately = positions.map((position) => calledAgoMs(memory, position))
  return [...memory.lateness_ms, ...lately].slice(-LATENESS_OF)
}

function calledAgoMs(memory: Memory, position: number): number {
  const index = memory.samples.findIndex(({ called }) => called >= position)
  const [before, after] = [memory.samples[index - 1] ?? OPENING, memory.samples[index]]
  if (!after) return 0
  const share = Math.max(0, position - before.called) / (after.called - before.called)
  return memory.open_ms - before.open_ms - share * (after.open_ms - before.open_ms)
}

/** How long after the call somebody who has not turned up counts as a no-show. */
function settleMs({ lateness_ms }: Memory, { claimSeconds }: Settings): number {
  const mostMs = claimSeconds * 500
  if (lateness_ms.length < LATENESS_KNOWN_OF) return mostMs
  const middle = [...lateness_ms].sort((a, b) => a - b)[lateness_ms.length >> 1]
  const median = assertExists(middle, 'Known latenesses have a median.')
  return Math.min(mostMs, Math.max(SETTLE_MS, SETTLE_LATENESS * median))
}

/**
 * The share of those called who turn up: arrivals until now over numbers called until `settleMs` ago. While people
 * are merely slow this errs towards "everyone comes", which is the safe side. Almost surely no more than `sureShare`
 * turn up. `unitShare` is the share where units wait for a buyer: it is learned from few, and counts all who came
 * since the first of those called, so that a burst of calls before a pause is not taken for no-shows. Where the
 * origin did not count all arrivals nothing is known: everyone comes.
 */
export function showRatio(memory: Memory, settings: Settings) {
  const settledMs = memory.open_ms - settleMs(memory, settings)
  const lately = at(memory, settledMs, 'called') - at(memory, settledMs - WINDOW_MAX_MS, 'called')
  const enoughMs = (WINDOW_MAX_MS * WINDOW_CALLED) / Math.max(1, lately)
  const wantedMs = Math.min(WINDOW_MAX_MS, Math.max(WINDOW_MIN_MS, enoughMs))
  if (!isCounted(memory, settledMs - wantedMs)) return { share: 1, sureShare: 1, unitShare: 1 }
  // The window begins at a sample, since arrivals between two refreshes are not known.
  const from = sampleUntil(memory, memory.open_ms - wantedMs)
  const windowMs = memory.open_ms - from.open_ms
  const called = at(memory, settledMs, 'called') - at(memory, settledMs - windowMs, 'called')
  const shareOf = (prior: number, arrivalsBefore: number) =>
    Math.min(1, (prior + memory.arrivals - arrivalsBefore) / (prior + called))
  const share = shareOf(PRIOR_CALLED, from.arrivals)
  const sureShare = Math.min(1, share + MARGIN_SIGMAS * Math.sqrt((share * (1 - share)) / (PRIOR_CALLED + called)))
  return { share, sureShare, unitShare: shareOf(PRIOR_FOR_UNITS, at(memory, settledMs - windowMs, 'arrivals')) }
}

/** True if the origin has counted all arrivals since the time. */
const isCounted = ({ uncounted_until_ms }: Memory, sinceMs: number) =>
  uncounted_until_ms === 0 || sinceMs >= uncounted_until_ms

/** How many people were called and will still come, if this share of those called turns up in the end. */
export function onTheirWay(memory: Memory, called: number, share: number, settings: Settings): number {
  const before = beforeClaimWindow(memory, settings)
  const calledInTime = Math.max(0, called - before.called)
  const arrivedInTime = memory.arrivals - before.arrivals
  return Math.max(0, calledInTime * share - arrivedInTime)
}

/**
 * Returns the highest number of recently called visitors who may be on their way, without those who arrived since.
 */
function mostOnTheirWay(memory: Memory, called: number, share: number, settings: Settings): number {
  const most = unsettled(memory, called, settings)
  return Math.min(most, most * share + MARGIN_SIGMAS * Math.sqrt(most * share * (1 - share)))
}

/** How many were called so lately that they do not count as no-shows. */
const unsettled = (memory: Memory, called: number, settings: Settings) =>
  Math.max(0, called - at(memory, memory.open_ms - settleMs(memory, settings), 'called'))

/**
 * Returns how many called visitors are expected to arrive. A visitor who has not arrived in time counts as a no-show
 * until they do. Otherwise a unit would stay free for the whole claim window behind each number that nobody uses.
 */
function expected(memory: Memory, called: number, share: number, settings: Settings): number {
  const all = onTheirWay(memory, called, share, settings)
  if (!isCounted(memory, memory.open_ms - settings.claimSeconds * 1000)) return all
  return Math.min(all, unsettled(memory, called, settings) * share)
}

/**
 * The called visitors who may still arrive: the units reserved for them, and the highest possible number of people.
 */
export function comingIn(memory: Memory, called: number, settings: Settings) {
  const { share, unitShare, sureShare } = showRatio(memory, settings)
  return {
    may_come: Math.round(onTheirWay(memory, called, 1, settings)),
    coming_units: expected(memory, called, Math.min(share, unitShare), settings) / settings.admissionsPerUnit,
    coming_people: Math.max(
      onTheirWay(memory, called, sureShare, settings),
      mostOnTheirWay(memory, called, sureShare, settings),
    ),
  }
}

// -- Speed ---------------------------------------------------------------------------------------------------------

/** The pace after a refresh, from what it knew before and knows now. Before the draw it is that of an opening. */
function paceOf(before: Memory, memory: Memory, { state, schedule }: Observation, settings: Settings) {
  if (!state) return {}
  const rate = state.admission.rate_per_second
  if (schedule.draw_seed === null) return openingPace(rate)
  const { proven = 1, quick_seconds = 0, base_ms = 0, steady_ms = 0, steady_seconds = 0, throttle } = before
  const { late_ms: wasLateMs = 0 } = before
  // An origin that has answered nobody lately names no time.
  const { answers_ms: answersMs = 0 } = state
  const pace: Pace = { throttle, proven, quick_seconds, base_ms, steady_ms, steady_seconds }
  if (isUnreached(before)) return { ...pace, throttle: Math.min(throttle, THROTTLE_AFTER_OUTAGE) }
  if (memory.open_ms === before.open_ms) return pace
  const elapsedSeconds = (memory.open_ms - before.open_ms) / 1000
  const isKnown = state.arrived_lately.length > 0 && memory.lateness_ms.length >= LATENESS_OF
  const { quickestMs, lateMs, usual_ms } = lateness(memory.lateness_ms, before.usual_ms, elapsedSeconds)
  // One slow sample is not congestion: visitors who learn late that the line sped up also arrive late.
  const stillLateMs = Math.min(lateMs, wasLateMs)
  const lately = memory.arrivals - at(memory, memory.open_ms - ARRIVING_OVER_MS, 'arrivals')
  const signs = {
    elapsedSeconds,
    rate,
    // After the rate is cut, most arrivals were called before the cut, and they are late for that reason alone.
    delayMs: Math.max(answersMs, isKnown && quick_seconds * 1000 > quickestMs ? stillLateMs : 0),
    isOverloaded: state.health === 'slow',
    arriving: state.counted ? (lately * 1000) / ARRIVING_OVER_MS : rate,
  }
  return { ...paceAfter(pace, signs, settings.answerTargetMs), ...(isKnown && { usual_ms, late_ms: lateMs }) }
}

function boostAfter(memory: Memory, elapsedSeconds: number, settings: Settings): number {
  const { share } = showRatio(memory, settings)
  const wanted = share > NEARLY_ALL ? 1 : Math.min(settings.noShowBoost, 1 / share)
  return Math.min(wanted, memory.boost * (1 + BOOST_RISE_PER_SECOND) ** elapsedSeconds)
}

// -- Samples -------------------------------------------------------------------------------------------------------

/** A sampled figure at a moment of the open clock, interpolated between samples. */
function at(memory: Memory, openMs: number, of: 'called' | 'arrivals'): number {
  if (openMs < 0) return 0
  const before = sampleUntil(memory, openMs)
  const after = memory.samples.find(({ open_ms }) => open_ms > openMs)
  if (!after) return before[of]
  const share = (openMs - before.open_ms) / (after.open_ms - before.open_ms)
  return before[of] + (after[of] - before[of]) * share
}

/** The last sample up to a moment. */
const sampleUntil = ({ samples }: Memory, openMs: number) =>
  samples.findLast(({ open_ms }) => open_ms <= openMs) ?? OPENING

function withSample(samples: readonly Sample[], sample: Sample, settings: Settings): readonly Sample[] {
  const last = samples.at(-1)
  if (last && sample.open_ms - last.open_ms < 1_000) return samples
  const coarseMs = Math.max(1_000, (settings.claimSeconds * 1000) / COARSE_SAMPLES)
  const keepMs = Math.max(FINE_SAMPLES_MS, settings.claimSeconds * 1000) + coarseMs
  let slot = -1
  const retained = samples.filter(({ open_ms }) => {
    const ageMs = sample.open_ms - open_ms
    const isFirstOfSlot = Math.floor(open_ms / coarseMs) !== slot
    slot = Math.floor(open_ms / coarseMs)
    return ageMs <= FINE_SAMPLES_MS || (ageMs <= keepMs && isFirstOfSlot)
  })
  return [...retained, sample]
}
