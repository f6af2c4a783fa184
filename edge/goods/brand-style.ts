/** The colours of a sale's own brand, as a style sheet for each version of its goods. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { CACHE_TTL, cacheHeaders, immutableHeaders } from '../http/cache.ts'
import { type Call, refuse } from '../http/call.ts'
import type { Asset } from '../pages/assets.ts'
import { brandSheet } from '../pages/brand.ts'
import { publicNow } from '../queue/sale-now.ts'
import { goodsOf } from './goods.ts'

/**
 * The route `GET /sales/{sale}/brand.css?v=VERSION`: the current version is cached permanently, and any other address
 * redirects to it.
 */
export async function brandStyle(sale: string, call: Call): Promise<Response> {
  const version = (await publicNow(sale, call)).facts.goods_version
  const style = brandStyleOf(sale, await goodsOf(sale, version, call))
  if (!style) refuse('not-found')
  if (new URL(call.request.url).searchParams.get('v') !== String(version)) {
    const headers = { location: style.path, ...cacheHeaders(sale, CACHE_TTL.current) }
    return new Response(null, { status: 302, headers })
  }
  const headers = { 'content-type': `${style.type}; charset=utf-8`, 'x-content-type-options': 'nosniff' }
  return new Response(style.body, { headers: { ...headers, ...immutableHeaders(sale) } })
}

/** Returns null for goods without their own accent colour. */
export function brandStyleOf(sale: string, goods: GoodsDocument | null): Asset | null {
  const accent = goods?.brand?.accent
  if (accent === undefined) return null
  const path = `/sales/${sale}/brand.css?v=${goods?.version}`
  return { path, type: 'text/css', body: brandSheet({ accent }) }
}
