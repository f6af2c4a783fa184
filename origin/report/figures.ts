/** Figures of a sale's minutes, the same for the console and the report: who came of those called, and how many were called a second. Pure. */
import type { SaleState } from '../../shared/api/internal.ts'
import type { Figures, Funnel, Minute } from '../../shared/api/live.ts'
import type { SaleRow } from '../sales/sale-row.ts'

/** The most that each gauge was, and the last that it was. */
export interface Gauges {
  readonly most: Figures
  readonly last: Figures
}

/** `now`: what is known since the last of these minutes. */
export function gaugesOf(minutes: readonly Minute[], now: Figures): Gauges {
  const all = [...minutes.map(({ gauges }) => gauges), now]
  const most: Record<string, number> = {}
  for (const gauges of all)
    for (const [name, value] of Object.entries(gauges)) most[name] = Math.max(most[name] ?? value, value)
  return { most, last: Object.assign({}, ...all) as Figures }
}

/** All counts, summed. */
export function totalOf(before: Figures, minutes: readonly Minute[]): Figures {
  const sums: Record<string, number> = { ...before }
  for (const { counts } of minutes)
    for (const [name, value] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + value
  return sums
}

/**
 * Of numbers, the people: a number that was lost with a lease is called as well, and nobody has it. Who has joined is what the waiting
 * room has stored: the counts of the minutes may miss some.
 */
function ofPeople(gauges: Figures): Figures {
  const { called, waiting, joined } = gauges
  if (joined === undefined) return gauges
  const people = called === undefined ? {} : { called: Math.min(called, joined) }
  const inLine = waiting === undefined ? {} : { waiting: Math.min(waiting, joined - (people.called ?? 0)) }
  return { ...gauges, ...people, ...inLine }
}

/** The minutes in people, of those who had joined by then. */
export const withPeople = (minutes: readonly Minute[]): Minute[] =>
  minutes.map((minute) => ({ ...minute, gauges: ofPeople(minute.gauges) }))

/** Who has joined, by what was stored and by what was counted. */
export const joinedOf = ({ most }: Pick<Gauges, 'most'>, counts: Figures): number =>
  Math.max(most.joined ?? 0, counts.joined ?? 0)

/**
 * Who was called, and what became of them. Arrivals are an estimate, to a percent: they are never more than those called.
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

/** Calls are counted over at least so long. */
const COUNTED_OVER_MS = 10_000

/** With the calls that were made, a second, as a gauge: on average since the minute before, and since the opening at first. */
export function withCallsMade(minutes: readonly Minute[], opensAtMs: number): Minute[] {
  const sinceOpening = opensAtMs >= Date.parse(minutes[0]?.minute ?? '')
  return minutes.map((minute, i) => {
    const { called, edge_at_ms: atMs = 0 } = minute.gauges
    // Orders alone make a minute too, with the gauges of the one before.
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

/** Full minutes on which a forecast is based. */
const PACE_MINUTES = 5
const MINUTE_MS = 60_000

/**
 * When the last unit is likely to be sold at the pace of the last minutes (ms since the epoch); null while nobody knows: nothing is
 * free, or nobody waits for it.
 */
export function soldOutAtMs(minutes: readonly Pick<Minute, 'minute' | 'gauges'>[], nowMs: number): number | null {
  const [first, last] = [minutes[0], minutes.at(-1)?.gauges]
  if (!first || !last) return null
  const endMs = ({ minute }: { readonly minute: string }) => Date.parse(minute) + MINUTE_MS
  // A quiet sale has no minutes: what it had sold by then is what the minute before says.
  const startMs = Math.max(endMs(first), nowMs - PACE_MINUTES * MINUTE_MS)
  const then = minutes.findLast((one) => endMs(one) <= startMs)?.gauges ?? first.gauges
  const left = (last.available ?? 0) + (last.held ?? 0)
  const sold = (last.sold ?? 0) - (then.sold ?? 0)
  const elapsedMs = nowMs - startMs
  if (!last.available || !last.waiting || sold <= 0 || elapsedMs <= 0) return null
  return nowMs + (left * elapsedMs) / sold
}
