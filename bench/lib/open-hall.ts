/** Creates a hall in an existing sale: its sections, seats and chart, as an import does, and the gates for them. */
import type postgres from 'postgres'
import type { DemoHall } from '../../dev/demo/hall.ts'

/** Writes the hall to the ledger in one transaction; `reconcile` makes the origin read the sections. */
export async function openHall(
  sql: postgres.Sql,
  sale: string,
  hall: DemoHall,
  reconcile: () => Promise<unknown>,
): Promise<void> {
  const { sections, seats, focalPoint, outlines, currency } = hall
  await sql.begin(async (tx) => {
    await tx`
      insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type)
      select ${sale}, s.section_id, s.place, s.name, s.price_minor, ${currency}, s.total, s.type
      from json_to_recordset(${JSON.stringify(sections.map((section, i) => ({ ...section, place: i + 1 })))}::text::json)
        as s(section_id text, place int, name text, price_minor bigint, total int, type text)`
    await tx`
      insert into charts (sale_id, focal_x, focal_y, outlines)
      values (${sale}, ${focalPoint.x}, ${focalPoint.y}, ${JSON.stringify(outlines)}::text::jsonb)`
    await tx`
      insert into seats (sale_id, seat_index, section_id, seat_id, row, number, place, x, y, category, kind,
        price_minor)
      select ${sale}, s.index, s.section, s.seat, s.row, s.number, s.place, s.x, s.y, s.category, s.kind, s."priceMinor"
      from json_to_recordset(${JSON.stringify(seats)}::text::json) as s(index int, section text, seat text, row text,
        number text,
        place int, x float8, y float8, category text, kind text, "priceMinor" bigint)`
  })
  await sql`analyze seats`
  await reconcile()
}
