/**
 * Handles the pages' forms, which become the contract's calls: a checkout, a payment, a cancellation. A plain form
 * redirects to the order's page; the page's script gets that page as the response and shows it in place. If a
 * purchase fails, the form is shown again with the problem and the choice. The other forms show the problem, with a
 * button to send the form again if that may help.
 */

import { SeatOffer, type SeatOfferRequest } from '../../shared/api/hall.ts'
import { Quote } from '../../shared/api/internal.ts'
import { isLive } from '../../shared/api/order-status.ts'
import { Order } from '../../shared/api/public.ts'
import { type Fields, tryParse } from '../../shared/parse.ts'
import { invalidField, type Problem, ProblemError, problemIn } from '../../shared/problem.ts'
import { refuseBlockedHolder, requireBuyer } from '../admission/admit.ts'
import { type Call, formFields, isScript, refuse, seeOther, sendJson, sendProblem, wantsJson } from '../http/call.ts'
import { callOrigin } from '../http/origin.ts'
import { isTaken, lostIn, restAfter } from '../pages/turn/cart/rest.ts'
import { CART, linesIn, REMOVE, TAKE, TO_HALL, wishIn, withOffer, withoutRemoved } from '../pages/turn/cart-fields.ts'
import { buyerIn } from '../pages/turn/checkout-body.ts'
import { publicNow } from '../queue/sale-now.ts'
import { visitorPage } from '../sale/visitor-page.ts'
import { requireOrderToken, setOrderCookie } from '../visitor/credentials.ts'
import { aboutBuyer, networksHeader } from './checkout.ts'
import { ALREADY, limitOrders, orderIn, orderOf, refuseAs } from './own-orders.ts'

/** A body that is no form has none. */
const NO_FIELDS: Fields = {}

/** A form with one of these fields is shown again instead of buying. */
const SHOWN_AGAIN = ['apply', 'again', TAKE, TO_HALL, REMOVE]

/**
 * The route `POST /sales/{sale}/buy`: buys, or shows the form again with its price, with the seats that the shop would
 * choose, or with the hall, if another button was pressed.
 */
export async function buyForm(sale: string, call: Call): Promise<Response> {
  const sent = await formFields(call.request)
  const chosen: Fields | null = sent && { ...sent, idempotency_key: sent.idempotency_key || crypto.randomUUID() }
  try {
    const wish = chosen && wishIn(chosen)
    if (wish) return await offerSeats(sale, chosen, wish, call)
    if (chosen && SHOWN_AGAIN.some((name) => chosen[name] !== undefined))
      return await quote(sale, withoutRemoved(chosen), call)
    return await buy(sale, chosen, call)
  } catch (error) {
    const refused = problemIn(error)
    if (wantsJson(call.request)) return sendProblem(refused, call)
    const fields = chosen ?? NO_FIELDS
    const shows = { kind: 'problem', problem: await withRest(refused, fields, sale, call), chosen: fields } as const
    return visitorPage(await publicNow(sale, call), shows, call)
  }
}

async function buy(sale: string, fields: Fields | null, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call)
  if (!fields) return refuse('invalid-request')
  const { idempotency_key = '' } = fields
  const headers = { ...jsonHeaders(token), ...aboutBuyer(call), 'idempotency-key': idempotency_key }
  const body = JSON.stringify({ ...chosenIn(fields), ...buyerIn(fields) })
  const response = await callOrigin(`/sales/${sale}/checkout`, { method: 'POST', headers, body }, call)
  const order = await orderIn(response)
  if (order.order_token) setOrderCookie(order.order_id, order.order_token, call)
  // The visitor has reached their limit, so the response is their existing order instead of a new one.
  const already = response.status === 200 && isLive(order.status)
  if (
    isScript(call.request) &&
    order.status === 'reserved' &&
    (await publicNow(sale, call)).facts.payment === 'handover'
  )
    return toShop(pathOfOrder(sale, order.order_id))
  return isScript(call.request)
    ? orderShown(sale, order, already, call)
    : seeOther(`${pathOfOrder(sale, order.order_id)}${already ? `?${ALREADY}` : ''}`)
}

/** Shows the form with the seats that the shop would choose now, and the price of all that it has then. */
async function offerSeats(sale: string, fields: Fields, wish: SeatOfferRequest, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'seat offers')
  const asked = { method: 'POST', headers: jsonHeaders(token), body: JSON.stringify(wish) }
  const response = await callOrigin(`/sales/${sale}/seats/offer`, asked, call)
  const sent: unknown = await response.json().catch(() => null)
  const offer = (response.ok ? tryParse(SeatOffer, sent) : undefined) ?? refuseAs(response, sent)
  return quote(sale, withOffer(fields, offer), call)
}

/** Shows the price without a reservation: the turn's page with the total, or for its script the total alone. */
async function quote(sale: string, fields: Fields, call: Call): Promise<Response> {
  const isNone = fields[TO_HALL] !== undefined || (fields.apply === undefined && linesIn(fields).length === 0)
  const totals = isNone ? undefined : await totalsOf(sale, fields, call)
  if (totals && wantsJson(call.request)) return sendJson(totals)
  return visitorPage(await publicNow(sale, call), { kind: 'quote', chosen: fields, ...(totals && { totals }) }, call)
}

/** Adds the price of the rest to the problem of a refused cart, if the price can be read. */
async function withRest(refused: Problem, fields: Fields, sale: string, call: Call): Promise<Problem> {
  const isPartLost = fields[CART] !== undefined && (isTaken(refused) || lostIn(refused, fields).length > 0)
  const rest = restAfter(refused, fields)
  if (!isPartLost || linesIn(rest).length === 0) return refused
  const totals = await totalsOf(sale, rest, call).catch(() => undefined)
  return totals ? { ...refused, totals } : refused
}

async function totalsOf(sale: string, fields: Fields, call: Call): Promise<Quote> {
  const { token } = await requireBuyer(sale, call, 'totals')
  const { total_minor: _, contact: __, payment_method: ___, ...asked } = buyerIn(fields)
  const body = JSON.stringify({ ...chosenIn(fields), ...asked })
  const response = await callOrigin(
    `/sales/${sale}/totals`,
    { method: 'POST', headers: { ...jsonHeaders(token), ...networksHeader(call) }, body },
    call,
  )
  const sent: unknown = await response.json().catch(() => null)
  return (response.ok ? tryParse(Quote, sent) : undefined) ?? refuseAs(response, sent)
}

/** The units that a form requests: of one product, or lines of a cart. */
function chosenIn(fields: Fields) {
  const { product_id, quantity } = fields
  if (product_id) return { product_id, ...(quantity && { quantity: Number(quantity) }) }
  const lines = linesIn(fields).map(({ line }) => line)
  if (lines.length > 0) return { lines }
  // The product is required, because the origin would otherwise take the sale's first one, which the visitor has not
  // chosen.
  throw new ProblemError(invalidField('product_id', 'is required'))
}

const pathOfOrder = (sale: string, order: string) => `/sales/${sale}/order/${order}`

/**
 * Has the page's script go to the shop's own checkout at once. Without a script the order's page has a link: browsers
 * allow no redirect to another host after a form (`form-action`).
 */
const toShop = (path: string) =>
  new Response(null, {
    headers: { 'content-type': 'text/html', 'content-location': `${path}/pay`, 'cache-control': 'no-store' },
  })

/** Returns the order's page as the response to a form, which saves the script a request for it. */
async function orderShown(sale: string, order: Order, alreadyHas: boolean, call: Call): Promise<Response> {
  const page = await visitorPage(await publicNow(sale, call), { kind: 'order', order, alreadyHas }, call)
  page.headers.set('content-location', pathOfOrder(sale, order.order_id))
  return page
}

/** The route `POST /sales/{sale}/order/{order}/payment`. */
export const paymentForm = (sale: string, order: string, call: Call) => orderForm(sale, order, 'payment', call)
/** The route `POST /sales/{sale}/order/{order}/cancel`. */
export const cancelForm = (sale: string, order: string, call: Call) => orderForm(sale, order, 'cancel', call)

async function orderForm(sale: string, order: string, change: 'payment' | 'cancel', call: Call) {
  const fields = (await formFields(call.request)) ?? NO_FIELDS
  const page = pathOfOrder(sale, order)
  try {
    limitOrders(call)
    const token = await requireOrderToken(order, call, sale)
    await refuseBlockedHolder(token, call)
    const headers = jsonHeaders(token)
    const body = JSON.stringify({ payment_method: fields.payment_method })
    const response =
      change === 'payment'
        ? await callOrigin(`/orders/${order}/payment`, { method: 'POST', headers, body }, call)
        : await callOrigin(`/orders/${order}`, { method: 'DELETE', headers }, call)
    if (isScript(call.request))
      return await orderShown(sale, await changedOrder(response, sale, order, call), false, call)
    // A conflict means that the order has changed meanwhile, which its page shows.
    if (!response.ok && response.status !== 409) await orderIn(response)
    await response.body?.cancel()
    return seeOther(page)
  } catch (error) {
    const problem = problemIn(error)
    const again = problem.status === 503 ? { action: `${page}/${change}`, fields } : undefined
    return visitorPage(await publicNow(sale, call), { kind: 'problem', problem, again }, call)
  }
}

/** The order in a response. If the response is a conflict without the order, the order is read from the origin. */
async function changedOrder(response: Response, sale: string, order: string, call: Call): Promise<Order> {
  if (response.status !== 409) return orderIn(response)
  const { order: current } = Object(await response.json().catch(() => null)) as { order?: unknown }
  return tryParse(Order, current) ?? orderOf(sale, order, call)
}

const jsonHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
})
