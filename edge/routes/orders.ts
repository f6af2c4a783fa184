/** A visitor's order: the contract's calls, passed on to the origin, and its page. */
import { Order } from '../../shared/api/public.ts'
import { isLive } from '../../shared/order-status.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Problem, ProblemError, problemIn } from '../../shared/problem.ts'
import { refuseBlockedHolder } from '../access/admit.ts'
import { limitAddress } from '../access/rate-limits.ts'
import { findOrderToken, refuseAdmission } from '../auth/credentials.ts'
import { type Call, refuse } from '../http.ts'
import type { Shows } from '../pages/view.ts'
import { publicNow } from '../queue/sale-cache.ts'
import { callOrigin, passOn } from './checkout.ts'
import { visitorPage } from './line.ts'

/** In the address of an order's page: it is the order that the visitor had, not one they just asked for. */
export const ALREADY = 'already'

/** `/orders/{order}` and below */
export async function passOrder(path: string, order: string, call: Call): Promise<Response> {
  limitOrders(call)
  const token = await findOrderToken(order, call)
  if (token === null) return refuseAdmission()
  await refuseBlockedHolder(token, call)
  return passOn(path, token, call)
}

/** Only the origin can tell whether an order token is valid, so an address may ask it only so often. */
export const limitOrders = (call: Call) => limitAddress('order', call.config.STATUS_PER_ADDRESS, call)

/** `GET /sales/{sale}/order/{order}` */
export async function showOrder(sale: string, order: string, call: Call): Promise<Response> {
  const [now, shows] = await Promise.all([publicNow(sale, call), orderShown(sale, order, call)])
  return visitorPage(sale, now, shows, call)
}

async function orderShown(sale: string, order_id: string, call: Call) {
  try {
    const order = await orderOf(sale, order_id, call)
    // The address stays when the order is over.
    const alreadyHas = call.request.url.endsWith(`?${ALREADY}`) && isLive(order.status)
    return { kind: 'order', order, alreadyHas } satisfies Shows
  } catch (error) {
    const problem = problemIn(error)
    const path = problem.retry_after_seconds === undefined ? undefined : `/sales/${sale}/order/${order_id}`
    return { kind: 'problem', problem, path } satisfies Shows
  }
}

async function orderOf(sale: string, order: string, call: Call): Promise<Order> {
  limitOrders(call)
  const token = await findOrderToken(order, call, sale)
  if (token === null) return refuse('unknown-order')
  await refuseBlockedHolder(token, call)
  return orderIn(await callOrigin(`/orders/${order}`, { headers: { authorization: `Bearer ${token}` } }, call))
}

/** The order in a response of the origin; throws the problem in it otherwise. */
export async function orderIn(response: Response): Promise<Order> {
  const body: unknown = await response.json().catch(() => null)
  const order = response.ok ? tryParse(Order, body) : undefined
  if (order) return order
  const { type, title } = Object(body) as Partial<Problem>
  if (!response.ok && typeof type === 'string' && typeof title === 'string') throw new ProblemError(body as Problem)
  return refuse('try-again', { retry_after_seconds: 2 })
}
