/**
 * The cache before the Worker: what it may keep, and how it is taken back. On Cloudflare that is Workers Cache, which
 * serves a cached response without running the Worker; elsewhere it is any HTTP cache that takes a PURGE request with
 * tags.
 */

import { type Call, NO_STORE, warn } from './call.ts'
import type { RoomConfig } from './config.ts'

/** On every cached response of a sale, in all forms: a purge takes them back together. */
export const tagOf = (sale: string) => `sale-${sale}`

/** Seconds. The cache may send a stale response for a while, as it refreshes it. */
interface CacheTtl {
  readonly inBrowsers: number
  readonly inCache: number
  readonly stale: number
}

/**
 * How long caches hold a sale's responses. Each is the same for all who send the same headers that its `Vary` names.
 */
export const CACHE_TTL = {
  /**
   * A stale schedule is never sent: a page that reads it alone every second would always get the copy of its previous
   * read.
   */
  schedule: { inBrowsers: 1, inCache: 1, stale: 0 },
  document: { inBrowsers: 1, inCache: 1, stale: 2 },
  /**
   * A script shows the current phase, so a copy may be stale. Each language that browsers ask for is a variant with a
   * render of its own.
   */
  landing: { inBrowsers: 1, inCache: 5, stale: 25 },
  /** The front page is cached as long as the landing page, so that a rush loads it from the cache. */
  front: { inBrowsers: 1, inCache: 5, stale: 25 },
  /** The results of a query, and its completions. */
  search: { inBrowsers: 10, inCache: 30, stale: 60 },
  /** Purged when the sale lives again, which a browser's own copy is not. */
  final: { inBrowsers: 1, inCache: 300, stale: 3600 },
  /**
   * The sections of a hall, the state of its seats, and where the current version of a document is; never stale, as
   * the schedule.
   */
  current: { inBrowsers: 1, inCache: 1, stale: 0 },
  /** What never changes under its address: a version of a hall's chart or of a sale's goods. */
  immutable: { inBrowsers: 31_536_000, inCache: 31_536_000, stale: 0 },
  /** The newest posts of a feed. */
  feed: { inBrowsers: 1, inCache: 2, stale: 0 },
  /** A full page of a feed. No post is added to it; an edit or a removal shows a minute later. */
  fullPage: { inBrowsers: 60, inCache: 60, stale: 0 },
} as const satisfies Record<string, CacheTtl>

/** `CDN-Cache-Control` (RFC 9213), since `s-maxage` would forbid Workers Cache to send anything stale. */
export const cacheTimes = ({ inBrowsers, inCache, stale }: CacheTtl) => ({
  'cache-control': `public, max-age=${inBrowsers}`,
  'cdn-cache-control': `public, max-age=${inCache}, stale-while-revalidate=${stale}`,
})

export const cacheHeaders = (sale: string, ttl: CacheTtl) => ({ ...cacheTimes(ttl), 'cache-tag': tagOf(sale) })

export const immutableHeaders = (sale: string) => ({
  ...cacheHeaders(sale, CACHE_TTL.immutable),
  'cache-control': `public, max-age=${CACHE_TTL.immutable.inBrowsers}, immutable`,
})

/** Headers that set a shared cache's time, whatever `Cache-Control` says (RFC 9213, and its predecessors). */
export const TARGETED = /(^|-)cdn-cache-control$|^(surrogate|edge)-control$|^x-accel-expires$/

/**
 * The final rule for each of our own responses: without caching headers it must not be cached (Workers Cache would do
 * so for two hours, for all visitors), and neither must a response that sets a cookie.
 */
export function withCacheRule(response: Response, { setCookies }: Call): Response {
  const { headers } = response
  const said = headers.get('cache-control')
  if (said !== null && (setCookies.length === 0 || !/\bpublic\b/.test(said))) return response
  const ruled = new Response(response.body, response)
  for (const name of [...headers.keys()]) if (TARGETED.test(name)) ruled.headers.delete(name)
  ruled.headers.delete('cache-tag')
  ruled.headers.set('cache-control', NO_STORE)
  return ruled
}

const PURGE_TIMEOUT_MS = 2_000
/** Cloudflare allows a Worker a few purges a minute. The waiting room repeats a purge that failed all its tries. */
const MAX_PURGE_TRIES = 5
/** Before the next try; doubled each time. */
const PURGE_RETRY_MS = 500

/**
 * Purges a sale's cached responses, from one of the objects; false after the last failed try. A Worker's cache can
 * only be purged by the entrypoint that it serves, so the object calls that one.
 */
export async function purgeSale(
  sale: string,
  { cachePurgeUrl, cachePurgeToken, edgeToken }: Pick<RoomConfig, 'cachePurgeUrl' | 'cachePurgeToken' | 'edgeToken'>,
  exports: unknown,
): Promise<boolean> {
  const entrypoint = (exports as { default: Fetcher }).default
  const send = () => {
    const signal = AbortSignal.timeout(PURGE_TIMEOUT_MS)
    if (cachePurgeUrl !== null) {
      const token = cachePurgeToken === undefined ? {} : { authorization: `Bearer ${cachePurgeToken}` }
      return fetch(cachePurgeUrl, { method: 'PURGE', headers: { 'cache-tag': tagOf(sale), ...token }, signal })
    }
    const headers = { authorization: `Bearer ${edgeToken}` }
    return entrypoint.fetch(`http://edge/internal/sales/${sale}/purge`, { method: 'POST', headers, signal })
  }
  for (let tries = 1; ; tries++) {
    try {
      const response = await send()
      await response.body?.cancel()
      if (response.ok) return true
      throw new Error(`status ${response.status}`)
    } catch (error) {
      console.warn(JSON.stringify({ msg: 'cache purge failed', sale, tries, why: String(error) }))
      if (tries === MAX_PURGE_TRIES) return false
      await scheduler.wait(PURGE_RETRY_MS * 2 ** (tries - 1))
    }
  }
}

/** Purges a sale in this entrypoint's cache; false if Cloudflare refuses. Raw workerd has no such cache. */
export async function purgeOwnCache(sale: string, call: Call): Promise<boolean> {
  const purged = await call.ctx.cache?.purge({ tags: [tagOf(sale)] })
  if (purged?.success !== false) return true
  warn('cache purge refused', { sale, why: purged.errors }, call)
  return false
}
