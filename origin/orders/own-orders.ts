/**
 * A visitor's own orders of a sale: for a caller with an admission, and for the edge, which knows a visitor by their account
 * or their cookie when the admission is long gone. With each order the edge gets the token that opens it.
 */
import type { Context } from 'hono'
import { Hono } from 'hono'
import { EDGE_VISITOR_HEADER } from '../../shared/api/internal.ts'
import type { Order } from '../../shared/api/public.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { problem } from '../../shared/problem.ts'
import { ADMISSION, ORDER, ORDER_TOKEN_TTL_SECONDS, readToken, signToken } from '../../shared/tokens.ts'
import type { Blocks } from '../access/blocks.ts'
import { VisitorCalls } from '../checkout/load-shedder.ts'
import type { Config } from '../config.ts'
import type { Sql } from '../ledger/connection.ts'
import { ordersOf } from '../ledger/orders.ts'
import { bearer, fromEdge, headerOf, refuse, sendJson } from '../lib/request.ts'
import type { Sales } from '../sales/sales.ts'
import { orderAt } from './order-json.ts'

interface OwnOrdersDeps {
  readonly config: Pick<Config, 'EDGE_TOKEN' | 'CALLS_PER_VISITOR'>
  readonly sql: Sql
  readonly sales: Sales
  readonly blocks: Pick<Blocks, 'refuse'>
  readonly keys: { readonly admission: TokenKeys; readonly order: TokenKeys<SyncKey> }
}

const SHOWN_DAYS = 30
/** More than anyone buys in one sale. */
const MOST_ORDERS = 100

/** Mounted with buyers.ts, which lets in only the edge's calls where that is required. */
export function ownOrderRoutes({ config, sql, sales, blocks, keys }: OwnOrdersDeps): Hono {
  const isEdge = fromEdge(config.EDGE_TOKEN)
  const visitorCalls = new VisitorCalls(config.CALLS_PER_VISITOR)
  const app = new Hono()

  app.get('/sales/:sale/orders', async (c) => {
    const sale = c.req.param('sale')
    // Only the edge may name a visitor.
    const named = isEdge(c) ? headerOf(c, EDGE_VISITOR_HEADER) : undefined
    const visitor = named === undefined ? await admittedTo(sale, c) : decodeURIComponent(named)
    blocks.refuse(visitor)
    if (!visitorCalls.enter(visitor)) refuse(problem('too-many-requests', { retry_after_seconds: 1 }))
    try {
      const found = await ordersOf(sql, sale, visitor, { days: SHOWN_DAYS, limit: MOST_ORDERS })
      const orders = found.map((order) => orderAt(order, sales.nowMs()))
      const sent = named === undefined ? orders : orders.map((order) => ({ ...order, order_token: tokenOf(order) }))
      return sendJson({ orders: sent }, 200)
    } finally {
      visitorCalls.leave(visitor)
    }
  })

  async function admittedTo(sale: string, c: Context): Promise<string> {
    const read = await readToken(ADMISSION, keys.admission, bearer(c) ?? '', sales.nowMs())
    if (!read.ok) return refuse(problem('not-admitted', { retry_after_seconds: 5 }))
    return read.claims.sale === sale ? read.claims.sub : refuse(problem('wrong-sale'))
  }

  const tokenOf = (order: Order) => orderToken(order, keys.order, sales.nowMs())
  return app
}

/** Opens one order, for a day. */
export function orderToken({ order_id: sub, sale }: Order, key: TokenKeys<SyncKey>, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000)
  return signToken(ORDER, key, { sub, sale, iat, exp: iat + ORDER_TOKEN_TTL_SECONDS })
}
