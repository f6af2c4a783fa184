/**
 * When whoever looks at a sale's page reads the schedule next: soon while the sale may be over at any moment, otherwise as seldom
 * as an announcement allows. The server decides and publishes it (`next_read_ms`); the opening and one's own turn are known from
 * the schedule itself, and pages read it then whatever this says. Pure.
 */
import type { Phase } from './api/public.ts'
import { isFinal } from './schedule.ts'

/*
 * The waiting room knows of a change after 0.2 s. It holds 0.5 s later (ANNOUNCE_MS in edge/queue/timeline.ts), except the end of a line
 * that stands, which isolates know up to 0.45 s later; and a cache keeps the copy before for up to a second more.
 */

/** The end of the sale is seen by 95 % within 3 s .. */
export const SOON_MS = 1_900
/** .. and an announcement within 10 s. */
export const USUAL_MS = 9_200
/** The operator who has said something may correct it. */
export const JUST_ANNOUNCED_MS = 20_000
/** After the end only a restock could matter. */
const FINAL_MS = 30_000
/** A sale that has just opened has no pace yet. */
export const JUST_OPENED_MS = 8_000
/** As many units as may be paid for within this time, in which every page reads once more, are the last ones .. */
const LAST_SECONDS = 10
/** .. and so few in any case. */
const LAST_UNITS = 1

export interface Prospect {
  readonly phase: Phase
  /** Units that are not paid for, also those in carts. */
  readonly unitsLeft: number
  /** How fast they are being paid for. */
  readonly paidPerSecond: number
  /** Null: nothing was announced, or the sale has not opened. */
  readonly announcedAgoMs: number | null
  readonly openedAgoMs: number | null
}

export function nextReadMs({ phase, unitsLeft, paidPerSecond, ...ago }: Prospect): number {
  if (isFinal(phase)) return FINAL_MS
  const isSelling = phase === 'open' || phase === 'all_in_carts'
  const isLast = isSelling && unitsLeft <= Math.max(LAST_UNITS, paidPerSecond * LAST_SECONDS)
  const isFresh = (agoMs: number | null, forMs: number) => agoMs !== null && agoMs >= 0 && agoMs < forMs
  const isJust = isFresh(ago.announcedAgoMs, JUST_ANNOUNCED_MS) || isFresh(ago.openedAgoMs, JUST_OPENED_MS)
  return isLast || isJust ? SOON_MS : USUAL_MS
}

/** How much of the pace is left a second later: it rises at once, and falls slowly. */
const PACE_KEPT = 0.5

/** Units paid for in a second, after another look at the count. */
export const paidPerSecondAfter = (before: number, paid: number, elapsedSeconds: number): number =>
  elapsedSeconds <= 0
    ? before
    : Math.max(Math.max(0, paid) / Math.max(1, elapsedSeconds), before * PACE_KEPT ** elapsedSeconds)
