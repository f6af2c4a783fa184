/** The rows of the sum, as the server writes them (pages/parts/bill-rows.ts). */
import type { PricedLine } from '../../../shared/bill.ts'
import { count, fill, money } from '../../../shared/format.ts'
import type { Offer } from '../../pages/parts/checkout-fields.ts'
import type { Sum } from './choice.ts'

type Known = Extract<Sum, { kind: 'from' | 'exact' }>

export function rowsOf(
  { kind, totals }: Known,
  lines: readonly PricedLine[],
  { words, terms, currency, units }: Offer,
  lang: string,
  code: string,
): HTMLElement {
  const minor = (amount: number) => money(lang, amount, currency)
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
  const [only] = lines
  const name = units.find(({ product_id }) => product_id === only?.product)?.name ?? ''
  const isOne = only && lines.length === 1
  if (isOne) add(only.quantity > 1 ? `${name} × ${count(lang, only.quantity)}` : name, minor(totals.subtotal_minor))
  else add(words.amount, minor(totals.subtotal_minor))
  if (totals.discount_minor > 0)
    add(code === '' ? words.discount : fill(words.code, { code }), minor(-totals.discount_minor).replace('-', '−'))
  for (const fee of totals.fees)
    add(fee.included ? fill(words.includes, { fee: fee.name }) : fee.name, minor(fee.amount_minor))
  const { delivery, tax } = terms
  if (delivery.kind === 'address' && delivery.prices)
    add(words.shipping, kind === 'from' ? '…' : totals.shipping_minor > 0 ? minor(totals.shipping_minor) : words.free)
  if (tax?.included === false) add(tax.name, minor(totals.tax_minor))
  const withTax =
    tax && tax.included !== false ? fill(words.withTax, { m: minor(totals.tax_minor), tax: tax.name }) : ''
  const total = minor(totals.total_minor)
  add(
    words.total,
    kind === 'from' ? fill(words.from, { m: total }) : total,
    kind === 'exact' ? withTax : '',
  ).className = 'total'
  return list
}
