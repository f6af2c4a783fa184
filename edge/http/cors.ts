/**
 * Cross-origin calls by a shop's own front. `CORS_ORIGINS` names its origins: their scripts may call with the cookies
 * of their visitors, and read the responses. Scripts of all other origins get neither (Fetch standard, CORS protocol).
 */
import type { Call } from './call.ts'

/** Headers that the calls of buyers read, and those of their responses that scripts may read. */
const REQUEST_HEADERS =
  'accept, authorization, content-type, idempotency-key, if-none-match, last-event-id, x-shop-authorization'
const RESPONSE_HEADERS = 'etag, location, retry-after, x-admission-token, x-request-id'
/** Chromium remembers a preflight for no longer. */
const PREFLIGHT_SECONDS = 7_200

/** True for a call by a script or a form of an origin that the shop has named. */
function isFromNamedOrigin({ request, config }: Pick<Call, 'request' | 'config'>): boolean {
  return config.CORS_ORIGINS.includes(request.headers.get('origin') ?? '')
}

/**
 * True for what a page of another host sends in a visitor's name. Hosts under the same domain count as others, since
 * SameSite=Lax gives our cookies to their forms as well; those that the shop has named do not.
 */
export function isForeignForm(call: Pick<Call, 'request' | 'config'>): boolean {
  const from = call.request.headers.get('sec-fetch-site')
  return from !== null && from !== 'same-origin' && from !== 'none' && !isFromNamedOrigin(call)
}

/** The response to a preflight from a named origin for a route with these methods; null for any other request. */
export function preflight(methods: readonly string[], call: Call): Response | null {
  const { method, headers } = call.request
  const isPreflight = method === 'OPTIONS' && headers.has('access-control-request-method')
  if (!isPreflight || !isFromNamedOrigin(call)) return null
  return new Response(null, {
    status: 204,
    headers: {
      'access-control-allow-methods': methods.join(', '),
      'access-control-allow-headers': REQUEST_HEADERS,
      'access-control-max-age': String(PREFLIGHT_SECONDS),
    },
  })
}

/** Lets a named origin read a response. All responses vary by origin then, since caches hold them for every caller. */
export function allowNamedOrigin({ headers }: Response, call: Call): void {
  if (call.config.CORS_ORIGINS.length === 0) return
  headers.append('vary', 'origin')
  if (!isFromNamedOrigin(call)) return
  headers.set('access-control-allow-origin', call.request.headers.get('origin') ?? '')
  headers.set('access-control-allow-credentials', 'true')
  headers.set('access-control-expose-headers', RESPONSE_HEADERS)
}
