/** The schemas and types of the public API, which both halves and the browser use. */
import * as v from 'valibot'
import { Email, exactly, filled, ID_FORM, LINES, name, OrderId, ProductId, SaleId, whole, written } from './fields.ts'
import { Address, Delivery, Fees, Image, MAX_TOTAL_MINOR, PromoCodeText } from './goods.ts'
import { PushOffer } from './mails.ts'
import { CANCEL_REASONS, ORDER_STATUSES } from './order-status.ts'

// -- Announcements --------------------------------------------------------------------------------------------------

export const Announcement = v.object({
  id: v.string(),
  level: v.picklist(['info', 'warning'], 'info or warning is required'),
  text: v.record(v.string(), v.string()),
  since: v.string(),
  /** The time from which pages no longer show it; left out if none is set. */
  until: v.nullish(v.string()),
})
export type Announcement = v.InferOutput<typeof Announcement>

// -- Feed -----------------------------------------------------------------------------------------------------------

/**
 * A post of the shop to waiting visitors; an urgent one is an announcement too. `n` counts the posts of a sale from
 * 1.
 */
export const Post = v.object({
  n: v.number(),
  at: v.string(),
  urgent: v.boolean(),
  text: v.record(v.string(), v.string()),
  image: v.optional(Image),
  edited_at: v.optional(v.string()),
})
export type Post = v.InferOutput<typeof Post>

/** The newest posts, or a page of older ones, the latest first. */
export const Posts = v.object({ posts: v.array(Post) })
/** `as_of` is the time of posts that could not be read again since. */
export type Posts = v.InferOutput<typeof Posts> & { readonly as_of?: string }
/** A post that its reader has, which was edited or taken away. */
export interface ChangedPost {
  readonly n: number
  readonly text?: Post['text']
  readonly edited_at?: string
  readonly retracted?: true
}
/**
 * `changed` are posts that the reader has already, `older` is the page on which the posts that were requested go on;
 * `next_poll_ms` is the time until the next read.
 */
export type Feed = Posts & {
  readonly changed?: readonly ChangedPost[]
  readonly older?: number
  readonly next_poll_ms: number
}

// -- Receipts -------------------------------------------------------------------------------------------------------

/** The seller on receipts. The address may have several lines. */
export const Seller = exactly({
  name,
  address: v.optional(written(500, LINES)),
  tax_id: v.optional(written(50)),
})
export type Seller = v.InferOutput<typeof Seller>

/** The tax on the prices, for example "VAT", 19. */
export const Tax = exactly({
  name,
  /** True if the prices include the tax, which is the default; false if it is added to them. */
  included: v.optional(v.boolean('true or false is required')),
  percent: v.pipe(
    v.number('a number is required'),
    v.minValue(0, 'at least 0'),
    v.maxValue(100, 'at most 100'),
    v.check((percent) => Number(percent.toFixed(3)) === percent, 'at most three decimals'),
  ),
})
export type Tax = v.InferOutput<typeof Tax>

/** The data of a sale that receipts show. */
export const OnReceipts = {
  seller: v.optional(v.nullable(v.object(Seller.entries))),
  tax: v.optional(v.nullable(v.object(Tax.entries))),
}

// -- Checkout and orders --------------------------------------------------------------------------------------------

const PaymentMethod = v.pipe(
  v.string('text is required'),
  // The second prefix is for tokens that a page with Stripe's own form makes from a payment method.
  v.regex(/^(pm|ctoken)_[A-Za-z0-9_]{1,100}$/, 'a payment method such as pm_ok is required'),
)

export const MAX_LINES = 20
const MAX_QUANTITY = 1_000
export const Quantity = whole(1, MAX_QUANTITY)
/** The name of a seat in a chart, for example "A-101". */
export const SeatId = v.pipe(v.string('text is required'), v.regex(/^[A-Za-z0-9][A-Za-z0-9_.-]{0,63}$/, ID_FORM))
export const SectionId = ProductId
export const SEAT_KINDS = ['standard', 'accessible', 'companion', 'restricted_view'] as const
export type SeatKind = (typeof SEAT_KINDS)[number]
export const Category = filled(64)

/**
 * One line of a checkout: units of a product, seats by name, places of a standing section, or the best available
 * seats.
 */
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
  category: v.optional(Category),
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
  /** The conditions that the buyer accepts: `terms`. */
  accept: v.optional(v.pipe(v.array(v.literal('terms', 'terms is required'), 'a list is required'), v.maxLength(1))),
  /** The total that the buyer saw. If the real one differs, the checkout is refused with the new total. */
  total_minor: v.optional(whole(0, MAX_TOTAL_MINOR)),
  contact: v.optional(exactly({ email: Email })),
})
export type CheckoutRequest = v.InferOutput<typeof CheckoutRequest>

/** The unavailable parts of a refused cart, with what is left of each. */
export const Gone = v.array(
  v.object({ product_id: v.optional(v.string()), section_id: v.optional(v.string()), left: v.number() }),
)

export const PaymentRequest = v.object({ payment_method: PaymentMethod }, 'is required')

/**
 * The reasons of a declined payment that the API shows the buyer. Any other code of a provider becomes `declined`.
 */
export const DECLINE_CODES = [
  'declined',
  'insufficient_funds',
  'expired_card',
  'incorrect_details',
  'authentication_failed',
] as const
export type DeclineCode = (typeof DECLINE_CODES)[number]

/** The card with which an order was paid. */
export const Card = v.object({ brand: v.string(), last4: v.string() })
export type Card = v.InferOutput<typeof Card>

/** The state of an order's payment. Null means that none was started. */
export const Payment = v.object({
  status: v.picklist(['pending', 'requires_action', 'declined', 'succeeded', 'refunded']),
  /** With `requires_action` it says where the buyer authenticates the payment, and by when. */
  next_action: v.optional(v.object({ type: v.literal('redirect'), url: v.string() })),
  client_secret: v.optional(v.string()),
  expires_in_seconds: v.optional(v.number()),
  code: v.optional(v.string()),
  message: v.optional(v.string()),
  attempts_left: v.optional(v.number()),
  /** The payment method, for the order's buyer: a method of the sandbox, or a card once it was charged. */
  method: v.optional(v.string()),
  card: v.optional(Card),
})
export type Payment = v.InferOutput<typeof Payment>

/** A line of an order: units of a product, places of a standing section, or one seat. */
export const OrderLine = v.object({
  /** The number of the line, from 1. */
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

/**
 * The price of an order; `total_minor` includes everything. Fees and tax that the prices include are listed, but not
 * added.
 */
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
  /**
   * The reason is set only on a cancelled order. A reason that only a newer version knows is dropped, so that the
   * order can still be parsed.
   */
  reason: v.fallback(v.optional(v.picklist(CANCEL_REASONS)), undefined),
  /** The time in ISO 8601; null while the order is still being recorded. */
  reserved_until: v.nullable(v.string()),
  /** The remaining seconds of the hold by the server's clock; 0 if there is no hold. */
  expires_in_seconds: v.number(),
  created_at: v.string(),
  lines: v.array(OrderLine),
  /** The number for people, such as `K7Q-4MX`. Null while the order is still being recorded. */
  short_number: v.nullable(v.string()),
  ...Totals.entries,
  refunded_minor: v.number(),
  /** The receipt of a paid order, with tax and seller as they were at the payment. */
  receipt: v.optional(v.object(OnReceipts)),
  payment: v.nullable(Payment),
  /** What the buyer gave of themselves, as long as it is kept; only in what the buyer reads. */
  contact: v.optional(v.object({ email: v.optional(v.string()), delivery: v.optional(Address) })),
  /** The approximate number of remaining units for the page; only in the response of a checkout. */
  remaining: v.optional(v.number()),
  order_token: v.optional(v.string()),
})
export type Order = v.InferOutput<typeof Order>

// -- The queue ------------------------------------------------------------------------------------------------------

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

// -- The sale and its schedule --------------------------------------------------------------------------------------

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
  /** The type of the section, for a section of a hall. */
  section_type: v.optional(v.nullable(v.picklist(['reserved', 'general_admission']))),
  /** The product of a variant, and the variant's values by option. */
  variant_of: v.optional(v.nullable(v.string())),
  variant: v.optional(v.nullable(v.record(v.string(), v.string()))),
  sku: v.optional(v.nullable(v.string())),
  /** The units of the product that one visitor may have. */
  limit: v.optional(v.nullable(v.number())),
  weight_grams: v.optional(v.nullable(v.number())),
  /** True if its terms must be accepted. */
  has_terms: v.optional(v.boolean()),
})
export type PublicProduct = v.InferOutput<typeof PublicProduct>

/** The payment provider takes the money of a sale, or the shop's own checkout. */
export const SalePayment = v.picklist(['provider', 'handover'], 'provider or handover is required')

/** The setting of the e-mail address in a checkout. */
export const AskedContact = v.picklist(['off', 'optional', 'required'], 'off, optional or required is required')

/**
 * The public data of a sale: `GET /sales/{sale}` as JSON, and the input of the pages. `available` is approximate and
 * a second or two old; the checkout gives the exact answer.
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
  /** True if search engines may show the sale's page. */
  indexed: v.boolean(),
  /** The mails that the sale sends; none if mail is not set up. */
  mails: v.array(v.string()),
  /** Null if push is not set up. */
  push: v.nullable(PushOffer),
  payment: SalePayment,
  /** True for a test sale, in which no money moves. */
  test: v.boolean(),
  products: v.array(PublicProduct),
  fees: Fees,
  delivery: Delivery,
  /** The version of the content of its pages, which is at `/sales/{sale}/goods?v=`; null if there is none. */
  goods_version: v.nullable(v.number()),
  /** The version of the chart of its hall, which is at `/sales/{sale}/chart?v=`; null if there is none. */
  chart_version: v.nullable(v.number()),
  server_time_ms: v.number(),
})
export type PublicSale = v.InferOutput<typeof PublicSale>

const count = v.pipe(v.number(), v.safeInteger(), v.minValue(0))
const hex = v.pipe(v.string(), v.regex(/^([0-9a-f]{2})*$/))
/** A value of 32 bytes in hex. */
const hex32 = v.pipe(v.string(), v.regex(/^[0-9a-f]{64}$/))

/** The public admission schedule. schedule.ts calculates with it, in the browser without valibot. */
export const Schedule = v.object({
  sale: v.string(),
  /** The line; omitted for the public line. */
  line: v.optional(v.string()),
  /** The version grows with every publication. The document with the higher version is current. */
  version: count,
  phase: v.picklist(PHASES),
  /** Before the draw it is the opening. */
  anchor_at_ms: v.number(),
  anchor_position: v.pipe(v.number(), v.minValue(0)),
  /** The positions called per second; 0 while the line is stopped. */
  rate_per_second: v.pipe(v.number(), v.minValue(0)),
  /** The highest position that may be served for now. */
  ceiling: count,
  /** Turns up to this position have passed, because they were called longer ago than the claim window. */
  missed_through: count,
  /**
   * The number of tickets issued before the opening: the current number in the phases upcoming and pre_queue, and the
   * final one after the seed is revealed.
   */
  pre_queue_size: count,
  /** The SHA-256 of the seed's bytes. */
  draw_commitment: hex32,
  /** The seed; null until the draw. */
  draw_seed: v.nullable(hex32),
  /**
   * The value of the announced public beacon in hex, which is mixed into the seed; null if none was announced, or
   * none has been published yet.
   */
  draw_beacon: v.nullable(hex),
  /**
   * True if a public beacon is to be mixed into the seed. If a draw had to be made without it, `draw_beacon` stays
   * null.
   */
  beacon_announced: v.boolean(),
  /** The time for people, on the origin's clock. */
  pre_queue_opens_at: v.string(),
  opens_at: v.string(),
  ends_at: v.nullable(v.string()),
  /** The same times for calculations, on the edge's clock. */
  pre_queue_opens_at_ms: v.number(),
  ends_at_ms: v.nullable(v.number()),
  /** The approximate number of remaining units of each product. */
  products: v.array(v.object({ product_id: v.string(), available: v.number() })),
  /** The number of further positions for which the stock is likely to last; null if unknown. */
  lasts_for_positions: v.nullable(v.number()),
  /** The announcement, and the reason of a pause. */
  announcement: v.nullable(Announcement),
  pause_reason: v.nullable(v.record(v.string(), v.string())),
  /** The version changes after each new or removed post, when the feed must be read again. */
  feed_version: count,
  /** The time that a visible page waits before the next read, unless its visitor's own turn comes earlier. */
  next_read_ms: v.number(),
  server_time_ms: v.number(),
})
export type Schedule = v.InferOutput<typeof Schedule>
