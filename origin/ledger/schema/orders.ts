/** Orders, and what is known of their buyers. */
import { sql } from 'drizzle-orm'
import { bigint, bigserial, check, index, integer, jsonb, pgTable, text, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import type { Address, BillLine } from '../../../shared/api/goods.ts'
import type { LedgerStatus } from '../../../shared/api/order-status.ts'
import type { Card, Seller, Tax } from '../../../shared/api/public.ts'
import { instant } from './columns.ts'

/** A reservation is an order in status `reserved`. A noted refusal begins as `cancelled`, with a hold of no length. */
export const orders = pgTable(
  'orders',
  {
    order_id: uuid().primaryKey(),
    sale_id: text().notNull(),
    product_id: text().notNull(),
    visitor: text().notNull(),
    /** The queue of the sale that admitted the visitor: `public`, or one of `sales.lines`. */
    line: text().notNull().default('public'),
    ticket_number: bigint({ mode: 'number' }).notNull(),
    /** The label of where the visitor came from, as their admission has it. Null: they typed the address. */
    source: text(),
    /** Units of all lines that are not returned; they count against the visitor's limit. */
    quantity: integer().notNull(),
    unit_price_minor: bigint({ mode: 'number' }).notNull(),
    currency: text().notNull(),
    /**
     * The lines of the cart. Null means one line: units of `product_id`. Otherwise `product_id` and
     * `unit_price_minor` are those of the first line.
     */
    cart: jsonb().$type<readonly StoredLine[]>(),
    /** The costs beside the lines. Null means none. */
    bill: jsonb().$type<readonly BillLine[]>(),
    /** `terms_version` of the sale that the bill was made by. Null where there is no bill. */
    terms: integer(),
    /** What its receipt says of product, tax and seller: as they were at the payment. Null: it is not paid. */
    receipt: jsonb().$type<Receipt>(),
    /** What `next_order_numbers` gave it; people see it as `shortNumber` writes it. */
    number: bigint({ mode: 'number' }).notNull(),
    status: text().$type<LedgerStatus>().notNull(),
    idempotency_key: text().notNull(),
    /** SHA-256 of the request: the same key with another body is refused. */
    request_hash: text().notNull(),
    reserved_until: instant().notNull(),
    payment_method: text(),
    charge_id: text(),
    /** The card that paid it, as the provider said at the capture. */
    card: jsonb().$type<Card>(),
    reason: text(),
    /** Payments begun. The attempt is part of a charge's idempotency key. */
    attempts: integer().notNull().default(0),
    /** Why the last attempt was declined; null once another one begins. */
    decline_code: text(),
    /** While a charge waits for its buyer: where they authenticate, and until when. */
    action: jsonb().$type<PaymentAction>(),
    action_until: instant(),
    /** What was given back of the price, as the provider has confirmed it. */
    refunded_minor: bigint({ mode: 'number' }).notNull().default(0),
    created_at: instant().notNull().defaultNow(),
    updated_at: instant().notNull().defaultNow(),
    /** When what was paid was sent or handed over; null before, and where it was before release 0.3.1. */
    fulfilled_at: instant(),
  },
  (t) => [
    // The prefixes of this index find the orders of a visitor and of a sale.
    uniqueIndex('one_order_per_key').on(t.sale_id, t.visitor, t.idempotency_key),
    uniqueIndex('orders_by_number').on(t.number),
    index('holds_by_end').on(t.reserved_until).where(sql`status = 'reserved'`),
    index('payments_to_begin').on(t.created_at).where(sql`status = 'reserved' and payment_method is not null`),
    index('payments_under_way').on(t.updated_at).where(sql`status = 'paying'`),
    index('carts_of_sale').on(t.sale_id).where(sql`cart is not null`),
    index('actions_by_end').on(t.action_until).where(sql`action_until is not null`),
    check(
      'known_status',
      sql`status in ('reserved', 'paying', 'confirmed', 'fulfilled', 'expired', 'cancelled', 'refunded', 'returned')`,
    ),
  ],
)

/** What a receipt says beside lines and sums, which never changes once it is issued. */
export interface Receipt {
  /** The name of the order's product. The lines of a cart have names of their own. */
  readonly name: string
  readonly tax: Tax | null
  readonly seller: Seller | null
}

/** What a charge that waits for its buyer needs. `client_secret` is for a page with the provider's own form. */
export interface PaymentAction {
  readonly charge: string
  readonly url: string
  readonly client_secret?: string
  /** The buyer is too late, and the charge is being cancelled. */
  readonly ending?: true
}

/** A line of an order: units of a product, places of a standing section, or one seat. */
export interface StoredLine {
  /** The product, or the section. */
  readonly product: string
  readonly section?: true
  /** The seat's place in the bitmap of taken seats, and what is printed on the ticket. */
  readonly seat?: number
  readonly seat_id?: string
  readonly row?: string
  readonly number?: string
  /** The name of the product or the section at the time of the reservation. */
  readonly name: string
  readonly quantity: number
  readonly unit_price_minor: number
  /** What it costs with its share of the bill, where that is another sum than its price: what is given back for it. */
  readonly share_minor?: number
  /**
   * The units are for sale again. `unpaid`: the line left the order before payment and costs nothing. `refunded`: it
   * left after payment.
   */
  readonly returned?: 'unpaid' | 'refunded'
}

/** How a buyer can be reached. Personal data, so apart from the orders, and deleted in time. */
export const contacts = pgTable(
  'contacts',
  {
    order_id: uuid().primaryKey(),
    sale_id: text().notNull(),
    email: text(),
    /** The address of the delivery. */
    delivery: jsonb().$type<Address>(),
    /** The network address of the checkout. */
    address: text(),
    /** The language of the page on which the visitor bought. */
    language: text().notNull().default('en'),
    delete_after: instant().notNull(),
  },
  (t) => [
    index('contacts_by_end').on(t.delete_after),
    index('contacts_of_sale').on(t.sale_id),
    index('contacts_by_email').on(sql`lower(${t.email})`),
    index('contacts_by_address').on(t.address).where(sql`address is not null`),
  ],
)

/** One row: the secret without which an order's number does not say how many orders came before. */
export const orderNumberKey = pgTable('order_number_key', { key: uuid().primaryKey() })

/** Visitors who asked to be forgotten, for as long as a sale in which they ordered is in use. */
export const forgottenVisitors = pgTable('forgotten_visitors', {
  visitor: text().primaryKey(),
  asked_at: instant().notNull().defaultNow(),
})

/** Support's notes on orders. */
export const orderNotes = pgTable(
  'order_notes',
  {
    note_id: bigserial({ mode: 'number' }).primaryKey(),
    order_id: uuid().notNull(),
    operator: text().notNull(),
    text: text().notNull(),
    at: instant().notNull().defaultNow(),
  },
  (t) => [index('notes_of_order').on(t.order_id)],
)
