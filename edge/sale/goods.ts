/**
 * What a sale's pages show of its goods: brand, descriptions, pictures. A document that never changes under its version, so an
 * isolate asks the origin for each once. Without it pages show names and prices.
 */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { type Call, publicNow, refuse } from '../call.ts'
import { Copies } from '../copies.ts'
import { callOrigin } from '../origin.ts'
import type { Asset } from '../pages/assets.ts'
import { brandSheet } from '../pages/brand.ts'

/** A page does not wait for longer; whoever comes next may find the document. */
const WAIT_MS = 1_500

/** By sale and version; some kilobytes each. */
const copies = new Copies<GoodsDocument>({ max: 32, freshMs: 86_400_000, waitMs: WAIT_MS })

/** For a page, or whoever else can do without: null for a sale without goods, or while they cannot be read. */
export async function goodsOf(
  sale: string,
  version: number | null | undefined,
  call: Call,
): Promise<GoodsDocument | null> {
  if (version === null || version === undefined) return null
  const read = copies.of(`${sale} ${version}`, () => readGoods(sale, version, call)).catch(() => null)
  return Promise.race([read, scheduler.wait(WAIT_MS).then(() => null)])
}

async function readGoods(sale: string, version: number, call: Call): Promise<GoodsDocument> {
  const headers = { authorization: `Bearer ${call.config.EDGE_TOKEN}` }
  const response = await callOrigin(`/internal/sales/${sale}/goods?v=${version}`, { headers }, call)
  return response.ok ? await response.json() : refuse('try-again', { retry_after_seconds: 1 })
}

// -- The brand's style sheet -------------------------------------------------------------------------------------------

/** `GET /sales/{sale}/brand.css?v=VERSION`: the accent of the goods' brand, for good. */
export async function brandStyle(sale: string, call: Call): Promise<Response> {
  const version = (await publicNow(sale, call)).facts.goods_version ?? null
  const style = brandStyleOf(sale, await goodsOf(sale, version, call))
  if (!style) refuse('not-found')
  if (new URL(call.request.url).searchParams.get('v') !== String(version)) {
    const headers = { location: style.path, ...cacheHeaders(sale, CACHE_TTL.document) }
    return new Response(null, { status: 302, headers })
  }
  const caching = cacheHeaders(sale, CACHE_TTL.chart)
  const headers = {
    'content-type': 'text/css; charset=utf-8',
    'x-content-type-options': 'nosniff',
    ...caching,
    'cache-control': `public, max-age=${CACHE_TTL.chart.inBrowsers}, immutable`,
  }
  return new Response(style.body, { headers })
}

/** Null for goods without an accent of their own. */
export function brandStyleOf(sale: string, goods: GoodsDocument | null): Asset | null {
  const accent = goods?.brand?.accent
  if (accent === undefined) return null
  const path = `/sales/${sale}/brand.css?v=${goods?.version}`
  return { path, type: 'text/css', body: brandSheet({ accent }) }
}
