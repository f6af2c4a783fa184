/**
 * The routes by which visitors sign in at the shop's OpenID Connect issuer (`SHOP_OIDC_ISSUER`) and out again. Without
 * an issuer there are none. A signed cookie binds what the issuer answers to the browser that began.
 */
import * as v from 'valibot'
import { assertExists } from '../../shared/lib/assert.ts'
import { parse } from '../../shared/parse.ts'
import { problemIn } from '../../shared/problem.ts'
import { readToken, SIGN_IN, type SignInClaims, signToken } from '../../shared/tokens.ts'
import { type Call, NO_STORE, refuse, seeOther, sendJson, wantsHtml } from '../http/call.ts'
import { isForeignForm } from '../http/cors.ts'
import { limitAddress } from '../http/limits/rate-limits.ts'
import { renderSignedOut } from '../pages/index.ts'
import { brandOf, PAGE_HEADERS } from '../view/respond.ts'
import { beginAccountSession, beginAt, endAccountSession } from '../visitor/account-session.ts'
import { deleteCookie, readCookie, SIGN_IN_COOKIE, setCookie } from '../visitor/cookies.ts'
import { languageOf } from '../visitor/language.ts'
import { isName } from '../visitor/session.ts'
import { beginAtIssuer, endAtIssuer, signOutUrl } from './issuer.ts'

/** The attempt lasts long enough to find one's phone. */
const ATTEMPT_SECONDS = 600

/** The path to come back to. It is of this host, so that no link of ours leads to another one. */
const Asked = v.strictObject({
  return: v.optional(
    v.pipe(v.string(), v.maxLength(1_000), v.regex(/^\/(?![/\\])[^\\\s\p{C}]*$/u, 'must be a path of this host')),
    '/',
  ),
})

/** The router finds these routes only where the shop has an issuer. */
const issuerOf = ({ config }: Call) => assertExists(config.oidc, 'A route of sign-in belongs to an issuer.')

/** The route `GET /me/sign-in?return=PATH`. */
export async function beginSigningIn(call: Call): Promise<Response> {
  const { config, request, nowMs } = call
  limitAddress('sign-in', config.JOINS_PER_ADDRESS, call)
  const { return: back } = parse(Asked, Object.fromEntries(new URL(request.url).searchParams))
  const { url, attempt } = await beginAtIssuer(issuerOf(call), call)
  const iat = Math.floor(nowMs / 1000)
  const claims = { ...attempt, back, iat, exp: iat + ATTEMPT_SECONDS }
  setCookie(SIGN_IN_COOKIE, await signToken(SIGN_IN, config.keys.queue, claims), ATTEMPT_SECONDS, call)
  return seeOther(url)
}

/** The route `GET /me/signed-in`, to which the issuer redirects. */
export async function endSigningIn(call: Call): Promise<Response> {
  limitAddress('signed-in', call.config.JOINS_PER_ADDRESS, call)
  const attempt = await attemptOf(call)
  const fail = (detail: string) => {
    deleteCookie(SIGN_IN_COOKIE, call)
    return refuse('sign-in-failed', { detail, sign_in_url: beginAt(attempt?.back ?? '/', call) })
  }
  if (!attempt) return fail('It took longer than ten minutes, or began in another browser. Sign in again.')
  const account = await endAtIssuer(new URL(call.request.url).search, attempt, issuerOf(call), call).catch((error) => {
    const { status, detail } = problemIn(error)
    // While the issuer is away the attempt stays, and the same address works again in a moment.
    if (status === 503) throw error
    return fail(detail)
  })
  if (!isName(account)) return fail('The name of your account at the sign-in service cannot be used here.')
  deleteCookie(SIGN_IN_COOKIE, call)
  await beginAccountSession(account, call)
  return seeOther(attempt.back)
}

async function attemptOf(call: Call): Promise<SignInClaims | null> {
  const token = readCookie(SIGN_IN_COOKIE, call)
  const attempt = token === null ? null : await readToken(SIGN_IN, call.config.keys.queue, token, call.nowMs)
  return attempt?.ok ? attempt.claims : null
}

/**
 * The route `POST /me/sign-out`: ends the session here, and leads to the issuer to end it there too. Places stay, for
 * when the account signs in again.
 */
export async function signOut(call: Call): Promise<Response> {
  if (isForeignForm(call)) refuse('forbidden')
  limitAddress('sign-out', call.config.JOINS_PER_ADDRESS, call)
  endAccountSession(call)
  const sign_out_url = await signOutUrl(issuerOf(call), call)
  if (!wantsHtml(call.request)) return sendJson({ sign_out_url })
  const { lang } = languageOf(call)
  const words = call.config.WORDS[lang]
  const brand = brandOf(call.config, '', words.problems['signed-out'][0], null)
  const page = renderSignedOut({ lang, words, brand }, beginAt('/', call))
  const headers = new Headers({ ...PAGE_HEADERS, 'cache-control': NO_STORE })
  // A page and not a redirect, because the policy of the form's page forbids forms to lead to other hosts.
  if (sign_out_url !== null) headers.set('refresh', `0;url=${sign_out_url}`)
  return new Response(page, { headers })
}
