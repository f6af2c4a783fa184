/** The configuration of a sale, as operators create and change it. */

import * as v from 'valibot'
import { Access, Lines, ONE_LINE } from '../access.ts'
import { exactly, instant, name, ProductId, TimeZone, whole } from '../fields.ts'
import { Brand, Delivery as DeliveryConfig, EventConfig, Fees, Names, NO_DELIVERY, productGoods } from '../goods.ts'
import { DEFAULT_MAILS, Mails } from '../mails.ts'
import { AskedContact, SalePayment, Seller, Tax } from '../public.ts'
import { amountIssue, chargeIssue } from '../stripe-amount.ts'

/** The maximum number of units of one product, and of people inside one sale. */
export const MAX_UNITS = 10_000_000

export const rate = v.pipe(
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
      /** Repeated actions follow this zone, and so does the event if its venue has no other one. */
      time_zone: v.optional(TimeZone, 'UTC'),
      opens_at: instant,
      ends_at: v.optional(v.nullable(instant), null),
      /** The time from which visitors may join; null means from the creation of the sale. */
      pre_queue_opens_at: v.optional(v.nullable(instant), null),
      hold_seconds: v.optional(whole(1, 24 * 3600), 90),
      limit_per_visitor: v.optional(whole(1, 1000), 1),
      /** The limit of units of one order; null takes the visitor's limit. */
      limit_per_order: v.optional(v.nullable(whole(1, 1000))),
      /** None where the sale has a hall, or stands before a site that sells by itself. */
      products: v.optional(
        v.pipe(
          v.array(ProductConfig, 'a list is required'),
          v.maxLength(100, 'at most 100 products'),
          v.check((list) => unitIds(list).length <= 500, 'at most 500 products and variants'),
          v.check(
            (list) => new Set(unitIds(list)).size === unitIds(list).length,
            'product_id and variant_id must be unique',
          ),
        ),
        [],
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
      event: v.optional(v.nullable(EventConfig), null),
      /** True if search engines may show the sale's page. */
      indexed: v.optional(v.boolean('true or false is required'), true),
      /** The mails that the sale sends, if mail is set up. */
      mails: v.optional(Mails, [...DEFAULT_MAILS]),
      /**
       * The payment provider takes the money, or the shop's own checkout, to which each hold is handed over. This is
       * fixed when the sale is created.
       */
      payment: v.optional(SalePayment, 'provider'),
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
      ({ payment, delivery }) => payment !== 'handover' || delivery.return_url !== undefined,
      'handover needs delivery.return_url, where the shop takes the money',
    ),
    ['payment'],
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
  v.transform(({ event, ...sale }) => ({
    ...sale,
    event: event && { ...event, time_zone: event.time_zone ?? sale.time_zone },
  })),
)
export type SaleConfig = v.InferOutput<typeof SaleConfig>
