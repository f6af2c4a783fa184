/** Routes of admitted visitors: check out, read an order, pay it, give it back. */
import type { Context } from 'hono'
import { Hono } from 'hono'
import { PUBLIC_LINE, queueName } from '../../shared/api/access.ts'
import { CheckoutRequest, type Order, OrderId, PaymentRequest } from '../../shared/api/public.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { isSold } from '../../shared/order-status.ts'
import { tryParse } from '../../shared/parse.ts'
import { type Problem, ProblemError, problem } from '../../shared/problem.ts'
import {
  ADMISSION,
  type AdmissionClaims,
  ORDER,
  readToken,
  saleNamedIn,
  TokenReader,
  type Verified,
} from '../../shared/tokens.ts'
import type { Blocks } from '../access/blocks.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, type OrderRow, type OrderView } from '../ledger/orders.ts'
import type { Reservation } from '../ledger/record.ts'
import type { Metrics } from '../lib/metrics.ts'
import {
  bearer,
  fromEdge,
  keyOf,
  NO_STORE,
  parseBody,
  readBody,
  readText,
  refuse,
  requireEdge,
  sendJson,
  sendProblem,
} from '../lib/request.ts'
import type { OrderEvents } from '../orders/order-events.ts'
import { orderAt, processingOrder } from '../orders/order-json.ts'
import type { Orders } from '../orders/orders.ts'
import { orderToken } from '../orders/own-orders.ts'
import type { Arrivals } from '../queue/arrivals.ts'
import { available, inLine } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Checkout } from './checkout.ts'
import { contactOf, keepsContact } from './contact.ts'
import { type LoadShedder, VisitorCalls } from './load-shedder.ts'
import { type Outcome, tryAgain } from './outcome.ts'

interface BuyerDeps {
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'ALLOW_DIRECT' | 'CALLS_PER_VISITOR'>
  readonly sql: Sql
  readonly sales: Sales
  readonly blocks: Pick<Blocks, 'refuse'>
  readonly checkout: Checkout
  readonly orders: Orders
  readonly events: OrderEvents
  readonly arrivals: Arrivals
  readonly loadShedder: LoadShedder
  readonly metrics: Metrics
  readonly keys: { readonly admission: TokenKeys; readonly order: TokenKeys<SyncKey> }
}

/** Admissions remembered as read, of some 500 bytes each: buyers come several times with one, to retry, look and pay. */
const MAX_ADMISSIONS = 50_000

export function buyerRoutes(deps: BuyerDeps): Hono {
  const { config, sql, sales, blocks, checkout, orders, events, arrivals, loadShedder, metrics, keys } = deps
  const isEdge = fromEdge(config.EDGE_TOKEN)
  const visitorCalls = new VisitorCalls(config.CALLS_PER_VISITOR)
  const admissions = new TokenReader(ADMISSION, keys.admission, MAX_ADMISSIONS)
  const app = new Hono()
  // The edge knows more of a buyer than the token says: their session.
  if (!config.ALLOW_DIRECT) for (const path of ['/sales/*', '/orders/*']) app.use(path, requireEdge(config.EDGE_TOKEN))

  app.post('/sales/:sale/checkout', async (c) => {
    const saleId = c.req.param('sale')
    // Anyone can make up a path: only a sale that exists is counted by name, and has a share of the load.
    const counted = sales.get(saleId)?.sale_id
    let outcomeLabel = 'failed'
    let visitor: string | undefined
    let beganMs: number | undefined
    try {
      // One admission must not take the room of others: calls that it may not make are refused before any work.
      const read = admissions.read(bearer(c) ?? '', sales.nowMs())
      const admission = admissionTo(saleId, read instanceof Promise ? await read : read)
      blocks.refuse(admission.sub)
      visitor = enterAs(admission.sub)
      // Read before the call counts as load: a body that never arrives must not take anybody's room.
      const body = await readText(c)
      if (!loadShedder.enter(counted)) {
        outcomeLabel = 'shed'
        return sendProblem(tryAgain('Too many people are checking out at this moment.'))
      }
      beganMs = performance.now()
      const sale = sales.get(saleId) ?? (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
      const line = admission.line ?? PUBLIC_LINE
      arrivals.arrived(queueName(saleId, line), admission.num)
      const key = keyOf(c)
      const request = parseBody(c, CheckoutRequest, body)
      const contact = keepsContact(sale) ? contactOf(c, sale, request, isEdge) : undefined
      const buyer = { visitor: admission.sub, line, number: admission.num, ...(contact && { contact }) }
      const answer = checkout.checkout(inLine(sale, line), buyer, request, key)
      const outcome = answer instanceof Promise ? await answer : answer
      outcomeLabel = labelOf(outcome)
      return respond(outcome, saleId, admission.sub)
    } catch (error) {
      if (error instanceof ProblemError) outcomeLabel = nameOf(error.problem)
      throw error
    } finally {
      metrics.checkouts.inc({ sale: counted ?? 'unknown', outcome: outcomeLabel })
      if (beganMs !== undefined) {
        metrics.checkoutSeconds.observe((performance.now() - beganMs) / 1000)
        loadShedder.leave(counted)
      }
      if (visitor !== undefined) visitorCalls.leave(visitor)
    }
  })

  const get = withOrder(async (_, found) => {
    const order = 'status' in found ? orderNow(found) : processingOrder(found, sales.get(found.sale))
    return sendJson(order, 200)
  })
  app.get('/orders/:order', get)

  // Not a visitor's call in progress: a stream lasts, and the streams of one order are limited.
  app.get('/orders/:order/events', async (c) => {
    const found = await ownOrder(c, await requireRight(c))
    return events.stream(c, 'order' in found ? found.order : found.order_id, orderNow)
  })

  const pay = withOrder(async (c, found) => {
    const { payment_method } = await readBody(c, PaymentRequest)
    const { order_id } = recorded(found)
    const paying = await orders.pay(order_id, payment_method)
    const order = paying ?? (await findOrder(sql, order_id)) ?? refuse(problem('unknown-order'))
    if (order.status === 'paying' || isSold(order.status)) return sendJson(orderNow(order), 202)
    return refuse(problem('conflict', { detail: `The order is ${order.status}.`, order: orderNow(order) }))
  })
  app.post('/orders/:order/payment', pay)

  const giveBack = withOrder(async (_, found) => {
    const { order_id } = recorded(found)
    const cancelled = await orders.cancel(order_id, ['reserved'], 'given_back')
    const order = cancelled ?? (await findOrder(sql, order_id)) ?? refuse(problem('unknown-order'))
    if (order.status === 'cancelled') return sendJson(orderNow(order), 200)
    const detail = `The order is ${order.status} and cannot be given back.`
    return refuse(problem('conflict', { detail, order: orderNow(order) }))
  })
  app.delete('/orders/:order', giveBack)

  /** Begins a call of a visitor; throws if they have too many in progress. */
  function enterAs(visitor: string): string {
    if (visitorCalls.enter(visitor)) return visitor
    const detail = 'You have other calls in progress. Wait for them.'
    return refuse(problem('too-many-requests', { detail, retry_after_seconds: 1 }))
  }

  /** The admission that was read. Throws unless it is valid and for this sale. */
  function admissionTo(saleId: string, read: Verified<AdmissionClaims>): AdmissionClaims {
    if (!read.ok) {
      const expired = read.reason === 'expired' && { detail: 'The admission has expired.' }
      return refuse(problem('not-admitted', { ...expired, queue: queueOf(saleId), retry_after_seconds: 5 }))
    }
    const { claims } = read
    if (claims.sale === saleId) return claims
    return refuse(problem('wrong-sale', { detail: `The admission is for ${claims.sale}.` }))
  }

  /**
   * Sends an outcome. A visitor who finds all units in carts counts as waiting for stock; not while any are left, too few
   * for this visitor or of another product, because others may be called for those; nor where others come first anyway.
   */
  function respond(outcome: Outcome, saleId: string, visitor: string): Response {
    if (outcome.kind === 'problem') {
      if (outcome.problem.type !== '/problems/all-in-carts') return sendProblem(outcome.problem)
      const { product_id, remaining } = outcome.problem
      const others = sales.get(saleId)?.products.filter((p) => p.product_id !== product_id) ?? []
      const isNext = !outcome.comesLast && remaining === 0 && !others.some((p) => available(p) > 0)
      arrivals.waitsForStock(saleId, visitor, isNext)
      return sendProblem({ ...outcome.problem, retry_after_seconds: arrivals.askAgainSeconds(saleId) })
    }
    arrivals.waitsForStock(saleId, visitor, false)
    const { kind, replayed } = outcome
    const order: Order =
      kind === 'processing' ? processingOrder(outcome.reservation, sales.get(saleId)) : orderNow(outcome.order)
    if (kind !== 'processing') order.remaining = outcome.remaining
    order.order_token = orderToken(order, keys.order, sales.nowMs())
    if (kind === 'processing' && !replayed) metrics.degraded.inc({ without: 'ledger' })
    if (kind === 'recorded' && !replayed) orders.beginPayment(outcome.order)
    const headers = { ...NO_STORE, Location: `/orders/${order.order_id}` }
    return sendJson(order, STATUS[kind], replayed ? { ...headers, 'Idempotency-Replayed': 'true' } : headers)
  }

  /** A handler of calls for the order in the path, by a caller who may see it. */
  function withOrder(serve: (c: Context, found: OrderView | Reservation) => Promise<Response>) {
    return async (c: Context) => {
      const right = await requireRight(c)
      const who = enterAs(right.visitor ?? right.order ?? '')
      try {
        return await serve(c, await ownOrder(c, right))
      } finally {
        visitorCalls.leave(who)
      }
    }
  }

  /** The order in the path, if it is the caller's; its reservation while it is not recorded. */
  async function ownOrder(c: Context, right: Right): Promise<OrderView | Reservation> {
    const id = tryParse(OrderId, c.req.param('order'))
    if (id === undefined || (right.order ?? id) !== id) return refuse(problem('unknown-order'))
    const found = await checkout.existing.byId(right.sale, id).catch(() => null)
    if (found === null) return refuse(tryAgain('Orders cannot be read at this moment.'))
    const isOfSale = found && ('status' in found ? found.sale_id : found.sale) === right.sale
    const owns = isOfSale && (right.visitor ?? found.visitor) === found.visitor
    if (!owns) return refuse(problem('unknown-order'))
    blocks.refuse(found.visitor)
    return found
  }

  /** What the caller's token gives a right to: an admission to the visitor's orders of a sale, an order token to one order. */
  async function requireRight(c: Context): Promise<Right> {
    const [token, nowMs] = [bearer(c) ?? '', sales.nowMs()]
    const admission = await admissions.read(token, nowMs)
    if (admission.ok) return { sale: admission.claims.sale, visitor: admission.claims.sub }
    const view = readToken(ORDER, keys.order, token, nowMs)
    if (view.ok) return { sale: view.claims.sale, order: view.claims.sub }
    const detail = 'Send the admission token or the order_token.'
    const sale = saleNamedIn(token)
    return refuse(problem('not-admitted', { detail, ...(sale && { queue: queueOf(sale) }), retry_after_seconds: 5 }))
  }

  const orderNow = (order: OrderRow & { left_ms?: number }) => orderAt(order, sales.nowMs())

  return app
}

const queueOf = (sale: string) => `/sales/${encodeURIComponent(sale)}/queue`

interface Right {
  readonly sale: string
  readonly visitor?: string
  readonly order?: string
}

const STATUS = { recorded: 201, live: 200, processing: 202 }

const nameOf = ({ type }: Problem) => type.slice('/problems/'.length)

/** The label of a call in the metrics. */
function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'problem') return nameOf(outcome.problem)
  if (outcome.replayed) return 'replayed'
  return outcome.kind === 'recorded' ? 'reserved' : outcome.kind
}

function recorded(found: OrderView | Reservation): OrderView {
  if ('status' in found) return found
  return refuse(problem('conflict', { detail: 'The order is still being recorded.', retry_after_seconds: 1 }))
}
