/**
 * Cookies, as this Worker uses them: all HttpOnly, out of reach of page script; SameSite=Lax, so that who arrives by a
 * link keeps their place; over https, and so in production always, with the `__Host-` prefix, so that no neighbouring host can plant one.
 */
import * as v from 'valibot'
import { OrderId } from '../../shared/api/public.ts'

/** The name under which a cookie travels. */
const nameOf = (name: string, secure: boolean) => (secure ? `__Host-${name}` : name)

/** The value of a request's cookie, if it has one. */
export function readCookie(request: Request, name: string, secure: boolean): string | null {
  const header = request.headers.get('cookie')
  return header === null ? null : valueIn(header, nameOf(name, secure))
}

/** A cookie of the shop's own, under its own name. */
export function readForeignCookie(request: Request, name: string): string | null {
  const header = request.headers.get('cookie')
  return header === null ? null : valueIn(header, name)
}

/** The names, without prefix, of all cookies that begin so. */
export function cookieNames(request: Request, prefix: string, secure: boolean): string[] {
  const header = request.headers.get('cookie') ?? ''
  const full = nameOf(prefix, secure)
  return header
    .split(';')
    .map((pair) => pair.trimStart().split('=', 1)[0] ?? '')
    .filter((name) => name.startsWith(full))
    .map((name) => prefix + name.slice(full.length))
}

/** A `Set-Cookie` value. */
export function cookie(name: string, value: string, secure: boolean, maxAgeSeconds: number): string {
  const common = `; Path=/; Max-Age=${Math.max(0, Math.floor(maxAgeSeconds))}; HttpOnly; SameSite=Lax`
  return `${nameOf(name, secure)}=${value}${common}${secure ? '; Secure' : ''}`
}

/** A `Set-Cookie` value that makes a browser forget a cookie. */
export const noCookie = (name: string, secure: boolean) => cookie(name, '', secure, 0)

/** Not `visitor`, whose value was the name itself once, and so is known to whoever was told of it. */
export const SECRET_COOKIE = 'visitor-secret'
const OURS = new RegExp(`^(${SECRET_COOKIE}$|queue-|admission-|return-|order-)`)

/**
 * The header without our own cookies: what may be shown to somebody else's server, which may have cookies with names
 * like ours. Over https ours have their prefix; without it they are told by the sale they are for.
 */
export function foreignCookies(header: string, sale: string, secure: boolean): string {
  const ours = new Set([SECRET_COOKIE, `queue-${sale}`, `admission-${sale}`, `return-${sale}`])
  const isOurs = (name: string) =>
    secure
      ? name.startsWith('__Host-') && OURS.test(name.slice('__Host-'.length))
      : ours.has(name) || (name.startsWith('order-') && v.is(OrderId, name.slice('order-'.length)))
  return header
    .split(';')
    .map((pair) => pair.trim())
    .filter((pair) => pair !== '' && !isOurs(pair.split('=', 1)[0] ?? ''))
    .join('; ')
}

function valueIn(header: string, name: string): string | null {
  const wanted = `${name}=`
  for (let from = header.indexOf(wanted); from !== -1; from = header.indexOf(wanted, from + 1)) {
    // Nothing but spaces before it in its pair: within another's value a neighbouring host can write any name.
    let before = from
    while (header[before - 1] === ' ') before--
    if (before > 0 && header[before - 1] !== ';') continue
    const end = header.indexOf(';', from)
    return header.slice(from + wanted.length, end === -1 ? undefined : end)
  }
  return null
}
