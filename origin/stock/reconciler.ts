/**
 * The reconciler: compares the fast gate with the ledger, and the ledger with itself, and puts right what differs. The
 * ledger is what is true; the gate is rebuilt from it whenever it differs for longer than things are in flight, and
 * always before it is used in a new run of Redis. Meanwhile the exact gate serves alone.
 */

import type { Logger } from 'pino'
import type { OversellPolicy } from '../../shared/api/operator.ts'
import { HELD, LIVE, SOLD } from '../../shared/order-status.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { audit, close, note } from '../ledger/findings.ts'
import type { ProductRow } from '../ledger/sales.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { PaymentJobs } from '../payments/jobs.ts'
import { available, productsInUse, type Sales } from '../sales/sales.ts'
import type { HoldEnd, LiveOrder, Rebuild } from './gate.ts'
import type { Gates } from './gates.ts'
import { recordIntents } from './intent-recorder.ts'
import { type Recount, recount } from './oversell.ts'
import type { ProductWork } from './product-work.ts'
import { noteCompared } from './reconciliation-status.ts'
import type { Store } from './scripts.ts'

export interface ReconcilerDeps {
  readonly sql: Sql
  readonly redis: Store
  readonly sales: Sales
  readonly gates: Gates
  readonly payments: { readonly jobs: Pick<PaymentJobs, 'addRefunds'> }
  readonly work: ProductWork
  readonly metrics: Metrics
  readonly log: Logger
}
type Deps = ReconcilerDeps

export interface Finding {
  readonly product_id: string
  /** fenced: the gate was not in use; drift: it counted otherwise than the ledger; ok: nothing to do. */
  readonly found: 'ok' | 'fenced' | 'drift'
  /** Units the gate had too many (positive) or too few (negative). */
  readonly drift: number
  readonly healed: boolean
  readonly ledger: { total: number; available: number; held: number; sold: number }
  /** What counting the orders came to, where they were counted. */
  readonly recount?: Recount
}

interface ReconcileOptions {
  /** Rebuilds the gates whatever they say. */
  readonly force?: boolean
  /** Counts the orders as well. */
  readonly recount?: boolean
  /** An operator's decision about what was sold too many. */
  readonly oversell?: OversellPolicy
}

const READ_CHUNK = 5_000

/** Compares and heals every product of a sale now. */
export async function reconcileSale(
  deps: Deps,
  sale: string,
  options: ReconcileOptions = {},
): Promise<{ sale: string; findings: Finding[] }> {
  await deps.sales.refresh()
  const findings: Finding[] = []
  for (const { product_id } of (await deps.sales.find(sale))?.products ?? []) {
    findings.push(await reconcileProduct(deps, sale, product_id, options))
  }
  return { sale, findings }
}

/** Counting the orders reads all of them: not in every round. */
const RECOUNT_EVERY_MS = 30_000
/** A million orders are read back in half of it; a start waits for that, so that nobody meets a cold gate. */
const RECONCILED_WITHIN_MS = 30_000

/** Rounds over every product in use. */
export class Reconciler {
  readonly #deps: Deps
  /** When the orders of a product were counted last; null while it is oversold, which is watched. */
  readonly #countedAtMs = new Map<string, number | null>()

  constructor(deps: Deps) {
    this.#deps = deps
  }

  async round(): Promise<void> {
    await this.#deps.sales.refresh()
    await this.#deps.work.each(
      'reconciler',
      productsInUse(this.#deps.sales),
      ({ sale, product }) => this.#reconcile(sale, product),
      RECONCILED_WITHIN_MS,
    )
  }

  /**
   * Between the rounds: a gate that is out of use is put to use again as soon as that is seen. What waits in it is counted
   * here, and not where it is recorded, which takes long while the ledger is away.
   */
  async watch(): Promise<void> {
    const { gates, metrics } = this.#deps
    const mend = async (one: { sale: string; product: string }) => {
      const gate = gates.of(one.sale, one.product)
      const seen = await Promise.all([gate.isOpen(), gate.countIntents()]).catch((error) => {
        metrics.gateOpen.set(one, 0)
        throw error
      })
      const [isOpen, waiting] = seen
      metrics.gateOpen.set(one, isOpen ? 1 : 0)
      metrics.intents.set(one, waiting)
      if (!isOpen) await reconcileProduct(this.#deps, one.sale, one.product, {})
    }
    const all = productsInUse(this.#deps.sales)
    await this.#deps.work.each('gate watch', all, mend, RECONCILED_WITHIN_MS)
  }

  async #reconcile(sale: string, product: string): Promise<void> {
    const name = `${sale}:${product}`
    const last = this.#countedAtMs.get(name)
    const due = last === undefined || last === null || performance.now() - last > RECOUNT_EVERY_MS
    const finding = await reconcileProduct(this.#deps, sale, product, { recount: due })
    await this.#deps.gates.of(sale, product).extendExpiry()
    if (!due) return
    const watch = finding.recount?.found === 'oversold' && !finding.recount.healed
    this.#countedAtMs.set(name, watch ? null : performance.now())
  }
}

/** A difference must be seen this often, so far apart, to be one: what is in flight settles meanwhile. */
const LOOKS = 3
const LOOK_EVERY_MS = 150

async function reconcileProduct(
  deps: Deps,
  sale: string,
  product: string,
  { force = false, recount: counting = false, oversell }: ReconcileOptions,
): Promise<Finding> {
  const about = { sale, product }
  const compared = (kind: 'gate' | 'orders', holds: boolean) =>
    noteCompared(deps.redis, about, kind, holds, deps.sales.nowMs())
  const counted = counting || oversell ? await recount(deps, sale, product, oversell) : undefined
  if (counted) await compared('orders', counted.found === 'ok')
  // Rows that were put right are not what the gate was loaded from.
  const stale = counted !== undefined && counted.found !== 'ok'
  let looked = await look(deps, sale, product)
  for (let looks = 1; !force && !stale && looked.found === 'drift' && looks < LOOKS; looks++) {
    await new Promise((resolve) => setTimeout(resolve, LOOK_EVERY_MS))
    const again = await look(deps, sale, product)
    const moving = again.drift !== looked.drift || again.heldDrift !== looked.heldDrift
    looked = again.found === 'drift' && moving ? { ...again, found: 'ok' } : again
  }
  const { heldDrift, ...told } = looked
  const finding: Finding = { ...told, ...(counted && { recount: counted }) }
  // What was changed on purpose differs until the gate is told, which is no fault.
  const drifts = finding.found === 'drift' && !force
  deps.metrics.drift.set({ ...about, state: 'available' }, drifts ? finding.drift : 0)
  deps.metrics.drift.set({ ...about, state: 'held' }, drifts ? heldDrift : 0)
  if (drifts || finding.found === 'ok') await compared('gate', !drifts)
  if (finding.found === 'ok' && !force) return finding
  const onlyFenced = finding.found === 'fenced' && !force && !stale
  const healed = await rebuild(deps, sale, product, { wait: force, onlyFenced })
  if (healed && !drifts) await compared('gate', true)
  if (healed && !force) await remember(deps, sale, product, finding, heldDrift)
  return { ...finding, healed }
}

/** Leaves what was found, and what was done about it. */
async function remember(
  deps: Deps,
  sale: string,
  product: string,
  { found, drift, ledger }: Finding,
  heldDrift: number,
): Promise<void> {
  if (found === 'ok') return
  // Nothing is held or sold: mostly a sale that is just being created, and its gate was never loaded.
  if (found === 'fenced' && ledger.held + ledger.sold === 0) return
  deps.log.warn(
    { sale, product, found, drift, heldDrift },
    'the gate differed from the ledger, and was rebuilt',
  )
  deps.metrics.findings.inc({ sale, kind: found })
  await deps.sql.begin(async (tx) => {
    await note(tx, { sale, product, kind: found, units: drift, detail: { ledger, held: heldDrift } })
    await close(tx, sale, product, found, 'gate rebuilt from the ledger')
    const action = 'gate rebuilt from the ledger'
    const before = { found, available: ledger.available + drift, held: ledger.held + heldDrift }
    const after = { available: ledger.available, held: ledger.held }
    await audit(tx, [{ actor: 'reconciler', action, sale, product, before, after }])
  })
}

async function look(deps: Deps, sale: string, product: string): Promise<Finding & { heldDrift: number }> {
  const gate = deps.gates.of(sale, product)
  const stock = await gate.stock()
  const waiting = await gate.intents(READ_CHUNK)
  const unrecorded = waiting.reduce((units, { intent }) => units + (intent?.quantity ?? 0), 0)
  const row = await readProduct(deps.sql, sale, product)
  const ledger = { total: row.total, available: available(row), held: row.held, sold: row.sold }
  for (const state of ['available', 'held', 'sold'] as const)
    deps.metrics.stock.set({ sale, product, state }, ledger[state])
  // A stream too long to be read at once says nothing exact; it is being worked off.
  const exact = stock !== null && waiting.length < READ_CHUNK
  const drift = exact ? stock.available + unrecorded - ledger.available : 0
  const heldDrift = exact ? stock.held - unrecorded - ledger.held : 0
  const differs = drift !== 0 || heldDrift !== 0
  return {
    product_id: product,
    found: stock === null ? 'fenced' : differs ? 'drift' : 'ok',
    drift,
    heldDrift,
    healed: false,
    ledger,
  }
}

/** An operator's change waits so long for a rebuild under way, looking so often; no connection is kept meanwhile. */
const TURN_WITHIN_MS = 10_000
const TURN_EVERY_MS = 50

interface RebuildOptions {
  /** Waits for its turn. */
  readonly wait: boolean
  /** The gate was seen to be out of use, which is all that is wrong: a rebuild under way may have mended it by then. */
  readonly onlyFenced: boolean
}

async function rebuild(
  deps: Deps,
  sale: string,
  product: string,
  { wait, onlyFenced }: RebuildOptions,
): Promise<boolean> {
  const until = performance.now() + TURN_WITHIN_MS
  for (;;) {
    const opened = await rebuildAlone(deps, sale, product, onlyFenced)
    if (opened !== 'busy') return opened
    if (!wait || performance.now() > until) return false
    await new Promise((resolve) => setTimeout(resolve, TURN_EVERY_MS * (0.5 + Math.random())))
  }
}

/**
 * One at a time per product: a second rebuild in between would put back what has ended since. The lock is a
 * transaction's, which ends with its connection, and which may be idle for as long as a rebuild may take.
 */
async function rebuildAlone(
  deps: Deps,
  sale: string,
  product: string,
  onlyFenced: boolean,
): Promise<boolean | 'busy'> {
  return deps.work.rebuild(() =>
    deps.sql.begin(async (tx) => {
      const [lock] = await tx<{ taken: boolean }[]>`
        select pg_try_advisory_xact_lock(hashtextextended(${`rebuild ${sale}:${product}`}, 0)) as taken,
          set_config('idle_in_transaction_session_timeout', '10min', true)`
      if (!lock?.taken) return 'busy'
      if (onlyFenced && (await deps.gates.of(sale, product).isOpen())) return false
      return rebuildNow(deps, tx, sale, product)
    }),
  )
}

/**
 * Fence, record what has come into the stream meanwhile, read what lives, put it back, put in what has begun and take out
 * what has ended by then, open. The counts are read last; what the exact gate sells later it tells the gate itself. Of an order
 * that begins after what lives was read, and is sold before the counts are, the gate need not know: it holds no unit, and the
 * ledger, which is asked last, knows its key and its visitor.
 */
async function rebuildNow(deps: Deps, tx: Queryable, sale: string, product: string): Promise<boolean> {
  const { sql, log } = deps
  const began = performance.now()
  // Those whose keys are forgotten next have their orders before: asked for again, they are not given others.
  await recordIntents(deps, sale, product, 0)
  const rebuild = await deps.gates.of(sale, product).fence()
  await recordIntents(deps, sale, product, 0)
  const since = await oldestUnderWay(sql)
  const live = await restore(rebuild, tx, sale, product)
  const row = await readSince(sql, sale, product, since)
  await rebuild.restore(row.begun)
  await rebuild.settle(row.ended)
  const open = await rebuild.open({ available: available(row), held: row.held })
  log.info({ sale, product, live, open, ms: Math.round(performance.now() - began) }, 'gate rebuilt')
  return open
}

/** Puts the live orders back into the gate; returns how many. */
async function restore(rebuild: Rebuild, tx: Queryable, sale: string, product: string): Promise<number> {
  let live = 0
  // While the gate takes one chunk, the ledger reads the next.
  let restoring: Promise<void> = Promise.resolve()
  for await (const orders of liveOrdersOf(tx, sale, product)) {
    await restoring
    live += orders.length
    restoring = rebuild.restore(orders)
    restoring.catch(() => {})
  }
  await restoring
  return live
}

/**
 * The live orders of a product as they are at one moment, each read once, within a transaction. Not in pages: by which way
 * Postgres comes to the next page depends on how many orders it believes there are, and the wrong one reads all other sales'
 * orders first, or all of this one's for each page.
 */
export async function* liveOrdersOf(
  tx: Queryable,
  sale: string,
  product: string,
): AsyncGenerator<LiveOrder[]> {
  // By itself it is planned for who reads the first few and stops.
  await tx`select set_config('cursor_tuple_fraction', '1', true)`
  await tx`
    declare live no scroll cursor for
    select order_id as "order", visitor, idempotency_key as key, request_hash as hash, quantity,
      case when status in ${tx(HELD)} then extract(epoch from reserved_until)::float8 * 1000 end as "holdEndsAtMs"
    from orders
    where sale_id = ${sale} and product_id = ${product} and status in ${tx(LIVE)}`
  for (;;) {
    const orders = await tx.unsafe<LiveOrder[]>(`fetch ${READ_CHUNK} from live`)
    if (orders.length === 0) return
    yield orders
  }
}

/** The oldest transaction that is not over. */
async function oldestUnderWay(sql: Sql): Promise<string> {
  const [row] = await sql<{ xid: string }[]>`select pg_snapshot_xmin(pg_current_snapshot())::xid::text as xid`
  if (!row) throw new Error('the ledger did not answer')
  return row.xid
}

interface Since extends ProductRow {
  readonly begun: LiveOrder[]
  readonly ended: HoldEnd[]
}

/**
 * The counts, and the orders that were changed by `since` or a later transaction, by whether they hold units: one statement,
 * one snapshot, so that each is in the counts as it is here. Not by updated_at, which is written some time before the commit.
 */
async function readSince(sql: Sql, sale: string, product: string, since: string): Promise<Since> {
  const [row] = await sql<Since[]>`
    select product_id, name, unit_price_minor, currency, total, held, sold, (
      select coalesce(json_agg(json_build_object('order', order_id, 'visitor', visitor, 'key', idempotency_key,
          'hash', request_hash, 'quantity', quantity, 'holdEndsAtMs', extract(epoch from reserved_until)::float8 * 1000)), '[]')
      from orders o
      where o.sale_id = p.sale_id and o.product_id = p.product_id and status in ${sql(HELD)}
        and age(o.xmin) <= age(${since}::xid)) as begun, (
      select coalesce(json_agg(json_build_object('order', order_id, 'visitor', visitor, 'quantity', quantity,
          'key', idempotency_key, 'how', case when status in ${sql(SOLD)} then 'sell' else 'release' end)), '[]')
      from orders o
      where o.sale_id = p.sale_id and o.product_id = p.product_id and status not in ${sql(HELD)}
        and age(o.xmin) <= age(${since}::xid)) as ended
    from products p where sale_id = ${sale} and product_id = ${product}`
  if (!row) throw new Error(`no product ${product} in sale ${sale}`)
  return row
}

async function readProduct(sql: Sql, sale: string, product: string): Promise<ProductRow> {
  const [row] = await sql<ProductRow[]>`
    select product_id, name, unit_price_minor, currency, total, held, sold from products
    where sale_id = ${sale} and product_id = ${product}`
  if (!row) throw new Error(`no product ${product} in sale ${sale}`)
  return row
}
