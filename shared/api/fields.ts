/** Forms of single fields that several bodies share: ids, the shop's words, numbers and times. */
import * as v from 'valibot'

// -- Ids -------------------------------------------------------------------------------------------------------------

export const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
export const ID_FORM = '1 to 64 letters, digits, "-" or "_", beginning with a letter or digit'

export const SaleId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const ProductId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const OrderId = v.pipe(v.string(), v.uuid(), v.toLowerCase())

/** Printable ASCII, as draft-ietf-httpapi-idempotency-key-header asks; 1 to 255 characters. */
export const IdempotencyKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/))

// -- Words of the shop -----------------------------------------------------------------------------------------------

/** The languages of the pages. The first is shown where nothing is said in the visitor's own. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

/** A text by language; at least one. */
export const Texts = v.pipe(
  v.record(
    v.picklist(LANGUAGES, `one of ${LANGUAGES.join(', ')} is required`),
    v.pipe(
      v.string('text is required'),
      v.trim(),
      v.minLength(1, 'must not be empty'),
      v.maxLength(500, 'at most 500 characters'),
    ),
  ),
  v.check((texts) => Object.keys(texts).length > 0, 'a text in one language is required'),
)
export type Texts = Readonly<Partial<Record<Language, string>>>

export const Email = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.maxLength(254, 'at most 254 characters'),
  // As browsers check it, so that a page takes what its form takes; but of a domain that others can reach.
  v.rfcEmail('an e-mail address is required'),
  v.regex(/\.[a-z][a-z0-9-]{0,62}$/i, 'an e-mail address is required'),
)

// -- Numbers, times and names -----------------------------------------------------------------------------------------

export const whole = (min: number, max: number) =>
  v.pipe(
    v.number('a number is required'),
    v.integer('a whole number is required'),
    v.minValue(min, `at least ${min}`),
    v.maxValue(max, `at most ${max}`),
  )

/** `?limit=`: how many rows a page has, from 1 to `max`. */
export const pageLimit = (max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,4}$/, 'a whole number is required'),
    v.transform(Number),
    v.minValue(1, 'at least 1'),
    v.maxValue(max, `at most ${max}`),
  )

/** From the epoch, which some send for "long ago", to beyond any sale: Postgres cannot store every time that parses. */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2100] as const

export const instant = v.pipe(
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

export const name = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.minLength(1, 'must not be empty'),
  v.maxLength(200, 'at most 200 characters'),
  v.check((text) => !/\p{Cc}/u.test(text), 'no control characters'),
  v.check((text) => text.isWellFormed(), 'must be well-formed Unicode'),
)

/** For people; may be left out. */
export const note = v.optional(v.pipe(v.string('text is required'), v.maxLength(500, 'at most 500 characters')), '')

/**
 * An object without unknown fields: a misspelt field is an error, since a default would silently take its place. An
 * operator may send back what a GET returned, with a change in it: `readOnly` names the fields that a GET adds, which
 * are ignored.
 */
export function exactly<const T extends v.ObjectEntries>(entries: T, readOnly: readonly string[] = []) {
  const ignored = Object.fromEntries(readOnly.map((name) => [name, v.optional(v.unknown())]))
  const known: T = { ...ignored, ...entries }
  return v.strictObject(known, ({ expected, input }) => {
    if (expected === 'never') return 'there is no such field'
    return input === undefined ? 'is required' : 'an object is required'
  })
}
