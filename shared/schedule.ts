/**
 * The admission schedule: one small public document from which anyone works out, at any moment, who is being served.
 *
 *     serving(t) = min(ceiling, anchor_position + rate_per_second * (t - anchor_at_ms) / 1000)
 *
 * It is a line, not a counter: admission at a fixed rate needs no state and no tick. The coordinator publishes a new
 * line when something changes, always anchored on the old one, so that serving never moves back. All functions are
 * pure; times are milliseconds since the epoch on the edge's clock, positions start at 1.
 */
import type { Phase, Schedule, Status } from './api/public.ts'
import { positionOf } from './draw.ts'

export type { Phase, Schedule, Status }

/** True if nobody can join any more, so that every visitor sees the same page. */
export function isFinal(phase: Phase | Status): phase is 'sold_out' | 'ended' {
  return phase === 'sold_out' || phase === 'ended'
}

/** The part of a schedule that defines the line. */
type Line = Pick<Schedule, 'anchor_at_ms' | 'anchor_position' | 'rate_per_second' | 'ceiling'>

/** The exact point on the line at a moment, with its fraction. Before the anchor's time it is the anchor. */
export function servingExactly(line: Line, atMs: number): number {
  const elapsedSeconds = Math.max(0, atMs - line.anchor_at_ms) / 1000
  const onLine = line.anchor_position + line.rate_per_second * elapsedSeconds
  return Math.max(line.anchor_position, Math.min(line.ceiling, onLine))
}

/** The highest position whose turn has come at a moment. */
export function serving(line: Line, atMs: number): number {
  return Math.floor(servingExactly(line, atMs))
}

/** The time at which the current line reaches a position (ms since the epoch); Infinity if it never does. */
export function calledAtMs(line: Line, position: number): number {
  if (position <= line.anchor_position) return line.anchor_at_ms
  if (position > line.ceiling || line.rate_per_second <= 0) return Number.POSITIVE_INFINITY
  return line.anchor_at_ms + ((position - line.anchor_position) / line.rate_per_second) * 1000
}

/** A visitor's place at a moment. */
export interface Place {
  readonly status: Status
  /** The position in the drawn order; null before the draw. */
  readonly position: number | null
  /** The number of people ahead plus one; 0 when ready; null before the draw. */
  readonly position_in_queue: number | null
  readonly now_serving: number
  /** The wait in seconds; null if unknown. */
  readonly estimated_wait_time: number | null
}

/**
 * The place of a ticket number at a moment, calculated from the number and the schedule alone. `drawn` may be a
 * cached `positionOf`, because positions never change.
 */
export function placeOf(schedule: Schedule, number: number, nowMs: number, drawn = positionOf): Place {
  if (!isDrawn(schedule)) {
    const isOver = schedule.phase === 'ended'
    return {
      status: isOver ? 'ended' : 'pre_queue',
      position: null,
      position_in_queue: null,
      now_serving: 0,
      estimated_wait_time: isOver ? null : roundToTenth(Math.max(0, schedule.anchor_at_ms - nowMs) / 1000),
    }
  }
  const { draw_seed: seed, pre_queue_size: size, draw_beacon: beacon } = schedule
  const position = drawn({ seed, size, beacon }, number)
  const now_serving = serving(schedule, nowMs)
  const status = statusAt(schedule, position, now_serving)
  const isCalled = status === 'ready' || status === 'missed_turn'
  return {
    status,
    position,
    position_in_queue: isCalled ? 0 : Math.max(0, position - now_serving),
    now_serving,
    estimated_wait_time:
      status === 'ready' ? 0 : status === 'waiting' ? estimatedWaitSeconds(schedule, position, nowMs) : null,
  }
}

function statusAt({ phase, missed_through }: Schedule, position: number, nowServing: number): Status {
  if (isFinal(phase)) return phase
  if (position <= missed_through) return 'missed_turn'
  if (position <= nowServing) return 'ready'
  return phase === 'paused' || phase === 'all_in_carts' ? phase : 'waiting'
}

/** True once the seed is revealed, because a number has a position only then. */
export function isDrawn(schedule: Schedule): schedule is Schedule & { draw_seed: string } {
  return schedule.draw_seed !== null
}

/**
 * The seconds until a position is called; null while the line is stopped or held back by its ceiling for an unknown
 * time.
 */
export function estimatedWaitSeconds(schedule: Schedule, position: number, nowMs: number): number | null {
  const served = servingExactly(schedule, nowMs)
  if (schedule.rate_per_second <= 0 || served >= schedule.ceiling) return null
  return roundToTenth((position - served) / schedule.rate_per_second)
}

const roundToTenth = (seconds: number) => Math.round(seconds * 10) / 10

/** True if a visitor in this state waits in line. */
export const isInLine = (status: Status) => status === 'waiting' || status === 'paused' || status === 'all_in_carts'

/** True if a visitor in this state has a place to give up. */
export const mayLeave = (status: Status) => isInLine(status) || status === 'pre_queue'

/** True if the estimated turn comes only after the sale has ended. */
export function endsBeforeTurn({ ends_at_ms }: Schedule, { estimated_wait_time }: Place, nowMs: number): boolean {
  return ends_at_ms !== null && estimated_wait_time !== null && nowMs + estimated_wait_time * 1000 > ends_at_ms
}

const POLL_MIN_MS = 1_000
const POLL_MAX_MS = 120_000
/**
 * The interval while the wait is unknown (paused, all in carts, held back by the ceiling). It is longer for visitors
 * far back.
 */
const POLL_UNKNOWN_MS = 5_000
/**
 * The interval applies up to this many people ahead, and is ten times as long with a hundred times as many, because
 * they are called later when the line continues.
 */
const NEAR = 1_000
/**
 * The draw is published half a second after the opening (ANNOUNCE_MS), and a cache serves the copy before for a
 * second more.
 */
const DRAWN_AFTER_MS = 1_600

/**
 * The longest pause between two polls if a turn can be claimed for this long. With it a visitor misses no turn, even
 * one that comes at once.
 */
export const pollMaxMs = (claimSeconds: number) => Math.min(POLL_MAX_MS, Math.round((claimSeconds * 2_000) / 3))

/**
 * The time until the next poll in milliseconds. It is longer the further away the turn is, and varies by `random`
 * (uniform in [0, 1)), so that visitors who started together do not poll together. It is never longer than
 * `pollMaxMs`.
 */
export function pollAfterMs({ status, estimated_wait_time, position_in_queue }: Place, random: number): number {
  if (isFinal(status) || status === 'missed_turn') return Number.POSITIVE_INFINITY
  const waitMs = (estimated_wait_time ?? 0) * 1000
  const ms =
    estimated_wait_time === null
      ? POLL_UNKNOWN_MS * Math.sqrt(Math.max(1, (position_in_queue ?? 0) / NEAR)) * (0.75 + random / 2)
      : status === 'pre_queue'
        ? waitMs + DRAWN_AFTER_MS + random * 400
        : // Near the turn the poll comes just after it. Further away it comes after about a third of the wait, because the
          // line may speed up.
          waitMs <= 3 * POLL_MIN_MS
          ? Math.max(POLL_MIN_MS, waitMs) + random * 400
          : waitMs * (0.25 + random / 6)
  return Math.round(ms)
}
