/** The goods of a sale, their look, and their costs in addition to prices: brand, fees, delivery, promo codes. */
import * as v from 'valibot'
import { sameName } from '../lib/text.ts'
import { COUNTRIES } from './countries.ts'
import {
  exactly,
  filled,
  instant,
  LANGUAGES,
  LINES,
  name,
  ProductId,
  TimeZone,
  whole,
  written,
  writtenInstant,
} from './fields.ts'

const MAX_PRICE_MINOR = 1_000_000_000
/** The maximum total of an order. It is more than any provider accepts, and exact in a double. */
export const MAX_TOTAL_MINOR = 100_000_000_000

const longText = filled(10_000, LINES)
const LanguageName = v.picklist(LANGUAGES, `one of ${LANGUAGES.join(', ')} is required`)

/** A text in markdown, in one language or by language. */
export const Markdown = v.union(
  [longText, v.record(LanguageName, longText)],
  'a text, or texts by language are required',
)
export type Markdown = v.InferOutput<typeof Markdown>

/** A name by language. The plain name is shown if there is none in the visitor's language. */
export const Names = v.record(LanguageName, name)
export type Names = v.InferOutput<typeof Names>

/** The time of the event or of the pickup. Without a zone of the venue, the sale's zone is the venue's. */
export const EventConfig = v.pipe(
  exactly({
    starts_at: writtenInstant,
    ends_at: v.optional(v.nullable(writtenInstant), null),
    time_zone: v.optional(TimeZone),
  }),
  v.forward(
    v.check(
      ({ starts_at, ends_at }) => ends_at === null || Date.parse(ends_at) > Date.parse(starts_at),
      'must be after starts_at',
    ),
    ['ends_at'],
  ),
)
/** The time of an event with the venue's zone. */
export type EventTime = v.InferOutput<typeof EventConfig> & { readonly time_zone: string }

/**
 * The path of a stored picture, or the address of one on another host, which is fetched and stored when the sale is
 * written.
 */
const ImageUrl = v.pipe(
  v.string('text is required'),
  v.maxLength(2_000, 'at most 2000 characters'),
  v.regex(
    /^(\/images\/[0-9a-f]{32}|https?:\/\/\S+)$/,
    'the path of an uploaded picture or an https address is required',
  ),
)
/**
 * The size of the widest file in pixels, and the widths of all files, each as WebP and as JPEG:
 * `/images/<hash>/640.webp`.
 */
export const PictureSize = v.object({ width: v.number(), height: v.number(), widths: v.array(v.number()) })
export type PictureSize = v.InferOutput<typeof PictureSize>
/** The size is measured when the sale is written, and a size in the request is ignored. */
export const Image = exactly({
  url: ImageUrl,
  alt: v.optional(written(200), ''),
  width: v.optional(v.number()),
  height: v.optional(v.number()),
  widths: v.optional(v.array(v.number())),
})
export type Image = v.InferOutput<typeof Image>

const label = filled(40)
const areApart = (names: string[]) => new Set(names.map(sameName)).size === names.length
/** An option of a product, such as a size, with its values in the order of the page. */
const Option = exactly({
  name: label,
  names: v.optional(v.nullable(Names)),
  values: v.pipe(
    v.array(label, 'a list is required'),
    v.minLength(1, 'at least one value'),
    v.maxLength(60, 'at most 60 values'),
    v.check(areApart, 'values must differ by more than case'),
  ),
})
/** The values of a variant by option: { size: "42" }. */
const Chosen = v.record(label, label)

const Variant = exactly(
  {
    variant_id: ProductId,
    options: Chosen,
    unit_price_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
    total: whole(0, 10_000_000),
    buffer: v.optional(whole(0, 10_000_000), 0),
    sku: v.optional(filled(64)),
  },
  ['available', 'held', 'sold'],
)

/**
 * The content of a product's pages beside its name. A field here is stored with the goods and is in the answers, since
 * storage, answers, types and the console's form take the list from here; a page and a field of the form show it.
 */
export const productContent = {
  names: v.optional(v.nullable(Names)),
  /** A line below the name, such as an edition or an artist. */
  subtitle: v.optional(v.nullable(Names)),
  description: v.optional(v.nullable(Markdown)),
  images: v.optional(v.pipe(v.array(Image, 'a list is required'), v.maxLength(12, 'at most 12 pictures'))),
  options: v.optional(
    v.pipe(
      v.array(Option, 'a list is required'),
      v.maxLength(3, 'at most 3 options'),
      v.check((options) => areApart(options.map(({ name }) => name)), 'names must differ by more than case'),
    ),
  ),
  /** The terms that a buyer of this product must accept. */
  terms: v.optional(v.nullable(Markdown)),
  tags: v.optional(v.pipe(v.array(label, 'a list is required'), v.maxLength(20, 'at most 20 tags'))),
} as const
type Content = typeof productContent

/** Optional fields of a product in addition to name, price and total. None of them affects who gets a unit. */
export const productGoods = {
  ...productContent,
  variants: v.optional(v.pipe(v.array(Variant, 'a list is required'), v.maxLength(100, 'at most 100 variants'))),
  weight_grams: v.optional(v.nullable(whole(0, 10_000_000))),
} as const

export const Brand = exactly({
  shop: name,
  logo: v.optional(ImageUrl),
  accent: v.optional(
    v.pipe(v.string('text is required'), v.regex(/^#[0-9a-fA-F]{6}$/, 'a colour such as #00674b is required')),
  ),
  hero: v.optional(ImageUrl),
  /** The sizes are measured when the sale is written, and sizes in the request are ignored. */
  sizes: v.optional(v.object({ logo: v.optional(PictureSize), hero: v.optional(PictureSize) })),
  /** The shop's own texts for the pages, by language and name of the text. */
  words: v.optional(v.record(LanguageName, v.record(v.string(), written(500, LINES)))),
})
export type Brand = v.InferOutput<typeof Brand>

const percent = v.pipe(
  v.number('a number is required'),
  v.minValue(0, 'at least 0'),
  v.maxValue(100, 'at most 100'),
  v.check((value) => Number(value.toFixed(3)) === value, 'at most three decimals'),
)

/**
 * A fee that is added to the price or included in it. It is an amount per unit or per order, or a share of the
 * prices.
 */
const Fee = v.pipe(
  exactly({
    name,
    percent: v.optional(percent),
    amount_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
    per: v.picklist(['unit', 'order'], 'unit or order is required'),
    included: v.optional(v.boolean('true or false is required'), false),
  }),
  v.forward(
    v.check(
      (fee) => (fee.percent === undefined) !== (fee.amount_minor === undefined),
      'either percent or amount_minor is required',
    ),
    ['amount_minor'],
  ),
)
export const Fees = v.pipe(v.array(Fee, 'a list is required'), v.maxLength(10, 'at most 10 fees'))
export type Fee = v.InferOutput<typeof Fee>

const Country = v.pipe(
  v.string('text is required'),
  v.check((code) => COUNTRIES.includes(code), 'an ISO 3166-1 code such as DE is required'),
)
const Countries = v.pipe(
  v.array(Country, 'a list is required'),
  v.minLength(1, 'at least one country'),
  v.maxLength(250),
)
const asked = v.optional(v.picklist(['off', 'optional', 'required'], 'off, optional or required is required'), 'off')

/**
 * How an order reaches its buyer. With `handover` the shop asks for the address itself, at `return_url`, after the
 * payment.
 */
export const Delivery = v.pipe(
  exactly({
    kind: v.picklist(['none', 'pickup', 'address', 'handover'], 'none, pickup, address or handover is required'),
    /** The countries of delivery; if missing, all countries. */
    countries: v.optional(Countries),
    /** The first price that matches the country and the weight of the order applies. If missing, delivery is free. */
    prices: v.optional(
      v.pipe(
        v.array(
          exactly({
            countries: v.optional(Countries),
            up_to_grams: v.optional(whole(0, 100_000_000)),
            amount_minor: whole(0, MAX_PRICE_MINOR),
            /** The goods arrive within this many days. */
            days: v.optional(whole(1, 365)),
          }),
          'a list is required',
        ),
        v.minLength(1, 'at least one price'),
        v.maxLength(500, 'at most 500 prices'),
      ),
    ),
    /** The place and time of the pickup, for people. */
    pickup: v.optional(filled(500, LINES)),
    return_url: v.optional(
      v.pipe(v.string('text is required'), v.maxLength(2_000), v.regex(/^https?:\/\/\S+$/, 'an address is required')),
    ),
    /** The fields that the checkout requests in addition to the address, whose own fields follow from `kind`. */
    ask: v.optional(exactly({ name: asked, phone: asked, company: asked, note: asked }), {}),
  }),
  v.forward(
    v.check(({ kind, return_url }) => kind !== 'handover' || return_url !== undefined, 'is required for a handover'),
    ['return_url'],
  ),
)
export type Delivery = v.InferOutput<typeof Delivery>
export const NO_DELIVERY: Delivery = { kind: 'none', ask: { name: 'off', phone: 'off', company: 'off', note: 'off' } }

const line = v.optional(written(200))
/** The buyer's delivery address. Empty lines count as missing. */
export const Address = exactly({
  name: line,
  phone: line,
  company: line,
  street: line,
  line2: line,
  postcode: line,
  city: line,
  region: line,
  country: v.optional(Country),
  note: v.optional(written(500, LINES)),
})
export type Address = v.InferOutput<typeof Address>
export type AddressField = keyof Address

/** Letters, digits and a few symbols. Upper and lower case are equal. */
export const PromoCodeText = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.toUpperCase(),
  v.regex(/^[A-Z0-9][A-Z0-9_-]{1,39}$/, '2 to 40 letters, digits, "-" or "_" are required'),
)
export const PromoCode = v.pipe(
  exactly(
    {
      code: PromoCodeText,
      /**
       * One of three discounts: a percentage off the price, an amount off the order, or a new price for each unit.
       */
      percent: v.optional(percent),
      amount_minor: v.optional(whole(1, MAX_PRICE_MINOR)),
      price_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
      /** The limit of orders in all, and of one visitor. Null means no limit. */
      uses: v.optional(v.nullable(whole(0, 10_000_000)), null),
      uses_per_visitor: v.optional(v.nullable(whole(1, 1_000)), null),
      /** The number of units that one use makes cheaper, the most expensive first. Null means all. */
      units_per_use: v.optional(v.nullable(whole(1, 1_000_000)), null),
      from: v.optional(v.nullable(instant), null),
      until: v.optional(v.nullable(instant), null),
      /** The products to which the code applies; null means all. The id of a product includes its variants. */
      products: v.optional(
        v.nullable(v.pipe(v.array(ProductId, 'a list is required'), v.minLength(1), v.maxLength(100))),
        null,
      ),
      /** True if another code may be used with this one. */
      combined: v.optional(v.boolean('true or false is required'), false),
    },
    ['used'],
  ),
  v.forward(
    v.check(
      (code) => [code.percent, code.amount_minor, code.price_minor].filter((one) => one !== undefined).length === 1,
      'one of percent, amount_minor and price_minor is required',
    ),
    ['percent'],
  ),
)
export type PromoCode = v.InferOutput<typeof PromoCode>
export const MAX_PROMO_CODES = 10_000

/** What `POST /admin/sales/{sale}/promo-codes/check` understood of a CSV, which it does not import. */
export interface PromoCodesCheck {
  readonly understood: readonly { readonly line: number; readonly code: PromoCode }[]
  /** The first hundred; `line` is null for what concerns the whole file, `field` for a whole line. */
  readonly refused: readonly {
    readonly line: number | null
    readonly code: string
    readonly field: string | null
    readonly why: string
  }[]
  readonly refused_count: number
}

/**
 * The response of `GET /sales/{sale}/goods?v=VERSION`, which never changes. It has the content of the pages in
 * addition to names and prices.
 */
export interface GoodsDocument {
  readonly version: number
  readonly brand: Brand | null
  readonly venue: string | null
  /** The names of the sale. */
  readonly names?: Readonly<Names> | null
  readonly event?: EventTime | null
  /** The goods of each product. */
  readonly products: Readonly<Record<string, ProductGoods>>
}
/** The content that a product has; fields without one are omitted. */
export type ProductGoods = { readonly [F in keyof Content]?: Lasting<NonNullable<v.InferOutput<Content[F]>>> }
type Lasting<T> = T extends readonly (infer One)[] ? readonly One[] : T

/** A row of the bill in addition to the goods. Discounts are negative. */
export interface BillLine {
  readonly kind: 'discount' | 'fee' | 'shipping' | 'tax'
  /** The code, or the name of the fee or tax. */
  readonly name: string
  readonly amount_minor: number
  /** True if the prices include the amount, which is listed but not added. */
  readonly included?: true
}
