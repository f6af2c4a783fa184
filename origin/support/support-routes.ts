/** The operators' calls for support: find an order, read its timeline, add a note to it, and forget a visitor. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { OrderId, ProductId, pageLimit, SaleId } from '../../shared/api/fields.ts'
import { NoteRequest } from '../../shared/api/operators/requests.ts'
import { ORDER_STATUSES, type OrderStatus } from '../../shared/api/order-status.ts'
import { parse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { RecentSearches } from '../front/recent-searches.ts'
import { ALL_SALES, ReadAudit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { findOrders } from '../ledger/order-statements.ts'
import { jsonBody, query, refuse } from '../lib/http/request.ts'
import { operatorOf, requireRole } from '../operators/operator-auth.ts'
import { requireOrder } from '../orders/orders.ts'
import { forgetVisitor } from '../retention/retention-queries.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { foundOrder, orderHistory } from './history.ts'
import { findOrderIds, kindOfSearch } from './order-search.ts'
import { insertNote, readAbout } from './support-queries.ts'

/** The number of found orders on a page, by default and at most. */
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
/** A visitor's name is at most as long as a token's subject. */
const Visitor = v.object({ visitor: v.pipe(v.string(), v.maxLength(200, 'at most 200 characters')) })

interface SupportDeps {
  readonly sql: Sql
  readonly sales: Pick<OperatedSales, 'nowMs'>
  readonly searches: Pick<RecentSearches, 'remove'>
}

export function supportRoutes({ sql, sales, searches }: SupportDeps) {
  const reads = new ReadAudit(sql)
  return (
    new Hono()
      /**
       * `q=` alone lists the newest orders. A changed order is found within about a second, and later during a rush
       * of more than a thousand changes a second.
       */
      .get('/orders', query(SearchQuery), async (c) => {
        const { q, sale, product, status, limit, after } = c.req.valid('query')
        const looked = { by: kindOfSearch(q), product, status }
        await reads.log({ actor: operatorOf(c), action: 'orders searched', sale: sale ?? ALL_SALES, after: looked })
        const statuses = status === 'refunded' ? (['refunded', 'returned'] as const) : status && [status]
        const page = await findOrderIds(sql, { text: q, sale, product, statuses, limit, after })
        const [orders, about] = await Promise.all([findOrders(sql, page.ids), readAbout(sql, page.ids)])
        const byId = new Map(orders.map((order) => [order.order_id, order]))
        const found = page.ids.flatMap((id) => byId.get(id) ?? [])
        return c.json({
          orders: found.map((order) => foundOrder(order, sales.nowMs(), about.get(order.order_id))),
          next: page.next,
        })
      })

      .get('/orders/:order', async (c) => {
        const orderId = c.req.param('order')
        const history = v.is(OrderId, orderId) ? await orderHistory(sql, orderId, sales.nowMs()) : undefined
        if (!history) return refuse(problem('unknown-order'))
        await reads.log({ actor: operatorOf(c), action: 'order read', sale: history.sale, order: orderId })
        return c.json(history)
      })

      .post('/orders/:order/notes', jsonBody(NoteRequest), async (c) => {
        const { order_id } = await requireOrder(sql, c.req.param('order'))
        const { text } = c.req.valid('json')
        return c.json(await insertNote(sql, order_id, { operator: operatorOf(c), text }), 201)
      })

      /** Repeating it is harmless: an unknown visitor counts as forgotten. */
      .delete('/visitors/:visitor', requireRole('owner'), async (c) => {
        const { visitor } = parse(Visitor, c.req.param())
        await searches.remove(visitor, undefined)
        return c.json(await forgetVisitor(sql, visitor, operatorOf(c)))
      })
  )
}
