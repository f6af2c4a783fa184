/**
 * The sales in memory, read from the ledger four times a second: all sales in use, and for a while long-ended ones
 * that were requested by id. The time is the ledger's, advanced by the monotonic clock, so that a wrong local clock
 * does not matter.
 */
import * as v from 'valibot'
import { SaleId } from '../../shared/api/fields.ts'
import { type Sql, tryWrite } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Overloaded } from '../lib/batcher.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import { TimeoutError, withTimeout } from '../lib/with-timeout.ts'
import { Writes } from '../lib/writes.ts'
import { latestOf, type NotedChange, withNoted } from './noted-changes.ts'
import { readSales } from './sale-queries.ts'

/** The maximum age of the sales in memory while the ledger responds. */
const REFRESH_MS = 250
/** A ledger that has not responded for this long is unresponsive, and no call waits for it. */
export const LEDGER_TIMEOUT_MS = 2_000
/** One read looks up at most this many unknown names, which anyone can invent; further ones get try-again. */
const MAX_LOOKUPS = 500
/** At most this many long-ended sales are included in each read; a hundred cost some milliseconds. */
const MAX_OLD = 100
/** A long-ended sale is read for this long after the last request for it. */
const OLD_FOR_MS = 60_000

/** The sales as operators' routes see them: found by id, and published to processes and edge after a change. */
export interface OperatedSales {
  /** The ledger's time, milliseconds since the epoch. */
  nowMs(): number
  isLedgerUnresponsive(): boolean
  inUse(): readonly SaleRow[]
  /** Throws `unknown-sale`. */
  find(saleId: string): Promise<SaleRow>
  publish(saleId: string): Promise<unknown>
  /** Publishes a change that is noted and not in the ledger yet. */
  publishNoted(saleId: string): Promise<unknown>
  /** Informs the edge of a change that concerns all sales. */
  notifyEdge(): void
}

export class Sales {
  readonly #sql: Sql
  readonly #runtime: Runtime
  /** The sales as the ledger has them, and as they are with the changes that it does not have yet. */
  #rows: readonly SaleRow[] = []
  #known = new Map<string, SaleRow>()
  #noted: readonly NotedChange[] = []
  /** The unknown names for the next read. */
  #lookups = new Map<string, PromiseWithResolvers<SaleRow | undefined>>()
  /** The long-ended sales with the time of the last request, the latest last. */
  readonly #old = new Map<string, number>()
  #clock: { readonly ledgerMs: number; readonly monotonicMs: number }
  #cancel = () => {}
  #reading: Promise<void> | undefined
  /** The time of the ledger's last response, on the monotonic clock. */
  #respondedAtMs = Number.NEGATIVE_INFINITY
  readonly #readers = new Set<() => void>()
  /** The result of the latest writes, which says whether the ledger accepts writes. */
  readonly writes = new Writes()

  constructor(sql: Sql, runtime = machine) {
    this.#sql = sql
    this.#runtime = runtime
    this.#clock = { ledgerMs: runtime.nowMs(), monotonicMs: runtime.monotonicMs() }
  }

  /** Reads once, then keeps reading. Fails only if the first read fails. */
  async start(): Promise<void> {
    await this.refresh()
    this.#refreshLater()
  }

  #refreshLater(): void {
    this.#cancel = this.#runtime.after(REFRESH_MS, () => {
      this.#refreshLater()
      if (this.#reading) return
      this.refresh()
        .then(() => this.writes.retry(() => tryWrite(this.#sql)))
        .catch(() => {})
    })
  }

  async stop(): Promise<void> {
    this.#cancel()
    await this.#reading?.catch(() => {})
  }

  /** Reads now. Concurrent callers share one read, which starts after the first of them called. */
  async refresh(): Promise<void> {
    if (this.#reading) await this.#reading.catch(() => {})
    this.#reading ??= this.#readLedger().finally(() => {
      this.#reading = undefined
    })
    await this.#reading
  }

  async #readLedger(): Promise<void> {
    const began = this.#runtime.monotonicMs()
    for (const [saleId, askedAtMs] of this.#old) if (began - askedAtMs > OLD_FOR_MS) this.#old.delete(saleId)
    const lookups = this.#lookups
    this.#lookups = new Map()
    try {
      const { nowMs, sales } = await readSales(this.#sql, [...lookups.keys(), ...this.#old.keys()])
      const responded = this.#runtime.monotonicMs()
      this.#clock = { ledgerMs: nowMs, monotonicMs: (began + responded) / 2 }
      this.#respondedAtMs = responded
      this.#rows = sales
      this.showNoted(this.#noted)
    } catch (error) {
      for (const { reject } of lookups.values()) reject(error)
      throw error
    }
    for (const reader of this.#readers) reader()
    for (const [saleId, { resolve }] of lookups) resolve(this.#keepOld(this.#known.get(saleId)))
  }

  /** Shows the sales with changes that the ledger does not have yet, which are in order. */
  showNoted(changes: readonly NotedChange[]): void {
    this.#noted = changes
    this.#known = new Map(this.#rows.map((sale) => [sale.sale_id, withNoted(sale, changes)]))
  }

  noted(): readonly NotedChange[] {
    return this.#noted
  }

  /** A long-ended sale is included in the reads for a while after a request. */
  #keepOld(sale: SaleRow | undefined): SaleRow | undefined {
    if (!sale || sale.in_use) return sale
    this.#old.delete(sale.sale_id)
    this.#old.set(sale.sale_id, this.#runtime.monotonicMs())
    const [first] = this.#old.keys()
    if (first !== undefined && this.#old.size > MAX_OLD) this.#old.delete(first)
    return sale
  }

  /** Calls `reader` after each read from now on. Returns a function that stops it. */
  onRead(reader: () => void): () => void {
    this.#readers.add(reader)
    return () => void this.#readers.delete(reader)
  }

  /** The ledger's time in milliseconds since the epoch. */
  nowMs(): number {
    return this.#clock.ledgerMs + this.readAgoMs()
  }

  /** The age of the sales in memory. */
  readAgoMs(): number {
    return this.#runtime.monotonicMs() - this.#clock.monotonicMs
  }

  /**
   * The age of what is known of a sale. A noted change is younger than the reading, so the edge prefers it to what
   * processes say that have not heard of it.
   */
  knownAgoMs(saleId: string): number {
    const latest = latestOf(saleId, this.#noted)
    return latest ? Math.min(this.readAgoMs(), Math.max(0, this.nowMs() - latest.at_ms)) : this.readAgoMs()
  }

  isLedgerUnresponsive(): boolean {
    return this.ledgerSilentMs() > LEDGER_TIMEOUT_MS
  }

  /** True if the ledger can record orders, as far as this process knows. */
  canRecord(): boolean {
    return !this.isLedgerUnresponsive() && this.writes.refusal === null
  }

  /** For how long the ledger has not responded. */
  ledgerSilentMs(): number {
    return this.#runtime.monotonicMs() - this.#respondedAtMs
  }

  /** A sale that is in use or was requested recently. */
  get(saleId: string): SaleRow | undefined {
    return this.#known.get(saleId)
  }

  /**
   * A sale, including a long-ended one. An unknown name waits for the next regular read, so invented names cost no
   * statement.
   */
  async find(saleId: string): Promise<SaleRow | undefined> {
    const known = this.#known.get(saleId)
    if (known) return this.#keepOld(known)
    // Postgres rejects some texts, and would fail the whole read.
    if (!v.is(SaleId, saleId)) return undefined
    if (this.isLedgerUnresponsive()) throw new TimeoutError('the ledger does not respond')
    let lookup = this.#lookups.get(saleId)
    if (!lookup) {
      if (this.#lookups.size >= MAX_LOOKUPS) throw new Overloaded('too many unknown sales')
      lookup = Promise.withResolvers()
      lookup.promise.catch(() => {})
      this.#lookups.set(saleId, lookup)
    }
    return withTimeout(lookup.promise, LEDGER_TIMEOUT_MS, this.#runtime)
  }

  /** The sales that may have holds, intents or a gate. */
  inUse(): SaleRow[] {
    return [...this.#known.values()].filter((sale) => sale.in_use)
  }
}
