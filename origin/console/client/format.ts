/**
 * Numbers, times and names as the console writes them: in English, in the reader's time zone, on a 24-hour clock. And
 * the texts of forms, as it reads them.
 * Formatters are made once, because making one takes a thousand times as long as using it.
 */

const LANGUAGE_NAMES = new Intl.DisplayNames('en', { type: 'language' })
const REGION_NAMES = new Intl.DisplayNames('en', { type: 'region', fallback: 'code' })
export const languageName = (language: string) => LANGUAGE_NAMES.of(language) ?? language
export const countryName = (country: string) => REGION_NAMES.of(country) ?? country

/** A time in ISO 8601, or in ms since the epoch. */
type Time = string | number

function times(options: Intl.DateTimeFormatOptions): (at: Time) => string {
  const format = new Intl.DateTimeFormat('en', { hourCycle: 'h23', ...options })
  return (at) => format.format(new Date(at))
}

export const instant = times({ dateStyle: 'medium', timeStyle: 'short' })
/** The instant with its seconds. */
export const moment = times({ dateStyle: 'medium', timeStyle: 'medium' })
/** The time of day with its seconds. */
export const time = times({ timeStyle: 'medium' })
/** The time of day in hours and minutes. */
export const minuteOf = times({ timeStyle: 'short' })
/** The day and the short name of its month. */
export const day = times({ day: 'numeric', month: 'short' })
export const dayOfYear = times({ day: 'numeric', month: 'short', year: 'numeric' })
/** A time of the reader's own day by the clock, and others by their day, with the year unless it is this one. */
export function shortly(at: Time, ofToday = time): string {
  const [date, now] = [new Date(at), new Date()]
  if (date.toDateString() === now.toDateString()) return ofToday(at)
  return (date.getFullYear() === now.getFullYear() ? day : dayOfYear)(at)
}

const NUMBERS = new Intl.NumberFormat('en')
const WHOLE = new Intl.NumberFormat('en', { maximumFractionDigits: 0 })
const TENTHS = new Intl.NumberFormat('en', { maximumFractionDigits: 1 })
export const count = (value: number) => NUMBERS.format(value)
/** The number, with a decimal if it is below ten. */
export const figure = (value: number) => (value < 10 ? TENTHS : WHOLE).format(value)
export const tenths = (value: number) => TENTHS.format(value)

/** The text of a form's field; empty if there is none. */
export const textIn = (form: FormData, name: string) => String(form.get(name) ?? '').trim()
