/** The webhooks of the payment provider, and the operators' call for a refund. */

import { Hono } from 'hono'
import { RefundRequest } from '../../shared/api/operators/requests.ts'
import { jsonIn } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { headerOf, idempotencyKey, jsonBody, readText, refuse, sendJson } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { orderAt } from '../orders/order-json.ts'
import { requireOrder } from '../orders/orders.ts'
import type { OperatedSales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import type { Payments } from './payments.ts'
import { requestRefund } from './refunds.ts'

interface RefundDeps {
  readonly sql: Sql
  readonly reconciler: Pick<Reconciler, 'unitsReturned'>
  readonly sales: Pick<OperatedSales, 'nowMs'>
}

export const refundRoutes = ({ sql, reconciler, sales }: RefundDeps) =>
  new Hono().post('/orders/:order/refund', jsonBody(RefundRequest), async (c) => {
    const by = { operator: operatorOf(c), key: idempotencyKey(c) }
    const { order_id, product_name = null, tax = null } = await requireOrder(sql, c.req.param('order'))
    const { order, isReplay, isDone, isRestocked } = await requestRefund(sql, order_id, c.req.valid('json'), by)
    if (isRestocked) await reconciler.unitsReturned([order])
    if (isReplay) c.header('Idempotency-Replayed', 'true')
    return c.json(orderAt({ product_name, tax, ...order }, sales.nowMs()), isDone ? 200 : 202)
  })

/**
 * Webhooks of the payment provider, and of the sandbox beside it. Duplicates and late ones change nothing: the
 * ledger's guards decide.
 */
export function paymentWebhooks({ sources, charges }: Pick<Payments, 'sources' | 'charges'>): Hono {
  const app = new Hono()
  for (const source of sources)
    app.post(`/${source.name}`, async (c) => {
      const body = await readText(c)
      const charge = await source.readWebhook((name) => headerOf(c, name), body)
      if (charge === undefined) refuse(problem('unauthorized', { detail: 'The signature does not hold.' }))
      if (charge) await charges.report(charge)
      else jsonIn(body)
      return sendJson({ received: true }, 200)
    })
  return app
}
