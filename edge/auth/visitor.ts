/**
 * Who is asking. A visitor is the signed-in subject where the shop's own session (a JWT, by configuration) is presented,
 * else whoever has a random secret in a cookie. Their name, which tokens, orders and operators' lists tell, is made from
 * it with a key: it opens nothing, and nobody can choose one. The two never meet: a subject's begins with `user:`.
 *
 * What is given to a signed-in visitor is bound to the account: without the session of the same subject, their queue
 * and admission tokens are worth nothing here, so that a place that was copied or sold admits nobody else.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import {
  base64url,
  createLocalJWKSet,
  errors,
  type JSONWebKeySet,
  type JWTVerifyOptions,
  jwtVerify,
} from 'jose'
import { ProblemError, problem } from '../../shared/problem.ts'
import { Recent } from '../../shared/recent-map.ts'
import {
  QUEUE,
  type QueueClaims,
  readToken,
  type TokenKeys,
  unlessExpired,
  type Verified,
} from '../../shared/tokens.ts'
import type { Call } from '../http.ts'
import { pollWhile } from '../queue/poll.ts'
import { cookie, readCookie, readForeignCookie, SECRET_COOKIE } from './cookies.ts'

/** Presented by clients that keep no cookies. */
const SHOP_HEADER = 'x-shop-authorization'
const SUBJECT_PREFIX = 'user:'
/** Together with the prefix no longer than a token's subject may be. */
const MAX_SUBJECT = 190
const SECRET = /^[A-Za-z0-9_-]{16,64}$/
/** Of random secrets and of names made from them: no two are the same. */
const NAME_BYTES = 16
/** It outlives the sale, so that the next one knows the visitor. */
const SECRET_TTL_SECONDS = 365 * 24 * 3600

/** Places remembered as verified: an eighth of the memory that an isolate may use. */
const MAX_PLACES = 16_000

/** The shop's keys are fetched again after so long; and sooner, but no more often than the second, for a new key. */
const KEYS_FOR_MS = 5 * 60_000
const KEYS_AGAIN_MS = 30_000
/** Without any, as often as those who are turned away for it are told to come again. */
const KEYS_MISSING_MS = 2_000
const KEYS_TIMEOUT_MS = 3_000

interface Visitor {
  readonly name: string
  /** What their name is made from; null where something else tells who they are. */
  readonly secret: string | null
  /** Someone who may have been here before, and so is looked up and recorded. */
  readonly known: boolean
}

/** The visitor behind a request; a new one if nothing tells. */
export async function visitorOf(call: Call): Promise<Visitor> {
  const subject = await subjectOf(call)
  if (subject !== null) return { name: SUBJECT_PREFIX + subject, secret: null, known: true }
  const kept = readCookie(call.request, SECRET_COOKIE, call.secure)
  const known = kept !== null && SECRET.test(kept)
  const secret = known ? kept : base64url.encode(crypto.getRandomValues(new Uint8Array(NAME_BYTES)))
  // Not by WebCrypto, whose way there and back takes several times as long as two blocks of text.
  const mac = hmac(sha256, call.config.keys.visitor, new TextEncoder().encode(secret))
  return { name: base64url.encode(mac.subarray(0, NAME_BYTES)), secret, known }
}

/** The cookie by which a visitor is known again, where it is one. */
export function visitorCookies(secret: string | null, call: Call): string[] {
  return secret === null ? [] : [cookie(SECRET_COOKIE, secret, call.secure, SECRET_TTL_SECONDS)]
}

/** True for the name of a signed-in subject: who it is says the shop's own session, and no cookie of ours. */
const isSubject = (name: string) => name.startsWith(SUBJECT_PREFIX)

/** True if whoever presents a token made out to `name` may use it: a subject's only with the subject's session. */
export async function mayUse(name: string, call: Call): Promise<boolean> {
  return !isSubject(name) || name === SUBJECT_PREFIX + (await subjectOf(call))
}

/** The place in line that a request presents, as a bearer token or in its cookie. */
export type Presented =
  | { readonly kind: 'none' }
  | { readonly kind: 'bad' }
  /** Made out to an account, while nobody is signed in: it is good again once somebody is. */
  | { readonly kind: 'signed-out' }
  | { readonly kind: 'place'; readonly token: string; readonly claims: QueueClaims }

export async function presentedPlace(sale: string, call: Call): Promise<Presented> {
  const token = presentedToken(`queue-${sale}`, call)
  if (token === null) return { kind: isBearer(call) ? 'bad' : 'none' }
  const verified = await readPlace(token, call)
  if (!verified.ok || verified.claims.sale !== sale) return { kind: 'bad' }
  if (!(await mayUse(verified.claims.sub, call)))
    return { kind: (await subjectOf(call)) === null ? 'signed-out' : 'bad' }
  return { kind: 'place', token, claims: verified.claims }
}

/** Whoever waits shows the same token again and again: one that was read before is only checked for its end. */
async function readPlace(token: string, { config, nowMs }: Call): Promise<Verified<QueueClaims>> {
  const { queue } = config.keys
  let known = places.get(queue)
  if (!known) {
    known = new Recent(MAX_PLACES)
    places.set(queue, known)
  }
  const claims = known.get(token)
  if (claims) return unlessExpired(claims, nowMs)
  const verified = await readToken(QUEUE, queue, token, nowMs)
  if (verified.ok) known.set(token, verified.claims)
  return verified
}

const places = new WeakMap<TokenKeys, Recent<string, QueueClaims>>()

/**
 * A token of ours that a request presents: as a bearer, or in the cookie of this name. Before somebody else's site the
 * bearer may be that site's own, so the cookie counts first there.
 */
export function presentedToken(name: string, { request, secure, config }: Call): string | null {
  const sent = bearer(request)
  const kept = readCookie(request, name, secure)
  return (config.protect ? (kept ?? sent) : (sent ?? kept)) || null
}

/** True for a bearer of ours, though it cannot be read; before somebody else's site it may be that site's. */
function isBearer({ request, config }: Call): boolean {
  return !config.protect && /^bearer\b/i.test(request.headers.get('authorization') ?? '')
}

/** The token of an `Authorization: Bearer` header; null where there is none, or it says something else. */
export function bearer(request: Request): string | null {
  return /^bearer +(\S+)$/i.exec(request.headers.get('authorization') ?? '')?.[1] ?? null
}

// -- The shop's session ----------------------------------------------------------------------------------------------

/** What is known of the shop's keys: a plain value, since promises do not cross requests. */
interface ShopKeys {
  readonly url: string
  /** Null until they could be had. */
  find: ReturnType<typeof createLocalJWKSet> | null
  /** When they were last asked for, and whether the answer is still to come. */
  askedAtMs: number
  asking: boolean
  /** They could not be had when they were last asked for. */
  away: boolean
}

let shopKeys: ShopKeys | null = null

/** How long ago they were asked for; a clock that was put back must not keep them from being asked for again. */
const askedAgoMs = ({ askedAtMs }: ShopKeys, nowMs: number) => Math.abs(nowMs - askedAtMs)

/** The keys cannot be had now: it says nothing about the session. */
class KeysAway extends Error {
  override readonly name = 'KeysAway'
}

/**
 * The signed-in subject, by the shop's own JWT; null without one, or with one that does not hold. Throws a problem while
 * the shop's keys cannot be had: who is signed in must not be taken for somebody else, and lose their place by it.
 */
async function subjectOf(call: Call): Promise<string | null> {
  const { request, config, nowMs } = call
  const { shop } = config
  if (!shop) return null
  const header = request.headers.get(SHOP_HEADER)
  const token = header?.replace(/^bearer /i, '') ?? readForeignCookie(request, shop.cookie)
  if (!token) return null
  try {
    const options = {
      issuer: shop.issuer,
      audience: shop.audience,
      algorithms: ['RS256', 'PS256', 'ES256', 'EdDSA'],
      requiredClaims: ['sub', 'exp'],
      currentDate: new Date(nowMs),
    }
    const { payload } = await verified(token, shop.jwksUrl, options, call)
    const subject = payload.sub
    return subject && isText(subject) && subject.length <= MAX_SUBJECT ? subject : null
  } catch (error) {
    // A session that has run out is an everyday thing; keys that cannot be had are not.
    if (error instanceof errors.JOSEError) return null
    if (!(error instanceof KeysAway)) throw error
    throw new ProblemError(
      problem('try-again', {
        detail: 'It cannot be seen who you are. You keep your place.',
        retry_after_seconds: KEYS_MISSING_MS / 1000,
      }),
    )
  }
}

/** Of a name that the ledger could not keep, a whole batch of orders would be refused. */
const isText = (name: string) => name.isWellFormed() && !/\p{Cc}/u.test(name)

/** Reads a session with the keys at hand, which are renewed behind the response; only for a key that is new it waits. */
async function verified(token: string, url: string, options: JWTVerifyOptions, call: Call) {
  if (shopKeys?.url !== url)
    shopKeys = { url, find: null, askedAtMs: Number.NEGATIVE_INFINITY, asking: false, away: false }
  const keys = shopKeys
  if (!keys.find) await brought(keys, KEYS_MISSING_MS, call)
  else if (askedAgoMs(keys, call.nowMs) >= (keys.away ? KEYS_AGAIN_MS : KEYS_FOR_MS))
    call.ctx.waitUntil(ask(keys, call.nowMs))
  const read = () => {
    if (!keys.find) throw new KeysAway()
    return jwtVerify(token, keys.find, options)
  }
  try {
    return await read()
  } catch (error) {
    if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
    await brought(keys, KEYS_AGAIN_MS, call)
    // Whether the shop has such a key by now nobody can say.
    if (keys.away) throw new KeysAway()
    return read()
  }
}

/** Waits for the keys that another request has asked for; else asks for them, if nobody did so short a time ago. */
async function brought(keys: ShopKeys, againMs: number, { ctx, nowMs }: Call) {
  const agoMs = askedAgoMs(keys, nowMs)
  if (keys.asking && agoMs < KEYS_TIMEOUT_MS) {
    const untilMs = Date.now() + KEYS_TIMEOUT_MS
    await pollWhile((atMs) => keys.asking && atMs < untilMs)
  } else if (agoMs >= againMs) {
    const asked = ask(keys, nowMs)
    // Others wait for it as well, should this visitor go away.
    ctx.waitUntil(asked)
    await asked
  }
}

async function ask(keys: ShopKeys, nowMs: number): Promise<void> {
  keys.askedAtMs = nowMs
  keys.asking = true
  try {
    const response = await fetch(keys.url, { signal: AbortSignal.timeout(KEYS_TIMEOUT_MS) })
    if (!response.ok) throw new Error(`status ${response.status}`)
    keys.find = createLocalJWKSet((await response.json()) as JSONWebKeySet)
    keys.away = false
  } catch (error) {
    // Yesterday's keys are better than none.
    keys.away = true
    console.warn(JSON.stringify({ msg: 'no keys of the shop', why: String(error) }))
  }
  keys.asking = false
}
