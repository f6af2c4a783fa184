/** The forms of settings: how a text is read, and what is said of a wrong one. */
import * as v from 'valibot'
import { Texts } from '../../shared/api/fields.ts'
import { HEX_COLOUR } from '../pages/brand.ts'
import { withOwnWords } from '../pages/words/own-words.ts'

export const url = v.pipe(
  v.string(),
  v.check((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'must be an http(s) URL'),
  v.transform((text) => text.replace(/\/+$/, '')),
)

export const host = v.pipe(
  url,
  v.check((text) => new URL(text).origin === text, 'must be a scheme and a host alone'),
)

/** Separated by spaces. */
export const origins = v.pipe(
  v.string(),
  v.transform((text) => text.split(/\s+/).filter((origin) => origin !== '')),
  v.array(
    v.pipe(
      host,
      v.check((text) => !text.includes('*'), 'must name each origin'),
    ),
  ),
)

export function number(min: number, max: number) {
  const between = `must be between ${min} and ${max}`
  return v.pipe(v.string(), v.transform(Number), v.number(between), v.minValue(min, between), v.maxValue(max, between))
}
export const whole = (min: number, max: number) => v.pipe(number(min, max), v.integer('must be a whole number'))

/** A limit of `calls` in `seconds`. */
export interface Rate {
  readonly calls: number
  readonly seconds: number
}
export const rate = v.pipe(
  v.string(),
  v.regex(/^(off|\d+(\.\d+)?\/\d+(\.\d+)?)$/, 'must be "off" or calls/seconds, such as 60/60'),
  v.transform((text): Rate | null => {
    const [calls = 0, seconds = 0] = text.split('/').map(Number)
    return text === 'off' ? null : { calls, seconds }
  }),
  v.check((most) => !most || (most.calls > 0 && most.seconds > 0), 'must be above 0/0'),
)

export const units = v.pipe(
  v.string(),
  v.regex(/^(off|[1-9]\d{0,5})$/, 'must be "off" or a number of units, 1 or more'),
  v.transform((text) => (text === 'off' ? null : Number(text))),
)

export const multiples = v.pipe(
  v.string(),
  v.regex(/^\d+(\.\d+)?\/\d+(\.\d+)?$/, 'must be two numbers, such as 8/64'),
  v.transform((text) => text.split('/').map(Number)),
  v.check(
    ([near = 0, wide = 0]) => near >= 1 && wide >= near,
    'must be at least 1, and the second no less than the first',
  ),
)

export const colour = v.pipe(v.string(), v.regex(HEX_COLOUR, 'must be a colour such as #0b6450'))

const SHOWN_WRONG = 5
export const words = v.pipe(
  v.string(),
  v.parseJson(undefined, 'must be JSON'),
  v.rawTransform(({ dataset: { value }, addIssue, NEVER }) => {
    const { words, wrong } = withOwnWords(value)
    if (wrong.length === 0) return words
    addIssue({
      message: `must have texts of the pages alone, which these are not: ${wrong.slice(0, SHOWN_WRONG).join(', ')}`,
    })
    return NEVER
  }),
)

const MAX_LEGAL_LINKS = 8
export const legalLinks = v.pipe(
  v.string(),
  v.parseJson(undefined, 'must be JSON'),
  v.pipe(
    v.array(
      v.object({
        name: Texts,
        url: v.pipe(v.string(), v.regex(/^(https:\/\/|\/(?!\/))/, 'must be an https URL or a path of this host')),
      }),
      'must be a list',
    ),
    v.maxLength(MAX_LEGAL_LINKS, `must have at most ${MAX_LEGAL_LINKS} links`),
  ),
)
