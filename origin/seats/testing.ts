/** A hall for tests: sections and seats written into the ledger, as an import leaves them. */
import type { Queryable } from '../ledger/connection.ts'

interface HallOptions {
  /** Seats of the section `stalls`, in rows of six: S0, S1, .. */
  readonly seats?: number
  /** Places of the standing sections `floor-1`, `floor-2`, .. */
  readonly floors?: readonly number[]
}

export async function addHall(
  sql: Queryable,
  sale: string,
  { seats = 12, floors = [5] }: HallOptions = {},
): Promise<void> {
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total, section_type)
    select ${sale}, 'stalls', 1, 'Stalls', 2000, 'EUR', ${seats}, 'reserved'
    union all select ${sale}, 'floor-' || n, 1 + n, 'Floor ' || n, 500, 'EUR', total, 'general_admission'
    from unnest(${floors as number[]}::int[]) with ordinality f (total, n)`
  await sql`
    insert into charts (sale_id, focal_x, outlines)
    values (${sale}, 2.5, ${sql.json({
      stalls: [
        [-1, -1],
        [6, -1],
        [6, 3],
      ],
    })})`
  await sql`
    insert into seats (sale_id, seat_index, section_id, seat_id, row, number, place, x, y, category, price_minor)
    select ${sale}, n, 'stalls', 'S' || n, (n / 6)::text, (n % 6)::text, n % 6, n % 6 + 0.123456789, n / 6,
      case when n < 6 then 'front' else 'back' end, 2000 + n from generate_series(0, ${seats - 1}::int) n`
}
