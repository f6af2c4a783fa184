/** Sales and their products: reads, writes, the operator's switches and restocks. */
import type { RuleConfig } from '../../shared/api/access.ts'
import type { SaleConfig } from '../../shared/api/operator.ts'
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import type { Sql } from './connection.ts'
import { audit } from './findings.ts'
import type { products, sales } from './schema.ts'

/** A product as a sale shows it. */
export type ProductRow = Readonly<Omit<typeof products.$inferSelect, 'sale_id' | 'place' | 'version'>>

export interface SaleRow extends Readonly<typeof sales.$inferSelect> {
  /** The sale may still have holds, intents or gates. */
  readonly in_use: boolean
  readonly products: readonly ProductRow[]
  readonly rules: readonly RuleRow[]
}

/** A rule, and the id by which it is changed. */
export interface RuleRow extends Pick<RuleConfig, 'when' | 'action' | 'note'> {
  readonly rule: string
  readonly met: number
}

/**
 * A sale without held units is in use until this long after its end. Intents of its last minutes may wait in Redis while the
 * ledger is away for hours.
 */
const IN_USE_AFTER_END_MS = 24 * 3_600_000

/** The sales in use and those with these ids, and the ledger's time (ms since the epoch), which is the clock of all processes. */
export async function readSales(sql: Sql, ids: readonly string[]): Promise<{ nowMs: number; sales: SaleRow[] }> {
  const rows = await sql<(SaleRow & { now_ms: number })[]>`
    select s.*, now_ms,
      (select json_agg(json_build_object(
          'product_id', p.product_id, 'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency,
          'total', p.total, 'held', p.held, 'sold', p.sold) order by p.place)
        from products p where p.sale_id = s.sale_id) as products,
      (select coalesce(json_agg(json_build_object(
          'rule', r.rule_id::text, 'when', r.when, 'action', r.action, 'note', r.note, 'met', r.met) order by r.rule_id), '[]')
        from rules r where r.sale_id = s.sale_id) as rules
    from (select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms) clock left join (
      select *, (coalesce(ended_at, ends_at) < clock_timestamp() - ${IN_USE_AFTER_END_MS} * interval '1 millisecond') is not true
          or exists (select from products where products.sale_id = sales.sale_id and held > 0) as in_use
      from sales) s on in_use or sale_id = any(${ids as string[]}::text[])`
  const [first] = rows
  if (!first) throw new Error('the ledger returned no time')
  return { nowMs: first.now_ms, sales: rows.filter((row) => row.sale_id !== null) }
}

export const ENDED_FOR_GOOD = 'The sale has been ended, which is for good.'

const conflict = (detail: string) => new ProblemError(problem('conflict', { detail }))

/**
 * Creates or changes a sale as a whole. Throws, and changes nothing, if the sale has been ended, or if orders would lose
 * their units or their product.
 */
export async function writeSale(sql: Sql, saleId: string, config: SaleConfig): Promise<'created' | 'changed'> {
  return sql.begin(async (tx) => {
    const [written] = await tx<{ created: boolean; ended: boolean }[]>`
      insert into sales (sale_id, name, opens_at, ends_at, pre_queue_opens_at, hold_seconds, limit_per_visitor,
                         rate_per_second, max_inside, oversell_policy, access, lines, expected_visitors,
                         ticket_shards, max_unpaid_orders)
      values (${saleId}, ${config.name}, greatest(${config.opens_at}::timestamptz, clock_timestamp()), ${config.ends_at},
              ${config.pre_queue_opens_at}, ${config.hold_seconds}, ${config.limit_per_visitor},
              ${config.admission.rate_per_second}, ${config.admission.max_inside}, ${config.oversell_policy},
              ${tx.json(config.access)}, ${tx.json(config.lines)}, ${config.expected_visitors},
              ${shardsFor(config.expected_visitors)}, ${config.max_unpaid_orders})
      on conflict (sale_id) do update set
        name = excluded.name,
        -- "In the past means now" applies to a sale that is not open. An open one keeps its time.
        opens_at = case when sales.opens_at <= clock_timestamp() and ${config.opens_at}::timestamptz <= clock_timestamp()
                        then sales.opens_at else excluded.opens_at end,
        ends_at = excluded.ends_at, pre_queue_opens_at = excluded.pre_queue_opens_at,
        hold_seconds = excluded.hold_seconds, limit_per_visitor = excluded.limit_per_visitor,
        rate_per_second = excluded.rate_per_second, max_inside = excluded.max_inside,
        oversell_policy = excluded.oversell_policy, access = excluded.access, lines = excluded.lines,
        expected_visitors = excluded.expected_visitors, max_unpaid_orders = excluded.max_unpaid_orders
      returning xmax = 0 as created, ended_at is not null as ended`
    if (written?.ended) throw conflict(ENDED_FOR_GOOD)
    const kept = config.products.map((p) => p.product_id)
    // Only removed products are checked for orders: for a product without any, the check reads all orders of the sale.
    const present = await tx<{ product_id: string; held: number; sold: number; ordered: boolean }[]>`
      select p.product_id, p.held, p.sold, p.product_id <> all(${kept}::text[]) and exists (
        select 1 from orders o where o.sale_id = p.sale_id and o.product_id = p.product_id) as ordered
      from products p where p.sale_id = ${saleId} order by p.product_id for no key update of p`
    for (const { product_id, held, sold, ordered } of present) {
      const product = config.products.find((p) => p.product_id === product_id)
      if (!product && ordered) throw conflict(`${product_id} has orders and cannot be removed`)
      if (product && product.total < held + sold)
        throw conflict(`${product_id}: ${held} held and ${sold} sold, the total cannot be lowered to ${product.total}`)
    }
    await tx`delete from products where sale_id = ${saleId} and product_id <> all(${kept}::text[])`
    for (const [place, p] of config.products.entries()) {
      await tx`
        insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total)
        values (${saleId}, ${p.product_id}, ${place}, ${p.name}, ${p.unit_price_minor}, ${p.currency}, ${p.total})
        on conflict (sale_id, product_id) do update set place = excluded.place, name = excluded.name,
          unit_price_minor = excluded.unit_price_minor, currency = excluded.currency, total = excluded.total`
    }
    return written?.created ? 'created' : 'changed'
  })
}

/** Each expected visitor may join within the same few seconds; a shard records some hundreds a second. */
const VISITORS_PER_SHARD = 10_000
const MAX_SHARDS = 256

const shardsFor = (visitors: number | null) =>
  visitors === null ? null : Math.min(MAX_SHARDS, Math.ceil(visitors / VISITORS_PER_SHARD))

/** The operator's switches. For an unknown sale they change nothing; the caller checks that it exists. */
export const switches = {
  open: (sql: Sql, saleId: string) =>
    sql`update sales set opens_at = least(opens_at, date_trunc('milliseconds', clock_timestamp())), paused = false
        where sale_id = ${saleId} and ended_at is null`,
  pause: (sql: Sql, saleId: string) => sql`update sales set paused = true where sale_id = ${saleId}`,
  resume: (sql: Sql, saleId: string) => sql`update sales set paused = false where sale_id = ${saleId}`,
  end: (sql: Sql, saleId: string) =>
    sql`update sales set ended_at = coalesce(ended_at, clock_timestamp()) where sale_id = ${saleId}`,
} as const

export async function setRate(sql: Sql, saleId: string, ratePerSecond: number): Promise<void> {
  await sql`update sales set rate_per_second = ${ratePerSecond} where sale_id = ${saleId}`
}

/** A restock's key is remembered this long. */
const RESTOCK_KEY_HOURS = 24
/** Entries of the audit log searched for a key: more than a sale has in a day, unless it is badly oversold. */
const RESTOCK_KEY_ENTRIES = 10_000

/**
 * Adds units to a product, once per key. Throws, and changes nothing, if the key came with another quantity, the sale has
 * been ended, or the total would exceed `max`.
 */
export async function restock(
  sql: Sql,
  saleId: string,
  productId: string,
  { quantity, key, max }: { quantity: number; key: string | null; max: number },
): Promise<'restocked' | 'replay'> {
  return sql.begin(async (tx) => {
    // The lock lets a simultaneous call with the same key see the first one's entry.
    const [row] = await tx<{ total: number; ended: boolean }[]>`
      select total, ended_at is not null as ended from products join sales using (sale_id)
      where sale_id = ${saleId} and product_id = ${productId} for no key update of products`
    if (key !== null) {
      const [earlier] = await tx<{ quantity: number }[]>`
        select (after -> 'quantity')::int as quantity from (
          select * from audit_log where sale_id = ${saleId} order by entry_id desc limit ${RESTOCK_KEY_ENTRIES}) latest
        where action = 'restocked' and product_id = ${productId} and after ->> 'key' = ${key}
          and at > clock_timestamp() - ${RESTOCK_KEY_HOURS} * interval '1 hour'`
      if (earlier && earlier.quantity !== quantity) throw new ProblemError(problem('idempotency-key-reused'))
      if (earlier) return 'replay'
    }
    if (!row) throw new ProblemError(problem('unknown-product'))
    if (row.ended) throw conflict(ENDED_FOR_GOOD)
    if (row.total + quantity > max) throw new ProblemError(invalidField('quantity', `the total would exceed ${max}`))
    const after = { total: row.total + quantity, quantity, key }
    await tx`update products set total = ${after.total} where sale_id = ${saleId} and product_id = ${productId}`
    const before = { total: row.total }
    await audit(tx, [{ actor: 'operator', action: 'restocked', sale: saleId, product: productId, before, after }])
    return 'restocked'
  })
}
