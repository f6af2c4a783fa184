/** Calculates the report of a sale: curves, waits, and how fairly people were served. Pure. */
import type { Figures, FunnelRow, Minute, SaleReport, ShownWait } from '../../shared/api/operators/report.ts'
import type { HoldFigures } from './report-queries.ts'

/** The first order of a ticket number. */
export interface Served {
  readonly position: number
  readonly atMs: number
}

interface Overtaking {
  /** The number of buyers who were overtaken because somebody called later ordered before them. */
  readonly overtaken: number
  /** The longest time and the largest number of positions by which a buyer was overtaken. */
  readonly worst_seconds: number
  readonly worst_positions: number
}

/**
 * A buyer is overtaken if another with a later position ordered first; the rehearsal checks the queue by the same
 * rule. Called visitors order at their own pace, so this is no fault as long as the delay stays below the time for
 * which a turn is retained.
 */
export function overtakingOf(served: readonly Served[]): Overtaking {
  let [overtaken, worstMs, worstPositions] = [0, 0, 0]
  let earliestBehindMs = Number.POSITIVE_INFINITY
  for (const { atMs } of served.toSorted((a, b) => b.position - a.position)) {
    const laterMs = atMs - earliestBehindMs
    if (laterMs > 0) overtaken++
    worstMs = Math.max(worstMs, laterMs)
    earliestBehindMs = Math.min(earliestBehindMs, atMs)
  }
  let furthest = 0
  for (const { position } of served.toSorted((a, b) => a.atMs - b.atMs || a.position - b.position)) {
    worstPositions = Math.max(worstPositions, furthest - position)
    furthest = Math.max(furthest, position)
  }
  return { overtaken, worst_seconds: worstMs / 1000, worst_positions: worstPositions }
}

const MINUTE_MS = 60_000
/** The edge reports once a second, and a report may arrive late by a few more. */
const REPORT_LATE_MS = 5_000

/**
 * Counts the orders that were made before their position was called, according to the figures of the minutes. The
 * result is null if no minute has figures of the line.
 */
export function servedBeforeTurn(served: readonly Served[], minutes: readonly Minute[]): number | null {
  const called = minutes.flatMap(({ minute, gauges }) =>
    gauges.called === undefined ? [] : [{ endMs: Date.parse(minute) + MINUTE_MS, position: gauges.called }],
  )
  if (called.length === 0) return null
  let [early, at] = [0, 0]
  for (const { position, atMs } of served.toSorted((a, b) => a.atMs - b.atMs)) {
    while (at < called.length - 1 && (called[at]?.endMs ?? 0) < atMs + REPORT_LATE_MS) at++
    if (position > (called[at]?.position ?? 0)) early++
  }
  return early
}

/** The waits of the minutes in which a wait was shown. */
export const waitsOf = (minutes: readonly Minute[]): ShownWait[] =>
  minutes.flatMap(({ minute, gauges: { wait_shown, wait_real, wait_seconds } }) => {
    const shown_seconds = wait_shown ?? wait_seconds
    return shown_seconds === undefined ? [] : [{ minute, shown_seconds, real_seconds: wait_real ?? null }]
  })

interface WaitAccuracy {
  /** The number of minutes in which both the shown and the real wait are known. */
  readonly compared: number
  readonly median_error_seconds: number | null
  readonly worst_error_seconds: number | null
}

/** Compares the wait shown to the last visitors in the queue with their real wait. */
export function waitAccuracy(waits: readonly ShownWait[]): WaitAccuracy {
  const errors = waits
    .flatMap(({ shown_seconds, real_seconds }) =>
      real_seconds === null ? [] : [Math.abs(shown_seconds - real_seconds)],
    )
    .sort((a, b) => a - b)
  return {
    compared: errors.length,
    median_error_seconds: errors[Math.floor((errors.length - 1) / 2)] ?? null,
    worst_error_seconds: errors.at(-1) ?? null,
  }
}

/**
 * Merges the minutes into at most `points` points, each of the same number of minutes. Counts add up; a gauge takes
 * its last value.
 */
export function thinOut(
  minutes: readonly Minute[],
  mostPoints: number,
): { points: Minute[]; minutes_per_point: number } {
  const each = Math.max(1, Math.ceil(minutes.length / mostPoints))
  const points: Minute[] = []
  for (let from = 0; from < minutes.length; from += each) {
    const together = minutes.slice(from, from + each)
    const counts: Record<string, number> = {}
    for (const one of together)
      for (const [name, value] of Object.entries(one.counts)) counts[name] = (counts[name] ?? 0) + value
    const gauges = Object.assign({}, ...together.map((one) => one.gauges)) as Minute['gauges']
    points.push({ minute: together[0]?.minute ?? '', counts, gauges })
  }
  return { points, minutes_per_point: each }
}

/** The first minutes in which nothing was free, and in which all was sold. Each is null if that never happened. */
export function stockOut(minutes: readonly Minute[]): { all_in_carts_at: string | null; sold_out_at: string | null } {
  const first = (right: (gauges: Minute['gauges']) => boolean) =>
    minutes.find(({ gauges }) => (gauges.total ?? 0) > 0 && right(gauges))?.minute ?? null
  return {
    all_in_carts_at: first(({ available, held }) => available === 0 && (held ?? 0) > 0),
    sold_out_at: first(({ available, held }) => available === 0 && held === 0),
  }
}

/**
 * What was counted while the sale ran, beside what is recorded now: the orders, the stock, and the joins by source. A
 * refund changes neither what was paid nor what was reserved.
 */
export function recountedOf(
  { counts, last }: { readonly counts: Figures; readonly last: Figures },
  figures: Pick<SaleReport['figures'], 'joined' | 'reserved' | 'paid' | 'units'>,
  sources: readonly Pick<FunnelRow, 'joined'>[],
): SaleReport['recounted'] {
  const joined = sources.reduce((sum, one) => sum + one.joined, 0)
  return [
    { what: 'joined', live: figures.joined, now: joined > 0 ? joined : null },
    { what: 'reserved', live: counts.reserved ?? null, now: figures.reserved },
    { what: 'paid', live: counts.confirmed ?? null, now: figures.paid },
    { what: 'sold', live: last.sold ?? null, now: figures.units.sold },
  ]
}

/** Calculates abandonment, and how long orders were held, in all and by the length of the hold. */
export function holdsOf(holds: readonly HoldFigures[]): SaleReport['holds'] {
  const sum = (of: 'paid' | 'abandoned' | 'held_seconds') => holds.reduce((all, one) => all + one[of], 0)
  const [paid, abandoned] = [sum('paid'), sum('abandoned')]
  return {
    abandoned,
    abandonment: share(abandoned, paid + abandoned),
    mean_seconds: share(sum('held_seconds'), paid + abandoned),
    by_length: holds.map(({ held_seconds: _, ...one }) => ({
      ...one,
      conversion: share(one.paid, one.paid + one.abandoned),
    })),
  }
}

/** The share of a whole, or null if there is no whole. */
export const share = (part: number | null, whole: number | null) =>
  part === null || whole === null || whole === 0 ? null : part / whole
