/**
 * Builds one document of all that the shop front lists and search finds. It is read again when a sale in use, its
 * goods or the synonyms have changed. Sales that ended long ago no longer change.
 */
import { createHash } from 'node:crypto'
import { micromark } from 'micromark'
import {
  type Catalogue,
  type ListedProduct,
  type ListedSale,
  type Listing,
  MAX_DESCRIPTION,
  MAX_ENTRIES,
} from '../../shared/api/front.ts'
import type { Image, Markdown, ProductGoods } from '../../shared/api/goods.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { available, phaseOf } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import { type ListedRow, readLines, readListed, readSynonyms } from './catalogue-queries.ts'

/** A process reuses its result for this long. */
const FRESH_MS = 1_000

interface Read {
  readonly version: string
  readonly catalogue: Catalogue
  /** A digest of the versions of the sales in use, from which the catalogue was made. */
  readonly signature: string
  /** The lines of the sales in use. */
  readonly lines: ReadonlyMap<string, Line>
}
type Line = Pick<Listing['states'][string], 'waiting' | 'wait_seconds'>

export class Catalogues {
  readonly #sql: Sql
  readonly #sales: Pick<Sales, 'inUse' | 'nowMs'>
  readonly #sendsMail: boolean
  #read: { readonly atMs: number; readonly value: Promise<Read> } | null = null

  constructor(sql: Sql, sales: Pick<Sales, 'inUse' | 'nowMs'>, sendsMail: boolean) {
    this.#sql = sql
    this.#sales = sales
    this.#sendsMail = sendsMail
  }

  /** `has` is the version of the catalogue that the caller already has. Fails as the ledger does. */
  async listing(has: string | undefined): Promise<Listing> {
    const { version, catalogue, lines } = await this.#now()
    const nowMs = this.#sales.nowMs()
    const states = this.#listed().map((sale) => [
      sale.sale_id,
      {
        phase: phaseOf(sale, nowMs),
        left: sale.products.reduce((sum, product) => sum + available(product), 0),
        tells_restock: this.#sendsMail && sale.mails.includes('restocked'),
        ...lines.get(sale.sale_id),
      },
    ])
    return { version, catalogue: has === version ? null : catalogue, states: Object.fromEntries(states) }
  }

  /** Concurrent callers share one read, and its failure. */
  #now(): Promise<Read> {
    const nowMs = performance.now()
    if (!this.#read || nowMs - this.#read.atMs > FRESH_MS) {
      const before = this.#read?.value
      this.#read = { atMs: nowMs, value: this.#next(before) }
    }
    return this.#read.value
  }

  async #next(before: Promise<Read> | undefined): Promise<Read> {
    const known = await before?.catch(() => undefined)
    const [synonyms, lines] = await Promise.all([readSynonyms(this.#sql), this.#lines()])
    const signature = signatureOf(this.#listed(), synonyms)
    if (known?.signature === signature) return { ...known, lines }
    const rows = await readListed(this.#sql, MAX_ENTRIES)
    const catalogue = { sales: withinLimit(rows.map(listedSale)), synonyms }
    const version = createHash('sha256').update(JSON.stringify(catalogue)).digest('hex').slice(0, 16)
    return { version, catalogue, signature, lines }
  }

  async #lines(): Promise<ReadonlyMap<string, Line>> {
    const nowMs = this.#sales.nowMs()
    const open = this.#listed().filter((sale) => phaseOf(sale, nowMs) === 'open')
    const rows =
      open.length > 0
        ? await readLines(
            this.#sql,
            open.map(({ sale_id }) => sale_id),
          )
        : []
    return new Map(
      rows.map(({ sale_id, waiting, wait_seconds }) => [
        sale_id,
        { waiting, ...(wait_seconds !== null && { wait_seconds }) },
      ]),
    )
  }

  #listed(): SaleRow[] {
    return this.#sales.inUse().filter(({ indexed, test }) => indexed && !test)
  }
}

export const signatureOf = (sales: readonly SaleRow[], synonyms: unknown) =>
  JSON.stringify([
    synonyms,
    sales.map((sale) => [
      ...[sale.sale_id, sale.name, sale.opens_at, sale.pre_queue_opens_at, sale.ends_at, sale.ended_at],
      sale.goods_version,
      sale.products.map(({ product_id, name, unit_price_minor }) => [product_id, name, unit_price_minor]),
    ]),
  ])

/**
 * Selects the sales that open last, as long as their entries fit. A sale that is too large is left out, and smaller
 * ones may follow it.
 */
export function withinLimit<Sale extends Pick<ListedSale, 'products'>>(sales: readonly Sale[]): readonly Sale[] {
  let room = MAX_ENTRIES
  return sales.filter(({ products }) => {
    const entries = 1 + products.length
    if (entries > room) return false
    room -= entries
    return true
  })
}

/** The sale in the form that the front shows and search reads. */
export function listedSale({
  sale_id,
  name,
  names,
  opens_at,
  pre_queue_opens_at,
  ends_at,
  ...row
}: ListedRow): ListedSale {
  const { products, goods, brand, venue } = row
  const parents = new Set(products.map(({ variant_of }) => variant_of))
  const units = products.filter(({ product_id }) => !parents.has(product_id))
  const prices = units.map(({ unit_price_minor }) => unit_price_minor)
  const listed = products
    .filter(({ variant_of, is_section }) => variant_of === null && !is_section)
    .map(({ product_id, name }) => listedProduct(product_id, name, goods?.[product_id] ?? {}))
  return {
    sale: sale_id,
    name,
    ...(names && { names }),
    opens_at: opens_at.toISOString(),
    pre_queue_opens_at: pre_queue_opens_at.toISOString(),
    ends_at: ends_at?.toISOString() ?? null,
    image: heroOf(row) ?? listed.find(({ image }) => image)?.image ?? null,
    price_from_minor: prices.length > 0 ? Math.min(...prices) : null,
    currency: units[0]?.currency ?? null,
    prices_differ: new Set(prices).size > 1,
    venue,
    shop: brand?.shop ?? null,
    ...(brand?.logo !== undefined && { logo: { url: brand.logo, ...brand.sizes?.logo } }),
    products: listed,
  }
}

/** The sale's own picture, with the alternative text of a product that shows the same picture. */
function heroOf({ brand, goods }: Pick<ListedRow, 'brand' | 'goods'>): Image | null {
  if (brand?.hero === undefined) return null
  const known = Object.values(goods ?? {})
    .flatMap(({ images = [] }) => images)
    .find(({ url }) => url === brand.hero)
  return known ?? { url: brand.hero, alt: '', ...brand.sizes?.hero }
}

function listedProduct(product_id: string, name: string, goods: ProductGoods): ListedProduct {
  const { names, description, tags, images } = goods
  return {
    product_id,
    name,
    ...(names && { names }),
    ...(description && { description: plainTexts(description) }),
    ...(tags && { tags }),
    ...(images?.[0] && { image: images[0] }),
  }
}

function plainTexts(markdown: Markdown) {
  const texts = typeof markdown === 'string' ? { en: markdown } : markdown
  return Object.fromEntries(Object.entries(texts).map(([lang, text]) => [lang, plainText(text)]))
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"' }

const withoutTags = (html: string): string =>
  html
    .split('<')
    .map((part) => part.slice(part.indexOf('>') + 1))
    .join(' ')

/** The text of markdown as a reader sees it. */
export const plainText = (markdown: string): string =>
  withoutTags(micromark(markdown))
    .replace(/&(amp|lt|gt|quot);/g, (_, name) => ENTITIES[name] ?? '')
    .replace(/\s+/g, ' ')
    .replace(/ (?=[.,;:!?])/g, '')
    .trim()
    .slice(0, MAX_DESCRIPTION)
    .toWellFormed()
