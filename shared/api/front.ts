/** The shop front: the sales that it lists, what is searched, and what the shop says means the same. */
import * as v from 'valibot'
import { LANGUAGES, SaleId, type Texts } from './fields.ts'
import type { Image } from './goods.ts'

/** A sale that anyone may find: neither a test nor one that search engines may not show. */
export interface ListedSale {
  readonly sale: string
  readonly name: string
  readonly names?: Texts
  readonly opens_at: string
  readonly pre_queue_opens_at: string
  /** When it ends or has ended; null: once all is sold. */
  readonly ends_at: string | null
  readonly image: Image | null
  /** The lowest price of what it sells; null where it sells nothing yet. */
  readonly price_from_minor: number | null
  readonly currency: string | null
  /** Not all of it costs the same. */
  readonly prices_differ: boolean
  readonly venue: string | null
  readonly shop: string | null
  readonly products: readonly ListedProduct[]
}

export interface ListedProduct {
  readonly product_id: string
  readonly name: string
  readonly names?: Texts
  /** Plain text, cut at MAX_DESCRIPTION characters. */
  readonly description?: Texts
  readonly tags?: readonly string[]
  readonly image?: Image
}

export const MAX_DESCRIPTION = 600
/** Sales and products in a catalogue; of more, those that open last count. */
export const MAX_ENTRIES = 10_000

const word = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(60, 'at most 60 characters'),
  v.check((text) => text.isWellFormed() && !/\p{Cc}/u.test(text), 'no control characters'),
)
/** Each list is of words that mean the same: `[["home", "house"], ..]`. */
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

/** All that changes with a publication; its version is a hash of it. */
export interface Catalogue {
  readonly sales: readonly ListedSale[]
  readonly synonyms: Synonyms
}

export const LISTED_PHASES = ['upcoming', 'open', 'paused', 'all_in_carts', 'sold_out', 'ended'] as const

/** `GET /internal/catalogue?has=VERSION`: the catalogue where the edge has another version, and how the sales in use are now. */
export const Listing = v.object({
  version: v.string(),
  catalogue: v.nullable(v.custom<Catalogue>((value) => typeof value === 'object' && value !== null)),
  states: v.record(
    SaleId,
    v.object({
      phase: v.picklist(LISTED_PHASES),
      left: v.number(),
      /** Its page takes addresses, for a mail about a restock. */
      tells_restock: v.optional(v.boolean(), false),
    }),
  ),
})
export type Listing = v.InferOutput<typeof Listing>

/** In `lang`, else in the first language that has it. */
export const textIn = (texts: Texts | undefined, lang: keyof Texts): string | undefined =>
  texts?.[lang] ?? LANGUAGES.map((one) => texts?.[one]).find((text) => text !== undefined)

/** `POST /me/searches` */
export const SearchMade = v.object({
  q: v.pipe(
    v.string('text is required'),
    v.check((text) => text.isWellFormed() && !text.includes('\0'), 'must be well-formed Unicode'),
    v.trim(),
    v.minLength(1, 'must not be empty'),
    v.maxLength(200, 'at most 200 characters'),
  ),
})
