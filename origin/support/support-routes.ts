/** The operators' calls for support: find an order, read its timeline, note on it; export and forget a visitor. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { instant, OrderId, ProductId, pageLimit, SaleId } from '../../shared/api/fields.ts'
import { NoteRequest } from '../../shared/api/operators/requests.ts'
import { ORDER_STATUSES, type OrderStatus } from '../../shared/api/order-status.ts'
import { parse } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import type { RecentSearches } from '../front/recent-searches.ts'
import { ALL_SALES, audit, type READS, ReadAudit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { EXPORT_PAGE, type ExportedOrder, exportedOrders, findOrders } from '../ledger/order-statements.ts'
import { jsonBody, query, refuse } from '../lib/http/request.ts'
import { operatorOf, requireRole } from '../operators/operator-auth.ts'
import { sendOrders } from '../orders/export.ts'
import { requireOrder } from '../orders/orders.ts'
import { forgetVisitor } from '../retention/retention-queries.ts'
import type { OperatedSales } from '../sales/sales.ts'
import { foundOrder, orderHistory } from './history.ts'
import { countByStatus } from './order-filters.ts'
import { findOrderIds, kindOfSearch, type Search } from './order-search.ts'
import { exportPerson, forgetPlaces, type PersonDeps } from './person.ts'
import { insertNote, readAbout } from './support-queries.ts'

/** The number of found orders on a page, by default and at most. */
const [FOUND, MOST_FOUND] = [50, 200]
const STATUSES = ORDER_STATUSES.filter(
  (status): status is Exclude<OrderStatus, 'processing'> => status !== 'processing',
)
const Made = {
  sale: v.optional(SaleId),
  product: v.optional(ProductId),
  /** The orders made from this time on, and before that one. */
  from: v.optional(instant),
  to: v.optional(instant),
}
const CountQuery = v.object(Made)
const Filter = {
  ...Made,
  q: v.optional(v.pipe(v.string(), v.maxLength(200, 'at most 200 characters')), ''),
  /** Several statuses have commas between them. */
  status: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(',')),
      v.array(v.picklist(STATUSES, `of ${STATUSES.join(', ')}, with commas between them, is required`)),
    ),
  ),
  problem: v.optional(v.picklist(['true'], 'true is required')),
}
const SearchQuery = v.object({
  ...Filter,
  limit: v.optional(pageLimit(MOST_FOUND), String(FOUND)),
  after: v.optional(v.string()),
})
/** Either what the filters find, or these orders with commas between them. */
const ExportQuery = v.object({
  ...Filter,
  orders: v.optional(
    v.pipe(
      v.string(),
      v.transform((text) => text.split(',')),
      v.array(OrderId),
      v.maxLength(MOST_FOUND, `at most ${MOST_FOUND} orders`),
    ),
  ),
})
type Asked = Omit<v.InferOutput<typeof SearchQuery>, 'limit' | 'after'>
/** A visitor's name is at most as long as a token's subject. */
const Visitor = v.object({ visitor: v.pipe(v.string(), v.maxLength(200, 'at most 200 characters')) })

interface SupportDeps extends PersonDeps {
  readonly sales: Pick<OperatedSales, 'nowMs'>
  readonly searches: Pick<RecentSearches, 'remove'>
}

export function supportRoutes({ sql, sales, searches, redis, config }: SupportDeps) {
  const person = { sql, redis, config }
  const reads = new ReadAudit(sql)
  return (
    new Hono()
      /**
       * `q=` alone lists the newest orders. A changed order is found within about a second, and later during a rush
       * of more than a thousand changes a second.
       */
      .get('/orders', query(SearchQuery), async (c) => {
        const { limit, after, ...asked } = c.req.valid('query')
        const { q, sale, product, status, problem, from, to } = asked
        const looked = { by: kindOfSearch(q), product, status: status?.join(), from, to, problem }
        await reads.log({ actor: operatorOf(c), action: 'orders searched', sale: sale ?? ALL_SALES, after: looked })
        const page = await findOrderIds(sql, { ...searchOf(asked), limit, after })
        const [orders, about] = await Promise.all([findOrders(sql, page.ids), readAbout(sql, page.ids)])
        const byId = new Map(orders.map((order) => [order.order_id, order]))
        const found = page.ids.flatMap((id) => byId.get(id) ?? [])
        return c.json({
          orders: found.map((order) => foundOrder(order, sales.nowMs(), about.get(order.order_id))),
          next: page.next,
        })
      })

      .get('/orders/counts', query(CountQuery), async (c) => {
        const { sale, product, from, to } = c.req.valid('query')
        return c.json(await countByStatus(sql, { sale, product, fromMs: msOf(from), toMs: msOf(to) }))
      })

      .get('/orders/export', query(ExportQuery), async (c) => {
        const { orders, ...asked } = c.req.valid('query')
        const table = sendOrders(c, orders ? chosenPages(sql, orders) : foundPages(sql, searchOf(asked)), 'orders')
        const sale = asked.sale ?? ALL_SALES
        await audit(sql, [{ actor: operatorOf(c), action: 'orders exported' satisfies (typeof READS)[number], sale }])
        return table
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

      .get('/visitors/:visitor', requireRole('owner'), async (c) => {
        const { visitor } = parse(Visitor, c.req.param())
        await audit(sql, [
          { actor: operatorOf(c), action: 'person exported' satisfies (typeof READS)[number], sale: ALL_SALES },
        ])
        return c.json(await exportPerson(person, visitor))
      })

      /** Repeating it is harmless: an unknown visitor counts as forgotten. */
      .delete('/visitors/:visitor', requireRole('owner'), async (c) => {
        const { visitor } = parse(Visitor, c.req.param())
        await searches.remove(visitor, undefined)
        const forgotten = await forgetVisitor(sql, visitor, operatorOf(c))
        return c.json({ ...forgotten, sales_unreached: await forgetPlaces(person, visitor) })
      })
  )
}

const msOf = (time: string | undefined) => (time === undefined ? undefined : Date.parse(time))

function searchOf({ q, sale, product, status, problem, from, to }: Asked): Omit<Search, 'limit'> {
  const statuses = status?.flatMap((one) => (one === 'refunded' ? (['refunded', 'returned'] as const) : [one]))
  return { text: q, sale, product, statuses, fromMs: msOf(from), toMs: msOf(to), isProblem: problem === 'true' }
}

async function* chosenPages(sql: Sql, ids: readonly string[]): AsyncGenerator<ExportedOrder[], void> {
  yield await exportedOrders(sql, ids)
}

async function* foundPages(sql: Sql, search: Omit<Search, 'limit'>): AsyncGenerator<ExportedOrder[], void> {
  for (let after: string | undefined; ; ) {
    const { ids, next } = await findOrderIds(sql, { ...search, limit: EXPORT_PAGE, after })
    yield await exportedOrders(sql, ids)
    if (next === null) return
    after = next
  }
}
