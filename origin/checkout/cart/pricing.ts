/**
 * Computes the cost of a cart from the sale as it was read. The ledger records the order at this cost, or refuses it
 * (`price_changed`). Nothing is computed if the sale adds nothing to its prices and the buyer presents no voucher.
 * Pure.
 */
import { type BillLine, MAX_TOTAL_MINOR } from '../../../shared/api/goods.ts'
import type { CheckoutRequest, Totals } from '../../../shared/api/public.ts'
import { chargeIssue } from '../../../shared/api/stripe-amount.ts'
import { billOf, totalsOf } from '../../../shared/bill.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import { invalidField, type Problem, problem, TOO_HEAVY } from '../../../shared/problem.ts'
import { type Cart, isPromoCode, unitLines, usePromoCode } from '../../ledger/cart.ts'
import type { Charge, Quote } from '../../ledger/record.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import type { StoredLine } from '../../ledger/schema/orders.ts'
import type { Chart } from '../../seats/chart.ts'
import { clashOf, isFor, unknownCode, type Voucher } from './vouchers.ts'

export interface Pricing {
  readonly sale: SaleRow
  /** What the buyer presents, valid at this moment. */
  readonly vouchers: readonly Voucher[]
  /** The chart, which has the prices of the seats if there are any. */
  readonly chart: Chart | null
  /** The address of the delivery, as far as it is known. */
  readonly country?: string | undefined
}

export interface Price {
  readonly charge: Charge
  readonly totals: Totals
}

/** True if the sale adds fees, tax or delivery to the prices of its products. */
const addsToPrices = ({ fees, tax, delivery }: SaleRow) =>
  fees.length > 0 || tax?.included === false || (delivery.kind === 'address' && delivery.prices !== undefined)

/** True if an order costs something other than the sum of its lines. */
const isBilled = ({ sale, vouchers }: Pick<Pricing, 'sale' | 'vouchers'>) => vouchers.length > 0 || addsToPrices(sale)

/** True if the total must be known before the units are reserved. */
export const needsPrice = (sale: SaleRow, { promo_code, total_minor }: CheckoutRequest) =>
  promo_code !== undefined || total_minor !== undefined || addsToPrices(sale)

const PRICED = 'A product that has a price is in its sale.'

/** Uses of vouchers among the parts do not matter. A problem where it is not sold so. */
export function priceOf(pricing: Pricing, cart: Cart): Price | Problem {
  const { sale, vouchers, chart, country } = pricing
  const units = cart.filter(({ product }) => !isPromoCode(product))
  // The sale may have lost a product since the cart was read.
  if (units.some(({ product }) => !productOf(sale, product))) return problem('unknown-product')
  const lines = unitLines(units).map(({ product, quantity, seat }) => {
    const own = seat === null ? undefined : chart?.at(seat)?.priceMinor
    const { unit_price_minor, variant_of, weight_grams } = assertExists(productOf(sale, product), PRICED)
    return { product, quantity, variant_of, weight_grams, unit_price_minor: own ?? unit_price_minor }
  })
  const useless = vouchers.find((voucher) => !isFor(voucher, boughtIn(lines)))
  const clash = useless ? unknownCode(useless.discount.code) : clashOf(vouchers)
  if (clash) return clash
  const currency = currencyOf(sale, lines)
  const priced = billOf(lines, sale, { discounts: vouchers.map(({ discount }) => discount), country, currency })
  if (!priced) return { ...invalidField('quantity', 'is too heavy to be sent there'), reason: TOO_HEAVY }
  const prices = lines.map(({ unit_price_minor }) => unit_price_minor)
  const { bill, shares } = priced
  // Tax that the prices include is not stored with an order, but said on its receipt.
  const totals = isBilled(pricing) ? priced.totals : totalsOf(priced.totals.subtotal_minor, [])
  if (totals.total_minor > MAX_TOTAL_MINOR) return invalidField('quantity', 'the sum is too large')
  const issue = chargeIssue(totals.total_minor, currency)
  if (issue) return invalidField('quantity', `the sum ${issue}`)
  const billed = isBilled(pricing) && { billed: { terms: sale.terms_version, bill, shares } }
  return { charge: { prices, ...billed }, totals }
}

const productOf = ({ products }: SaleRow, product: string) => products.find(({ product_id }) => product_id === product)

/** The currency is the same for all lines of an order. An order without lines has none, and costs nothing. */
function currencyOf(sale: SaleRow, [first]: readonly { readonly product: string }[]): string {
  return first ? assertExists(productOf(sale, first.product), PRICED).currency : ''
}

/**
 * The fields of a product that the bill of a stored order depends on, beside its stored price. A product that left the
 * sale belongs to no variants, and weighs nothing.
 */
function rowOf(sale: SaleRow, product: string) {
  const { variant_of = null, weight_grams = null } = productOf(sale, product) ?? NO_PRODUCT
  return { variant_of, weight_grams }
}
const NO_PRODUCT = { variant_of: null, weight_grams: null }

const boughtIn = (lines: readonly { readonly product: string; readonly variant_of: string | null }[]) =>
  lines.map(({ product, variant_of }) => ({ product_id: product, variant_of }))

interface Remade {
  readonly bill: readonly BillLine[]
  readonly cart: readonly StoredLine[]
  /** The line numbers of the vouchers' uses that applied only to the removed lines. */
  readonly codesBack: readonly number[]
}

/**
 * Computes the bill again at the stored prices of the lines, without the lines that leave before payment. Line
 * numbers count from 1.
 */
export function billWithout(
  cart: readonly StoredLine[],
  gone: readonly number[],
  { sale, vouchers, country }: Omit<Pricing, 'chart'>,
): Remade {
  const isLeft = ({ product, returned }: StoredLine, i: number) =>
    !returned && !gone.includes(i + 1) && !isPromoCode(product)
  const left = cart.filter(isLeft).map((line) => ({ ...rowOf(sale, line.product), ...line }))
  const holding = vouchers.filter((voucher) => isFor(voucher, boughtIn(left))).map(({ discount }) => discount)
  const made = billOf(left, sale, {
    discounts: holding,
    country,
    currency: currencyOf(sale, left),
  })
  if (!made) throw new Error('what is left of an order cannot be sent, although more of it could')
  const shares = new Map(
    cart.filter(isLeft).map((line, n) => [line, assertExists(made.shares[n], 'A bill has a share for each line.')]),
  )
  const kept = new Set(holding.map(({ code }) => usePromoCode(code).product))
  return {
    bill: made.bill,
    cart: cart.map((line) => {
      const { share_minor, ...rest } = line
      const share = shares.get(line) ?? share_minor
      return share === undefined || share === line.quantity * line.unit_price_minor
        ? rest
        : { ...rest, share_minor: share }
    }),
    codesBack: cart.flatMap(({ product, returned }, i) =>
      isPromoCode(product) && !returned && !kept.has(product) ? [i + 1] : [],
    ),
  }
}

export const priceChanged = (totals: Partial<Totals> = {}): Problem => problem('price-changed', { ...totals })

/**
 * `shownMinor`: the sum that the buyer has seen. `isPlain`: units of one product, without a cart unless something is
 * added to its price.
 */
export function quoteOf(pricing: Pricing, shownMinor: number | undefined, isPlain: boolean): Quote {
  const uses = pricing.vouchers.map(({ discount }) => usePromoCode(discount.code))
  return (units) => {
    const price = priceOf(pricing, units)
    if ('type' in price) return price
    if (shownMinor !== undefined && shownMinor !== price.totals.total_minor) return priceChanged(price.totals)
    const { charge } = price
    const cart = isPlain && !charge.billed ? {} : { cart: [...units, ...uses] }
    return { ...cart, ...((charge.billed || shownMinor !== undefined) && { charge }) }
  }
}
