/** The ledger's tables, from which migrations (`npm run migrations`) and row types come. Hot statements: functions.sql. */
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
import { type Access, type Line, ONE_LINE, type RuleConfig } from '../../shared/api/access.ts'
import type { SaleConfig } from '../../shared/api/operator.ts'
import type { OrderStatus } from '../../shared/order-status.ts'

const instant = () => timestamp({ withTimezone: true, precision: 3 })

export const sales = pgTable('sales', {
  sale_id: text().primaryKey(),
  name: text().notNull(),
  opens_at: instant().notNull(),
  ends_at: instant(),
  pre_queue_opens_at: instant(),
  hold_seconds: integer().notNull(),
  limit_per_visitor: integer().notNull(),
  rate_per_second: doublePrecision().notNull(),
  max_inside: integer(),
  oversell_policy: text().$type<SaleConfig['oversell_policy']>().notNull(),
  access: jsonb().$type<Access>().notNull().default({
    sign_in: 'optional',
    invitation: 'off',
    proof_of_work: null,
    turnstile: false,
  }),
  lines: jsonb().$type<readonly Line[]>().notNull().default(ONE_LINE),
  expected_visitors: integer(),
  /** Fixed when the sale is created; null: as the edge is set. */
  ticket_shards: integer(),
  max_unpaid_orders: integer().notNull().default(3),
  paused: boolean().notNull().default(false),
  ended_at: instant(),
  created_at: instant().notNull().defaultNow(),
})

/** The inventory: one row per product, locked once per batch. `held + sold <= total` is the exact gate. */
export const products = pgTable(
  'products',
  {
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    product_id: text().notNull(),
    /** The order on the page. */
    place: integer().notNull(),
    name: text().notNull(),
    unit_price_minor: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull(),
    total: integer().notNull(),
    held: integer().notNull().default(0),
    sold: integer().notNull().default(0),
    /** Incremented by a trigger with every change of the row, so that a repair applies to the state it was based on. */
    version: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.sale_id, t.product_id] }),
    check('never_oversold', sql`held >= 0 and sold >= 0 and held + sold <= total`),
  ],
)

/** A reservation is an order in status `reserved`. A noted refusal begins as `cancelled`, with a hold of no length. */
export const orders = pgTable(
  'orders',
  {
    order_id: uuid().primaryKey(),
    sale_id: text().notNull(),
    product_id: text().notNull(),
    visitor: text().notNull(),
    ticket_number: bigint({ mode: 'number' }).notNull(),
    quantity: integer().notNull(),
    unit_price_minor: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull(),
    status: text().$type<Exclude<OrderStatus, 'processing'>>().notNull(),
    idempotency_key: text().notNull(),
    /** SHA-256 of the request: the same key with another body is refused. */
    request_hash: text().notNull(),
    reserved_until: instant().notNull(),
    payment_method: text(),
    charge_id: text(),
    reason: text(),
    created_at: instant().notNull().defaultNow(),
    updated_at: instant().notNull().defaultNow(),
  },
  (t) => [
    // Its prefixes find the orders of a visitor and of a sale.
    uniqueIndex('one_order_per_key').on(t.sale_id, t.visitor, t.idempotency_key),
    index('holds_by_end').on(t.reserved_until).where(sql`status = 'reserved'`),
    index('payments_to_begin').on(t.created_at).where(sql`status = 'reserved' and payment_method is not null`),
    index('payments_under_way').on(t.updated_at).where(sql`status = 'paying'`),
    check('known_status', sql`status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled')`),
  ],
)

/** Every status of an order after its first, in order. */
export const orderEvents = pgTable(
  'order_events',
  {
    seq: bigserial({ mode: 'number' }).primaryKey(),
    order_id: uuid().notNull(),
    status: text().notNull(),
    at: instant().notNull().defaultNow(),
  },
  (t) => [index('events_of_order').on(t.order_id, t.seq)],
)

/** An operator's rules for who joins a sale, looked at in the order of `rule_id`. */
export const rules = pgTable(
  'rules',
  {
    rule_id: bigserial({ mode: 'number' }).primaryKey(),
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    when: jsonb().$type<RuleConfig['when']>().notNull(),
    action: text().$type<RuleConfig['action']>().notNull(),
    note: text().notNull(),
    /** How many joins met it, as the edge has reported. */
    met: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [index('rules_of_sale').on(t.sale_id, t.rule_id)],
)

/** Codes that open a sale. Only their SHA-256 is kept, over the sale and the code. */
export const invitations = pgTable(
  'invitations',
  {
    sale_id: text().notNull(),
    code_hash: text().notNull(),
    /** How many visitors may come in by it, and how many have. */
    uses: integer().notNull(),
    used: integer().notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.code_hash] }), check('not_overused', sql`used <= uses`)],
)

/** Who came in by an invitation: the same visitor may come again. */
export const invitedVisitors = pgTable(
  'invited_visitors',
  { sale_id: text().notNull(), code_hash: text().notNull(), visitor: text().notNull() },
  (t) => [primaryKey({ columns: [t.sale_id, t.code_hash, t.visitor] })],
)

/** Visitors, accounts and addresses that no sale lets in; one of the three each. */
export const blocks = pgTable('blocks', {
  block_id: bigserial({ mode: 'number' }).primaryKey(),
  visitor: text(),
  account: text(),
  address: text(),
  note: text().notNull(),
  blocked_at: instant().notNull().defaultNow(),
})

/** Captures of confirmed orders, one per charge. An open one is deleted when the charge is to be refunded. */
export const captures = pgTable(
  'captures',
  {
    charge_id: text().primaryKey(),
    order_id: uuid().notNull(),
    asked_at: instant().notNull().defaultNow(),
    /** When the provider confirmed it. */
    captured_at: instant(),
  },
  (t) => [index('captures_open').on(t.asked_at).where(sql`captured_at is null`)],
)

/** Refunds, one per charge. */
export const refunds = pgTable(
  'refunds',
  {
    charge_id: text().primaryKey(),
    order_id: uuid().notNull(),
    reason: text().notNull(),
    asked_at: instant().notNull().defaultNow(),
    /** When the provider confirmed it. */
    refunded_at: instant(),
  },
  (t) => [index('refunds_open').on(t.asked_at).where(sql`refunded_at is null`)],
)

/** The cursor up to which the provider's records have been compared. */
export const comparisons = pgTable('comparisons', {
  provider: text().primaryKey(),
  cursor: text().notNull(),
  compared_at: instant().notNull().defaultNow(),
})

/** Problems found; one row for as long as a problem lasts. */
export const findings = pgTable(
  'findings',
  {
    finding_id: bigserial({ mode: 'number' }).primaryKey(),
    sale_id: text().notNull(),
    /** Empty if it concerns no single product. */
    product_id: text().notNull(),
    /** FindingKind in findings.ts. */
    kind: text().notNull(),
    /** Tells several findings of one kind and product apart. */
    subject: text().notNull().default(''),
    units: integer().notNull().default(0),
    detail: jsonb(),
    first_seen_at: instant().notNull().defaultNow(),
    last_seen_at: instant().notNull().defaultNow(),
    seen: integer().notNull().default(1),
    closed_at: instant(),
    /** How it ended: healed, or by a policy. */
    outcome: text(),
  },
  (t) => [
    uniqueIndex('one_open_finding').on(t.sale_id, t.product_id, t.kind, t.subject).where(sql`closed_at is null`),
    index('findings_of_sale').on(t.sale_id, t.finding_id),
  ],
)

/** Repairs and restocks, and who decided them; written in the transaction of the change. */
export const auditLog = pgTable(
  'audit_log',
  {
    entry_id: bigserial({ mode: 'number' }).primaryKey(),
    at: instant().notNull().defaultNow(),
    actor: text().notNull(),
    action: text().notNull(),
    sale_id: text().notNull(),
    product_id: text(),
    order_id: uuid(),
    before: jsonb(),
    after: jsonb(),
  },
  (t) => [index('audit_of_sale').on(t.sale_id, t.entry_id)],
)
