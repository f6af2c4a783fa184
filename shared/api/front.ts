/** The shop front: the listed sales, the searchable texts, and the shop's synonyms. */
import * as v from 'valibot'
import { filled, LANGUAGES, SaleId, type Texts } from './fields.ts'
import type { Image } from './goods.ts'

/** A sale that is listed publicly: neither a test nor excluded from search engines. */
export interface ListedSale {
  readonly sale: string
  readonly name: string
  readonly names?: Texts
  readonly opens_at: string
  readonly pre_queue_opens_at: string
  /** The end of the sale; null means that it ends when all is sold. */
  readonly ends_at: string | null
  readonly image: Image | null
  /** The lowest price of its products; null if it sells nothing yet. */
  readonly price_from_minor: number | null
  readonly currency: string | null
  /** True if its prices differ. */
  readonly prices_differ: boolean
  readonly venue: string | null
  /** The name of the sale's shop, and its logo. */
  readonly shop: string | null
  readonly logo?: Pick<Image, 'url' | 'widths'>
  readonly products: readonly ListedProduct[]
}

export interface ListedProduct {
  readonly product_id: string
  readonly name: string
  readonly names?: Texts
  /** The description as plain text, cut at MAX_DESCRIPTION characters. */
  readonly description?: Texts
  readonly tags?: readonly string[]
  readonly image?: Image
}

export const MAX_DESCRIPTION = 600
/** The maximum number of sales and products in a catalogue. If there are more, those that open last are listed. */
export const MAX_ENTRIES = 10_000

const word = filled(60)
/** Each list contains words with the same meaning: `[["home", "house"], ..]`. */
export const Synonyms = v.pipe(
  v.array(
    v.pipe(
      v.array(word, 'a list of words is required'),
      v.minLength(2, 'at least two words'),
      v.maxLength(20, 'at most 20 words'),
    ),
    'a list of lists of words is required',
  ),
  v.maxLength(500, 'at most 500 lists'),
)
export type Synonyms = v.InferOutput<typeof Synonyms>

/** The part of the front that changes with a publication. Its version is a hash of it. */
export interface Catalogue {
  readonly sales: readonly ListedSale[]
  readonly synonyms: Synonyms
}

const LISTED_PHASES = ['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended'] as const

/**
 * The response of `GET /internal/catalogue?has=VERSION`: the catalogue if the edge has another version, and the
 * current states of the sales in use.
 */
export const Listing = v.object({
  version: v.string(),
  catalogue: v.nullable(v.custom<Catalogue>((value) => typeof value === 'object' && value !== null)),
  states: v.record(
    SaleId,
    v.object({
      phase: v.picklist(LISTED_PHASES),
      left: v.number(),
      /** True if the sale's page takes addresses, for a mail about a restock. */
      tells_restock: v.optional(v.boolean(), false),
      /**
       * The people who wait in all lines of the sale, and the seconds until the last of them is called, as far as
       * known.
       */
      waiting: v.optional(v.number()),
      wait_seconds: v.optional(v.number()),
    }),
  ),
})
export type Listing = v.InferOutput<typeof Listing>

/** The text in `lang`, otherwise in the first language that exists. */
export const textIn = (texts: Texts | undefined, lang: keyof Texts): string | undefined =>
  texts?.[lang] ?? LANGUAGES.map((one) => texts?.[one]).find((text) => text !== undefined)

/** The body of `POST /me/searches`. */
export const SearchMade = v.object({
  q: filled(200),
})

/** A search without a hit is counted up to this length. */
export const MAX_MISS = 60
/** One call of an isolate tells at most so many. */
export const MAX_MISSES = 200

/** What visitors searched for and did not find, each by a caller's pseudonym. */
export const SearchMisses = v.object({
  misses: v.pipe(
    v.array(
      v.object({
        query: filled(MAX_MISS),
        caller: v.pipe(v.string(), v.regex(/^[0-9a-f]{16}$/)),
        count: v.pipe(v.number(), v.safeInteger(), v.minValue(1), v.maxValue(1_000_000)),
      }),
    ),
    v.maxLength(MAX_MISSES),
  ),
})
export type SearchMisses = v.InferOutput<typeof SearchMisses>
