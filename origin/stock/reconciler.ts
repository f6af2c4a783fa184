/**
 * Compares the fast gate with the ledger, and the ledger with itself, and repairs differences. The gate is rebuilt when it
 * differs for longer than orders are in flight, and before it is used in a new run of Redis; the exact gate serves meanwhile.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Logger } from 'pino'
import { close, note } from '../findings/finding-queries.ts'
import type { Queryable } from '../ledger/connection.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import type { Metrics } from '../lib/metrics.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { audit } from '../operators/audit.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import { available } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Gates, Rebuild } from './gate.ts'
import { recordIntents } from './intent-recorder.ts'
import { type Decision, type Recount, type RecountDeps, recount } from './oversell.ts'
import type { ProductWork } from './product-work.ts'
import {
  countersSince,
  isMiscounted,
  liveOrdersOf,
  lockRebuild,
  oldestTransaction,
  type ProductRef,
  readCounters,
} from './reconciliation-queries.ts'

/** Counting the orders reads all of them, so not every round does. */
const RECOUNT_EVERY_MS = 30_000
/** A million orders are read in half of this. A start waits for it, so that nobody meets a cold gate. */
const RECONCILE_TIMEOUT_MS = 30_000
/** A difference must be seen this often, this far apart: orders in flight settle meanwhile. */
const LOOKS = 3
const LOOK_EVERY_MS = 150
/** An operator waits this long for a comparison. */
const AGREE_TIMEOUT_MS = 2_000
/** Intents read by a comparison. A longer stream is being recorded, and nothing exact can be said. */
const MAX_INTENTS = 5_000
/** An operator's change waits this long for a rebuild in progress; it keeps no connection meanwhile. */
const TURN_TIMEOUT_MS = 10_000
const TURN_EVERY_MS = 50

/** Callers that wait for one rebuild, and for the next. */
const RETURNS = { size: 1_000, queue: 1_000 }

interface Comparison {
  /** fenced: the gate was not in use; drift: it counted otherwise than the ledger. */
  readonly found: 'ok' | 'fenced' | 'drift'
  /** Units available in the gate and not in the ledger. */
  readonly drift: number
  readonly heldDrift: number
  readonly ledger: { total: number; available: number; held: number; sold: number }
}

export interface Finding extends Omit<Comparison, 'heldDrift'> {
  readonly product_id: string
  readonly healed: boolean
  /** The result of counting the orders, if they were counted. */
  readonly recount?: Recount
}

interface ReconcileOptions {
  /** Rebuilds the gates even if nothing differs, and waits for its turn. */
  readonly force?: boolean
  /** Counts the orders as well. */
  readonly recount?: boolean
  /** An operator's, about an oversell. */
  readonly decision?: Decision
}

export interface ReconcilerDeps extends RecountDeps {
  readonly sales: Sales
  readonly gates: Gates
  readonly work: ProductWork
  readonly metrics: Metrics
  readonly log: Logger
}

export class Reconciler {
  readonly #deps: ReconcilerDeps
  /** When the orders of a product were counted last. Not set while it is oversold, so that every round counts them. */
  readonly #countedAtMs = new Map<string, number>()

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps
  }

  async round(): Promise<void> {
    const { sales, work } = this.#deps
    await sales.refresh()
    const all = sales.productsInUse()
    await work.each('reconciler', all, (ref) => this.#roundOf(ref), RECONCILE_TIMEOUT_MS)
  }

  async #roundOf(ref: ProductRef): Promise<void> {
    const name = `${ref.sale}:${ref.product}`
    const lastMs = this.#countedAtMs.get(name) ?? Number.NEGATIVE_INFINITY
    const isDue = performance.now() - lastMs > RECOUNT_EVERY_MS
    const finding = await this.#reconcile(ref, { recount: isDue })
    await this.#deps.gates.of(ref.sale, ref.product).extendExpiry()
    if (!isDue) return
    const isOpen = finding.recount?.found === 'oversold' && !finding.recount.healed
    if (isOpen) this.#countedAtMs.delete(name)
    else this.#countedAtMs.set(name, performance.now())
  }

  /** Between the rounds: puts fenced gates into use again, and counts the waiting intents. */
  async watch(): Promise<void> {
    const { gates, sales, work, metrics } = this.#deps
    const watchOne = async (ref: ProductRef) => {
      const gate = gates.of(ref.sale, ref.product)
      const seen = await Promise.all([gate.isOpen(), gate.countIntents()]).catch((error) => {
        metrics.gateOpen.set(ref, 0)
        throw error
      })
      const [isOpen, intents] = seen
      metrics.gateOpen.set(ref, isOpen ? 1 : 0)
      metrics.intents.set(ref, intents)
      if (!isOpen) await this.#reconcile(ref, {})
    }
    await work.each('gate watch', sales.productsInUse(), watchOne, RECONCILE_TIMEOUT_MS)
  }

  async reconcileSale(saleId: string, options: ReconcileOptions = {}) {
    const { sales } = this.#deps
    await sales.refresh()
    const findings: Finding[] = []
    for (const { product_id } of (await sales.find(saleId))?.products ?? [])
      findings.push(await this.#reconcile({ sale: saleId, product: product_id }, options))
    return { sale: saleId, findings }
  }

  /**
   * Has the fast gates learn of sold units that are for sale again: a gate keeps no sold orders that it could end. A failure is
   * only logged, since the next round finds the difference.
   */
  async unitsReturned(orders: readonly { readonly sale_id: string; readonly product_id: string }[]): Promise<void> {
    const products = new Map(
      orders.map(({ sale_id: sale, product_id: product }) => [`${sale} ${product}`, { sale, product }]),
    )
    for (const [name, ref] of products) {
      await this.#returns.add(name, ref).catch((error) => {
        this.#deps.log.warn({ ...ref, error: String(error) }, 'gate rebuild left to the reconciler')
      })
    }
  }

  /** One rebuild for all units of a product that came back while the one before was under way. */
  readonly #returns = new BatcherByKey<ProductRef, void>(RETURNS, async (_product, refs) => {
    await this.#reconcile(refs[0] as ProductRef, { force: true })
    return refs.map(() => undefined)
  })

  /** Whether gate, ledger and orders of a sale agree at this moment; null if a store does not answer, or a gate is fenced. */
  async agrees({ sale_id: sale, products }: SaleRow): Promise<boolean | null> {
    const { sql, sales } = this.#deps
    if (sales.isLedgerUnresponsive()) return null
    try {
      const comparing = products.map(({ product_id: product }) => this.#compare({ sale, product }))
      const reading = Promise.all([Promise.all(comparing), isMiscounted(sql, sale)])
      const [all, isWrong] = await withTimeout(reading, AGREE_TIMEOUT_MS)
      if (all.some(({ found }) => found === 'fenced')) return null
      return all.every(({ found }) => found === 'ok') && !isWrong
    } catch {
      return null
    }
  }

  async #reconcile(ref: ProductRef, options: ReconcileOptions): Promise<Finding> {
    const { metrics } = this.#deps
    const { force = false, recount: isDue, decision } = options
    const recounted = isDue || decision ? await recount(this.#deps, ref, decision) : undefined
    // The gate was not loaded from repaired counters.
    const isStale = recounted !== undefined && recounted.found !== 'ok'
    const isSure = force || isStale
    const { heldDrift, ...comparison } = await (isSure ? this.#look(ref) : this.#compare(ref))
    const { found, drift, ledger } = comparison
    for (const state of ['available', 'held', 'sold'] as const) metrics.stock.set({ ...ref, state }, ledger[state])
    // What was changed on purpose differs until the gate is rebuilt; that is no fault.
    const drifts = found === 'drift' && !force
    metrics.drift.set({ ...ref, state: 'available' }, drifts ? drift : 0)
    metrics.drift.set({ ...ref, state: 'held' }, drifts ? heldDrift : 0)
    const finding = { product_id: ref.product, ...comparison, ...(recounted && { recount: recounted }) }
    if (found === 'ok' && !force) return { ...finding, healed: false }
    const onlyIfFenced = found === 'fenced' && !isSure
    const healed = await this.#rebuild(ref, { wait: force, onlyIfFenced })
    if (healed && !force) await this.#noteRepair(ref, { ...comparison, heldDrift })
    return { ...finding, healed }
  }

  /** Looks a few times, until the gate agrees or the difference stays the same. */
  async #compare(ref: ProductRef): Promise<Comparison> {
    let seen = await this.#look(ref)
    for (let looks = 1; seen.found === 'drift' && looks < LOOKS; looks++) {
      await sleep(LOOK_EVERY_MS)
      const again = await this.#look(ref)
      const isMoving = again.drift !== seen.drift || again.heldDrift !== seen.heldDrift
      seen = again.found === 'drift' && isMoving ? { ...again, found: 'ok' } : again
    }
    return seen
  }

  async #look(ref: ProductRef): Promise<Comparison> {
    const gate = this.#deps.gates.of(ref.sale, ref.product)
    const stock = await gate.stock()
    const intents = await gate.intents(MAX_INTENTS)
    const unrecorded = intents.reduce((units, { intent }) => units + (intent?.quantity ?? 0), 0)
    const counters = await readCounters(this.#deps.sql, ref)
    const { total, held, sold } = counters
    const ledger = { total, available: available(counters), held, sold }
    const isExact = stock !== null && intents.length < MAX_INTENTS
    const drift = isExact ? stock.available + unrecorded - ledger.available : 0
    const heldDrift = isExact ? stock.held - unrecorded - held : 0
    const differs = drift !== 0 || heldDrift !== 0
    return { found: stock === null ? 'fenced' : differs ? 'drift' : 'ok', drift, heldDrift, ledger }
  }

  async #noteRepair(ref: ProductRef, seen: Comparison): Promise<void> {
    const { found, drift, heldDrift, ledger } = seen
    if (found === 'ok') return
    // A gate with nothing held or sold was usually never loaded: its sale is just being created.
    if (found === 'fenced' && ledger.held + ledger.sold === 0) return
    const { sql, metrics, log } = this.#deps
    log.warn({ ...ref, found, drift, heldDrift }, 'rebuilt a gate that differed')
    metrics.findings.inc({ sale: ref.sale, kind: found })
    const action = 'gate rebuilt from the ledger'
    const { available, held } = ledger
    const before = { found, available: available + drift, held: held + heldDrift }
    const after = { available, held }
    await sql.begin(async (tx) => {
      await note(tx, { ...ref, kind: found, units: drift, detail: { ledger, held: heldDrift } })
      await close(tx, ref.sale, ref.product, found, action)
      await audit(tx, [{ ...ref, actor: 'reconciler', action, before, after }])
    })
  }

  /**
   * Rebuilds the gate, one rebuild at a time per product: a second one in between would restore what has ended since.
   * `onlyIfFenced`: another process may have rebuilt it by now, and nothing else was wrong.
   */
  async #rebuild(ref: ProductRef, { wait, onlyIfFenced }: { wait: boolean; onlyIfFenced: boolean }): Promise<boolean> {
    const { sql, gates, work } = this.#deps
    const untilMs = performance.now() + TURN_TIMEOUT_MS
    for (;;) {
      const result = await work.rebuild(() =>
        sql.begin(async (tx) => {
          if (!(await lockRebuild(tx, ref))) return 'busy'
          if (onlyIfFenced && (await gates.of(ref.sale, ref.product).isOpen())) return false
          return this.#rebuildNow(tx, ref)
        }),
      )
      if (result !== 'busy') return result
      if (!wait || performance.now() > untilMs) return false
      await sleep(TURN_EVERY_MS * (0.5 + Math.random()))
    }
  }

  /**
   * Restores the live orders, then adds what has begun and ends what has ended since they were read. The counters are read
   * last; later orders are counted by their own calls. An order that begins after the live orders were read, and is sold
   * before the counters are, need not be in the gate: it holds no unit, and the ledger knows its key and visitor.
   */
  async #rebuildNow(tx: Queryable, ref: ProductRef): Promise<boolean> {
    const { sql, gates, log } = this.#deps
    const startedMs = performance.now()
    // Before their keys are forgotten: a repeated key must not get another order.
    await recordIntents(this.#deps, ref, 0)
    const rebuild = await gates.of(ref.sale, ref.product).fence()
    await recordIntents(this.#deps, ref, 0)
    const since = await oldestTransaction(sql)
    const live = await restoreLive(rebuild, tx, ref)
    const counters = await countersSince(sql, ref, since)
    await rebuild.restore(counters.begun)
    await rebuild.settle(counters.ended)
    const open = await rebuild.open({ available: available(counters), held: counters.held })
    const ms = Math.round(performance.now() - startedMs)
    log.info({ ...ref, live, open, ms }, 'gate rebuilt')
    return open
  }
}

/** Restores the live orders; returns how many. While the gate takes one chunk, the ledger reads the next. */
async function restoreLive(rebuild: Rebuild, tx: Queryable, ref: ProductRef): Promise<number> {
  let live = 0
  let restoring: Promise<void> = Promise.resolve()
  for await (const orders of liveOrdersOf(tx, ref)) {
    await restoring
    live += orders.length
    restoring = rebuild.restore(orders)
    restoring.catch(() => {})
  }
  await restoring
  return live
}
