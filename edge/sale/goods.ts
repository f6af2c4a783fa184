/**
 * What a sale's pages show of its goods: brand, descriptions, pictures. An isolate asks the origin for each version once. Without
 * it pages show names and prices.
 */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { CACHE_TTL, cacheHeaders, immutableHeaders } from '../cache.ts'
import { type Call, publicNow, refuse } from '../call.ts'
import { Copies } from '../copies.ts'
import type { Asset } from '../pages/assets.ts'
import { brandSheet } from '../pages/brand.ts'
import { loadVersion, sendVersion, type Version } from './versions.ts'

/** A page does not wait for longer; whoever comes next may find the document. */
const WAIT_MS = 1_500

/** Some kilobytes each. */
const copies = new Copies<Version & { readonly goods: GoodsDocument }>({
  max: 32,
  freshMs: 86_400_000,
  waitMs: WAIT_MS,
})

const read = (sale: string, version: number, call: Call) =>
  copies.of(`${sale} ${version}`, async () => {
    const loaded = await loadVersion('goods', sale, version, call)
    return { ...loaded, goods: JSON.parse(new TextDecoder().decode(loaded.body)) }
  })

/** For a page, or whoever else can do without: null for a sale without goods, or while they cannot be read. */
export async function goodsOf(
  sale: string,
  version: number | null | undefined,
  call: Call,
): Promise<GoodsDocument | null> {
  if (version === null || version === undefined) return null
  const goods = read(sale, version, call).then(
    (copy) => copy.goods,
    () => null,
  )
  return Promise.race([goods, scheduler.wait(WAIT_MS).then(() => null)])
}

/** `GET /sales/{sale}/goods?v=VERSION` */
export async function goods(sale: string, call: Call): Promise<Response> {
  const { facts } = await publicNow(sale, call)
  return sendVersion('goods', sale, facts.goods_version ?? null, call, (version) => read(sale, version, call))
}

// -- The brand's style sheet -------------------------------------------------------------------------------------------

/** `GET /sales/{sale}/brand.css?v=VERSION`: the accent of the goods' brand, for good. */
export async function brandStyle(sale: string, call: Call): Promise<Response> {
  const version = (await publicNow(sale, call)).facts.goods_version ?? null
  const style = brandStyleOf(sale, await goodsOf(sale, version, call))
  if (!style) refuse('not-found')
  if (new URL(call.request.url).searchParams.get('v') !== String(version)) {
    const headers = { location: style.path, ...cacheHeaders(sale, CACHE_TTL.current) }
    return new Response(null, { status: 302, headers })
  }
  const type = { 'content-type': 'text/css; charset=utf-8', 'x-content-type-options': 'nosniff' }
  return new Response(style.body, { headers: { ...type, ...immutableHeaders(sale) } })
}

/** Null for goods without an accent of their own. */
export function brandStyleOf(sale: string, goods: GoodsDocument | null): Asset | null {
  const accent = goods?.brand?.accent
  if (accent === undefined) return null
  const path = `/sales/${sale}/brand.css?v=${goods?.version}`
  return { path, type: 'text/css', body: brandSheet({ accent }) }
}
