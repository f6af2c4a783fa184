/**
 * The way to the origin that all calls of admitted visitors take: passed on as they are, with the visitor's token and
 * nothing else of theirs, and with the edge's own, without which the origin takes none.
 */
import { EDGE_TOKEN_HEADER, EDGE_WAITED_HEADER } from '../../shared/api/internal.ts'
import { type Problem, REQUEST_ID_HEADER } from '../../shared/problem.ts'
import { bodyMsOf, type Call, checkBody, NO_STORE, refuse, warn } from './call.ts'
import { tracedFetch } from './trace.ts'

const REQUEST_HEADERS = ['idempotency-key', 'content-type', 'accept', 'last-event-id']
const RESPONSE_HEADERS = ['content-type', 'cache-control', 'retry-after', 'location', 'idempotency-replayed']
/** The origin responds within two or three seconds or says so; a stream of events takes as long as it takes. */
const ORIGIN_TIMEOUT_MS = 5_000
/** Before the second try, a random time about this. */
const RETRY_MS = 200

/** Passes the caller's request on to a path of the origin, with `more` headers, which come before the caller's. */
export async function passOn(
  path: string,
  token: string,
  call: Call,
  more: Readonly<Record<string, string>> = {},
): Promise<Response> {
  const { request } = call
  checkBody(request)
  const headers: Record<string, string> = { ...more, authorization: `Bearer ${token}` }
  for (const name of REQUEST_HEADERS) {
    const value = name in headers ? null : request.headers.get(name)
    if (value !== null) headers[name] = value
  }
  const { method } = request
  // With these a body has no meaning (RFC 9110, 9.3.1), and may not be sent on.
  const body = method === 'GET' || method === 'HEAD' ? null : request.body
  const response = await callOrigin(path, { method, headers, body }, call)
  // One visitor's, where the origin does not say so.
  const passed: Record<string, string> = { 'cache-control': NO_STORE }
  for (const name of RESPONSE_HEADERS) {
    const value = response.headers.get(name)
    if (value !== null) passed[name] = value
  }
  return new Response(response.body, { status: response.status, headers: passed })
}

/** Headers by their lower-case names: a `Headers` made of them would be copied once more by `fetch`. */
interface OriginCall extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>
}

/** Throws `try-again` if the origin does not respond, or does not know this edge. */
export async function callOrigin(path: string, init: OriginCall, call: Call): Promise<Response> {
  const { config, nowMs, request, requestId } = call
  const isStream = init.headers?.accept?.includes('text/event-stream')
  const signal = init.signal ?? (isStream ? null : AbortSignal.timeout(ORIGIN_TIMEOUT_MS))
  const headers = {
    ...init.headers,
    [EDGE_TOKEN_HEADER]: config.EDGE_TOKEN,
    [REQUEST_ID_HEADER]: requestId,
    [EDGE_WAITED_HEADER]: String(Math.max(0, Date.now() - nowMs - bodyMsOf(request))),
  }
  try {
    const host = path.startsWith('/internal/') ? config.INTERNAL_URL : config.ORIGIN_URL
    const response = await tracedFetch(host + path, { ...init, headers, redirect: 'manual', signal }, call)
    if (init.method !== 'HEAD' && (await isEdgeRefused(response))) throw new Error('it has another EDGE_TOKEN')
    return response
  } catch (error) {
    warn('origin did not serve', { path, why: String(error) }, call)
    const detail = 'The shop cannot be reached. You keep your place: try again, with the same key if you sent one.'
    return refuse('try-again', { detail, retry_after_seconds: 2 })
  }
}

/** A call of the edge's own, below `/internal`. */
export const callInternal = (path: string, call: Call, init: OriginCall = {}): Promise<Response> =>
  callOrigin(
    `/internal${path}`,
    { ...init, headers: { ...init.headers, authorization: `Bearer ${call.config.EDGE_TOKEN}` } },
    call,
  )

/**
 * The same with something to tell, as JSON. Throws `try-again` where the origin fails; what it refuses is the
 * caller's to read.
 */
export async function tellOrigin(
  method: 'POST' | 'DELETE',
  path: string,
  body: object | null,
  call: Call,
): Promise<Response> {
  const headers = { 'content-type': 'application/json' }
  const response = await callInternal(path, call, { method, headers, body: body && JSON.stringify(body) })
  if (response.status < 500) return response
  await response.body?.cancel()
  return refuse('try-again', { retry_after_seconds: 2 })
}

/** While the token is being changed: no fault of the visitor's. Only the body says so, of which HEAD has none. */
async function isEdgeRefused(response: Response): Promise<boolean> {
  if (response.status !== 403) return false
  const body = (await response.clone().json()) as Partial<Problem>
  return body.type === '/problems/edge-only'
}

/** The result of a call that may be repeated, tried twice; null, with `msg` in the log, where both fail. */
export async function tryTwice<T>(msg: string, call: Call, ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask()
  } catch {
    await scheduler.wait(RETRY_MS * (0.5 + Math.random()))
  }
  return ask().catch((error) => {
    warn(msg, { why: String(error) }, call)
    return null
  })
}
