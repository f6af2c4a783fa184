/**
 * Halls: the chart of a sale, its seats, and who has them. The counts of a section are those of its row in
 * `products`.
 */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import type { SeatKind } from '../../../shared/api/public.ts'
import { instant } from './columns.ts'
import { products, sales } from './sales.ts'

/** The hall of a sale. */
export const charts = pgTable('charts', {
  sale_id: text()
    .primaryKey()
    .references(() => sales.sale_id),
  /** Grows with each import: what was published under a version never changes. */
  version: integer().notNull().default(1),
  focal_x: doublePrecision().notNull().default(0),
  focal_y: doublePrecision().notNull().default(0),
  /** An operator has set the focal point; otherwise each import sets it to the top centre of all seats. */
  focal_chosen: boolean().notNull().default(false),
  /** The index of the next new seat is at least this number, so that no index of a removed seat is used again. */
  next_seat_index: integer().notNull().default(0),
  /** True if buyers who name seats may not leave a single free seat between taken seats, row ends or aisles. */
  refuse_single: boolean().notNull().default(false),
  /** The outline of a section as a closed line of points, by section. */
  outlines: jsonb().$type<Readonly<Record<string, readonly (readonly [number, number])[]>>>().notNull().default({}),
})

/** The seats of the sections of type `reserved`. */
export const seats = pgTable(
  'seats',
  {
    sale_id: text().notNull(),
    /**
     * The seat's place in the sale's bitmap of taken seats. It is given once, and never to another seat of the sale.
     */
    seat_index: integer().notNull(),
    section_id: text().notNull(),
    seat_id: text().notNull(),
    /** The row as printed on the ticket. */
    row: text().notNull(),
    number: text().notNull(),
    /**
     * The place in the row, in whole steps: neighbours differ by one. The printed number is separate and may count
     * odd numbers only.
     */
    place: integer().notNull(),
    x: doublePrecision().notNull(),
    y: doublePrecision().notNull(),
    category: text().notNull(),
    kind: text().$type<SeatKind>().notNull().default('standard'),
    price_minor: bigint({ mode: 'number' }).notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.sale_id, t.seat_index] }),
    uniqueIndex('one_seat_per_name').on(t.sale_id, t.section_id, t.seat_id),
    foreignKey({
      columns: [t.sale_id, t.section_id],
      foreignColumns: [products.sale_id, products.product_id],
      name: 'seats_of_section',
    }),
  ],
)

/**
 * The owner of each seat that is not available: a live order, or an operator who blocks it. The primary key
 * guarantees that no two owners have one seat, whatever the code does.
 */
export const seatClaims = pgTable(
  'seat_claims',
  {
    sale_id: text().notNull(),
    seat_index: integer().notNull(),
    order_id: uuid(),
    /** Why it is blocked. */
    reason: text(),
    operator: text(),
    /** The time at which a block ends by itself; null for one that an operator releases. */
    until: instant(),
    since: instant().notNull().default(sql`clock_timestamp()`),
  },
  (t) => [
    primaryKey({ columns: [t.sale_id, t.seat_index] }),
    foreignKey({
      columns: [t.sale_id, t.seat_index],
      foreignColumns: [seats.sale_id, seats.seat_index],
      name: 'claims_of_seat',
    }),
    index('claims_of_order').on(t.order_id).where(sql`order_id is not null`),
    index('blocks_that_end').on(t.until).where(sql`until is not null`),
    check('order_or_block', sql`(order_id is null) <> (reason is null)`),
  ],
)
