/** The shapes that operators send and read. */
import * as v from 'valibot'
import type { BillLine } from '../bill.ts'
import { amountIssue, chargeIssue } from '../stripe-amount.ts'
import { Access, Lines, ONE_LINE, type RuleConfig } from './access.ts'
import { exactly, instant, name, ProductId, Texts, whole } from './fields.ts'
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
import type { Backlog } from './live.ts'
import { DEFAULT_MAILS, Mails } from './mails.ts'
import { AskedContact, type Order, type OrderLine, Seller, Tax } from './public.ts'
import { ROLES } from './roles.ts'

/** Most units of one product, and most people inside one sale. */
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
      /** Units of the total that are withheld from sale, for `fulfil_from_buffer`. */
      buffer: v.optional(whole(0, MAX_UNITS), 0),
      /** Units that a visitor may have of it, all variants together; null: as many as of the sale. */
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

/** Fees and shipping are for all products, whose currencies may differ. */
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

/** The ids that units are sold by. */
const unitIds = (
  products: readonly { product_id: string; variants?: readonly { variant_id: string }[] | undefined }[],
) => products.flatMap(({ product_id, variants = [] }) => [product_id, ...variants.map(({ variant_id }) => variant_id)])

/** What to do if live orders exceed stock, which only an outside fault can cause. */
const OVERSELL_POLICIES = ['alarm', 'cancel_latest', 'fulfil_from_buffer'] as const
export type OversellPolicy = (typeof OVERSELL_POLICIES)[number]
export const OversellPolicy = v.picklist(OVERSELL_POLICIES, `one of ${OVERSELL_POLICIES.join(', ')} is required`)

/** What buyers may leave so that they can be reached, and how long it is kept after the sale. */
export const Contact = exactly({
  email: v.optional(AskedContact, 'off'),
  /** Whether the network address of a checkout is kept, for support. */
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
      /** When visitors may begin to queue; null: as soon as the sale is created. */
      pre_queue_opens_at: v.optional(v.nullable(instant), null),
      hold_seconds: v.optional(whole(1, 24 * 3600), 90),
      limit_per_visitor: v.optional(whole(1, 1000), 1),
      /** Units of one order; null: as many as a visitor may have. */
      limit_per_order: v.optional(v.nullable(whole(1, 1000))),
      /** May be empty where the sale has a hall. */
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
        /** Most people in the shop at once who have not finished; null: no limit. */
        max_inside: v.optional(v.nullable(whole(1, MAX_UNITS)), null),
      }),
      oversell_policy: v.optional(OversellPolicy, 'alarm'),
      access: v.optional(Access, {}),
      lines: v.optional(Lines, [...ONE_LINE]),
      /** Decides the number of ticket shards when the sale is created, and nothing afterwards; null: as the edge is set. */
      expected_visitors: v.optional(v.nullable(whole(1, 100_000_000)), null),
      /** After so many failed orders (expired, given back, declined), a visitor comes after all who wait. */
      max_unpaid_orders: v.optional(whole(1, 1000), 3),
      contact: v.optional(Contact, {}),
      seller: v.optional(v.nullable(Seller), null),
      tax: v.optional(v.nullable(Tax), null),
      brand: v.optional(v.nullable(Brand), null),
      fees: v.optional(Fees, []),
      delivery: v.optional(DeliveryConfig, { ...NO_DELIVERY }),
      /** Where it takes place, for people. */
      venue: v.optional(v.nullable(name), null),
      event: v.optional(v.nullable(EventTime), null),
      /** Whether search engines may show the sale's page. */
      indexed: v.optional(v.boolean('true or false is required'), true),
      /** The mails that it sends, where mail is set up. */
      mails: v.optional(Mails, [...DEFAULT_MAILS]),
      /** Payments of the sandbox only. Fixed when the sale is created. */
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
/** More seats than any order has: each is a line. */
const MAX_ORDER_LINES = 1_000
/** Lines of an order by their numbers. */
const LineNumbers = v.pipe(
  v.array(whole(1, MAX_ORDER_LINES), 'a list is required'),
  v.minLength(1, 'at least one line'),
  v.maxLength(MAX_ORDER_LINES, `at most ${MAX_ORDER_LINES} lines`),
  v.check((lines) => new Set(lines).size === lines.length, 'each line once'),
)

/**
 * `amount_minor` left out: all that was not refunded yet, or the price of the lines. `restock`: once it is made
 * the units of its lines, or of the order, are for sale again, whatever part of the money is kept.
 */
export const RefundRequest = exactly({
  lines: v.optional(LineNumbers),
  amount_minor: v.optional(whole(1, 1_000_000_000_000)),
  reason: v.optional(name, 'refunded by the shop'),
  restock: v.optional(v.boolean('true or false is required'), false),
})
export type RefundRequest = v.InferOutput<typeof RefundRequest>

/** `lines` left out: the whole order. */
export const CancelRequest = exactly({ lines: v.optional(LineNumbers), reason: v.optional(name) })

/** Units of a refunded order that are for sale again. `lines` left out: all that were refunded. */
export const ReturnRequest = exactly({ lines: v.optional(LineNumbers) })
export type ReturnRequest = v.InferOutput<typeof ReturnRequest>

export const Restock = exactly({ quantity: whole(1, MAX_UNITS) })

// -- Announcements and posts -----------------------------------------------------------------------------------------

export const AnnouncementRequest = exactly({
  level: v.optional(v.picklist(['info', 'warning'], 'info or warning is required'), 'info'),
  text: Texts,
})
export type AnnouncementRequest = v.InferOutput<typeof AnnouncementRequest>

/** An urgent post is an announcement, a warning, in the place of the one before. */
export const PostRequest = exactly({
  text: Texts,
  urgent: v.optional(v.boolean('true or false is required'), false),
  image: v.optional(Image),
})
export type PostRequest = v.InferOutput<typeof PostRequest>

export const PauseRequest = exactly({ reason: v.optional(Texts) })

// -- Operators -------------------------------------------------------------------------------------------------------

/** Names in the audit log that no operator has: the admin token's, and this system's. */
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

// -- Scheduled actions -----------------------------------------------------------------------------------------------

/** When it happens: once, or again and again by cron, in UTC. The rest of the body is its effect. */
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

/** What a scheduled action does, the same as the call of its name. */
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

/** One time that a scheduled action was carried out, or failed; `late`: it began more than five seconds after its time. */
export interface ScheduledRun {
  readonly due_at: string
  readonly ran_at: string
  readonly late: boolean
  readonly error: string | null
}

/** Why a scheduled action does not happen: its operator may not do it any more. */
export interface Suspension {
  readonly at: string
  /** Who revoked or demoted the operator. */
  readonly by: string
  readonly reason: 'revoked' | 'demoted'
  /** When it would have happened next. */
  readonly due_at: string
}

/** What support writes about an order. */
export const NoteRequest = exactly({
  text: v.pipe(
    v.string('text is required'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(2_000, 'at most 2000 characters'),
    v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed Unicode'),
  ),
})

// -- What operators read: the shapes of answers, for the origin that writes them and the console that shows them ------------

/** As JSON carries it: dates are text in ISO 8601. */
export type AsJson<T> = T extends Date
  ? string
  : T extends readonly (infer One)[]
    ? readonly AsJson<One>[]
    : T extends object
      ? { readonly [Name in keyof T]: AsJson<T[Name]> }
      : T

/** `GET /admin/audit`: `{ entries, next }`. */
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
  /** Of the order. */
  readonly currency: string | null
  readonly before: unknown
  readonly after: unknown
}
export interface AuditPage {
  readonly entries: readonly AuditRow[]
  /** The `after` of the page that follows. */
  readonly next: string | null
}

/** `GET /admin/queues`. */
export interface QueueState {
  readonly queue: string
  /** Jobs that could begin now, those for later, those that a worker has, and those waiting for another attempt. */
  readonly waiting: number
  readonly later: number
  readonly active: number
  readonly retrying: number
  /** For how long the oldest job that could begin has waited; null if none does. */
  readonly oldest_seconds: number | null
  readonly dead: number
  /** All that wait, whatever for, since when the oldest of them, and how often one of them was tried at most. */
  readonly open: Backlog & { readonly tries: number }
}
/** `GET /admin/queues/{queue}/dead`. */
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
/** One thing that happened to an order, or was done about it. */
export interface HistoryEntry {
  readonly at: Date
  readonly kind: 'event' | 'capture' | 'refund' | 'delivery' | 'mail' | 'action' | 'note'
  /** What: the event's type, the operator's action, `captured`, `delivered` .. */
  readonly what: string
  /** The operator, where it was one. */
  readonly by: string | null
  readonly detail: Readonly<Record<string, unknown>>
}
/** `GET /admin/orders/{order}`. */
export interface OrderTimeline extends FoundOrder {
  /** `cost_minor`: with its share of discounts, fees and tax. */
  readonly lines: (OrderLine & { readonly cost_minor: number })[]
  /** What it costs beside its lines. */
  readonly bill: readonly BillLine[]
  readonly payment_method: string | null
  readonly idempotency_key: string
  readonly attempts: number
  readonly reason_in_full: string | null
  readonly updated_at: Date
  readonly contact: {
    readonly email: string | null
    /** Where it goes to. */
    readonly delivery: Address | null
    readonly address: string | null
    readonly language: string
    readonly delete_after: Date
  } | null
  /** The block of its visitor or account, if there is one. */
  readonly block: { readonly block: string; readonly note: string; readonly blocked_at: Date } | null
  readonly history: readonly HistoryEntry[]
}

/** A rule as it is kept: `GET /admin/sales/{sale}/rules`. */
export type Rule = RuleConfig & {
  readonly rule: string
  /** How often it decided. */
  readonly met: number
}
/** `GET /admin/blocks`. One of visitor, account and address says who. */
export interface BlockState {
  readonly block: string
  readonly visitor?: string
  readonly account?: string
  readonly address?: string
  readonly note: string
  readonly blocked_at: string
}

// -- Webhooks --------------------------------------------------------------------------------------------------------

/** `GET /admin/webhooks`: `{ webhooks }`. */
export interface WebhookState {
  readonly endpoint: string
  readonly url: string
  readonly events: readonly string[]
  readonly state: 'active' | 'paused'
  readonly note: string
  /** Masked, except where it was just made. */
  readonly secret: string
  readonly secrets_live: number
  readonly created_at: string
  /** Messages that wait, for how long the oldest has, and those given up; not in the answer to a change. */
  readonly waiting?: number
  readonly oldest_seconds?: number | null
  readonly dead?: number
  /** Why the last attempt of a message that waits failed. */
  readonly failure?: string | null
}
/** `GET /admin/webhooks/{endpoint}/deliveries`: `{ deliveries, next }`. */
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
