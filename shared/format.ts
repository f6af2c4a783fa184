/**
 * Numbers, durations and money in a visitor's language, the same on the server and in the browser, and the numbers of
 * orders. `lang` is a BCP 47 tag.
 */
import type { EventTime } from './api/goods.ts'

/**
 * The preferred one of several languages (Accept-Language, RFC 9110, 12.5.4); the first of equally preferred ones.
 */
export function preferredLanguage<L extends string>(languages: readonly L[], accepted: string): L | undefined {
  let best: { language: L | undefined; weight: number } = { language: undefined, weight: 0 }
  for (const item of accepted.slice(0, 200).split(',')) {
    const [name = '', q] = item.replace(/\s/g, '').toLowerCase().split(';q=')
    const language = languages.find((one) => one === name.split('-', 1)[0])
    const weight = q === undefined ? 1 : Number(q)
    if (language && weight > best.weight) best = { language, weight }
  }
  return best.language
}

/** Replaces each `{name}` in a text; a name without a value stays unchanged. */
export function fill(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(/{(\w{1,30})}/g, (whole, name: string) => values[name] ?? whole)
}

/** The maximum number of cached formatters, since languages, units and currencies are few. */
const MAX_FORMATTERS = 200
const formatters = new Map<string, unknown>()

/** Formatters are cached, because making one takes a thousand times as long as using it. */
function formatter<T, O>(Kind: new (lang: string, options: O) => T, lang: string, options: O): T {
  const key = `${Kind.name} ${lang} ${JSON.stringify(options)}`
  const known = formatters.get(key)
  if (known) return known as T
  if (formatters.size >= MAX_FORMATTERS) formatters.clear()
  const made = new Kind(lang, options)
  formatters.set(key, made)
  return made
}

function numbers(lang: string, options: Intl.NumberFormatOptions = {}): Intl.NumberFormat {
  return formatter<Intl.NumberFormat, Intl.NumberFormatOptions>(Intl.NumberFormat, lang, options)
}

const unit = (lang: string, value: number, name: 'second' | 'minute' | 'hour' | 'day') =>
  numbers(lang, { style: 'unit', unit: name, unitDisplay: 'long' }).format(value)

/** A text for each plural form of a language that differs from `other` (Unicode CLDR plural rules). */
export type Plural = { readonly other: string } & Partial<
  Readonly<Record<'zero' | 'one' | 'two' | 'few' | 'many', string>>
>

export function plural(lang: string, value: number, forms: Plural): string {
  return forms[formatter(Intl.PluralRules, lang, {}).select(value)] ?? forms.other
}

export function count(lang: string, value: number): string {
  return numbers(lang).format(value)
}

/**
 * Currencies whose minor unit is not a hundredth: those without one, and those with a thousandth (ISO 4217, list
 * one). Intl uses CLDR's digits, which show no fillér for a forint: a price of 12900 would be a hundred times too
 * high.
 */
const WITHOUT_MINOR = /^(BIF|CLP|DJF|GNF|ISK|JPY|KMF|KRW|PYG|RWF|UGX|VND|VUV|XAF|XOF|XPF)$/
const IN_THOUSANDTHS = /^(BHD|IQD|JOD|KWD|LYD|OMR|TND)$/

const digitsOf = (currency: string) => (WITHOUT_MINOR.test(currency) ? 0 : IN_THOUSANDTHS.test(currency) ? 3 : 2)

/** Formats an amount for programs: "39.00". */
export function decimal(minor: number, currency: string): string {
  const digits = digitsOf(currency)
  return (minor / 10 ** digits).toFixed(digits)
}

/** Parses an amount as a person writes it: "39", "39.5" or "39,50". Null if it is not an amount of this currency. */
export function minorOf(text: string, currency: string): number | null {
  const [, whole = '', part = ''] = /^\s*(\d{1,12})(?:[.,](\d*))?\s*$/.exec(text) ?? []
  const digits = digitsOf(currency)
  if (whole === '' || part.length > digits) return null
  return Number(whole + part.padEnd(digits, '0'))
}

export function money(lang: string, minor: number, currency: string): string {
  const digits = digitsOf(currency)
  const options = { style: 'currency', currency, minimumFractionDigits: digits, maximumFractionDigits: digits } as const
  return numbers(lang, options).format(minor / 10 ** digits)
}

/** Formats for example 8.1 as "8.1%". */
export const percentage = (lang: string, percent: number) =>
  numbers(lang, { style: 'percent', maximumFractionDigits: 3 }).format(percent / 100)

/** Formats a wait approximately: "3 minutes", "40 seconds", "2 hours". */
export function roughly(lang: string, seconds: number): string {
  if (seconds < 55) return unit(lang, Math.max(5, Math.ceil(seconds / 5) * 5), 'second')
  if (seconds < 5_400) return unit(lang, Math.round(seconds / 60), 'minute')
  return unit(lang, Math.round(seconds / 1_800) / 2, 'hour')
}

/** Formats a duration exactly: "90 seconds", "5 minutes", "7:30". */
export function exactly(lang: string, seconds: number): string {
  const whole = seconds % 60 === 0 && seconds >= 120
  if (!whole && seconds > 180) return clock(lang, seconds)
  return whole ? unit(lang, seconds / 60, 'minute') : unit(lang, seconds, 'second')
}

/** Formats a countdown: 1:04:09, 4:09, 0:09, with days in front if there are any. */
export function clock(lang: string, seconds: number): string {
  const left = Math.max(0, Math.ceil(seconds))
  const two = (value: number) => String(value).padStart(2, '0')
  const [days, hours, minutes] = [Math.floor(left / 86_400), Math.floor(left / 3_600) % 24, Math.floor(left / 60) % 60]
  const inDays = days > 0 ? `${unit(lang, days, 'day')} ` : ''
  return `${inDays}${hours > 0 || days > 0 ? `${hours}:${two(minutes)}` : minutes}:${two(left % 60)}`
}

const dates = (lang: string, options: Intl.DateTimeFormatOptions) =>
  formatter<Intl.DateTimeFormat, Intl.DateTimeFormatOptions>(Intl.DateTimeFormat, lang, options)

const TIME = { hour: 'numeric', minute: 'numeric', timeZoneName: 'short' } as const

/**
 * Formats a date and time (`atMs` since the epoch) in the reader's time zone unless one is given, with the name of
 * the zone.
 */
export const moment = (lang: string, atMs: number, timeZone?: string): string =>
  dates(lang, { year: 'numeric', month: 'short', day: 'numeric', timeZone, ...TIME }).format(atMs)

/** Formats a time in the reader's time zone: "today, 12:00 GMT+1" if it is the day of `nowMs`, else with its date. */
export function momentSeen(lang: string, atMs: number, nowMs: number): string {
  if (!isSameDay(atMs, nowMs)) return moment(lang, atMs)
  const today = new Intl.RelativeTimeFormat(lang, { numeric: 'auto' }).format(0, 'day')
  return today + comma(lang) + dates(lang, TIME).format(atMs)
}

/** The text with a capital as its first letter. */
export const capital = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1)

/** True if two times are on one day in the reader's time zone. */
export const isSameDay = (aMs: number, bMs: number) => new Date(aMs).toDateString() === new Date(bMs).toDateString()

/** Formats the times of an event as people at the venue say them, with the place of their clock: "19:00, Tokyo". */
export function eventTimes(lang: string, event: EventTime): string {
  const { time_zone: timeZone, starts_at, ends_at } = event
  const [format, startsMs] = [
    dates(lang, { year: 'numeric', day: 'numeric', hour: 'numeric', minute: 'numeric', month: 'short', timeZone }),
    Date.parse(starts_at),
  ]
  const times = ends_at === null ? format.format(startsMs) : format.formatRange(startsMs, Date.parse(ends_at))
  return times + comma(lang) + timeZone.replace(/^.*\//, '').replaceAll('_', ' ')
}

/** Within six days of now, a weekday identifies the day. */
const WEEKDAYS_MS = 518_400_000
const isNear = (atMs: number, nowMs: number) => Math.abs(atMs - nowMs) < WEEKDAYS_MS

/** Formats a time briefly: "Sat, 12:00 UTC" if it is near, else "December 3". */
export function shortly(lang: string, atMs: number, nowMs: number, timeZone?: string): string {
  const near = { weekday: 'short', hour: 'numeric', minute: '2-digit', timeZone, timeZoneName: 'short' } as const
  const far = { day: 'numeric', month: 'long', timeZone } as const
  return dates(lang, isNear(atMs, nowMs) ? near : far).format(atMs)
}

/** Describes an estimated wait in a sentence; null means unknown. */
export function waitText(
  words: { readonly waitAbout: string; readonly waitSoon: string; readonly waitUnknown: string },
  lang: string,
  seconds: number | null,
): string {
  if (seconds === null) return words.waitUnknown
  return seconds < 5 ? words.waitSoon : fill(words.waitAbout, { t: roughly(lang, seconds) })
}

/**
 * An order's number for people: `K7Q-4MX`. The ledger gives each order a number that says nothing of how many came
 * before (`next-order-number.sql`); it is written in letters and digits that are not mistaken for each other.
 */
const SYMBOLS = '23456789ABCDEFGHJKLMNPQRSTUVWXYZ'
/**
 * Smaller numbers have six symbols and others eight. The ledger gives larger numbers from the billionth order on. The
 * number is 32 ** 6, written out so that scripts of pages are built without it.
 */
const SHORTER = 1_073_741_824

export function shortNumber(number: number): string {
  const symbols = number < SHORTER ? 6 : 8
  let text = ''
  for (let rest = number; text.length < symbols; rest = Math.floor(rest / 32)) text = SYMBOLS[rest % 32] + text
  return `${text.slice(0, symbols / 2)}-${text.slice(symbols / 2)}`
}

/** Returns the order's number; null if the text is not one. Case, spaces and the dash do not matter. */
export function numberOf(text: string): number | null {
  const symbols = text.toUpperCase().replaceAll(/[\s-]/g, '')
  if (!/^(.{6}|.{8})$/.test(symbols) || [...symbols].some((symbol) => !SYMBOLS.includes(symbol))) return null
  const number = [...symbols].reduce((sum, symbol) => sum * 32 + SYMBOLS.indexOf(symbol), 0)
  return symbols.length === 8 && number < SHORTER ? null : number
}

/** Names one after the other, with the comma of the language's script. */
export const listed = (lang: string, names: readonly string[]) => names.join(comma(lang))
export const comma = (lang: string) => COMMAS[lang] ?? ', '
const COMMAS: Readonly<Record<string, string>> = { ar: '، ', ja: '、' }
