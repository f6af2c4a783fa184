/**
 * The pages' forms: a checkout, a payment, a cancellation become the contract's calls. A plain form leads to the order's
 * page; to the page's script, which shows the answer in place, the answer is that page. A purchase that met a problem comes
 * back with it, and with what was chosen; the others show it, with the form to send again where that may help.
 */
import { Order } from '../../shared/api/public.ts'
import { isLive } from '../../shared/order-status.ts'
import { tryParse } from '../../shared/parse.ts'
import { invalidField, ProblemError, problemIn } from '../../shared/problem.ts'
import { refuseBlockedHolder } from '../admission/admit.ts'
import {
  type Call,
  type Fields,
  formFields,
  isScript,
  publicNow,
  refuse,
  seeOther,
  sendJson,
  sendProblem,
  wantsJson,
} from '../call.ts'
import { callOrigin } from '../origin.ts'
import { visitorPage } from '../sale/visitor-page.ts'
import { requireOrderToken, setOrderCookie } from '../visitor/credentials.ts'
import { linesIn } from './cart-fields.ts'
import { aboutBuyer, networksHeader, requireBuyer } from './checkout.ts'
import { buyerIn } from './checkout-body.ts'
import { ALREADY, limitOrders, orderIn, orderOf, refuseAs } from './own-orders.ts'
import { Quote } from './quote.ts'

/** `POST /sales/{sale}/buy`: buys, or says what it would cost, where the button was that of a promo code. */
export async function buyForm(sale: string, call: Call): Promise<Response> {
  const sent = await formFields(call.request)
  const chosen: Fields | null = sent && { ...sent, idempotency_key: sent.idempotency_key || crypto.randomUUID() }
  try {
    return chosen?.apply === undefined ? await buy(sale, chosen, call) : await quote(sale, chosen, call)
  } catch (error) {
    if (wantsJson(call.request)) return sendProblem(problemIn(error))
    const shows = { kind: 'problem', problem: problemIn(error), chosen: chosen ?? {} } as const
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
  // Another order than the one asked for: the visitor has as many as one may have.
  const already = response.status === 200 && isLive(order.status)
  return isScript(call.request)
    ? orderShown(sale, order, already, call)
    : seeOther(`${pathOfOrder(sale, order.order_id)}${already ? `?${ALREADY}` : ''}`)
}

/** What it would cost: the turn's page with the sum, or, for its script, the sum alone. Nothing is reserved. */
async function quote(sale: string, fields: Fields, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call, 'totals')
  const { total_minor: _, contact: __, payment_method: ___, ...asked } = buyerIn(fields)
  const body = JSON.stringify({ ...chosenIn(fields), ...asked })
  const response = await callOrigin(
    `/sales/${sale}/totals`,
    { method: 'POST', headers: { ...jsonHeaders(token), ...networksHeader(call) }, body },
    call,
  )
  const sent: unknown = await response.json().catch(() => null)
  const totals = (response.ok ? tryParse(Quote, sent) : undefined) ?? refuseAs(response, sent)
  if (wantsJson(call.request)) return sendJson(totals)
  return visitorPage(await publicNow(sale, call), { kind: 'quote', chosen: fields, totals }, call)
}

/** The units that a form asks for: of one product, or, from the form of a sale with a hall, lines. */
function chosenIn(fields: Fields) {
  const { product_id, quantity } = fields
  if (product_id) return { product_id, ...(quantity && { quantity: Number(quantity) }) }
  const lines = linesIn(fields).map(({ line }) => line)
  if (lines.length > 0) return { lines }
  // Without a product the origin takes the sale's first one, which the visitor has not chosen.
  throw new ProblemError(invalidField('product_id', 'is required'))
}

const pathOfOrder = (sale: string, order: string) => `/sales/${sale}/order/${order}`

/** The order's page as the answer to a form: it saves the script the request for it. */
async function orderShown(sale: string, order: Order, alreadyHas: boolean, call: Call): Promise<Response> {
  const page = await visitorPage(await publicNow(sale, call), { kind: 'order', order, alreadyHas }, call)
  page.headers.set('content-location', pathOfOrder(sale, order.order_id))
  return page
}

/** `POST /sales/{sale}/order/{order}/payment` */
export const paymentForm = (sale: string, order: string, call: Call) => orderForm(sale, order, 'payment', call)
/** `POST /sales/{sale}/order/{order}/cancel` */
export const cancelForm = (sale: string, order: string, call: Call) => orderForm(sale, order, 'cancel', call)

async function orderForm(sale: string, order: string, change: 'payment' | 'cancel', call: Call) {
  const fields = (await formFields(call.request)) ?? {}
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
    // In conflict with what the order has become meanwhile, which its page shows.
    if (!response.ok && response.status !== 409) await orderIn(response)
    await response.body?.cancel()
    return seeOther(page)
  } catch (error) {
    const problem = problemIn(error)
    const again = problem.status === 503 ? { action: `${page}/${change}`, fields } : undefined
    return visitorPage(await publicNow(sale, call), { kind: 'problem', problem, again }, call)
  }
}

/** The order in a response, or, where it was in conflict, what it has become meanwhile: asked for if the response does not say. */
async function changedOrder(response: Response, sale: string, order: string, call: Call): Promise<Order> {
  if (response.status !== 409) return orderIn(response)
  const { order: current } = Object(await response.json().catch(() => null)) as { order?: unknown }
  return tryParse(Order, current) ?? orderOf(sale, order, call)
}

const jsonHeaders = (token: string) => ({
  authorization: `Bearer ${token}`,
  'content-type': 'application/json',
})
