/**
 * The checkout of admitted visitors: what a call must be before the checkout serves it, and how its outcome is sent.
 */
import { Hono } from 'hono'
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { CheckoutRequest, type Order } from '../../shared/api/public.ts'
import { invalidField, type Problem, ProblemError, problem } from '../../shared/problem.ts'
import type { Buyers } from '../access/buyer-access.ts'
import {
  idempotencyKey,
  NO_STORE,
  parseBody,
  readText,
  refuse,
  sendJson,
  sendProblem,
  tryAgain,
} from '../lib/http/request.ts'
import { ownOrderAt, processingOrder } from '../orders/order-json.ts'
import type { Orders } from '../orders/orders.ts'
import type { NetworkCounts } from '../queue/network-counts.ts'
import { available, inLine } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { contactOf, keepsContact } from './cart/contact.ts'
import type { Checkout } from './checkout.ts'
import type { CheckoutTraffic } from './checkout-traffic.ts'
import type { Outcome } from './outcome.ts'

interface CheckoutRoutesDeps {
  readonly buyers: Buyers
  readonly sales: Sales
  readonly checkout: Checkout
  readonly orders: Pick<Orders, 'beginPayment'>
  readonly networks: Pick<NetworkCounts, 'ordered'>
  readonly traffic: CheckoutTraffic
}

const STATUS = { recorded: 201, live: 200, processing: 202 }

export function checkoutRoutes({ buyers, sales, checkout, orders, networks, traffic }: CheckoutRoutesDeps): Hono {
  const app = new Hono()
  // All below it, so that a route added later is not open by mistake.
  app.use('/sales/*', buyers.throughEdge)

  app.post('/sales/:sale/checkout', async (c) => {
    const saleId = c.req.param('sale')
    // Anyone can make up a path: only a sale that exists is counted by name, and has a share of the load.
    const counted = sales.get(saleId)?.sale_id
    let outcomeLabel = 'failed'
    let visitor: string | undefined
    let beganMs: number | undefined
    try {
      const read = buyers.readAdmission(c)
      const admission = buyers.enterAdmitted(saleId, read instanceof Promise ? await read : read)
      visitor = admission.sub
      // Read before the call counts as load: a body that never arrives must not take anybody's place.
      const body = await readText(c)
      if (!traffic.enter(counted)) {
        outcomeLabel = 'shed'
        return sendProblem(tryAgain('Too many people are checking out at this moment.'))
      }
      beganMs = performance.now()
      const sale = sales.get(saleId) ?? (await sales.find(saleId)) ?? refuse(problem('unknown-sale'))
      const line = admission.line ?? PUBLIC_LINE
      traffic.arrived(saleId, line, admission.num, admission.src)
      const key = idempotencyKey(c)
      const request = parseBody(c, CheckoutRequest, body)
      if (request.payment_method !== undefined && sale.payment === 'handover')
        refuse(invalidField('payment_method', 'is not taken: the order is paid in the shop'))
      const contact = keepsContact(sale) ? contactOf(c, sale, request, buyers.isEdge) : undefined
      const around = buyers.networksOf(c)
      const { num: number, src: source } = admission
      const buyer = {
        visitor,
        line,
        number,
        ...(source && { source }),
        ...contact,
        ...(around && { networks: around }),
      }
      const answer = checkout.checkout(inLine(sale, line), buyer, request, key)
      const outcome = answer instanceof Promise ? await answer : answer
      outcomeLabel = labelOf(outcome)
      return respond(outcome, saleId, visitor, buyers.asnOf(c))
    } catch (error) {
      if (error instanceof ProblemError) outcomeLabel = nameOf(error.problem)
      throw error
    } finally {
      traffic.count(counted, outcomeLabel)
      if (visitor !== undefined) {
        const waitedMs = buyers.waitedMs(c)
        if (beganMs !== undefined) traffic.leave(counted, { visitor, outcome: outcomeLabel, beganMs, waitedMs })
        buyers.leave(visitor)
      }
    }
  })

  /**
   * Sends an outcome. A visitor who finds all units in carts counts as waiting for stock, and so does one who comes
   * after others; not while any are left, too few for this visitor or of another product, because others may be
   * called for those.
   */
  function respond(outcome: Outcome, saleId: string, visitor: string, asn: number | undefined): Response {
    if (outcome.kind === 'problem') {
      const { unpaid = 0 } = outcome
      const { type, product_id, remaining } = outcome.problem
      const comesLast = type === '/problems/too-many-orders' && unpaid > 0
      if (outcome.waitsForUse) traffic.waitsForUse(saleId, visitor)
      if (type !== '/problems/all-in-carts' && !comesLast) return sendProblem(outcome.problem)
      const isOtherLeft = sales.get(saleId)?.products.some((p) => p.product_id !== product_id && available(p) > 0)
      const waits = comesLast || (remaining === 0 && !isOtherLeft)
      traffic.waitsForStock(saleId, visitor, waits ? unpaid : null)
      return sendProblem({ ...outcome.problem, retry_after_seconds: traffic.askAgainSeconds(saleId) })
    }
    traffic.waitsForStock(saleId, visitor, null)
    const { kind, replayed } = outcome
    const order: Order =
      kind === 'processing'
        ? processingOrder(outcome.reservation, sales.get(saleId))
        : ownOrderAt({ tax: sales.get(saleId)?.tax ?? null, ...outcome.order }, sales.nowMs())
    if (kind !== 'processing') order.remaining = outcome.remaining
    if (asn !== undefined && !replayed) networks.ordered(order.order_id, asn)
    order.order_token = buyers.orderToken(order)
    if (kind === 'processing' && !replayed) traffic.countProcessing()
    if (kind === 'recorded' && !replayed) orders.beginPayment(outcome.order)
    const headers = { ...NO_STORE, Location: `/orders/${order.order_id}` }
    return sendJson(order, STATUS[kind], replayed ? { ...headers, 'Idempotency-Replayed': 'true' } : headers)
  }

  return app
}

const nameOf = ({ type }: Problem) => type.slice('/problems/'.length)

/** The label of a call in the metrics. */
function labelOf(outcome: Outcome): string {
  if (outcome.kind === 'problem') return nameOf(outcome.problem)
  if (outcome.replayed) return 'replayed'
  return outcome.kind === 'recorded' ? 'reserved' : outcome.kind
}
