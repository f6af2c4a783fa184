/**
 * The traffic of the checkout: sheds calls on overload, and notes who arrived, who waits for stock and how calls
 * ended, for the queues and for the metrics.
 */
import { queueName } from '../../shared/api/access.ts'
import type { Metrics } from '../base/metrics.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import type { ResponseTimes } from '../queue/response-times.ts'
import type { SaleCounts } from '../report/sale-counts.ts'
import { MOST_UNPAID } from '../stock/scripts.ts'
import type { LoadShedder } from './load-shedder.ts'

/** The outcomes that do not count as a refusal. */
const SERVED: ReadonlySet<string> = new Set(['reserved', 'processing', 'live', 'replayed'])
/**
 * Outcomes of work that was done, or that failed by our fault. Refusals and repeated calls, which a caller can make
 * at will, steer no line.
 */
const WORKED: ReadonlySet<string> = new Set(['reserved', 'processing', 'try-again', 'failed'])

/** A call that the load shedder has admitted. */
interface Entered {
  readonly visitor: string
  readonly outcome: string
  /** The time on the clock of `performance.now()` at which the body had arrived. */
  readonly beganMs: number
  /** How long the Worker worked on it before it came. */
  readonly waitedMs: number
}

interface CheckoutTrafficDeps {
  readonly loadShedder: LoadShedder
  readonly arrivals: Arrivals
  readonly responseTimes: Pick<ResponseTimes, 'answered'>
  readonly saleCounts: Pick<SaleCounts, 'count'>
  readonly metrics: Pick<Metrics, 'checkouts' | 'checkoutSeconds' | 'degraded'>
}

export class CheckoutTraffic {
  readonly #deps: CheckoutTrafficDeps
  constructor(deps: CheckoutTrafficDeps) {
    this.#deps = deps
  }

  /** Begins a call unless it is shed; `leave` ends it. Undefined is a sale that does not exist, which has no share. */
  enter(saleId: string | undefined): boolean {
    return this.#deps.loadShedder.enter(saleId)
  }

  leave(saleId: string | undefined, { visitor, outcome, beganMs, waitedMs }: Entered): void {
    this.#deps.metrics.checkoutSeconds.observe((performance.now() - beganMs) / 1000)
    this.#deps.loadShedder.leave(saleId)
    if (saleId !== undefined && WORKED.has(outcome))
      this.#deps.responseTimes.answered(saleId, visitor, beganMs - waitedMs)
  }

  /**
   * Counts a call by its outcome, a shed one too. The sale's minutes count refusals only: orders they take from the
   * ledger.
   */
  count(saleId: string | undefined, outcome: string): void {
    const { metrics, saleCounts } = this.#deps
    metrics.checkouts.inc({ sale: saleId ?? 'unknown', outcome })
    if (saleId !== undefined && !SERVED.has(outcome)) saleCounts.count(saleId, `refused.${outcome}`)
  }

  /** An order was promised that is still to be recorded. */
  countProcessing(): void {
    this.#deps.metrics.degraded.inc({ without: 'ledger' })
  }

  arrived(saleId: string, line: string, number: number, source: string | undefined): void {
    this.#deps.arrivals.arrived(queueName(saleId, line), number, source)
  }

  /** `unpaid`: how many unpaid orders a visitor has who waits; null for one who does not. */
  waitsForStock(saleId: string, visitor: string, unpaid: number | null): void {
    this.#deps.arrivals.waitsForStock(saleId, visitor, unpaid === null ? null : Math.min(unpaid, MOST_UNPAID))
  }

  waitsForUse(saleId: string, visitor: string): void {
    this.#deps.arrivals.waitsForUse(saleId, visitor)
  }

  /** When a visitor who waits for stock should ask again, jittered. */
  askAgainSeconds(saleId: string): number {
    return this.#deps.arrivals.askAgainSeconds(saleId)
  }
}
