/**
 * The price of an order in rows: lines, discounts of codes, fees, delivery, tax, and the total. The script of a turn
 * makes the same list.
 */
import type { Delivery } from '../../../shared/api/goods.ts'
import type { Order, Tax, Totals } from '../../../shared/api/public.ts'
import { shareWithin } from '../../../shared/bill.ts'
import { fill, money } from '../../../shared/format.ts'
import { type Html, htmlOf, type Tag } from '../html.ts'
import type { PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'

// -- As texts -------------------------------------------------------------------------------------------------------

/** The values from which the texts are made. */
interface Billing {
  readonly lang: string
  readonly currency: string
  readonly words: Words['bill']
  readonly delivery: Delivery
  readonly tax: Tax | null | undefined
}

export interface Row<Name = Html | string> {
  readonly name: Name
  readonly amount: Name
}

interface Known {
  /** The promo code, if it is known. */
  readonly code?: string | undefined
  /** True if the price of delivery is not known yet. */
  readonly isOpen?: boolean
}

/** The rows between the lines and the total. */
export function textRows(
  { discount_minor, fees, shipping_minor, tax_minor }: Omit<Totals, 'subtotal_minor'>,
  { lang, currency, words, delivery, tax }: Billing,
  { code, isOpen = false }: Known = {},
): Row<string>[] {
  const minor = (amount: number) => money(lang, amount, currency)
  const rows: Row<string>[] = []
  if (discount_minor > 0) {
    const name = code ? fill(words.code, { code }) : words.discount
    rows.push({ name, amount: minor(-discount_minor).replace('-', '−') })
  }
  for (const { name, amount_minor, included } of fees)
    rows.push({ name: included ? fill(words.includes, { fee: name }) : name, amount: minor(amount_minor) })
  const isSent = delivery.kind === 'address' && delivery.prices !== undefined
  if (isSent || shipping_minor > 0)
    rows.push({ name: words.shipping, amount: isOpen ? '…' : shipping_minor > 0 ? minor(shipping_minor) : words.free })
  if (tax?.included === false) rows.push({ name: tax.name, amount: minor(tax_minor) })
  return rows
}

/**
 * Describes the tax in the total, for example "with €29.50 VAT". It is empty if the tax has its own row, or if there
 * is none.
 */
export function withTax(
  totals: Pick<Totals, 'total_minor' | 'tax_minor'>,
  { lang, currency, words, tax }: Omit<Billing, 'delivery'>,
): string {
  if (!tax || tax.included === false) return ''
  return fill(words.withTax, { m: money(lang, taxIn(tax, totals), currency), tax: tax.name })
}

/** An order's bill contains its tax. If there is no bill, the prices include the tax. */
export const taxIn = ({ percent }: Tax, { total_minor, tax_minor }: Pick<Totals, 'total_minor' | 'tax_minor'>) =>
  tax_minor || shareWithin(total_minor, percent)

// -- As elements ----------------------------------------------------------------------------------------------------

const rowPart = <Raw>({ name, amount }: Row<Raw | string>): Tag<Raw> => [
  'div',
  {},
  ['dt', {}, name, ' '],
  ['dd', {}, amount],
]

/** The rows and the total as a list, for the server and the script. `small` stands behind the total's name. */
export const billPart = <Raw = never>(
  rows: readonly Row<Raw | string>[],
  { name, small, amount }: Row<string> & { readonly small: string },
  after: readonly Row<Raw | string>[] = [],
): Tag<Raw> => [
  'dl',
  { class: 'rows sum' },
  ...rows.map(rowPart),
  [
    'div',
    { class: 'total' },
    ['dt', {}, `${name} `, ...(small ? [['small', {}, small] as const] : [])],
    ['dd', {}, amount],
  ],
  ...after.map(rowPart),
]

// -- As parts of a page ---------------------------------------------------------------------------------------------

interface Billed extends Omit<Totals, 'subtotal_minor'> {
  readonly currency: string
  readonly receipt?: Order['receipt']
}

/** After the payment, the tax is that of the payment's time. */
export const billingOf = (
  { view, words, lang }: PageContext,
  { currency, receipt }: Pick<Billed, 'currency' | 'receipt'>,
): Billing => {
  const { tax } = receipt ?? view.state
  return { lang, currency, words: words.bill, delivery: view.state.delivery, tax }
}

interface More extends Pick<Known, 'code'> {
  /** The rows after the total. */
  readonly after?: readonly Row[]
}

/** The rows as a list; `lines` come first. */
export function billRows(
  context: PageContext,
  billed: Billed,
  lines: readonly Row[],
  { code, after = [] }: More = {},
): Html {
  const { words, lang } = context
  const billing = billingOf(context, billed)
  const rows = [...lines, ...textRows(billed, billing, { code })]
  const amount = money(lang, billed.total_minor, billed.currency)
  return htmlOf(billPart<Html>(rows, { name: words.total, small: withTax(billed, billing), amount }, after))
}
