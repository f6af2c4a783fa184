/** What is sold, how it looks, and what it costs beside its price: goods, brand, fees, delivery, promo codes. */
import * as v from 'valibot'
import { exactly, instant, LANGUAGES, name, ProductId, whole } from './fields.ts'

export const MAX_PRICE_MINOR = 1_000_000_000
/** The most that an order may cost: more than any provider takes, and exact in a double. */
export const MAX_TOTAL_MINOR = 100_000_000_000

const isText = (text: string) => text.isWellFormed() && !text.includes('\0')
const longText = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(10_000, 'at most 10000 characters'),
  v.check(isText, 'must be well-formed Unicode'),
)
const LanguageName = v.picklist(LANGUAGES, `one of ${LANGUAGES.join(', ')} is required`)

/** Markdown in one language, or by language. */
export const Markdown = v.union(
  [longText, v.record(LanguageName, longText)],
  'a text, or texts by language are required',
)
export type Markdown = v.InferOutput<typeof Markdown>

/** A name by language; the plain one is shown where nothing is said in the visitor's own. */
export const Names = v.record(LanguageName, name)
export type Names = v.InferOutput<typeof Names>

/** When what is sold takes place, or can be picked up. */
export const EventTime = v.pipe(
  exactly({ starts_at: instant, ends_at: v.optional(v.nullable(instant), null) }),
  v.forward(
    v.check(({ starts_at, ends_at }) => ends_at === null || ends_at > starts_at, 'must be after starts_at'),
    ['ends_at'],
  ),
)
export type EventTime = v.InferOutput<typeof EventTime>

/** A picture of ours by its path, or one elsewhere, which is fetched and kept when the sale is written. */
export const ImageUrl = v.pipe(
  v.string('text is required'),
  v.maxLength(2_000, 'at most 2000 characters'),
  v.regex(
    /^(\/images\/[0-9a-f]{32}|https?:\/\/\S+)$/,
    'the path of an uploaded picture or an https address is required',
  ),
)
/** Of its widest file in pixels; the widths of all its files, each as WebP and as JPEG: `/images/<hash>/640.webp`. */
export const PictureSize = v.object({ width: v.number(), height: v.number(), widths: v.array(v.number()) })
export type PictureSize = v.InferOutput<typeof PictureSize>
/** Its size is noted as the sale is written, whatever is said of it. */
export const Image = exactly({
  url: ImageUrl,
  alt: v.optional(v.pipe(v.string('text is required'), v.maxLength(200, 'at most 200 characters')), ''),
  width: v.optional(v.number()),
  height: v.optional(v.number()),
  widths: v.optional(v.array(v.number())),
})
export type Image = v.InferOutput<typeof Image>

const label = v.pipe(name, v.maxLength(40, 'at most 40 characters'))
/** A thing to choose, such as a size, and its values in the order of the page. */
const Option = exactly({
  name: label,
  values: v.pipe(
    v.array(label, 'a list is required'),
    v.minLength(1, 'at least one value'),
    v.maxLength(60, 'at most 60 values'),
  ),
})
/** What a variant is, by option: { size: "42" }. */
const Chosen = v.record(v.string(), label)

const Variant = exactly(
  {
    variant_id: ProductId,
    options: Chosen,
    unit_price_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
    total: whole(0, 10_000_000),
    buffer: v.optional(whole(0, 10_000_000), 0),
    sku: v.optional(v.pipe(name, v.maxLength(64, 'at most 64 characters'))),
  },
  ['available', 'held', 'sold'],
)

/** What a product may have beside its name, price and total; none of it decides who gets a unit. */
export const productGoods = {
  names: v.optional(v.nullable(Names)),
  description: v.optional(v.nullable(Markdown)),
  images: v.optional(v.pipe(v.array(Image, 'a list is required'), v.maxLength(12, 'at most 12 pictures'))),
  options: v.optional(v.pipe(v.array(Option, 'a list is required'), v.maxLength(3, 'at most 3 options'))),
  variants: v.optional(v.pipe(v.array(Variant, 'a list is required'), v.maxLength(100, 'at most 100 variants'))),
  /** To be accepted by whoever buys it. */
  terms: v.optional(v.nullable(Markdown)),
  tags: v.optional(v.pipe(v.array(label, 'a list is required'), v.maxLength(20, 'at most 20 tags'))),
  weight_grams: v.optional(v.nullable(whole(0, 10_000_000))),
} as const

export const Brand = exactly({
  shop: name,
  logo: v.optional(ImageUrl),
  accent: v.optional(
    v.pipe(v.string('text is required'), v.regex(/^#[0-9a-f]{6}$/i, 'a colour such as #00674b is required')),
  ),
  hero: v.optional(ImageUrl),
  /** Noted as the sale is written, whatever is said of them. */
  sizes: v.optional(v.object({ logo: v.optional(PictureSize), hero: v.optional(PictureSize) })),
  /** The shop's own words on the pages, by language and name of the text. */
  words: v.optional(
    v.record(LanguageName, v.record(v.string(), v.pipe(v.string(), v.maxLength(500, 'at most 500 characters')))),
  ),
})
export type Brand = v.InferOutput<typeof Brand>

const percent = v.pipe(
  v.number('a number is required'),
  v.minValue(0, 'at least 0'),
  v.maxValue(100, 'at most 100'),
  v.check((value) => Number(value.toFixed(3)) === value, 'at most three decimals'),
)

/** Added to the price, or included in it; so much for each unit or once an order, or a share of what they cost. */
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

export const Country = v.pipe(
  v.string('text is required'),
  v.regex(/^[A-Z]{2}$/, 'an ISO 3166-1 code such as DE is required'),
)
const Countries = v.pipe(
  v.array(Country, 'a list is required'),
  v.minLength(1, 'at least one country'),
  v.maxLength(250),
)
const asked = v.optional(v.picklist(['off', 'optional', 'required'], 'off, optional or required is required'), 'off')

/** How an order reaches its buyer. `handover`: the shop asks for the address itself, at `return_url`, after the payment. */
export const Delivery = v.pipe(
  exactly({
    kind: v.picklist(['none', 'pickup', 'address', 'handover'], 'none, pickup, address or handover is required'),
    /** Where it is sent to; left out: everywhere. */
    countries: v.optional(Countries),
    /** The first that fits the country and the weight of the order holds. Left out: free. */
    prices: v.optional(
      v.pipe(
        v.array(
          exactly({
            countries: v.optional(Countries),
            up_to_grams: v.optional(whole(0, 100_000_000)),
            amount_minor: whole(0, MAX_PRICE_MINOR),
          }),
          'a list is required',
        ),
        v.minLength(1, 'at least one price'),
        v.maxLength(500, 'at most 500 prices'),
      ),
    ),
    /** Where and when it is picked up, for people. */
    pickup: v.optional(
      v.pipe(
        v.string('text is required'),
        v.trim(),
        v.minLength(1, 'must not be empty'),
        v.maxLength(500),
        v.check(isText),
      ),
    ),
    return_url: v.optional(
      v.pipe(v.string('text is required'), v.maxLength(2_000), v.regex(/^https?:\/\/\S+$/, 'an address is required')),
    ),
    /** What the checkout asks for beside an address, whose own fields follow from `kind`. */
    ask: v.optional(exactly({ name: asked, phone: asked, company: asked, note: asked }), {}),
  }),
  v.forward(
    v.check(({ kind, return_url }) => kind !== 'handover' || return_url !== undefined, 'is required for a handover'),
    ['return_url'],
  ),
)
export type Delivery = v.InferOutput<typeof Delivery>
export const NO_DELIVERY: Delivery = { kind: 'none', ask: { name: 'off', phone: 'off', company: 'off', note: 'off' } }

const line = v.optional(
  v.pipe(
    v.string('text is required'),
    v.trim(),
    v.maxLength(200, 'at most 200 characters'),
    v.check((text) => isText(text) && !/\p{Cc}/u.test(text), 'no control characters'),
  ),
)
/** What a buyer says of where it goes; empty lines count as left out. */
export const Address = exactly({
  name: line,
  phone: line,
  company: line,
  street: line,
  postcode: line,
  city: line,
  region: line,
  country: v.optional(Country),
  note: v.optional(
    v.pipe(v.string('text is required'), v.trim(), v.maxLength(500, 'at most 500 characters'), v.check(isText)),
  ),
})
export type Address = v.InferOutput<typeof Address>
export type AddressField = keyof Address

/** Letters, digits and a few signs; upper and lower case are the same code. */
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
      /** One of the three: off the price; off the order; or what each unit costs instead. */
      percent: v.optional(percent),
      amount_minor: v.optional(whole(1, MAX_PRICE_MINOR)),
      price_minor: v.optional(whole(0, MAX_PRICE_MINOR)),
      /** Orders in all, and of one visitor. Null: no limit. */
      uses: v.optional(v.nullable(whole(0, 10_000_000)), null),
      uses_per_visitor: v.optional(v.nullable(whole(1, 1_000)), null),
      /** Units of an order that a use makes cheaper, the dearest. Null: all. */
      units_per_use: v.optional(v.nullable(whole(1, 1_000_000)), null),
      from: v.optional(v.nullable(instant), null),
      until: v.optional(v.nullable(instant), null),
      /** Null: all. A product's variants are meant by its own id too. */
      products: v.optional(
        v.nullable(v.pipe(v.array(ProductId, 'a list is required'), v.minLength(1), v.maxLength(100))),
        null,
      ),
      /** Whether another code may be used beside it. */
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

/** `GET /sales/{sale}/goods?v=VERSION`: never changes. What the pages show beside names and prices. */
export interface GoodsDocument {
  readonly version: number
  readonly brand: Brand | null
  readonly venue: string | null
  /** Of the sale. */
  readonly names?: Readonly<Names> | null
  readonly event?: EventTime | null
  /** By product. */
  readonly products: Readonly<Record<string, ProductGoods>>
}
export interface ProductGoods {
  readonly names?: Readonly<Names>
  readonly description?: Markdown
  readonly images?: readonly Image[]
  readonly options?: readonly { readonly name: string; readonly values: readonly string[] }[]
  readonly terms?: Markdown
  readonly tags?: readonly string[]
}
