/**
 * The sales as this process knows them: read from the ledger a few times a second, decided on from memory. Those are the
 * sales in use; one that has long been over is read along with them from when it is asked for by its name. Whether a sale
 * is open is a pure function of its row, its stock and the time; the time is the ledger's, carried forward by this machine's
 * monotonic clock, so that an origin whose own clock is an hour wrong is not an hour wrong.
 */

import * as v from 'valibot'
import type { SaleState } from '../../shared/api/internal.ts'
import { SaleId } from '../../shared/api/public.ts'
import type { Sql } from '../ledger/connection.ts'
import type { ProductRow, SaleRow } from '../ledger/sales.ts'
import { readSales } from '../ledger/sales.ts'
import { Overloaded } from '../lib/batcher.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import type { Counts } from './arrivals.ts'

/** How old what is known may be while the ledger answers. */
export const REFRESH_MS = 250
/** A ledger that has not answered for so long is away: what could be found there is not waited for. */
const LEDGER_SILENT_MS = 2_000
/** Names looked for in one reading. Anyone can make up names: with more, who brings another is told to try again. */
const MAX_ASKED = 500
/** Sales that are long over and were asked for lately: a hundred cost each reading some milliseconds. */
const MAX_OVER = 100
/** .. for so long after they were asked for last. */
const OVER_FOR_MS = 60_000

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
  readAgoMs: number,
  counts: Counts & Pick<SaleState, 'arrived_lately'>,
  health: SaleState['health'],
): SaleState {
  const preQueueOpensAt = sale.pre_queue_opens_at ?? sale.created_at
  return {
    sale: sale.sale_id,
    name: sale.name,
    phase: phaseOf(sale, nowMs),
    read_ago_ms: readAgoMs,
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

/** The products that may have holds, intents or a counter to look after. */
export function productsInUse(sales: Sales): { sale: string; product: string }[] {
  return sales
    .inUse()
    .flatMap(({ sale_id, products }) => products.map((p) => ({ sale: sale_id, product: p.product_id })))
}

export class Sales {
  readonly #sql: Sql
  #known = new Map<string, SaleRow>()
  /** Names asked for since the last reading began, of which the next one tells. */
  #asked = new Map<string, PromiseWithResolvers<SaleRow | undefined>>()
  /** Sales that are long over, and when they were asked for last; who was asked for last is last. */
  readonly #over = new Map<string, number>()
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
    const began = performance.now()
    for (const [sale, askedAtMs] of this.#over) if (began - askedAtMs > OVER_FOR_MS) this.#over.delete(sale)
    const asked = this.#asked
    this.#asked = new Map()
    try {
      const { nowMs, sales } = await readSales(this.#sql, [...asked.keys(), ...this.#over.keys()])
      const answered = performance.now()
      this.#clock = { ledgerMs: nowMs, monotonicMs: (began + answered) / 2 }
      this.#heardAtMs = answered
      this.#known = new Map(sales.map((sale) => [sale.sale_id, sale]))
    } catch (error) {
      for (const { reject } of asked.values()) reject(error)
      throw error
    }
    for (const [sale, { resolve }] of asked) resolve(this.#used(this.#known.get(sale)))
  }

  /** Notes that a sale was asked for, should it be over: it is read again for a while. */
  #used(row: SaleRow | undefined): SaleRow | undefined {
    if (!row || row.in_use) return row
    this.#over.delete(row.sale_id)
    this.#over.set(row.sale_id, performance.now())
    const [first] = this.#over.keys()
    if (first !== undefined && this.#over.size > MAX_OVER) this.#over.delete(first)
    return row
  }

  /** The ledger's time, milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.ledgerMs + this.readAgoMs()
  }

  /** How long ago what is known was read. */
  readAgoMs(): number {
    return performance.now() - this.#clock.monotonicMs
  }

  /** True while the ledger does not answer. */
  isSilent(): boolean {
    return performance.now() - this.#heardAtMs > LEDGER_SILENT_MS
  }

  /** A sale that is in use, or was found lately. */
  get(sale: string): SaleRow | undefined {
    return this.#known.get(sale)
  }

  /**
   * A sale, also one that has long been over. What is not known waits for the next reading, which is made anyway: a name
   * that somebody made up costs no statement. Fails while the ledger does not answer, or is asked for too many names.
   */
  async find(sale: string): Promise<SaleRow | undefined> {
    const known = this.#known.get(sale)
    if (known) return this.#used(known)
    // Postgres refuses some texts, and what else is read with them.
    if (!v.is(SaleId, sale)) return undefined
    if (this.isSilent()) throw new TimeoutError('the ledger does not answer')
    let asked = this.#asked.get(sale)
    if (!asked) {
      if (this.#asked.size >= MAX_ASKED) throw new Overloaded('too many unknown sales are asked for')
      asked = Promise.withResolvers()
      asked.promise.catch(() => {})
      this.#asked.set(sale, asked)
    }
    return withTimeout(asked.promise, LEDGER_SILENT_MS)
  }

  inUse(): SaleRow[] {
    return [...this.#known.values()].filter((sale) => sale.in_use)
  }
}
