/** The JSON of `GET /sales/{sale}`: the public sale with its goods, and with variants inside their products. */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import { productsOf } from '../../shared/products.ts'
import type { SaleNow } from '../queue/sale-cache.ts'
import { publicSale } from '../view/respond.ts'

export function saleDocument(now: Pick<SaleNow, 'facts' | 'schedule' | 'atMs'>, goods: GoodsDocument | null) {
  const { products, ...sale } = publicSale(now)
  return {
    ...sale,
    brand: goods?.brand ?? null,
    venue: goods?.venue ?? null,
    names: goods?.names ?? null,
    event: goods?.event ?? null,
    products: productsOf(products, goods),
  }
}
export type SaleDocument = ReturnType<typeof saleDocument>
