/**
 * Decides when a page reads the schedule next: soon while the sale may end at any moment, otherwise as rarely as the
 * delay of an announcement allows. The server calculates and publishes it (`next_read_ms`). The opening and the
 * visitor's own turn are known from the schedule itself, and pages read it then in any case. Pure.
 */
import type { Phase } from './api/public.ts'
import { isFinal, type Schedule } from './schedule.ts'

/*
 * The times below start from these delays. The waiting room knows of a change after 0.2 s. The change takes effect
 * 0.5 s later (ANNOUNCE_MS in edge/queue/timeline.ts), except the end of a stopped line, which isolates know up to
 * 0.45 s later. A cache serves the copy before for up to a second more.
 */

/** With this interval, 95 % of visitors see the end of the sale within 3 s where its pace foretells the end. */
export const SOON_MS = 1_900
/** With this interval, visitors see an announcement within 10 s. */
export const USUAL_MS = 9_200
/** For this long after an announcement, the operator may correct it. */
export const JUST_ANNOUNCED_MS = 20_000
/**
 * After the end only a restock could matter. Most restocks come soon after it, from holds that were not paid for. A
 * page then lives again within 10 s, as it is refreshed up to 3 s after it has read of the restock.
 */
export const JUST_ENDED_READ_MS = 5_000
export const JUST_ENDED_MS = 10 * 60_000
/** Later a page that is looked at lives again within a minute. */
export const FINAL_MS = 30_000
/** A sale that opened more recently has no measured pace yet. */
export const JUST_OPENED_MS = 8_000
/** All pages read once more within this time. The units that can be sold in it are the last ones. */
const LAST_SECONDS = 10
/** A stock of at most this size also counts as the last units. */
const LAST_UNITS = 1

export interface Prospect {
  readonly phase: Phase
  /** The units that are not paid for, including those in carts. */
  readonly unitsLeft: number
  /** The number of units paid for per second. */
  readonly paidPerSecond: number
  /** The time since the announcement; null if there was none, or the sale has not opened. */
  readonly announcedAgoMs: number | null
  readonly openedAgoMs: number | null
}

export function nextReadMs({ phase, unitsLeft, paidPerSecond, ...ago }: Prospect): number {
  if (isFinal(phase)) return JUST_ENDED_READ_MS
  const isSelling = phase === 'open' || phase === 'all_in_carts'
  const isLast = isSelling && unitsLeft <= Math.max(LAST_UNITS, paidPerSecond * LAST_SECONDS)
  const isFresh = (agoMs: number | null, forMs: number) => agoMs !== null && agoMs >= 0 && agoMs < forMs
  const isJust = isFresh(ago.announcedAgoMs, JUST_ANNOUNCED_MS) || isFresh(ago.openedAgoMs, JUST_OPENED_MS)
  return isLast || isJust ? SOON_MS : USUAL_MS
}

/**
 * The interval for a response with this schedule at this moment. A final schedule stays the same, so its age tells how
 * long ago the sale ended.
 */
export const nextReadAtMs = ({ phase, next_read_ms, server_time_ms }: Schedule, atMs: number): number =>
  isFinal(phase) && atMs - server_time_ms >= JUST_ENDED_MS ? FINAL_MS : next_read_ms

/** The share of the pace that remains a second later: it rises at once, and falls slowly. */
const PACE_KEPT = 0.5

/** The units paid for per second, after another reading of the count. */
export const paidPerSecondAfter = (before: number, paid: number, elapsedSeconds: number): number =>
  elapsedSeconds <= 0
    ? before
    : Math.max(Math.max(0, paid) / Math.max(1, elapsedSeconds), before * PACE_KEPT ** elapsedSeconds)
