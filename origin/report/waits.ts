/**
 * Measures how accurate the displayed waits were: the last visitor in the queue at each report of the edge is
 * followed until they are called. Pure; the state is in the memory of one process, so a restart leaves a gap.
 */
import type { LineFigures } from '../../shared/api/internal.ts'
import type { Figures } from '../../shared/api/operators/report.ts'

const MINUTE_MS = 60_000
/** An hour of reports is followed. If there would be more, every second one is dropped. */
const MOST_FOLLOWED = 3_600

/** The last visitor in the queue at a moment, and the wait that was shown to them. */
interface Follower {
  readonly atMs: number
  readonly number: number
  readonly seconds: number
}

/** A report of the edge about one line, and the time at which it arrived. */
export type Seen = Pick<LineFigures, 'numbers_given' | 'called' | 'waiting' | 'wait_seconds'> & {
  readonly atMs: number
}

/** The state of one line. */
export interface Waits {
  readonly last: Pick<Seen, 'called' | 'atMs'> | null
  readonly followed: readonly Follower[]
}
export const NO_WAITS: Waits = { last: null, followed: [] }

/** A wait that is over, in seconds: as it was shown, and as it really was. */
export interface Wait {
  readonly shownAtMs: number
  readonly shown: number
  readonly real: number
}

/** Adds a report, and returns the waits that it ends. */
export function withReport({ last, followed }: Waits, seen: Seen): { waits: Waits; over: Wait[] } {
  const { atMs, called, numbers_given, waiting, wait_seconds } = seen
  const [over, remaining] = [followed.filter((f) => f.number <= called), followed.filter((f) => f.number > called)]
  if (waiting > 0 && wait_seconds !== undefined) remaining.push({ atMs, number: numbers_given, seconds: wait_seconds })
  const thinned = remaining.length > MOST_FOLLOWED ? remaining.filter((_, i) => i % 2 === 0) : remaining
  return {
    waits: { last: { called, atMs }, followed: thinned },
    over: over.map(({ atMs: shownAtMs, number, seconds }) => ({
      shownAtMs,
      shown: seconds,
      real: Math.max(0, calledMs(number, last, seen) - shownAtMs) / 1000,
    })),
  }
}

/** Estimates when a number was called, in proportion between two reports. */
function calledMs(number: number, last: Waits['last'], now: Pick<Seen, 'called' | 'atMs'>): number {
  if (last === null || now.called <= last.called) return now.atMs
  const share = Math.max(0, number - last.called) / (now.called - last.called)
  return last.atMs + share * (now.atMs - last.atMs)
}

/** Selects the wait of each minute that was furthest off, as gauges of the minute in which it was shown. */
export function waitGauges(over: readonly Wait[]): { readonly minute: Date; readonly gauges: Figures }[] {
  const off = ({ shown, real }: Wait) => Math.abs(shown - real)
  const byMinute = Map.groupBy(over, ({ shownAtMs }) => Math.floor(shownAtMs / MINUTE_MS) * MINUTE_MS)
  return [...byMinute].map(([ms, waits]) => {
    const { shown, real } = waits.reduce((worst, one) => (off(one) > off(worst) ? one : worst))
    return { minute: new Date(ms), gauges: { wait_shown: shown, wait_real: Math.round(real * 10) / 10 } }
  })
}
