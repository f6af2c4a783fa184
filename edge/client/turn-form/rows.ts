/** The rows of the total while a visitor chooses. */
import { fill, money } from '../../../shared/format.ts'
import { billPart, type Row, textRows, withTax } from '../../pages/parts/bill-rows.ts'
import { lineRows, type NamedLine, withQuantity } from '../../pages/turn/cart/priced-lines.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
import { element, elementOf } from '../page.ts'
import type { Sum } from './choice.ts'

type Known = Extract<Sum, { kind: 'from' | 'exact' }>

export function rowsOf(
  { kind, totals }: Known,
  lines: readonly NamedLine[],
  { words, terms: { delivery, tax }, currency, cart }: Offer,
  lang: string,
  code: string,
): HTMLElement {
  const billing = { lang, currency, words, delivery, tax }
  const isOpen = kind === 'from'
  const total = money(lang, totals.total_minor, currency)
  const [only, another] = lines
  const name = only && !another ? withQuantity(only.name, only.quantity, lang) : words.amount
  const whole = { name, amount: money(lang, totals.subtotal_minor, currency) }
  const rows: Row<string | Node>[] = [
    ...(cart
      ? [...lineRows(lines, lang, currency).map(isolated), ...cart.lost.map((name) => lostRow(name, words.gone))]
      : [whole]),
    ...textRows(totals, billing, { code, isOpen }),
  ]
  const sum = isOpen
    ? { amount: fill(words.from, { m: total }), small: '' }
    : { amount: total, small: withTax(totals, billing) }
  return elementOf(billPart<Node>(rows, { name: words.total, ...sum }))
}

const isolated = ({ name, amount }: Row<string>): Row<string | Node> => ({ name: element('bdi', {}, name), amount })
const lostRow = (name: string, gone: string): Row<Node> => ({
  name: element('s', {}, element('bdi', {}, name)),
  amount: element('span', { class: 'fault' }, gone),
})
