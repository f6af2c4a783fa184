/** Sales and their products in the ledger: reads, writes, and the operator's switches. */

import type { Texts } from '../../shared/api/fields.ts'
import { shardsFor } from '../../shared/api/internal.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { chargeIssue } from '../../shared/api/stripe-amount.ts'
import { invalidField, ProblemError, problem } from '../../shared/problem.ts'
import { ADMIN_NAME, type Audited, audit, changesBetween } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'
import { readGoods, writeGoods } from './goods-queries.ts'
import { describeSale, phaseEvents, phaseOf } from './sale-state.ts'
import { changedBetween, versionOf } from './sale-version.ts'

/**
 * A sale without held units is in use until this long after its end, because intents of its last minutes may wait in
 * Redis while the ledger is away for hours.
 */
const IN_USE_AFTER_END_MS = 24 * 3_600_000

/** An SQL condition that is true if the sale `s` may still have holds, intents or gates. */
export const isInUse = (sql: Queryable) => sql`(
  (coalesce(s.ended_at, s.ends_at) < clock_timestamp() - ${IN_USE_AFTER_END_MS} * interval '1 millisecond') is not true
  or exists (select from products p where p.sale_id = s.sale_id and p.held > 0))`

/**
 * The sales in use, those with these ids, and the ledger's time (ms since the epoch), which is the clock of all
 * processes.
 */
export async function readSales(
  sql: Queryable,
  ids: readonly string[],
  onlyThese = false,
): Promise<{ nowMs: number; sales: SaleRow[] }> {
  const rows = await sql<(SaleRow & { now_ms: number })[]>`
    select s.*, now_ms,
      (select coalesce(json_agg(json_build_object(
          'product_id', p.product_id, 'name', p.name, 'unit_price_minor', p.unit_price_minor, 'currency', p.currency,
          'total', p.total, 'buffer', p.buffer, 'held', p.held, 'sold', p.sold,
          'section_type', p.section_type, 'limit_per_visitor', p.limit_per_visitor, 'variant_of', p.variant_of,
          'variant', p.variant, 'sku', p.sku, 'weight_grams', p.weight_grams, 'has_terms', p.has_terms)
          order by p.place, p.product_id), '[]')
        from products p where p.sale_id = s.sale_id and not p.is_promo_code) as products,
      (select coalesce(sum(p.version), 0)::bigint
        from products p where p.sale_id = s.sale_id and not p.is_promo_code) as products_version,
      (select g.version from goods g where g.sale_id = s.sale_id) as goods_version,
      (select c.version from charts c where c.sale_id = s.sale_id) as chart_version,
      (select json_object_agg(p.product_id, p.version)
        from products p where p.sale_id = s.sale_id and p.section_type is not null) as section_versions,
      (select coalesce(json_agg(json_build_object(
          'rule', r.rule_id::text, 'when', r.when, 'action', r.action, 'note', r.note, 'met', r.met)
            order by r.rule_id), '[]')
        from rules r where r.sale_id = s.sale_id) as rules,
      -- An edited announcement has another id, so that pages show it and screen readers read it again.
      (select json_build_object('id', a.n || case when a.edits > 0 then '.' || a.edits else '' end,
          'level', a.level, 'text', a.text,
          'since', to_char(a.at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'),
          'until', to_char(a.until at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))
        from posts a where a.sale_id = s.sale_id and a.level is not null
          and (a.until is null or a.until > clock_timestamp()) order by a.n desc limit 1) as announcement,
      (select (count(*) + count(removed_at) + coalesce(sum(edits), 0))::int
        from posts where posts.sale_id = s.sale_id) as feed_version
    from (select extract(epoch from clock_timestamp())::float8 * 1000 as now_ms) clock left join (
      select s.*, ${isInUse(sql)} as in_use
      from (select sale_id from sales where not long_over and ${!onlyThese}
            union select unnest(${ids as string[]}::text[])) wanted
      -- The lateral join probes an index for each id, whatever row count Postgres estimates.
      cross join lateral (select * from sales where sale_id = wanted.sale_id limit 1) s) s
      on (in_use and ${!onlyThese}) or sale_id = any(${ids as string[]}::text[])`
  const [first] = rows
  if (!first) throw new Error('the ledger returned no time')
  return { nowMs: first.now_ms, sales: rows.filter((row) => row.sale_id !== null) }
}

/** Marks the sales that are no longer in use, and returns them. From then on they are not read. */
export async function markLongOver(sql: Sql): Promise<string[]> {
  const rows = await sql<{ sale_id: string }[]>`
    update sales s set long_over = true where not long_over and not ${isInUse(sql)} returning sale_id`
  return rows.map(({ sale_id }) => sale_id)
}

export const ENDED_FOR_GOOD = 'The sale has been ended, which is for good.'

export const conflict = (detail: string) => new ProblemError(problem('conflict', { detail }))

/**
 * Creates or replaces a sale. Throws, and changes nothing, if the sale has been ended, or if orders would lose their
 * units or their product.
 */
export async function writeSale(
  sql: Sql,
  saleId: string,
  config: SaleConfig,
  operator = ADMIN_NAME,
  { onlyNew = false, version = null }: { onlyNew?: boolean; version?: string | null } = {},
): Promise<'created' | 'changed'> {
  return sql.begin(async (tx) => {
    const before = await configOf(tx, saleId)
    if (version !== null) await requireVersion(tx, saleId, version)
    const [written] = await tx<{ created: boolean; ended: boolean; test: boolean; payment: string }[]>`
      insert into sales (sale_id, name, opens_at, ends_at, pre_queue_opens_at, hold_seconds, limit_per_visitor,
                         rate_per_second, max_inside, limit_per_order, oversell_policy, access, lines,
                         expected_visitors, ticket_shards, max_unpaid_orders, contact, seller, tax, fees, delivery,
                           indexed, mails, payment, test, time_zone)
      values (${saleId}, ${config.name},
        greatest(${config.opens_at}::timestamptz, clock_timestamp()), ${config.ends_at},
              ${config.pre_queue_opens_at}, ${config.hold_seconds}, ${config.limit_per_visitor},
              ${config.admission.rate_per_second},
                ${config.admission.max_inside}, ${config.limit_per_order ?? null}, ${config.oversell_policy},
              ${tx.json(config.access)}, ${tx.json(config.lines)}, ${config.expected_visitors},
              ${config.expected_visitors === null ? null : shardsFor(config.expected_visitors)},
                ${config.max_unpaid_orders}, ${tx.json(config.contact)},
              ${config.seller && tx.json(config.seller)}, ${config.tax && tx.json(config.tax)},
              ${tx.json(config.fees)}, ${tx.json(config.delivery)},
              ${config.indexed}, ${config.mails}, ${config.payment}, ${config.test}, ${config.time_zone})
      on conflict (sale_id) do update set
        name = excluded.name,
        -- A time in the past means now if the sale is not open. An open sale keeps its time.
        opens_at = case when sales.opens_at <= clock_timestamp()
          and ${config.opens_at}::timestamptz <= clock_timestamp()
                        then sales.opens_at else excluded.opens_at end,
        ends_at = excluded.ends_at, pre_queue_opens_at = excluded.pre_queue_opens_at,
        hold_seconds = excluded.hold_seconds, limit_per_visitor = excluded.limit_per_visitor,
        limit_per_order = excluded.limit_per_order, rate_per_second = excluded.rate_per_second,
          max_inside = excluded.max_inside,
        oversell_policy = excluded.oversell_policy, access = excluded.access, lines = excluded.lines,
        expected_visitors = excluded.expected_visitors, max_unpaid_orders = excluded.max_unpaid_orders,
        contact = excluded.contact, seller = excluded.seller, tax = excluded.tax,
        fees = excluded.fees, delivery = excluded.delivery, indexed = excluded.indexed, mails = excluded.mails,
        time_zone = excluded.time_zone, long_over = false,
        terms_version = sales.terms_version + ((sales.tax, sales.fees, sales.delivery)
          is distinct from (excluded.tax, excluded.fees, excluded.delivery))::int
      returning xmax = 0 as created, ended_at is not null as ended, test, payment`
    if (onlyNew && !written?.created)
      throw new ProblemError(
        problem('conflict', {
          detail: `There is a sale ${saleId} already.`,
          errors: [{ field: 'sale', detail: 'there is a sale with this id already' }],
        }),
      )
    if (written?.ended) throw conflict(ENDED_FOR_GOOD)
    if (written && written.test !== config.test)
      throw new ProblemError(invalidField('test', `is ${written.test} since the sale was created, and stays so`))
    if (written && written.payment !== config.payment)
      throw new ProblemError(invalidField('payment', `is ${written.payment} since the sale was created, and stays so`))
    const rows = unitsOf(config)
    const productIds = rows.map((p) => p.product_id)
    // The check for orders covers only removed products, because for a product without orders it reads all orders of
    // the sale.
    const present = await tx<
      (Pick<ProductRow, 'product_id' | 'held' | 'sold' | 'weight_grams' | 'variant_of'> & { ordered: boolean })[]
    >`
      select p.product_id, p.held, p.sold, p.weight_grams, p.variant_of,
        p.product_id <> all(${productIds}::text[]) and exists (
        select 1 from orders o where o.sale_id = p.sale_id
          and (o.product_id = p.product_id
            or o.cart @> jsonb_build_array(jsonb_build_object('product', p.product_id)))) as ordered
      from products p where p.sale_id = ${saleId} and section_type is null and not is_promo_code
        order by p.product_id for no key update of p`
    for (const { product_id, held, sold, ordered } of present) {
      const product = rows.find((p) => p.product_id === product_id)
      if (!product && ordered) throw conflict(`${product_id} has orders and cannot be removed`)
      if (!product) continue
      const { total, buffer } = product
      if (total - buffer < held + sold)
        throw conflict(
          `${product_id}: ${held} held and ${sold} sold, the total cannot be lowered to ` +
            `${total}${buffer ? ` with a buffer of ${buffer}` : ''}`,
        )
    }
    // Shipping depends on weight, and a promo code of a product on its variants. Prices are compared separately.
    const isBilledAnew = present.some(({ product_id, weight_grams, variant_of }) => {
      const product = rows.find((p) => p.product_id === product_id)
      return product?.weight_grams !== weight_grams || product.variant_of !== variant_of
    })
    if (isBilledAnew) await tx`update sales set terms_version = terms_version + 1 where sale_id = ${saleId}`
    await tx`
      delete from products where sale_id = ${saleId}
        and product_id <> all(${productIds}::text[]) and section_type is null
        and not is_promo_code`
    for (const [place, p] of rows.entries()) {
      await tx`
        insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, buffer,
                              limit_per_visitor, variant_of, variant, sku, weight_grams, has_terms)
        values (${saleId}, ${p.product_id},
          ${place}, ${p.name}, ${p.unit_price_minor}, ${p.currency}, ${p.total}, ${p.buffer},
                ${p.limit_per_visitor}, ${p.variant_of},
                  ${p.variant && tx.json(p.variant)}, ${p.sku}, ${p.weight_grams}, ${p.has_terms})
        on conflict (sale_id, product_id) do update set place = excluded.place, name = excluded.name,
          unit_price_minor = excluded.unit_price_minor, currency = excluded.currency, total = excluded.total,
          buffer = excluded.buffer, limit_per_visitor = excluded.limit_per_visitor, variant_of = excluded.variant_of,
            variant = excluded.variant,
          sku = excluded.sku, weight_grams = excluded.weight_grams, has_terms = excluded.has_terms
        -- Sections are written by their own calls.
        where products.section_type is null`
    }
    await writeGoods(tx, saleId, config)
    await publishPhase(tx, saleId)
    const action = written?.created ? 'created' : 'changed'
    await audit(tx, [{ actor: operator, action, sale: saleId, ...changesBetween(before, await configOf(tx, saleId)) }])
    return action
  })
}

/** The version of a sale's configuration; null if there is no such sale. */
export async function readVersion(sql: Queryable, saleId: string): Promise<string | null> {
  const { sales } = await readSales(sql, [saleId], true)
  const [sale] = sales
  return sale ? versionOf(sale, await readGoods(sql, saleId)) : null
}

/** Throws unless the sale, whose row is locked, has the configuration of this version. */
async function requireVersion(tx: Queryable, saleId: string, version: string): Promise<void> {
  const { sales } = await readSales(tx, [saleId], true)
  const [sale] = sales
  if (!sale) throw new ProblemError(problem('unknown-sale'))
  const now = versionOf(sale, await readGoods(tx, saleId))
  if (now === version) return
  const [last] = await tx<{ by: string; at: Date }[]>`
    select actor as by, at from audit_log
      where sale_id = ${saleId} and action = any(${CONFIGURES as unknown as string[]}::text[])
    order by entry_id desc limit 1`
  throw new ProblemError(problem('changed-meanwhile', { changed: changedBetween(sale, version, now), ...last }))
}

/** The actions in the audit log that change fields of a PUT. */
const CONFIGURES = [
  'created',
  'changed',
  'opened',
  'rate set',
  'price set',
  'restocked',
  'fulfilled from the buffer',
] as const

/** The units that a sale sells: its products, each followed by its variants. */
export function unitsOf({ products }: Pick<SaleConfig, 'products'>) {
  return products.flatMap((p) => {
    const {
      product_id,
      name,
      unit_price_minor,
      currency,
      limit,
      weight_grams = null,
      variants = [],
      options: all = [],
    } = p
    const has_terms = Boolean(p.terms)
    const limit_per_visitor = limit ?? null
    const shared = { currency, limit_per_visitor, weight_grams, has_terms }
    return [
      {
        ...shared,
        product_id,
        name,
        unit_price_minor,
        total: p.total,
        buffer: p.buffer,
        variant_of: null,
        variant: null,
        sku: null,
      },
      ...variants.map(
        ({ variant_id, options, total, buffer, sku = null, unit_price_minor: own = unit_price_minor }) => ({
          ...shared,
          product_id: variant_id,
          name: [name, ...all.map((option) => options[option.name])].join(', '),
          unit_price_minor: own,
          total,
          buffer,
          variant_of: product_id,
          variant: options,
          sku,
        }),
      ),
    ]
  })
}

/**
 * Writes to the log the phases that a sale has reached since the last call, each once, because the row's lock
 * serialises callers. `restocked` means that units were added, which is published even if the sale was not sold out.
 */
export async function publishPhase(sql: Queryable, saleId: string, restocked = false): Promise<void> {
  await inTransaction(sql, async (tx) => {
    const { sale, nowMs } = await lockSale(tx, saleId)
    if (!sale) return
    const { events, phase } = phaseEvents(sale.published_phase, phaseOf(sale, nowMs))
    const types = restocked ? [...new Set(['sale.restocked' as const, ...events])] : events
    const data = JSON.stringify(describeSale(sale, nowMs))
    if (types.length > 0)
      await tx`
        insert into events (xid, type, sale_id, data)
        select event_xid(), unnest(${types}::text[]), ${saleId}, ${data}::text::jsonb`
    if (phase !== sale.published_phase) await tx`update sales set published_phase = ${phase} where sale_id = ${saleId}`
  })
}

export const inTransaction = <T>(sql: Queryable, work: (tx: Queryable) => Promise<T>) =>
  'begin' in sql ? sql.begin(work) : work(sql)

/** The settings of a sale, whose row is locked; empty if there is no such sale. */
async function configOf(tx: Queryable, saleId: string): Promise<Record<string, unknown>> {
  const [row] = await tx<{ config: Record<string, unknown> }[]>`
    select to_jsonb(s) - array['sale_id', 'created_at', 'ticket_shards', 'published_phase', 'terms_version',
      'long_over'] || jsonb_build_object('products', (
      select jsonb_object_agg(p.product_id, to_jsonb(p) - array['sale_id', 'product_id', 'held', 'sold', 'version'])
      from products p where p.sale_id = s.sale_id and not p.is_promo_code)) as config
    from sales s where sale_id = ${saleId} for no key update of s`
  return row?.config ?? {}
}

/** A change that was noted while the ledger was away. `isOver`: a later one has been made, which stays. */
type Noted = Audited & { readonly isOver: boolean }

/** A change of a sale with its audit entry and its events. */
function changeWithAudit(action: string, change: (tx: Queryable, saleId: string) => PromiseLike<unknown>) {
  return (sql: Queryable, saleId: string, operator = ADMIN_NAME, { isOver = false, ...noted }: Partial<Noted> = {}) =>
    inTransaction(sql, async (tx) => {
      if (isOver) return audit(tx, [{ actor: operator, action, sale: saleId, after: { overridden: true }, ...noted }])
      const before = await configOf(tx, saleId)
      await change(tx, saleId)
      await publishPhase(tx, saleId)
      await audit(tx, [
        { actor: operator, action, sale: saleId, ...changesBetween(before, await configOf(tx, saleId)), ...noted },
      ])
    })
}

/** The operator's switches. They change nothing for an unknown sale; the caller checks that it exists. */
export const switches = {
  open: changeWithAudit(
    'opened',
    (tx, saleId) =>
      tx`update sales set opens_at = least(opens_at, date_trunc('milliseconds', clock_timestamp())), paused = false,
           pause_reason = null
         where sale_id = ${saleId} and ended_at is null`,
  ),
  resume: changeWithAudit(
    'resumed',
    (tx, saleId) => tx`update sales set paused = false, pause_reason = null where sale_id = ${saleId}`,
  ),
  end: changeWithAudit(
    'ended',
    (tx, saleId) => tx`update sales set ended_at = coalesce(ended_at, clock_timestamp()) where sale_id = ${saleId}`,
  ),
} as const

/** `reason` is the explanation that visitors read, by language. */
export const pauseSale = (
  sql: Queryable,
  saleId: string,
  reason: Texts | null,
  operator = ADMIN_NAME,
  noted: Partial<Noted> = {},
) =>
  changeWithAudit(
    'paused',
    (tx) => tx`
      update sales set paused = true, pause_reason = ${reason && JSON.stringify(reason)}::text::jsonb
      where sale_id = ${saleId}`,
  )(sql, saleId, operator, noted)

export const setRate = (sql: Queryable, saleId: string, ratePerSecond: number, operator = ADMIN_NAME) =>
  changeWithAudit(
    'rate set',
    (tx) => tx`update sales set rate_per_second = ${ratePerSecond} where sale_id = ${saleId}`,
  )(sql, saleId, operator)

/**
 * Sets the price of later orders, including those of variants that cost as much as their product. Existing orders
 * keep their price. Throws for an unknown product.
 */
export const setPrice = (
  sql: Queryable,
  saleId: string,
  productId: string,
  priceMinor: number,
  operator = ADMIN_NAME,
) =>
  changeWithAudit('price set', async (tx) => {
    const [product] = await tx<{ currency: string }[]>`
      select currency from products where sale_id = ${saleId} and product_id = ${productId}`
    const issue = product && chargeIssue(priceMinor, product.currency)
    if (issue) throw new ProblemError(invalidField('unit_price_minor', issue))
    const { count } = await tx`
      update products p set unit_price_minor = ${priceMinor} from products one
      where one.sale_id = ${saleId} and one.product_id = ${productId} and p.sale_id = one.sale_id
        and (p.product_id = one.product_id or p.variant_of = one.product_id
          and p.unit_price_minor = one.unit_price_minor)`
    if (count === 0) throw new ProblemError(problem('unknown-product'))
  })(sql, saleId, operator)

/** Reads a sale and the ledger's time, and locks the sale's row until the transaction ends. */
export async function lockSale(
  tx: Queryable,
  saleId: string,
): Promise<{ readonly sale: SaleRow | undefined; readonly nowMs: number }> {
  await tx`select from sales where sale_id = ${saleId} for no key update`
  const { nowMs, sales } = await readSales(tx, [saleId], true)
  return { nowMs, sale: sales[0] }
}

/** Locks a sale, before its products. Throws if it has ended: nothing of it changes any more. */
export async function lockRunningSale(tx: Queryable, saleId: string): Promise<void> {
  const [sale] = await tx<{ ended: boolean }[]>`
    select ended_at is not null as ended from sales where sale_id = ${saleId} for no key update`
  if (!sale) throw new ProblemError(problem('unknown-sale'))
  if (sale.ended) throw conflict(ENDED_FOR_GOOD)
}
