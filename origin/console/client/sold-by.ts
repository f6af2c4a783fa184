/** The units in which a sale's products are counted and sold. Pure. */

interface Variant {
  readonly variant_id: string
  readonly options: Readonly<Record<string, string>>
}
interface Product {
  readonly product_id: string
  readonly name: string
  readonly variants?: readonly Variant[] | undefined
}

/**
 * The products, or instead of a product with variants these variants, by id and by the name that people read: "Aurora
 * One, 42".
 */
export const soldBy = <P extends Product>(products: readonly P[]) =>
  products.flatMap(({ variants = [], ...product }) =>
    variants.length === 0
      ? [product]
      : variants.map((variant) => ({ ...product, ...ofVariant(product.name, variant) })),
  )

const ofVariant = <V extends Variant>(name: string, { variant_id, options, ...units }: V) => ({
  ...units,
  product_id: variant_id,
  name: [name, ...Object.values(options)].join(', '),
})
