/**
 * Holds that are handed over to the shop's own checkout before payment: the shop's signed word sells one, or gives it
 * back. What the shop took for a hold that it cannot have sold is refused, and noted: the shop gives it back.
 */
import { Hono } from 'hono'
import * as v from 'valibot'
import { exactly } from '../../shared/api/fields.ts'
import { isSold } from '../../shared/api/order-status.ts'
import { problem } from '../../shared/problem.ts'
import type { Metrics } from '../base/metrics.ts'
import { openFinding } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { type OrderRow, type OrderView, totalOf } from '../ledger/order-statements.ts'
import { findShopPayment } from '../ledger/payment-statements.ts'
import { headerOf, parseBody, readText, refuse, sendJson } from '../lib/http/request.ts'
import { isSigned } from '../lib/http/standard-webhooks.ts'
import { orderAt } from '../orders/order-json.ts'
import { type Orders, requireOrder } from '../orders/orders.ts'
import type { Sales } from '../sales/sales.ts'

export const Confirmation = exactly({
  /** The shop's name of the payment: a repeated call has the same one. */
  reference: v.pipe(
    v.string('a text is required'),
    v.regex(/^[^\p{Cc}\p{Cs}]{1,200}$/u, '1 to 200 letters are required'),
  ),
  amount_minor: v.pipe(v.number('a number is required'), v.safeInteger('a whole number is required')),
  currency: v.string('a currency is required'),
})
type Confirmation = v.InferOutput<typeof Confirmation>

interface ConfirmationDeps {
  /** Undefined: no shop has a secret, and there are no such calls. */
  readonly secrets: readonly string[] | undefined
  readonly sql: Sql
  readonly sales: Pick<Sales, 'find' | 'nowMs'>
  readonly orders: Pick<Orders, 'confirmByShop' | 'giveBack'>
  readonly metrics: Pick<Metrics, 'findings'>
}

/**
 * `POST /orders/{order}/confirm` and a signed `DELETE /orders/{order}`. A signature covers id and body, so that the id
 * has to name what is done, and with which order.
 */
export function shopConfirmationRoutes({ secrets, sql, sales, orders, metrics }: ConfirmationDeps): Hono {
  const app = new Hono()
  if (secrets === undefined) return app

  const isOfShop = (header: (name: Lowercase<string>) => string | undefined, id: string, body: string) =>
    header('webhook-id') === id && isSigned(secrets, header, body, sales.nowMs())

  const shown = (order: OrderRow) => orderAt(order, sales.nowMs())

  /** Notes that the shop took money for an order that it cannot have sold. */
  async function refuseMoney(order: OrderView, sent: Confirmation, error: string): Promise<never> {
    await openFinding(sql, metrics, {
      sale: order.sale_id,
      product: '',
      kind: 'confirmation_refused',
      subject: order.order_id,
      detail: { order: order.order_id, ...sent, error },
    })
    return refuse(problem('conflict', { detail: `${error} Give the money back.`, order: shown(order) }))
  }

  async function requireHandedOver(orderId: string): Promise<OrderView> {
    const order = await requireOrder(sql, orderId)
    if ((await sales.find(order.sale_id))?.payment === 'handover') return order
    return refuse(problem('conflict', { detail: 'Orders of this sale are paid here, and not in the shop.' }))
  }

  app.post('/orders/:order/confirm', async (c) => {
    const id = c.req.param('order')
    const body = await readText(c)
    if (!isOfShop((name) => headerOf(c, name), `confirm-${id}`, body)) refuse(UNSIGNED)
    const sent = parseBody(c, Confirmation, body)
    const { reference, amount_minor, currency } = sent
    const order = await requireHandedOver(id)
    const replayed = async (now: OrderView) => {
      const known = await findShopPayment(sql, id)
      if (known === undefined || known === reference) return known !== undefined
      return refuseMoney(now, sent, `The order is sold by the payment ${known} already.`)
    }
    if (await replayed(order)) return sendJson(shown(order), 200)
    if (amount_minor !== totalOf(order) || currency !== order.currency)
      return refuseMoney(order, sent, `The order costs ${totalOf(order)} ${order.currency}.`)
    const confirmed = await orders.confirmByShop(id, reference)
    if (confirmed) return sendJson(shown(confirmed), 200)
    // A call at the same time may have confirmed it.
    const now = await requireOrder(sql, id)
    if (await replayed(now)) return sendJson(shown(now), 200)
    const isOver = now.status === 'reserved' || now.status === 'expired'
    const ended = isOver ? `Its hold ended at ${now.reserved_until.toISOString()}.` : `The order is ${now.status}.`
    return refuseMoney(now, sent, ended)
  })

  app.delete('/orders/:order', async (c, next) => {
    if (headerOf(c, 'webhook-signature') === undefined) return next()
    const id = c.req.param('order')
    if (!isOfShop((name) => headerOf(c, name), `release-${id}`, await readText(c))) refuse(UNSIGNED)
    const order = await requireHandedOver(id)
    const released = order.left_ms > 0 ? await orders.giveBack(id) : undefined
    if (released) return sendJson(shown({ ...order, ...released }), 200)
    const now = await requireOrder(sql, id)
    if (now.status === 'cancelled') return sendJson(shown(now), 200)
    const detail = isSold(now.status) ? `The order is ${now.status}: refund it.` : 'The hold of the order has ended.'
    return refuse(problem('conflict', { detail, order: shown(now) }))
  })

  return app
}

const UNSIGNED = problem('unauthorized', { detail: 'The signature does not hold for this order.' })
