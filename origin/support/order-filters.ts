/**
 * The statements for orders that filters alone find, the newest first, and their counts by status. They read the copies
 * that support's search keeps (origin/ledger/schema/search.ts), each from an index.
 */
import type { PendingQuery, Row } from 'postgres'
import type { OrderCounts } from '../../shared/api/operators/answers.ts'
import { type LedgerStatus, ORDER_STATUSES, statusOf } from '../../shared/api/order-status.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

export const ALL_STATUSES: readonly LedgerStatus[] = [
  ...ORDER_STATUSES.filter((status) => status !== 'processing'),
  'returned',
]

export interface Filters {
  readonly sale?: string | undefined
  readonly product?: string | undefined
  readonly statuses: readonly LedgerStatus[]
  /** The orders made from this time on, and before that one, in ms. Their ids begin with the time. */
  readonly fromMs?: number | undefined
  readonly toMs?: number | undefined
  /** True for the orders with a problem that somebody must solve. */
  readonly isProblem?: boolean | undefined
}

/** The ids that are lower and higher than those of all orders. */
const FIRST_ID = '00000000-0000-0000-0000-000000000000'
export const LAST_ID = 'ffffffff-ffff-ffff-ffff-ffffffffffff'
/** The lowest id of an order that is made at this time (UUIDv7, RFC 9562). */
const idAt = (ms: number) =>
  ms
    .toString(16)
    .padStart(12, '0')
    .replace(/^(.{8})(.{4})$/, '$1-$2-0000-0000-000000000000')

/** The bounds of the filters' ids: from the first one on, and before the second one. */
function boundsOf({ fromMs, toMs }: Filters, before = LAST_ID): readonly [from: string, before: string] {
  const [end = before] = [before, ...(toMs === undefined ? [] : [idAt(toMs)])].sort()
  return [fromMs === undefined ? FIRST_ID : idAt(fromMs), end]
}

/** The condition of the filters for a row `s` of order_search. */
export function matches(sql: Queryable, filters: Filters): PendingQuery<Row[]> {
  const { sale, product, statuses, isProblem } = filters
  const [from, before] = boundsOf(filters)
  return sql`s.status = any(${statuses as string[]}::text[]) and s.order_id >= ${from} and s.order_id < ${before}
    ${sale === undefined ? sql`` : sql`and s.sale_id = ${sale}`}
    ${product === undefined ? sql`` : sql`and (s.product_id = ${product} or ${hasOther(sql, product)})`}
    ${isProblem ? sql`and s.order_id in (${withProblem(sql)})` : sql``}`
}

const hasOther = (sql: Queryable, product: string) => sql`exists (
  select from order_search_products o where o.order_id = s.order_id and o.product_id = ${product})`

/** At most this many orders with a problem are read of each kind: each of them is one finding, or one job given up. */
const MAX_PROBLEMS = 1_000

/**
 * The orders that a payment, a refund or a mail was given up for, or that an open finding names. Webhooks are left out:
 * an endpoint that does not answer is one problem, and not one for each order.
 */
const withProblem = (sql: Queryable) => sql`
  select case when id ~ '^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$' then id::uuid end from (
    (select data ->> 'order' as id from jobs
     where state = 'dead' and queue in ('charge', 'capture', 'refund', 'mail') limit ${MAX_PROBLEMS})
    union (select detail ->> 'order' from findings where closed_at is null limit ${MAX_PROBLEMS})) p`

/** The newest orders with the product `p` in the status `w` in any order line. */
export function withProduct(sql: Queryable, limit: number, [from, before] = [FIRST_ID, LAST_ID]) {
  const inTable = (table: PendingQuery<Row[]>) => sql`
    (select s.order_id from ${table} s
     where s.sale_id = p.sale_id and s.product_id = p.product_id and s.status = w.status
       and s.order_id >= ${from} and s.order_id < ${before}
     order by s.order_id desc limit ${limit})`
  return sql`${inTable(sql`order_search`)} union all ${inTable(sql`order_search_products`)}`
}

/** The newest orders before `before` that pass the filters. */
export async function newestOrders(sql: Queryable, filters: Filters, before: string, limit: number): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    ${newest(sql, filters, before, limit)} order by order_id desc limit ${limit}`
  return rows.map(({ order_id }) => order_id)
}

/** Each filter probes an index, because scanning the orders would take long if few of them match. */
function newest(sql: Queryable, filters: Filters, before: string, limit: number): PendingQuery<Row[]> {
  const { sale, product, statuses, isProblem } = filters
  const [from, end] = boundsOf(filters, before)
  const wanted = sql`unnest(${statuses as string[]}::text[]) w(status)`
  if (isProblem)
    return sql`select s.order_id from order_search s where ${matches(sql, filters)} and s.order_id < ${before}`
  if (sale === undefined && product === undefined)
    return sql`
      select o.order_id from ${wanted} cross join lateral (
        select order_id from order_search s
        where s.status = w.status and s.order_id >= ${from} and s.order_id < ${end}
        order by s.order_id desc limit ${limit}) o`
  return sql`
    select ${product === undefined ? sql`distinct` : sql``} o.order_id from products p cross join ${wanted}
    cross join lateral (${withProduct(sql, limit, [from, end])}) o
    where not p.is_promo_code and ${sale === undefined ? sql`true` : sql`p.sale_id = ${sale}`}
      and ${product === undefined ? sql`true` : sql`p.product_id = ${product}`}`
}

/** Counts that take longer are given up: a page without them is better than one that waits. */
const COUNT_TIMEOUT_MS = 1_000
const NONE = Object.fromEntries(ALL_STATUSES.map((status) => [statusOf(status), 0])) as Counts
type Counts = Record<keyof NonNullable<OrderCounts['counts']>, number>
/** The code of Postgres for a statement that took too long. */
export const QUERY_CANCELED = '57014'

/** The orders of a sale, a product and a time in each status, and those with a problem among them. */
export function countByStatus(sql: Sql, filters: Omit<Filters, 'statuses' | 'isProblem'>): Promise<OrderCounts> {
  const { sale, product, fromMs, toMs } = filters
  // A bound that is not given is no condition: Postgres might choose the index of the ids, which has no status.
  const isInTime = sql`${fromMs === undefined ? sql`true` : sql`s.order_id >= ${idAt(fromMs)}`}
    and ${toMs === undefined ? sql`true` : sql`s.order_id < ${idAt(toMs)}`}`
  const inTable = (table: PendingQuery<Row[]>) => sql`
    select status from ${table} s where ${isInTime}
      ${sale === undefined ? sql`` : sql`and s.sale_id = ${sale}`}
      ${product === undefined ? sql`` : sql`and s.product_id = ${product}`}`
  const all =
    product === undefined
      ? inTable(sql`order_search`)
      : sql`${inTable(sql`order_search`)} union all ${inTable(sql`order_search_products`)}`
  const each =
    sale === undefined && product === undefined
      ? sql`
          select w.status, o.orders from unnest(${ALL_STATUSES as string[]}::text[]) w(status) cross join lateral (
            select count(*)::int as orders from order_search s where s.status = w.status and ${isInTime}) o`
      : sql`select status, count(*)::int as orders from (${all}) o group by status`
  const counted = sql.begin(async (tx): Promise<OrderCounts> => {
    await tx`select set_config('statement_timeout', ${String(COUNT_TIMEOUT_MS)}, true)`
    const rows = await tx<{ status: LedgerStatus; orders: number }[]>`${each}`
    const [problem] = await tx<[{ orders: number }]>`
      select count(*)::int as orders from order_search s
      where ${matches(tx, { ...filters, statuses: ALL_STATUSES, isProblem: true })}`
    const counts = { ...NONE }
    for (const { status, orders } of rows) counts[statusOf(status)] += orders
    return { counts, problems: problem.orders }
  })
  return counted.catch((error) => {
    if (error.code !== QUERY_CANCELED) throw error
    return { counts: null, problems: null }
  })
}
