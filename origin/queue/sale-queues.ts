/**
 * The queues of all sales, as the origin sees them: takes what the edge reports about a line, and returns what its
 * queue may admit. Knows what was counted and reported, for the edge and for operators.
 */
import { PUBLIC_LINE, queueName } from '../../shared/api/access.ts'
import type { LineFigures, SaleState } from '../../shared/api/internal.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { refuse, tryAgain } from '../lib/http/request.ts'
import type { Sales } from '../sales/sales.ts'
import type { Arrivals, Counts } from './arrivals.ts'
import type { JoinCounter } from './join-counts.ts'
import type { LineShares } from './line-shares.ts'
import type { PaymentRoom } from './payment-room.ts'
import { type QueueReports, reportIn } from './queue-reports.ts'
import type { ResponseTimes } from './response-times.ts'

interface SaleQueuesDeps {
  readonly sales: Pick<Sales, 'nowMs' | 'canRecord'>
  readonly arrivals: Arrivals
  readonly responseTimes: Pick<ResponseTimes, 'of'>
  readonly reports: QueueReports
  readonly joins: Pick<JoinCounter, 'add'>
  readonly shares: Pick<LineShares, 'of'>
  readonly payments: Pick<PaymentRoom, 'bound' | 'isClosed'>
  /** True if buyers' calls of a sale exceed what this process serves at once. */
  readonly isOverloaded: (saleId: string) => boolean
}

export class SaleQueues {
  readonly #deps: SaleQueuesDeps
  constructor(deps: SaleQueuesDeps) {
    this.#deps = deps
  }

  /**
   * Takes the report in the query of a state request; returns what the line's queue is told. Throws while neither
   * store takes orders.
   */
  async stateOf(sale: SaleRow, line: string, query: Readonly<Record<string, string>>) {
    const { sales, arrivals, responseTimes, reports, joins, shares, payments } = this.#deps
    const queue = queueName(sale.sale_id, line)
    joins.add(sale.sale_id, query.counts)
    const report = reportIn(query)
    if (report) arrivals.lineWaits(sale.sale_id, queue, Math.ceil(report.likely_people))
    const [counts, answers_ms, max_inside, isUnpayable] = await Promise.all([
      this.#countsOf(sale.sale_id, line),
      responseTimes.of(sale.sale_id),
      payments.bound(sale),
      payments.isClosed(sale),
    ])
    // The origin could not serve anybody admitted now, so the edge pauses the queue and everyone keeps their place. A
    // full Redis responds but takes no orders; the arrivals that it cannot count reveal it.
    if (!sales.canRecord() && !counts.counted) refuse(tryAgain('Neither store takes orders.'))
    const nowMs = sales.nowMs()
    const { waiting_for_stock, on_site } = counts
    const { share, ...admission } = await shares.of({ ...sale, max_inside }, line, report, {
      waiting_for_stock,
      on_site,
      nowMs,
    })
    const { expected_visitors: expectedVisitors } = sale
    const { rate_per_second: ratePerSecond } = admission
    const arrived = counts.counted ? counts.arrivals : null
    if (report) reports.add(queue, report, { ratePerSecond, expectedVisitors, arrivals: arrived, nowMs })
    return {
      share,
      admission,
      ...counts,
      arrived_lately: arrivals.takeRecent(queue),
      answers_ms,
      health: isUnpayable ? ('slow' as const) : this.health(sale.sale_id),
    }
  }

  /** slow: the edge should admit fewer. */
  health(saleId: string): SaleState['health'] {
    return this.#deps.isOverloaded(saleId) || !this.#deps.sales.canRecord() ? 'slow' : 'ok'
  }

  counts(queue: string): Counts {
    return this.#deps.arrivals.counts(queue)
  }

  /** The edge's latest report about a queue to this process; null if there is none of the last ten seconds. */
  latestReport(queue: string): LineFigures | null {
    return this.#deps.reports.latest(queue)
  }

  /** Arrivals are the line's own; visitors who wait for stock have left their line and count for the sale. */
  async #countsOf(saleId: string, line: string): Promise<Counts> {
    const { arrivals } = this.#deps
    const ofSale = await arrivals.firstCounts(saleId)
    if (line === PUBLIC_LINE) return ofSale
    const ofLine = await arrivals.firstCounts(queueName(saleId, line))
    const { waiting_for_stock, on_site } = ofSale
    return { ...ofLine, waiting_for_stock, on_site, counted: ofSale.counted && ofLine.counted }
  }
}
