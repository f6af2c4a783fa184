/** The products for sale as pages name and show them, each with its variants by option. */
import type { GoodsDocument, Image, ProductGoods } from '../../../shared/api/goods.ts'
import type { OrderLine, PublicProduct, PublicSale } from '../../../shared/api/public.ts'
import { fill, listed, money } from '../../../shared/format.ts'
import type { PageContext, SaleView } from '../view.ts'
import type { Language } from '../words/words.ts'

/** The sale with the names that the shop has set in this language; other names stay. */
export function namedIn<Sale extends Pick<PublicSale, 'name' | 'products'>>(
  lang: Language,
  sale: Sale,
  goods: GoodsDocument | null,
): Sale {
  if (!goods) return sale
  const products = sale.products.map((product) => {
    const { names, options = [] } = aboutIn(goods, product)
    const own = names?.[lang]
    if (own === undefined) return product
    const values = options.flatMap(({ name }) => product.variant?.[name] ?? [])
    return { ...product, name: listed(lang, [own, ...values]) }
  })
  return { ...sale, name: goods.names?.[lang] ?? sale.name, products }
}

/** The currency of all prices. A sale without products has the default. */
export const currencyOf = ({ products }: Pick<PublicSale, 'products'>) => products[0]?.currency ?? 'EUR'

/** The goods of a product, or of the product of a variant. */
const aboutIn = (goods: GoodsDocument | null, { product_id, variant_of }: PublicProduct): ProductGoods =>
  goods?.products[variant_of ?? product_id] ?? {}

/** The name in the visitor's language if the shop has set it, otherwise the name at the time of sale. */
export function nameOfLine({ state, goods, lang }: SaleView, { product_id, name }: OrderLine): string {
  const product = state.products.find((one) => one.product_id === product_id)
  return product && aboutIn(goods, product).names?.[lang] ? product.name : name
}

export interface Item {
  readonly product: PublicProduct
  /** The product's goods; empty if there are none, or while they cannot be read. */
  readonly goods: ProductGoods
  readonly name: string
  readonly image: Image | null
  /** The units that visitors can buy: the variants, or the product itself. */
  readonly units: readonly PublicProduct[]
  /**
   * The units grouped by the values of all options except the last. With one option there is one group without a
   * heading.
   */
  readonly groups: readonly Group[]
  /** The options; empty for a product without variants. */
  readonly options: readonly NamedOption[]
}

interface NamedOption {
  /** The name by which variants have their values. */
  readonly name: string
  /** The name in the visitor's language. */
  readonly label: string
}

interface Group {
  readonly heading: string
  readonly choices: readonly { readonly unit: PublicProduct; readonly value: string }[]
}

export function itemsOf({ state, goods, lang }: Pick<SaleView, 'state' | 'goods' | 'lang'>): Item[] {
  const { products } = state
  return products
    .filter(({ variant_of }) => !variant_of)
    .map((product) => {
      const about = aboutIn(goods, product)
      const variants = products.filter(({ variant_of }) => variant_of === product.product_id)
      const options = optionsOf(about, variants).map((option) => ({
        ...option,
        label: option.names?.[lang] ?? option.name,
      }))
      return {
        product,
        goods: about,
        name: product.name,
        image: about.images?.[0] ?? null,
        units: variants.length > 0 ? variants : [product],
        groups: groupsOf(options, variants, lang),
        options: variants.length > 0 ? options : [],
      }
    })
}

type Options = NonNullable<ProductGoods['options']>

/** The options as the shop has listed them, or as the variants have them while the goods cannot be read. */
function optionsOf({ options }: ProductGoods, variants: readonly PublicProduct[]): Options {
  if (options) return options
  const names = Object.keys(variants[0]?.variant ?? {})
  return names.map((name) => ({ name, values: [...new Set(variants.map(({ variant }) => variant?.[name] ?? ''))] }))
}

/** The groups are in the order of the options' values. */
function groupsOf(
  options: readonly (Options[number] & NamedOption)[],
  variants: readonly PublicProduct[],
  lang: Language,
): Group[] {
  const last = options.at(-1)
  if (!last) return []
  const others = options.slice(0, -1)
  const place = ({ variant }: PublicProduct) =>
    options.reduce((sum, { name, values }) => sum * (values.length + 1) + values.indexOf(variant?.[name] ?? ''), 0)
  const sorted = variants.toSorted((a, b) => place(a) - place(b))
  const headingOf = ({ variant }: PublicProduct) =>
    listed(
      lang,
      others.map(({ name, label }) => `${label}: ${variant?.[name] ?? ''}`),
    )
  return [...Map.groupBy(sorted, headingOf)].map(([heading, units]) => ({
    heading,
    choices: units.map((unit) => ({ unit, value: unit.variant?.[last.name] ?? unit.name })),
  }))
}

/**
 * The name of a unit within its product: "Size 42", or "Black, 42". For the product itself it is the product's name.
 */
export function unitName({ name, options }: Item, { variant }: PublicProduct, lang: Language): string {
  if (!variant) return name
  const values = options.map((option) => variant[option.name] ?? '')
  return values.length === 1 ? `${options[0]?.label} ${values[0]}` : listed(lang, values)
}

/** The price of all these units, or the lowest with "from"; empty if there are none. */
export function priceOf({ words, lang }: PageContext, units: readonly PublicProduct[]): string {
  const [first] = units
  if (!first) return ''
  const least = Math.min(...units.map(({ unit_price_minor }) => unit_price_minor))
  const price = money(lang, least, first.currency)
  return units.every(({ unit_price_minor }) => unit_price_minor === least) ? price : fill(words.hall.from, { m: price })
}

/** The picture of an order, which is that of the first line with one. */
export function pictureOf({ goods, state }: SaleView, lines: readonly OrderLine[]): Image | null {
  for (const { product_id = '' } of lines) {
    const parent = state.products.find((product) => product.product_id === product_id)?.variant_of ?? product_id
    const [image] = goods?.products[parent]?.images ?? []
    if (image) return image
  }
  return null
}
