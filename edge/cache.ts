/**
 * The cache before the Worker: what it may keep, and how it is taken back. On Cloudflare that is Workers Cache, which serves a
 * kept response without running the Worker; elsewhere it is any HTTP cache that takes a PURGE request with tags.
 */
import type { RoomConfig } from './config.ts'
import type { Call } from './http.ts'

/** On every kept response of a sale, in all its forms: a purge takes them back together. */
export const tagOf = (sale: string) => `sale-${sale}`

const PURGE_TIMEOUT_MS = 2_000
/** Cloudflare allows a Worker a few purges a minute. A purge lost for good costs freshness: kept responses end by themselves. */
const MAX_PURGE_TRIES = 5
/** Before the next try; doubled each time. */
const PURGE_RETRY_MS = 500

/**
 * Purges a sale's kept responses, from one of the objects; false after the last failed try. A Worker's cache can only be
 * purged by the entrypoint that it stands before, so the object calls that one.
 */
export async function purgeSale(
  sale: string,
  { cachePurgeUrl, edgeToken }: Pick<RoomConfig, 'cachePurgeUrl' | 'edgeToken'>,
  exports: unknown,
): Promise<boolean> {
  const entrypoint = (exports as { default: Fetcher }).default
  const send = () => {
    const signal = AbortSignal.timeout(PURGE_TIMEOUT_MS)
    if (cachePurgeUrl !== null)
      return fetch(cachePurgeUrl, { method: 'PURGE', headers: { 'cache-tag': tagOf(sale) }, signal })
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
export async function purgeOwnCache(sale: string, { ctx }: Call): Promise<boolean> {
  const purged = await ctx.cache?.purge({ tags: [tagOf(sale)] })
  if (purged?.success !== false) return true
  console.warn(JSON.stringify({ msg: 'cache purge refused', sale, why: purged.errors }))
  return false
}
