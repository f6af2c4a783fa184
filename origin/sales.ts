/**
 * The sales as this process knows them: read from the ledger a few times a second, decided on from memory. Whether a
 * sale is open is a pure function of its row, its stock and the time; the time is the ledger's, carried forward by this
 * machine's monotonic clock, so that an origin whose own clock is an hour wrong is not an hour wrong.
 */

import type { SaleState } from '../shared/api.ts'
import type { Counts } from './arrivals.ts'
import type { ProductRow, SaleRow, Sql } from './ledger/ledger.ts'
import { readSales } from './ledger/ledger.ts'

/** How old what is known may be while the ledger answers. */
export const REFRESH_MS = 250
/** A ledger that has not answered for so long is away: what could be found there is not waited for. */
const LEDGER_SILENT_MS = 2_000

export const available = (p: ProductRow) => Math.max(0, p.total - p.held - p.sold)

/** Of a product, as the ledger had it a moment ago. */
export function remainingIn(sale: SaleRow, product: string): number {
  const found = sale.products.find((p) => p.product_id === product)
  return found ? available(found) : 0
}

/** The phase of a sale at a moment of the ledger's clock. */
export function phaseOf(sale: SaleRow, nowMs: number): SaleState['phase'] {
  if (sale.ended_at !== null || (sale.ends_at !== null && nowMs >= sale.ends_at.getTime())) return 'ended'
  if (nowMs < sale.opens_at.getTime()) return 'upcoming'
  if (sale.paused) return 'paused'
  const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
  if (sum(available) > 0) return 'open'
  return sum((p) => p.held) > 0 ? 'all_in_carts' : 'sold_out'
}

/** What the edge is told. */
export function stateOf(
  sale: SaleRow,
  nowMs: number,
  counts: Counts,
  health: SaleState['health'],
): SaleState {
  const preQueueOpensAt = sale.pre_queue_opens_at ?? sale.created_at
  return {
    sale: sale.sale_id,
    name: sale.name,
    phase: phaseOf(sale, nowMs),
    pre_queue_opens_at: preQueueOpensAt.toISOString(),
    pre_queue_opens_in_ms: preQueueOpensAt.getTime() - nowMs,
    opens_at: sale.opens_at.toISOString(),
    opens_in_ms: sale.opens_at.getTime() - nowMs,
    ends_at: sale.ends_at?.toISOString() ?? null,
    ends_in_ms: sale.ends_at ? sale.ends_at.getTime() - nowMs : null,
    hold_seconds: sale.hold_seconds,
    limit_per_visitor: sale.limit_per_visitor,
    products: sale.products.map((p) => ({ ...p, available: available(p) })),
    admission: { rate_per_second: sale.rate_per_second, max_inside: sale.max_inside },
    ...counts,
    health,
  }
}

/**
 * A sale that ended so long ago, and holds nothing any more, has nothing left to be looked after: a day, since what was
 * promised as it ended waits in Redis for the ledger, however many hours that is away.
 */
const AFTER_THE_END_MS = 24 * 3_600_000

/** The products that may have holds, intents or a counter to look after. */
export function productsInUse(sales: Sales): { sale: string; product: string }[] {
  const nowMs = sales.nowMs()
  return [...sales.all()]
    .filter(({ ended_at, ends_at, products }) => {
      const end = ended_at ?? ends_at
      return end === null || end.getTime() > nowMs - AFTER_THE_END_MS || products.some((p) => p.held > 0)
    })
    .flatMap(({ sale_id, products }) => products.map((p) => ({ sale: sale_id, product: p.product_id })))
}

export class Sales {
  readonly #sql: Sql
  #known = new Map<string, SaleRow>()
  #clock = { ledgerMs: Date.now(), monotonicMs: performance.now() }
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | undefined
  #stopped = false
  /** When the ledger last answered, on the monotonic clock. */
  #heardAtMs = Number.NEGATIVE_INFINITY

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Reads once, then keeps reading; fails only if the first read does. */
  async start(): Promise<void> {
    await this.refresh()
    const again = () => {
      if (this.#stopped) return
      this.#timer = setTimeout(
        () =>
          this.refresh()
            .catch(() => {})
            .finally(again),
        REFRESH_MS,
      )
    }
    again()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#timer)
    await this.#reading?.catch(() => {})
  }

  /** Reads now; callers at the same time share one reading that began after the first of them asked. */
  async refresh(): Promise<void> {
    if (this.#reading) await this.#reading.catch(() => {})
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    const asked = performance.now()
    const { nowMs, sales } = await readSales(this.#sql)
    const answered = performance.now()
    this.#clock = { ledgerMs: nowMs, monotonicMs: (asked + answered) / 2 }
    this.#heardAtMs = answered
    this.#known = new Map(sales.map((sale) => [sale.sale_id, sale]))
  }

  /** The ledger's time, milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.ledgerMs + performance.now() - this.#clock.monotonicMs
  }

  /** True while the ledger does not answer. */
  isSilent(): boolean {
    return performance.now() - this.#heardAtMs > LEDGER_SILENT_MS
  }

  get(sale: string): SaleRow | undefined {
    return this.#known.get(sale)
  }

  all(): Iterable<SaleRow> {
    return this.#known.values()
  }
}
