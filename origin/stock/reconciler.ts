/**
 * Compares the fast gate with the ledger, and the ledger with itself, and repairs differences. The gate is rebuilt
 * when it differs for longer than orders are in flight, and before it is used in a new run of Redis; the exact gate
 * serves meanwhile.
 */
import type { Logger } from 'pino'
import type { Metrics } from '../base/metrics.ts'
import { close, note } from '../findings/finding-queries.ts'
import { audit } from '../ledger/audit.ts'
import { cartOf, isPromoCode } from '../ledger/cart.ts'
import type { Queryable } from '../ledger/connection.ts'
import { findOrders } from '../ledger/order-statements.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import type { RedisWatch } from '../lib/redis/redis-watch.ts'
import { machine, type Runtime, sleep } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import { available } from '../sales/sale-state.ts'
import type { SaleWork } from '../sales/sale-work.ts'
import type { Sales } from '../sales/sales.ts'
import { blockedSeats, sectionsOf } from '../seats/seat-queries.ts'
import { type Comparison, compareCounts, compareReadings, lasting, seatsApart } from './comparison.ts'
import { EvictionGuard } from './eviction.ts'
import type { Gate, Gates } from './gate/gate.ts'
import type { GateReading } from './gate/gate-reading.ts'
import { holdEnd } from './gate/hold-ends.ts'
import type { Rebuild } from './gate/rebuild.ts'
import { recordIntents } from './intent-recorder.ts'
import { type Decision, type Recount, type RecountDeps, recount, recountCodes } from './oversell.ts'
import {
  allowPauses,
  isMiscounted,
  type LedgerReading,
  lockRebuild,
  ordersOf,
  type ProductRef,
  readBeside,
  readCounters,
} from './reconciliation-queries.ts'

/** How often a round also counts the orders, which reads all of them. */
const RECOUNT_EVERY_MS = 30_000
/** A million orders are read in half of this. A start waits for it, so that nobody meets a cold gate. */
const RECONCILE_TIMEOUT_MS = 30_000
/**
 * A difference must be seen this often, this far apart: what an operator has just changed reaches the gate meanwhile.
 */
const COMPARISONS = 3
const COMPARE_EVERY_MS = 150
/** An operator waits this long for a comparison. */
const AGREE_TIMEOUT_MS = 2_000
/** An operator's change waits this long for a rebuild in progress; it keeps no connection meanwhile. */
const TURN_TIMEOUT_MS = 10_000
const TURN_EVERY_MS = 50

/** A fenced gate holds nothing that could be compared. */
const FENCED: Pick<GateReading, 'holds' | 'intents'> = { holds: [], intents: [] }
/** In place of a product: the promo codes of a sale, which are counted at once. */
const ALL_CODES = '%'
/** Seats named in a finding. */
const MAX_NOTED = 20
/** Callers that share one rebuild, and callers that wait for the next. */
const RETURNS = { size: 1_000, queue: 1_000 }

export interface Finding extends Omit<Comparison, 'heldDrift' | 'seats'> {
  readonly healed: boolean
  /** The result of counting the orders, if they were counted. */
  readonly recount?: Recount
}

interface ReconcileOptions {
  /** Rebuilds the gate even if nothing differs, and waits for its turn. */
  readonly force?: boolean
  /** Counts the orders as well: of all products, or of these. */
  readonly recount?: boolean | ReadonlySet<string>
  /** An operator's decision about an oversell. */
  readonly decision?: Decision
}

export interface ReconcilerDeps extends RecountDeps {
  readonly sales: Sales
  readonly gates: Gates
  readonly work: SaleWork
  readonly memory: SaleMemory
  readonly redisWatch: Pick<RedisWatch, 'evicting' | 'refusal'>
  readonly metrics: Metrics
  readonly log: Logger
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

export class Reconciler {
  readonly #deps: ReconcilerDeps
  readonly #runtime: Runtime
  readonly #evictions: EvictionGuard
  /**
   * When the orders of each product were counted last. Not set while it is oversold, so that every round counts them.
   */
  readonly #countedAtMs: PerSale<Map<string, number>>

  constructor(deps: ReconcilerDeps) {
    this.#deps = deps
    this.#runtime = deps.runtime ?? machine
    const rebuild = async (saleId: string) => {
      await this.reconcileSale(saleId, { force: true })
    }
    this.#returns = new BatcherByKey(RETURNS, rebuild, this.#runtime)
    this.#evictions = new EvictionGuard(deps.sql, deps.memory)
    this.#countedAtMs = deps.memory.map('recounts')
  }

  async round(): Promise<void> {
    const { sales, work } = this.#deps
    await sales.refresh()
    await work.each('reconciler', sales.inUse(), (sale) => this.#roundOf(sale), RECONCILE_TIMEOUT_MS)
  }

  async #roundOf(sale: SaleRow): Promise<void> {
    const countedAtMs = this.#countedAtMs.getOrAdd(sale.sale_id, () => new Map())
    const due = [...idsOf(sale), ALL_CODES].filter(
      (product) => this.#runtime.monotonicMs() - (countedAtMs.get(product) ?? -Infinity) > RECOUNT_EVERY_MS,
    )
    const findings = await this.#reconcile(sale, { recount: new Set(due) })
    await this.#deps.gates.of(sale.sale_id).extendExpiry()
    if (due.includes(ALL_CODES)) countedAtMs.set(ALL_CODES, this.#runtime.monotonicMs())
    for (const { product_id, recount } of findings) {
      if (!recount) continue
      const isOpen = recount.found === 'oversold' && !recount.healed
      if (isOpen) countedAtMs.delete(product_id)
      else countedAtMs.set(product_id, this.#runtime.monotonicMs())
    }
  }

  /** Runs between the rounds: puts fenced gates into use again, and counts the waiting intents. */
  async watch(): Promise<void> {
    const { gates, sales, work, metrics, redisWatch } = this.#deps
    const watchOne = async (row: SaleRow) => {
      const sale = row.sale_id
      const gate = gates.of(sale)
      const seen = await Promise.all([gate.isOpen(idsOf(row)), gate.intents.count()]).catch((error) => {
        metrics.gateOpen.set({ sale }, 0)
        throw error
      })
      const [isOpen, intents] = seen
      const { evicting, refusal } = redisWatch
      metrics.gateOpen.set({ sale }, isOpen && !evicting && !refusal ? 1 : 0)
      metrics.intents.set({ sale }, intents)
      await this.#evictions.look(sale, gate, isOpen, intents, evicting)
      if (!isOpen && !evicting) await this.#reconcile(row, {})
    }
    await work.each('gate watch', sales.inUse(), watchOne, RECONCILE_TIMEOUT_MS)
  }

  async reconcileSale(saleId: string, options: ReconcileOptions = {}) {
    const { sales } = this.#deps
    await sales.refresh()
    const sale = await sales.find(saleId)
    return { sale: saleId, findings: sale ? await this.#reconcile(sale, options) : [] }
  }

  /**
   * Has the fast gates learn of units that are for sale again of orders that are sold, or that go on without them: a
   * gate can only end holds. A failure is only logged, since the next round finds the difference.
   */
  async unitsReturned(orders: readonly { readonly sale_id: string }[]): Promise<void> {
    for (const sale of new Set(orders.map(({ sale_id }) => sale_id))) {
      await this.#returns.add(sale, undefined).catch((error) => {
        this.#deps.log.warn({ sale, error: String(error) }, 'gate rebuild left to the reconciler')
      })
    }
  }

  /** One rebuild serves all units of a sale that were returned while the previous one was in progress. */
  readonly #returns: BatcherByKey<undefined, void>

  /**
   * True if gate, ledger and orders of a sale agree at this moment; null if a store does not answer, or a gate is
   * fenced.
   */
  async agrees(sale: SaleRow): Promise<boolean | null> {
    const { sql, sales } = this.#deps
    if (sales.isLedgerUnresponsive()) return null
    try {
      const reading = Promise.all([this.#compare(sale.sale_id), isMiscounted(sql, sale.sale_id)])
      const [all, isWrong] = await withTimeout(reading, AGREE_TIMEOUT_MS, this.#runtime)
      if (all.some(({ found }) => found === 'fenced')) return null
      return all.every(({ found }) => found === 'ok') && !isWrong
    } catch {
      return null
    }
  }

  async #reconcile(row: SaleRow, { force = false, recount: due, decision }: ReconcileOptions): Promise<Finding[]> {
    const { metrics } = this.#deps
    const sale = row.sale_id
    const recounts = new Map<string, Recount>()
    for (const product of idsOf(row)) {
      const isDue = typeof due === 'object' ? due.has(product) : due
      if (isDue || decision) recounts.set(product, await recount(this.#deps, { sale, product }, decision))
    }
    const areCodesDue = typeof due === 'object' ? due.has(ALL_CODES) : due
    const areCodesRepaired = areCodesDue === true && (await recountCodes(this.#deps, sale))
    // Repaired counters differ from those that the gate was loaded with.
    const isSure = force || areCodesRepaired || [...recounts.values()].some(({ found }) => found !== 'ok')
    const seen = await (isSure ? this.#compareExactly(sale) : this.#compare(sale))
    for (const { product_id: product, found, drift, heldDrift, ledger } of seen) {
      if (isPromoCode(product)) continue
      const ref = { sale, product }
      for (const state of ['available', 'held', 'sold'] as const) metrics.stock.set({ ...ref, state }, ledger[state])
      // An operator's change makes gate and ledger differ until the gate is rebuilt: that is no finding.
      const drifts = found === 'drift' && !force
      metrics.drift.set({ ...ref, state: 'available' }, drifts ? drift : 0)
      metrics.drift.set({ ...ref, state: 'held' }, drifts ? heldDrift : 0)
    }
    const differing = seen.filter(({ found }) => found !== 'ok')
    const isNeeded = force || differing.length > 0
    const onlyIfFenced = !isSure && differing.every(({ found }) => found === 'fenced')
    const isRebuilt = isNeeded && (await this.#rebuild(row, { wait: force, onlyIfFenced }))
    if (isRebuilt && !force) for (const one of differing) await this.#noteRepair({ sale, product: one.product_id }, one)
    // A sale may have thousands of promo codes.
    const told = seen.filter(({ product_id, found }) => found !== 'ok' || !isPromoCode(product_id))
    return told.map(({ heldDrift, seats, ...comparison }) => {
      const healed = isRebuilt && (force || comparison.found !== 'ok')
      const counted = recounts.get(comparison.product_id)
      return { ...comparison, healed, ...(counted && { recount: counted }) }
    })
  }

  /**
   * Compares the counts, and where they differ looks closer a few times, until both agree or the differences stay the
   * same.
   */
  async #compare(saleId: string): Promise<Comparison[]> {
    const gate = this.#deps.gates.of(saleId)
    const counted = compareCounts(await gate.stock(), await readCounters(this.#deps.sql, saleId))
    // A gate that is fenced is rebuilt whatever it holds.
    if (counted.every(({ found }) => found === 'fenced')) return counted
    const hasHall = (this.#deps.sales.get(saleId)?.chart_version ?? null) !== null
    if (!hasHall && counted.every(({ found }) => found === 'ok')) return counted
    let seen = await this.#compareExactly(saleId)
    for (let comparisons = 1; comparisons < COMPARISONS && seen.some(({ found }) => found === 'drift'); comparisons++) {
      await sleep(this.#runtime, COMPARE_EVERY_MS)
      seen = lasting(seen, await this.#compareExactly(saleId))
    }
    return seen
  }

  /**
   * The ledger is read before and after the gate. Orders that only one of the two knows by now are told to the gate
   * again.
   */
  async #compareExactly(saleId: string): Promise<Comparison[]> {
    const { sql, gates } = this.#deps
    const gate = gates.of(saleId)
    const before = await readCounters(sql, saleId)
    const reading = await gate.read()
    const { holds, intents } = reading ?? FENCED
    const waiting = intents === null ? [] : intents.map(({ order }) => order)
    const after = await readBeside(sql, saleId, holds, waiting)
    if (reading) await this.#tellAgain(gate, after)
    const seats = reading ? seatsApart(reading, after) : []
    return compareReadings(reading, before, after, seats.length > 0 ? await sectionsOf(sql, saleId, seats) : new Map())
  }

  /** A process that died may never have told them; each counts once. */
  async #tellAgain(gate: Gate, { missing, ended }: LedgerReading): Promise<void> {
    const rows = await findOrders(
      this.#deps.sql,
      ended.map(({ order }) => order),
    )
    await gate.settle(rows.map(holdEnd))
    for (const { lines, holdEndsAtMs, ...order } of missing)
      await gate.adopt({ ...order, cart: cartOf(lines) }, holdEndsAtMs)
  }

  async #noteRepair(ref: ProductRef, seen: Comparison): Promise<void> {
    const { found, drift, heldDrift, seats, ledger } = seen
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
      await note(tx, {
        ...ref,
        kind: found,
        units: drift,
        detail: { ledger, held: heldDrift, ...(seats.length > 0 && { seats: seats.slice(0, MAX_NOTED) }) },
      })
      await close(tx, ref.sale, ref.product, found, action)
      await audit(tx, [{ ...ref, actor: 'reconciler', action, before, after }])
    })
  }

  /**
   * Rebuilds the gate, one rebuild at a time per sale: a second one in between would restore what has ended since.
   * `onlyIfFenced`: another process may have rebuilt it by now, and nothing else was wrong.
   */
  async #rebuild(sale: SaleRow, { wait, onlyIfFenced }: { wait: boolean; onlyIfFenced: boolean }): Promise<boolean> {
    const { sql, gates, work, redisWatch } = this.#deps
    if (redisWatch.evicting) return false
    const untilMs = this.#runtime.monotonicMs() + TURN_TIMEOUT_MS
    for (;;) {
      const result = await work.rebuild(() =>
        sql.begin(async (tx) => {
          if (!(await lockRebuild(tx, sale.sale_id))) return 'busy'
          if (onlyIfFenced && (await gates.of(sale.sale_id).isOpen(idsOf(sale)))) return false
          return this.#rebuildNow(sale.sale_id)
        }),
      )
      if (result !== 'busy') return result
      if (!wait || this.#runtime.monotonicMs() > untilMs) return false
      await sleep(this.#runtime, TURN_EVERY_MS * (0.5 + this.#runtime.random()))
    }
  }

  /**
   * Restores the orders, the blocks and the counts of one moment. It comes after the fence, and after every
   * reservation of the gate before: whatever changes later tells the gate by its own call, before it opens or after.
   */
  async #rebuildNow(sale: string): Promise<boolean> {
    const { sql, gates, log } = this.#deps
    const startedMs = this.#runtime.monotonicMs()
    // Before their keys are forgotten: a repeated key must not get another order.
    await recordIntents(this.#deps, sale, 0)
    const rebuild = await gates.of(sale).fence()
    await recordIntents(this.#deps, sale, 0)
    const { live, open } = await sql.begin('isolation level repeatable read read only', async (moment) => {
      await allowPauses(moment)
      const live = await restoreOrders(rebuild, moment, sale)
      await rebuild.block(await blockedSeats(moment, sale))
      const counters = await readCounters(moment, sale)
      const open = await rebuild.open(counters.map((p) => ({ ...p, available: available(p) })))
      return { live, open }
    })
    const ms = Math.round(this.#runtime.monotonicMs() - startedMs)
    log.info({ sale, live, open, ms }, 'gate rebuilt')
    return open
  }
}

const idsOf = ({ products }: SaleRow) => products.map(({ product_id }) => product_id)

/** Returns how many of them are live. While the gate takes one chunk, the ledger reads the next. */
async function restoreOrders(rebuild: Rebuild, tx: Queryable, saleId: string): Promise<number> {
  let live = 0
  let restoring: Promise<void> = Promise.resolve()
  for await (const orders of ordersOf(tx, saleId)) {
    await restoring
    live += orders.filter(({ hasEnded }) => !hasEnded).length
    restoring = rebuild.restore(orders)
    restoring.catch(() => {})
  }
  await restoring
  return live
}
