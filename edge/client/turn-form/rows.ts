/** The rows of the total, in the same form as the server writes them (pages/parts/bill-rows.ts). */
import type { PricedLine } from '../../../shared/bill.ts'
import { count, fill, money } from '../../../shared/format.ts'
import { textRows, withTax } from '../../pages/parts/bill-rows.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
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
  const list = document.createElement('dl')
  list.className = 'rows sum'
  const add = (name: string, amount: string, small = '') => {
    const [row, term, value] = [
      document.createElement('div'),
      document.createElement('dt'),
      document.createElement('dd'),
    ]
    term.textContent = `${name} `
    value.textContent = amount
    if (small !== '') term.append(Object.assign(document.createElement('small'), { textContent: small }))
    row.append(term, value)
    list.append(row)
    return row
  }
  const [only, another] = lines
  const isOne = only && !another
  add(isOne ? nameOf(only, units, lang) : words.amount, money(lang, totals.subtotal_minor, currency))
  for (const { name, amount } of textRows(totals, billing, { code, isOpen })) add(name, amount)
  const sum = isOpen
    ? add(words.total, fill(words.from, { m: total }))
    : add(words.total, total, withTax(totals, billing))
  sum.className = 'total'
  return list
}

function nameOf({ product, quantity }: PricedLine, units: Offer['units'], lang: string): string {
  const name = units.find(({ product_id }) => product_id === product)?.name ?? ''
  return quantity > 1 ? `${name} × ${count(lang, quantity)}` : name
}
