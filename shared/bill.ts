/**
 * Calculates the price of an order: the prices of its lines, minus what promo codes take off, plus fees, shipping
 * and tax. Pure and exact, in minor units. The origin decides with it, and the pages show with it what the buyer
 * will pay.
 *
 * There is one rule for rounding: each percentage is calculated once, from the sum to which it applies, and halves
 * round up. The result is distributed over the lines in proportion to their price, so that ten seats cost the same
 * as ten units. Every charge is a multiple of the currency's smallest payable amount, and a code leaves either
 * nothing to pay or at least the minimum payment.
 */

import type { BillLine, Delivery, Fee, PromoCode } from './api/goods.ts'
import type { Tax, Totals } from './api/public.ts'
import { leastOf, stepOf } from './api/stripe-amount.ts'
import { assertExists } from './lib/assert.ts'

export interface PricedLine {
  readonly product: string
  readonly variant_of?: string | null
  readonly quantity: number
  readonly unit_price_minor: number
  readonly weight_grams?: number | null
}

/** The costs that a sale adds to its prices. */
export interface Terms {
  readonly fees: readonly Fee[]
  readonly tax: Tax | null
  readonly delivery: Delivery
}
/** The discount of a code, which is one of three amounts. `products` is null for all products. */
export type Discount = Pick<PromoCode, 'code' | 'percent' | 'amount_minor' | 'price_minor' | 'units_per_use'> & {
  readonly products: readonly string[] | null
}

export interface Bill {
  readonly bill: readonly BillLine[]
  /**
   * The cost of each line with its share of discounts, fees per unit and tax. The remaining costs belong to the order
   * as a whole.
   */
  readonly shares: readonly number[]
  readonly totals: Totals
}

interface Known {
  readonly discounts?: readonly Discount[]
  readonly country?: string | undefined
  /** The currency of all lines. */
  readonly currency: string
}

const GROUPED = 'Each line of a bill is in one group of equal lines.'
const SHARED = 'Each line of a bill has its share.'

/** Returns null if there is no delivery to that country, or if the order is too heavy for it. */
export function billOf(lines: readonly PricedLine[], terms: Terms, known: Known): Bill | null {
  // Each seat is a line. Lines with the same price are calculated together, so the bill does not depend on how many
  // lines there are.
  const kinds = [...Map.groupBy(lines.keys(), (i) => `${lines[i]?.product} ${lines[i]?.unit_price_minor}`).values()]
  const merged = kinds.map((of) => ({
    ...assertExists(lines[assertExists(of[0], GROUPED)], GROUPED),
    quantity: sum(quantitiesOf(lines, of)),
  }))
  const full = billOfKinds(merged, terms, known, 0)
  const least = leastOf(known.currency)
  const isTooLittle = full && full.totals.total_minor > 0 && full.totals.total_minor < least
  const made = isTooLittle ? billOfKinds(merged, terms, known, least) : full
  if (!made) return null
  const step = stepOf(known.currency)
  const shares = lines.map(() => 0)
  for (const [kind, of] of kinds.entries())
    for (const [i, share] of spread(assertExists(made.shares[kind], SHARED), quantitiesOf(lines, of), step).entries())
      shares[assertExists(of[i], GROUPED)] = share
  return { ...made, shares }
}

const quantitiesOf = (lines: readonly PricedLine[], of: readonly number[]) =>
  of.map((i) => assertExists(lines[i], GROUPED).quantity)

/** `keepMinor` is the amount that codes must leave of the lines' price. */
function billOfKinds(
  lines: readonly PricedLine[],
  { fees, tax, delivery }: Terms,
  { discounts = [], country, currency }: Known,
  keepMinor: number,
): Bill | null {
  const prices = lines.map(({ quantity, unit_price_minor }) => quantity * unit_price_minor)
  const step = stepOf(currency)
  const charged = (minor: number) => Math.round(minor / step) * step
  const shareCharged = (minor: number, percent: number) => shareOf(minor / step, percent) * step
  let shares = prices
  const bill: BillLine[] = []
  for (const discount of discounts) {
    const wanted = offOf(lines, shares, discount, step)
    const most = Math.max(0, sum(shares) - keepMinor)
    const off = sum(wanted) > most ? spread(most, wanted, step) : wanted
    shares = shares.map((share, i) => share - assertExists(off[i], SHARED))
    bill.push({ kind: 'discount', name: discount.code, amount_minor: 0 - sum(off) })
  }
  const reduced = shares
  const ofOrder: number[] = []
  for (const { name, percent, amount_minor = 0, per, included } of fees) {
    const [base, units] = [sum(reduced), lines.map(({ quantity }) => quantity)]
    const times = per === 'unit' ? sum(units) : 1
    const amount =
      percent === undefined ? charged(amount_minor) * times : (included ? shareWithin : shareCharged)(base, percent)
    bill.push({ kind: 'fee', name, amount_minor: amount, ...(included && { included }) })
    if (included) continue
    const parts = spread(amount, percent === undefined ? units : reduced, step)
    if (per === 'unit') shares = shares.map((share, i) => share + assertExists(parts[i], SHARED))
    else ofOrder.push(amount)
  }
  const price = shippingOf(lines, delivery, country)
  if (price === null) return null
  const shipping = charged(price)
  if (delivery.kind === 'address' && delivery.prices) bill.push({ kind: 'shipping', name: '', amount_minor: shipping })
  const parts = [...shares, sum(ofOrder) + shipping]
  const net = sum(parts)
  if (tax && tax.included !== false)
    bill.push({ kind: 'tax', name: tax.name, amount_minor: shareWithin(net, tax.percent), included: true })
  else if (tax) {
    const added = shareCharged(net, tax.percent)
    bill.push({ kind: 'tax', name: tax.name, amount_minor: added })
    const taxes = spread(added, parts, step)
    shares = shares.map((share, i) => share + assertExists(taxes[i], SHARED))
  }
  const totals = totalsOf(sum(prices), bill)
  return { bill, shares, totals }
}

/** The discount of a code for each line, calculated from the remaining price of the lines. */
function offOf(
  lines: readonly PricedLine[],
  shares: readonly number[],
  code: Discount,
  step: number,
): readonly number[] {
  const { percent, amount_minor, price_minor } = code
  const units = unitsMeant(lines, code)
  const costs = shares.map((share, i) => {
    const { quantity } = assertExists(lines[i], SHARED)
    return partOf(share / step, assertExists(units[i], SHARED), quantity) * step
  })
  if (percent !== undefined) return spread(shareOf(sum(costs) / step, percent) * step, costs, step)
  const whole = (minor: number) => Math.floor(minor / step) * step
  if (amount_minor !== undefined) return spread(whole(Math.min(amount_minor, sum(costs))), costs, step)
  const price = assertExists(price_minor, 'A discount has a percentage, an amount or a price.')
  return costs.map((cost, i) => whole(Math.max(0, cost - price * assertExists(units[i], SHARED))))
}

/** The number of units of each line to which a code applies. */
function unitsMeant(lines: readonly PricedLine[], { products, units_per_use }: Discount): readonly number[] {
  const units = lines.map(({ product, variant_of, quantity }) =>
    products === null || products.some((id) => id === product || id === variant_of) ? quantity : 0,
  )
  let left = units_per_use ?? sum(units)
  const byPrice = [...lines.entries()].toSorted(([, a], [, b]) => b.unit_price_minor - a.unit_price_minor)
  for (const [i] of byPrice) {
    const meant = Math.min(assertExists(units[i], SHARED), left)
    units[i] = meant
    left -= meant
  }
  return units
}

/** The price of some units of a line. */
const partOf = (minor: number, units: number, quantity: number) =>
  units === quantity ? minor : Number((2n * BigInt(minor) * BigInt(units) + BigInt(quantity)) / (2n * BigInt(quantity)))

function shippingOf(lines: readonly PricedLine[], delivery: Delivery, country?: string): number | null {
  const { kind, countries, prices } = delivery
  if (kind !== 'address') return 0
  if (country !== undefined && countries && !countries.includes(country)) return null
  if (!prices) return 0
  return priceOfDelivery(lines, delivery, country)?.amount_minor ?? null
}

/** The first price that matches the country and the weight of these lines. */
export function priceOfDelivery(
  lines: readonly Pick<PricedLine, 'quantity' | 'weight_grams'>[],
  { prices = [] }: Pick<Delivery, 'prices'>,
  country?: string,
) {
  // A product without a weight adds nothing to the weight of a parcel.
  const grams = sum(lines.map(({ quantity, weight_grams }) => quantity * (weight_grams ?? 0)))
  return prices.find(
    (one) =>
      (!one.countries || (country !== undefined && one.countries.includes(country))) &&
      (one.up_to_grams === undefined || grams <= one.up_to_grams),
  )
}

const sum = (amounts: readonly number[]) => amounts.reduce((all, one) => all + one, 0)

/** The rate is in thousandths of a percent, so that it is an integer. */
const rateOf = (percent: number) => BigInt(Math.round(percent * 1000))

/** Returns this percentage of an amount. */
const shareOf = (minor: number, percent: number): number =>
  Number((2n * BigInt(minor) * rateOf(percent) + 100_000n) / 200_000n)

/** The tax or fee that an amount includes. It is exact for each amount and each rate of up to three decimals. */
export function shareWithin(minor: number, percent: number): number {
  const whole = 100_000n + rateOf(percent)
  return Number((2n * BigInt(minor) * rateOf(percent) + whole) / (2n * whole))
}

/**
 * Distributes an amount over parts in proportion to their size, in multiples of `step`. The remainder goes to the
 * parts with the largest fractions.
 */
export function spread(minor: number, parts: readonly number[], step = 1): number[] {
  if (step > 1) return spread(minor / step, parts).map((part) => part * step)
  const all = sum(parts)
  if (all === 0) return parts.map((_, i) => (i === 0 ? minor : 0))
  const exact = parts.map((part) => BigInt(minor) * BigInt(part))
  const whole = exact.map((amount) => amount / BigInt(all))
  const left = minor - Number(whole.reduce((one, other) => one + other, 0n))
  const byRemainder = exact
    .map((amount, i) => [amount % BigInt(all), i] as const)
    .toSorted(([a, i], [b, k]) => (a === b ? i - k : a > b ? -1 : 1))
  const more = new Set(byRemainder.slice(0, left).map(([, i]) => i))
  return whole.map((amount, i) => Number(amount) + (more.has(i) ? 1 : 0))
}

/** The totals of a stored order. */
export function totalsOf(subtotal: number, bill: readonly BillLine[]): Totals {
  const of = (kind: BillLine['kind']) => bill.filter((line) => line.kind === kind)
  const all = (lines: readonly BillLine[]) => sum(lines.map(({ amount_minor }) => amount_minor))
  return {
    subtotal_minor: subtotal,
    discount_minor: 0 - all(of('discount')),
    fees: of('fee').map(({ name, amount_minor, included }) => ({ name, amount_minor, ...(included && { included }) })),
    shipping_minor: all(of('shipping')),
    tax_minor: all(of('tax')),
    total_minor: subtotal + all(bill.filter(({ included }) => !included)),
  }
}
