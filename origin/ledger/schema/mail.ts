/** Who asked for a mail before they have an order, and who wants none. */
import { sql } from 'drizzle-orm'
import { index, integer, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Language } from '../../../shared/api/fields.ts'
import { instant } from './columns.ts'
import { sales } from './sales.ts'

export const mailAsks = pgTable(
  'mail_asks',
  {
    ask_id: uuid().primaryKey().defaultRandom(),
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    line: text().notNull(),
    /** One's turn, or a restock. */
    about: text().$type<'turn' | 'restock'>().notNull(),
    /** The mail that comes next; null: all were sent. */
    next: text().$type<'turn_near' | 'turn' | 'restocked'>(),
    email: text().notNull(),
    language: text().$type<Language>().notNull(),
    visitor: text(),
    /** The ticket number of who waits, and the position that follows from it once there is one. */
    number: integer(),
    position: integer(),
    created_at: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('one_ask').on(t.sale_id, t.about, sql`lower(${t.email})`),
    index('asks_next').on(t.sale_id, t.line, t.next, t.position).where(sql`next is not null`),
    index('asks_of_visitor').on(t.visitor),
  ],
)

/** Addresses that get no mails but those about their orders, as hashes: there is no list of people. */
export const refusedMail = pgTable('refused_mail', {
  /** SHA-256 of the address in lower case, in hex. */
  email_hash: text().primaryKey(),
  at: instant().notNull().defaultNow(),
})
