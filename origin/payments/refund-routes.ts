/** The operators' call for a refund. */
import { Hono } from 'hono'
import { RefundRequest } from '../../shared/api/operators/requests.ts'
import type { Sql } from '../ledger/connection.ts'
import { idempotencyKey, jsonBody } from '../lib/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { orderAt } from '../orders/order-json.ts'
import { requireOrder } from '../orders/orders.ts'
import type { OperatedSales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { askRefund } from './refunds.ts'

interface RefundDeps {
  readonly sql: Sql
  readonly reconciler: Pick<Reconciler, 'unitsReturned'>
  readonly sales: Pick<OperatedSales, 'nowMs'>
}

export const refundRoutes = ({ sql, reconciler, sales }: RefundDeps) =>
  new Hono().post('/orders/:order/refund', jsonBody(RefundRequest), async (c) => {
    const by = { operator: operatorOf(c), key: idempotencyKey(c) }
    const { order_id, product_name = null, tax = null } = await requireOrder(sql, c.req.param('order'))
    const { order, isReplay, isDone, isRestocked } = await askRefund(sql, order_id, c.req.valid('json'), by)
    if (isRestocked) await reconciler.unitsReturned([order])
    if (isReplay) c.header('Idempotency-Replayed', 'true')
    return c.json(orderAt({ product_name, tax, ...order }, sales.nowMs()), isDone ? 200 : 202)
  })
