/** Sales and their products: reading, writing, the operator's switches and restocks. */
import type { SaleConfig } from '../../shared/api/operator.ts'
import type { Sql } from './connection.ts'
import { audit } from './findings.ts'

export interface ProductRow {
  readonly product_id: string
  readonly name: string
  readonly unit_price_minor: number
  readonly currency: string
  readonly total: number
  readonly held: number
  readonly sold: number
}

export interface SaleRow {
  readonly sale_id: string
  readonly name: string
  readonly opens_at: Date
  readonly ends_at: Date | null
  readonly pre_queue_opens_at: Date | null
  readonly created_at: Date
  readonly ended_at: Date | null
  readonly hold_seconds: number
  readonly limit_per_visitor: number
  readonly rate_per_second: number
  readonly max_inside: number | null
  readonly oversell_policy: SaleConfig['oversell_policy']
  readonly paused: boolean
  /** It may have holds, intents or a counter to look after. */
  readonly in_use: boolean
  readonly products: readonly ProductRow[]
}

/**
 * A sale that ended so long ago, and holds nothing any more, has nothing left to be looked after: a day, since what was
 * promised as it ended waits in Redis for the ledger, however many hours that is away.
 */
const AFTER_THE_END_MS = 24 * 3_600_000

/** The sales in use, those of these names, and the ledger's time (ms since the epoch): one clock decides, and it is Postgres's. */
export async function readSales(
  sql: Sql,
  names: readonly string[],
): Promise<{ nowMs: number; sales: SaleRow[] }> {
  const rows = await sql<(SaleRow & { now_ms: number })[]>`
    select s.*, extract(epoch from clock_timestamp())::float8 * 1000 as now_ms,
      (select json_agg(json_build_object(
          'product_id', p.product_id, 'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency,
          'total', p.total, 'held', p.held, 'sold', p.sold) order by p.place)
        from products p where p.sale_id = s.sale_id) as products
    from (
      select *, (coalesce(ended_at, ends_at) < clock_timestamp() - ${AFTER_THE_END_MS} * interval '1 millisecond') is not true
          or exists (select from products where products.sale_id = sales.sale_id and held > 0) as in_use
      from sales) s
    where in_use or sale_id = any(${names as string[]}::text[])`
  const [first] = rows
  if (first) return { nowMs: first.now_ms, sales: rows }
  const [clock] = await sql<
    { now_ms: number }[]
  >`select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms`
  return { nowMs: clock?.now_ms ?? Date.now(), sales: [] }
}

type WriteSale =
  | { readonly result: 'created' | 'changed' }
  | { readonly result: 'refused'; readonly detail: string }

export const ENDED_FOR_GOOD = 'The sale has been ended, which is for good.'

/**
 * Creates or changes a sale as a whole; refuses, and changes nothing, what would leave orders without their units, or would
 * change nothing.
 */
export async function writeSale(sql: Sql, sale: string, config: SaleConfig): Promise<WriteSale> {
  return sql
    .begin(async (tx): Promise<WriteSale> => {
      const [written] = await tx<{ created: boolean; ended: boolean }[]>`
      insert into sales (sale_id, name, opens_at, ends_at, pre_queue_opens_at, hold_seconds, limit_per_visitor,
                         rate_per_second, max_inside, oversell_policy)
      values (${sale}, ${config.name}, greatest(${config.opens_at}::timestamptz, clock_timestamp()), ${config.ends_at},
              ${config.pre_queue_opens_at}, ${config.hold_seconds}, ${config.limit_per_visitor},
              ${config.admission.rate_per_second}, ${config.admission.max_inside}, ${config.oversell_policy})
      on conflict (sale_id) do update set
        name = excluded.name,
        -- A sale that is open stays open: "in the past means now" holds for one that is not.
        opens_at = case when sales.opens_at <= clock_timestamp() and ${config.opens_at}::timestamptz <= clock_timestamp()
                        then sales.opens_at else excluded.opens_at end,
        ends_at = excluded.ends_at, pre_queue_opens_at = excluded.pre_queue_opens_at,
        hold_seconds = excluded.hold_seconds, limit_per_visitor = excluded.limit_per_visitor,
        rate_per_second = excluded.rate_per_second, max_inside = excluded.max_inside,
        oversell_policy = excluded.oversell_policy
      returning xmax = 0 as created, ended_at is not null as ended`
      if (written?.ended) throw new Refused(ENDED_FOR_GOOD)
      const kept = config.products.map((p) => p.product_id)
      // Of a product that stays nothing is asked of its orders: where it has none, all of the sale would be read to know.
      const present = await tx<{ product_id: string; held: number; sold: number; ordered: boolean }[]>`
      select p.product_id, p.held, p.sold, p.product_id <> all(${kept}::text[]) and exists (
        select 1 from orders o where o.sale_id = p.sale_id and o.product_id = p.product_id) as ordered
      from products p where p.sale_id = ${sale} order by p.product_id for no key update of p`
      const refused = refusal(present, config)
      if (refused) throw new Refused(refused)
      await tx`delete from products where sale_id = ${sale} and product_id <> all(${kept}::text[])`
      for (const [place, p] of config.products.entries()) {
        await tx`
        insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total)
        values (${sale}, ${p.product_id}, ${place}, ${p.name}, ${p.unit_price_minor}, ${p.currency}, ${p.total})
        on conflict (sale_id, product_id) do update set place = excluded.place, name = excluded.name,
          unit_price_minor = excluded.unit_price_minor, currency = excluded.currency, total = excluded.total`
      }
      return { result: written?.created ? 'created' : 'changed' }
    })
    .catch((error) => {
      if (error instanceof Refused) return { result: 'refused', detail: error.message }
      throw error
    })
}

/** Carries a refusal out of the transaction, so that it is rolled back. */
class Refused extends Error {}

function refusal(
  present: readonly { product_id: string; held: number; sold: number; ordered: boolean }[],
  config: SaleConfig,
): string | null {
  for (const { product_id, held, sold, ordered } of present) {
    const wanted = config.products.find((p) => p.product_id === product_id)
    if (!wanted && ordered) return `${product_id} has orders and cannot be removed`
    if (wanted && wanted.total < held + sold) {
      return `${product_id}: ${held} held and ${sold} sold, the total cannot be lowered to ${wanted.total}`
    }
  }
  return null
}

/** The operator's switches; for an unknown sale nothing changes, and whether there is one is the caller's to know. */
export const switches = {
  open: (sql: Sql, sale: string) =>
    sql`update sales set opens_at = least(opens_at, date_trunc('milliseconds', clock_timestamp())), paused = false
        where sale_id = ${sale} and ended_at is null`,
  pause: (sql: Sql, sale: string) => sql`update sales set paused = true where sale_id = ${sale}`,
  resume: (sql: Sql, sale: string) => sql`update sales set paused = false where sale_id = ${sale}`,
  end: (sql: Sql, sale: string) =>
    sql`update sales set ended_at = coalesce(ended_at, clock_timestamp()) where sale_id = ${sale}`,
} as const

export async function setRate(sql: Sql, sale: string, ratePerSecond: number): Promise<void> {
  await sql`update sales set rate_per_second = ${ratePerSecond} where sale_id = ${sale}`
}

/** How long a restock's key is remembered, as long as a client may go on trying. */
const RESTOCK_KEY_HOURS = 24
/** Of a sale's log so many entries are looked through for a key: more than any sale but a badly oversold one has in a day. */
const RESTOCK_KEY_LOOK = 10_000

interface RestockEntry {
  readonly total: number
  readonly quantity: number
  readonly key: string | null
}

/**
 * More units, once for each key. Nothing is changed where they have been added under the key before (`replay`), where it came
 * with another quantity (`reused`), for a sale ended for good (`ended`), and for an unknown product or a total out of bounds
 * (`refused`).
 */
export async function restock(
  sql: Sql,
  sale: string,
  product: string,
  { quantity, key, max }: { quantity: number; key: string | null; max: number },
): Promise<'restocked' | 'replay' | 'reused' | 'ended' | 'refused'> {
  return sql.begin(async (tx) => {
    // The same key at the same moment waits here, and then finds what the first has written.
    const [row] = await tx<{ total: number; ended: boolean }[]>`
      select total, ended_at is not null as ended from products join sales using (sale_id)
      where sale_id = ${sale} and product_id = ${product} for no key update of products`
    if (key !== null) {
      const [known] = await tx<{ after: RestockEntry }[]>`
        select after from (
          select * from audit_log where sale_id = ${sale} order by entry_id desc limit ${RESTOCK_KEY_LOOK}) latest
        where action = 'restocked' and product_id = ${product} and after ->> 'key' = ${key}
          and at > clock_timestamp() - ${RESTOCK_KEY_HOURS} * interval '1 hour'`
      if (known) return known.after.quantity === quantity ? 'replay' : 'reused'
    }
    if (row?.ended) return 'ended'
    if (!row || row.total + quantity > max) return 'refused'
    const after: RestockEntry = { total: row.total + quantity, quantity, key }
    await tx`update products set total = ${after.total} where sale_id = ${sale} and product_id = ${product}`
    await audit(tx, [
      { actor: 'operator', action: 'restocked', sale, product, before: { total: row.total }, after },
    ])
    return 'restocked'
  })
}
