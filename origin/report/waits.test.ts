import { expect, it } from 'vitest'
import { NO_WAITS, type Seen, type Wait, waitGauges, withReport } from './waits.ts'

/** Follows the reports of one line, and returns the waits that are over. */
function followed(reports: readonly Seen[]): Wait[] {
  let waits = NO_WAITS
  return reports.flatMap((report) => {
    const seen = withReport(waits, report)
    waits = seen.waits
    return seen.over
  })
}
/** A report of a line of a hundred visitors, at a moment in seconds. */
const at = (seconds: number, called: number, wait_seconds?: number): Seen => ({
  atMs: seconds * 1000,
  numbers_given: 100,
  called,
  waiting: 100 - called,
  ...(wait_seconds !== undefined && { wait_seconds }),
})

it('a wait lasts until the last in line is called, also in the minute in which it was shown', () => {
  const over = followed([at(1, 0, 50), at(2, 0), at(3, 50, 25), at(4, 110), at(5, 110)])
  // The visitor was called five sixths of the way from the third second to the fourth.
  expect(over.map(({ shown, real }) => [shown, Math.round(real * 10) / 10])).toEqual([
    [50, 2.8],
    [25, 0.8],
  ])
  expect(waitGauges(over)).toEqual([{ minute: new Date(0), gauges: { wait_shown: 50, wait_real: 2.8 } }])
})

it('belongs to the minute in which it was shown, and nothing is known while somebody waits', () => {
  const reports = [at(30, 0, 60), at(70, 0, 30), at(80, 20)]
  expect(followed(reports)).toEqual([])
  const minutes = waitGauges(followed([...reports, at(100, 100)]))
  expect(minutes.map(({ minute, gauges }) => [minute.getTime(), gauges.wait_real])).toEqual([
    [0, 70],
    [60_000, 30],
  ])
})

it('follows nobody where nobody waits, and where no wait is shown', () => {
  expect(followed([at(1, 100, 0), at(2, 0), at(3, 100)])).toEqual([])
})
