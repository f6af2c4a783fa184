/** The schemas and types of the operators' API. */
import * as v from 'valibot'
import { Access, Lines, ONE_LINE, type RuleConfig } from './access.ts'
import { exactly, instant, name, ProductId, Texts, whole } from './fields.ts'
import type { BillLine } from './goods.ts'
import {
  type Address,
  Brand,
  Delivery as DeliveryConfig,
  EventTime,
  Fees,
  Image,
  Names,
  NO_DELIVERY,
  productGoods,
} from './goods.ts'
import { DEFAULT_MAILS, Mails } from './mails.ts'
import { AskedContact, type Order, type OrderLine, Seller, Tax } from './public.ts'
import type { Backlog } from './report.ts'
import { ROLES } from './roles.ts'
import { amountIssue, chargeIssue } from './stripe-amount.ts'

/** The maximum number of units of one product, and of people inside one sale. */
export const MAX_UNITS = 10_000_000

const rate = v.pipe(
  v.number('a number is required'),
  v.finite('a number is required'),
  v.minValue(0.01, 'at least 0.01'),
  v.maxValue(100_000, 'at most 100000'),
)

const ProductConfig = v.pipe(
  exactly(
    {
      product_id: ProductId,
      name,
      unit_price_minor: whole(0, 1_000_000_000),
      currency: v.pipe(v.string('text is required'), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR is required')),
      total: whole(0, MAX_UNITS),
      /** The units of the total that are withheld from sale, for `fulfil_from_buffer`. */
      buffer: v.optional(whole(0, MAX_UNITS), 0),
      /** The units of the product that one visitor may have, all variants together; null takes the sale's limit. */
      limit: v.optional(v.nullable(whole(1, 1000))),
      ...productGoods,
    },
    ['available', 'held', 'sold', 'section_type', 'variant_of', 'variant', 'sku', 'has_terms'],
  ),
  v.forward(
    v.check(
      ({ variants = [], total }) => variants.length === 0 || total === 0,
      'is 0 where the variants have their own',
    ),
    ['total'],
  ),
  v.forward(
    v.check(
      ({ options = [], variants = [] }) => variants.every((one) => isOneOf(options, one.options)),
      'each has one value of each option',
    ),
    ['variants'],
  ),
  v.forward(
    v.check(
      ({ unit_price_minor, currency }) => chargeIssue(unit_price_minor, currency) === undefined,
      ({ input }) => chargeIssue(input.unit_price_minor, input.currency) ?? '',
    ),
    ['unit_price_minor'],
  ),
  v.forward(
    v.check(
      (product) => variantIssue(product) === undefined,
      ({ input }) => variantIssue(input) ?? '',
    ),
    ['variants'],
  ),
  v.forward(
    v.check((product) => product.buffer <= product.total, 'must not be more than the total'),
    ['buffer'],
  ),
)

type Priced = Readonly<Record<'currency', string>> & {
  readonly variants?: readonly { readonly unit_price_minor?: number | undefined }[] | undefined
}
const variantIssue = ({ currency, variants = [] }: Priced) =>
  variants
    .map(({ unit_price_minor = 0 }) => chargeIssue(unit_price_minor, currency))
    .find((issue) => issue !== undefined)

/** Fees and shipping apply to all products, whose currencies may differ, so their amounts are not allowed then. */
function addedIssue(amounts: readonly (number | undefined)[], products: readonly { readonly currency: string }[]) {
  const issues = products.flatMap(({ currency }) => amounts.map((minor = 0) => amountIssue(minor, currency)))
  return issues.find((issue) => issue !== undefined)
}
type Added = { readonly products: readonly { readonly currency: string }[] } & {
  readonly fees: readonly { readonly amount_minor?: number | undefined }[]
  readonly delivery: { readonly prices?: readonly { readonly amount_minor: number }[] | undefined }
}
const feeIssue = ({ fees, products }: Added) =>
  addedIssue(
    fees.map((fee) => fee.amount_minor),
    products,
  )
const shippingIssue = ({ delivery: { prices = [] }, products }: Added) =>
  addedIssue(
    prices.map((price) => price.amount_minor),
    products,
  )

const isOneOf = (
  options: readonly { name: string; values: readonly string[] }[],
  chosen: Readonly<Record<string, string>>,
) =>
  Object.keys(chosen).length === options.length &&
  options.every(({ name, values }) => values.some((value) => value === chosen[name]))

/** The ids of the units that are sold. */
const unitIds = (
  products: readonly { product_id: string; variants?: readonly { variant_id: string }[] | undefined }[],
) => products.flatMap(({ product_id, variants = [] }) => [product_id, ...variants.map(({ variant_id }) => variant_id)])

/** The reaction if live orders exceed the stock, which only an external fault can cause. */
const OVERSELL_POLICIES = ['alarm', 'cancel_latest', 'fulfil_from_buffer'] as const
export type OversellPolicy = (typeof OVERSELL_POLICIES)[number]
export const OversellPolicy = v.picklist(OVERSELL_POLICIES, `one of ${OVERSELL_POLICIES.join(', ')} is required`)

/** The contact data that buyers may leave, and their retention after the sale. */
export const Contact = exactly({
  email: v.optional(AskedContact, 'off'),
  /** True if the network address of a checkout is stored, for support. */
  address: v.optional(v.boolean('true or false is required'), false),
  retention_days: v.optional(whole(1, 3650), 30),
})
export type Contact = v.InferOutput<typeof Contact>
export const NO_CONTACT: Contact = { email: 'off', address: false, retention_days: 30 }

export const SaleConfig = v.pipe(
  exactly(
    {
      name,
      names: v.optional(v.nullable(Names), null),
      opens_at: instant,
      ends_at: v.optional(v.nullable(instant), null),
      /** The time from which visitors may join; null means from the creation of the sale. */
      pre_queue_opens_at: v.optional(v.nullable(instant), null),
      hold_seconds: v.optional(whole(1, 24 * 3600), 90),
      limit_per_visitor: v.optional(whole(1, 1000), 1),
      /** The limit of units of one order; null takes the visitor's limit. */
      limit_per_order: v.optional(v.nullable(whole(1, 1000))),
      /** The list may be empty if the sale has a hall. */
      products: v.pipe(
        v.array(ProductConfig, 'a list is required'),
        v.maxLength(100, 'at most 100 products'),
        v.check((list) => unitIds(list).length <= 500, 'at most 500 products and variants'),
        v.check(
          (list) => new Set(unitIds(list)).size === unitIds(list).length,
          'product_id and variant_id must be unique',
        ),
      ),
      admission: exactly({
        rate_per_second: rate,
        /** The maximum number of people in the shop at once who have not finished; null means no limit. */
        max_inside: v.optional(v.nullable(whole(1, MAX_UNITS)), null),
      }),
      oversell_policy: v.optional(OversellPolicy, 'alarm'),
      access: v.optional(Access, {}),
      lines: v.optional(Lines, [...ONE_LINE]),
      /**
       * Sets the number of ticket shards when the sale is created, and has no effect later; null takes the edge's
       * setting.
       */
      expected_visitors: v.optional(v.nullable(whole(1, 100_000_000)), null),
      /** After this number of failed orders (expired, cancelled, declined), a visitor comes after all who wait. */
      max_unpaid_orders: v.optional(whole(1, 1000), 3),
      contact: v.optional(Contact, {}),
      seller: v.optional(v.nullable(Seller), null),
      tax: v.optional(v.nullable(Tax), null),
      brand: v.optional(v.nullable(Brand), null),
      fees: v.optional(Fees, []),
      delivery: v.optional(DeliveryConfig, { ...NO_DELIVERY }),
      /** The place of the event, for people. */
      venue: v.optional(v.nullable(name), null),
      event: v.optional(v.nullable(EventTime), null),
      /** True if search engines may show the sale's page. */
      indexed: v.optional(v.boolean('true or false is required'), true),
      /** The mails that the sale sends, if mail is set up. */
      mails: v.optional(Mails, [...DEFAULT_MAILS]),
      /** The sale accepts only sandbox payments. This is fixed when the sale is created. */
      test: v.optional(v.boolean('true or false is required'), false),
    },
    [
      'sale',
      'phase',
      'ended_at',
      'paused',
      'invariant',
      'rates',
      'queue',
      'health',
      'server_time',
      'rules',
      'announcement',
      'pause_reason',
      'chart_version',
      'goods_version',
      'version',
    ],
  ),
  v.forward(
    v.check((sale) => sale.ends_at === null || sale.ends_at > sale.opens_at, 'must be after opens_at'),
    ['ends_at'],
  ),
  v.forward(
    v.check(
      (sale) => feeIssue(sale) === undefined,
      ({ input }) => feeIssue(input) ?? '',
    ),
    ['fees'],
  ),
  v.forward(
    v.check(
      (sale) => shippingIssue(sale) === undefined,
      ({ input }) => shippingIssue(input) ?? '',
    ),
    ['delivery'],
  ),
)
export type SaleConfig = v.InferOutput<typeof SaleConfig>

export const AdmissionChange = exactly({ rate_per_second: rate })
/** The maximum number of order lines, which exceeds the number of seats in any order. Each seat is a line. */
const MAX_ORDER_LINES = 1_000
/** The numbers of lines of an order. */
const LineNumbers = v.pipe(
  v.array(whole(1, MAX_ORDER_LINES), 'a list is required'),
  v.minLength(1, 'at least one line'),
  v.maxLength(MAX_ORDER_LINES, `at most ${MAX_ORDER_LINES} lines`),
  v.check((lines) => new Set(lines).size === lines.length, 'each line once'),
)

/**
 * A missing `amount_minor` means all that has not been refunded yet, or the price of the lines. `restock` makes the
 * units of these lines, or of the order, available again after the refund, even if a part of the money is retained.
 */
export const RefundRequest = exactly({
  lines: v.optional(LineNumbers),
  amount_minor: v.optional(whole(1, 1_000_000_000_000)),
  reason: v.optional(name, 'refunded by the shop'),
  restock: v.optional(v.boolean('true or false is required'), false),
})
export type RefundRequest = v.InferOutput<typeof RefundRequest>

/** Missing `lines` mean the whole order. */
export const CancelRequest = exactly({ lines: v.optional(LineNumbers), reason: v.optional(name) })

/** Makes units of a refunded order available again. Missing `lines` mean all refunded ones. */
export const ReturnRequest = exactly({ lines: v.optional(LineNumbers) })
export type ReturnRequest = v.InferOutput<typeof ReturnRequest>

export const Restock = exactly({ quantity: whole(1, MAX_UNITS) })

// -- Announcements and posts ----------------------------------------------------------------------------------------

export const AnnouncementRequest = exactly({
  level: v.optional(v.picklist(['info', 'warning'], 'info or warning is required'), 'info'),
  text: Texts,
})
export type AnnouncementRequest = v.InferOutput<typeof AnnouncementRequest>

/** An urgent post is an announcement or a warning, which replaces the one before. */
export const PostRequest = exactly({
  text: Texts,
  urgent: v.optional(v.boolean('true or false is required'), false),
  image: v.optional(Image),
})
export type PostRequest = v.InferOutput<typeof PostRequest>

export const PauseRequest = exactly({ reason: v.optional(Texts) })

// -- Operators ------------------------------------------------------------------------------------------------------

/** Names in the audit log that no operator may have: those of the admin token and of this system. */
export const TAKEN_NAMES: readonly string[] = ['admin', 'reconciler', 'scheduler']
const OperatorName = v.pipe(
  v.string('text is required'),
  v.regex(/^[A-Za-z0-9.@_-]{1,64}$/, '1 to 64 letters, digits and .@_- are required'),
  v.check((name) => !TAKEN_NAMES.includes(name.toLowerCase()), 'is taken'),
)
export const NewOperator = exactly({
  name: OperatorName,
  role: v.picklist(ROLES, 'viewer, operator or owner is required'),
})

// -- Scheduled actions ----------------------------------------------------------------------------------------------

/** The time of an action: once, or repeatedly by cron in UTC. The other fields of the body are its effect. */
export const ScheduledTime = v.pipe(
  v.objectWithRest(
    {
      at: v.optional(instant),
      cron: v.optional(v.pipe(v.string('text is required'), v.trim(), v.maxLength(100, 'at most 100 characters'))),
    },
    v.unknown(),
  ),
  v.forward(
    v.check(({ at, cron }) => (at === undefined) !== (cron === undefined), 'either at or cron is required'),
    ['at'],
  ),
)

/** The effect of a scheduled action, which is the same as that of the call with its name. */
export const ScheduledEffect = v.variant(
  'action',
  [
    exactly({ action: v.literal('restock'), product_id: ProductId, quantity: whole(1, MAX_UNITS) }),
    exactly({ action: v.literal('rate'), rate_per_second: rate }),
    exactly({ action: v.literal('price'), product_id: ProductId, unit_price_minor: whole(0, 1_000_000_000) }),
    exactly({ action: v.literal('pause'), reason: v.optional(Texts) }),
    exactly({ action: v.literal('resume') }),
    exactly({ action: v.literal('announce'), level: AnnouncementRequest.entries.level, text: Texts }),
    exactly({ action: v.literal('end') }),
  ],
  'restock, rate, price, pause, resume, announce or end is required',
)
export type ScheduledEffect = v.InferOutput<typeof ScheduledEffect>

/**
 * A run of a scheduled action, successful or not. `late` means that it started more than five seconds after its time.
 */
export interface ScheduledRun {
  readonly due_at: string
  readonly ran_at: string
  readonly late: boolean
  readonly error: string | null
}

/** The reason why a scheduled action does not run: its operator lost the role for it. */
export interface Suspension {
  readonly at: string
  /** The operator who revoked or demoted the action's operator. */
  readonly by: string
  readonly reason: 'revoked' | 'demoted'
  /** The time at which the action would have run next. */
  readonly due_at: string
}

/** A note of support about an order. */
export const NoteRequest = exactly({
  text: v.pipe(
    v.string('text is required'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(2_000, 'at most 2000 characters'),
    v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed Unicode'),
  ),
})

// -- What operators read: the shapes of answers, for the origin that writes them and the console that shows them
// ------------

/** The type after conversion to JSON, in which dates are text in ISO 8601. */
export type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer One)[]
    ? readonly AsJson<One>[]
    : T extends object
      ? { readonly [Name in keyof T]: AsJson<T[Name]> }
      : T

/** A row of `GET /admin/audit`, whose response is `{ entries, next }`. */
export interface AuditRow {
  readonly entry: string
  readonly at: Date
  readonly operator: string
  readonly action: string
  readonly sale: string | null
  readonly sale_name: string | null
  readonly product_id: string | null
  readonly product_name: string | null
  readonly order_id: string | null
  /** The currency of the order. */
  readonly currency: string | null
  readonly before: unknown
  readonly after: unknown
}
export interface AuditPage {
  readonly entries: readonly AuditRow[]
  /** The `after` of the following page. */
  readonly next: string | null
}

/** The response of `GET /admin/queues`. */
export interface QueueState {
  readonly queue: string
  /** The jobs that are due, those for later, those that a worker has, and those that wait for another attempt. */
  readonly waiting: number
  readonly later: number
  readonly active: number
  readonly retrying: number
  /** The waiting time of the oldest due job; null if none is due. */
  readonly oldest_seconds: number | null
  readonly dead: number
  /** All open jobs, the age of the oldest, and the highest number of attempts of any of them. */
  readonly open: Backlog & { readonly tries: number }
}
/** The response of `GET /admin/queues/{queue}/dead`. */
export interface DeadJob {
  readonly job: string
  readonly data: unknown
  readonly died_at: Date
  readonly error: unknown
}

/** An order as `GET /admin/orders` finds it. */
export interface FoundOrder extends Order {
  readonly sale_name: string
  readonly product_name: string
  readonly visitor: string
  readonly ticket_number: number
  readonly charge_id: string | null
  readonly email?: string
}
/** One event of an order, or one action on it. */
export interface HistoryEntry {
  readonly at: Date
  readonly kind: 'event' | 'capture' | 'refund' | 'delivery' | 'mail' | 'action' | 'note'
  /** The event's type, the operator's action, `captured`, `delivered` and so on. */
  readonly what: string
  /** The operator, if an operator did it. */
  readonly by: string | null
  readonly detail: Readonly<Record<string, unknown>>
}
/** The response of `GET /admin/orders/{order}`. */
export interface OrderTimeline extends FoundOrder {
  /** `cost_minor` includes the line's share of discounts, fees and tax. */
  readonly lines: (OrderLine & { readonly cost_minor: number })[]
  /** The costs of the order in addition to its lines. */
  readonly bill: readonly BillLine[]
  readonly payment_method: string | null
  readonly idempotency_key: string
  readonly attempts: number
  readonly reason_in_full: string | null
  readonly updated_at: Date
  readonly contact: {
    readonly email: string | null
    /** The delivery address. */
    readonly delivery: Address | null
    readonly address: string | null
    readonly language: string
    readonly delete_after: Date
  } | null
  /** The block of the order's visitor or account, if there is one. */
  readonly block: { readonly block: string; readonly note: string; readonly blocked_at: Date } | null
  readonly history: readonly HistoryEntry[]
}

/** A stored rule, as `GET /admin/sales/{sale}/rules` returns it. */
export type Rule = RuleConfig & {
  readonly rule: string
  /** The number of times that the rule decided. */
  readonly met: number
}
/** An entry of `GET /admin/blocks`. Exactly one of visitor, account and address is set. */
export interface BlockState {
  readonly block: string
  readonly visitor?: string
  readonly account?: string
  readonly address?: string
  readonly note: string
  readonly blocked_at: string
}

// -- Webhooks -------------------------------------------------------------------------------------------------------

/** An entry of `GET /admin/webhooks`, whose response is `{ webhooks }`. */
export interface WebhookState {
  readonly endpoint: string
  readonly url: string
  readonly events: readonly string[]
  readonly state: 'active' | 'paused'
  readonly note: string
  /** The secret is masked, except in the response that creates it. */
  readonly secret: string
  readonly secrets_live: number
  readonly created_at: string
  /**
   * The number of waiting messages, the age of the oldest, and the number given up. The response to a change does not
   * have them.
   */
  readonly waiting?: number
  readonly oldest_seconds?: number | null
  readonly dead?: number
  /** The error of the last attempt of a waiting message. */
  readonly failure?: string | null
}
/** An entry of `GET /admin/webhooks/{endpoint}/deliveries`, whose response is `{ deliveries, next }`. */
export interface Delivery {
  readonly delivery: string
  readonly message_id: string
  readonly type: string
  readonly state: 'pending' | 'delivered' | 'dead'
  readonly attempts: number
  readonly status: number | null
  readonly error: string | null
  readonly created_at: string
  readonly next_attempt_at: string | null
  readonly delivered_at: string | null
  readonly body: unknown
}
