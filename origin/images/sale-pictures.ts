/**
 * Imports the pictures that a sale names when the sale is written. Pictures on other hosts are fetched and stored,
 * and the size of each is recorded, so that pages can reserve its space.
 */
import type { Image } from '../../shared/api/goods.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { type FieldError, ProblemError, problem } from '../../shared/problem.ts'
import { type DownloadOptions, download } from './download.ts'
import type { Images, Picture } from './images.ts'
import { NoPicture } from './resize.ts'

/** Throws a ProblemError that names each field whose picture belongs to another host and cannot be fetched. */
export async function withPictures(
  config: SaleConfig,
  images: Images,
  downloads: DownloadOptions,
): Promise<SaleConfig> {
  const found = await findPictures(picturesIn(config), images, downloads)
  if (found.size === 0) return config
  const sized = <T extends { readonly url: string }>(one: T): T => ({ ...one, ...addressAndSize(found.get(one.url)) })
  const { brand } = config
  return {
    ...config,
    brand: brand && withSizes(brand, found),
    products: config.products.map((p) => (p.images ? { ...p, images: p.images.map(sized) } : p)),
  }
}

/** The same for one picture, named by the field `image`. */
export async function ownImage(image: Image, images: Images, downloads: DownloadOptions): Promise<Image> {
  const found = await findPictures(new Map([[image.url, 'image.url']]), images, downloads)
  return { ...image, ...addressAndSize(found.get(image.url)) }
}

/** True if the sale names pictures on other hosts, so that a save takes as long as they do. */
export const hasPicturesElsewhere = (config: SaleConfig) => [...picturesIn(config).keys()].some(isElsewhere)

const isElsewhere = (url: string) => !url.startsWith('/')

/** One save fetches this many pictures at once, of up to 15 MB each in memory. */
const FETCHED_AT_ONCE = 6
/** All pictures of a save are fetched within this time, however many it names. */
const FETCHED_WITHIN_MS = 30_000

/** Returns the pictures by the address that names them. `named` maps each address to its field. */
async function findPictures(
  named: ReadonlyMap<string, string>,
  images: Images,
  downloads: DownloadOptions,
): Promise<ReadonlyMap<string, Picture>> {
  const until = AbortSignal.timeout(FETCHED_WITHIN_MS)
  let latest: Promise<unknown> = Promise.resolve()
  /** The pictures of one save are made one after the other, because only few of all callers may wait. */
  const addInTurn = (bytes: Uint8Array) => {
    const added = latest.then(() => images.add(bytes))
    latest = added.catch(() => {})
    return added
  }
  const found = new Map<string, Picture>()
  const faults = new Map<string, string>()
  const waiting = named.keys()
  const findNext = async () => {
    for (const url of waiting)
      try {
        const picture = isElsewhere(url)
          ? await addInTurn(await download(url, downloads, until))
          : await images.use(url)
        if (picture) found.set(url, picture)
        else faults.set(url, 'there is no such picture')
      } catch (error) {
        if (!(error instanceof NoPicture)) throw error
        faults.set(url, error.message)
      }
  }
  await Promise.all(Array.from({ length: FETCHED_AT_ONCE }, findNext))
  const errors = [...named].flatMap(([url, field]): FieldError[] => {
    const detail = faults.get(url)
    return detail === undefined ? [] : [{ field, detail }]
  })
  if (errors.length > 0) {
    const detail = errors.map((e) => `${e.field}: ${e.detail}`).join('; ')
    throw new ProblemError(problem('invalid-fields', { detail, errors }))
  }
  return found
}

/** Maps each address to the first field that names it. */
function picturesIn({ products, brand }: SaleConfig): Map<string, string> {
  const named: [string | undefined, string][] = [
    [brand?.logo, 'brand.logo'],
    [brand?.hero, 'brand.hero'],
    ...products.flatMap(({ images = [] }, p) =>
      images.map(({ url }, i): [string, string] => [url, `products.${p}.images.${i}.url`]),
    ),
  ]
  const first = new Map<string, string>()
  for (const [url, field] of named) if (url !== undefined && !first.has(url)) first.set(url, field)
  return first
}

function withSizes(
  { logo, hero, sizes: _, ...brand }: NonNullable<SaleConfig['brand']>,
  found: ReadonlyMap<string, Picture>,
): NonNullable<SaleConfig['brand']> {
  const pictures = {
    logo: logo === undefined ? undefined : found.get(logo),
    hero: hero === undefined ? undefined : found.get(hero),
  }
  const ours = Object.entries(pictures).flatMap(([name, picture]) => (picture ? [[name, picture] as const] : []))
  return {
    ...brand,
    ...Object.fromEntries(ours.map(([name, { url }]) => [name, url])),
    sizes: Object.fromEntries(ours.map(([name, { width, height, widths }]) => [name, { width, height, widths }])),
  }
}

const addressAndSize = (picture: Picture | undefined) => {
  if (!picture) return {}
  const { url, width, height, widths } = picture
  return { url, width, height, widths: [...widths] }
}
