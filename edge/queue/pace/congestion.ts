/**
 * Controls admission as TCP controls congestion: it decides which share of the configured rate the line calls. While
 * answers are quick, the line calls the full rate. When answers become slow, the share falls at once below the recent
 * arrival rate, and further until answers are quick again. Then it doubles each second up to the last proven rate.
 * From there it grows slowly, and more slowly the nearer answers are to the target.
 */

import type { Trip } from '../room-clock.ts'

/** Stored with the sale, in these field names. */
export interface Pace {
  /** The share of the configured rate, above 0, at most 1. */
  readonly throttle: number
  /**
   * The throttle doubles each second up to this share, which went well before. The value 1 means that nothing is
   * known yet.
   */
  readonly proven: number
  /** The time for which answers have been quick. */
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
 * A configured rate of at most so many people per second is called from the start. A higher one opens lower, and the
 * lower the higher it is, because it says less about this origin, whose programs are also slow when they have just
 * started.
 */
const TRUSTED_RATE = 100
/** However high the configured rate is, the line opens with so many people per second at least. */
const MIN_OPENING_RATE = 25
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
const DRAIN_TARGETS = 5
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
 * Answers are not slow because of the crowd if their delay stays within this part of the target for STEADY_SECONDS,
 * because a lower rate would have helped by then.
 */
const STEADY_PART = 0.3
const STEADY_SECONDS = 5
/** A late refresh counts for at most this time, because it is only one sample. */
const MAX_ELAPSED_SECONDS = 2

const leastOf = (rate: number) => Math.min(1, Math.max(MIN_THROTTLE, 1 / rate))

export function openingPace(rate: number): Pace {
  const opening = Math.max(MIN_OPENING_RATE, TRUSTED_RATE * Math.min(1, TRUSTED_RATE / rate))
  return { throttle: Math.max(leastOf(rate), Math.min(1, opening / rate)), proven: 1, quick_seconds: 0 }
}

const isUnknown = ({ proven }: Pace) => proven === 1

/**
 * Returns the pace after a refresh. A delay that a lower rate does not reduce, such as the distance to a store, is
 * not congestion. It becomes the base: the rate is as high as keeps the same number of people inside as with answers
 * at the target, and only a delay above the base counts as congestion.
 */
export function paceAfter(pace: Pace, signs: Signs, targetMs: number): Pace {
  // At a rate of 0 the other lines have this line's share. It calls nobody, so it learns nothing.
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
  const headroom = Math.max(MIN_HEADROOM, (1 - delayMs / targetMs) ** 2)
  const gently = pace.throttle * Math.exp(rise * headroom * seconds)
  const doubled = Math.min(pace.proven, pace.throttle * 2 ** doublings)
  // At the start the answers do not yet show the load of the visitors who are still on their way.
  const told = isUnknown(pace) ? (AHEAD_OF_ARRIVALS * arriving) / rate : 1
  const risen = Math.max(gently, Math.min(doubled, told))
  return { ...pace, throttle: Math.max(least, Math.min(1, risen)), quick_seconds }
}

/** Returns the share that is proven to be served in time, now that answers are slow. */
function provenAfter(pace: Pace, { arriving, rate }: Signs, seconds: number): number {
  const { throttle, proven, quick_seconds } = pace
  if (!isUnknown(pace)) {
    if (quick_seconds === 0) return proven * PROVEN_KEPT ** seconds
    // Few visitors arrive while the rate recovers, because few are called, so arrivals prove nothing.
    if (throttle < proven) return proven * PROVEN
  }
  return PROVEN * Math.min(throttle, Math.max(throttle * PROVEN_MIN, arriving / rate))
}

/**
 * The durations of the coordinator's state requests, in milliseconds: the last, the one before it, and the shortest.
 */
export interface StateTimes {
  readonly lastMs: number
  readonly beforeMs: number
  readonly leastMs: number
}

/** Returns the durations after another request. If the clock was put back meanwhile, the request counts as 0 ms. */
export function timesAfter({ lastMs, leastMs }: StateTimes, { sentMs, heardMs }: Trip): StateTimes {
  const tookMs = Math.max(0, heardMs - sentMs)
  return { lastMs: tookMs, beforeMs: lastMs, leastMs: Math.min(leastMs, tookMs) }
}

/**
 * Returns how long congestion lets buyers wait for answers that take the origin `answersMs`. The origin's own figure
 * leaves out the queue before it and the way of its responses. A state request measures the response's delay, and the
 * queue before the origin is assumed to take as long. The shortest request is the distance, which a slower line does
 * not change. One slow request is not congestion, but it keeps the line from speeding up.
 */
export function withTheWay(answersMs: number, { lastMs, beforeMs, leastMs }: StateTimes, targetMs: number): number {
  const seen = (tookMs: number) => answersMs + 2 * (tookMs - leastMs)
  return Math.max(seen(Math.min(lastMs, beforeMs)), Math.min(targetMs, seen(lastMs)))
}

/**
 * The usual lateness moves toward the latest one by this share per second, so that a crowd with other habits does not
 * count as congestion for long.
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
 * Returns how much later than usual visitors arrive. Congestion delays everybody alike, so only the quickest arrivals
 * count; the others may be slow by themselves. A tenth of the visitors may lie without moving either figure beyond
 * the values of the others. The result includes the usual lateness after this refresh.
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
