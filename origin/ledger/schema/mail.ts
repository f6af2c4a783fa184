/** The visitors who asked for a mail or a push message before they have an order, and those who want none. */
import { sql } from 'drizzle-orm'
import { check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Language } from '../../../shared/api/fields.ts'
import type { PushSubscription } from '../../../shared/api/mails.ts'
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
    /** The subject: the visitor's turn, or a restock. */
    about: text().$type<'turn' | 'restock'>().notNull(),
    /** The mail that comes next; null: all were sent. */
    next: text().$type<'turn_near' | 'turn' | 'restocked'>(),
    email: text(),
    /** Instead of an address: a browser, which also gets the messages about its visitor's orders. */
    push: jsonb().$type<PushSubscription>(),
    language: text().$type<Language>().notNull(),
    visitor: text(),
    /** The ticket number of who waits, and the position that follows from it once there is one. */
    number: integer(),
    position: integer(),
    created_at: instant().notNull().defaultNow(),
  },
  (t) => [
    uniqueIndex('one_ask').on(t.sale_id, t.about, sql`coalesce(${t.visitor}, '')`, sql`lower(${t.email})`),
    uniqueIndex('one_push').on(t.sale_id, sql`(${t.push} ->> 'endpoint')`),
    index('asks_next').on(t.sale_id, t.line, t.next, t.position).where(sql`next is not null`),
    index('asks_of_visitor').on(t.visitor),
    index('asks_by_email').on(sql`lower(${t.email})`),
    check('mail_or_push', sql`num_nonnulls(email, push) = 1`),
  ],
)

/** Addresses that get no mails but those about their orders, as hashes: there is no list of people. */
export const refusedMail = pgTable('refused_mail', {
  /** SHA-256 of the address in lower case, in hex. */
  email_hash: text().primaryKey(),
  at: instant().notNull().defaultNow(),
})
