/**
 * Sections of a hall and its focal point, as operators set them. Each change takes the locks of a batch of orders,
 * the sale's row and then those of products, and what visitors were shown under a version of the chart never changes:
 * it gets a new one.
 */

import { type ChartConfig, MAX_SECTIONS, type SectionConfig } from '../../shared/api/operators/hall-admin.ts'
import { chargeIssue } from '../../shared/api/stripe-amount.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import { audit, changesBetween } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { lockRunningSale, publishPhase } from '../sales/sale-queries.ts'

export const conflict = (detail: string, fields: Readonly<Record<string, unknown>> = {}) =>
  new ProblemError(problem('conflict', { detail, ...fields }))

/** A section's row in `products`, as far as operators set it. */
export interface SectionRow {
  readonly product_id: string
  readonly name: string
  readonly section_type: SectionConfig['type'] | null
  readonly place: number
  readonly total: number
  readonly buffer: number
  readonly held: number
  readonly sold: number
  readonly unit_price_minor: number
  readonly currency: string
}

/** Products come before sections; there are at most a hundred. */
const FIRST_PLACE = 100

/** Locks sections of a locked sale, in the order in which everyone locks products. */
export const lockSections = (tx: Queryable, saleId: string, sections: readonly string[]) => tx<SectionRow[]>`
  select product_id, name, section_type, place, total, buffer, held, sold, unit_price_minor, currency from products
  where sale_id = ${saleId} and product_id = any(${sections as string[]}::text[])
  order by product_id for no key update`

/** The chart changes: the hall gets a chart if it has none, or else a new version. */
export const nextVersion = (tx: Queryable, saleId: string) => tx`
  insert into charts as c (sale_id) values (${saleId}) on conflict (sale_id) do update set version = c.version + 1`

/** Creates or changes a section. Throws, and changes nothing, where orders, seats or blocks would lose theirs. */
export function writeSection(
  sql: Sql,
  saleId: string,
  sectionId: string,
  config: SectionConfig,
  operator: string,
): Promise<'created' | 'changed'> {
  return sql.begin(async (tx) => {
    await lockRunningSale(tx, saleId)
    const [row] = await lockSections(tx, saleId, [sectionId])
    if (row && row.section_type === null) throw conflict(`${sectionId} is a product of the sale, and no section.`)
    if (row) await refuseLoss(tx, saleId, row, config)
    const before = row ? { ...describe(row), outline: await outlineOf(tx, saleId, sectionId) } : {}
    const place = config.order === undefined ? row?.place : FIRST_PLACE + config.order
    const [written] = await tx<SectionRow[]>`
      insert into products as p (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type)
      select ${saleId}::text, ${sectionId}::text,
        coalesce(${place ?? null}::int, greatest(${FIRST_PLACE}::int, max(o.place) + 1)), ${config.name}::text,
        ${config.price_minor}::bigint, ${config.currency}::text, ${config.total ?? row?.total ?? 0}::int,
          ${config.type}::text
      from products o where o.sale_id = ${saleId} and o.section_type is not null
      having count(*) < ${MAX_SECTIONS} or ${row !== undefined}::boolean
      on conflict (sale_id, product_id) do update set place = excluded.place, name = excluded.name,
        unit_price_minor = excluded.unit_price_minor, currency = excluded.currency, total = excluded.total,
        section_type = excluded.section_type
      returning product_id, name, section_type, place, total, buffer, held, sold, unit_price_minor, currency`
    if (!written) throw conflict(`There are ${MAX_SECTIONS} sections already.`)
    await tx`insert into charts (sale_id) values (${saleId}) on conflict do nothing`
    const outline = config.outline ? JSON.stringify(config.outline) : null
    await tx`
      update charts set outlines = case when ${outline}::text is null then outlines - ${sectionId}::text
        else outlines || jsonb_build_object(${sectionId}::text, ${outline}::text::jsonb) end
      where sale_id = ${saleId}`
    const after = { ...describe(written), outline: config.outline ?? null }
    const difference = changesBetween(before, after)
    const isDrawnOtherwise = ['name', 'type', 'order', 'outline'].some((field) => field in difference.after)
    if (isDrawnOtherwise) await nextVersion(tx, saleId)
    await publishPhase(tx, saleId)
    const action = row ? 'section changed' : 'section created'
    await audit(tx, [{ actor: operator, action, sale: saleId, product: sectionId, ...difference }])
    return row ? 'changed' : 'created'
  })
}

/** Returns the section as the audit log shows it. */
const describe = ({ name, section_type: type, place, total, unit_price_minor: price_minor, currency }: SectionRow) => ({
  name,
  type,
  total,
  price_minor,
  currency,
  order: place - FIRST_PLACE,
})

async function outlineOf(tx: Queryable, saleId: string, sectionId: string): Promise<unknown> {
  const [row] = await tx<{ outline: unknown }[]>`
    select outlines -> ${sectionId}::text as outline from charts where sale_id = ${saleId}`
  return row?.outline ?? null
}

async function refuseLoss(tx: Queryable, saleId: string, row: SectionRow, config: SectionConfig) {
  const { type, total } = config
  const { product_id: id, held, sold, buffer } = row
  if (config.currency !== row.currency) {
    const seats = await tx<{ seat_id: string; price_minor: number }[]>`
      select seat_id, price_minor::float8 from seats where sale_id = ${saleId} and section_id = ${id}`
    for (const { seat_id, price_minor } of seats) {
      const issue = chargeIssue(price_minor, config.currency)
      if (issue) throw conflict(`The price of seat ${seat_id} ${issue}: import the seats anew.`)
    }
  }
  if (total !== undefined && total < held + sold + buffer)
    throw conflict(`${id}: ${held} held, ${sold} sold and ${buffer} blocked, the total cannot be lowered to ${total}.`)
  if (type === row.section_type) return
  if (await isOrdered(tx, saleId, id)) throw conflict(`${id} has orders: its type stays as it is.`)
  const seats = await tx`select from seats where sale_id = ${saleId} and section_id = ${id} limit 1`
  if (seats.length > 0) throw conflict(`${id} has seats: remove them before it becomes a standing section.`)
}

/** True if any order has or had units of the section. If there is none, this reads all orders of the sale. */
async function isOrdered(tx: Queryable, saleId: string, sectionId: string): Promise<boolean> {
  const rows = await tx`
    select from orders where sale_id = ${saleId}
      and (product_id = ${sectionId} or cart @> jsonb_build_array(jsonb_build_object('product',
        ${sectionId}::text))) limit 1`
  return rows.length > 0
}

/** Removes a section that no order has or had, with its seats and their blocks. */
export function removeSection(sql: Sql, saleId: string, sectionId: string, operator: string): Promise<void> {
  return sql.begin(async (tx) => {
    await lockRunningSale(tx, saleId)
    const [row] = await lockSections(tx, saleId, [sectionId])
    if (!row?.section_type) throw unknownSection()
    if (await isOrdered(tx, saleId, sectionId)) throw conflict(`${sectionId} has orders and cannot be removed.`)
    // A claim of an order that the orders do not have stops the seats' removal, by the foreign key.
    await tx`
      delete from seat_claims c using seats s
      where s.sale_id = ${saleId} and s.section_id = ${sectionId}
        and (c.sale_id, c.seat_index) = (s.sale_id, s.seat_index)
        and c.reason is not null`
    await keepIndexes(tx, saleId)
    const { count: seats } = await tx`delete from seats where sale_id = ${saleId} and section_id = ${sectionId}`
    await tx`delete from products where sale_id = ${saleId} and product_id = ${sectionId}`
    await tx`update charts set outlines = outlines - ${sectionId}::text where sale_id = ${saleId}`
    await nextVersion(tx, saleId)
    await publishPhase(tx, saleId)
    const before = { ...describe(row), seats }
    await audit(tx, [{ actor: operator, action: 'section removed', sale: saleId, product: sectionId, before }])
  })
}

export const unknownSection = () =>
  new ProblemError(problem('unknown-product', { detail: 'There is no such section in this sale.' }))

/**
 * Before seats are removed, and after some are added: no index is given again, since a reservation on its way may
 * name one.
 */
export const keepIndexes = (tx: Queryable, saleId: string) => tx`
  update charts set next_seat_index = greatest(next_seat_index, (
    select max(seat_index) + 1 from seats where sale_id = ${saleId}))
  where sale_id = ${saleId}`

/**
 * Sets the point towards which the best seats are, and whether a choice may leave a single seat; what is left out
 * stays.
 */
export function changeChart(sql: Sql, saleId: string, { focal_point, refuse_single }: ChartConfig, operator: string) {
  return sql.begin(async (tx) => {
    await lockRunningSale(tx, saleId)
    const read = async () => {
      const [chart] = await tx<{ focal_point: { x: number; y: number }; refuse_single: boolean }[]>`
        select json_build_object('x', focal_x, 'y', focal_y) as focal_point, refuse_single from charts
          where sale_id = ${saleId}`
      return chart
    }
    const before = await read()
    await nextVersion(tx, saleId)
    await tx`
      update charts set focal_x = coalesce(${focal_point?.x ?? null}, focal_x),
        focal_y = coalesce(${focal_point?.y ?? null}, focal_y),
        focal_chosen = focal_chosen or ${focal_point !== undefined},
          refuse_single = coalesce(${refuse_single ?? null}, refuse_single)
      where sale_id = ${saleId}`
    const after = await read()
    await audit(tx, [{ actor: operator, action: 'chart changed', sale: saleId, before, after }])
    return after
  })
}
