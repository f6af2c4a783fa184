/** The limits of a sale that a reservation tells the gate: how many units a visitor may have, by product. */
import { usePromoCode } from '../../ledger/cart.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import type { Voucher } from './vouchers.ts'

interface Limits {
  readonly limits: Readonly<Record<string, number>>
  readonly variants: Readonly<Record<string, readonly string[]>>
}

const limitsBySale = new WeakMap<SaleRow, Limits>()

/** The products of a sale of which a visitor may have only so many, all variants together, and the vouchers. */
export function limitsOf(sale: SaleRow, vouchers: readonly Voucher[]): Limits {
  const known = limitsBySale.get(sale) ?? limitsOfProducts(sale)
  limitsBySale.set(sale, known)
  if (vouchers.length === 0) return known
  const ofVouchers = limitsBy(vouchers.map((one) => [usePromoCode(one.discount.code).product, one.usesPerVisitor]))
  return { ...known, limits: { ...known.limits, ...ofVouchers } }
}

function limitsOfProducts({ products }: SaleRow): Limits {
  const byProduct = Map.groupBy(products, ({ product_id, variant_of }) => variant_of ?? product_id)
  const alike = [...byProduct.values()].map((group) => group.map(({ product_id }) => product_id))
  return {
    limits: limitsBy(products.map((p) => [p.product_id, p.limit_per_visitor])),
    variants: Object.fromEntries(alike.flatMap((ids) => ids.map((id) => [id, ids]))),
  }
}

const limitsBy = (all: readonly (readonly [string, number | null])[]): Record<string, number> =>
  Object.fromEntries(all.flatMap(([id, limit]) => (limit === null ? [] : [[id, limit]])))
