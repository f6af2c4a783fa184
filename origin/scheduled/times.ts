/** Calculates when a repeated action happens. Pure. */
import { CronExpressionParser } from 'cron-parser'

const parsed = (cron: string, zone: string, atMs: number) => {
  if (cron.trim().split(/\s+/).length !== 5)
    throw new Error('five fields are required: minute, hour, day, month, weekday')
  return CronExpressionParser.parse(cron, { currentDate: new Date(atMs), tz: zone })
}

/**
 * Parses five fields in a time zone. A time of day that the zone skips is taken when the clocks go forward, and one
 * that it has twice is taken the first time. Throws for an invalid expression, and for one that never matches.
 */
export const nextTime = (cron: string, zone: string, afterMs: number): Date =>
  parsed(cron, zone, afterMs).next().toDate()

/**
 * The run that is due, of those that were missed since `dueMs` while all workers were away: the last one. The others
 * are not made up for.
 */
export function lastDue(cron: string, zone: string, dueMs: number, nowMs: number): Date {
  // The library's previous time is before the given one, and a run at this very moment counts.
  const last = parsed(cron, zone, nowMs + 1).prev()
  return new Date(Math.max(dueMs, last.getTime()))
}
