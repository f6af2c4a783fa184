/** What an order costs, row by row: its lines, what codes take off, fees, delivery, tax, and the total of it all. */
import type { PublicSale, Totals } from '../../../shared/api/public.ts'
import { shareWithin } from '../../../shared/bill.ts'
import { fill, money } from '../../../shared/format.ts'
import { type Html, html } from '../html.ts'
import type { PageContext } from '../view.ts'

interface Billed extends Omit<Totals, 'subtotal_minor'> {
  readonly currency: string
}

export interface Row {
  readonly name: Html | string
  readonly amount: string
}

/** The rows between the lines and the total. */
export function rowsOf({ view, words, lang }: PageContext, billed: Billed, code?: string): Row[] {
  const { currency, discount_minor, fees, shipping_minor, tax_minor } = billed
  const { delivery, tax } = view.state
  const minor = (amount: number) => money(lang, amount, currency)
  const isSent = delivery.kind === 'address' && delivery.prices
  return [
    ...(discount_minor > 0
      ? [
          {
            name: code ? fill(words.bill.code, { code }) : words.bill.discount,
            amount: minor(-discount_minor).replace('-', '−'),
          },
        ]
      : []),
    ...fees.map(({ name, amount_minor, included }) => ({
      name: included ? fill(words.bill.includes, { fee: name }) : name,
      amount: minor(amount_minor),
    })),
    ...(isSent || shipping_minor > 0
      ? [{ name: words.bill.shipping, amount: shipping_minor > 0 ? minor(shipping_minor) : words.bill.free }]
      : []),
    ...(tax?.included === false ? [{ name: tax.name, amount: minor(tax_minor) }] : []),
  ]
}

/** "with €29.50 VAT": the tax in the total; nothing where it is a row of its own, or there is none. */
export function withTax({ view, words, lang }: PageContext, { total_minor, tax_minor, currency }: Billed): string {
  const { tax } = view.state
  if (!tax || tax.included === false) return ''
  return fill(words.bill.withTax, { m: money(lang, taxIn(tax, { total_minor, tax_minor }), currency), tax: tax.name })
}

/** Only an order with a bill says its tax; of any other the prices include it. */
export const taxIn = (
  { percent }: NonNullable<PublicSale['tax']>,
  { total_minor, tax_minor }: Pick<Totals, 'total_minor' | 'tax_minor'>,
) => tax_minor || shareWithin(total_minor, percent)

export const row = ({ name, amount }: Row) => html`<div><dt>${name}</dt><dd>${amount}</dd></div>`

interface More {
  /** The promo code, where it is known. */
  readonly code?: string | undefined
  /** After the total. */
  readonly after?: readonly Row[]
}

/** As a list; `lines` come first. */
export function billRows(
  context: PageContext,
  billed: Billed,
  lines: readonly Row[],
  { code, after = [] }: More = {},
): Html {
  const { words, lang } = context
  const tax = withTax(context, billed)
  const total = html`${words.total} ${tax !== '' && html`<small>${tax}</small>`}`
  const rows = [...lines, ...rowsOf(context, billed, code)]
  return html`<dl class="rows sum">${rows.map(row)}
      <div class="total"><dt>${total}</dt><dd>${money(lang, billed.total_minor, billed.currency)}</dd></div>${after.map(row)}</dl>`
}
