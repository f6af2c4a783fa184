/** Calculates when a repeated action happens. Pure. */
import { CronExpressionParser } from 'cron-parser'

/** A run that was missed for longer than this, while all workers were away, is skipped. */
const MAKE_UP_MS = 3_600_000

/**
 * Parses five fields in a time zone. A time of day that the zone skips is taken when the clocks go forward, and one
 * that it has twice is taken the first time. Throws for an invalid expression, and for one that never matches.
 */
export function nextTime(cron: string, zone: string, afterMs: number): Date {
  if (cron.trim().split(/\s+/).length !== 5)
    throw new Error('five fields are required: minute, hour, day, month, weekday')
  return CronExpressionParser.parse(cron, { currentDate: new Date(afterMs), tz: zone })
    .next()
    .toDate()
}

/** The next run after a given one. It may be a missed run if that is recent enough. */
export const nextRun = (cron: string, zone: string, dueMs: number, nowMs: number) =>
  nextTime(cron, zone, Math.max(dueMs, nowMs - MAKE_UP_MS))
