/** The rows of the total while a visitor chooses. */
import type { PricedLine } from '../../../shared/bill.ts'
import { count, fill, money } from '../../../shared/format.ts'
import { billPart, textRows, withTax } from '../../pages/parts/bill-rows.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
import { elementOf } from '../page.ts'
import type { Sum } from './choice.ts'

type Known = Extract<Sum, { kind: 'from' | 'exact' }>

export function rowsOf(
  { kind, totals }: Known,
  lines: readonly PricedLine[],
  { words, terms: { delivery, tax }, currency, units }: Offer,
  lang: string,
  code: string,
): HTMLElement {
  const billing = { lang, currency, words, delivery, tax }
  const isOpen = kind === 'from'
  const total = money(lang, totals.total_minor, currency)
  const [only, another] = lines
  const name = only && !another ? nameOf(only, units, lang) : words.amount
  const rows = [
    { name, amount: money(lang, totals.subtotal_minor, currency) },
    ...textRows(totals, billing, { code, isOpen }),
  ]
  const sum = isOpen
    ? { amount: fill(words.from, { m: total }), small: '' }
    : { amount: total, small: withTax(totals, billing) }
  return elementOf(billPart(rows, { name: words.total, ...sum }))
}

function nameOf({ product, quantity }: PricedLine, units: Offer['units'], lang: string): string {
  const name = units.find(({ product_id }) => product_id === product)?.name ?? ''
  return quantity > 1 ? `${name} × ${count(lang, quantity)}` : name
}
