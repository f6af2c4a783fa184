/** Money due or moved at the payment provider. A charge itself is part of its order. */
import { sql } from 'drizzle-orm'
import { bigint, boolean, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

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

/** Refunds: of a charge that no order accounts for, by an operator, or made at the provider. */
export const refunds = pgTable(
  'refunds',
  {
    /** The idempotency key at the provider. */
    refund_id: uuid().primaryKey().defaultRandom(),
    charge_id: text().notNull(),
    order_id: uuid().notNull(),
    /** Null: whatever was taken, or the authorization. */
    amount_minor: bigint({ mode: 'number' }),
    /** True if the units of the refund's lines, or of the whole order, come back once the refund succeeds. */
    restock: boolean().notNull().default(false),
    /** The numbers of the lines that it gives back; null: none are named. */
    lines: integer().array(),
    reason: text().notNull(),
    /** The operator who asked for the refund; null if this system did. */
    operator: text(),
    /** The idempotency key of the operator's call. */
    idempotency_key: text(),
    asked_at: instant().notNull().defaultNow(),
    /** When the provider confirmed it. */
    refunded_at: instant(),
    /** What it got so far, in minor units by the provider's refunds; 0 for one that has failed. */
    returned: jsonb().$type<Readonly<Record<string, number>>>().notNull().default({}),
  },
  (t) => [
    index('refunds_open').on(t.asked_at).where(sql`refunded_at is null`),
    index('refunds_of_charge').on(t.charge_id),
    index('refunds_of_order').on(t.order_id),
    uniqueIndex('one_whole_refund').on(t.charge_id).where(sql`amount_minor is null`),
    uniqueIndex('one_refund_per_key').on(t.order_id, t.idempotency_key).where(sql`idempotency_key is not null`),
  ],
)

/**
 * What the shop's payment server was asked to charge, where it takes the payments: a row is written before the call, so
 * that a charge whose answer was lost is asked about until its state is final.
 */
export const shopCharges = pgTable(
  'shop_charges',
  {
    charge_id: text().primaryKey(),
    order_id: uuid().notNull(),
    /** The number of the order's payment attempt. */
    attempt: integer().notNull(),
    amount_minor: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull(),
    /** The shop's own name of the charge, as it said it first. */
    reference: text(),
    asked_at: instant().notNull().defaultNow(),
    /** When its state is asked for next, unless the shop says it before. Null: it is final, or a day has passed. */
    next_check_at: instant(),
    checks: integer().notNull().default(0),
  },
  (t) => [
    index('shop_charges_of_order').on(t.order_id),
    index('shop_charges_open').on(t.next_check_at).where(sql`next_check_at is not null`),
  ],
)

/** Payments in the shop's own checkout, which confirmed holds that were handed over to it. */
export const shopPayments = pgTable('shop_payments', {
  order_id: uuid().primaryKey(),
  /** The shop's name of the payment. */
  reference: text().notNull(),
  confirmed_at: instant().notNull().defaultNow(),
})

/** The cursor up to which the provider's records have been compared. */
export const comparisons = pgTable('comparisons', {
  provider: text().primaryKey(),
  cursor: text().notNull(),
  compared_at: instant().notNull().defaultNow(),
})
