/**
 * What may become of an order, each step one guarded statement in the ledger, so that it happens once:
 *
 *     reserved ─▶ paying ─▶ confirmed ─▶ fulfilled
 *        └──▶ expired   └──▶ cancelled
 *        └──▶ cancelled
 *
 * The ledger decides; the fast gate is told afterwards. Should that be lost, the reconciler finds the difference.
 */
import type { Logger } from 'pino'
import { kindOf } from '../checkout/outcome.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { findOrder, type Move, moveOrders, type OrderRow } from '../ledger/orders.ts'
import { Batcher } from '../lib/batcher.ts'
import type { Metrics } from '../lib/metrics.ts'
import type { ChargeOf } from '../payments/provider.ts'
import type { HoldEnd } from '../stock/gate.ts'
import type { Gates } from '../stock/gates.ts'

/** Puts charges and captures on their way, in the transaction that asks for them. */
interface ChargeQueue {
  addCharges(tx: Queryable, orders: readonly string[]): Promise<void>
  addCaptures(tx: Queryable, captures: readonly ChargeOf[]): Promise<void>
}

/** Payments begun in one transaction, as orders are recorded in one: see checkout.ts. */
const PAYMENT_BATCH = 200
/** Buyers waiting for their payment to begin; more are told to try again. */
const PAYMENT_QUEUE = 5_000

interface OrdersDeps {
  readonly sql: Sql
  readonly gates: Gates
  readonly charges: ChargeQueue
  readonly metrics: Metrics
  readonly log: Logger
}

/** What the gate does when an order comes to a status; nothing for those that end no hold. */
const HOLD_ENDS: Partial<Record<OrderRow['status'], 'release' | 'sell'>> = {
  confirmed: 'sell',
  expired: 'release',
  cancelled: 'release',
}

/** The end of an order's hold, as the gate is told of it. */
export const holdEnd = (order: OrderRow, how: HoldEnd['how']): HoldEnd => ({
  order: order.order_id,
  visitor: order.visitor,
  quantity: order.quantity,
  key: order.idempotency_key,
  how,
})

export class Orders {
  readonly #deps: OrdersDeps
  constructor(deps: OrdersDeps) {
    this.#deps = deps
  }

  /** Asks for the charge; undefined if the order is not reserved any more. */
  pay(order: string, method: string): Promise<OrderRow | undefined> {
    return this.#payments.add({ order, method })
  }

  readonly #payments = new Batcher<{ order: string; method: string }, OrderRow | undefined>(
    { size: PAYMENT_BATCH, queue: PAYMENT_QUEUE },
    async (asked) => {
      const { sql, charges } = this.#deps
      const ids = asked.map((a) => a.order)
      const methods = asked.map((a) => a.method)
      const moved = await sql.begin(async (tx) => {
        // A hold whose time is up, and that no sweeper has ended yet, may still be paid for: until its unit is given back it
        // is this buyer's and nobody else's.
        const paying = await moveOrders(tx, ids, { from: ['reserved'], to: 'paying', methods })
        await charges.addCharges(
          tx,
          paying.map((o) => o.order_id),
        )
        return paying
      })
      this.#count(moved)
      const byId = new Map(moved.map((o) => [o.order_id, o]))
      return ids.map((id) => byId.get(id))
    },
  )

  /** Asks for the charge of an order that came with its payment method, behind the answer; a worker does it otherwise. */
  beginPayment(order: OrderRow): void {
    if (!order.payment_method) return
    this.pay(order.order_id, order.payment_method).catch((error) =>
      this.#deps.log.warn(
        { order: order.order_id, error: String(error) },
        'payment not begun; a worker will',
      ),
    )
  }

  /**
   * Orders whose payment is authorized: those that were still waiting for it are confirmed, and for these, and no others, the
   * money is asked for.
   */
  async confirm(paid: readonly ChargeOf[]): Promise<void> {
    if (paid.length === 0) return
    const { sql, charges } = this.#deps
    const confirmed = await sql.begin(async (tx) => {
      const moved = await moveOrders(
        tx,
        paid.map((p) => p.order),
        { from: ['paying', 'reserved'], to: 'confirmed', charges: paid.map((p) => p.charge) },
      )
      const captures = moved.flatMap(({ charge_id: charge, order_id: order }) =>
        charge === null ? [] : [{ charge, order }],
      )
      await charges.addCaptures(tx, captures)
      return moved
    })
    await this.#moved(confirmed, 'confirmed')
  }

  /** What costs nothing is confirmed without a charge. */
  confirmFree = (order: string) => this.#one(order, { from: ['paying'], to: 'confirmed' })

  cancel = (order: string, from: OrderRow['status'][], reason: string) =>
    this.#one(order, { from, to: 'cancelled', reason })

  /**
   * What was paid for has been handed over. It happens once, and whoever says so again is told the same; undefined for an
   * order that there is not, or that is not paid for.
   */
  async fulfil(order: string): Promise<OrderRow | undefined> {
    const fulfilled = await this.#one(order, { from: ['confirmed'], to: 'fulfilled' })
    const found = fulfilled ?? (await findOrder(this.#deps.sql, order))
    return found?.status === 'fulfilled' ? found : undefined
  }

  expire = (orders: readonly string[]) =>
    this.move(orders, { from: ['reserved'], to: 'expired', reason: 'not_paid_in_time' })

  async #one(order: string, move: Move): Promise<OrderRow | undefined> {
    const [moved] = await this.move([order], move)
    return moved
  }

  /** One transition of many orders, in the ledger first, then at the gate. Returns those that made it. */
  async move(orders: readonly string[], move: Move): Promise<OrderRow[]> {
    const moved = await moveOrders(this.#deps.sql, orders, move)
    await this.#moved(moved, move.to)
    return moved
  }

  async #moved(orders: readonly OrderRow[], to: OrderRow['status']): Promise<void> {
    this.#count(orders)
    const how = HOLD_ENDS[to]
    if (how) await this.#settle(orders, how)
  }

  async #settle(moved: readonly OrderRow[], how: 'release' | 'sell'): Promise<void> {
    const byProduct = Map.groupBy(moved, (o) => `${o.sale_id} ${o.product_id}`)
    for (const orders of byProduct.values()) {
      const [first] = orders
      if (!first) continue
      const ends = orders.map((order) => holdEnd(order, how))
      await this.#deps.gates
        .of(first.sale_id, first.product_id)
        .settle(ends)
        .catch((error) =>
          this.#deps.log.warn({ error: String(error) }, 'the gate was not told; the reconciler will'),
        )
    }
  }

  #count(moved: readonly OrderRow[]): void {
    for (const { sale_id: sale, status, reason } of moved)
      this.#deps.metrics.orders.inc({ sale, status, ...(reason !== null && { reason: kindOf(reason) }) })
  }
}
