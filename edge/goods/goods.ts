/**
 * The goods on a sale's pages: brand, descriptions, pictures. An isolate reads each version from the origin once.
 * Without them pages show names and prices.
 */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { Call } from '../http/call.ts'
import { Copies } from '../http/copies.ts'
import { publicNow } from '../queue/sale-now.ts'
import { loadVersion, sendVersion, type Version } from './versions.ts'

/** A page waits for at most this long; the next request may find the document. */
const WAIT_MS = 1_500

/** Each document has some kilobytes. */
const copies = new Copies<Version & { readonly goods: GoodsDocument }>({
  max: 32,
  freshMs: 86_400_000,
  waitMs: WAIT_MS,
})

const keyOf = (sale: string, version: number) => `${sale} ${version}`

const read = (sale: string, version: number, call: Call) =>
  copies.of(keyOf(sale, version), async () => {
    const loaded = await loadVersion('goods', sale, version, call)
    return { ...loaded, goods: JSON.parse(new TextDecoder().decode(loaded.body)) }
  })

/**
 * Reads the goods for a page, or another caller that works without them. Null for a sale without goods, or while they
 * cannot be read.
 */
export async function goodsOf(sale: string, version: number | null, call: Call): Promise<GoodsDocument | null> {
  if (version === null) return null
  const known = copies.known(keyOf(sale, version))
  if (known) return known.goods
  const goods = read(sale, version, call).then(
    (copy) => copy.goods,
    () => null,
  )
  return Promise.race([goods, scheduler.wait(WAIT_MS).then(() => null)])
}

/** The route `GET /sales/{sale}/goods?v=VERSION`. */
export async function goods(sale: string, call: Call): Promise<Response> {
  const { facts } = await publicNow(sale, call)
  return sendVersion('goods', sale, facts.goods_version, call, (version) => read(sale, version, call))
}
