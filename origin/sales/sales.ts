/**
 * The sales in memory, read from the ledger four times a second: all in use, and for a while those long over that somebody
 * asked for by name. The time is the ledger's, carried forward by the monotonic clock: a wrong local clock does not matter.
 */
import * as v from 'valibot'
import { SaleId } from '../../shared/api/fields.ts'
import type { Sql } from '../ledger/connection.ts'
import { Overloaded } from '../lib/batcher.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import { readSales } from './sale-queries.ts'
import type { SaleRow } from './sale-row.ts'

/** How old the sales in memory may be while the ledger responds. */
export const REFRESH_MS = 250
/** A ledger that has not responded for this long is unresponsive: nobody waits for it. */
const LEDGER_TIMEOUT_MS = 2_000
/** Unknown names looked up in one read; more get try-again. Anyone can invent names. */
const MAX_LOOKUPS = 500
/** Sales long over that are read along: a hundred cost each read some milliseconds .. */
const MAX_OLD = 100
/** .. and for how long after the last request for them. */
const OLD_FOR_MS = 60_000

export class Sales {
  readonly #sql: Sql
  #known = new Map<string, SaleRow>()
  /** Unknown names for the next read. */
  #lookups = new Map<string, PromiseWithResolvers<SaleRow | undefined>>()
  /** Sales long over and when they were asked for, the latest last. */
  readonly #old = new Map<string, number>()
  #clock = { ledgerMs: Date.now(), monotonicMs: performance.now() }
  #timer: NodeJS.Timeout | undefined
  #reading: Promise<void> | undefined
  /** When the ledger last responded, on the monotonic clock. */
  #respondedAtMs = Number.NEGATIVE_INFINITY
  readonly #readers = new Set<() => void>()

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Reads once, then keeps reading; fails only if the first read does. */
  async start(): Promise<void> {
    await this.refresh()
    this.#timer = setInterval(() => {
      if (!this.#reading) this.refresh().catch(() => {})
    }, REFRESH_MS)
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer)
    await this.#reading?.catch(() => {})
  }

  /** Reads now. Simultaneous callers share one read, which began after the first of them called. */
  async refresh(): Promise<void> {
    if (this.#reading) await this.#reading.catch(() => {})
    this.#reading ??= this.#read().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #read(): Promise<void> {
    const began = performance.now()
    for (const [saleId, askedAtMs] of this.#old) if (began - askedAtMs > OLD_FOR_MS) this.#old.delete(saleId)
    const lookups = this.#lookups
    this.#lookups = new Map()
    try {
      const { nowMs, sales } = await readSales(this.#sql, [...lookups.keys(), ...this.#old.keys()])
      const responded = performance.now()
      this.#clock = { ledgerMs: nowMs, monotonicMs: (began + responded) / 2 }
      this.#respondedAtMs = responded
      this.#known = new Map(sales.map((sale) => [sale.sale_id, sale]))
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error)
      throw error
    }
    for (const reader of this.#readers) reader()
    for (const [saleId, { resolve }] of lookups) resolve(this.#keepOld(this.#known.get(saleId)))
  }

  /** A sale long over that was asked for is read along for a while. */
  #keepOld(sale: SaleRow | undefined): SaleRow | undefined {
    if (!sale || sale.in_use) return sale
    this.#old.delete(sale.sale_id)
    this.#old.set(sale.sale_id, performance.now())
    const [first] = this.#old.keys()
    if (first !== undefined && this.#old.size > MAX_OLD) this.#old.delete(first)
    return sale
  }

  /** Calls `reader` after each read, from now on; returns a function that ends it. */
  onRead(reader: () => void): () => void {
    this.#readers.add(reader)
    return () => void this.#readers.delete(reader)
  }

  /** The ledger's time, milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.ledgerMs + this.readAgoMs()
  }

  /** Age of the sales in memory. */
  readAgoMs(): number {
    return performance.now() - this.#clock.monotonicMs
  }

  isLedgerUnresponsive(): boolean {
    return performance.now() - this.#respondedAtMs > LEDGER_TIMEOUT_MS
  }

  /** A sale that is in use or was found lately. */
  get(saleId: string): SaleRow | undefined {
    return this.#known.get(saleId)
  }

  /** A sale, also one long over. An unknown name waits for the next regular read: invented names cost no statement. */
  async find(saleId: string): Promise<SaleRow | undefined> {
    const known = this.#known.get(saleId)
    if (known) return this.#keepOld(known)
    // Postgres rejects some texts, and with them the whole read.
    if (!v.is(SaleId, saleId)) return undefined
    if (this.isLedgerUnresponsive()) throw new TimeoutError('the ledger does not respond')
    let lookup = this.#lookups.get(saleId)
    if (!lookup) {
      if (this.#lookups.size >= MAX_LOOKUPS) throw new Overloaded('too many unknown sales')
      lookup = Promise.withResolvers()
      lookup.promise.catch(() => {})
      this.#lookups.set(saleId, lookup)
    }
    return withTimeout(lookup.promise, LEDGER_TIMEOUT_MS)
  }

  /** The sales that may have holds, intents or a gate to look after. */
  inUse(): SaleRow[] {
    return [...this.#known.values()].filter((sale) => sale.in_use)
  }
}
