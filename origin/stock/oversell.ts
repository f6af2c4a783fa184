/**
 * Compares the ledger with itself: its counters must be the sum of its orders, and that sum at most what is for sale.
 * A restored backup, a repair by hand or a bug might break that. Counters are repaired only against the version of
 * the row counted.
 */
import type { Logger } from 'pino'
import type { OversellPolicy } from '../../shared/api/operators/sale-config.ts'
import type { Metrics } from '../base/metrics.ts'
import { close, note } from '../findings/finding-queries.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import type { Refund } from '../ledger/payment-statements.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'
import { forSale } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import {
  countOrders,
  findOrderCount,
  lockAndCount,
  lockLatestOrders,
  miscountedCodes,
  type OrderCount,
  type ProductRef,
  setCounters,
} from './reconciliation-queries.ts'

/**
 * Above this share of the total a person decides, whatever the policy says: so large an oversell has an unknown
 * cause.
 */
const MAX_AUTOMATIC_SHARE = 0.05
/** Attempts to count the orders of a product whose row changes meanwhile. */
const ATTEMPTS = 5

export interface RecountDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'get'>
  readonly refunds: { addRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<unknown> }
  readonly metrics: Pick<Metrics, 'oversold' | 'findings' | 'orders'>
  readonly log: Logger
}

/** An operator's decision, which overrides the sale's policy. */
export interface Decision {
  readonly policy: OversellPolicy
  readonly operator: string
}

export interface Recount {
  readonly found: 'ok' | 'miscounted' | 'oversold'
  /** Units by which the counters were wrong, or by which live orders exceed the total. */
  readonly units: number
  readonly healed: boolean
  /** What was done about the oversell, or which decision it waits for. */
  readonly outcome?: string
}

const OK: Recount = { found: 'ok', units: 0, healed: false }
const CORRECTED = 'counters set to the sum of the orders'

/** Counts the orders of a product and repairs its row. An operator's decision overrides the sale's oversell policy. */
export async function recount(deps: RecountDeps, ref: ProductRef, decision?: Decision): Promise<Recount> {
  const { sql, metrics, log } = deps
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const seen = await findOrderCount(sql, ref)
    // Removed since the sale was read: it has no orders.
    if (!seen) return OK
    const excess = seen.orders.held + seen.orders.sold - forSale(seen)
    metrics.oversold.set(ref, Math.max(0, excess))
    if (excess > 0) return resolveOversell(deps, ref, seen, excess, decision)
    const isRight = seen.held === seen.orders.held && seen.sold === seen.orders.sold
    if (!isRight && !(await correct(deps, ref, seen, seen.orders, CORRECTED))) continue
    // The finding is closed after the row is repaired: while it is open, the ledger counts the orders before it sells.
    await close(sql, ref.sale, ref.product, 'oversold', 'no longer so')
    if (isRight) return OK
    log.error({ ...ref, counters: seen }, 'counters were not the sum of orders')
    const units = seen.held + seen.sold - seen.orders.held - seen.orders.sold
    return { found: 'miscounted', units, healed: true, outcome: CORRECTED }
  }
  // The row changed during each count: the next round tries again.
  return OK
}

/**
 * The same for the promo codes of a sale, of which one used too often concerns nobody's order. Returns whether any
 * was wrong.
 */
export async function recountCodes(deps: RecountDeps, sale: string): Promise<boolean> {
  const wrong = await miscountedCodes(deps.sql, sale)
  for (const { product, ...seen } of wrong) {
    deps.log.error({ sale, product, counters: seen }, 'uses of a promo code were not the sum of orders')
    await correct(deps, { sale, product }, seen, seen.orders, CORRECTED)
  }
  return wrong.length > 0
}

/** Sets the counters, if the row is still as it was counted. */
function correct(
  { sql, metrics }: RecountDeps,
  ref: ProductRef,
  seen: OrderCount,
  after: { held: number; sold: number },
  action: string,
): Promise<boolean> {
  return sql.begin(async (tx) => {
    const counters = { ...after, total: seen.total, buffer: seen.buffer }
    if (!(await setCounters(tx, ref, counters, seen.version))) return false
    const units = seen.held + seen.sold - after.held - after.sold
    await note(tx, { ...ref, kind: 'miscounted', units, detail: { counters: seen } })
    await close(tx, ref.sale, ref.product, 'miscounted', action)
    const before = { held: seen.held, sold: seen.sold }
    await audit(tx, [{ ...ref, actor: 'reconciler', action, before, after }])
    metrics.findings.inc({ sale: ref.sale, kind: 'miscounted' })
    return true
  })
}

/** Stops the sale of further units, then follows the decision or the policy. */
async function resolveOversell(
  deps: RecountDeps,
  ref: ProductRef,
  seen: OrderCount,
  excess: number,
  decision: Decision | undefined,
): Promise<Recount> {
  const { sql, sales, metrics, log } = deps
  const configured = sales.get(ref.sale)?.oversell_policy ?? 'alarm'
  const policy = decision?.policy ?? (excess > seen.total * MAX_AUTOMATIC_SHARE ? 'alarm' : configured)
  const reason = configured === 'alarm' ? 'policy is to alarm' : 'too many for the policy alone'
  log.error({ ...ref, excess, total: seen.total, policy }, 'live orders exceed the stock')
  metrics.findings.inc({ sale: ref.sale, kind: 'oversold' })
  const detail = { total: seen.total, buffer: seen.buffer, orders: seen.orders, policy }
  await note(sql, {
    ...ref,
    kind: 'oversold',
    units: excess,
    detail: policy === 'alarm' ? { ...detail, waits_for_a_person: reason } : detail,
  })
  // The product must not sell more. The row ensures it until the next order ends; after that record_reservations
  // counts the orders, because the finding is open.
  const sold = Math.min(seen.orders.sold, forSale(seen))
  const full = { sold, held: forSale(seen) - sold }
  if (seen.held + seen.sold < forSale(seen)) await correct(deps, ref, seen, full, 'closed, being oversold')
  if (policy === 'alarm') return { found: 'oversold', units: excess, healed: false, outcome: `waiting: ${reason}` }
  const resolve = policy === 'cancel_latest' ? cancelLatest : fulfilFromBuffer
  const healed = await resolve(deps, ref, decision?.operator ?? 'reconciler')
  if (healed) metrics.oversold.set(ref, 0)
  const outcome = healed || policy === 'cancel_latest' ? policy : 'waiting: the buffer has too few units'
  return { found: 'oversold', units: excess, healed, outcome }
}

/** Cancels and refunds the latest orders until the others can be served. Returns false if that is not enough. */
async function cancelLatest(deps: RecountDeps, ref: ProductRef, actor: string): Promise<boolean> {
  const { sql, refunds, metrics } = deps
  const { cancelled, served } = await sql.begin(async (tx) => {
    const { orders: all, ...counted } = await lockAndCount(tx, ref)
    const { total, buffer } = counted
    const statuses = await lockLatestOrders(tx, ref, all.held + all.sold - forSale(counted))
    const cancelled = await moveOrders(tx, [...statuses.keys()], TRANSITIONS.cancelOversold)
    const owed = cancelled.flatMap(({ order_id, charge_id }): Refund[] =>
      charge_id ? [{ charge: charge_id, order: order_id, reason: 'oversold' }] : [],
    )
    await refunds.addRefunds(tx, owed)
    const changes = cancelled.map(({ order_id: order, charge_id }) => ({
      ...ref,
      actor,
      action: 'cancelled the latest, being oversold',
      order,
      before: { status: statuses.get(order) },
      after: { status: 'cancelled', ...(charge_id && { refund: charge_id }) },
    }))
    await audit(tx, changes)
    const { orders } = await countOrders(tx, ref)
    await setCounters(tx, ref, { total, buffer, ...atMost(forSale(counted), orders) })
    const served = orders.held + orders.sold <= forSale(counted)
    if (served) await close(tx, ref.sale, ref.product, 'oversold', `cancelled the latest ${cancelled.length}`)
    return { cancelled: cancelled.length, served }
  })
  metrics.orders.inc({ sale: ref.sale, status: 'cancelled', reason: 'oversold' }, cancelled)
  return served
}

/** The row's counters for so many live orders: a check of the table limits them to the units for sale. */
function atMost(units: number, orders: OrderCount['orders']) {
  const sold = Math.min(orders.sold, units)
  return { sold, held: Math.min(orders.held, units - sold) }
}

/** Serves the excess orders from the buffer, the units withheld from sale. Returns false if the buffer is too small. */
function fulfilFromBuffer({ sql }: RecountDeps, ref: ProductRef, actor: string): Promise<boolean> {
  return sql.begin(async (tx) => {
    const { orders, version: _, ...before } = await lockAndCount(tx, ref)
    const { total } = before
    const live = orders.held + orders.sold
    const taken = Math.min(Math.max(0, live - forSale(before)), before.buffer)
    const served = live - taken <= forSale(before)
    if (taken === 0 && !served) return false
    const buffer = before.buffer - taken
    const after = { total, buffer, ...atMost(total - buffer, orders) }
    await setCounters(tx, ref, after)
    await audit(tx, [{ actor, action: 'fulfilled from the buffer', ...ref, before, after }])
    if (served) await close(tx, ref.sale, ref.product, 'oversold', `fulfilled ${taken} from the buffer`)
    return served
  })
}
