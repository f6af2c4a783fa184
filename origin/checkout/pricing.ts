/**
 * What a cart costs, computed from the sale as it was read: the ledger records it at that, or refuses (`price_changed`). Where a sale adds
 * nothing to its prices and no code is used, nothing is computed. Pure.
 */
import { MAX_TOTAL_MINOR } from '../../shared/api/goods.ts'
import type { CheckoutRequest, Totals } from '../../shared/api/public.ts'
import { billOf, totalsOf } from '../../shared/bill.ts'
import { invalidField, type Problem, problem } from '../../shared/problem.ts'
import type { Charge, Quote } from '../ledger/record.ts'
import { discountOf, isFor, unknownCode } from '../promo-codes/promo-code.ts'
import type { PromoCodeRow } from '../promo-codes/promo-code-queries.ts'
import type { SaleRow } from '../sales/sale-row.ts'
import type { Chart } from '../seats/chart.ts'
import { type Cart, isPromoCode, unitLines, usePromoCode } from '../stock/cart.ts'

export interface Pricing {
  readonly sale: SaleRow
  /** Valid ones, which may be used together. */
  readonly codes: readonly PromoCodeRow[]
  /** Has the seats' prices, where there are seats. */
  readonly chart: Chart | null
  /** Where it goes to, as far as it is known. */
  readonly country?: string | undefined
}

export interface Price {
  readonly charge: Charge
  readonly totals: Totals
}

/** Whether a sale adds anything to its prices. */
const addsToPrices = ({ fees, tax, delivery }: SaleRow) =>
  fees.length > 0 || tax?.included === false || (delivery.kind === 'address' && delivery.prices !== undefined)

/** Whether an order is more than its lines at their prices. */
const isBilled = ({ sale, codes }: Pick<Pricing, 'sale' | 'codes'>) => codes.length > 0 || addsToPrices(sale)

/** Whether its sum must be known before it is reserved. */
export const needsPrice = (sale: SaleRow, { promo_code, total_minor }: CheckoutRequest) =>
  promo_code !== undefined || total_minor !== undefined || addsToPrices(sale)

/** Promo codes among the parts do not matter. A problem where it is not sold so. */
export function priceOf(pricing: Pricing, cart: Cart): Price | Problem {
  const { sale, codes, chart, country } = pricing
  const lines = unitLines(cart.filter(({ product }) => !isPromoCode(product))).map(({ product, quantity, seat }) => {
    const row = sale.products.find(({ product_id }) => product_id === product)
    const own = seat === null ? undefined : chart?.at(seat)?.priceMinor
    return {
      product,
      quantity,
      unit_price_minor: own ?? row?.unit_price_minor ?? 0,
      variant_of: row?.variant_of ?? null,
      weight_grams: row?.weight_grams ?? null,
    }
  })
  const bought = lines.map(({ product, variant_of }) => ({ product_id: product, variant_of }))
  const useless = codes.find((code) => !isFor(code, bought))
  if (useless) return unknownCode(useless.code)
  const priced = billOf(lines, sale, { discounts: codes.map(discountOf), country })
  if (!priced) return invalidField('quantity', 'is too heavy to be sent there')
  const prices = lines.map(({ unit_price_minor }) => unit_price_minor)
  const { bill, shares } = priced
  // Tax that the prices include is not stored with an order, but said on its receipt.
  const totals = isBilled(pricing) ? priced.totals : totalsOf(priced.totals.subtotal_minor, [])
  if (totals.total_minor > MAX_TOTAL_MINOR) return invalidField('quantity', 'the sum is too large')
  const billed = isBilled(pricing) && { billed: { terms: sale.terms_version, bill, shares } }
  return { charge: { prices, ...billed }, totals }
}

export const priceChanged = (totals: Partial<Totals> = {}): Problem => problem('price-changed', { ...totals })

/** `shownMinor`: the sum that the buyer has seen. `isPlain`: units of one product, without a cart unless something is added to its price. */
export function quoteOf(pricing: Pricing, shownMinor: number | undefined, isPlain: boolean): Quote {
  const uses = pricing.codes.map(({ code }) => usePromoCode(code))
  return (units) => {
    const price = priceOf(pricing, units)
    if ('type' in price) return price
    if (shownMinor !== undefined && shownMinor !== price.totals.total_minor) return priceChanged(price.totals)
    const { charge } = price
    const cart = isPlain && !charge.billed ? {} : { cart: [...units, ...uses] }
    return { ...cart, ...((charge.billed || shownMinor !== undefined) && { charge }) }
  }
}
