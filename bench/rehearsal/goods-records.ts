/** The ledger's records of a drop after its sale is over. */
import type postgres from 'postgres'
import { LIVE } from '../../shared/api/order-status.ts'
import type { GoodsRecords } from '../invariants/evidence.ts'
import { CODE } from '../lib/demo-drop.ts'

/** The uses of the promo code are counted as units of this product. */
const USES = `%${CODE}`

export async function readGoods(sql: postgres.Sql, sale: string): Promise<GoodsRecords> {
  const rows = await sql<{ order: string; product: string; isLive: boolean; hasCode: boolean; total_minor: number }[]>`
    select order_id as "order", product_id as product, status in ${sql(LIVE)} as "isLive",
      coalesce(cart @> ${sql.json([{ product: USES }])}, false) as "hasCode",
      order_total(unit_price_minor, quantity, cart, bill)::float8 as total_minor
    from orders where sale_id = ${sale}`
  const [code] = await sql<GoodsRecords['code'][]>`
    select total as uses, held, sold from products where sale_id = ${sale} and product_id = ${USES}`
  if (!code) throw new Error('the promo code is gone')
  return { orders: new Map(rows.map(({ order, ...row }) => [order, row])), code }
}
