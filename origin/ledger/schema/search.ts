/**
 * What support's search reads: copies that a reader of the events keeps, so that the indexes cost checkouts nothing.
 * And of the visitors' search, its settings, and what signed-in visitors searched for lately.
 */
import { sql } from 'drizzle-orm'
import { boolean, check, index, integer, jsonb, pgTable, primaryKey, text, uuid } from 'drizzle-orm/pg-core'
import type { Synonyms } from '../../../shared/api/front.ts'
import type { LedgerStatus } from '../../../shared/api/order-status.ts'
import { instant } from './columns.ts'

/** What found orders are filtered by. */
export const orderSearch = pgTable(
  'order_search',
  {
    /** Ids grow with time, so their order is that of the orders. */
    order_id: uuid().primaryKey(),
    sale_id: text().notNull(),
    product_id: text().notNull(),
    status: text().$type<LedgerStatus>().notNull(),
  },
  (t) => [
    index('searched_by_product').on(t.sale_id, t.product_id, t.status, t.order_id),
    index('searched_by_status').on(t.status, t.order_id),
  ],
)

/** The other products and sections of orders that have several: a row for each, and none for most orders. */
export const orderSearchProducts = pgTable(
  'order_search_products',
  {
    order_id: uuid().notNull(),
    sale_id: text().notNull(),
    product_id: text().notNull(),
    status: text().$type<LedgerStatus>().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.order_id, t.product_id] }),
    index('searched_by_other_product').on(t.sale_id, t.product_id, t.status, t.order_id),
  ],
)

/**
 * What orders are found by, apart: a change of the status must not write its index again. It holds personal data,
 * which triggers remove (see the migration) with the contact and the notes that it comes from.
 */
export const orderTexts = pgTable(
  'order_texts',
  {
    order_id: uuid().primaryKey(),
    /**
     * Sale, ticket number, visitor, account, charge, mail, address, notes and seats, in lower case, a space before
     * and after each.
     */
    words: text().notNull(),
  },
  (t) => [index('searched_by_words').using('gin', t.words.op('gin_trgm_ops'))],
)

/**
 * Distinct words of the texts in which a typing error is forgiven, kept by a trigger: fewer and shorter than the
 * texts.
 */
export const searchWords = pgTable(
  'search_words',
  {
    word: text().primaryKey(),
    /** In the texts of so many; the word goes with the last one. */
    orders: integer().notNull(),
  },
  (t) => [
    index('similar_names').using('gin', t.word.op('gin_trgm_ops')).where(sql`${t.word} !~ '[0-9._+-]'`),
    index('similar_mails').using('gin', t.word.op('gin_trgm_ops')).where(sql`${t.word} ~ '[0-9._+-]'`),
  ],
)

/** One row: what the shop says of its search. */
export const searchSettings = pgTable(
  'search_settings',
  {
    only_row: boolean().primaryKey().default(true),
    synonyms: jsonb().$type<Synonyms>().notNull().default([]),
  },
  (t) => [check('one_row_of_settings', sql`${t.only_row}`)],
)

/** The latest searches of signed-in visitors, one each whatever its case or spaces (`words`). */
export const recentSearches = pgTable(
  'recent_searches',
  {
    visitor: text().notNull(),
    words: text().notNull(),
    /** The words as they were typed last. */
    q: text().notNull(),
    at: instant().notNull().defaultNow(),
  },
  (t) => [primaryKey({ columns: [t.visitor, t.words] }), index('searches_by_age').on(t.at)],
)

/**
 * Visitors whose list in Redis may still have searches that are deleted here: a worker deletes it until Redis says
 * that it is gone.
 */
export const staleSearchLists = pgTable('stale_search_lists', {
  visitor: text().primaryKey(),
  /** The latest change: a list that was deleted before it may be there again. */
  at: instant().notNull(),
})

/** What several visitors searched for on a day and did not find. */
export const searchMisses = pgTable(
  'search_misses',
  {
    /** The day in UTC, as in ISO 8601. */
    day: text().notNull(),
    query: text().notNull(),
    searches: integer().notNull(),
    /** An estimate of how many callers made it on that day. */
    callers: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.day, t.query] })],
)
