/**
 * A buyer's own orders: read one, pay it, give it back, follow its changes, or list those of a sale. The caller has
 * the admission or the order's token; the edge may name a visitor whose admission is long gone, and gets a token with
 * each order.
 */
import { type Context, Hono } from 'hono'
import { OrderId } from '../../shared/api/fields.ts'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import { isSettled, isSold } from '../../shared/api/order-status.ts'
import { PaymentRequest } from '../../shared/api/public.ts'
import { tryParse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { Buyers, Right } from '../access/buyer-access.ts'
import type { OrderRow, OrderView } from '../ledger/order-statements.ts'
import type { Reservation } from '../ledger/record.ts'
import { headerOf, parseBody, readText, refuse, sendJson, tryAgain } from '../lib/http/request.ts'
import type { OrderEvents } from '../orders/order-events.ts'
import { ownOrderAt, processingOrder } from '../orders/order-json.ts'
import type { Orders } from '../orders/orders.ts'
import type { ResponseTimes } from '../queue/response-times.ts'
import type { Sales } from '../sales/sales.ts'
import type { ExistingOrder } from './existing-order.ts'

interface OwnOrdersDeps {
  readonly sales: Sales
  readonly buyers: Buyers
  readonly checkout: { readonly existing: Pick<ExistingOrder, 'byId'> }
  readonly orders: Pick<Orders, 'find' | 'ofVisitor' | 'pay' | 'giveBack'>
  readonly events: Pick<OrderEvents, 'stream'>
  readonly responseTimes: Pick<ResponseTimes, 'answered'>
}

const LISTED_DAYS = 30
/** The bound is above what one buyer orders in a sale. */
const MAX_ORDERS = 100

export function ownOrderRoutes({ sales, buyers, checkout, orders, events, responseTimes }: OwnOrdersDeps): Hono {
  const app = new Hono()
  const orderNow = (order: OrderNow) => orderAt(order, sales)
  app.use('/orders/*', buyers.throughEdge)

  app.get('/sales/:sale/orders', buyers.throughEdge, async (c) => {
    const saleId = c.req.param('sale')
    const { visitor, isNamed } = await buyers.visitorOf(c, saleId)
    try {
      const found = await orders.ofVisitor(saleId, visitor, { days: LISTED_DAYS, limit: MAX_ORDERS })
      const own = found.map(orderNow)
      const sent = isNamed ? own.map((order) => ({ ...order, order_token: buyers.orderToken(order) })) : own
      return sendJson({ orders: sent }, 200)
    } finally {
      buyers.leave(visitor)
    }
  })

  const get = withOrder(isUnsettled, async (_, found) => {
    const order = 'status' in found ? orderNow(found) : processingOrder(found, sales.get(found.sale))
    return sendJson(order, 200)
  })
  app.get('/orders/:order', get)

  // An open stream does not count as a call in progress, because it lasts. The streams of one order have their own
  // limit.
  app.get('/orders/:order/events', async (c) => {
    const found = await ownOrder(c, await buyers.rightOf(c))
    return events.stream(c, 'order' in found ? found.order : found.order_id, orderNow)
  })

  const pay = withOrder(isReserved, async (c, found, body) => {
    const { payment_method } = parseBody(c, PaymentRequest, body)
    const { order_id, sale_id, contact = null } = recorded(found)
    if ((sales.get(sale_id) ?? (await sales.find(sale_id)))?.payment === 'handover')
      return refuse(problem('conflict', { detail: 'The order is paid in the shop.', order: orderNow(recorded(found)) }))
    const paying = isReserved(found) ? await orders.pay(sale_id, order_id, payment_method) : undefined
    const order = paying ?? (await orders.find(order_id)) ?? refuse(problem('unknown-order'))
    // The buyer is at their bank with the first way to pay: one payment at a time.
    const isOther = !paying && order.status === 'paying' && order.payment_method !== payment_method
    if (!isOther && (order.status === 'paying' || isSold(order.status)))
      return sendJson(orderNow({ contact, ...order }), 202)
    const detail = isOther
      ? 'It is being paid in another way: finish that first.'
      : order.status === 'reserved'
        ? 'The hold of the order has ended.'
        : `The order is ${order.status}.`
    return refuse(problem('conflict', { detail, order: orderNow(order) }))
  })
  app.post('/orders/:order/payment', pay)

  const giveBack = withOrder(isReserved, async (_, found) => {
    const { order_id } = recorded(found)
    const cancelled = isReserved(found) ? await orders.giveBack(order_id) : undefined
    const order = cancelled ?? (await orders.find(order_id)) ?? refuse(problem('unknown-order'))
    if (order.status === 'cancelled') return sendJson(orderNow(order), 200)
    const detail = `The order is ${order.status} and cannot be given back.`
    return refuse(problem('conflict', { detail, order: orderNow(order) }))
  })
  app.delete('/orders/:order', giveBack)

  /**
   * A handler of calls for the order in the path, by a caller who may see it. Where one is served, and found its
   * order as `isWork` says, its time steers the line.
   */
  function withOrder(
    isWork: (found: OrderView | Reservation) => boolean,
    serve: (c: Context, found: OrderView | Reservation, body: string) => Promise<Response>,
  ) {
    return async (c: Context) => {
      const right = await buyers.rightOf(c)
      const caller = right.visitor ?? right.order
      buyers.enter(caller)
      try {
        const body = c.req.method === 'POST' ? await readText(c) : ''
        // The clock starts when the body has arrived, because the sender decides how long that takes.
        const beganMs = performance.now() - buyers.waitedMs(c)
        const found = await ownOrder(c, right)
        const response = await serve(c, found, body)
        if (isWork(found)) responseTimes.answered(right.sale, found.visitor, beganMs)
        return response
      } finally {
        buyers.leave(caller)
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
    buyers.refuseBlocked(found.visitor)
    return found
  }

  return app
}

/** The route is mounted below `/internal`: the orders of a visitor whom the edge names, of all sales. */
export const ordersOfAllRoutes = ({
  sales,
  buyers,
  orders,
}: Pick<OwnOrdersDeps, 'sales' | 'buyers' | 'orders'>): Hono =>
  new Hono().get('/orders', async (c) => {
    const visitor = decodeURIComponent(headerOf(c, EDGE_VISITOR_HEADER) ?? refuse(problem('unauthorized')))
    buyers.refuseBlocked(visitor)
    const found = await orders.ofVisitor(null, visitor, { days: LISTED_DAYS, limit: MAX_ORDERS })
    return sendJson({ orders: found.map((order) => orderAt(order, sales)) }, 200)
  })

type OrderNow = OrderRow & Partial<Pick<OrderView, 'left_ms' | 'contact'>>

function orderAt(order: OrderNow, sales: Sales) {
  // A sale that is long over is in memory no longer.
  const sale = sales.get(order.sale_id)
  const product = sale?.products.find(({ product_id }) => product_id === order.product_id)
  return ownOrderAt({ product_name: product?.name ?? null, tax: sale?.tax ?? null, ...order }, sales.nowMs())
}

/** True if the buyer still waits for the order: pages read such orders while a sale runs. */
const isUnsettled = (found: OrderView | Reservation) => !('status' in found && isSettled(found.status))
/** True if the order can be paid or given back. A repeated call finds it changed. */
const isReserved = (found: OrderView | Reservation) => 'status' in found && found.status === 'reserved'

function recorded(found: OrderView | Reservation): OrderView {
  if ('status' in found) return found
  return refuse(problem('conflict', { detail: 'The order is still being recorded.', retry_after_seconds: 1 }))
}
