/**
 * The OpenID Connect issuer of the shop: its configuration, which this isolate reads for all requests, and the calls to
 * it. Each call is bounded in time, and an issuer that does not respond is said to be away.
 */
import * as oidc from 'openid-client'
import { beginSignIn, checksOf, clientAuth, type SignInAttempt } from '../../shared/sign-in.ts'
import { type Call, hostOf, refuse } from '../http/call.ts'
import type { Config } from '../http/config.ts'
import { SharedWork } from '../http/waiting.ts'
import { SIGNED_IN_PATH } from '../visitor/account-session.ts'

type Settings = NonNullable<Config['oidc']>

/** The subject is all that is used of an account. */
const SCOPE = 'openid'
const TIMEOUT_SECONDS = 5
/** The clocks of the issuer and of the edge may differ by this much. */
const CLOCK_TOLERANCE_SECONDS = 30
const CONFIGURATION_TTL_MS = 5 * 60_000
/** An issuer that is away is tried as often as refused visitors try again. */
const RETRY_MS = 2_000

interface Issuer {
  readonly settings: Settings
  service: oidc.Configuration | null
  triedAtMs: number
  reading: SharedWork | null
}

let known: Issuer | null = null

/** The address at the issuer to which the browser is redirected, and what it must keep. Throws `try-again`. */
export const beginAtIssuer = async (settings: Settings, call: Call) =>
  beginSignIn(await serviceOf(settings, call), redirectUri(call), SCOPE)

/**
 * The subject of the visitor who came back with this query. Throws `try-again` if the issuer is away, and
 * `sign-in-failed` for an answer that does not prove who they are.
 */
export async function endAtIssuer(
  query: string,
  attempt: SignInAttempt,
  settings: Settings,
  call: Call,
): Promise<string> {
  const service = await serviceOf(settings, call)
  try {
    const returned = Object.assign(new URL(redirectUri(call)), { search: query })
    const tokens = await bounded(oidc.authorizationCodeGrant(service, returned, checksOf(attempt)))
    const sub = tokens.claims()?.sub
    if (sub !== undefined) return sub
    throw new Error('there is no ID token')
  } catch (error) {
    warn('sign-in failed', error)
    return isAway(error) ? refuseAway() : refuse('sign-in-failed', { detail: detailOf(error) })
  }
}

/**
 * The address at the issuer where the visitor ends their session there too; null if it has none, or is away. The edge
 * keeps no ID token, so the issuer may ask them.
 */
export async function signOutUrl(settings: Settings, call: Call): Promise<string | null> {
  const service = await serviceOf(settings, call).catch(() => null)
  if (!service?.serverMetadata().end_session_endpoint) return null
  return oidc.buildEndSessionUrl(service, { post_logout_redirect_uri: `${hostOf(call)}/` }).href
}

const redirectUri = (call: Call) => hostOf(call) + SIGNED_IN_PATH

// -- The issuer's configuration -------------------------------------------------------------------------------------

async function serviceOf(settings: Settings, { ctx, nowMs }: Call): Promise<oidc.Configuration> {
  const issuer = issuerOf(settings)
  // The age is absolute, because a clock that was put back must not stop the reads.
  const ageMs = Math.abs(nowMs - issuer.triedAtMs)
  if (issuer.service && ageMs < CONFIGURATION_TTL_MS) return issuer.service
  if (issuer.reading?.isUnderWay()) await issuer.reading.wait()
  else if (ageMs >= RETRY_MS) {
    const read = readService(issuer, nowMs)
    // The read also serves other requests, even if this visitor disconnects.
    ctx.waitUntil(read)
    await read
  }
  return issuer.service ?? refuseAway()
}

/** The first requests of an isolate each read the settings, so they are compared by their values. */
function issuerOf(settings: Settings): Issuer {
  const isSame = (name: keyof Settings) => known?.settings[name] === settings[name]
  if (known && isSame('SHOP_OIDC_ISSUER') && isSame('SHOP_OIDC_CLIENT_ID') && isSame('SHOP_OIDC_CLIENT_SECRET'))
    return known
  known = { settings, service: null, triedAtMs: Number.NEGATIVE_INFINITY, reading: null }
  return known
}

async function readService(issuer: Issuer, nowMs: number): Promise<void> {
  const { SHOP_OIDC_ISSUER: url, SHOP_OIDC_CLIENT_ID: id, SHOP_OIDC_CLIENT_SECRET: secret } = issuer.settings
  const reading = new SharedWork(TIMEOUT_SECONDS * 1000)
  issuer.reading = reading
  issuer.triedAtMs = nowMs
  const client = { [oidc.clockTolerance]: CLOCK_TOLERANCE_SECONDS }
  try {
    const discovered = oidc.discovery(new URL(url), id, client, clientAuth(secret), {
      timeout: TIMEOUT_SECONDS,
      execute: [
        // The signature of the ID token counts, and not only that the issuer's server sent it.
        oidc.enableNonRepudiationChecks,
        // The settings allow plain HTTP only for an issuer on this machine or in its network.
        ...(url.startsWith('http:') ? [oidc.allowInsecureRequests] : []),
      ],
    })
    issuer.service = await bounded(discovered)
  } catch (error) {
    issuer.service = null
    warn('failed to read sign-in issuer', error)
  }
  reading.end()
}

/** The runtime does not always keep the time limit that the library gives to its calls. */
async function bounded<T>(call: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const timer = setTimeout(() => reject(new Error(`no response within ${TIMEOUT_SECONDS} s`)), TIMEOUT_SECONDS * 1000)
  try {
    return await Promise.race([call, late])
  } finally {
    clearTimeout(timer)
  }
}

// -- What went wrong ------------------------------------------------------------------------------------------------

function refuseAway(): never {
  const detail = 'The sign-in service does not respond. You keep your place.'
  return refuse('try-again', { detail, retry_after_seconds: RETRY_MS / 1000 })
}

const BUSY = ['server_error', 'temporarily_unavailable']
/** The codes of openid-client for a call that ended without a response. */
const UNANSWERED = ['OAUTH_TIMEOUT', 'OAUTH_ABORT']

function isAway(error: unknown): boolean {
  if (error instanceof oidc.AuthorizationResponseError) return BUSY.includes(error.error)
  if (error instanceof oidc.ResponseBodyError) return error.status >= 500
  const { code, cause } = Object(error) as { code?: string; cause?: unknown }
  if (cause instanceof Response) return cause.status >= 500
  // The runtime's own error of a connection that failed has no code.
  return code === undefined || UNANSWERED.includes(code)
}

function detailOf(error: unknown): string {
  return error instanceof oidc.AuthorizationResponseError && error.error === 'access_denied'
    ? 'You were not signed in: that was cancelled or refused at the sign-in service.'
    : 'The answer of the sign-in service does not prove who you are. Sign in again.'
}

/** Neither the query nor a token is logged: the message of the library and its cause say which check failed. */
function warn(msg: string, error: unknown): void {
  const { code, message, cause } = Object(error) as { code?: string; message?: string; cause?: unknown }
  const why = cause instanceof Response ? `status ${cause.status}` : cause instanceof Error ? cause.message : undefined
  console.warn(JSON.stringify({ msg, code, why: [message, why].filter(Boolean).join(': ') }))
}
