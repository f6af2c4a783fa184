/**
 * The session says who is signed in at the shop. It is the shop's own, a JWT whose keys are at the shop's JWKS URL, or
 * that of an account that signed in by OpenID Connect. Its subject is the account.
 */
import { createRemoteJWKSet, decodeJwt, errors, type JWTPayload, jwtVerify } from 'jose'
import { ACCOUNT_PREFIX } from '../../shared/api/access.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import { type Call, hostOf, isBrowser, pathOf, refuse } from '../http/call.ts'
import { SharedWork } from '../http/waiting.ts'
import { accountSession, beginAt } from './account-session.ts'
import { deleteCookie, readCookie, readShopCookie, SIGNED_IN_COOKIE, setCookie } from './cookies.ts'

/** The header is for clients without cookies. */
const SESSION_HEADER = 'x-shop-authorization'
/** With its prefix, the name must be no longer than a token's subject may be. */
const MAX_SUBJECT = 190
const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA']
/** The shop's clock may be ahead by this much. A session still ends on time. */
const CLOCK_TOLERANCE_SECONDS = 30

/**
 * The keys are fetched again after the first time, and sooner for an unknown key, but no more often than the second
 * time.
 */
const KEYS_TTL_MS = 5 * 60_000
const RETRY_MS = 30_000
/** If there are no keys, a fetch is attempted as often as refused visitors try again. */
const MISSING_RETRY_MS = 2_000
const FETCH_TIMEOUT_MS = 3_000

/**
 * The number of verified sessions that are remembered until the keys are fetched again. They take about 15 MB,
 * because a session has about a kilobyte.
 */
const MAX_VERIFIED = 8_000
/** Longer sessions are verified each time. */
const MAX_REMEMBERED_LENGTH = 4_096

/** An account that is signed in at the shop, with its claims. */
interface Session {
  readonly account: string
  readonly claims: Readonly<Record<string, unknown>>
}

type Shop = NonNullable<Call['config']['shop']>

/** Why a session that was sent is not valid, in a sentence for whoever sent it. */
type Fault = string

const sessions = new WeakMap<Call, Promise<Session | Fault | null>>()

/**
 * The session of a request; null without a valid one. Throws `try-again` while the shop's keys cannot be fetched,
 * because an account that is taken for an unknown visitor would lose its place. It is read once per request.
 */
export async function sessionOf(call: Call): Promise<Session | null> {
  const found = await readOnce(call)
  return typeof found === 'string' ? null : found
}

/** Why the session that was sent is not valid; null for a valid one, and without one. */
export async function sessionFault(call: Call): Promise<Fault | null> {
  const found = await readOnce(call)
  return typeof found === 'string' ? found : null
}

function readOnce(call: Call): Promise<Session | Fault | null> {
  const known = sessions.get(call)
  if (known) return known
  const session = readSession(call).then((found) => {
    tellScripts(found !== null && typeof found !== 'string', call)
    return found
  })
  sessions.set(call, session)
  return session
}

const SIGNED_IN_SECONDS = 30 * 24 * 3600

/** The cookie changes only when the visitor has signed in or out. */
function tellScripts(isSignedIn: boolean, call: Call): void {
  if (!isBrowser(call.request) || isSignedIn === (readCookie(SIGNED_IN_COOKIE, call) !== null)) return
  if (isSignedIn) setCookie(SIGNED_IN_COOKIE, '1', SIGNED_IN_SECONDS, call, { isForScripts: true })
  else deleteCookie(SIGNED_IN_COOKIE, call)
}

/** The visitor's name by the account with which they are signed in. */
export async function accountOf(call: Call): Promise<string | null> {
  const session = await sessionOf(call)
  return session && ACCOUNT_PREFIX + session.account
}

/**
 * True if the caller may use a token of this visitor. An account's token needs a session of that account, so a copied
 * or sold one admits nobody else.
 */
export async function mayUse(visitor: string, call: Call): Promise<boolean> {
  return !visitor.startsWith(ACCOUNT_PREFIX) || visitor === (await accountOf(call))
}

/**
 * The address at which visitors sign in and from which they return to their own page, which shows who is signed in;
 * null if the shop has not configured it.
 */
export function signInUrl(call: Call, sale = pathOf(call.request.url).split('/', 3)[2]): string | null {
  const { shop, oidc } = call.config
  if (oidc) return beginAt(`/sales/${sale}/line`, call)
  const template = shop?.SHOP_SIGN_IN_URL
  return template?.replace('{return}', encodeURIComponent(`${hostOf(call)}/sales/${sale}/line`)) ?? null
}

async function readSession(call: Call): Promise<Session | Fault | null> {
  const { request, config } = call
  const { shop } = config
  const header = request.headers.get(SESSION_HEADER)
  const own = header === null ? await accountSession(call) : null
  if (own) return own.ok ? { account: own.claims.sub, claims: {} } : OVER
  if (!shop) return null
  const token = header?.replace(/^bearer /i, '') ?? readShopCookie(shop.SHOP_COOKIE, call)
  if (!token) return null
  try {
    const claims = await verifySession(token, shop, call)
    if (!claims) return EXPIRED
    return claims.sub && isName(claims.sub) ? { account: claims.sub, claims } : faultOf('sub')
  } catch (error) {
    if (error instanceof errors.JWTExpired) return EXPIRED
    if (error instanceof errors.JWTClaimValidationFailed) return faultOf(error.claim)
    if (error instanceof errors.JOSEError) return 'The session of the shop is no JWT that its keys have signed.'
    throw error
  }
}

const EXPIRED: Fault = 'The session of the shop has expired.'
const OVER: Fault = 'Your session here is over: sign in again.'

/** The fault of a claim. The signature is verified before, so this tells nobody anything about another's session. */
function faultOf(claim: string): Fault {
  const wrong: Readonly<Record<string, string>> = {
    aud: 'is for another audience',
    iss: 'is of another issuer',
    sub: `has no subject, or one that is not plain text of at most ${MAX_SUBJECT} characters`,
  }
  return `The session of the shop ${wrong[claim] ?? `has no valid claim ${claim}`}.`
}

/** The ledger refuses other text, and with it a whole batch of orders. */
export const isName = (sub: string) => sub.length <= MAX_SUBJECT && sub.isWellFormed() && !/\p{Cc}/u.test(sub)

// -- The shop's keys ------------------------------------------------------------------------------------------------

interface ShopKeys {
  readonly shop: Shop
  /**
   * The key set of jose, which parses and finds the keys. This file decides when it fetches, so that one request
   * fetches for all.
   */
  readonly set: ReturnType<typeof createRemoteJWKSet>
  fetchedAtMs: number
  fetching: SharedWork | null
  /** True if the last fetch failed; the earlier keys stay in use. */
  failed: boolean
  /**
   * The claims of verified sessions by token, because verifying a signature takes longer than the rest of a request.
   */
  verified: RecentMap<string, JWTPayload>
}

let shopKeys: ShopKeys | null = null

function refuseForNow(retryMs: number): never {
  const detail = 'It cannot be seen who you are. You keep your place.'
  return refuse('try-again', { detail, retry_after_seconds: Math.max(retryMs, MISSING_RETRY_MS) / 1000 })
}

/**
 * Verifies a session with the current keys, which are renewed behind the response. It waits only for the first keys,
 * or for an unknown key. Null for a session outside its validity.
 */
async function verifySession(token: string, shop: Shop, call: Call): Promise<JWTPayload | null> {
  const keys = keysOf(shop)
  if (!keys.set.jwks()) await awaitKeys(keys, MISSING_RETRY_MS, call)
  else if (ageMs(keys, call.nowMs) >= (keys.failed ? RETRY_MS : KEYS_TTL_MS))
    call.ctx.waitUntil(fetchKeys(keys, call.nowMs))
  const verify = async () => {
    const { set, verified } = keys
    if (!set.jwks()) return refuseForNow(MISSING_RETRY_MS)
    const known = verified.get(token)
    if (known && isInTime(known, call)) return known
    const { payload } = await jwtVerify(token, set, {
      issuer: shop.SHOP_ISSUER,
      audience: shop.SHOP_AUDIENCE,
      algorithms: ALGORITHMS,
      requiredClaims: ['sub', 'exp'],
      currentDate: new Date(call.nowMs),
      clockTolerance: CLOCK_TOLERANCE_SECONDS,
    })
    if (!isInTime(payload, call)) return null
    if (token.length <= MAX_REMEMBERED_LENGTH) verified.set(token, payload)
    return payload
  }
  try {
    return await verify()
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
    await awaitKeys(keys, RETRY_MS, call)
    return verify().catch((again) => {
      const hasNoKey = again instanceof errors.JWKSNoMatchingKey
      if (hasNoKey && mayHaveKey(keys, token, call)) return refuseForNow(RETRY_MS - ageMs(keys, call.nowMs))
      throw again
    })
  }
}

/** True if the shop may have added the key that signed a session, because the keys are older than the session. */
function mayHaveKey({ failed, fetchedAtMs }: ShopKeys, token: string, { nowMs }: Call): boolean {
  const { iat } = decodeJwt(token)
  const issuedMs = typeof iat === 'number' ? (iat + CLOCK_TOLERANCE_SECONDS) * 1000 : nowMs
  return failed || Math.min(issuedMs, nowMs) > fetchedAtMs
}

function isInTime({ exp = 0, nbf = 0 }: JWTPayload, { nowMs }: Call): boolean {
  const nowSeconds = Math.floor(nowMs / 1000)
  return nbf <= nowSeconds + CLOCK_TOLERANCE_SECONDS && nowSeconds < exp
}

function keysOf(shop: Shop): ShopKeys {
  const isSame = (name: keyof Shop) => shopKeys?.shop[name] === shop[name]
  if (shopKeys && isSame('SHOP_JWKS_URL') && isSame('SHOP_ISSUER') && isSame('SHOP_AUDIENCE')) return shopKeys
  // The options keep jose from fetching by itself, which in Workers each request would do.
  const never = { cacheMaxAge: Number.POSITIVE_INFINITY, cooldownDuration: Number.POSITIVE_INFINITY }
  shopKeys = {
    shop,
    set: createRemoteJWKSet(new URL(shop.SHOP_JWKS_URL), { ...never, timeoutDuration: FETCH_TIMEOUT_MS }),
    fetchedAtMs: Number.NEGATIVE_INFINITY,
    fetching: null,
    failed: false,
    verified: new RecentMap(MAX_VERIFIED),
  }
  return shopKeys
}

/** The age is absolute, because a clock that was put back must not stop the fetches. */
const ageMs = ({ fetchedAtMs }: ShopKeys, nowMs: number) => Math.abs(nowMs - fetchedAtMs)

/** Waits for the request that is fetching the keys, or fetches them unless that was done a short time ago. */
async function awaitKeys(keys: ShopKeys, retryMs: number, { ctx, nowMs }: Call): Promise<void> {
  if (keys.fetching?.isUnderWay()) return keys.fetching.wait()
  if (ageMs(keys, nowMs) < retryMs) return
  const fetched = fetchKeys(keys, nowMs)
  // The fetch also serves other requests, even if this visitor disconnects.
  ctx.waitUntil(fetched)
  return fetched
}

async function fetchKeys(keys: ShopKeys, nowMs: number): Promise<void> {
  keys.fetchedAtMs = nowMs
  const fetching = new SharedWork(FETCH_TIMEOUT_MS)
  keys.fetching = fetching
  try {
    await keys.set.reload()
    // A session is no longer valid if the shop has removed its key.
    keys.verified = new RecentMap(MAX_VERIFIED)
    keys.failed = false
  } catch (error) {
    keys.failed = true
    console.warn(JSON.stringify({ msg: 'failed to fetch shop keys', why: String(error) }))
  }
  fetching.end()
}
