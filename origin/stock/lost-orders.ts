/**
 * After the ledger was restored to an earlier moment: the orders that its buyers have an answer about, and that it has
 * no more. Redis still knows them, until a worker rebuilds its gates from the restored ledger.
 */
import type { Cluster, Redis } from 'ioredis'
import type { Queryable } from '../ledger/connection.ts'
import { gateKeys } from './gate/gate-keys.ts'
import { pairs } from './intents.ts'

/** Keys of buyers that are read in one command, and looked for in one statement. */
const PAGE = 1_000

export interface LostOrder {
  readonly order_id: string
  readonly sale: string
  /** `sold` was paid, or charged; `held` may have been charged. */
  readonly status: 'held' | 'sold'
  readonly visitor: string
  /** The address of another order of the visitor that the ledger has; empty if there is none. */
  readonly email: string
}

/**
 * Reads the lost orders of all sales, in pages. Orders that are over, and those that wait to be recorded, are not
 * lost.
 */
export async function* lostOrders(sql: Queryable, redis: Redis | Cluster): AsyncGenerator<LostOrder[]> {
  for (const { sale_id } of await sql<{ sale_id: string }[]>`select sale_id from sales order by sale_id`) {
    let cursor = '0'
    do {
      const [next, found] = await redis.hscan(gateKeys(sale_id).keys, cursor, 'COUNT', PAGE)
      cursor = next
      const lost = await missing(sql, redis, sale_id, ordersIn(found))
      if (lost.length > 0) yield lost
    } while (cursor !== '0')
  }
}

/** The visitors of remembered keys, by order. A key has no space; a visitor may have some. */
const ordersIn = (found: readonly string[]) =>
  new Map(
    pairs(found).map(
      ([key, known]) => [known.slice(0, known.indexOf('|')), key.slice(0, key.lastIndexOf(' '))] as const,
    ),
  )

async function missing(
  sql: Queryable,
  redis: Redis | Cluster,
  sale: string,
  visitors: ReadonlyMap<string, string>,
): Promise<LostOrder[]> {
  const ids = [...visitors.keys()]
  if (ids.length === 0) return []
  const rows = await sql<{ order_id: string }[]>`
    select id as order_id from unnest(${ids}::text[]) id
    where not exists (select from orders o where o.order_id = id::uuid)`
  const emails = new Map(
    (
      await sql<{ visitor: string; email: string }[]>`
        select o.visitor, max(c.email) as email from orders o join contacts c using (order_id)
        where o.visitor = any(${[...visitors.values()]}::text[]) and c.email is not null group by o.visitor`
    ).map(({ visitor, email }) => [visitor, email]),
  )
  const key = gateKeys(sale)
  const all = rows.map(async ({ order_id }): Promise<LostOrder | null> => {
    const visitor = visitors.get(order_id) ?? ''
    const [end, units, intent] = await Promise.all([
      redis.zscore(key.holds, order_id),
      redis.hget(key.visitors, visitor),
      redis.hexists(key.unrecorded, order_id),
    ])
    if (intent === 1 || (end === null && units === null)) return null
    return { order_id, sale, status: end === null ? 'sold' : 'held', visitor, email: emails.get(visitor) ?? '' }
  })
  return (await Promise.all(all)).filter((order) => order !== null)
}
