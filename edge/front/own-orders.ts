/**
 * The route `GET /me/orders`: a visitor's orders of all sales. They are the account's on any device, otherwise this
 * browser's. Each order's own page gives the right to pay it or to give it back.
 */
import * as v from 'valibot'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { Order } from '../../shared/api/public.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Call, refuse, sendJson, wantsHtml } from '../http/call.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { callOrigin } from '../http/origin.ts'
import { renderOwnOrders } from '../pages/index.ts'
import { ownHeadersOf } from '../view/respond.ts'
import { keepLanguage, languageOf } from '../visitor/language.ts'
import { visitorOf } from '../visitor/visitor.ts'
import { frontView } from './front.ts'
import { frontNow } from './listing.ts'

const Orders = v.object({ orders: v.array(Order) })

export async function ordersOfAll(call: Call): Promise<Response> {
  const { config } = call
  limitAddress('order', config.STATUS_PER_ADDRESS, call)
  const { name, known } = await visitorOf(null, call)
  if (known) limitVisitor('orders', name, config.STATUS_PER_VISITOR, call)
  const orders = known ? await ordersOf(name, call) : []
  if (!wantsHtml(call.request)) return sendJson({ orders })
  keepLanguage(call)
  const front = await frontNow(call)
  const images = new Map(front.catalogue.sales.map(({ sale, image }) => [sale, image]))
  const page = renderOwnOrders({ ...frontView(front, call, languageOf(call)), orders, images })
  return new Response(page, { headers: ownHeadersOf({ shows: { kind: 'orders', orders } }) })
}

async function ordersOf(name: string, call: Call): Promise<Order[]> {
  const headers = {
    authorization: `Bearer ${call.config.EDGE_TOKEN}`,
    [EDGE_VISITOR_HEADER]: encodeURIComponent(name),
  }
  const response = await callOrigin('/internal/orders', { headers }, call)
  const body: unknown = await response.json().catch(() => null)
  const found = response.ok ? tryParse(Orders, body) : undefined
  return found?.orders ?? refuse('try-again', { retry_after_seconds: 2 })
}
