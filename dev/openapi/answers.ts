/** Schemas of answers that the product itself only writes, and never parses. */
import * as v from 'valibot'
import { Brand, Names, productContent } from '../../shared/api/goods.ts'
import type { AvailabilityDocument, ChartDocument, SeatsPage, SectionsDocument } from '../../shared/api/hall.ts'
import { SEAT_STATES, SeatOffer } from '../../shared/api/hall.ts'
import {
  type Feed as FeedDocument,
  Order,
  PHASES,
  Post,
  PublicProduct,
  PublicSale,
  SEAT_KINDS,
  Totals,
} from '../../shared/api/public.ts'

/** A schema whose values are those of a type of the product: another field in one of the two is a type error. */
export type SchemaOf<T> = v.GenericSchema<unknown, T>

const whole = v.pipe(v.number(), v.integer())
const sectionType = v.picklist(['reserved', 'general_admission'])

const { variant_of: _, variant: __, sku: ___, ...product } = PublicProduct.entries
const { products: ____, ...sale } = PublicSale.entries

/** A sale with its goods, and with variants inside their products, as `edge/sale/sale-document.ts` makes it. */
export const SaleWithGoods = v.object({
  ...sale,
  brand: v.nullable(Brand),
  venue: v.nullable(v.string()),
  names: v.nullable(Names),
  event: v.nullable(v.object({ starts_at: v.string(), ends_at: v.nullable(v.string()), time_zone: v.string() })),
  products: v.array(
    v.object({
      ...product,
      ...productContent,
      variants: v.exactOptional(
        v.array(
          v.object({
            variant_id: v.string(),
            options: v.record(v.string(), v.string()),
            unit_price_minor: whole,
            total: whole,
            available: whole,
            sku: v.exactOptional(v.string()),
          }),
        ),
      ),
    }),
  ),
})

export const Posts = v.object({ posts: v.array(Post), as_of: v.exactOptional(v.string()) })
export const Feed = v.object({
  ...Posts.entries,
  changed: v.exactOptional(
    v.array(
      v.object({
        n: whole,
        text: v.exactOptional(Post.entries.text),
        edited_at: v.exactOptional(v.string()),
        retracted: v.exactOptional(v.literal(true)),
      }),
    ),
  ),
  older: v.exactOptional(whole),
  next_poll_ms: whole,
}) satisfies SchemaOf<FeedDocument>

export const Sections = v.object({
  sale: v.string(),
  version: v.nullable(whole),
  as_of: v.string(),
  sections: v.array(
    v.object({
      section_id: v.string(),
      name: v.string(),
      type: sectionType,
      total_seats: whole,
      available_seats: whole,
      price_minor: whole,
      currency: v.string(),
    }),
  ),
}) satisfies SchemaOf<SectionsDocument>

const seat = {
  seat_id: v.string(),
  row: v.string(),
  number: v.string(),
  category: v.string(),
  kind: v.picklist(SEAT_KINDS),
  price_minor: whole,
}

export const Chart = v.object({
  version: whole,
  focal_point: v.object({ x: v.number(), y: v.number() }),
  categories: v.array(v.object({ category: v.string(), price_minor: whole, price_to_minor: v.exactOptional(whole) })),
  sections: v.array(
    v.object({
      section_id: v.string(),
      name: v.string(),
      type: sectionType,
      outline: v.exactOptional(v.array(v.tuple([v.number(), v.number()]))),
      seats: v.array(v.object({ ...seat, place: whole, x: v.number(), y: v.number() })),
    }),
  ),
}) satisfies SchemaOf<ChartDocument>

export const Availability = v.object({
  section_id: v.string(),
  version: whole,
  seats: v.pipe(v.string(), v.base64()),
  as_of: v.exactOptional(v.string()),
}) satisfies SchemaOf<AvailabilityDocument>

export const Seats = v.object({
  section_id: v.string(),
  total_seats: whole,
  page: whole,
  page_size: whole,
  seats: v.array(v.object({ ...seat, status: v.picklist(SEAT_STATES) })),
}) satisfies SchemaOf<SeatsPage>

export const TotalsAnswer = v.object({
  ...Totals.entries,
  currency: v.nullable(v.string()),
  promo_codes: v.array(v.object({ code: v.string(), holds: v.boolean(), reason: v.optional(v.string()) })),
  needs_country: v.optional(v.boolean()),
})

export const SeatOfferAnswer = v.object({ ...SeatOffer.entries, totals: TotalsAnswer })

export const Orders = v.object({ orders: v.array(Order) })

/** State and price of a sale, in lists. */
const listed = {
  phase: v.picklist(PHASES),
  opens_at: v.string(),
  price_from_minor: v.nullable(whole),
  currency: v.nullable(v.string()),
  prices_differ: v.boolean(),
  left: v.nullable(whole),
}

export const Front = v.object({
  sales: v.array(v.object({ sale: v.string(), name: v.string(), image: v.optional(v.unknown()), ...listed })),
})

export const SearchResults = v.object({
  query: v.string(),
  corrected: v.optional(v.string()),
  did_you_mean: v.optional(v.string()),
  results: v.array(
    v.object({
      type: v.picklist(['sale', 'product', 'venue']),
      sale: v.string(),
      product_id: v.optional(v.string()),
      title: v.string(),
      snippet: v.string(),
      score: v.number(),
      ...v.partial(v.object(listed)).entries,
    }),
  ),
})
export const Completions = v.object({ query: v.string(), completions: v.array(v.string()) })
export const SearchIndex = v.object({ entries: v.array(v.unknown()), synonyms: v.array(v.array(v.string())) })
export const Searches = v.object({ searches: v.array(v.string()) })

/** A challenge of ALTCHA, whose function is scrypt (RFC 7914). */
export const Challenge = v.object({
  parameters: v.object({
    algorithm: v.literal('SCRYPT'),
    nonce: v.string(),
    salt: v.string(),
    cost: whole,
    memoryCost: whole,
    parallelism: whole,
    keyLength: whole,
    keyPrefix: v.string(),
    keySignature: v.optional(v.string()),
    expiresAt: whole,
    data: v.object({ sale: v.string(), visitor: v.string(), difficulty: v.number() }),
  }),
  signature: v.string(),
})
export const Health = v.object({ status: v.literal('ok'), kid: v.string() })
/** A JWK set (RFC 7517). */
export const Keys = v.object({ keys: v.array(v.looseObject({ kty: v.string(), kid: v.string() })) })
