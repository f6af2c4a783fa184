/** A hall for a sale, for tests of code that reads a chart. */
import type { Queryable } from '../../origin/ledger/connection.ts'

/** The seats of the section `stalls`: S0, S1, .. in two rows; each costs 2,000 plus its number. */
export const SEATS = 12
/** The places of the standing section `floor`, which cost 500. */
export const PLACES = 5

export async function addHall(sql: Queryable, sale: string): Promise<void> {
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type)
    values (${sale}, 'floor', 1, 'Floor', 500, 'EUR', ${PLACES}, 'general_admission'),
           (${sale}, 'stalls', 2, 'Stalls', 0, 'EUR', ${SEATS}, 'reserved')`
  await sql`insert into charts (sale_id) values (${sale})`
  await sql`
    insert into seats (sale_id, seat_index, section_id, seat_id, row, number, place, x, y, category, price_minor)
    select ${sale}, n, 'stalls', 'S' || n, (n / 6)::text, (n % 6)::text, n % 6, n % 6, n / 6, 'front', 2000 + n
    from generate_series(0, ${SEATS - 1}::int) n`
}
