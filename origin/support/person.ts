/**
 * What is kept of one person, everywhere: in the ledger, in Redis and in the edge's ticket shards. One call exports it,
 * and one deletes it.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import * as v from 'valibot'
import { StoredPlaces } from '../../shared/api/internal.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { gateKeys } from '../stock/gate/gate-keys.ts'
import type { Store } from '../stock/scripts.ts'

/** Sales that are asked about at once. */
const AT_ONCE = 8
const ATTEMPTS = 3
const RETRY_MS = 300
const TIMEOUT_MS = 5_000

export interface PersonDeps {
  readonly sql: Sql
  readonly redis: Store
  /** If the address of the edge is absent, its shards are not asked, and the answers say so. */
  readonly config: { readonly EDGE_URL?: string | undefined; readonly EDGE_TOKEN: string }
}

type Rows = readonly Record<string, unknown>[]

export interface KeptOfPerson {
  readonly visitor: string
  /** What the ledger has: the rows of each table, without those of the books. */
  readonly ledger: Readonly<Record<string, Rows>>
  /** Sales in use whose gates count units or failed orders of the visitor. */
  readonly redis: Rows
  /** Null if the edge is not known here (`EDGE_URL`), or did not answer for all sales. */
  readonly places: Rows | null
}

/** The account of a visitor who was signed in. */
const accountOf = (visitor: string) => /^user:(.+)$/s.exec(visitor)?.[1] ?? null

export async function exportPerson({ sql, redis, config }: PersonDeps, visitor: string): Promise<KeptOfPerson> {
  const sales = await saleIds(sql)
  const [ledger, counted, places] = await Promise.all([
    inLedger(sql, visitor),
    inGates(redis, sales, visitor),
    eachSale(sales, (sale) => placesIn(config, sale, visitor)),
  ])
  return { visitor, ledger, redis: counted, places: places.includes(null) ? null : places.flatMap((one) => one ?? []) }
}

/** Deletes the visitor's places at the edge. The result says in how many sales they may still be. */
export async function forgetPlaces({ sql, config }: PersonDeps, visitor: string): Promise<number> {
  const done = await eachSale(await saleIds(sql), async (sale) => {
    const response = await ask(config, 'DELETE', sale, visitor)
    return response === null ? null : true
  })
  return done.filter((one) => one === null).length
}

const saleIds = async (sql: Queryable) =>
  (await sql<{ sale_id: string }[]>`select sale_id from sales order by sale_id`).map(({ sale_id }) => sale_id)

// -- The ledger -------------------------------------------------------------------------------------------------------

async function inLedger(sql: Sql, visitor: string): Promise<Record<string, Rows>> {
  const orders = await sql`
    select o.* from sales s cross join lateral (
      select * from orders where sale_id = s.sale_id and visitor = ${visitor} offset 0) o`
  const ids = orders.map(({ order_id }) => String(order_id))
  const account = accountOf(visitor)
  const ofOrders = (table: string) => sql`select * from ${sql(table)} where order_id = any(${ids}::uuid[])`
  const all: Record<string, PromiseLike<Rows>> = {
    contacts: ofOrders('contacts'),
    order_notes: ofOrders('order_notes'),
    messages: sql`select data, state, created_at from jobs where queue = 'mail' and lane = any(${ids}::text[])`,
    mail_asks: sql`select * from mail_asks where visitor = ${visitor}`,
    invited_visitors: sql`select sale_id from invited_visitors where visitor = ${visitor}`,
    recent_searches: sql`select q, at from recent_searches where visitor = ${visitor}`,
    blocks: sql`select * from blocks where visitor = ${visitor} or account = ${account}`,
    findings: sql`select * from findings where position(${visitor} in detail::text) > 0`,
  }
  const found = await Promise.all(Object.entries(all).map(async ([name, rows]) => [name, [...(await rows)]] as const))
  return { orders: [...orders], ...Object.fromEntries(found) }
}

// -- Redis ------------------------------------------------------------------------------------------------------------

/** A sale that is over has no gate, so it has no entry. */
async function inGates(redis: Store, sales: readonly string[], visitor: string): Promise<Rows> {
  const found = await eachSale(sales, async (sale) => {
    const { visitors, unpaid } = gateKeys(sale)
    const [units, failed] = await Promise.all([redis.hget(visitors, visitor), redis.hget(unpaid, visitor)])
    if (units === null && failed === null) return null
    return { sale, units: Number.parseInt(units ?? '0', 10), failed_orders: Number(failed ?? 0) }
  })
  return found.filter((one) => one !== null)
}

// -- The edge ---------------------------------------------------------------------------------------------------------

async function placesIn(config: PersonDeps['config'], sale: string, visitor: string) {
  const response = await ask(config, 'GET', sale, visitor)
  if (response === null) return null
  return response === 'unknown' ? [] : v.parse(StoredPlaces, response).places.map((place) => ({ sale, ...place }))
}

/** The edge's answer; null without one. A sale that it does not know has no places. */
async function ask(
  { EDGE_URL, EDGE_TOKEN }: PersonDeps['config'],
  method: 'GET' | 'DELETE',
  sale: string,
  visitor: string,
) {
  if (!EDGE_URL) return null
  const url = new URL(`/internal/sales/${sale}/visitors/${encodeURIComponent(visitor)}`, EDGE_URL)
  for (let attempt = 1; attempt <= ATTEMPTS; attempt++) {
    const response = await fetch(url, {
      method,
      headers: { authorization: `Bearer ${EDGE_TOKEN}`, accept: 'application/json' },
      signal: AbortSignal.timeout(TIMEOUT_MS),
    }).catch(() => null)
    if (response?.status === 204) return {}
    if (response?.ok) return response.json() as Promise<unknown>
    await response?.body?.cancel()
    if (response?.status === 404) return 'unknown'
    if (attempt < ATTEMPTS) await sleep(RETRY_MS * attempt)
  }
  return null
}

async function eachSale<T>(sales: readonly string[], work: (sale: string) => Promise<T>): Promise<T[]> {
  const results: T[] = []
  for (let at = 0; at < sales.length; at += AT_ONCE)
    results.push(...(await Promise.all(sales.slice(at, at + AT_ONCE).map(work))))
  return results
}
