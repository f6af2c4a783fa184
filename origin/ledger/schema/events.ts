/** The log of events, its readers, and the addresses of webhooks. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uuid,
} from 'drizzle-orm/pg-core'
import type { LedgerStatus } from '../../../shared/api/order-status.ts'
import { instant, transaction } from './columns.ts'
import type { orders } from './orders.ts'

/**
 * What has happened, written in the transaction that made it happen: the log behind an order's stream, the feed,
 * webhooks, mail and search. Its order is (xid, seq), and it is read below the oldest transaction in progress: so no
 * reader misses a row.
 */
export const events = pgTable(
  'events',
  {
    /** `event_xid()` once what it is about is locked, so that the events of an order have the order of its changes. */
    xid: transaction().notNull(),
    seq: bigserial({ mode: 'number' }).notNull(),
    /** `order.confirmed`, `sale.opened`, `finding.opened` and so on. */
    type: text().notNull(),
    order_id: uuid(),
    /** Instead of `order_id`: a batch of new orders, in one row, because each row costs their buyers time. */
    order_ids: uuid().array(),
    /** The order's status since then. */
    status: text().$type<LedgerStatus>(),
    /** The sale of an event about a sale or a finding. */
    sale_id: text(),
    /** The payload: an OrderSnapshot for an order, the details for a finding. */
    data: jsonb(),
    at: instant().notNull().default(sql`clock_timestamp()`),
  },
  (t) => [primaryKey({ columns: [t.xid, t.seq] }), index('events_of_order').on(t.order_id, t.seq)],
)

/** Fields of an event's order besides the status, as they were at that moment. */
export type OrderSnapshot = Partial<
  Readonly<Pick<typeof orders.$inferSelect, 'reason' | 'attempts' | 'decline_code' | 'refunded_minor' | 'action'>>
>

export type EventRow = Readonly<typeof events.$inferSelect>

/**
 * What is added to the ids of transactions, so that events go on after those of the server that the ledger came from:
 * one row, which continue_events keeps right.
 */
export const eventOffset = pgTable(
  'event_offset',
  {
    only_row: boolean().primaryKey().default(true),
    xids: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [check('one_row', sql`${t.only_row}`)],
)

/** How far each reader of the events has come. */
export const readers = pgTable('readers', {
  reader: text().primaryKey(),
  xid: transaction().notNull().default('0'),
  seq: bigint({ mode: 'number' }).notNull().default(0),
})

interface Secret {
  readonly secret: string
  readonly until?: string
}

/** Addresses at which a shop's systems receive events. */
export const webhookEndpoints = pgTable('webhook_endpoints', {
  endpoint_id: uuid().primaryKey(),
  url: text().notNull(),
  events: text().array().notNull(),
  /** Each secret signs, until its `until` if it has one. While rotating there are two. They are encrypted. */
  sealed_secrets: jsonb().$type<readonly Secret[]>().notNull(),
  state: text().$type<'active' | 'paused'>().notNull().default('active'),
  note: text().notNull().default(''),
  created_at: instant().notNull().defaultNow(),
  /** When an operator last asked for an attempt at once. */
  tried_at: instant(),
})

/** The attempts at each endpoint, in steps of some seconds, for a day. A worker that dies loses its last ones. */
export const webhookCounts = pgTable(
  'webhook_counts',
  {
    endpoint_id: uuid().notNull(),
    at: instant().notNull(),
    sent: integer().notNull(),
    failed: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.endpoint_id, t.at] }), index('webhook_counts_by_time').on(t.at)],
)
