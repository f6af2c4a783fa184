/** The hall of a sale in the ledger: its chart, and which of its seats are taken. */

import type { SeatState } from '../../shared/api/hall.ts'
import { SOLD } from '../../shared/api/order-status.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import type { Queryable } from '../ledger/connection.ts'
import type { Point, Seat } from './chart.ts'

export interface ChartRow {
  readonly version: number
  readonly focalPoint: Point
  readonly refuseSingle: boolean
  readonly outlines: Readonly<Record<string, readonly (readonly [number, number])[]>>
  readonly seats: readonly Seat[]
}

/** One statement, so that the seats are those of the version. Undefined for a sale without a hall. */
export async function readChart(sql: Queryable, saleId: string): Promise<ChartRow | undefined> {
  const [row] = await sql<ChartRow[]>`
    select version, json_build_object('x', focal_x, 'y', focal_y) as "focalPoint", refuse_single as "refuseSingle",
      outlines, (
      select coalesce(json_agg(json_build_object('index', s.seat_index, 'section', s.section_id, 'seat', s.seat_id,
          'row', s.row, 'number', s.number, 'place', s.place, 'x', s.x, 'y', s.y,
          'category', s.category, 'kind', s.kind,
          'priceMinor', s.price_minor) order by s.seat_index), '[]')
      from seats s where s.sale_id = c.sale_id) as seats
    from charts c where sale_id = ${saleId}`
  return row
}

/** Seats that an order has or an operator blocks. */
export async function takenSeats(sql: Queryable, saleId: string): Promise<readonly number[]> {
  const [row] = await sql<{ seats: number[] }[]>`
    select coalesce(array_agg(seat_index), '{}') as seats from seat_claims where sale_id = ${saleId}`
  return assertExists(row, 'An aggregate has one row.').seats
}

export async function blockedSeats(sql: Queryable, saleId: string): Promise<readonly number[]> {
  const [row] = await sql<{ seats: number[] }[]>`
    select coalesce(array_agg(seat_index), '{}') as seats from seat_claims
    where sale_id = ${saleId} and reason is not null`
  return assertExists(row, 'An aggregate has one row.').seats
}

/** The seats that are not available, by state. */
export function readSeatStates(
  sql: Queryable,
  saleId: string,
): Promise<readonly { readonly state: SeatState; readonly seats: readonly number[] }[]> {
  return sql<{ state: SeatState; seats: number[] }[]>`
    select case when c.reason is not null then 'blocked' when o.status = any(${[...SOLD]}::text[]) then 'sold'
      else 'held' end as state,
      array_agg(c.seat_index) as seats
    from seat_claims c left join orders o using (order_id) where c.sale_id = ${saleId} group by 1`
}

/** Seats by their section. */
export async function sectionsOf(
  sql: Queryable,
  saleId: string,
  seats: readonly number[],
): Promise<Map<string, number[]>> {
  const rows = await sql<{ section: string; seats: number[] }[]>`
    select section_id as section, array_agg(seat_index order by seat_index) as seats from seats
    where sale_id = ${saleId} and seat_index = any(${seats as number[]}::int[]) group by section_id`
  return new Map(rows.map((row) => [row.section, row.seats]))
}
