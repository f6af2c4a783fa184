/** What admitted visitors call: checkout, their order, its payment, giving it back. */
import type { Context } from 'hono'
import { Hono } from 'hono'
import { CheckoutRequest, type Order, OrderId, PaymentRequest } from '../../shared/api/public.ts'
import { isSold } from '../../shared/order-status.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Problem, ProblemError, problem } from '../../shared/problem.ts'
import {
  ADMISSION,
  type AdmissionClaims,
  INVALID,
  ORDER,
  ORDER_TOKEN_TTL_SECONDS,
  readToken,
  signToken,
  type Verified,
} from '../../shared/tokens.ts'
import { type Outcome, orderAt, tryAgain } from '../checkout/outcome.ts'
import type { Deps } from '../deps.ts'
import { findOrder, type OrderRow, type OrderView } from '../ledger/orders.ts'
import type { Reservation } from '../ledger/record.ts'
import { available } from '../sales/sales.ts'
import { bearer, keyOf, parseBody, readBody, readText, refuse, sendJson, sendProblem } from './request.ts'

const nameOf = ({ type }: Problem) => type.slice('/problems/'.length)

/** How a call is counted. */
function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'problem') return nameOf(outcome.problem)
  if (outcome.replayed) return 'replayed'
  return outcome.kind === 'recorded' ? 'reserved' : outcome.kind
}

/** When an order's id was made: it begins with the time, in milliseconds since the epoch (UUIDv7, RFC 9562). */
const madeAtMs = (order: string) => Number.parseInt(order.replace('-', '').slice(0, 12), 16)

function recorded(found: OrderView | Reservation): OrderView {
  if ('status' in found) return found
  return refuse(problem('conflict', { detail: 'The order is still being recorded.', retry_after_seconds: 1 }))
}

export function buyerRoutes(deps: Deps): Hono {
  const { sql, sales, checkout, loadShedder, orders, arrivals, metrics, keys } = deps
  const app = new Hono()

  app.post('/sales/:sale/checkout', async (c) => {
    const sale = c.req.param('sale')
    // Anyone can make up a path: only a sale that there is has a count of its own, and a share.
    const counted = sales.get(sale)?.sale_id
    let answered = 'failed'
    let done: (() => number) | undefined
    try {
      // Read before a place is taken for it: a body that never comes must keep nobody out.
      const body = await readText(c)
      if (!loadShedder.enter(counted)) {
        answered = 'shed'
        return sendProblem(tryAgain('Too many people are checking out at this moment.'))
      }
      done = metrics.checkoutSeconds.startTimer()
      const token = bearer(c)
      const verified =
        token === undefined ? INVALID : await readToken(ADMISSION, keys.admission, token, sales.nowMs())
      const admission = admittedTo(sale, verified)
      const row = sales.get(sale) ?? (await sales.find(sale)) ?? refuse(problem('unknown-sale'))
      arrivals.arrived(sale, admission.num)
      const key = keyOf(c)
      const request = parseBody(c, CheckoutRequest, body)
      const buyer = { visitor: admission.sub, number: admission.num }
      const outcome = await checkout.checkout(row, buyer, request, key)
      answered = labelOf(outcome)
      return answerTo(outcome, sale, admission.sub)
    } catch (error) {
      if (error instanceof ProblemError) answered = nameOf(error.problem)
      throw error
    } finally {
      metrics.checkouts.inc({ sale: counted ?? 'unknown', outcome: answered })
      if (done) {
        done()
        loadShedder.leave(counted)
      }
    }
  })

  app.get('/orders/:order', async (c) => {
    const found = await ownOrder(c)
    return sendJson('status' in found ? orderOf(found) : processingOf(found), 200, {
      'cache-control': 'no-store',
    })
  })

  app.get('/orders/:order/events', async (c) => {
    const found = await ownOrder(c)
    const id = 'order' in found ? found.order : found.order_id
    return deps.events.stream(c, id, orderOf)
  })

  app.post('/orders/:order/payment', async (c) => {
    const found = await ownOrder(c)
    const { payment_method } = await readBody(c, PaymentRequest)
    const { order_id } = recorded(found)
    const paying = await orders.pay(order_id, payment_method)
    const order = paying ?? (await findOrder(sql, order_id)) ?? refuse(problem('unknown-order'))
    if (order.status === 'paying' || isSold(order.status)) {
      return sendJson(orderOf(order), 202, { 'cache-control': 'no-store' })
    }
    return refuse(problem('conflict', { detail: `The order is ${order.status}.`, order: orderOf(order) }))
  })

  app.delete('/orders/:order', async (c) => {
    const { order_id } = recorded(await ownOrder(c))
    const cancelled = await orders.cancel(order_id, ['reserved'], 'given_back')
    const order = cancelled ?? (await findOrder(sql, order_id)) ?? refuse(problem('unknown-order'))
    if (order.status === 'cancelled') return sendJson(orderOf(order), 200, { 'cache-control': 'no-store' })
    return refuse(
      problem('conflict', {
        detail: `The order is ${order.status} and cannot be given back.`,
        order: orderOf(order),
      }),
    )
  })

  /** The admission, if there is one and it is for this sale. */
  function admittedTo(sale: string, verified: Verified<AdmissionClaims>): AdmissionClaims {
    if (!verified.ok) {
      return refuse(
        problem('not-admitted', {
          ...(verified.reason === 'expired' && { detail: 'The admission has expired.' }),
          queue: `/sales/${encodeURIComponent(sale)}/queue`,
          retry_after_seconds: 5,
        }),
      )
    }
    const { claims } = verified
    if (claims.sale !== sale)
      refuse(problem('wrong-sale', { detail: `The admission is for ${claims.sale}.` }))
    return claims
  }

  /**
   * What a visitor's call has come to, as it is sent. Who finds all units in carts is counted as hoping for one; not while
   * there are any, too few for this visitor or of another product, since for those others may be called.
   */
  function answerTo(outcome: Outcome, sale: string, visitor: string): Response {
    if (outcome.kind === 'problem') {
      if (outcome.problem.type !== '/problems/all-in-carts') return sendProblem(outcome.problem)
      const { product_id, remaining } = outcome.problem
      const others = sales.get(sale)?.products.filter((p) => p.product_id !== product_id) ?? []
      arrivals.waitsForStock(sale, visitor, remaining === 0 && !others.some((p) => available(p) > 0))
      return sendProblem({ ...outcome.problem, retry_after_seconds: arrivals.askAgainSeconds(sale) })
    }
    arrivals.waitsForStock(sale, visitor, false)
    const headers: Record<string, string> = { 'cache-control': 'no-store' }
    if (outcome.replayed) headers['Idempotency-Replayed'] = 'true'
    if (outcome.kind === 'processing') {
      if (!outcome.replayed) metrics.degraded.inc({ without: 'ledger' })
      const order = processingOf(outcome.reservation)
      headers.Location = `/orders/${order.order_id}`
      return sendJson({ ...order, order_token: tokenFor(order) }, 202, headers)
    }
    if (outcome.kind === 'recorded' && !outcome.replayed) orders.beginPayment(outcome.order)
    const order = orderOf(outcome.order)
    headers.Location = `/orders/${order.order_id}`
    return sendJson(
      { ...order, remaining: outcome.remaining, order_token: tokenFor(order) },
      outcome.kind === 'live' ? 200 : 201,
      headers,
    )
  }

  /** The order in the path, if the caller may see it; its reservation while it is still being recorded. */
  async function ownOrder(c: Context): Promise<OrderView | Reservation> {
    const right = await rightOf(bearer(c))
    if (!right) {
      const detail = 'Send the admission token or the order_token.'
      return refuse(problem('not-admitted', { detail, retry_after_seconds: 5 }))
    }
    const id = tryParse(OrderId, c.req.param('order'))
    if (id === undefined || (right.order ?? id) !== id) return refuse(problem('unknown-order'))
    const found = await checkout.standing.find(right.sale, id).catch(() => null)
    if (found === null) return refuse(tryAgain('Orders cannot be read at this moment.'))
    const isOfSale = found && ('status' in found ? found.sale_id : found.sale) === right.sale
    const owns = isOfSale && (right.visitor ?? found.visitor) === found.visitor
    return owns ? found : refuse(problem('unknown-order'))
  }

  /** What a token gives a right to: an admission to a visitor's orders of a sale, an order's own token to that order. */
  async function rightOf(
    token: string | undefined,
  ): Promise<{ sale: string; visitor?: string; order?: string } | null> {
    if (token === undefined) return null
    const nowMs = sales.nowMs()
    const admission = await readToken(ADMISSION, keys.admission, token, nowMs)
    if (admission.ok) return { sale: admission.claims.sale, visitor: admission.claims.sub }
    const view = readToken(ORDER, keys.order, token, nowMs)
    return view.ok ? { sale: view.claims.sale, order: view.claims.sub } : null
  }

  function processingOf(r: Reservation): Order {
    const product = sales.get(r.sale)?.products.find((p) => p.product_id === r.product)
    return {
      order_id: r.order,
      sale: r.sale,
      product_id: r.product,
      quantity: r.quantity,
      unit_price_minor: product?.unit_price_minor ?? 0,
      currency: product?.currency ?? '',
      status: 'processing',
      reserved_until: null,
      expires_in_seconds: 0,
      created_at: new Date(madeAtMs(r.order)).toISOString(),
    }
  }

  const orderOf = (order: OrderRow & { left_ms?: number }) => orderAt(order, sales.nowMs())

  function tokenFor(order: Order): string {
    const iat = Math.floor(sales.nowMs() / 1000)
    return signToken(ORDER, keys.order, {
      sub: order.order_id,
      sale: order.sale,
      iat,
      exp: iat + ORDER_TOKEN_TTL_SECONDS,
    })
  }

  return app
}
