/** What support's search reads: copies of orders, contacts and notes, kept by a reader of the events. */
import { sql } from 'drizzle-orm'
import { bigint, index, pgTable, text, uuid } from 'drizzle-orm/pg-core'
import type { LedgerStatus } from '../../../shared/order-status.ts'

/** What support finds orders by: a copy that a reader of the events keeps, so that the indexes cost checkouts nothing. */
export const orderSearch = pgTable(
  'order_search',
  {
    /** Ids grow with time, so their order is that of the orders. */
    order_id: uuid().primaryKey(),
    sale_id: text().notNull(),
    product_id: text().notNull(),
    status: text().$type<LedgerStatus>().notNull(),
    visitor: text().notNull(),
    ticket_number: bigint({ mode: 'number' }).notNull(),
    charge_id: text(),
  },
  (t) => [
    index('searched_by_product').on(t.sale_id, t.product_id, t.status, t.order_id),
    index('searched_by_visitor').on(t.visitor.op('text_pattern_ops'), t.order_id),
    index('searched_by_ticket').on(t.ticket_number, t.order_id),
    index('searched_by_charge').on(t.charge_id.op('text_pattern_ops')).where(sql`charge_id is not null`),
  ],
)

/**
 * The words among it, apart: a change of the status must not write their indexes again. They are personal data, and are
 * deleted by triggers (see the migration) with the contact and the notes that they come from.
 */
export const orderTexts = pgTable(
  'order_texts',
  {
    order_id: uuid().primaryKey(),
    /** In lower case. */
    email: text(),
    address: text(),
    /** All notes, in lower case. */
    notes: text().notNull().default(''),
  },
  (t) => [
    index('searched_by_email').on(t.email.op('text_pattern_ops'), t.order_id).where(sql`email is not null`),
    index('searched_by_address').on(t.address.op('text_pattern_ops'), t.order_id).where(sql`address is not null`),
    index('searched_by_note').using('gin', sql`to_tsvector('simple', notes)`).where(sql`notes <> ''`),
  ],
)

/** Each word of the notes once: a misspelt one is looked for here, by trigrams (see the migration), and not in all the notes. */
export const noteWords = pgTable('note_words', { word: text().primaryKey() })
