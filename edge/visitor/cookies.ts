/**
 * The Worker's cookies. All but two are HttpOnly, so page scripts cannot read them; SameSite=Lax, so that a visitor who
 * follows a link keeps their place; and over https they have the `__Host-` prefix, so that no neighbouring host can
 * set one.
 */
import { parse } from 'hono/utils/cookie'
import * as v from 'valibot'
import { OrderId } from '../../shared/api/fields.ts'
import type { Call } from '../http/call.ts'

const PREFIX = '__Host-'
/** Browsers store no cookie for longer. */
const MAX_AGE_SECONDS = 400 * 24 * 3600
const fullName = (name: string, secure: boolean) => (secure ? PREFIX + name : name)

function cookiesOf(call: Call): Readonly<Record<string, string>> {
  call.cookies ??= parse(call.request.headers.get('cookie') ?? '')
  return call.cookies
}

export const readCookie = (name: string, call: Call) => readShopCookie(fullName(name, call.secure), call)

/** Reads a cookie of the shop, under the shop's own name for it. */
export const readShopCookie = (name: string, call: Call): string | null => cookiesOf(call)[name] ?? null

/** The rest of the name of each cookie with this prefix, in the order in which the browser sends them. */
export function cookiesNamed(prefix: string, call: Call): string[] {
  const full = fullName(prefix, call.secure)
  return Object.keys(cookiesOf(call))
    .filter((name) => name.startsWith(full))
    .map((name) => name.slice(full.length))
}

/**
 * The value is written unchanged, so it must consist of a token's characters or be percent-encoded. If a name is set
 * twice, the last one counts.
 */
export function setCookie(
  name: string,
  value: string,
  maxAgeSeconds: number,
  call: Call,
  { isForScripts = false } = {},
): void {
  const { secure, setCookies } = call
  const full = fullName(name, secure)
  const maxAge = Math.max(0, Math.min(MAX_AGE_SECONDS, maxAgeSeconds))
  const before = setCookies.findIndex((cookie) => cookie.startsWith(`${full}=`))
  if (before !== -1) setCookies.splice(before, 1)
  // The header is written without a library, because a new visitor's join sets two cookies, and a library would check
  // each name and value again.
  const reach = `${isForScripts ? '' : 'HttpOnly; '}${secure ? 'Secure; ' : ''}SameSite=Lax`
  const attributes = `Max-Age=${Math.floor(maxAge)}; Path=/; ${reach}`
  setCookies.push(`${full}=${value}; ${attributes}`)
}

/** The cookie by which a page's script sees, right after a join, that the browser stores cookies. */
const JOINED_COOKIE = 'joined'
/** A slow machine reads it late. */
const JOINED_SECONDS = 3600

export const setJoinedCookie = (call: Call) =>
  setCookie(JOINED_COOKIE, '1', JOINED_SECONDS, call, { isForScripts: true })

export const deleteCookie = (name: string, call: Call) => setCookie(name, '', 0, call)

export const SECRET_COOKIE = 'visitor-secret'
/** It tells the script of a page that is the same for all whether to ask for what is the account's. */
export const SIGNED_IN_COOKIE = 'signed-in'
/** The session of an account that signed in by OpenID Connect, and a sign-in that is under way. */
export const ACCOUNT_COOKIE = 'shop-account'
export const SIGN_IN_COOKIE = 'sign-in'
/** The cookie with the language that a visitor chose. */
export const LANGUAGE_COOKIE = 'page-language'
const OF_ALL_SALES = [SECRET_COOKIE, SIGNED_IN_COOKIE, ACCOUNT_COOKIE, SIGN_IN_COOKIE, LANGUAGE_COOKIE, JOINED_COOKIE]
const OURS = new RegExp(`^${PREFIX}((${OF_ALL_SALES.join('|')})$|queue-|admission-|return-|order-)`)

/**
 * Removes our cookies from the header for another server, which may have cookies with similar names. Over https ours
 * have the prefix; without https they are recognised by the sale.
 */
export function withoutOurs(header: string, sale: string, secure: boolean): string {
  const ofSale = [`queue-${sale}`, `admission-${sale}`, `return-${sale}`]
  const ours = new Set([...OF_ALL_SALES, ...ofSale])
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
