/**
 * Writes to a sale's minutes what the ledger cannot know: gauges, and joins and refusals, which are counted where
 * they happen. It writes once a second, all sales in one statement. A process that dies loses the counts of its last
 * second. Orders are counted from the ledger's events, each exactly once.
 */
import { queueNamesOf } from '../../shared/api/access.ts'
import type { LineFigures } from '../../shared/api/internal.ts'
import type { Figures } from '../../shared/api/operators/report.ts'
import type { Metrics } from '../base/metrics.ts'
import { readEvents } from '../events/reader.ts'
import type { Sql } from '../ledger/connection.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'
import { type Actor, type LoopDeps, writingLoop } from '../lib/loop.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { QueueReports } from '../queue/queue-reports.ts'
import { available } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { addOrderSeconds, addSeconds, deleteSeconds } from './by-second/seconds-queries.ts'
import { addFigures, addOrderCounts, type SaleFigures } from './report-queries.ts'
import { NO_WAITS, type Wait, type Waits, waitGauges, withReport } from './waits.ts'

const WRITE_MS = 1_000
/**
 * If only the time of the edge's last request has changed, it is written this often. The console reports the edge as
 * missing after 15 seconds.
 */
const EDGE_TIME_EVERY_MS = 5_000
/** Old seconds are deleted this often. */
const DELETE_EVERY_MS = 60_000

interface SaleCountsDeps extends LoopDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'inUse' | 'nowMs'>
  readonly arrivals: Pick<Arrivals, 'counts'>
  readonly queueReports: Pick<QueueReports, 'latest' | 'ageMs'>
  readonly metrics: LoopDeps['metrics'] & Pick<Metrics, 'waitError'>
}

export const COUNT_READER = 'order counts'
/** One transaction reads at most this many events. */
const PAGE = 500

/** Counts the order events since the last round, whichever worker ran it. The result is true if there may be more. */
export const countOrders = (sql: Sql) =>
  readEvents(
    sql,
    COUNT_READER,
    async (tx, events) => {
      await addOrderCounts(tx, events)
      await addOrderSeconds(tx, events)
    },
    PAGE,
    sql`e.type like 'order.%'`,
  )

/** The gauges of each sale as last written: the time of the edge's last request, and the others as text. */
type Written = Map<string, { readonly edgeAtMs: number; readonly text: string }>

/** The latest report of each queue, and the waits that are being followed. */
type Followed = Map<string, { readonly report: LineFigures; readonly waits: Waits }>

export class SaleCounts {
  readonly #deps: SaleCountsDeps
  /** The counts of each sale since the last write. */
  #counts = new Map<string, Record<string, number>>()
  #gauges: Written = new Map()
  #waits: Followed = new Map()
  #deletedMs = 0
  readonly actor: Actor

  constructor(deps: SaleCountsDeps) {
    this.#deps = deps
    this.actor = writingLoop('sale minutes', WRITE_MS, deps, () => this.#write())
  }

  /** Adds to a count of the current minute, such as `joined` or `refused.<reason>`. */
  count(saleId: string, name: string, by = 1): void {
    const counts = this.#counts.get(saleId) ?? {}
    this.#counts.set(saleId, counts)
    counts[name] = (counts[name] ?? 0) + by
  }

  async #write(): Promise<void> {
    const counted = this.#counts
    this.#counts = new Map()
    const changed: SaleFigures[] = []
    const gaugesNow: Written = new Map()
    const waitsNow: Followed = new Map()
    const decided: SaleFigures[] = []
    for (const sale of this.#deps.sales.inUse()) {
      const { sale_id } = sale
      const counts = counted.get(sale_id) ?? {}
      const gauges = this.#gaugesOf(sale)
      const { edge_at_ms: edgeAtMs = 0, ...others } = gauges
      const written = this.#gauges.get(sale_id)
      const now = { edgeAtMs, text: JSON.stringify(others) }
      // A sale without changes writes no minutes.
      const isChanged = now.text !== written?.text || edgeAtMs - written.edgeAtMs >= EDGE_TIME_EVERY_MS
      const isWritten = isChanged || Object.keys(counts).length > 0
      gaugesNow.set(sale_id, isWritten || !written ? now : written)
      if (isWritten) changed.push({ sale: sale_id, counts, gauges })
      const over = this.#followWaits(sale, waitsNow)
      for (const one of waitGauges(over)) decided.push({ sale: sale_id, counts: {}, ...one })
    }
    this.#waits = waitsNow
    try {
      await addFigures(this.#deps.sql, changed)
    } catch (error) {
      for (const { sale, counts } of changed)
        for (const [name, by] of Object.entries(counts)) this.count(sale, name, by)
      throw error
    }
    this.#gauges = gaugesNow
    await addFigures(this.#deps.sql, decided)
    await addSeconds(this.#deps.sql, changed)
    if (performance.now() - this.#deletedMs < DELETE_EVERY_MS) return
    this.#deletedMs = performance.now()
    await deleteSeconds(this.#deps.sql)
  }

  /** Returns the waits that ended since the last round. */
  #followWaits({ sale_id, lines }: SaleRow, waitsNow: Followed): Wait[] {
    const { sales, queueReports, metrics } = this.#deps
    return queueNamesOf(sale_id, lines).flatMap((queue) => {
      const known = this.#waits.get(queue)
      const report = queueReports.latest(queue)
      if (report === null || known?.report === report) {
        if (known) waitsNow.set(queue, known)
        return []
      }
      const atMs = sales.nowMs() - (queueReports.ageMs(queue) ?? 0)
      const { waits, over } = withReport(known?.waits ?? NO_WAITS, { ...report, atMs })
      waitsNow.set(queue, { report, waits })
      for (const { shown, real } of over) {
        const direction = real > shown ? 'longer' : 'shorter'
        metrics.waitError.observe({ direction }, Math.abs(real - shown))
      }
      return over
    })
  }

  #gaugesOf(sale: SaleRow): Figures {
    const { arrivals, queueReports } = this.#deps
    const rooms = queueNamesOf(sale.sale_id, sale.lines)
    const reports = rooms.flatMap((room) => queueReports.latest(room) ?? [])
    const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
    const together = (of: 'numbers_given' | 'called' | 'waiting' | 'called_per_second') =>
      reports.reduce((all, report) => all + report[of], 0)
    // A visitor without a ticket number has not joined. Once every queue has reported, the numbers limit a count that
    // was sent twice.
    const joined = reports.length === rooms.length ? reports[0]?.joined : undefined
    const mayCome = reports.flatMap(({ may_come }) => may_come ?? [])
    return {
      available: sum(available),
      held: sum((p) => p.held),
      sold: sum((p) => p.sold),
      total: sum((p) => p.total),
      rate_target: sale.rate_per_second,
      arrived: rooms.reduce((all, room) => all + arrivals.counts(room).arrivals, 0),
      // The edge reports to one process only, so the others must not overwrite its figures.
      ...(reports.length > 0 && {
        edge_at_ms: Math.round(
          this.#deps.sales.nowMs() - Math.min(...rooms.flatMap((room) => queueReports.ageMs(room) ?? [])),
        ),
        numbers_given: together('numbers_given'),
        ...(joined !== undefined && { joined: Math.min(joined, together('numbers_given')) }),
        called: together('called'),
        waiting: together('waiting'),
        most_waiting: together('waiting'),
        rate: together('called_per_second'),
        ...(mayCome.length === reports.length && { may_come: mayCome.reduce((all, people) => all + people) }),
        ...waitOf(reports),
      }),
    }
  }
}

/** The longest wait of all queues. It is omitted if nobody waits or no wait is known. */
function waitOf(reports: readonly Pick<LineFigures, 'waiting' | 'wait_seconds'>[]): Figures {
  const waits = reports.flatMap(({ waiting, wait_seconds }) => (waiting > 0 ? (wait_seconds ?? []) : []))
  return waits.length === 0 ? {} : { wait_seconds: Math.max(...waits) }
}
