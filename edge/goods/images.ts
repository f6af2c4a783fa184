/**
 * Pictures of goods, which the origin stores. Their addresses name their content, so browsers and the caches in front
 * of this Worker store them permanently.
 */
import { CACHE_TTL } from '../http/cache.ts'
import { type Call, isCached, pathOf } from '../http/call.ts'
import { callOrigin } from '../http/origin.ts'

const KEPT = ['content-type', 'etag', 'location', 'retry-after'] as const
const { inBrowsers, inCache } = CACHE_TTL.immutable

/** The route `GET /images/{image}/{width}.{webp|jpg}`. */
export async function image(call: Call): Promise<Response> {
  const response = await callOrigin(pathOf(call.request.url), {}, call)
  const headers = new Headers({ 'x-content-type-options': 'nosniff' })
  for (const name of KEPT) {
    const value = response.headers.get(name)
    if (value !== null) headers.set(name, value)
  }
  if (response.status < 400) {
    headers.set('cache-control', `public, max-age=${inBrowsers}, immutable`)
    headers.set('cdn-cache-control', `public, max-age=${inCache}`)
  }
  const etag = headers.get('etag')
  if (response.ok && etag !== null && isCached(call.request, etag)) {
    await response.body?.cancel()
    return new Response(null, { status: 304, headers })
  }
  return new Response(response.body, { status: response.status, headers })
}
