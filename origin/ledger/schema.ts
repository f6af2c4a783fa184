/** The ledger's tables. Migrations are generated from here (`npm run migrations`); see functions.sql for the hot statements. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  bigserial,
  boolean,
  check,
  doublePrecision,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  timestamp,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'

const instant = (name: string) => timestamp(name, { withTimezone: true, precision: 3 })

export const sales = pgTable('sales', {
  saleId: text('sale_id').primaryKey(),
  name: text('name').notNull(),
  opensAt: instant('opens_at').notNull(),
  endsAt: instant('ends_at'),
  preQueueOpensAt: instant('pre_queue_opens_at'),
  holdSeconds: integer('hold_seconds').notNull(),
  limitPerVisitor: integer('limit_per_visitor').notNull(),
  ratePerSecond: doublePrecision('rate_per_second').notNull(),
  maxInside: integer('max_inside'),
  oversellPolicy: text('oversell_policy').notNull(),
  paused: boolean('paused').notNull().default(false),
  endedAt: instant('ended_at'),
  createdAt: instant('created_at').notNull().defaultNow(),
})

/** The inventory: one row per product, locked once per batch. `held + sold <= total` is the exact gate. */
export const products = pgTable(
  'products',
  {
    saleId: text('sale_id')
      .notNull()
      .references(() => sales.saleId),
    productId: text('product_id').notNull(),
    /** The order on the page. */
    place: integer('place').notNull(),
    name: text('name').notNull(),
    unitPriceMinor: bigint('unit_price_minor', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    total: integer('total').notNull(),
    held: integer('held').notNull().default(0),
    sold: integer('sold').notNull().default(0),
    /** Incremented by a trigger with every change of the row, so that a repair applies to the state it was based on. */
    version: bigint('version', { mode: 'number' }).notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.saleId, t.productId] }),
    check('never_oversold', sql`held >= 0 and sold >= 0 and held + sold <= total`),
  ],
)

/** A reservation is an order in status `reserved`. A noted refusal begins as `cancelled`, with a hold of no length. */
export const orders = pgTable(
  'orders',
  {
    orderId: uuid('order_id').primaryKey(),
    saleId: text('sale_id').notNull(),
    productId: text('product_id').notNull(),
    visitor: text('visitor').notNull(),
    ticketNumber: bigint('ticket_number', { mode: 'number' }).notNull(),
    quantity: integer('quantity').notNull(),
    unitPriceMinor: bigint('unit_price_minor', { mode: 'number' }).notNull(),
    currency: text('currency').notNull(),
    status: text('status').notNull(),
    idempotencyKey: text('idempotency_key').notNull(),
    /** SHA-256 of the request: the same key with another body is refused. */
    requestHash: text('request_hash').notNull(),
    reservedUntil: instant('reserved_until').notNull(),
    paymentMethod: text('payment_method'),
    chargeId: text('charge_id'),
    reason: text('reason'),
    createdAt: instant('created_at').notNull().defaultNow(),
    updatedAt: instant('updated_at').notNull().defaultNow(),
  },
  (t) => [
    // Its prefixes find the orders of a visitor and of a sale.
    uniqueIndex('one_order_per_key').on(t.saleId, t.visitor, t.idempotencyKey),
    index('holds_by_end').on(t.reservedUntil).where(sql`status = 'reserved'`),
    index('payments_to_begin').on(t.createdAt).where(sql`status = 'reserved' and payment_method is not null`),
    index('payments_under_way').on(t.updatedAt).where(sql`status = 'paying'`),
    check(
      'known_status',
      sql`status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled')`,
    ),
  ],
)

/** Every status of an order after its first, in order; the event stream replays them. */
export const orderEvents = pgTable(
  'order_events',
  {
    seq: bigserial('seq', { mode: 'number' }).primaryKey(),
    orderId: uuid('order_id').notNull(),
    status: text('status').notNull(),
    at: instant('at').notNull().defaultNow(),
  },
  (t) => [index('events_of_order').on(t.orderId, t.seq)],
)

/** Captures of confirmed orders, one per charge. An open one is deleted when the charge is to be refunded. */
export const captures = pgTable(
  'captures',
  {
    chargeId: text('charge_id').primaryKey(),
    orderId: uuid('order_id').notNull(),
    askedAt: instant('asked_at').notNull().defaultNow(),
    /** When the provider confirmed it. */
    capturedAt: instant('captured_at'),
  },
  (t) => [index('captures_open').on(t.askedAt).where(sql`captured_at is null`)],
)

/** Refunds, one per charge. */
export const refunds = pgTable(
  'refunds',
  {
    chargeId: text('charge_id').primaryKey(),
    orderId: uuid('order_id').notNull(),
    reason: text('reason').notNull(),
    askedAt: instant('asked_at').notNull().defaultNow(),
    /** When the provider confirmed it. */
    refundedAt: instant('refunded_at'),
  },
  (t) => [index('refunds_open').on(t.askedAt).where(sql`refunded_at is null`)],
)

/** The cursor up to which the provider's records have been compared. */
export const comparisons = pgTable('comparisons', {
  provider: text('provider').primaryKey(),
  cursor: text('cursor').notNull(),
  comparedAt: instant('compared_at').notNull().defaultNow(),
})

/** Problems found; one row for as long as a problem lasts. */
export const findings = pgTable(
  'findings',
  {
    findingId: bigserial('finding_id', { mode: 'number' }).primaryKey(),
    saleId: text('sale_id').notNull(),
    /** Empty if it concerns no single product. */
    productId: text('product_id').notNull(),
    /** FindingKind in findings.ts. */
    kind: text('kind').notNull(),
    /** Tells several findings of one kind and product apart. */
    subject: text('subject').notNull().default(''),
    units: integer('units').notNull().default(0),
    detail: jsonb('detail'),
    firstSeenAt: instant('first_seen_at').notNull().defaultNow(),
    lastSeenAt: instant('last_seen_at').notNull().defaultNow(),
    seen: integer('seen').notNull().default(1),
    closedAt: instant('closed_at'),
    /** How it ended: healed, or by a policy. */
    outcome: text('outcome'),
  },
  (t) => [
    uniqueIndex('one_open_finding')
      .on(t.saleId, t.productId, t.kind, t.subject)
      .where(sql`closed_at is null`),
    index('findings_of_sale').on(t.saleId, t.findingId),
  ],
)

/** Repairs and restocks, and who decided them; written in the transaction of the change. */
export const auditLog = pgTable(
  'audit_log',
  {
    entryId: bigserial('entry_id', { mode: 'number' }).primaryKey(),
    at: instant('at').notNull().defaultNow(),
    actor: text('actor').notNull(),
    action: text('action').notNull(),
    saleId: text('sale_id').notNull(),
    productId: text('product_id'),
    orderId: uuid('order_id'),
    before: jsonb('before'),
    after: jsonb('after'),
  },
  (t) => [index('audit_of_sale').on(t.saleId, t.entryId)],
)
