/**
 * The transitions of an order. Each is one guarded statement in the ledger, so it happens once:
 *
 *     reserved ◀─▶ paying ─▶ confirmed ─▶ fulfilled
 *        └──▶ expired  └──▶ cancelled  └──▶ refunded
 *        └──▶ cancelled
 *
 * The ledger decides, and the fast gate is updated afterwards. If that update is lost, the reconciler finds the
 * difference.
 */

import type { Logger } from 'pino'
import * as v from 'valibot'
import { OrderId } from '../../shared/api/fields.ts'
import { PAYMENT_ATTEMPTS } from '../../shared/api/order-status.ts'
import { problem } from '../../shared/problem.ts'
import type { Metrics } from '../base/metrics.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import {
  type Advance,
  advanceOrders,
  findOrder,
  findOrders,
  heldBy,
  kindOf,
  moveOrders,
  type OrderRow,
  type OrderView,
  ordersOf,
  ordersOfAllSales,
  totalOf,
} from '../ledger/order-statements.ts'
import {
  beginPayments,
  type ChargeOf,
  confirmPaid,
  insertShopPayment,
  lockOrders,
  type Refund,
} from '../ledger/payment-statements.ts'
import type { PaymentAction } from '../ledger/schema/orders.ts'
import { type Move, TRANSITIONS } from '../ledger/transitions.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import { refuse } from '../lib/http/request.ts'
import type { Runtime } from '../lib/runtime.ts'
import { traced, traceparentNow } from '../lib/tracing.ts'
import type { Gates } from '../stock/gate/gate.ts'
import { holdEnd } from '../stock/gate/hold-ends.ts'
import type { OrderChanges } from './order-changes.ts'

/**
 * Payments begun in one transaction, the pause between two, and buyers waiting for theirs to begin; more get a "try
 * again". A charge takes longer than the pause.
 */
const PAYMENTS = { size: 200, queue: 5_000, pauseMs: 25 }

/** The `payment_method` of orders that were paid at the box office, or in the shop's own checkout. */
const BOX_OFFICE_METHOD = 'box_office'
const SHOP_METHOD = 'shop'
/** Where no provider has the money, whoever took it gives it back. */
const PAID_ELSEWHERE: readonly (string | null)[] = [BOX_OFFICE_METHOD, SHOP_METHOD]

interface OrdersDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly changes: Pick<OrderChanges, 'publish'>
  /** Queues refunds in the transaction that asks for them. */
  readonly charges: {
    addRefunds(tx: Queryable, refunds: readonly Refund[]): Promise<unknown>
  }
  /** How long a charge may wait for its buyer. */
  readonly actionSeconds: number
  readonly metrics: Pick<Metrics, 'orders'>
  readonly log: Logger
  /** Left out: the machine's. */
  readonly runtime?: Runtime
}

/** A payment that begins. */
interface Begun {
  readonly orderId: string
  readonly method: string
  readonly trace: string | undefined
}

/** An attempt to pay an order. */
interface Attempt {
  readonly order: string
  readonly attempt: number
}

/** Statuses in which an order has ended, or ends, its hold. */
const ENDS: readonly (OrderRow['status'] | undefined)[] = ['confirmed', 'expired', 'cancelled']

export class Orders {
  readonly #deps: OrdersDeps
  /** Batched by sale, so that locked orders delay the payments of their own sale only. */
  readonly #payments: BatcherByKey<Begun, OrderRow | undefined>

  constructor(deps: OrdersDeps) {
    this.#deps = deps
    this.#payments = new BatcherByKey(PAYMENTS, (_sale, payments) => this.#begin(payments), deps.runtime)
  }

  find(orderId: string): Promise<OrderView | undefined> {
    return findOrder(this.#deps.sql, orderId)
  }

  /** A visitor's orders of a sale, or of all sales, the latest first. */
  ofVisitor(saleId: string | null, visitor: string, within: { readonly days: number; readonly limit: number }) {
    const { sql } = this.#deps
    return saleId === null ? ordersOfAllSales(sql, visitor, within) : ordersOf(sql, saleId, visitor, within)
  }

  /**
   * Moves an order to `paying` and queues its charge; undefined if the order is not reserved any more, or its hold
   * has ended.
   */
  pay(saleId: string, orderId: string, method: string): Promise<OrderRow | undefined> {
    return this.#payments.add(saleId, { orderId, method, trace: traceparentNow() })
  }

  async #begin(payments: readonly Begun[]): Promise<(OrderRow | undefined)[]> {
    const moved = await beginPayments(
      this.#deps.sql,
      payments.map(({ orderId: order, method, trace }) => ({ order, method, trace })),
    )
    this.#changed(moved)
    const byId = new Map(moved.map((o) => [o.order_id, o]))
    return payments.map(({ orderId }) => byId.get(orderId))
  }

  /** Begins the payment of an order that came with its method, without waiting. If this fails, a worker begins it. */
  beginPayment(order: OrderRow): void {
    if (!order.payment_method) return
    const { sale_id, order_id, payment_method } = order
    this.pay(sale_id, order_id, payment_method).catch((error) =>
      this.#deps.log.warn({ order: order_id, error: String(error) }, 'payment not begun; a worker retries'),
    )
  }

  /**
   * Confirms the orders of authorized charges that still wait for it. Queues captures for those and no others, and
   * returns them.
   */
  async confirm(paid: readonly ChargeOf[]): Promise<OrderRow[]> {
    if (paid.length === 0) return []
    const confirming = async () => confirmPaid(this.#deps.sql, paid)
    const confirmed = await traced('confirm in ledger', confirming, { 'batch.size': paid.length })
    await this.#moved(confirmed, 'confirmed')
    return confirmed
  }

  /** The charge of an attempt waits for its buyer, and the hold with it. */
  async requireAction(waits: readonly (Attempt & { readonly action: PaymentAction })[]): Promise<void> {
    const { sql, actionSeconds } = this.#deps
    this.#changed(await advanceOrders(sql, waits, TRANSITIONS.awaitBuyer, actionSeconds))
  }

  /**
   * Ends declined attempts: the order keeps its hold for another one, and is cancelled after the last or where the
   * hold has ended.
   */
  async decline(declined: readonly (Attempt & { readonly declineCode: string })[]): Promise<void> {
    const found = await findOrders(
      this.#deps.sql,
      declined.map(({ order }) => order),
    )
    const held = new Set(found.filter(({ left_ms }) => left_ms > 0).map(({ order_id }) => order_id))
    const isLast = ({ order, attempt }: Attempt) => attempt >= PAYMENT_ATTEMPTS || !held.has(order)
    await this.#advance(
      declined.filter((one) => !isLast(one)),
      TRANSITIONS.declineAttempt,
    )
    await this.#advance(declined.filter(isLast), TRANSITIONS.declineLast)
  }

  /** Cancels an order whose buyer never authenticated the payment. */
  abandon = (attempt: Attempt) => this.#advance([attempt], TRANSITIONS.abandon)

  /** Confirms an order that costs nothing, without a charge. */
  confirmFree = (orderId: string) => this.#moveOne(orderId, TRANSITIONS.confirmFree)

  /**
   * Confirms an order that was paid at the box office, without a charge; undefined if its hold has ended. Its payment
   * method says so: no provider has its money.
   */
  async confirmAtBoxOffice(orderId: string, operator: string): Promise<OrderRow | undefined> {
    const advance = { order: orderId, method: BOX_OFFICE_METHOD }
    const [confirmed] = await this.#deps.sql.begin(async (tx) => {
      const moved = await advanceOrders(tx, [advance], TRANSITIONS.confirmAtBoxOffice)
      await audit(
        tx,
        moved.map((order) => ({
          actor: operator,
          action: 'sold at the box office',
          sale: order.sale_id,
          order: orderId,
          after: { units: order.quantity, total_minor: totalOf(order) },
        })),
      )
      return moved
    })
    if (confirmed) await this.#moved([confirmed], 'confirmed')
    return confirmed
  }

  /**
   * Confirms a hold that the shop has sold in its own checkout, under the shop's name of the payment; undefined if the
   * hold has ended.
   */
  async confirmByShop(orderId: string, reference: string): Promise<OrderRow | undefined> {
    const [confirmed] = await this.#deps.sql.begin(async (tx) => {
      const moved = await advanceOrders(tx, [{ order: orderId, method: SHOP_METHOD }], TRANSITIONS.confirmByShop)
      for (const { sale_id: sale } of moved) {
        await insertShopPayment(tx, orderId, reference)
        await audit(tx, [{ actor: 'shop', action: 'sold by the shop', sale, order: orderId, after: { reference } }])
      }
      return moved
    })
    if (confirmed) await this.#moved([confirmed], 'confirmed')
    return confirmed
  }

  giveBack = (orderId: string) => this.#moveOne(orderId, TRANSITIONS.giveBack)

  timeOut = (orderId: string) => this.#moveOne(orderId, TRANSITIONS.timeOut)

  /**
   * Cancels an order for the shop: its units come back, and its money too. A charge that waits for its buyer is
   * voided, and one that is authorized later is given back when it is reported. Returns the order, and whether this
   * call cancelled it; undefined if it is unknown.
   */
  async cancelByShop(orderId: string, by: { operator: string; reason?: string | undefined }) {
    const { sql, charges } = this.#deps
    const result = await sql.begin(async (tx) => {
      const [before] = await lockOrders(tx, [orderId])
      if (!before) return undefined
      const { status, sale_id: sale } = before
      const isElsewhere = status === 'confirmed' && PAID_ELSEWHERE.includes(before.payment_method)
      const refundedMinor = isElsewhere ? totalOf(before) : before.refunded_minor
      const [moved] = await advanceOrders(tx, [{ order: orderId, refundedMinor }], TRANSITIONS.cancelByShop)
      if (!moved) return { order: before, isNew: false, wasSold: false }
      const charge = status === 'confirmed' ? before.charge_id : before.action?.charge
      if (charge)
        await charges.addRefunds(tx, [{ charge, order: orderId, reason: by.reason ?? 'cancelled by the shop' }])
      const after = { status: 'cancelled', ...(charge && { refund: charge }), ...(by.reason && { reason: by.reason }) }
      const entry = { actor: by.operator, action: 'cancelled', sale, order: orderId }
      await audit(tx, [{ ...entry, before: { status }, after }])
      return { order: moved, isNew: true, wasSold: status === 'confirmed' }
    })
    if (result?.isNew) await this.#moved([result.order], 'cancelled')
    return result
  }

  /** Marks a paid order as handed over, once. Repeats return the same order; undefined if it is unknown or not paid. */
  async fulfil(orderId: string, operator: string): Promise<OrderRow | undefined> {
    const [fulfilled] = await this.#deps.sql.begin(async (tx) => {
      const moved = await moveOrders(tx, [orderId], TRANSITIONS.fulfil)
      await audit(
        tx,
        moved.map(({ sale_id: sale }) => ({
          actor: operator,
          action: 'fulfilled',
          sale,
          order: orderId,
          before: { status: 'confirmed' },
          after: { status: 'fulfilled' },
        })),
      )
      return moved
    })
    if (fulfilled) await this.#moved([fulfilled], 'fulfilled')
    const found = fulfilled ?? (await findOrder(this.#deps.sql, orderId))
    return found?.status === 'fulfilled' ? found : undefined
  }

  expire = (orderIds: readonly string[]) => this.move(orderIds, TRANSITIONS.expire)

  async #moveOne(orderId: string, move: Move): Promise<OrderRow | undefined> {
    const [moved] = await this.move([orderId], move)
    return moved
  }

  /** Cancels what a blocked visitor holds in these sales. Orders that are being paid finish. */
  async takeFrom(visitor: string, saleIds: readonly string[], operator: string): Promise<void> {
    const cancelled = await this.#deps.sql.begin(async (tx) => {
      const held = await heldBy(tx, visitor, saleIds)
      const moved = await moveOrders(tx, held, TRANSITIONS.block)
      const by = { actor: operator, action: 'blocked', before: 'reserved', after: 'cancelled' }
      await audit(
        tx,
        moved.map((o) => ({ ...by, sale: o.sale_id, product: o.product_id, order: o.order_id })),
      )
      return moved
    })
    await this.#moved(cancelled, 'cancelled')
  }

  /** One transition of many orders, first in the ledger, then at the gate. Returns those that made it. */
  move(orderIds: readonly string[], move: Move): Promise<OrderRow[]> {
    return this.#advance(
      orderIds.map((order) => ({ order })),
      move,
    )
  }

  async #advance(advances: readonly Advance[], move: Move): Promise<OrderRow[]> {
    const moved = await advanceOrders(this.#deps.sql, advances, move)
    await this.#moved(moved, move.to)
    return moved
  }

  async #moved(orders: readonly OrderRow[], to: Move['to']): Promise<void> {
    this.#changed(orders)
    if (!ENDS.includes(to)) return
    for (const [saleId, ended] of Map.groupBy(orders, ({ sale_id }) => sale_id)) {
      await this.#deps.gates
        .of(saleId)
        .settle(ended.map(holdEnd))
        .catch((error) => this.#deps.log.warn({ error: String(error) }, 'gate not updated; the reconciler heals it'))
    }
  }

  /** After the commit. */
  #changed(moved: readonly OrderRow[]): void {
    this.#deps.changes.publish(moved.map(({ order_id }) => order_id))
    for (const { sale_id: sale, status, reason } of moved)
      this.#deps.metrics.orders.inc({ sale, status, ...(reason !== null && { reason: kindOf(reason) }) })
  }
}

/** The order with this id, and of this sale if `saleId` is given; throws `unknown-order` otherwise. */
export async function requireOrder(sql: Sql, orderId: string, saleId?: string): Promise<OrderView> {
  const found = v.is(OrderId, orderId) ? await findOrder(sql, orderId) : undefined
  return found && (saleId ?? found.sale_id) === found.sale_id ? found : refuse(problem('unknown-order'))
}
