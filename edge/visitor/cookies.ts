/**
 * Cookies as this Worker uses them: HttpOnly, out of reach of page script; SameSite=Lax, so that a visitor who arrives by a link
 * keeps their place; over https with the `__Host-` prefix, so that no neighbouring host can plant one.
 */
import { parse } from 'hono/utils/cookie'
import * as v from 'valibot'
import { OrderId } from '../../shared/api/fields.ts'
import type { Call } from '../call.ts'

const PREFIX = '__Host-'
/** Browsers keep no cookie for longer. */
const MAX_AGE_SECONDS = 400 * 24 * 3600
const fullName = (name: string, secure: boolean) => (secure ? PREFIX + name : name)

function cookiesOf(call: Call): Readonly<Record<string, string>> {
  call.cookies ??= parse(call.request.headers.get('cookie') ?? '')
  return call.cookies
}

export const readCookie = (name: string, call: Call) => readShopCookie(fullName(name, call.secure), call)

/** A cookie of the shop's own, under its own name. */
export const readShopCookie = (name: string, call: Call): string | null => cookiesOf(call)[name] ?? null

/** What follows this prefix in the names of our cookies, in the order in which the browser sends them. */
export function cookiesNamed(prefix: string, call: Call): string[] {
  const full = fullName(prefix, call.secure)
  return Object.keys(cookiesOf(call))
    .filter((name) => name.startsWith(full))
    .map((name) => name.slice(full.length))
}

/** The value is written as it is, in the characters of a token or percent-encoded. The last one set under a name counts. */
export function setCookie(name: string, value: string, maxAgeSeconds: number, call: Call): void {
  const { secure, setCookies } = call
  const full = fullName(name, secure)
  const maxAge = Math.max(0, Math.min(MAX_AGE_SECONDS, maxAgeSeconds))
  const before = setCookies.findIndex((cookie) => cookie.startsWith(`${full}=`))
  if (before !== -1) setCookies.splice(before, 1)
  // By hand: a newcomer's join sets two, and a library checks each name and value again.
  const attributes = `Max-Age=${Math.floor(maxAge)}; Path=/; HttpOnly; ${secure ? 'Secure; ' : ''}SameSite=Lax`
  setCookies.push(`${full}=${value}; ${attributes}`)
}

export const deleteCookie = (name: string, call: Call) => setCookie(name, '', 0, call)

export const SECRET_COOKIE = 'visitor-secret'
/** The language that a visitor chose. */
export const LANGUAGE_COOKIE = 'page-language'
const OURS = new RegExp(`^${PREFIX}(${SECRET_COOKIE}$|${LANGUAGE_COOKIE}$|queue-|admission-|return-|order-)`)

/**
 * The header without our cookies, for somebody else's server, which may have cookies with names like ours. Over https ours
 * have the prefix; without it they are recognized by the sale.
 */
export function withoutOurs(header: string, sale: string, secure: boolean): string {
  const ours = new Set([SECRET_COOKIE, LANGUAGE_COOKIE, `queue-${sale}`, `admission-${sale}`, `return-${sale}`])
  const isOurs = (name: string) =>
    secure
      ? OURS.test(name)
      : ours.has(name) || (name.startsWith('order-') && v.is(OrderId, name.slice('order-'.length)))
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !isOurs(pair.split('=', 1)[0] ?? ''))
    .join('; ')
}
