/**
 * Admission as congestion control: which share of the configured rate the line calls. While answers are quick it is
 * all of it. When they are not it falls at once, to less than what has arrived lately and further until they are
 * quick again; then it doubles each second up to what went well before, and from there rises gently, the less the
 * nearer answers are to slow.
 */

import type { Trip } from '../room-clock.ts'

/** Stored with the sale, in these field names. */
export interface Pace {
  /** The share of the configured rate, above 0, at most 1. */
  readonly throttle: number
  /** Up to this share it doubles each second: it went well, or nothing is known yet. */
  readonly proven: number
  /** How long answers have been quick. */
  readonly quick_seconds: number
  /**
   * What answers take although few are called, above the target or 0; how slow they are, and for how long they have
   * been as slow.
   */
  readonly base_ms?: number
  readonly steady_ms?: number
  readonly steady_seconds?: number
}

export interface Signs {
  readonly elapsedSeconds: number
  /** The configured rate, people a second. */
  readonly rate: number
  /** How long answers take, or those called come later than usual. */
  readonly delayMs: number
  /** The origin says itself that it has too much to do. */
  readonly isOverloaded: boolean
  /** People a second who arrived lately. */
  readonly arriving: number
}

/**
 * The highest rate in people per second at the start of a sale, because nobody knows yet how quick the answers will
 * be.
 */
const OPENING_RATE = 100
/**
 * After the start the rate doubles each second, up to this multiple of the arrival rate, because recent arrivals have
 * yet to cause most of their calls.
 */
const AHEAD_OF_ARRIVALS = 2
/**
 * At the start the rate doubles fully while answers take at most half of this part of the target. Slower answers
 * double it less, and not at all from the whole part on.
 */
const QUICK_AT_OPENING = 1 / 4
/** The same part of the target after a slowdown, while the rate returns to the proven one. */
const QUICK_AGAIN = 1 / 2
/** The lowest throttle is this share of the rate, or one person per second if that is more. */
const MIN_THROTTLE = 1 / 64
/**
 * When answers become slow, 90 % of the recent arrival rate counts as proven, and the throttle falls to at most 90 %
 * of its value.
 */
const PROVEN = 0.9
/**
 * The proven rate is at least this share of the throttle, because few arrivals may only mean that people are late.
 */
const PROVEN_MIN = 1 / 4
/** The proven rate shrinks by this factor each second while answers stay slow. */
const PROVEN_KEPT = 0.97
/**
 * The rate falls so far that the callers in the backlog get their answers within about this many times the target.
 */
const DRAIN_TARGETS = 3
/**
 * Above the proven rate the throttle grows by this share per second, multiplied by the seconds for which answers have
 * been quick.
 */
const RISE = 0.02
/**
 * The growth per second is at most this share while people arrive, because the load that they cause is seen with a
 * delay.
 */
const MAX_RISE = 0.07
/**
 * The growth shrinks as answers approach the target, but at least this part of it remains, because answers may be
 * slow for other reasons.
 */
const MIN_HEADROOM = 1 / 4
/**
 * Answers that stay slow by the same, within this part of the target, for so long are not slow by the crowd: calling
 * fewer would have helped.
 */
const STEADY_PART = 0.3
const STEADY_SECONDS = 5
/** A refresh that is late is no more than one sign. */
const MAX_ELAPSED_SECONDS = 2

const leastOf = (rate: number) => Math.min(1, Math.max(MIN_THROTTLE, 1 / rate))

export const openingPace = (rate: number): Pace => ({
  throttle: Math.max(leastOf(rate), Math.min(1, OPENING_RATE / rate)),
  proven: 1,
  quick_seconds: 0,
})

const isUnknown = ({ proven }: Pace) => proven === 1

/**
 * The pace after these signs. A delay that calling fewer does not cure, such as that of a store further away, is no
 * congestion: it costs what it costs, so that as many people are inside as with answers at the target, and only what
 * comes on top of it counts.
 */
export function paceAfter(pace: Pace, signs: Signs, targetMs: number): Pace {
  // The other lines have its share: it calls nobody, and learns nothing.
  if (signs.rate === 0) return pace
  const seconds = Math.min(MAX_ELAPSED_SECONDS, signs.elapsedSeconds)
  const base = baseAfter(pace, signs, seconds, targetMs)
  const delayMs = Math.max(0, signs.delayMs - base.base_ms)
  const { throttle, ...paced } = congestedPace(pace, { ...signs, delayMs }, seconds, targetMs)
  const most = targetMs / Math.max(targetMs, base.base_ms)
  return { ...paced, throttle: Math.max(leastOf(signs.rate), Math.min(throttle, most)), ...base }
}

function baseAfter(pace: Pace, { delayMs, isOverloaded }: Signs, seconds: number, targetMs: number) {
  const { base_ms = 0, steady_ms = 0, steady_seconds = 0 } = pace
  if (delayMs <= targetMs) return { base_ms: 0, steady_ms: 0, steady_seconds: 0 }
  const isSteady = !isOverloaded && Math.abs(delayMs - steady_ms) <= STEADY_PART * targetMs
  const steady = isSteady
    ? { steady_ms, steady_seconds: steady_seconds + seconds }
    : { steady_ms: delayMs, steady_seconds: 0 }
  const isBase = delayMs < base_ms || steady.steady_seconds >= STEADY_SECONDS
  return { base_ms: isBase ? delayMs : base_ms, ...steady }
}

function congestedPace(pace: Pace, signs: Signs, seconds: number, targetMs: number): Pace {
  const { rate, delayMs, arriving } = signs
  const least = leastOf(rate)
  if (signs.isOverloaded || delayMs > targetMs) {
    const proven = Math.max(least, provenAfter(pace, signs, seconds))
    const drained = proven * Math.max(0, 1 - delayMs / (DRAIN_TARGETS * targetMs))
    const kept = Math.min(pace.quick_seconds > 0 ? PROVEN : 1, signs.isOverloaded ? 0.5 ** seconds : 1)
    return { throttle: Math.max(least, Math.min(pace.throttle * kept, drained)), proven, quick_seconds: 0 }
  }
  const quick_seconds = pace.quick_seconds + seconds
  const quickMs = targetMs * (isUnknown(pace) ? QUICK_AT_OPENING : QUICK_AGAIN)
  const doublings = seconds * Math.max(0, Math.min(1, 2 - (2 * delayMs) / quickMs))
  const rise = arriving > 0 ? Math.min(MAX_RISE, RISE * quick_seconds) : RISE * quick_seconds
  const headroom = Math.max(MIN_HEADROOM, 1 - delayMs / targetMs)
  const gently = pace.throttle * Math.exp(rise * headroom * seconds)
  const doubled = Math.min(pace.proven, pace.throttle * 2 ** doublings)
  // Answers tell nothing yet of those who are still on their way.
  const told = isUnknown(pace) ? (AHEAD_OF_ARRIVALS * arriving) / rate : 1
  const risen = Math.max(gently, Math.min(doubled, told))
  return { ...pace, throttle: Math.max(least, Math.min(1, risen)), quick_seconds }
}

/** What went well, now that answers are slow. */
function provenAfter(pace: Pace, { arriving, rate }: Signs, seconds: number): number {
  const { throttle, proven, quick_seconds } = pace
  if (!isUnknown(pace)) {
    if (quick_seconds === 0) return proven * PROVEN_KEPT ** seconds
    // On the way back few arrive because few are called.
    if (throttle < proven) return proven * PROVEN
  }
  return PROVEN * Math.min(throttle, Math.max(throttle * PROVEN_MIN, arriving / rate))
}

/**
 * How long state requests of the coordinator took, in milliseconds: the last, the one before it, and the least of
 * all.
 */
export interface StateTimes {
  readonly lastMs: number
  readonly beforeMs: number
  readonly leastMs: number
}

/** The times after another request. A clock that was put back meanwhile counts as no time at all. */
export function timesAfter({ lastMs, leastMs }: StateTimes, { sentMs, heardMs }: Trip): StateTimes {
  const tookMs = Math.max(0, heardMs - sentMs)
  return { lastMs: tookMs, beforeMs: lastMs, leastMs: Math.min(leastMs, tookMs) }
}

/**
 * How long buyers wait for answers that take the origin `answersMs`: it sees neither who waits before it nor who
 * waits for what it has answered. A state request sees the second, and the first takes as long. One slow request is
 * no congestion, but the line becomes no quicker for it.
 */
export function withTheWay(answersMs: number, { lastMs, beforeMs, leastMs }: StateTimes, targetMs: number): number {
  const seen = (tookMs: number) => answersMs + leastMs + 2 * (tookMs - leastMs)
  return Math.max(seen(Math.min(lastMs, beforeMs)), Math.min(targetMs, seen(lastMs)))
}

/**
 * How much of the usual lateness the latest one becomes each second: a crowd of other habits is no congestion for
 * long.
 */
const USUAL_SHARE_PER_SECOND = 0.02
/**
 * Even the quickest visitors come at different times, and more so if visitors differ more. This share of the median's
 * delay is taken off the lateness.
 */
const SPREAD_SHARE = 3 / 4
/**
 * The quickest tenth of the visitors is ignored: a few who come at once for a while, and then stop, would make all
 * others look late.
 */
const TOO_QUICK_SHARE = 1 / 10

/**
 * How much later than usual people come, of whom `usualMs` is known: congestion delays all alike, so only the
 * quickest tell; the others may be slow by themselves. A tenth of liars moves neither figure beyond those of the
 * others. Returns the usual lateness after this refresh too.
 */
export function lateness(latenessMs: readonly number[], usualMs: number | undefined, elapsedSeconds: number) {
  const sorted = [...latenessMs].sort((a, b) => a - b)
  const quick = Math.floor(TOO_QUICK_SHARE * sorted.length)
  const [quickestMs = 0, medianMs = 0] = [sorted[quick], sorted[sorted.length >> 1]]
  const usual_ms = usualMs ?? quickestMs
  const share = 1 - (1 - USUAL_SHARE_PER_SECOND) ** elapsedSeconds
  return {
    quickestMs,
    lateMs: Math.max(0, quickestMs - usual_ms - SPREAD_SHARE * (medianMs - quickestMs)),
    usual_ms: usual_ms + (quickestMs - usual_ms) * share,
  }
}
