/**
 * The session of an account that signed in by OpenID Connect (edge/sign-in): a short signed cookie with the account's
 * subject and its end. Nothing of it is stored.
 */
import { ACCOUNT, readToken, signToken, type Verified } from '../../shared/tokens.ts'
import { type Call, hostOf } from '../http/call.ts'
import { ACCOUNT_COOKIE, deleteCookie, readCookie, SIGNED_IN_COOKIE, setCookie } from './cookies.ts'

/**
 * The session outlasts most lines. A sign-out at the issuer is not told to the edge, so it counts here after this time
 * at the latest.
 */
export const ACCOUNT_SESSION_SECONDS = 4 * 3600

/** The paths at which visitors sign in, come back from the issuer, and sign out. */
const SIGN_IN_PATH = '/me/sign-in'
export const SIGNED_IN_PATH = '/me/signed-in'
export const SIGN_OUT_PATH = '/me/sign-out'

/** The address at which a visitor signs in, to come back to a path of this host. */
export const beginAt = (back: string, call: Call) => `${hostOf(call)}${SIGN_IN_PATH}?return=${encodeURIComponent(back)}`

/** The session in the cookie; null without one, or without an issuer to sign in at. */
export async function accountSession(call: Call): Promise<Verified<{ sub: string }> | null> {
  const token = call.config.oidc && readCookie(ACCOUNT_COOKIE, call)
  return token ? readToken(ACCOUNT, call.config.keys.queue, token, call.nowMs) : null
}

export async function beginAccountSession(sub: string, call: Call): Promise<void> {
  const iat = Math.floor(call.nowMs / 1000)
  const exp = iat + ACCOUNT_SESSION_SECONDS
  setCookie(ACCOUNT_COOKIE, await signToken(ACCOUNT, call.config.keys.queue, { sub, iat, exp }), exp - iat, call)
  setCookie(SIGNED_IN_COOKIE, '1', exp - iat, call, { isForScripts: true })
}

export function endAccountSession(call: Call): void {
  deleteCookie(ACCOUNT_COOKIE, call)
  deleteCookie(SIGNED_IN_COOKIE, call)
}
