/**
 * How true the waits are that people are told: one place of the line is watched at a time, and the time until its turn is
 * held against the time that its holder was told when the watching began. Pure; for operators, and nothing is decided by it.
 */
import { estimatedWaitSeconds, isFinal, type Schedule, servingExactly } from '../../shared/schedule.ts'

/** From so long before its turn a place is watched: time for the line to change, and soon over. */
const AHEAD_SECONDS = 60
/** A shorter wait is not worth watching: the line is looked at once a second, and would seem late by that. */
const MIN_SECONDS = 10

export interface Foretold {
  /** The place watched, if any, and what was told of it at a moment (ms since the epoch). */
  readonly watched: {
    readonly position: number
    readonly told_seconds: number
    readonly at_ms: number
  } | null
  /** Of the place whose turn came last, while others wait: the time it took over the time told. */
  readonly ratio: number | null
}

export const NOTHING_FORETOLD: Foretold = { watched: null, ratio: null }

/** After a look at the line, as it stands at `nowMs`; `highestNumber` is the last that was given out. */
export function watch(
  { watched, ratio }: Foretold,
  schedule: Schedule,
  highestNumber: number,
  nowMs: number,
): Foretold {
  const reached = servingExactly(schedule, nowMs)
  // Nobody waits any more: what they were told is over.
  if (isFinal(schedule.phase) || (!watched && reached >= highestNumber)) return NOTHING_FORETOLD
  // A clock that was put back, or numbers that were: of that place nothing can be said any more.
  if (watched && watched.at_ms <= nowMs && watched.position <= highestNumber) {
    if (reached < watched.position) return { watched, ratio }
    return { watched: null, ratio: (nowMs - watched.at_ms) / 1000 / watched.told_seconds }
  }
  if (schedule.phase !== 'open') return { watched: null, ratio }
  const position = Math.min(highestNumber, Math.ceil(reached + schedule.rate_per_second * AHEAD_SECONDS))
  const told_seconds = estimatedWaitSeconds(schedule, position, nowMs)
  // Held back by its ceiling, it goes on with the next look, or one soon after.
  if (told_seconds === null) return { watched: null, ratio }
  if (told_seconds < MIN_SECONDS) return NOTHING_FORETOLD
  return { watched: { position, told_seconds, at_ms: nowMs }, ratio }
}

/**
 * The time a turn took to come over the time told: 1 is exact, 2 twice as long. A place that waits longer than it was told
 * counts as it stands, so that a line that has stopped is seen. Null where no place was watched yet, or nobody waits for long.
 */
export function waitRatio({ watched, ratio }: Foretold, nowMs: number): number | null {
  const soFar = watched ? (nowMs - watched.at_ms) / 1000 / watched.told_seconds : 0
  const latest = soFar > 1 ? soFar : ratio
  return latest === null ? null : Math.round(latest * 100) / 100
}
