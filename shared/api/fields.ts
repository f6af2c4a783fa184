/** Schemas of single fields that several bodies share: ids, the shop's words, numbers and times. */
import * as v from 'valibot'
import { storedText, textFault } from '../lib/text.ts'

// -- Ids ------------------------------------------------------------------------------------------------------------

export const ID = /^[A-Za-z0-9][A-Za-z0-9_-]{0,63}$/
export const ID_FORM = '1 to 64 letters, digits, "-" or "_", beginning with a letter or digit'

export const SaleId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const ProductId = v.pipe(v.string('text is required'), v.regex(ID, ID_FORM))
export const OrderId = v.pipe(v.string(), v.uuid(), v.toLowerCase())

/** Printable ASCII of 1 to 255 characters, as draft-ietf-httpapi-idempotency-key-header requires. */
export const IdempotencyKey = v.pipe(v.string(), v.regex(/^[\x21-\x7e]{1,255}$/))

// -- Words of the shop ----------------------------------------------------------------------------------------------

/** The languages of the pages. A text that is missing in the visitor's language is shown in the first one. */
export const LANGUAGES = ['en', 'de', 'fr', 'es', 'ja', 'ar'] as const
export type Language = (typeof LANGUAGES)[number]

/** Text that may have several lines. */
export const LINES = { hasLines: true }

/** Text that people write, of at most `max` characters, which may be empty. */
export const written = (max: number, form = { hasLines: false }) =>
  v.pipe(
    v.string('text is required'),
    v.transform(storedText),
    v.maxLength(max, `at most ${max} characters`),
    v.check(
      (text) => textFault(text, form) === undefined,
      ({ input }) => textFault(input, form) ?? '',
    ),
  )

/** The same, but not empty. */
export const filled = (max: number, form = { hasLines: false }) =>
  v.pipe(written(max, form), v.minLength(1, 'must not be empty'))

/** A text by language, with at least one language. */
export const Texts = v.pipe(
  v.record(v.picklist(LANGUAGES, `one of ${LANGUAGES.join(', ')} is required`), filled(500, LINES)),
  v.check((texts) => Object.keys(texts).length > 0, 'a text in one language is required'),
)
export type Texts = Readonly<Partial<Record<Language, string>>>

/**
 * An address with its domain as servers know it (`max@müller.de` is `max@xn--mller-kva.de`, RFC 5891), as browsers
 * send it too. What is no address stays as it is.
 */
export function withAsciiDomain(email: string): string {
  const at = email.lastIndexOf('@') + 1
  const domain = email.slice(at)
  if (!/^[\p{L}\p{N}\p{M}.-]+$/u.test(domain) || !/[^\0-\x7f]/.test(domain)) return email
  const url = URL.parse(`http://${domain}`)
  return url ? email.slice(0, at) + url.hostname : email
}

export const Email = v.pipe(
  v.string('text is required'),
  v.trim(),
  v.transform(withAsciiDomain),
  v.maxLength(254, 'at most 254 characters'),
  // The rule is the browsers' own, so that a page accepts what its form accepts, but for dots that no server takes
  // (RFC 5321, 4.1.2), and with a domain that is reachable by others.
  v.rfcEmail('an e-mail address is required'),
  v.check((email) => !/^\.|\.\.|\.@/.test(email), 'an e-mail address is required'),
  v.regex(/\.[A-Za-z][A-Za-z0-9-]{0,62}$/, 'an e-mail address is required'),
)

// -- Numbers, times and names ---------------------------------------------------------------------------------------

export const whole = (min: number, max: number) =>
  v.pipe(
    v.number('a number is required'),
    v.integer('a whole number is required'),
    v.minValue(min, `at least ${min}`),
    v.maxValue(max, `at most ${max}`),
  )

/** The parameter `?limit=`: the number of rows of a page, from 1 to `max`. */
export const pageLimit = (max: number) =>
  v.pipe(
    v.string(),
    v.regex(/^\d{1,4}$/, 'a whole number is required'),
    v.transform(Number),
    v.minValue(1, 'at least 1'),
    v.maxValue(max, `at most ${max}`),
  )

/**
 * The range starts at the epoch, which some clients send for "long ago", and ends after any sale. Postgres cannot
 * store every time that parses.
 */
const [FIRST_YEAR, LAST_YEAR] = [1970, 2100] as const

/** An instant with the offset with which it was written. */
export const writtenInstant = v.pipe(
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
)

/** An instant in UTC, however it was written. */
export const instant = v.pipe(
  writtenInstant,
  v.transform((text) => new Date(text).toISOString()),
)

/** `Date` parses the 30th of February as a day in March. */
const isDay = (day: string) => new Date(day).toISOString().startsWith(day)

export const name = filled(200)

/** The name of a time zone in the IANA database, such as `Asia/Tokyo`. */
export const TimeZone = v.pipe(
  v.string('the name of a time zone is required'),
  v.regex(/^(UTC|[A-Z]\w*(\/[A-Z][\w-]*){1,2})$/, 'a time zone such as Asia/Tokyo is required'),
  v.check(isTimeZone, 'no such time zone'),
)

function isTimeZone(name: string): boolean {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }) !== null
  } catch {
    return false
  }
}

/** A note for people, which is optional. */
export const note = v.optional(written(500, LINES), '')

/**
 * An object without unknown fields. A misspelt field is an error, because a default would otherwise replace it
 * unnoticed. An operator may send back what a GET returned, with a change in it: `readOnly` names the fields that
 * only a GET has, which are ignored.
 */
export function exactly<const T extends v.ObjectEntries>(entries: T, readOnly: readonly string[] = []) {
  const ignored = Object.fromEntries(readOnly.map((name) => [name, v.optional(v.unknown())]))
  const known: T = { ...ignored, ...entries }
  return v.strictObject(known, ({ expected, input }) => {
    if (expected === 'never') return 'there is no such field'
    return input === undefined ? 'is required' : 'an object is required'
  })
}

/** Every runtime that this runs in has it. */
declare const URL: { parse(url: string): { readonly hostname: string } | null }
