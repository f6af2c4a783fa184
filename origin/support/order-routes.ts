/**
 * The operators' calls about orders: the feed of changes, the export, handing an order over, cancelling it, and
 * selling its units again.
 */

import { type Context, Hono } from 'hono'
import { CancelRequest, ReturnRequest } from '../../shared/api/operators/requests.ts'
import { statusOf } from '../../shared/api/order-status.ts'
import { problem } from '../../shared/problem.ts'
import type { VoucherSource } from '../checkout/cart/vouchers.ts'
import { feed } from '../events/change-feed.ts'
import { audit, type READS } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder } from '../ledger/order-statements.ts'
import { jsonBody, optionalIdempotencyKey, refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { exportOrders } from '../orders/export.ts'
import { orderAt } from '../orders/order-json.ts'
import { type Orders, requireOrder } from '../orders/orders.ts'
import type { OperatedSales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { cancelLines } from './cancel-lines.ts'
import { returnUnits } from './return-units.ts'

interface OrderDeps {
  readonly sql: Sql
  readonly orders: Pick<Orders, 'fulfil' | 'cancelByShop'>
  readonly reconciler: Pick<Reconciler, 'unitsReturned'>
  readonly sales: Pick<OperatedSales, 'nowMs'>
  readonly vouchers: readonly VoucherSource[]
}

/** With any of these in its query, `GET /orders` is support's search. */
const OF_SEARCH = ['q', 'status', 'product', 'from', 'to', 'problem']

export function orderRoutes({ sql, orders, reconciler, sales, vouchers }: OrderDeps) {
  const fulfil = async (c: Context, orderId: string, saleId?: string) => {
    const { order_id, product_name = null, tax = null } = await requireOrder(sql, orderId, saleId)
    const fulfilled = await orders.fulfil(order_id, operatorOf(c))
    if (fulfilled) return c.json(orderAt({ product_name, tax, ...fulfilled }, sales.nowMs()))
    const order = await findOrder(sql, order_id)
    return conflict(`The order is ${order && statusOf(order.status)}: only a confirmed one can be fulfilled.`)
  }
  const app = new Hono()
  app.get('/orders', (c, next) => (OF_SEARCH.some((name) => c.req.query(name) !== undefined) ? next() : feed(sql, c)))
  app.get('/sales/:sale/orders', async (c) => {
    const sale = c.req.param('sale')
    const table = exportOrders(sql, c, sale)
    await audit(sql, [{ actor: operatorOf(c), action: 'orders exported' satisfies (typeof READS)[number], sale }])
    return table
  })

  return app
    .post('/orders/:order/fulfil', (c) => fulfil(c, c.req.param('order')))

    .post('/sales/:sale/orders/:order/fulfil', (c) => fulfil(c, c.req.param('order'), c.req.param('sale')))

    .post('/orders/:order/return', jsonBody(ReturnRequest), async (c) => {
      const { order_id } = await requireOrder(sql, c.req.param('order'))
      const order = await returnUnits(sql, order_id, c.req.valid('json'), operatorOf(c))
      await reconciler.unitsReturned([order])
      return c.json(orderAt(order, sales.nowMs()))
    })

    .post('/orders/:order/cancel', jsonBody(CancelRequest), async (c) => {
      const { lines, reason } = c.req.valid('json')
      const { order_id, product_name = null, tax = null } = await requireOrder(sql, c.req.param('order'))
      const by = { operator: operatorOf(c), reason, key: optionalIdempotencyKey(c) }
      const inPart = lines && (await cancelLines({ sql, vouchers }, order_id, lines, by))
      if (inPart) {
        if (inPart.isRestocked) await reconciler.unitsReturned([inPart.order])
        return c.json(orderAt({ tax, ...inPart.order }, sales.nowMs()), inPart.isDone ? 200 : 202)
      }
      const result = await orders.cancelByShop(order_id, by)
      if (!result) return refuse(problem('unknown-order'))
      const { order, wasSold } = result
      if (order.status === 'expired') conflict('The hold of the order has ended.')
      if (order.status !== 'cancelled')
        conflict(`The order is ${statusOf(order.status)}: what was paid and handed over can only be refunded.`)
      // The gate counts sold units nowhere, so it cannot give them back one by one.
      if (wasSold) await reconciler.unitsReturned([order])
      return c.json(orderAt({ product_name, tax, ...order }, sales.nowMs()))
    })
}

const conflict = (detail: string) => refuse(problem('conflict', { detail }))
