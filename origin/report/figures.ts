/**
 * Calculates the figures of a sale's minutes for both the console and the report: how many of the called visitors
 * arrived, and how many were called per second. Pure.
 */
import type { SaleState } from '../../shared/api/internal.ts'
import type { Funnel } from '../../shared/api/operators/live.ts'
import type { Figures, Minute } from '../../shared/api/operators/report.ts'
import type { SaleRow } from '../ledger/sale-row.ts'

/** The highest and the last value of each gauge. */
export interface Gauges {
  readonly most: Figures
  readonly last: Figures
}

/** `now` holds what has been reported since the last of these minutes. */
export function gaugesOf(minutes: readonly Minute[], now: Figures): Gauges {
  const all = [...minutes.map(({ gauges }) => gauges), now]
  const most: Record<string, number> = {}
  for (const gauges of all)
    for (const [name, value] of Object.entries(gauges)) most[name] = Math.max(most[name] ?? value, value)
  return { most, last: Object.assign({}, ...all) as Figures }
}

export function totalOf(before: Figures, minutes: readonly Minute[]): Figures {
  const sums: Record<string, number> = { ...before }
  for (const { counts } of minutes)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  return sums
}

/**
 * Converts ticket numbers into people. A number that was lost with a lease is called too, but nobody holds it. The
 * waiting room stores how many have joined, while the counts of the minutes may miss some, so the stored figure
 * limits the others.
 */
function ofPeople(gauges: Figures): Figures {
  const { called, waiting, joined } = gauges
  if (joined === undefined) return gauges
  const people = called === undefined ? {} : { called: Math.min(called, joined) }
  const inLine = waiting === undefined ? {} : { waiting: Math.min(waiting, joined - (people.called ?? 0)) }
  return { ...gauges, ...people, ...inLine }
}

export const withPeople = (minutes: readonly Minute[]): Minute[] =>
  minutes.map((minute) => ({ ...minute, gauges: ofPeople(minute.gauges) }))

/**
 * The number of visitors who joined: the larger of the stored and the counted figure, because either may lag behind.
 */
export const joinedOf = ({ most }: Pick<Gauges, 'most'>, counts: Figures): number =>
  Math.max(most.joined ?? 0, counts.joined ?? 0)

/**
 * The number of visitors who were called, and how many of them arrived. Arrivals are estimated to about one percent,
 * so they are limited to the number called.
 */
export function turnsOf(
  phase: SaleState['phase'],
  { most, last }: Gauges,
): Pick<Funnel, 'waiting' | 'called' | 'arrived' | 'may_come' | 'did_not_come'> {
  const isOver = phase === 'sold_out' || phase === 'ended'
  const { called, waiting: inLine } = ofPeople(last)
  const waiting = isOver ? 0 : (inLine ?? null)
  if (called === undefined)
    return { waiting, called: null, arrived: most.arrived ?? null, may_come: null, did_not_come: null }
  const arrived = Math.min(called, most.arrived ?? 0)
  const rest = called - arrived
  const mayCome = isOver ? 0 : last.may_come
  const may_come = mayCome === undefined ? null : Math.min(rest, mayCome)
  return { waiting, called, arrived, may_come, did_not_come: may_come === null ? null : rest - may_come }
}

/** When the first line opens. */
export const firstOpeningMs = ({ opens_at, lines }: Pick<SaleRow, 'opens_at' | 'lines'>) =>
  opens_at.getTime() - 1000 * Math.max(0, ...lines.map(({ opens_early_seconds }) => opens_early_seconds))

/** The rate of calls is averaged over at least this time. */
const COUNTED_OVER_MS = 10_000

/**
 * Adds the calls per second as a gauge: the average since the minute before, and in the first minute the average
 * since the opening.
 */
export function withCallsMade(minutes: readonly Minute[], opensAtMs: number): Minute[] {
  const sinceOpening = opensAtMs >= Date.parse(minutes[0]?.minute ?? '')
  return minutes.map((minute, i) => {
    const { called, edge_at_ms: atMs = 0 } = minute.gauges
    // A minute may contain orders only; it then repeats the gauges of the minute before, and its rate would be
    // calculated twice.
    if (atMs === minutes[i - 1]?.gauges.edge_at_ms) return minute
    const before = minutes.findLast(
      ({ gauges }, j) => j < i && gauges.called !== undefined && atMs - (gauges.edge_at_ms ?? atMs) >= COUNTED_OVER_MS,
    )?.gauges
    if (called === undefined || (before === undefined && !sinceOpening)) return minute
    const sinceMs = Math.max(before?.edge_at_ms ?? 0, before?.called ? 0 : opensAtMs)
    const made = called - (before?.called ?? 0)
    if (made > 0 && atMs <= sinceMs) return minute
    const called_per_second = made <= 0 ? 0 : Math.round((10_000 * made) / (atMs - sinceMs)) / 10
    return { ...minute, gauges: { ...minute.gauges, called_per_second } }
  })
}

/** The forecast is based on this many full minutes. */
const PACE_MINUTES = 5
const MINUTE_MS = 60_000

/**
 * The time at which the last unit is likely to be sold at the pace of the last minutes (ms since the epoch). It is
 * null if no forecast is possible, because nothing is free or nobody waits.
 */
export function soldOutAtMs(minutes: readonly Pick<Minute, 'minute' | 'gauges'>[], nowMs: number): number | null {
  const [first, last] = [minutes[0], minutes.at(-1)?.gauges]
  if (!first || !last) return null
  const endMs = ({ minute }: { readonly minute: string }) => Date.parse(minute) + MINUTE_MS
  // A sale without activity has no minutes, so its sales until then are those of the minute before.
  const startMs = Math.max(endMs(first), nowMs - PACE_MINUTES * MINUTE_MS)
  const then = minutes.findLast((one) => endMs(one) <= startMs)?.gauges ?? first.gauges
  const left = (last.available ?? 0) + (last.held ?? 0)
  const sold = (last.sold ?? 0) - (then.sold ?? 0)
  const elapsedMs = nowMs - startMs
  if (!last.available || !last.waiting || sold <= 0 || elapsedMs <= 0) return null
  return nowMs + (left * elapsedMs) / sold
}
