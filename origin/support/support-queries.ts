/**
 * The statements of support: an order's timeline and notes, and the search. The search reads an index up to a limit,
 * whatever was typed; order-search.ts decides what is searched.
 */
import type { PendingQuery, Row, TransactionSql } from 'postgres'
import { ACCOUNT_PREFIX } from '../../shared/api/access.ts'
import type { HistoryEntry, OrderTimeline } from '../../shared/api/operators/answers.ts'
import { ALL_SALES, audit, READS } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { isParcel } from '../ledger/order-statements.ts'
import { holdLane } from '../mail/mail-requests.ts'
import { type Filters, matches, withProduct } from './order-filters.ts'

/** The limit is far above the usual: an order has about ten events, each with a delivery to a few endpoints. */
const MOST_ENTRIES = 1_000

interface History {
  readonly entries: HistoryEntry[]
  readonly contact: OrderTimeline['contact']
}

export async function readHistory(sql: Queryable, orderId: string): Promise<History> {
  const [entries, [contact]] = await Promise.all([
    sql<HistoryEntry[]>`
      select at, kind, what, by, detail from (
        select 0 as place, created_at as at, 'event' as kind, null as by,
          case when reserved_until > created_at then 'order.reserved' else 'order.cancelled' end as what,
          jsonb_build_object('reserved_until', reserved_until, 'ticket_number', ticket_number) as detail
        from orders where order_id = ${orderId}
        union all
        select 1, at, 'event', null, type,
          jsonb_strip_nulls(jsonb_build_object('status', replace(status, 'returned', 'refunded')))
          || coalesce(data #- '{action,url}', '{}') from events where order_id = ${orderId}
        union all
        select 2, t.at, 'capture', null, t.what, jsonb_build_object('charge_id', charge_id)
        from captures cross join lateral (values (asked_at, 'requested'), (captured_at, 'captured')) t(at, what)
        where charge_id in (select o.charge_id from orders o where o.order_id = ${orderId}) and t.at is not null
        union all
        select 2, t.at, 'refund', operator, t.what, jsonb_build_object('refund_id', refund_id, 'charge_id', charge_id,
          'amount_minor', amount_minor, 'reason', reason, 'restock',
            restock) || jsonb_strip_nulls(jsonb_build_object('lines', lines))
        from refunds cross join lateral (values (asked_at, 'requested'), (refunded_at, 'refunded')) t(at, what)
        where order_id = ${orderId} and t.at is not null
        union all
        select 3, coalesce(finished_at, created_at), 'delivery', null,
          case state when 'done' then 'delivered' else state end,
          jsonb_build_object('type', data ->> 'type', 'delivery_id', job_id, 'endpoint_id', group_id,
            'endpoint', (select coalesce(nullif(w.note, ''), w.url) from webhook_endpoints w
              where w.endpoint_id::text = group_id),
            'message_id', data ->> 'message', 'attempts', attempts, 'status', data -> 'status', 'error', error)
          || case when state = 'pending' then jsonb_build_object('next_at', run_at) else '{}' end
        from jobs where queue = 'webhook' and lane = ${orderId}
        union all
        select 3, coalesce(finished_at, run_at), 'mail', null, case state when 'done' then 'sent' else state end,
          jsonb_build_object('type', data ->> 'type', 'attempts', attempts, 'error', error)
          || case when state = 'pending' then jsonb_build_object('next_at', run_at) else '{}' end
        from jobs where queue = 'mail' and lane in (${orderId}, ${holdLane(orderId)})
        union all
        select 1, at, 'action', actor, action, jsonb_build_object('before', before, 'after', after)
        from audit_log where order_id = ${orderId} and action <> all(${[NOTED, ...READS]})
        union all
        select 1, at, 'note', operator, text, '{}' from order_notes where order_id = ${orderId}
      ) h order by at, place limit ${MOST_ENTRIES}`,
    sql<NonNullable<History['contact']>[]>`
      select email, delivery, address, language, delete_after from contacts where order_id = ${orderId}`,
  ])
  return { entries: [...entries], contact: contact ?? null }
}

/** The action of a note in the audit log. The text is stored in the note only. */
const NOTED = 'noted'

interface Note {
  readonly operator: string
  readonly text: string
  readonly at: Date
}

/** The search finds the note at once. */
export function insertNote(
  sql: Sql,
  orderId: string,
  { operator, text }: Pick<Note, 'operator' | 'text'>,
): Promise<Note> {
  return sql.begin(async (tx) => {
    const [note] = await tx<[Note]>`
      insert into order_notes (order_id, operator, text) values (${orderId}, ${operator}, ${text})
      returning operator, text, at`
    await copyToSearch(tx, [orderId])
    const [order] = await tx<{ sale: string }[]>`select sale_id as sale from orders where order_id = ${orderId}`
    await audit(tx, [{ actor: operator, action: NOTED, sale: order?.sale ?? ALL_SALES, order: orderId }])
    return note
  })
}

// -- The search ----------------------------------------------------------------------------------------------------

/** Orders per statement. */
const CHUNK = 1_000

/** Copies the current state of these orders, their contacts and their notes. */
export async function copyToSearch(tx: TransactionSql, ids: readonly string[]): Promise<void> {
  const all = [...new Set(ids)]
  // The lock lasts until the end of the transaction, so that of two concurrent copies of an order the later one has
  // read the later state.
  await tx`select pg_advisory_xact_lock(hashtext('order search'))`
  for (let from = 0; from < all.length; from += CHUNK) {
    const chunk = all.slice(from, from + CHUNK)
    await tx`
      insert into order_search as s (order_id, sale_id, product_id, status)
      select order_id, sale_id, product_id, status from orders where order_id = any(${chunk}::uuid[])
      on conflict (order_id) do update set status = excluded.status where s.status <> excluded.status`
    await tx`
      insert into order_search_products as s (order_id, sale_id, product_id, status)
      select distinct order_id, sale_id, l ->> 'product', status from orders, jsonb_array_elements(cart) l
      where order_id = any(${chunk}::uuid[]) and cart is not null and l ->> 'product' <> product_id
      on conflict (order_id, product_id) do update set status = excluded.status where s.status <> excluded.status`
    await tx`select copy_order_texts(${chunk}::uuid[])`
  }
}

/** A condition that finds orders. Each probe finds its own orders, and `rank` sorts them, the smallest first. */
export type Probe = { readonly rank: number } /** The short number. */ & (
  | { readonly number: number }
  /** The ids in a range. */
  | { readonly from: string; readonly to: string }
  /** The texts that match all these `like` patterns; texts that contain `whole` come before the others. */
  | { readonly patterns: readonly string[]; readonly whole: string }
  /**
   * The texts that contain one word of each list. The first list is searched in the index, and the others filter the
   * result.
   */
  | { readonly oneOfEach: readonly (readonly string[])[] }
  /** The products whose name contains the text. */
  | { readonly product: string }
)

export interface Found {
  readonly order_id: string
  readonly rank: number
}

/** One probe reads at most this many orders. */
const MAX_READ = 1_000
/** The number of matching products, and of orders read for each product and status. */
const [MAX_PRODUCTS, MAX_OF_PRODUCT] = [20, 250]
/** The number of typed words for which similar ones are searched, and the number of similar words for each. */
const [MAX_TYPED, MAX_SIMILAR] = [3, 10]
/** A search for similar words that takes longer is given up, and only the literal matches are shown. */
const SIMILAR_TIMEOUT_MS = 1_000
/** A lower similarity would make short words similar to too many others. */
const LEAST_SIMILARITY = 0.3
/** The margin keeps rounding from leaving out a word at the threshold. */
const MARGIN = 0.01

/**
 * The share of trigrams that a word has in common with a copy in which two neighbouring letters are swapped: all but
 * four of its n + 1 trigrams.
 */
const similarityOf = ({ length: n }: string) => Math.max(LEAST_SIMILARITY, (n - 3) / (n + 5) - MARGIN)

/** The orders whose texts contain, for each of the longest typed words, that word or a similar one. */
export function findSimilar(sql: Sql, typed: readonly string[], rank: number, filters: Filters) {
  return sql.begin(async (tx): Promise<readonly Found[]> => {
    await tx`select set_config('statement_timeout', ${String(SIMILAR_TIMEOUT_MS)}, true)`
    const oneOfEach: string[][] = []
    for (const word of typed.toSorted((a, b) => b.length - a.length).slice(0, MAX_TYPED)) {
      const similar = await similarWords(tx, word)
      if (similar.length === 0) return []
      oneOfEach.push(similar)
    }
    return findByProbes(tx, [{ oneOfEach, rank }], filters)
  })
}

/** Returns the word alone if it is known, or otherwise the most similar words. */
async function similarWords(tx: TransactionSql, word: string): Promise<string[]> {
  await tx`select set_config('pg_trgm.similarity_threshold', ${String(similarityOf(word))}, true)`
  // The condition must be written as in the two indexes, or Postgres does not use them.
  const isOfKind = /[0-9._+-]/.test(word) ? tx`word ~ '[0-9._+-]'` : tx`word !~ '[0-9._+-]'`
  const rows = await tx<{ word: string }[]>`
    select word from search_words where word % ${word} and ${isOfKind} order by word <-> ${word} limit ${MAX_SIMILAR}`
  return rows[0]?.word === word ? [word] : rows.map((row) => row.word)
}

/** The orders that these probes find, each with its smallest rank, best and newest first. */
export async function findByProbes(
  sql: Queryable,
  probes: readonly Probe[],
  filters: Filters,
): Promise<readonly Found[]> {
  const [first, ...others] = probes.map((probe) => found(sql, probe, filters))
  if (!first) return []
  const all = others.reduce((union, one) => sql`${union} union all ${one}`, first)
  return sql<Found[]>`
    select f.order_id, min(f.rank)::int as rank from (${all}) f
    -- The lateral join has a limit, because for many orders a plain join would get a plan that reads all of them.
    cross join lateral (
      select from order_search s where s.order_id = f.order_id and ${matches(sql, filters)} limit 1) s
    group by f.order_id order by 2, 1 desc limit ${MAX_READ}`
}

function found(sql: Queryable, probe: Probe, filters: Filters): PendingQuery<Row[]> {
  const { rank } = probe
  if ('number' in probe) return sql`(select order_id, ${rank}::int as rank from orders where number = ${probe.number})`
  if ('from' in probe)
    return sql`(select order_id, ${rank}::int as rank from order_search
      where order_id between ${probe.from}::uuid and ${probe.to}::uuid order by order_id desc limit ${MAX_READ})`
  if ('product' in probe) return ofProducts(sql, probe.product, rank, filters)
  // The condition is materialized. Otherwise a plan for the first rows of many would read texts one by one until it
  // has them.
  const matching = (condition: PendingQuery<Row[]>) =>
    sql`with matching as materialized (select order_id, words from order_texts where ${condition} limit ${MAX_READ})`
  const and = (one: PendingQuery<Row[]>, other: PendingQuery<Row[]>) => sql`${one} and ${other}`
  if ('oneOfEach' in probe) {
    const [first = sql`false`, ...others] = probe.oneOfEach.map(
      (similar) => sql`words like any(${similar.map((word) => `%${word}%`)}::text[])`,
    )
    return sql`(${matching(first)} select order_id,
      ${rank}::int as rank from matching where ${others.reduce(and, sql`true`)})`
  }
  const all = probe.patterns.map((pattern) => sql`words like ${pattern}`).reduce(and)
  return sql`(${matching(all)} select order_id,
    case when position(${probe.whole}::text in words) > 0 then
      ${rank}::int else ${rank}::int + 1 end as rank from matching)`
}

/** The newest orders of the products whose name or id holds the text. */
function ofProducts(sql: Queryable, like: string, rank: number, { sale, statuses }: Filters) {
  return sql`(select o.order_id, ${rank}::int as rank
    from (select sale_id, product_id from products join sales using (sale_id)
          where (${sale ?? null}::text is null or sale_id = ${sale ?? null})
            and not is_promo_code and (position(${like} in lower(products.name)) > 0 or product_id = ${like})
          order by sales.opens_at desc, sale_id, product_id limit ${MAX_PRODUCTS}) p
    cross join unnest(${statuses as string[]}::text[]) w(status)
    cross join lateral (${withProduct(sql, MAX_OF_PRODUCT)}) o)`
}

/** The data that operators see with an order. */
export interface About {
  readonly order_id: string
  readonly sale_name: string
  readonly product_name: string
  readonly email: string | null
  /** The address of a picture of the first line's goods. */
  readonly picture: string | null
  readonly is_parcel: boolean
  /** The sum of the open refunds; null if one of them gives back whatever is left. */
  readonly refunding_minor: number | null
}

/** The result is keyed by order id. */
export async function readAbout(sql: Queryable, ids: readonly string[]): Promise<Map<string, About>> {
  if (ids.length === 0) return new Map()
  const rows = await sql<About[]>`
    select o.order_id, s.name as sale_name, coalesce(p.name, o.product_id) as product_name, c.email,
      coalesce(g.products #>> array[o.product_id, 'images', '0', 'url'],
        g.products #>> array[p.variant_of, 'images', '0', 'url']) as picture,
      ${isParcel(sql)} as is_parcel, r.refunding_minor
    from orders o join sales s using (sale_id) left join products p using (sale_id, product_id)
      left join contacts c using (order_id) left join goods g on g.sale_id = o.sale_id
      cross join lateral (
        select case when count(*) filter (where amount_minor is null) = 0
          then coalesce(sum(amount_minor), 0)::float8 end as refunding_minor
        from refunds where order_id = o.order_id and refunded_at is null) r
    where o.order_id = any(${ids as string[]}::uuid[])`
  return new Map(rows.map((row) => [row.order_id, row]))
}

export async function readBlockOf(sql: Queryable, visitor: string): Promise<OrderTimeline['block']> {
  const [block] = await sql<NonNullable<OrderTimeline['block']>[]>`
    select block_id::text as block, note, blocked_at from blocks
    where visitor = ${visitor} or ${ACCOUNT_PREFIX} || account = ${visitor} order by block_id limit 1`
  return block ?? null
}
