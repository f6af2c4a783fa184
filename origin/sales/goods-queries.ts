/**
 * Reads and writes the goods that the pages of a sale show. They are one document, whose version grows with each
 * change.
 */
import { type GoodsDocument, type ProductGoods, productContent } from '../../shared/api/goods.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import type { Queryable } from '../ledger/connection.ts'

/** Runs in the transaction that writes the sale. */
export async function writeGoods(tx: Queryable, saleId: string, config: SaleConfig): Promise<void> {
  const { brand, venue, names, event, products } = goodsOf(config)
  const hasSome = brand || venue || names || event || Object.values(products).some((one) => Object.keys(one).length > 0)
  await tx`
    insert into goods (sale_id, brand, venue, names, event, products)
    select ${saleId}, ${brand && tx.json(brand)}, ${venue}, ${names && tx.json(names)}, ${event && tx.json(event)},
      ${tx.json(products as never)}
    where ${Boolean(hasSome)} or exists (select from goods where sale_id = ${saleId})
    on conflict (sale_id) do update set version = goods.version + 1, brand = excluded.brand, venue = excluded.venue,
      names = excluded.names, event = excluded.event, products = excluded.products
    where (goods.brand, goods.venue, goods.names, goods.event, goods.products)
      is distinct from (excluded.brand, excluded.venue, excluded.names, excluded.event, excluded.products)`
}

/** The content of a sale's pages in addition to names and prices, as the operator wrote it. */
export const goodsOf = ({
  brand,
  venue,
  names,
  event,
  products,
}: SaleConfig): Required<Omit<GoodsDocument, 'version'>> => ({
  ...{ brand, venue, names, event },
  products: Object.fromEntries(products.map((product) => [product.product_id, goodsOfProduct(product)])),
})

const CONTENT = Object.keys(productContent) as (keyof ProductGoods)[]

const goodsOfProduct = (product: SaleConfig['products'][number]): ProductGoods =>
  Object.fromEntries(
    CONTENT.flatMap((field) => {
      const value = product[field]
      const isEmpty = Array.isArray(value) ? value.length === 0 : !value
      return isEmpty ? [] : [[field, value] as const]
    }),
  )

/** Returns null if the sale has no goods. */
export async function readGoods(sql: Queryable, saleId: string): Promise<GoodsDocument | null> {
  const [row] = await sql<GoodsDocument[]>`
    select version, brand, venue, names, event, products from goods where sale_id = ${saleId}`
  return row ?? null
}
