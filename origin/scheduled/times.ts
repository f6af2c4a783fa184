/** When a repeated action happens. Pure. */
import { CronExpressionParser } from 'cron-parser'

/** Runs missed for longer, while all workers were away, are not made up for. */
const MAKE_UP_MS = 3_600_000

/** Five fields; in UTC, so that no day has an hour twice. Throws for what cron does not know, and for what never comes. */
export function nextTime(cron: string, afterMs: number): Date {
  if (cron.trim().split(/\s+/).length !== 5)
    throw new Error('five fields are required: minute, hour, day, month, weekday')
  return CronExpressionParser.parse(cron, { currentDate: new Date(afterMs), tz: 'UTC' })
    .next()
    .toDate()
}

/** The run after one: also when it was missed, up to a bound. */
export const nextRun = (cron: string, dueMs: number, nowMs: number) =>
  nextTime(cron, Math.max(dueMs, nowMs - MAKE_UP_MS))
