/** A mail to a buyer, as text and as HTML, from what is known of the order. Pure. */
import { html } from 'hono/html'
import { LANGUAGES, type Language } from '../../shared/api/fields.ts'
import { fill, money } from '../../shared/format.ts'
import { totalOf } from '../ledger/order-statements.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'
import { isPromoCode } from '../stock/cart.ts'
import type { Mail } from './mail-queries.ts'
import { type MailWords, WORDS } from './words.ts'

export interface Written {
  readonly subject: string
  readonly text: string
  readonly html: string
}

export function write(mail: Mail, publicUrl: string): Written {
  const language = LANGUAGES.find((one) => one === mail.language) ?? 'en'
  const words = WORDS[language]
  const total = totalOf(mail)
  const refunded = mail.type === 'order.refunded' ? (mail.snapshot?.refunded_minor ?? total) : 0
  const [subject, text] = words[kindOf(mail, refunded < total)].map((one) => fill(one, { sale: mail.sale })) as [
    string,
    string,
  ]
  const price = (minor: number) => money(language, minor, mail.currency)
  const facts: [string, string][] = [
    ...boughtIn(mail, words),
    [words.total, price(total)],
    ...(refunded > 0 ? [[words.refundedSoFar, price(refunded)] as [string, string]] : []),
    [words.order, mail.order_id],
  ]
  const url = `${publicUrl}/sales/${encodeURIComponent(mail.sale_id)}/order/${mail.order_id}`
  return {
    subject,
    text: [text, facts.map(([name, value]) => `${name}: ${value}`).join('\n'), `${words.show}: ${url}`, words.why].join(
      '\n\n',
    ),
    html: String(page({ language, subject, text, facts, url, words, sale: mail.sale })),
  }
}

/** A fact for each line: what the buyer has, or what they had if nothing is left. */
function boughtIn({ cart, quantity, product }: Mail, words: MailWords): [string, string][] {
  const times = (units: number, name: string) => (units === 1 ? name : `${units} × ${name}`)
  if (cart === null) return [[words.product, times(quantity, product)]]
  const units = cart.filter(({ product: of }) => !isPromoCode(of))
  const left = units.filter(({ returned }) => !returned)
  const nameOf = ({ name, quantity: units, row, number, seat_id }: StoredLine) =>
    seat_id === undefined
      ? times(units, name)
      : `${name}, ${words.row} ${row ?? ''}, ${words.seat} ${number ?? seat_id}`
  return (left.length > 0 ? left : units).map((line) => [line.section ? words.ticket : words.product, nameOf(line)])
}

function kindOf({ type }: Pick<Mail, 'type'>, isInPart: boolean) {
  if (type === 'order.confirmed') return 'confirmed'
  if (type === 'order.refunded') return isInPart ? 'refundedInPart' : 'refunded'
  return 'declined'
}

interface Shown {
  readonly language: Language
  readonly subject: string
  readonly text: string
  readonly facts: readonly [string, string][]
  readonly url: string
  readonly words: MailWords
  readonly sale: string
}

/** One column, styles inline or in one block: what mail programs understand. */
const page = ({ language, subject, text, facts, url, words, sale }: Shown) => html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>
:root { color-scheme: light dark }
body { margin: 0; padding: 24px 12px; background: #f2f4f3; color: #15211d; font: 16px/1.55 -apple-system, "Segoe UI", Roboto, Arial, sans-serif }
.card { max-width: 34em; margin: 0 auto; padding: 28px; background: #ffffff; border-radius: 18px }
h1 { margin: 0 0 12px; font-size: 22px; line-height: 1.25 }
dt, .quiet { color: #55625d; font-size: 14px }
dd { margin: 0 0 12px; overflow-wrap: anywhere }
.button { display: inline-block; padding: 12px 20px; border-radius: 12px; background: #0b6450; color: #ffffff; font-weight: 600; text-decoration: none }
@media (prefers-color-scheme: dark) {
  body { background: #0d1211; color: #e9efec }
  .card { background: #151c1a }
  dt, .quiet { color: #9daaa5 }
  .button { background: #62d2b0; color: #04221a }
}
</style>
</head>
<body>
<div class="card">
<p class="quiet">${sale}</p>
<h1>${subject}</h1>
<p>${text}</p>
<dl>
${facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}
</dl>
<p><a class="button" href="${url}">${words.show}</a></p>
<p class="quiet">${words.why}</p>
</div>
</body>
</html>
`
