/** Sales, their stock, and what operators say and schedule about them. */
import { sql } from 'drizzle-orm'
import {
  bigint,
  boolean,
  check,
  doublePrecision,
  foreignKey,
  index,
  integer,
  jsonb,
  pgTable,
  primaryKey,
  text,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { type Access, type Line, ONE_LINE } from '../../../shared/api/access.ts'
import type { Texts } from '../../../shared/api/fields.ts'
import {
  type Brand,
  type Delivery,
  type EventTime,
  type Fee,
  type Image,
  type Names,
  NO_DELIVERY,
  type ProductGoods,
} from '../../../shared/api/goods.ts'
import type { SectionType } from '../../../shared/api/hall.ts'
import { DEFAULT_MAILS, type MailKind } from '../../../shared/api/mails.ts'
import type { Suspension } from '../../../shared/api/operators/answers.ts'
import type { ScheduledEffect } from '../../../shared/api/operators/requests.ts'
import { type Contact, NO_CONTACT, type SaleConfig } from '../../../shared/api/operators/sale-config.ts'
import type { Seller, Tax } from '../../../shared/api/public.ts'
import { bytea, instant } from './columns.ts'

const saleColumns = {
  sale_id: text().primaryKey(),
  name: text().notNull(),
  opens_at: instant().notNull(),
  ends_at: instant(),
  pre_queue_opens_at: instant(),
  hold_seconds: integer().notNull(),
  limit_per_visitor: integer().notNull(),
  /** Units of one order. Null: as many as a visitor may have. */
  limit_per_order: integer(),
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
  contact: jsonb().$type<Contact>().notNull().default(NO_CONTACT),
  /** The seller's details on receipts. */
  seller: jsonb().$type<Seller>(),
  tax: jsonb().$type<Tax>(),
  fees: jsonb().$type<Fee[]>().notNull().default([]),
  delivery: jsonb().$type<Delivery>().notNull().default(NO_DELIVERY),
  /** Repeated actions follow it. */
  time_zone: text().notNull().default('UTC'),
  /** Grows with each change of what an order costs beside its prices: fees, tax, delivery, weights and promo codes. */
  terms_version: integer().notNull().default(1),
  /** True if search engines may show the sale's page. */
  indexed: boolean().notNull().default(true),
  /** The mails that it sends. */
  mails: text()
    .array()
    .$type<MailKind[]>()
    .notNull()
    .default([...DEFAULT_MAILS]),
  /** The phase in the latest event about the sale. */
  published_phase: text().notNull().default('upcoming'),
  paused: boolean().notNull().default(false),
  /** Why it is paused, by language, as visitors see it. */
  pause_reason: jsonb().$type<Texts>(),
  /** The one who takes the money, which is fixed when the sale is created. */
  payment: text().$type<SaleConfig['payment']>().notNull().default('provider'),
  /** A test sale: it takes payments by the sandbox only, and its pages say so. */
  test: boolean().notNull().default(false),
  /** Links of invitations signed earlier let nobody in. */
  links_void_before: instant(),
  ended_at: instant(),
  /** It was not in use when a worker looked: it is read by its id only, however many there are. */
  long_over: boolean().notNull().default(false),
  created_at: instant().notNull().defaultNow(),
}

export const sales = pgTable('sales', saleColumns, (t) => [
  index('sales_to_read').on(t.sale_id).where(sql`not long_over`),
])

/**
 * The inventory: one row per product or section, locked once per batch. `held + sold <= total - buffer` is the exact
 * gate.
 */
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
    /** Units of the total that are withheld from sale, for an oversell. */
    buffer: integer().notNull().default(0),
    held: integer().notNull().default(0),
    sold: integer().notNull().default(0),
    /** Null: units of a product. Else a section of a hall: its places, or its seats, are the units. */
    section_type: text().$type<SectionType>(),
    /**
     * Units that a visitor may have of it, beside what they may have of the sale; of all variants together. Null: no
     * limit of its own.
     */
    limit_per_visitor: integer(),
    /**
     * The product that a variant belongs to, which has no units itself, and the value of each option of the variant.
     */
    variant_of: text(),
    variant: jsonb().$type<Readonly<Record<string, string>>>(),
    sku: text(),
    weight_grams: integer(),
    /** True if buyers must accept the product's terms. */
    has_terms: boolean().notNull().default(false),
    /**
     * The uses of a promo code, of the id `%CODE`: counted, held and given back as units are. Not for sale by itself.
     */
    is_promo_code: boolean().notNull().default(false),
    /** Incremented by a trigger with every change of the row, so that a repair applies to the state it was based on. */
    version: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [
    primaryKey({ columns: [t.sale_id, t.product_id] }),
    check('never_oversold', sql`held >= 0 and sold >= 0 and buffer >= 0 and held + sold <= total - buffer`),
  ],
)

/**
 * What the pages of a sale show beside names and prices. Decides nothing, so that it is read when its version
 * changes.
 */
export const goods = pgTable('goods', {
  sale_id: text()
    .primaryKey()
    .references(() => sales.sale_id),
  /** Grows with each change: what was published under a version never changes. */
  version: integer().notNull().default(1),
  brand: jsonb().$type<Brand>(),
  venue: text(),
  /** The translated names of the sale. */
  names: jsonb().$type<Names>(),
  event: jsonb().$type<EventTime>(),
  /** The goods by product. */
  products: jsonb().$type<Readonly<Record<string, ProductGoods>>>().notNull().default({}),
})

/** The pictures in storage. */
export const pictures = pgTable(
  'pictures',
  {
    image: text().primaryKey(),
    /** When it was uploaded or named last. */
    used_at: instant().notNull().defaultNow(),
  },
  (t) => [index('pictures_by_use').on(t.used_at)],
)

/** Codes that make an order cheaper. Their uses are rows of products (`is_promo_code`). */
export const promoCodes = pgTable(
  'promo_codes',
  {
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    /** The code in capitals. */
    code: text().notNull(),
    percent: doublePrecision(),
    amount_minor: bigint({ mode: 'number' }),
    price_minor: bigint({ mode: 'number' }),
    valid_from: instant(),
    valid_until: instant(),
    /** Null: all. */
    products: jsonb().$type<readonly string[]>(),
    /** Units of an order that a use makes cheaper, the dearest. Null: all. */
    units_per_use: integer(),
    combined: boolean().notNull().default(false),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.code] })],
)

/** What the shop says to its visitors: the posts of a sale's feed, of which the urgent ones are announcements. */
export const posts = pgTable(
  'posts',
  {
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    /** Counts from 1, and is not given again. */
    n: integer().notNull(),
    /** The level of an announcement; null for a post. */
    level: text().$type<'info' | 'warning'>(),
    text: jsonb().$type<Texts>().notNull(),
    image: jsonb().$type<Image>(),
    operator: text().notNull(),
    at: instant().notNull().defaultNow(),
    /** The end of an announcement, which may be to come; null while all pages show it and no end is set. */
    until: instant(),
    /** The time of the last change of its text or picture, and the number of changes of the post. */
    edited_at: instant(),
    edits: integer().notNull().default(0),
    /** The time at which the post was removed. Pages no longer show it. */
    removed_at: instant(),
  },
  (t) => [
    primaryKey({ columns: [t.sale_id, t.n] }),
    uniqueIndex('announcement_shown').on(t.sale_id).where(sql`level is not null and until is null`),
  ],
)

/** Changes of a sale at a set time, once or by a schedule (cron). */
export const scheduledActions = pgTable(
  'scheduled_actions',
  {
    action_id: uuid().primaryKey(),
    sale_id: text()
      .notNull()
      .references(() => sales.sale_id),
    effect: jsonb().$type<ScheduledEffect>().notNull(),
    /** Null: once. */
    cron: text(),
    /** When it happens next; null once it is over, and while it is suspended. */
    next_at: instant(),
    /** No run of its own begins later; null: any. An operator may run it later by hand. */
    not_after: instant(),
    suspended: jsonb().$type<Suspension>(),
    operator: text().notNull(),
    created_at: instant().notNull().defaultNow(),
    cancelled_at: instant(),
    /** The idempotency key of the operator's call. */
    idempotency_key: text(),
  },
  (t) => [
    uniqueIndex('one_action_per_key').on(t.sale_id, t.idempotency_key).where(sql`idempotency_key is not null`),
    index('scheduled_of_sale').on(t.sale_id),
    index('scheduled_due').on(t.next_at).where(sql`next_at is not null`),
  ],
)

/** One run of a scheduled action, written in the transaction of its effect, so that the effect happens once. */
export const scheduledRuns = pgTable(
  'scheduled_runs',
  {
    action_id: uuid()
      .notNull()
      .references(() => scheduledActions.action_id),
    due_at: instant().notNull(),
    ran_at: instant().notNull().defaultNow(),
    late: boolean().notNull(),
    /** Null: carried out. */
    error: text(),
  },
  (t) => [primaryKey({ columns: [t.action_id, t.due_at] })],
)

/** What a run has made to be read later: a report, or the orders as they were. It is gone with its run. */
export const scheduledDocuments = pgTable(
  'scheduled_documents',
  {
    action_id: uuid().notNull(),
    due_at: instant().notNull(),
    type: text().notNull(),
    /** Compressed by gzip. */
    body: bytea().notNull(),
  },
  (t) => [
    primaryKey({ columns: [t.action_id, t.due_at] }),
    foreignKey({
      name: 'document_of_run',
      columns: [t.action_id, t.due_at],
      foreignColumns: [scheduledRuns.action_id, scheduledRuns.due_at],
    }).onDelete('cascade'),
  ],
)

/** A sale by the minute: sums of events over all processes, and the last value of each gauge. */
export const saleMinutes = pgTable(
  'sale_minutes',
  {
    sale_id: text().notNull(),
    minute: instant().notNull(),
    /**
     * Events of this minute by name: joined, called, arrived, reserved, paid, expired, declined, refused.<reason> ..
     */
    counts: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
    /**
     * The values at the end of the sale by name: waiting, available, held, sold, wait_seconds, rate_per_second and
     * others.
     */
    gauges: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.minute] })],
)

/** The joins of a sale by the number of the network (ASN) that they came from. */
export const saleNetworks = pgTable(
  'sale_networks',
  {
    sale_id: text().notNull(),
    asn: integer().notNull(),
    /** How many places were given out. */
    joined: bigint({ mode: 'number' }).notNull().default(0),
    /** How many joins were refused for want of a proof of work. */
    unproved: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.asn] })],
)

/** The network of an order's checkout, if the edge knew it. The number names a carrier or a company, and no person. */
export const orderNetworks = pgTable('order_networks', {
  order_id: uuid().primaryKey(),
  asn: integer().notNull(),
})

/** The visitors of a sale by where they came from. */
export const saleSources = pgTable(
  'sale_sources',
  {
    sale_id: text().notNull(),
    /** The label of a source, `typed` or `other` (shared/api/views/source.ts). */
    source: text().notNull(),
    /** How many places were given out. */
    joined: bigint({ mode: 'number' }).notNull().default(0),
    /** How many ticket numbers came to the checkout in their turn. */
    turns: bigint({ mode: 'number' }).notNull().default(0),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.source] })],
)

/**
 * A sale by the second, for the charts: what happened in it, and the values at its end. The rows of the opening stay,
 * and the others go after a quarter of an hour.
 */
export const saleSeconds = pgTable(
  'sale_seconds',
  {
    sale_id: text().notNull(),
    second: instant().notNull(),
    counts: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
    gauges: jsonb().$type<Readonly<Record<string, number>>>().notNull(),
  },
  (t) => [primaryKey({ columns: [t.sale_id, t.second] })],
)
