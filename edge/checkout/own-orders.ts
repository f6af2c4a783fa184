/**
 * A visitor's orders: the contract's calls, which are passed on to the origin, the list of orders, and each order's
 * page and receipt. A browser has a cookie for each order that it made, for a day. After that, and on an account's
 * other devices, the origin gives the edge the tokens of the visitor's orders.
 */
import * as v from 'valibot'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { isLive, isSold } from '../../shared/api/order-status.ts'
import { Order } from '../../shared/api/public.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Problem, ProblemError, problemIn } from '../../shared/problem.ts'
import { ADMISSION } from '../../shared/tokens.ts'
import { refuseBlockedHolder } from '../admission/admit.ts'
import { type Call, hasParameter, isBrowser, pathOf, refuse, seeOther, sendJson, wantsHtml } from '../http/call.ts'
import { limitAddress, limitVisitor } from '../http/limits/rate-limits.ts'
import { callOrigin, passOn } from '../http/origin.ts'
import type { RequestedPage } from '../pages/view.ts'
import { publicNow } from '../queue/sale-now.ts'
import { visitorPage } from '../sale/visitor-page.ts'
import {
  bearer,
  claimsIn,
  findAdmission,
  findOrderToken,
  requireAdmission,
  requireOrderToken,
  setOrderCookie,
} from '../visitor/credentials.ts'
import { accountOf } from '../visitor/session.ts'
import { authenticate, placeOf, visitorOf } from '../visitor/visitor.ts'
import { shopCheckout } from './shop-payment.ts'

/** This parameter in the address of an order's page means that the order existed before, and was not just made. */
export const ALREADY = 'already'

/** The routes `/orders/{order}` and below. */
export async function passOrder(order: string, call: Call): Promise<Response> {
  limitOrders(call)
  const token = await requireOrderToken(order, call)
  await refuseBlockedHolder(token, call)
  return passOn(pathOf(call.request.url), token, call)
}

/** Calls are limited by address, because only the origin can verify an order token. */
export const limitOrders = (call: Call) => limitAddress('order', call.config.STATUS_PER_ADDRESS, call)

/** The route `GET /sales/{sale}/order/{order}`. */
export async function showOrder(sale: string, order: string, call: Call): Promise<Response> {
  const [now, shows] = await Promise.all([publicNow(sale, call), orderShown(sale, order, call)])
  return visitorPage(now, shows, call)
}

async function orderShown(sale: string, order_id: string, call: Call) {
  try {
    const order = await orderOf(sale, order_id, call)
    // The parameter stays in the address when the order is over.
    const alreadyHas = hasParameter(ALREADY, call) && isLive(order.status)
    return { kind: 'order', order, alreadyHas } satisfies RequestedPage
  } catch (error) {
    const problem = problemIn(error)
    const path = problem.retry_after_seconds === undefined ? undefined : `/sales/${sale}/order/${order_id}`
    return { kind: 'problem', problem, path } satisfies RequestedPage
  }
}

/** The route `GET /sales/{sale}/order/{order}/receipt`. */
export async function showReceipt(sale: string, order_id: string, call: Call): Promise<Response> {
  const shows = await orderShown(sale, order_id, call)
  if (shows.kind === 'problem') return visitorPage(await publicNow(sale, call), shows, call)
  const { order } = shows
  if (!isSold(order.status)) return seeOther(`/sales/${sale}/order/${order_id}`)
  return visitorPage(await publicNow(sale, call), { kind: 'receipt', order }, call)
}

/**
 * The route `GET /sales/{sale}/order/{order}/pay`: Stripe's form, or the bank's request, or a redirect to the shop's
 * own checkout where that takes the money. An order with nothing to pay redirects to its page.
 */
export async function showPayment(sale: string, order_id: string, call: Call): Promise<Response> {
  const { stripe } = call.config
  const now = await publicNow(sale, call)
  const { payment, delivery } = now.facts
  if (!stripe && payment !== 'handover') refuse('not-found')
  const shows = await orderShown(sale, order_id, call)
  if (shows.kind === 'problem') return visitorPage(now, shows, call)
  const { order } = shows
  if (payment === 'handover' && order.status === 'reserved') {
    const returnUrl = assertExists(delivery.return_url, 'A sale that is paid in the shop says where.')
    return seeOther(await shopCheckout(returnUrl, order, call))
  }
  const confirms = order.payment?.status === 'requires_action' && order.payment.client_secret !== undefined
  // A test sale uses the sandbox's payment methods, which the order's page offers.
  if (!stripe || payment === 'handover' || (order.status !== 'reserved' && !confirms) || now.facts.test)
    return seeOther(`/sales/${sale}/order/${order_id}`)
  return visitorPage(now, { kind: 'payment', order, stripe }, call)
}

/** An order of the caller, by its token or as one of the visitor's orders. */
export async function orderOf(sale: string, id: string, call: Call): Promise<Order> {
  limitOrders(call)
  const token = await findOrderToken(id, call, sale)
  if (token !== null) {
    await refuseBlockedHolder(token, call)
    try {
      return await orderIn(await callOrigin(`/orders/${id}`, { headers: { authorization: `Bearer ${token}` } }, call))
    } catch (error) {
      // The admission may belong to another visitor than the account, so the orders of the account are tried next.
      if (!/(unknown-order|not-admitted)$/.test(problemIn(error).type)) throw error
    }
  }
  const found = (await listOrders(sale, call)).find(({ order_id }) => order_id === id) ?? refuse('unknown-order')
  const { order_token, ...order } = found
  // The cookie is needed for the order's event stream, and to pay or cancel it.
  if (order_token) setOrderCookie(id, order_token, call)
  return order
}

// -- The list -------------------------------------------------------------------------------------------------------

/** The route `GET /sales/{sale}/orders`. */
export async function ownOrders(sale: string, call: Call): Promise<Response> {
  limitOrders(call)
  const orders = await listOrders(sale, call)
  if (wantsHtml(call.request)) return visitorPage(await publicNow(sale, call), { kind: 'orders', orders }, call)
  // A browser's tokens stay out of reach of page scripts.
  return sendJson({ orders: isBrowser(call.request) ? orders.map(({ order_token: _, ...order }) => order) : orders })
}

const Orders = v.object({ orders: v.array(Order) })

/** The caller's orders of a sale in the last days; none for an unknown caller. */
async function listOrders(sale: string, call: Call): Promise<Order[]> {
  const name = await ownName(sale, call)
  if (name === null) return []
  limitVisitor('orders', name, call.config.STATUS_PER_VISITOR, call)
  const headers = { [EDGE_VISITOR_HEADER]: encodeURIComponent(name) }
  const response = await callOrigin(`/sales/${sale}/orders`, { headers }, call)
  const body: unknown = await response.json().catch(() => null)
  const orders = response.ok ? tryParse(Orders, body)?.orders : undefined
  return orders ?? refuseAs(response, body)
}

/**
 * The visitor whose orders are listed: by the request's token, otherwise by the account on any device, otherwise by
 * the browser's cookie.
 */
async function ownName(sale: string, call: Call): Promise<string | null> {
  const token = bearer(call.request)
  const sent = token !== null
  // A token for another sale, or an expired one, is refused as at a checkout.
  if (sent && claimsIn(token).aud === ADMISSION.audience) return (await requireAdmission(sale, call)).claims.sub
  const account = sent ? null : await accountOf(call)
  if (account !== null) return account
  const admission = await findAdmission(sale, call)
  if (admission) return admission.claims.sub
  const caller = await authenticate(sale, call)
  const place = sent ? placeOf(caller, call) : caller.place
  if (place) return place.claims.sub
  const { name, known } = await visitorOf(null, call)
  return known ? name : null
}

/** Returns the order in a response of the origin, or throws the problem in it. */
export async function orderIn(response: Response): Promise<Order> {
  const body: unknown = await response.json().catch(() => null)
  const order = response.ok ? tryParse(Order, body) : undefined
  if (order) return order
  return refuseAs(response, body)
}

/** Throws the problem in an unexpected response of the origin. */
export function refuseAs(response: Response, body: unknown): never {
  const { type, title } = Object(body) as Partial<Problem>
  if (!response.ok && typeof type === 'string' && typeof title === 'string') throw new ProblemError(body as Problem)
  return refuse('try-again', { retry_after_seconds: 2 })
}
