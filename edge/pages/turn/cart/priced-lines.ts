/** Converts the choice in a turn's form to lines with names and prices, for the server and the page's script. Pure. */

import type { Delivery } from '../../../../shared/api/goods.ts'
import type { PublicProduct } from '../../../../shared/api/public.ts'
import { type PricedLine, priceOfDelivery } from '../../../../shared/bill.ts'
import { count, fill, money, type Plural, plural } from '../../../../shared/format.ts'
import type { Fields } from '../../../../shared/parse.ts'
import { linesIn, seatField } from '../cart-fields.ts'

/** The facts of a product on which the price of a choice depends. */
export type Unit = Pick<PublicProduct, 'product_id' | 'name' | 'unit_price_minor' | 'variant_of' | 'weight_grams'>

/** The values of the form by field name, with the prices and names of seats by the name of their field. */
export interface Said {
  readonly fields: Fields
  readonly prices: Readonly<Record<string, number>>
  readonly names?: Readonly<Record<string, string>>
}

export interface NamedLine extends PricedLine {
  readonly name: string
}

export interface Choice {
  readonly lines: readonly NamedLine[]
}

export function choiceIn({ fields, prices, names = {} }: Said, units: readonly Unit[]): Choice {
  const lineOf = (product: string | undefined, quantity: number, field = ''): NamedLine[] => {
    const unit = units.find(({ product_id }) => product_id === product)
    if (!unit || !(quantity >= 1)) return []
    const { product_id, name, unit_price_minor, variant_of = null, weight_grams = null } = unit
    const price = prices[field] ?? unit_price_minor
    return [
      { product: product_id, name: names[field] ?? name, quantity, variant_of, weight_grams, unit_price_minor: price },
    ]
  }
  const ofProduct = fields.product_id ? lineOf(fields.product_id, Number(fields.quantity ?? 1)) : []
  const others = linesIn(fields).flatMap(({ line }) => {
    const { product_id, section_id = product_id, seats, quantity = 1 } = line
    if (seats) return seats.flatMap((seat) => lineOf(section_id, 1, seatField(section_id ?? '', seat)))
    return lineOf(section_id, quantity)
  })
  return { lines: [...ofProduct, ...others] }
}

/** The price and the days of a delivery to a country, if its price has days. */
export function daysText(
  { lines }: Choice,
  delivery: Delivery,
  country: string | undefined,
  {
    lang,
    currency,
    inDays,
    free,
  }: { readonly lang: string; readonly currency: string; readonly inDays: Plural; readonly free: string },
): string {
  const price = delivery.kind === 'address' && country ? priceOfDelivery(lines, delivery, country) : undefined
  if (price?.days === undefined) return ''
  const amount = price.amount_minor > 0 ? money(lang, price.amount_minor, currency) : free
  return `${amount} · ${fill(plural(lang, price.days, inDays), { n: count(lang, price.days) })}`
}

/** The lines as rows of the sum. */
export const lineRows = (lines: readonly NamedLine[], lang: string, currency: string) =>
  lines.map(({ name, quantity, unit_price_minor }) => ({
    name: withQuantity(name, quantity, lang),
    amount: money(lang, quantity * unit_price_minor, currency),
  }))

export const withQuantity = (name: string, quantity: number, lang: string) =>
  quantity > 1 ? `${name} × ${count(lang, quantity)}` : name
