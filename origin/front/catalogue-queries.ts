/** Reads the catalogue's rows, and the shop's synonyms. */
import type { Texts } from '../../shared/api/fields.ts'
import type { Catalogue, Synonyms } from '../../shared/api/front.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

export interface ListedRow {
  readonly sale_id: string
  readonly name: string
  readonly opens_at: Date
  readonly pre_queue_opens_at: Date
  readonly ends_at: Date | null
  readonly products: readonly {
    readonly product_id: string
    readonly name: string
    readonly unit_price_minor: number
    readonly currency: string
    readonly variant_of: string | null
    readonly is_section: boolean
  }[]
  readonly brand: GoodsDocument['brand']
  readonly venue: string | null
  readonly names: Texts | null
  readonly goods: GoodsDocument['products'] | null
}

/** The sales that are listed publicly, those that open last first. */
export const readListed = (sql: Queryable, max: number) =>
  sql<ListedRow[]>`
    select s.sale_id, s.name, s.opens_at, coalesce(s.pre_queue_opens_at, s.created_at) as pre_queue_opens_at,
      coalesce(s.ended_at, s.ends_at) as ends_at, g.brand, g.venue, g.names, g.products as goods,
      (select coalesce(json_agg(json_build_object('product_id', p.product_id, 'name', p.name, 'variant_of',
        p.variant_of,
          'unit_price_minor', p.unit_price_minor, 'currency', p.currency, 'is_section', p.section_type is not null)
          order by p.place, p.product_id), '[]')
        from products p where p.sale_id = s.sale_id and not p.is_promo_code) as products
    from sales s left join goods g using (sale_id)
    where s.indexed and not s.test
    order by s.opens_at desc, s.sale_id limit ${max}`

/** A line of which no minute tells anything for this long has nobody waiting that the front could tell of. */
const LINE_TTL_MINUTES = 2

/** The lines of these sales, as whichever process hears of the edge has noted them. */
export const readLines = (sql: Queryable, sales: readonly string[]) =>
  sql<{ sale_id: string; waiting: number; wait_seconds: number | null }[]>`
    select distinct on (sale_id) sale_id, (gauges -> 'waiting')::float8 as waiting,
      (gauges -> 'wait_seconds')::float8 as wait_seconds
    from sale_minutes
    where sale_id = any(${sales as string[]}::text[]) and gauges ? 'waiting'
      and minute > now() - ${LINE_TTL_MINUTES} * interval '1 minute'
    order by sale_id, minute desc`

export async function readSynonyms(sql: Queryable): Promise<Synonyms> {
  const [row] = await sql<Pick<Catalogue, 'synonyms'>[]>`select synonyms from search_settings`
  return row?.synonyms ?? []
}

const CHANGED = 'synonyms set'

const latestChange = async (sql: Queryable) => {
  const [change] = await sql<{ entry_id: string; by: string; at: Date }[]>`
    select entry_id, actor as by, at from audit_log where sale_id = ${ALL_SALES} and action = ${CHANGED}
    order by entry_id desc limit 1`
  return change
}

/**
 * The version is the number of the latest change. It must be read before the synonyms, which are then of this version
 * or a later one.
 */
export const versionOfSynonyms = async (sql: Queryable) => String((await latestChange(sql))?.entry_id ?? 0)

/**
 * Replaces the synonyms. Throws, and changes nothing, if the current ones do not have this `version`; null replaces
 * any version.
 */
export async function writeSynonyms(
  sql: Sql,
  synonyms: Synonyms,
  operator: string,
  version: string | null,
): Promise<void> {
  await sql.begin(async (tx) => {
    await tx`insert into search_settings default values on conflict do nothing`
    await tx`select from search_settings for update`
    if (version !== null && version !== (await versionOfSynonyms(tx))) {
      const { by, at } = (await latestChange(tx)) ?? {}
      throw new ProblemError(problem('changed-meanwhile', { changed: ['synonyms'], by, at }))
    }
    const before = await readSynonyms(tx)
    await tx`update search_settings set synonyms = ${tx.json(synonyms)}`
    const change = { before: { synonyms: before }, after: { synonyms } }
    await audit(tx, [{ actor: operator, action: CHANGED, sale: ALL_SALES, ...change }])
  })
}
