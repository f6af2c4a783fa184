/** The operators' calls about orders: find them, read their history, note, export them, hand them over, cancel them, refund them. */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { pageLimit } from '../../shared/api/fields.ts'
import { CancelRequest, NoteRequest, RefundRequest } from '../../shared/api/operator.ts'
import { OrderId, ProductId, SaleId } from '../../shared/api/public.ts'
import { ORDER_STATUSES, type OrderStatus, statusOf } from '../../shared/order-status.ts'
import { parse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { PaymentJobs } from '../jobs/payment-jobs.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrder, findOrders, type OrderRow, type OrderView } from '../ledger/orders.ts'
import { keyOf, operatorOf, readBody, refuse } from '../lib/request.ts'
import { feed } from '../orders/change-feed.ts'
import { exportOrders } from '../orders/export.ts'
import { orderAt } from '../orders/order-json.ts'
import type { Orders } from '../orders/orders.ts'
import { askRefund } from '../payments/refunds.ts'
import { foundOrder, orderHistory } from './history.ts'
import { insertNote } from './history-queries.ts'
import type { OrderSearch } from './order-search.ts'
import { emailsOf } from './search-queries.ts'

/** Found orders per page. */
const [FOUND, MOST_FOUND] = [50, 200]
const STATUSES = ORDER_STATUSES.filter(
  (status): status is Exclude<OrderStatus, 'processing'> => status !== 'processing',
)
const SearchQuery = v.object({
  q: v.optional(v.pipe(v.string(), v.maxLength(200, 'at most 200 characters')), ''),
  sale: v.optional(SaleId),
  product: v.optional(ProductId),
  status: v.optional(v.picklist(STATUSES, `one of ${STATUSES.join(', ')} is required`)),
  limit: v.optional(pageLimit(MOST_FOUND), String(FOUND)),
  after: v.optional(v.string()),
})

interface OrderDeps {
  readonly sql: Sql
  readonly orders: Pick<Orders, 'fulfil' | 'cancelByShop'>
  readonly jobs: Pick<PaymentJobs, 'addRefundJobs'>
  /** Has the fast gate learn of units that are for sale again. */
  readonly unitsReturned: (orders: readonly OrderRow[]) => Promise<void>
  readonly search: Pick<OrderSearch, 'find'>
  readonly nowMs: () => number
}

/** Below `/admin`. */
export function orderRoutes({ sql, orders, jobs, search, unitsReturned, nowMs }: OrderDeps): Hono {
  const app = new Hono()

  app.get('/sales/:sale/orders', (c) => exportOrders(sql, c, c.req.param('sale')))

  /**
   * The search, with `q`, `status` or `product`; `q=` alone lists the newest orders. An order is found within about a second of its
   * change, in a rush of more than a thousand changes a second later. Without any of them this path is the feed of changes.
   */
  app.get('/orders', async (c) => {
    const isSearch = ['q', 'status', 'product'].some((name) => c.req.query(name) !== undefined)
    if (!isSearch) return feed(sql, c)
    const { q, sale, product, status, limit, after } = parse(SearchQuery, c.req.query())
    const page = await search.find({
      text: q,
      limit,
      ...(sale !== undefined && { sale }),
      ...(product !== undefined && { product }),
      ...(status !== undefined && { statuses: status === 'refunded' ? (['refunded', 'returned'] as const) : [status] }),
      ...(after !== undefined && { after }),
    })
    const [found, emails] = await Promise.all([findOrders(sql, page.ids), emailsOf(sql, page.ids)])
    const byId = new Map(found.map((order) => [order.order_id, order]))
    const known = page.ids.flatMap((id) => byId.get(id) ?? [])
    return c.json({
      orders: known.map((order) => foundOrder(order, nowMs(), emails.get(order.order_id))),
      next: page.next,
    })
  })

  app.get('/orders/:order', async (c) => {
    const orderId = c.req.param('order')
    const history = v.is(OrderId, orderId) ? await orderHistory(sql, orderId, nowMs()) : undefined
    return history ? c.json(history) : refuse(problem('unknown-order'))
  })

  app.post('/orders/:order/notes', async (c) => {
    const { order_id } = await orderOf(c)
    const { text } = await readBody(c, NoteRequest)
    return c.json(await insertNote(sql, order_id, { operator: operatorOf(c), text }), 201)
  })

  /** The order of the path; also of its sale's, where the path names one. */
  async function orderOf(c: Context): Promise<OrderView> {
    const { order: orderId, sale: saleId } = c.req.param() as { order: string; sale?: string }
    const found = v.is(OrderId, orderId) ? await findOrder(sql, orderId) : undefined
    if (!found || (saleId !== undefined && saleId !== found.sale_id)) return refuse(problem('unknown-order'))
    return found
  }

  for (const path of ['/orders/:order/fulfil', '/sales/:sale/orders/:order/fulfil'])
    app.post(path, async (c) => {
      const { order_id } = await orderOf(c)
      const fulfilled = await orders.fulfil(order_id, operatorOf(c))
      if (fulfilled) return c.json(orderAt(fulfilled, nowMs()))
      const now = await findOrder(sql, order_id)
      return conflict(`The order is ${now && statusOf(now.status)}: only a confirmed one can be fulfilled.`)
    })

  app.post('/orders/:order/refund', async (c) => {
    const key = keyOf(c)
    const request = await readBody(c, RefundRequest)
    const { order_id } = await orderOf(c)
    const asked = { operator: operatorOf(c), key }
    const { order, isReplay, isDone } = await askRefund({ sql, jobs }, order_id, request, asked)
    if (isReplay) c.header('Idempotency-Replayed', 'true')
    return c.json(orderAt(order, nowMs()), isDone ? 200 : 202)
  })

  app.post('/orders/:order/cancel', async (c) => {
    const { reason } = await readBody(c, CancelRequest)
    const { order_id } = await orderOf(c)
    const result = await orders.cancelByShop(order_id, { operator: operatorOf(c), reason })
    if (!result) return refuse(problem('unknown-order'))
    const { order, wasSold } = result
    if (order.status === 'expired') conflict('The hold of the order has ended.')
    if (order.status !== 'cancelled')
      conflict(`The order is ${statusOf(order.status)}: what was paid and handed over can only be refunded.`)
    // The gate counts sold units nowhere, so it cannot give them back one by one.
    if (wasSold) await unitsReturned([order])
    return c.json(orderAt(order, nowMs()))
  })

  return app
}

const conflict = (detail: string) => refuse(problem('conflict', { detail }))
