/** The forms of settings: how a text is read, and what is said of a wrong one. */
import * as v from 'valibot'

/** What may follow "Bearer" (RFC 6750). With a line break from a file, for example, no header could match. */
export const BEARER = /^[A-Za-z0-9._~+/-]+=*$/
export const NO_BEARER = 'may hold letters, digits and -._~+/= only: it travels in a header'

export const number = (form: RegExp, message: string) => v.pipe(v.string(), v.regex(form, message), v.transform(Number))
export const port = v.pipe(
  number(/^\d{1,5}$/, 'a port number is required'),
  v.maxValue(65_535, 'a port number is required'),
)
export const milliseconds = number(/^\d{2,7}$/, 'milliseconds are required, 10 or more')
export const callsPerSecond = v.pipe(
  number(/^\d{1,5}$/, 'calls a second are required'),
  v.minValue(1, '1 or more is required'),
)
export const days = v.pipe(number(/^\d{1,5}$/, 'days are required'), v.minValue(1, '1 or more is required'))
export const url = (protocol: RegExp, what: string) =>
  v.pipe(
    v.string(),
    v.check((text) => URL.canParse(text) && protocol.test(text), `${what} is required`),
  )
export const httpUrl = url(/^https?:/, 'an http(s) URL')
/** An http(s) URL to which a path is appended. */
export const httpBase = v.pipe(
  httpUrl,
  v.transform((text) => text.replace(/\/+$/, '')),
)
export const oneOf = <const T extends string>(...values: T[]) =>
  v.picklist(values, `${values.slice(0, -1).join(', ')} or ${values.at(-1)} is required`)
export const bearer = v.pipe(v.string(), v.regex(BEARER, NO_BEARER))
export const mailAddresses = v.pipe(
  v.string(),
  v.transform((text) => text.split(/[\s,]+/).filter((one) => one !== '')),
  v.minLength(1, 'an address is required'),
  v.maxLength(20, 'at most 20 addresses'),
  v.everyItem((one) => /^[^\s<>@]+@[^\s<>@]+$/.test(one), 'addresses with a space between them are required'),
)
