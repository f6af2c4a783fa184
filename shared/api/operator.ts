/** The shapes that operators send. */
import * as v from 'valibot'
import { Access, Lines, ONE_LINE } from './access.ts'
import { exactly, name, whole } from './fields.ts'
import { ProductId } from './public.ts'

/** Most units of one product, and most people inside one sale. */
export const MAX_UNITS = 10_000_000

/** From the epoch, which some send for "long ago", to beyond any sale: Postgres cannot store every time that parses. */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2100] as const

const instant = v.pipe(
  v.string('an ISO 8601 time is required'),
  v.regex(
    /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}(:\d{2}(\.\d+)?)?(Z|[+-]\d{2}:\d{2})$/,
    'an ISO 8601 time with its zone is required',
  ),
  v.check((text) => Number.isFinite(Date.parse(text)) && isDay(text.slice(0, 10)), 'no such time'),
  v.check((text) => {
    const year = new Date(text).getUTCFullYear()
    return year >= FIRST_YEAR && year <= LAST_YEAR
  }, `a year from ${FIRST_YEAR} to ${LAST_YEAR} is required`),
  v.transform((text) => new Date(text).toISOString()),
)

/** `Date` reads the 30th of February as a day in March. */
const isDay = (day: string) => new Date(day).toISOString().startsWith(day)

const rate = v.pipe(
  v.number('a number is required'),
  v.finite('a number is required'),
  v.minValue(0.01, 'at least 0.01'),
  v.maxValue(100_000, 'at most 100000'),
)

const ProductConfig = exactly(
  {
    product_id: ProductId,
    name,
    unit_price_minor: whole(0, 1_000_000_000),
    currency: v.pipe(v.string('text is required'), v.regex(/^[A-Z]{3}$/, 'an ISO 4217 code such as EUR is required')),
    total: whole(0, MAX_UNITS),
  },
  ['available', 'held', 'sold'],
)

/** What to do if live orders exceed stock, which only an outside fault can cause. */
export const OVERSELL_POLICIES = ['alarm', 'cancel_latest', 'fulfil_from_buffer'] as const
export type OversellPolicy = (typeof OVERSELL_POLICIES)[number]
export const OversellPolicy = v.picklist(OVERSELL_POLICIES, `one of ${OVERSELL_POLICIES.join(', ')} is required`)

export const SaleConfig = v.pipe(
  exactly(
    {
      name,
      opens_at: instant,
      ends_at: v.optional(v.nullable(instant), null),
      /** When visitors may begin to queue; null: as soon as the sale is created. */
      pre_queue_opens_at: v.optional(v.nullable(instant), null),
      hold_seconds: v.optional(whole(1, 24 * 3600), 90),
      limit_per_visitor: v.optional(whole(1, 1000), 1),
      products: v.pipe(
        v.array(ProductConfig, 'a list is required'),
        v.minLength(1, 'at least one product'),
        v.maxLength(100, 'at most 100 products'),
        v.check((list) => new Set(list.map((p) => p.product_id)).size === list.length, 'product_id must be unique'),
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
      /** Orders of one visitor that may come to nothing before others who wait come first. */
      max_unpaid_orders: v.optional(whole(1, 1000), 3),
    },
    ['sale', 'phase', 'ended_at', 'paused', 'invariant', 'rates', 'queue', 'health', 'server_time', 'rules'],
  ),
  v.forward(
    v.check((sale) => sale.ends_at === null || sale.ends_at > sale.opens_at, 'must be after opens_at'),
    ['ends_at'],
  ),
)
export type SaleConfig = v.InferOutput<typeof SaleConfig>

export const AdmissionChange = exactly({ rate_per_second: rate })
export const Restock = exactly({ quantity: whole(1, MAX_UNITS) })
