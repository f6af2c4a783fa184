/** The minutes in which nothing happened. Pure. */
import type { Minute } from '../../../shared/api/live.ts'

/**
 * With the ends of each quiet time: nothing was counted, and what was before stayed. Else a line would slope through hours in which
 * nothing happened.
 */
export function withQuiet(minutes: readonly Minute[]): Minute[] {
  const times = minutes.map(({ minute }) => Date.parse(minute))
  const steps = times.slice(1).map((at, i) => at - (times[i] ?? at))
  const stepMs = Math.min(...steps)
  return minutes.flatMap((one, i) => {
    const next = times[i + 1]
    const first = (times[i] ?? 0) + stepMs
    if (next === undefined || next <= first) return [one]
    const quiet = (atMs: number) => ({ minute: new Date(atMs).toISOString(), counts: {}, gauges: one.gauges })
    return next - stepMs > first ? [one, quiet(first), quiet(next - stepMs)] : [one, quiet(first)]
  })
}
