/** Fills the minutes in which nothing happened, for charts. Pure. */
import type { Minute } from '../../../shared/api/live.ts'

/**
 * A sale in which nothing happens writes no minutes. The first and the last of each gap are filled in: nothing was counted, and
 * gauges stayed as they were, but for what was shown and called in a minute. Otherwise a chart would slope through the gap.
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
