/** Views of pages: the raw log of a day, its readers, the rules, and what was counted. */
import { sql } from 'drizzle-orm'
import { bigint, boolean, check, index, integer, jsonb, pgTable, primaryKey, smallint, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/**
 * Every beacon of the last 24 hours, with hashes in place of addresses. The migration makes it a table of partitions,
 * one for each hour of `written_at`, which append_views creates and drop_view_hours drops.
 */
export const viewLog = pgTable(
  'view_log',
  {
    /** The order of commit: append_views numbers one batch after the other. */
    seq: bigint({ mode: 'number' }).notNull(),
    written_at: instant().notNull(),
    /** The share of the counting that this row belongs to, by the hash of sale and address. */
    part: smallint().notNull(),
    /** Empty for the front. */
    sale_id: text().notNull(),
    view: text().notNull(),
    page: text().notNull(),
    seen_seconds: integer().notNull(),
    /** When the beacon arrived, by the edge's clock. */
    at: instant().notNull(),
    pseudonym: text().notNull(),
    address: text().notNull(),
    network: text().notNull(),
    asn: bigint({ mode: 'number' }),
    country: text(),
    device: text().notNull(),
    language: text(),
    source: text().notNull(),
  },
  (t) => [index('view_log_in_order').on(t.seq)],
)

/** How far each part of the raw log is counted. */
export const viewReaders = pgTable('view_readers', {
  part: smallint().primaryKey(),
  seq: bigint({ mode: 'number' }).notNull(),
  /** The `written_at` of that row, which says in which partitions later rows can be. */
  read_to: instant().notNull(),
})

/** Views by the minute in which they began. */
export const viewCounts = pgTable(
  'view_counts',
  {
    /** Empty for the front. */
    sale_id: text().notNull(),
    minute: instant().notNull(),
    /** Counted as they came, or counted again from the raw log, which takes the place of the first. */
    kind: text().$type<'live' | 'recount'>().notNull(),
    /** total, page, source, country, device, language, network or rule. */
    by: text().notNull(),
    key: text().notNull(),
    counted: bigint({ mode: 'number' }).notNull().default(0),
    dropped: bigint({ mode: 'number' }).notNull().default(0),
    /** For how long counted views have been seen, by the minute of each heartbeat. */
    seconds: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.by, t.minute, t.kind, t.key] })],
)

/** The rules in force, in one row; without it, the default rules. */
export const viewRules = pgTable(
  'view_rules',
  {
    one: boolean().primaryKey().default(true),
    rules: jsonb().notNull(),
    changed_at: instant().notNull(),
  },
  (t) => [check('one_row', sql`${t.one}`)],
)
