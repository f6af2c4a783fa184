/** Adds the minutes without events to a chart's data. Pure. */
import type { Minute } from '../../../shared/api/operators/report.ts'

/**
 * A sale in which nothing happens writes no minutes. The first and the last minute of each gap are added, because a
 * chart would otherwise slope through it. They have no counts and the gauges of the minute before, except the waits
 * shown and the calls made in one minute.
 */
export function fillGaps(minutes: readonly Minute[]): Minute[] {
  const times = minutes.map(({ minute }) => Date.parse(minute))
  const steps = times.slice(1).map((at, i) => at - (times[i] ?? at))
  const stepMs = Math.min(...steps)
  return minutes.flatMap((minute, i) => {
    const next = times[i + 1]
    const first = (times[i] ?? 0) + stepMs
    if (next === undefined || next <= first) return [minute]
    const { called_per_second: _, wait_seconds: __, wait_shown: ___, wait_real: ____, ...gauges } = minute.gauges
    const filler = (atMs: number) => ({ minute: new Date(atMs).toISOString(), counts: {}, gauges })
    return next - stepMs > first ? [minute, filler(first), filler(next - stepMs)] : [minute, filler(first)]
  })
}
