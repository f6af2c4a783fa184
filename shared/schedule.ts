/**
 * The admission schedule: one small public document from which anyone, at any moment, works out who is being served.
 *
 *     serving(t) = min(ceiling, anchor_position + rate_per_second * (t - anchor_at_ms) / 1000)
 *
 * It is a line, not a counter: admission at a fixed rate needs no state and no tick. The coordinator publishes a new
 * line when something changes, always anchored on the old one, so that serving never moves back. All functions here
 * are pure; times are milliseconds since the epoch on the edge's clock, positions start at 1.
 */
import type { Phase, Schedule, Status } from './api/public.ts'
import { positionOf } from './draw.ts'

export type { Phase, Schedule, Status }

/** Nobody can join any more, and every visitor is told the same. */
export function isFinal(phase: Phase): phase is 'sold_out' | 'ended' {
  return phase === 'sold_out' || phase === 'ended'
}

/** When the pre-queue opens; on the origin's clock only where nothing else is told. */
export function preQueueOpensAtMs({ pre_queue_opens_at, pre_queue_opens_at_ms }: Schedule): number {
  return pre_queue_opens_at_ms ?? Date.parse(pre_queue_opens_at)
}

/** The part of a schedule that is the line. */
type Line = Pick<Schedule, 'anchor_at_ms' | 'anchor_position' | 'rate_per_second' | 'ceiling'>

/** The point on the line at a moment, with its fraction. Before the anchor the line stands at the anchor. */
export function servingExactly(line: Line, atMs: number): number {
  const elapsedSeconds = Math.max(0, atMs - line.anchor_at_ms) / 1000
  const onLine = line.anchor_position + line.rate_per_second * elapsedSeconds
  return Math.max(line.anchor_position, Math.min(line.ceiling, onLine))
}

/** The highest position whose turn has come at a moment. */
export function serving(line: Line, atMs: number): number {
  return Math.floor(servingExactly(line, atMs))
}

/** When the line as it is now reaches a position (ms since the epoch): Infinity if it never does. */
export function calledAtMs(line: Line, position: number): number {
  if (position <= line.anchor_position) return line.anchor_at_ms
  if (position > line.ceiling || line.rate_per_second <= 0) return Number.POSITIVE_INFINITY
  return line.anchor_at_ms + ((position - line.anchor_position) / line.rate_per_second) * 1000
}

/** Where a visitor stands. */
export interface Place {
  readonly status: Status
  /** Their position in the drawn order; null before the draw. */
  readonly position: number | null
  /** People ahead plus one; 0 when ready; null before the draw. */
  readonly position_in_queue: number | null
  readonly now_serving: number
  /** Seconds; null when not known. */
  readonly estimated_wait_time: number | null
}

/**
 * Where the holder of a ticket number stands at a moment: from the number and the schedule alone. Whoever asks for many
 * may bring a `drawn` that remembers positions; they never change.
 */
export function placeOf(schedule: Schedule, number: number, nowMs: number, drawn = positionOf): Place {
  const now_serving = isDrawn(schedule) ? serving(schedule, nowMs) : 0
  const stand = (
    status: Status,
    position: number | null,
    position_in_queue: number | null,
    wait: number | null,
  ): Place => ({
    status,
    position,
    position_in_queue,
    now_serving,
    estimated_wait_time: wait,
  })
  if (!isDrawn(schedule)) {
    const wait = secondsUntil(schedule.anchor_at_ms, nowMs)
    return schedule.phase === 'ended'
      ? stand('ended', null, null, null)
      : stand('pre_queue', null, null, wait)
  }
  const position = drawn(
    { seed: schedule.draw_seed, size: schedule.pre_queue_size, beacon: schedule.draw_beacon },
    number,
  )
  const inQueue = Math.max(0, position - now_serving)
  if (schedule.phase === 'ended' || schedule.phase === 'sold_out')
    return stand(schedule.phase, position, inQueue, null)
  if (position <= schedule.missed_through) return stand('missed_turn', position, 0, null)
  if (position <= now_serving) return stand('ready', position, 0, 0)
  if (schedule.phase === 'paused' || schedule.phase === 'all_in_carts')
    return stand(schedule.phase, position, inQueue, null)
  return stand('waiting', position, inQueue, estimatedWaitSeconds(schedule, position, nowMs))
}

/** True once the seed is revealed: only then has a number a position. */
export function isDrawn(schedule: Schedule): schedule is Schedule & { draw_seed: string } {
  return schedule.draw_seed !== null
}

/** Null, not known, while the ceiling holds the line back: when it rises is for others to decide. */
export function estimatedWaitSeconds(schedule: Schedule, position: number, nowMs: number): number | null {
  const served = servingExactly(schedule, nowMs)
  if (schedule.rate_per_second <= 0 || served >= schedule.ceiling) return null
  return roundToTenth((position - served) / schedule.rate_per_second)
}

function secondsUntil(atMs: number, nowMs: number): number {
  return roundToTenth(Math.max(0, atMs - nowMs) / 1000)
}

const roundToTenth = (seconds: number) => Math.round(seconds * 10) / 10

const POLL_MIN_MS = 1_000
const POLL_MAX_MS = 60_000
/** While nobody knows how long it takes (paused, all in carts, held back by the ceiling). */
const POLL_UNKNOWN_MS = 5_000

/**
 * When it makes sense to ask again, milliseconds from now: the further away the turn, the longer; spread by `random`
 * (uniform in [0, 1)), so that a crowd that began together does not ask together.
 */
export function pollAfterMs(place: Place, random: number): number {
  if (place.status === 'sold_out' || place.status === 'ended' || place.status === 'missed_turn')
    return POLL_MAX_MS
  const waitMs = place.estimated_wait_time === null ? null : place.estimated_wait_time * 1000
  if (waitMs === null) return Math.round(POLL_UNKNOWN_MS * (0.75 + random / 2))
  // Close to the turn: just after it. Further away: after about a third of the wait, since the line may quicken.
  if (waitMs <= 3 * POLL_MIN_MS) return Math.round(Math.max(POLL_MIN_MS, waitMs) + random * 400)
  return Math.round(Math.min(POLL_MAX_MS, waitMs * (0.25 + random / 6)))
}
