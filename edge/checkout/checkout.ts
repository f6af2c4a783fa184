/**
 * Checkout, for those whose turn has come, and the way to the origin that all calls of theirs take: passed on as they are,
 * with the visitor's token and nothing else of theirs, and with the edge's own, without which the origin takes none.
 */
import { EDGE_ADDRESS_HEADER, EDGE_LANGUAGE_HEADER, EDGE_TOKEN_HEADER } from '../../shared/api/internal.ts'
import { Order } from '../../shared/api/public.ts'
import { bodyTooLarge, MAX_BODY_BYTES, tryParse } from '../../shared/parse.ts'
import { type Problem, ProblemError } from '../../shared/problem.ts'
import { refuseBlockedIn } from '../admission/admit.ts'
import { limitAddress, limitVisitor } from '../admission/limits/rate-limits.ts'
import { type Call, isBrowser, NO_STORE, refuse } from '../call.ts'
import { languageOf } from '../pages/respond.ts'
import { type Admission, requireAdmission, setOrderCookie } from '../visitor/credentials.ts'

const REQUEST_HEADERS = ['idempotency-key', 'content-type', 'accept', 'last-event-id', 'traceparent']
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'location', 'idempotency-replayed']
/** The origin responds within seconds or says so; a stream of events takes as long as it takes. */
const ORIGIN_TIMEOUT_MS = 15_000

/** `POST /sales/{sale}/checkout` */
export async function checkout(sale: string, call: Call): Promise<Response> {
  const { token } = await requireBuyer(sale, call)
  const response = await passOn(`/sales/${sale}/checkout`, token, call, aboutBuyer(call))
  return isBrowser(call.request) && response.status < 300 ? tokenInCookie(response, call) : response
}

/** The admission of a caller who checks out; throws `refused`, or `too-many-requests` where they or their network do so too often. */
export async function requireBuyer(sale: string, call: Call): Promise<Admission> {
  limitAddress('checkout', call.config.STATUS_PER_ADDRESS, call)
  const admission = await requireAdmission(sale, call)
  limitVisitor('checkout', admission.claims.sub, call.config.STATUS_PER_VISITOR, call)
  await refuseBlockedIn(sale, admission.claims.sub, call)
  return admission
}

/** What the origin may keep with an order, for support and mail: where it came from, and the language of its page. */
export function aboutBuyer({ request, config }: Call) {
  const address = request.headers.get(config.ADDRESS_HEADER)
  return {
    [EDGE_LANGUAGE_HEADER]: languageOf(request),
    ...(address !== null && { [EDGE_ADDRESS_HEADER]: address }),
  }
}

/** A browser's order token goes into a cookie, out of reach of page script. */
async function tokenInCookie(response: Response, call: Call): Promise<Response> {
  const body: unknown = await response
    .clone()
    .json()
    .catch(() => null)
  const order = tryParse(Order, body)
  if (!order) return response
  const { order_token, ...rest } = order
  if (order_token) setOrderCookie(rest.order_id, order_token, call)
  return new Response(JSON.stringify(rest), response)
}

/** Passes the caller's request on to a path of the origin. */
export async function passOn(
  path: string,
  token: string,
  call: Call,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { request } = call
  if (Number(request.headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw new ProblemError(bodyTooLarge())
  const headers = new Headers({ ...more, authorization: `Bearer ${token}` })
  for (const name of REQUEST_HEADERS) {
    const value = request.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  const { method } = request
  // With these a body has no meaning (RFC 9110, 9.3.1), and may not be sent on.
  const body = method === 'GET' || method === 'HEAD' ? null : request.body
  const response = await callOrigin(path, { method, headers, body }, call)
  // One visitor's, where the origin does not say so.
  const passed = new Response(response.body, {
    status: response.status,
    headers: { 'cache-control': NO_STORE },
  })
  for (const name of RESPONSE_HEADERS) {
    const value = response.headers.get(name)
    if (value !== null) passed.headers.set(name, value)
  }
  return passed
}

/** Throws `try-again` if the origin does not respond, or does not know this edge. */
export async function callOrigin(path: string, init: RequestInit, { config, request }: Call): Promise<Response> {
  const isStream = request.headers.get('accept')?.includes('text/event-stream')
  const signal = isStream ? null : AbortSignal.timeout(ORIGIN_TIMEOUT_MS)
  try {
    const headers = new Headers(init.headers)
    headers.set(EDGE_TOKEN_HEADER, config.EDGE_TOKEN)
    const response = await fetch(config.ORIGIN_URL + path, { ...init, headers, redirect: 'manual', signal })
    if (init.method !== 'HEAD' && (await isEdgeRefused(response))) throw new Error('it has another EDGE_TOKEN')
    return response
  } catch (error) {
    console.warn(JSON.stringify({ msg: 'origin did not serve', path, why: String(error) }))
    const detail = 'The shop cannot be reached. You keep your place.'
    return refuse('try-again', { detail, retry_after_seconds: 2 })
  }
}

/** While the token is being changed: no fault of the visitor's. Only the body says so, of which HEAD has none. */
async function isEdgeRefused(response: Response): Promise<boolean> {
  if (response.status !== 403) return false
  const body = (await response.clone().json()) as Partial<Problem>
  return body.type === '/problems/edge-only'
}
