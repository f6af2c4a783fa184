/**
 * The search's tables: how orders are copied into them, and how they are read. Each way of finding reads an index up to a
 * bound, whatever was typed. What a search is, decides origin/support/order-search.ts.
 */
import type { PendingQuery, Row, TransactionSql } from 'postgres'
import type { LedgerStatus } from '../../shared/order-status.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

// -- Copying -----------------------------------------------------------------------------------------------------

/** Orders per statement. */
const CHUNK = 1_000

/** Copies these orders, their contacts and their notes as they are now. */
export async function copyToSearch(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  const all = [...new Set(ids)]
  // Until the end of the transaction: of two who copy an order, the later one must have read it later.
  await tx`select pg_advisory_xact_lock(hashtext('order search'))`
  for (let from = 0; from < all.length; from += CHUNK) {
    const chunk = all.slice(from, from + CHUNK)
    await tx`
      insert into order_search as s (order_id, sale_id, product_id, status, visitor, ticket_number, charge_id)
      select order_id, sale_id, product_id, status, visitor, ticket_number, charge_id from orders
      where order_id = any(${chunk}::uuid[])
      on conflict (order_id) do update
        set status = excluded.status, charge_id = excluded.charge_id, visitor = excluded.visitor
        where (s.status, s.charge_id, s.visitor) is distinct from (excluded.status, excluded.charge_id, excluded.visitor)`
    await tx`
      insert into order_texts as t (order_id, email, address, notes)
      select a.id, lower(c.email), c.address, coalesce(n.notes, '')
      from unnest(${chunk}::uuid[]) a(id)
      left join contacts c on c.order_id = a.id
      left join lateral (select string_agg(lower(o.text), E'\n' order by o.note_id) as notes
                         from order_notes o where o.order_id = a.id) n on true
      where c.email is not null or c.address is not null or n.notes is not null
      on conflict (order_id) do update set email = excluded.email, address = excluded.address, notes = excluded.notes
        where (t.email, t.address, t.notes) is distinct from (excluded.email, excluded.address, excluded.notes)`
    await tx`
      insert into note_words
      select distinct unnest(tsvector_to_array(to_tsvector('simple', text))) from order_notes
      where order_id = any(${chunk}::uuid[])
      order by 1 on conflict do nothing`
  }
}

// -- Finding -----------------------------------------------------------------------------------------------------

/** One way to find orders. `rank` sorts what several ways find, the smallest first. */
export type Probe = { readonly rank: number } & (
  | { readonly by: 'order'; readonly from: string; readonly to: string }
  | { readonly by: 'ticket'; readonly number: number; readonly sale?: string }
  | { readonly by: 'visitor' | 'email' | 'address'; readonly is: string }
  | { readonly by: 'visitor' | 'email' | 'address' | 'charge'; readonly begins: string }
  /** Mails that begin with one of these. */
  | { readonly by: 'email'; readonly variants: readonly string[] }
  | { readonly by: 'product'; readonly like: string }
  | { readonly by: 'note'; readonly words: string }
)

export interface Filters {
  readonly sale?: string
  readonly product?: string
  readonly statuses: readonly LedgerStatus[]
}

export interface Found {
  readonly order_id: string
  readonly rank: number
}

/** Most orders that one way of finding reads. */
const MOST_READ = 1_000
/** Of mails that begin alike. */
const MOST_OF_VARIANT = 20
/** Products whose name is alike, and how many orders of each of their statuses are read. */
const [MOST_PRODUCTS, MOST_OF_PRODUCT] = [20, 250]
/** Words that begin alike, as which a beginning is looked for. */
const MOST_BEGINNINGS = 20
/** Words that may have been meant by one, and how alike they are: of seven letters one may be wrong, or two swapped. */
const [MOST_WORDS, ALIKE] = [5, 0.3]

/** Whether the ledger has trigrams: see the migration. */
export async function hasTrigrams(sql: Queryable): Promise<boolean> {
  const [row] = await sql<{ has: boolean }[]>`select to_regclass('similar_words') is not null as has`
  return row?.has === true
}

/** Words of the notes that begin with each of these; null where they are too many. */
export async function wordsBeginning(sql: Sql, typed: readonly string[]): Promise<(string[] | null)[]> {
  const rows = await sql<{ words: string[] }[]>`
    select array(select w.word from note_words w where w.word like t.word || '%' limit ${MOST_BEGINNINGS + 1}) as words
    from unnest(${typed as string[]}::text[]) with ordinality as t(word, i) order by t.i`
  return rows.map(({ words }) => (words.length > MOST_BEGINNINGS ? null : words))
}

/** Words of the notes that are like these, for each of them. */
export async function wordsLike(sql: Sql, typed: readonly string[]): Promise<string[][]> {
  const rows = await sql.begin(async (tx) => {
    await tx`select set_config('pg_trgm.similarity_threshold', ${String(ALIKE)}, true)`
    return tx<{ words: string[] }[]>`
      select array(select w.word from note_words w where w.word % t.word
                   order by similarity(w.word, t.word) desc, w.word limit ${MOST_WORDS}) as words
      from unnest(${typed as string[]}::text[]) with ordinality as t(word, i) order by t.i`
  })
  return rows.map(({ words }) => words)
}

/** The orders that these ways find, each with its smallest rank, best and newest first. */
export async function findByProbes(sql: Sql, probes: readonly Probe[], filters: Filters): Promise<Found[]> {
  const [first, ...rest] = probes.map((probe) => found(sql, probe, filters))
  if (!first) return []
  const all = rest.reduce((union, one) => sql`${union} union all ${one}`, first)
  return sql<Found[]>`
    select f.order_id, min(f.rank)::float8 as rank from (${all}) f
    -- Lateral, with a limit: with a join, a plan for many orders reads all there are.
    cross join lateral (
      select from order_search s where s.order_id = f.order_id and ${matches(sql, filters)} limit 1) s
    group by f.order_id order by 2, 1 desc limit ${MOST_READ}`
}

function found(sql: Sql, probe: Probe, filters: Filters): PendingQuery<Row[]> {
  const { rank } = probe
  if (probe.by === 'order')
    return sql`(select order_id, ${rank}::float8 as rank from order_search
      where order_id between ${probe.from}::uuid and ${probe.to}::uuid order by order_id desc limit ${MOST_READ})`
  if (probe.by === 'ticket')
    return sql`(select order_id, ${rank}::float8 as rank from order_search
      where ticket_number = ${probe.number} and (${probe.sale ?? null}::text is null or sale_id = ${probe.sale ?? null})
      order by order_id desc limit ${MOST_READ})`
  if ('words' in probe)
    // A plan for the first of many would read texts until it has them; a materialized one is for all, and stops as early.
    return sql`(with noted as materialized (
        select order_id from order_texts where notes <> '' and to_tsvector('simple', notes) @@ to_tsquery('simple', ${probe.words}))
      select order_id, ${rank}::float8 as rank from noted limit ${MOST_READ})`
  if ('is' in probe)
    return sql`(select order_id, ${rank}::float8 as rank from ${sql(TABLE[probe.by])}
      where ${sql(probe.by)} = ${probe.is} order by order_id desc limit ${MOST_READ})`
  if ('begins' in probe) {
    const column = sql(probe.by === 'charge' ? 'charge_id' : probe.by)
    // As ranges in the order of bytes: for `like` with a parameter no index is used.
    return sql`(select order_id, ${rank}::float8 as rank from ${sql(TABLE[probe.by])}
      where ${column} ~>=~ ${probe.begins} and ${column} ~<~ ${probe.begins + LAST_CHARACTER} limit ${MOST_READ})`
  }
  if ('variants' in probe)
    return sql`(select o.order_id, ${rank}::float8 as rank from unnest(${probe.variants as string[]}::text[]) as v(begins)
      cross join lateral (
        select t.order_id from order_texts t where t.email ~>=~ v.begins and t.email ~<~ (v.begins || ${LAST_CHARACTER}::text)
        order by t.email using ~<~ limit ${MOST_OF_VARIANT}) o
      limit ${MOST_READ})`
  return ofProducts(sql, probe.like, rank, filters)
}

/** In the order of bytes, all that begins with a text is before the text with this after it. */
const LAST_CHARACTER = '\u{10ffff}'

const TABLE = {
  visitor: 'order_search',
  charge: 'order_search',
  email: 'order_texts',
  address: 'order_texts',
} as const

/** The newest orders of the products whose name or id holds the text. */
function ofProducts(sql: Sql, like: string, rank: number, { sale, statuses }: Filters) {
  return sql`(select o.order_id, ${rank}::float8 as rank
    from (select sale_id, product_id from products join sales using (sale_id)
          where (${sale ?? null}::text is null or sale_id = ${sale ?? null})
            and (position(${like} in lower(products.name)) > 0 or product_id = ${like})
          order by sales.opens_at desc, sale_id, product_id limit ${MOST_PRODUCTS}) p
    cross join unnest(${statuses as string[]}::text[]) w(status)
    cross join lateral (
      select s.order_id from order_search s
      where s.sale_id = p.sale_id and s.product_id = p.product_id and s.status = w.status
      order by s.order_id desc limit ${MOST_OF_PRODUCT}) o)`
}

function matches(sql: Sql, { sale, product, statuses }: Filters) {
  return sql`s.status = any(${statuses as string[]}::text[])
    ${sale === undefined ? sql`` : sql`and s.sale_id = ${sale}`}
    ${product === undefined ? sql`` : sql`and s.product_id = ${product}`}`
}

/** The newest orders before `before` that pass the filters, of which there must be one. */
export async function newestOrders(
  sql: Queryable,
  { sale, product, statuses }: Filters,
  before: string,
  limit: number,
): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    select o.order_id from products p
    cross join unnest(${statuses as string[]}::text[]) w(status)
    -- A probe of the index for each: a walk through the orders would be long where few of them pass.
    cross join lateral (
      select s.order_id from order_search s
      where s.sale_id = p.sale_id and s.product_id = p.product_id and s.status = w.status and s.order_id < ${before}
      order by s.order_id desc limit ${limit}) o
    where ${sale === undefined ? sql`true` : sql`p.sale_id = ${sale}`}
      and ${product === undefined ? sql`true` : sql`p.product_id = ${product}`}
    order by o.order_id desc limit ${limit}`
  return rows.map(({ order_id }) => order_id)
}

/** The newest of all orders before `before`. */
export async function newestOfAll(sql: Queryable, before: string, limit: number): Promise<string[]> {
  const rows = await sql<{ order_id: string }[]>`
    select order_id from order_search where order_id < ${before} order by order_id desc limit ${limit}`
  return rows.map(({ order_id }) => order_id)
}

/** What search results show besides the orders, by order. */
export async function emailsOf(sql: Queryable, ids: readonly string[]): Promise<Map<string, string>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<{ order_id: string; email: string }[]>`
    select order_id, email from contacts where order_id = any(${ids as string[]}::uuid[]) and email is not null`
  return new Map(rows.map(({ order_id, email }) => [order_id, email]))
}
