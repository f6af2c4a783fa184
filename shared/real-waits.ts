/** How long people in line really waited, from a sale's minutes: beside what they were shown. */
import type { Minute } from './api/live.ts'

const MINUTE_MS = 60_000

/**
 * How long the last in line at the end of each minute waited, in seconds: until as many were called as had a number then, in between
 * two minutes in proportion. Null while they still wait, and where the edge said nothing.
 */
export function realWaits(minutes: readonly Pick<Minute, 'minute' | 'gauges'>[]): (number | null)[] {
  const known = minutes.flatMap(({ minute, gauges: { numbers_given: given, called, edge_at_ms } }) =>
    given === undefined || called === undefined
      ? []
      : // The edge's last report in the minute is what its gauges are of.
        [{ minute, given, called, atMs: edge_at_ms ?? Date.parse(minute) + MINUTE_MS }],
  )
  const waits = new Map<string, number>()
  let at = 0
  for (const [i, { minute, given, atMs }] of known.entries()) {
    // Neither figure goes back, so neither does the place of the search.
    at = Math.max(at, i)
    while (at < known.length && (known[at]?.called ?? 0) < given) at++
    const [before, then] = [known[at - 1], known[at]]
    if (!then) break
    const share = at === i || !before ? 0 : (given - before.called) / (then.called - before.called)
    const calledAtMs = at === i || !before ? atMs : before.atMs + share * (then.atMs - before.atMs)
    waits.set(minute, Math.round((calledAtMs - atMs) / 100) / 10)
  }
  return minutes.map(({ minute }) => waits.get(minute) ?? null)
}
