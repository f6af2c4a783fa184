/** The shapes that buyers send and that buyers and browsers see, at either half. */
import * as v from 'valibot'
import { CANCEL_REASONS, ORDER_STATUSES } from '../order-status.ts'
import { Email, exactly, ID_FORM, name, OrderId, ProductId, SaleId, whole } from './fields.ts'
import { Address, Delivery, Fees, Image, MAX_TOTAL_MINOR, NO_DELIVERY, PromoCodeText } from './goods.ts'
import { PushOffer } from './mails.ts'

// -- Announcements ----------------------------------------------------------------------------------------------------

export const Announcement = v.object({
  id: v.string(),
  level: v.picklist(['info', 'warning'], 'info or warning is required'),
  text: v.record(v.string(), v.string()),
  since: v.string(),
})
export type Announcement = v.InferOutput<typeof Announcement>

// -- Feed ---------------------------------------------------------------------------------------------------------------

/** What the shop says to those who wait; an urgent one is an announcement as well. `n` counts those of a sale from 1. */
export const Post = v.object({
  n: v.number(),
  at: v.string(),
  urgent: v.boolean(),
  text: v.record(v.string(), v.string()),
  image: v.optional(Image),
})
export type Post = v.InferOutput<typeof Post>

/** The newest posts, or a page of older ones, the latest first. */
export const Posts = v.object({ posts: v.array(Post) })
export type Posts = v.InferOutput<typeof Posts>
/** `next_poll_ms`: when to read again. */
export type Feed = Posts & { readonly next_poll_ms: number }

// -- Receipts -----------------------------------------------------------------------------------------------------------

/** Who sells, as receipts say it; the address in lines. */
export const Seller = exactly({
  name,
  address: v.optional(
    v.pipe(
      v.string('text is required'),
      v.trim(),
      v.maxLength(500, 'at most 500 characters'),
      v.check((text) => !/[^\P{Cc}\n]/u.test(text), 'no control characters but line breaks'),
      v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
    ),
  ),
  tax_id: v.optional(
    v.pipe(
      v.string('text is required'),
      v.trim(),
      v.maxLength(50, 'at most 50 characters'),
      v.regex(/^\P{C}*$/u, 'no control characters'),
    ),
  ),
})
export type Seller = v.InferOutput<typeof Seller>

/** The tax on the prices: "VAT", 19. */
export const Tax = exactly({
  name,
  /** Whether the prices include it, as where nothing is said, or it is added to them. */
  included: v.optional(v.boolean('true or false is required')),
  percent: v.pipe(
    v.number('a number is required'),
    v.minValue(0, 'at least 0'),
    v.maxValue(100, 'at most 100'),
    v.check((percent) => Number(percent.toFixed(3)) === percent, 'at most three decimals'),
  ),
})
export type Tax = v.InferOutput<typeof Tax>

/** What a sale says on receipts, as programs read it. */
export const OnReceipts = {
  seller: v.optional(v.nullable(v.object(Seller.entries))),
  tax: v.optional(v.nullable(v.object(Tax.entries))),
}

// -- Checkout and orders ---------------------------------------------------------------------------------------------

const PaymentMethod = v.pipe(
  v.string('text is required'),
  // The second is what a page with Stripe's own form makes of one.
  v.regex(/^(pm|ctoken)_[A-Za-z0-9_]{1,100}$/, 'a payment method such as pm_ok is required'),
)

export const MAX_LINES = 20
const MAX_QUANTITY = 1_000
const Quantity = whole(1, MAX_QUANTITY)
/** As a chart names them: "A-101". */
export const SeatId = v.pipe(v.string('text is required'), v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, ID_FORM))
export const SectionId = ProductId
export const SEAT_KINDS = ['standard', 'accessible', 'companion', 'restricted_view'] as const
export type SeatKind = (typeof SEAT_KINDS)[number]

/** One line: units of a product; seats by name; places of a standing section; or the best seats that are available. */
export const CheckoutLine = exactly({
  product_id: v.optional(ProductId),
  section_id: v.optional(SectionId),
  seats: v.optional(
    v.pipe(
      v.array(SeatId, 'a list is required'),
      v.minLength(1, 'at least one seat'),
      v.maxLength(MAX_QUANTITY, `at most ${MAX_QUANTITY} seats`),
    ),
  ),
  category: v.optional(v.pipe(v.string('text is required'), v.minLength(1, 'must not be empty'), v.maxLength(64))),
  quantity: v.optional(Quantity),
  together: v.optional(v.boolean('true or false is required')),
  accessible: v.optional(v.boolean('true or false is required')),
})
export type CheckoutLine = v.InferOutput<typeof CheckoutLine>

export const CheckoutRequest = exactly({
  lines: v.optional(
    v.pipe(
      v.array(CheckoutLine, 'a list is required'),
      v.minLength(1, 'at least one line'),
      v.maxLength(MAX_LINES, `at most ${MAX_LINES} lines`),
    ),
  ),
  product_id: v.optional(ProductId),
  quantity: v.optional(Quantity),
  payment_method: v.optional(PaymentMethod),
  /** One code, or several that may be combined. */
  promo_code: v.optional(
    v.union(
      [
        PromoCodeText,
        v.pipe(v.array(PromoCodeText), v.minLength(1, 'at least one code'), v.maxLength(5, 'at most 5 codes')),
      ],
      'a code, or up to five are required',
    ),
  ),
  delivery: v.optional(Address),
  /** What is accepted: `terms`. */
  accept: v.optional(v.pipe(v.array(v.literal('terms', 'terms is required'), 'a list is required'), v.maxLength(1))),
  /** What the buyer was shown: another total is refused, with the new one. */
  total_minor: v.optional(whole(0, MAX_TOTAL_MINOR)),
  contact: v.optional(exactly({ email: Email })),
})
export type CheckoutRequest = v.InferOutput<typeof CheckoutRequest>

/** What a refused cart asks for and is not there, with what is left of it. */
export const Gone = v.array(
  v.object({ product_id: v.optional(v.string()), section_id: v.optional(v.string()), left: v.number() }),
)

export const PaymentRequest = v.object({ payment_method: PaymentMethod }, 'is required')

/** Why a payment was declined, as the API shows its buyer; any other code of a provider counts as `declined`. */
export const DECLINE_CODES = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'incorrect_details',
  'authentication_failed',
] as const
export type DeclineCode = (typeof DECLINE_CODES)[number]

/** The card that an order was paid with. */
export const Card = v.object({ brand: v.string(), last4: v.string() })
export type Card = v.InferOutput<typeof Card>

/** Where the payment of an order is. Null: none was begun. */
export const Payment = v.object({
  status: v.picklist(['pending', 'requires_action', 'declined', 'succeeded', 'refunded']),
  /** With `requires_action`: where the buyer authenticates the payment, and by when. */
  next_action: v.optional(v.object({ type: v.literal('redirect'), url: v.string() })),
  client_secret: v.optional(v.string()),
  expires_in_seconds: v.optional(v.number()),
  code: v.optional(v.string()),
  message: v.optional(v.string()),
  attempts_left: v.optional(v.number()),
  /** What it was paid with, for the order's buyer: a method of the sandbox, or a card once its money was taken. */
  method: v.optional(v.string()),
  card: v.optional(Card),
})
export type Payment = v.InferOutput<typeof Payment>

/** A line of an order: units of a product, places of a standing section, or one seat. */
export const OrderLine = v.object({
  /** From 1. */
  line: v.number(),
  product_id: v.optional(v.string()),
  section_id: v.optional(v.string()),
  seat_id: v.optional(v.string()),
  row: v.optional(v.string()),
  number: v.optional(v.string()),
  name: v.string(),
  quantity: v.number(),
  unit_price_minor: v.number(),
  status: v.picklist(['held', 'sold', 'returned']),
})
export type OrderLine = v.InferOutput<typeof OrderLine>

/** What an order costs: `total_minor` is all of it. Fees and tax that the prices include are said, and not added. */
export const Totals = v.object({
  subtotal_minor: v.number(),
  discount_minor: v.number(),
  fees: v.array(v.object({ name: v.string(), amount_minor: v.number(), included: v.optional(v.boolean()) })),
  shipping_minor: v.number(),
  tax_minor: v.number(),
  total_minor: v.number(),
})
export type Totals = v.InferOutput<typeof Totals>

export const Order = v.object({
  order_id: OrderId,
  sale: SaleId,
  product_id: ProductId,
  quantity: v.number(),
  unit_price_minor: v.number(),
  currency: v.string(),
  status: v.picklist(ORDER_STATUSES),
  /** Only on a cancelled order. A reason that only a newer version knows is dropped; the order is still read. */
  reason: v.fallback(v.optional(v.picklist(CANCEL_REASONS)), undefined),
  /** ISO 8601; null while the order is still being recorded. */
  reserved_until: v.nullable(v.string()),
  /** Seconds left of the hold, by the server's clock; 0 without a hold. */
  expires_in_seconds: v.number(),
  created_at: v.string(),
  lines: v.array(OrderLine),
  /** For people: `K7Q-4MX`. Null while the order is still being recorded. */
  short_number: v.nullable(v.string()),
  ...Totals.entries,
  refunded_minor: v.number(),
  /** Of a paid order: tax and seller as they were at the payment. */
  receipt: v.optional(v.object(OnReceipts)),
  payment: v.nullable(Payment),
  /** About how many units are left, for the page; only in the response of a checkout. */
  remaining: v.optional(v.number()),
  order_token: v.optional(v.string()),
})
export type Order = v.InferOutput<typeof Order>

// -- The queue -------------------------------------------------------------------------------------------------------

/** A visitor's state in the queue. */
const STATUSES = [
  'pre_queue',
  'waiting',
  'ready',
  'paused',
  'all_in_carts',
  'missed_turn',
  'sold_out',
  'ended',
] as const
export type Status = (typeof STATUSES)[number]

export const QueueAnswer = v.object({
  status: v.picklist(STATUSES),
  line: v.string(),
  queue_token: v.optional(v.string()),
  number: v.number(),
  position_in_queue: v.nullable(v.number()),
  now_serving: v.number(),
  estimated_wait_time: v.nullable(v.number()),
  poll_after_ms: v.number(),
  admission_token: v.optional(v.string()),
  admission_expires_at: v.optional(v.string()),
})
export type QueueAnswer = v.InferOutput<typeof QueueAnswer>

// -- The sale and its schedule ---------------------------------------------------------------------------------------

/**
 * upcoming      published, and the pre-queue is not open yet
 * pre_queue     visitors may join; their order is drawn at the opening
 * open          the line moves
 * paused        the line is stopped (by an operator, or because the origin cannot serve); everyone keeps their place
 * all_in_carts  nothing available, some units held; the line is stopped, since some may come back
 * sold_out      nothing available, nothing held; live again only after a restock
 * ended         over for good
 */
export const PHASES = ['upcoming', 'pre_queue', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended'] as const
export type Phase = (typeof PHASES)[number]

export const PublicProduct = v.object({
  product_id: v.string(),
  name: v.string(),
  unit_price_minor: v.number(),
  currency: v.string(),
  total: v.number(),
  available: v.number(),
  /** Of a section of a hall. */
  section_type: v.optional(v.nullable(v.picklist(['reserved', 'general_admission']))),
  /** Of a variant: the product that it is one of, and what it is by option. */
  variant_of: v.optional(v.nullable(v.string())),
  variant: v.optional(v.nullable(v.record(v.string(), v.string()))),
  sku: v.optional(v.nullable(v.string())),
  /** Units that a visitor may have of it. */
  limit: v.optional(v.nullable(v.number())),
  weight_grams: v.optional(v.nullable(v.number())),
  /** Whether its terms are to be accepted. */
  has_terms: v.optional(v.boolean()),
})
export type PublicProduct = v.InferOutput<typeof PublicProduct>

/** Whether a checkout asks for an e-mail address. */
export const AskedContact = v.picklist(['off', 'optional', 'required'], 'off, optional or required is required')

/**
 * What anyone may know of a sale: `GET /sales/{sale}` as JSON, and what the pages show. `available` is approximate, a
 * second or two old; checkout gives the exact answer.
 */
export const PublicSale = v.object({
  sale: v.string(),
  name: v.string(),
  phase: v.picklist(PHASES),
  pre_queue_opens_at: v.nullable(v.string()),
  opens_at: v.string(),
  ends_at: v.nullable(v.string()),
  hold_seconds: v.number(),
  limit_per_visitor: v.number(),
  contact: AskedContact,
  ...OnReceipts,
  /** Whether search engines may show the sale's page. */
  indexed: v.boolean(),
  /** The mails that it sends; none where mail is not set up. */
  mails: v.optional(v.array(v.string()), []),
  /** Null where push is not set up. */
  push: v.optional(v.nullable(PushOffer), null),
  /** A sale to try things with: no money moves. */
  test: v.boolean(),
  products: v.array(PublicProduct),
  fees: v.optional(Fees, []),
  delivery: v.optional(Delivery, { ...NO_DELIVERY }),
  /** Of what its pages show, which is at `/sales/{sale}/goods?v=`; null without anything. */
  goods_version: v.optional(v.nullable(v.number())),
  /** Of the chart of its hall, which is at `/sales/{sale}/chart?v=`; null without one. */
  chart_version: v.optional(v.nullable(v.number())),
  server_time_ms: v.number(),
})
export type PublicSale = v.InferOutput<typeof PublicSale>

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const hex = v.pipe(v.string(), v.regex(/^([0-9a-f]{2})*$/))
/** 32 bytes, in hex. */
const hex32 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** The public admission schedule. schedule.ts computes with it, and does so in the browser without valibot. */
export const Schedule = v.object({
  sale: v.string(),
  /** Left out for the public line. */
  line: v.optional(v.string()),
  /** Grows with every publication; of two documents the higher version holds. */
  version: count,
  phase: v.picklist(PHASES),
  /** Until the draw, the opening. */
  anchor_at_ms: v.number(),
  anchor_position: v.pipe(v.number(), v.minValue(0)),
  /** Positions per second; 0 while the line is stopped. */
  rate_per_second: v.pipe(v.number(), v.minValue(0)),
  /** The highest position that may be served for now. */
  ceiling: count,
  /** Turns up to this position have passed: called longer ago than the claim window. */
  missed_through: count,
  /** Numbers issued before the opening: so far, in phases upcoming and pre_queue; final once the seed is revealed. */
  pre_queue_size: count,
  /** SHA-256 of the seed's bytes. */
  draw_commitment: hex32,
  /** Null until the draw. */
  draw_seed: v.nullable(hex32),
  /** Hex value of the announced public beacon, mixed into the seed; null if none was announced, or none has come yet. */
  draw_beacon: v.nullable(hex),
  /** True where a public beacon is to be mixed into the seed: a draw without one then says so by its `draw_beacon`. */
  beacon_announced: v.boolean(),
  /** For people, on the origin's clock. */
  pre_queue_opens_at: v.string(),
  opens_at: v.string(),
  ends_at: v.nullable(v.string()),
  /** The same moments to calculate with, on the edge's clock. */
  pre_queue_opens_at_ms: v.number(),
  ends_at_ms: v.nullable(v.number()),
  /** What is left of each product, about. */
  products: v.array(v.object({ product_id: v.string(), available: v.number() })),
  /** For how many more positions the stock is likely to last; null while nobody knows. */
  lasts_for_positions: v.nullable(v.number()),
  /** The announcement, and why the sale is paused. */
  announcement: v.nullable(Announcement),
  pause_reason: v.nullable(v.record(v.string(), v.string())),
  /** Another one after each post, and after one is taken away: then there is something to read in the feed. */
  feed_version: count,
  /** How long whoever looks at the page waits before the next read, unless their own turn comes earlier. */
  next_read_ms: v.number(),
  server_time_ms: v.number(),
})
export type Schedule = v.InferOutput<typeof Schedule>
