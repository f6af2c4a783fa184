/**
 * Reads and writes promo codes in the ledger. The uses of a code are a row of `products`, which both gates count; the
 * other columns say what the code takes off.
 */

import type { PromoCode } from '../../shared/api/goods.ts'
import { LIVE } from '../../shared/api/order-status.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import type { promoCodes } from '../ledger/schema/sales.ts'
import { lockRunningSale } from '../sales/sale-queries.ts'

/** A code without a limit gets this many uses. */
const UNLIMITED = 10_000_000
/** A refusal, and the audit log, name at most this many codes. */
const MAX_NAMED = 20

/**
 * A promo code. If it was read for a visitor, the row also has the visitor's limit (null means no limit) and uses.
 */
export type PromoCodeRow = Readonly<Omit<typeof promoCodes.$inferSelect, 'sale_id'>> & {
  readonly uses_per_visitor: number | null
}

interface Asked {
  readonly sale: string
  readonly code: string
}

/** The result is parallel to `codes`; an unknown code is undefined. */
export async function findPromoCodes(
  sql: Queryable,
  asked: readonly Asked[],
): Promise<readonly (PromoCodeRow | undefined)[]> {
  const rows = await sql<(PromoCodeRow & { i: number })[]>`
    select a.i::int, c.code, c.percent, c.amount_minor, c.price_minor, c.valid_from, c.valid_until, c.products,
      c.units_per_use, c.combined,
      p.limit_per_visitor as uses_per_visitor
    from unnest(${asked.map(({ sale }) => sale)}::text[], ${asked.map(({ code }) => code)}::text[])
      with ordinality as a(sale, code, i)
    join promo_codes c on c.sale_id = a.sale and c.code = a.code
    join products p on p.sale_id = a.sale and p.product_id = '%' || a.code`
  const found = new Map(rows.map(({ i, ...row }) => [i, row]))
  return asked.map((_, i) => found.get(i + 1))
}

/** Selects the codes that have no use left, for everybody or for this visitor. */
export async function usedUpCodes(
  sql: Queryable,
  saleId: string,
  visitor: string,
  codes: readonly string[],
): Promise<ReadonlySet<string>> {
  const rows = await sql<{ code: string }[]>`
    select substr(p.product_id, 2) as code from products p
    where p.sale_id = ${saleId} and p.product_id = any(${codes.map((code) => `%${code}`)}::text[])
      and (p.held + p.sold >= p.total - p.buffer or p.limit_per_visitor <= (
        select coalesce(sum(units_in(p.product_id, o.product_id, o.quantity, o.cart)), 0) from orders o
        where o.sale_id = p.sale_id and o.visitor = ${visitor} and o.status in ${sql(LIVE)}))`
  return new Set(rows.map(({ code }) => code))
}

/** All codes of a sale with their uses by held and sold orders. */
export async function readPromoCodes(sql: Queryable, saleId: string) {
  const rows = await sql<(PromoCodeRow & { total: number; used: number })[]>`
    select c.*, p.limit_per_visitor as uses_per_visitor, p.total, p.held + p.sold as used
    from promo_codes c join products p on p.sale_id = c.sale_id and p.product_id = '%' || c.code
    where c.sale_id = ${saleId} order by p.place, c.code`
  return rows.map(({ code, percent, amount_minor, price_minor, ...row }) => ({
    code,
    ...(percent !== null && { percent }),
    ...(amount_minor !== null && { amount_minor }),
    ...(price_minor !== null && { price_minor }),
    uses: row.total === UNLIMITED ? null : row.total,
    uses_per_visitor: row.uses_per_visitor,
    units_per_use: row.units_per_use,
    from: row.valid_from?.toISOString() ?? null,
    until: row.valid_until?.toISOString() ?? null,
    products: row.products,
    combined: row.combined,
    used: row.used,
  }))
}

const IMPORTED = 'promo codes imported'

/**
 * The imports that changed codes after a version, the latest first. A version is the number of the latest import, 0
 * before the first.
 */
const importsAfter = (sql: Queryable, saleId: string, version: number, limit: number) => sql<
  { entry_id: number; by: string; at: Date; changed: string[] }[]
>`
  select entry_id::int8, actor as by, at, after -> 'changed' as changed from audit_log
  where sale_id = ${saleId} and action = ${IMPORTED} and entry_id > ${version} and after -> 'changed' <> '[]'
  order by entry_id desc limit ${limit}`

/** The version of a sale whose codes were never imported. */
const NO_IMPORT = 0

/** The version must be read before the codes. The codes are then of this version or a later one. */
export async function versionOfCodes(sql: Queryable, saleId: string): Promise<string> {
  const [latest] = await importsAfter(sql, saleId, 0, 1)
  return String(latest ? latest.entry_id : NO_IMPORT)
}

/** Throws unless the codes of a locked sale have this version. */
async function requireVersion(tx: Queryable, saleId: string, version: string): Promise<void> {
  if (version === (await versionOfCodes(tx, saleId))) return
  const imports = await importsAfter(tx, saleId, /^\d{1,15}$/.test(version) ? Number(version) : 0, MAX_IMPORTS)
  // A version that no page was given has no import after it.
  const latest = imports[0]
  const changed = [...new Set(imports.flatMap((one) => one.changed))]
  throw new ProblemError(problem('changed-meanwhile', { changed, by: latest?.by, at: latest?.at }))
}

/**
 * At most this many imports are searched for changes. A page that is older than that must be loaded again in any
 * case.
 */
const MAX_IMPORTS = 100

/**
 * Replaces all codes of a sale. Throws, and changes nothing, if a used code would be removed or limited below its
 * uses, or if the codes do not have this `version`.
 */
export async function writePromoCodes(
  sql: Sql,
  saleId: string,
  codes: readonly PromoCode[],
  operator: string,
  version: string | null = null,
): Promise<void> {
  const column = <K extends keyof PromoCode>(key: K) => codes.map((code) => code[key] ?? null)
  await sql.begin(async (tx) => {
    // The rows are staged before the locks are taken, because buyers wait for these locks.
    await tx`
      create temporary table imported (code text primary key, percent float8, amount_minor bigint, price_minor bigint,
        uses int,
        uses_per_visitor int, valid_from timestamptz, valid_until timestamptz, products jsonb, units_per_use int,
          combined boolean, place int)
      on commit drop`
    await tx`
      insert into imported
      select * from unnest(${column('code')}::text[],
        ${column('percent')}::float8[], ${column('amount_minor')}::bigint[],
        ${column('price_minor')}::bigint[],
          ${codes.map(({ uses }) => uses ?? UNLIMITED)}::int[], ${column('uses_per_visitor')}::int[],
        ${column('from')}::timestamptz[], ${column('until')}::timestamptz[],
        ${codes.map(({ products }) => products && JSON.stringify(products))}::text[]::jsonb[],
          ${column('units_per_use')}::int[],
        ${codes.map(({ combined }) => String(combined))}::text[]::boolean[]) with ordinality`
    await tx`analyze imported`
    await lockRunningSale(tx, saleId)
    if (version !== null) await requireVersion(tx, saleId, version)
    await tx`
      select 1 from products where sale_id = ${saleId} and is_promo_code order by product_id for no key update`
    const lost = await tx<{ code: string }[]>`
      select substr(p.product_id, 2) as code from products p left join imported n on n.code = substr(p.product_id, 2)
      where p.sale_id = ${saleId} and p.is_promo_code and p.held + p.sold > coalesce(n.uses, 0) order by p.product_id`
    if (lost.length > 0) {
      const named = lost.slice(0, MAX_NAMED).map(({ code }) => code)
      const detail =
        `${lost.length} codes are used by orders, more often than the new list allows: ` + `${named.join(', ')}.`
      throw new ProblemError(problem('conflict', { detail, codes: named }))
    }
    const [before] = await tx<{ codes: number }[]>`
      select count(*)::int as codes from promo_codes where sale_id = ${saleId}`
    const changed = await tx<{ code: string }[]>`
      select code from imported n full join (
        select c.*, p.total as uses, p.limit_per_visitor as uses_per_visitor from promo_codes c
        join products p on p.sale_id = c.sale_id and p.product_id = '%' || c.code
          where c.sale_id = ${saleId}) c using (code)
      where (n.percent, n.amount_minor, n.price_minor, n.uses, n.uses_per_visitor, n.valid_from, n.valid_until,
        n.products, n.units_per_use,
          n.combined) is distinct from (c.percent, c.amount_minor, c.price_minor, c.uses, c.uses_per_visitor,
            c.valid_from, c.valid_until,
          c.products, c.units_per_use, c.combined)
      order by code limit ${MAX_NAMED}`
    await tx`delete from promo_codes where sale_id = ${saleId}`
    await tx`
      delete from products p where sale_id = ${saleId} and is_promo_code
        and not exists (select from imported n where n.code = substr(p.product_id, 2))`
    await tx`
      insert into promo_codes (sale_id, code, percent, amount_minor, price_minor, valid_from, valid_until, products,
        units_per_use,
        combined)
      select ${saleId}, code, percent, amount_minor, price_minor, valid_from, valid_until, products, units_per_use,
        combined from imported`
    await tx`
      insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, limit_per_visitor,
        is_promo_code)
      select ${saleId}, '%' || code, place, code, 0,
        coalesce((select currency from products
          where sale_id = ${saleId} and not is_promo_code order by place limit 1), ''),
        uses, uses_per_visitor, true from imported
      on conflict (sale_id, product_id) do update
        set place = excluded.place, total = excluded.total, currency = excluded.currency,
        limit_per_visitor = excluded.limit_per_visitor
      where (products.place, products.total, products.currency, products.limit_per_visitor)
        is distinct from (excluded.place, excluded.total, excluded.currency, excluded.limit_per_visitor)`
    await tx`update sales set terms_version = terms_version + 1 where sale_id = ${saleId}`
    await audit(tx, [
      {
        actor: operator,
        action: IMPORTED,
        sale: saleId,
        before: { codes: assertExists(before, 'A count has one row.').codes },
        after: { codes: codes.length, changed: changed.map(({ code }) => code) },
      },
    ])
  })
}
