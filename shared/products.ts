/** Groups the units of a sale as products: each with its variants and the content of its pages. */
import type { GoodsDocument, ProductGoods } from './api/goods.ts'

/** A unit of sale: a product, or one of its variants, which has all fields of a product except its goods. */
interface Unit {
  readonly product_id: string
  readonly name: string
  readonly currency: string
  readonly variant_of?: string | null | undefined
  readonly variant?: Readonly<Record<string, string>> | null | undefined
  readonly sku?: string | null | undefined
  readonly section_type?: string | null | undefined
  readonly limit?: number | null | undefined
  readonly weight_grams?: number | null | undefined
  readonly has_terms?: boolean | undefined
}

type OfVariants = 'variant_of' | 'variant' | 'sku'
type OfProducts = 'product_id' | 'name' | 'currency' | 'section_type' | 'limit' | 'weight_grams' | 'has_terms'

type Variant<U extends Unit> = Omit<U, OfVariants | OfProducts> & {
  readonly variant_id: string
  readonly options: Readonly<Record<string, string>>
  readonly sku?: string
}
export type Product<U extends Unit> = Omit<U, OfVariants> & ProductGoods & { readonly variants?: readonly Variant<U>[] }

/** `goods` is null if the sale has none. */
export function productsOf<U extends Unit>(units: readonly U[], goods: GoodsDocument | null): Product<U>[] {
  const variants = Map.groupBy(units, ({ variant_of }) => variant_of ?? null)
  return (variants.get(null) ?? []).map(({ variant_of, variant, sku, ...product }) => {
    const own = variants.get(product.product_id)
    return { ...product, ...goods?.products[product.product_id], ...(own && { variants: own.map(variantOf) }) }
  })
}

function variantOf<U extends Unit>({
  product_id: variant_id,
  variant,
  sku,
  variant_of,
  name,
  currency,
  section_type,
  limit,
  weight_grams,
  has_terms,
  ...unit
}: U): Variant<U> {
  return { variant_id, options: variant ?? {}, ...unit, ...(sku && { sku }) }
}
