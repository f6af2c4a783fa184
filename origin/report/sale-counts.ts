/**
 * Writes what this process sees of each sale to its minutes: once a second, all sales in one statement, from the counters that the
 * metrics keep anyway, so that no checkout pays for it. A process that dies takes its last second with it.
 */
import { queueNamesOf } from '../../shared/api/access.ts'
import type { LineFigures } from '../../shared/api/internal.ts'
import type { Figures } from '../../shared/api/live.ts'
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { QueueReports } from '../queue/queue-reports.ts'
import type { ProductRow, SaleRow } from '../sales/sale-row.ts'
import { available } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { addFigures, type SaleFigures } from './report-queries.ts'

const WRITE_MS = 1_000

interface SaleCountsDeps extends LoopDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'inUse' | 'nowMs'>
  readonly arrivals: Pick<Arrivals, 'counts'>
  readonly queueReports: Pick<QueueReports, 'latest' | 'ageMs'>
  readonly metrics: LoopDeps['metrics'] & Pick<Metrics, 'orders' | 'checkouts' | 'edgeJoins' | 'edgeRefusals'>
}

/** Outcomes of a checkout that are no refusal. */
const SERVED = new Set(['reserved', 'processing', 'live', 'replayed'])

export class SaleCounts {
  readonly #deps: SaleCountsDeps
  /** Counters as they were written last, by sale. */
  #written = new Map<string, Figures>()
  #gauges = new Map<string, string>()
  readonly actor: Actor

  constructor(deps: SaleCountsDeps) {
    this.#deps = deps
    this.actor = loop('sale minutes', WRITE_MS, deps, () => this.#write())
  }

  async #write(): Promise<void> {
    const totals = totalsOf(this.#deps.metrics)
    const changed: SaleFigures[] = []
    const gaugesNow = new Map<string, string>()
    for (const sale of this.#deps.sales.inUse()) {
      const { sale_id } = sale
      const counts = difference(totals.get(sale_id) ?? {}, this.#written.get(sale_id) ?? {})
      const gauges = this.#gaugesOf(sale)
      const asText = JSON.stringify(gauges)
      gaugesNow.set(sale_id, asText)
      // A quiet sale has no minutes.
      if (Object.keys(counts).length > 0 || asText !== this.#gauges.get(sale_id))
        changed.push({ sale: sale_id, counts, gauges })
    }
    await addFigures(this.#deps.sql, changed)
    this.#written = totals
    this.#gauges = gaugesNow
  }

  #gaugesOf(sale: SaleRow): Figures {
    const { arrivals, queueReports } = this.#deps
    const rooms = queueNamesOf(sale.sale_id, sale.lines)
    const reports = rooms.flatMap((room) => queueReports.latest(room) ?? [])
    const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
    const together = (of: 'numbers_given' | 'called' | 'waiting' | 'called_per_second') =>
      reports.reduce((all, report) => all + report[of], 0)
    return {
      available: sum(available),
      held: sum((p) => p.held),
      sold: sum((p) => p.sold),
      total: sum((p) => p.total),
      rate_target: sale.rate_per_second,
      arrived: rooms.reduce((all, room) => all + arrivals.counts(room).arrivals, 0),
      // The edge reports to one process: the others must not overwrite it.
      ...(reports.length > 0 && {
        edge_at_ms: Math.round(
          this.#deps.sales.nowMs() - Math.min(...rooms.flatMap((room) => queueReports.ageMs(room) ?? [])),
        ),
        numbers_given: together('numbers_given'),
        called: together('called'),
        waiting: together('waiting'),
        most_waiting: together('waiting'),
        rate: together('called_per_second'),
        ...waitOf(reports),
      }),
    }
  }
}

/** The longest wait of the lines; left out where people wait and no wait is known, since 0 would be wrong. */
function waitOf(reports: readonly Pick<LineFigures, 'waiting' | 'wait_seconds'>[]): Figures {
  const waits = reports.flatMap(({ waiting, wait_seconds }) => wait_seconds ?? (waiting === 0 ? 0 : []))
  return waits.length === 0 ? {} : { wait_seconds: Math.max(...waits) }
}

/** All that the counters say of each sale since this process began. */
function totalsOf({ orders, checkouts, edgeJoins, edgeRefusals }: SaleCountsDeps['metrics']): Map<string, Figures> {
  const totals = new Map<string, Record<string, number>>()
  const add = (sale: unknown, name: string, value: number) => {
    if (typeof sale !== 'string') return
    const of = totals.get(sale) ?? {}
    totals.set(sale, of)
    of[name] = (of[name] ?? 0) + value
  }
  for (const { labels, value } of edgeJoins.values()) add(labels.sale, 'joined', value)
  for (const { labels, value } of edgeRefusals.values()) add(labels.sale, `join_refused.${labels.reason}`, value)
  for (const { labels, value } of checkouts.values()) {
    const outcome = String(labels.outcome)
    // What Redis has is reserved, and recorded when Postgres is back.
    const name = outcome === 'processing' ? 'reserved' : SERVED.has(outcome) ? outcome : `refused.${outcome}`
    add(labels.sale, name, value)
  }
  for (const { labels, value } of orders.values()) {
    // Reserved orders are counted by their checkouts: a declined one is reserved again.
    if (labels.status !== 'reserved') add(labels.sale, String(labels.status), value)
  }
  return totals
}

/** What has grown since. A counter that was reset counts from 0. */
function difference(now: Figures, before: Figures): Figures {
  const grown = Object.entries(now).flatMap(([name, value]) => {
    const was = before[name] ?? 0
    const by = value >= was ? value - was : value
    return by > 0 ? [[name, by] as const] : []
  })
  return Object.fromEntries(grown)
}
