/**
 * Writes the short message to a buyer, and the mail as text and as HTML, from the data of the order or the sale.
 * Pure.
 */

import { html } from 'hono/html'
import { addressLines } from '../../shared/api/addresses.ts'
import { LANGUAGES, type Language } from '../../shared/api/fields.ts'
import type { EventTime } from '../../shared/api/goods.ts'
import type { MailKind } from '../../shared/api/mails.ts'
import { eventTimes, fill, money, roughly, shortNumber } from '../../shared/format.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { isPromoCode } from '../ledger/cart.ts'
import { totalOf } from '../ledger/order-statements.ts'
import type { StoredLine } from '../ledger/schema/orders.ts'
import { billOn } from '../orders/order-json.ts'
import { kindOf, type Mail, mailedReason, type Notice } from './mail-queries.ts'
import { ar } from './words/ar.ts'
import { de } from './words/de.ts'
import { en } from './words/en.ts'
import { es } from './words/es.ts'
import { fr } from './words/fr.ts'
import { ja } from './words/ja.ts'
import type { MailWords } from './words/mail-words.ts'

const WORDS: Readonly<Record<Language, MailWords>> = { en, de, fr, es, ja, ar }

type Fact = [name: string, value: string]

export interface Written {
  readonly subject: string
  readonly text: string
  readonly html: string
  /** The link that ends mails of this kind. It is omitted for mails that belong to an order. */
  readonly stopUrl?: string
}

const languageOf = (language: string): Language => LANGUAGES.find((one) => one === language) ?? 'en'
/** `id` is the id of an order or a request; `macOf` makes the MAC of the id. */
const stopUrlOf = (publicUrl: string, id: string, macOf: MacOf) => `${publicUrl}/mail/stop/${id}/${macOf(id)}`
type MacOf = (id: string) => string
const saleUrlOf = (publicUrl: string, saleId: string) => `${publicUrl}/sales/${encodeURIComponent(saleId)}`

/** The content of a message, by mail or by push. */
export interface Headline {
  readonly kind: MailKind
  readonly language: Language
  readonly subject: string
  readonly text: string
  /** The link on which the reader continues, and the label of its button. */
  readonly url: string
  readonly show: string
}

export const headlineOf = (message: Mail | Notice, publicUrl: string): Headline =>
  'ask_id' in message ? noticeHeadline(message, publicUrl) : orderHeadline(message, publicUrl)

function orderHeadline(mail: Mail, publicUrl: string): Headline {
  const language = languageOf(mail.language)
  const words = WORDS[language]
  const kind = kindOf({ type: mail.type, data: mail.snapshot }) ?? 'declined'
  const isPart = kind === 'refunded' && refundedIn(mail) < totalOf(mail)
  const texts = kind === 'cancelled' ? cancelledIn(mail, words) : words[WORDS_OF[isPart ? 'refundedInPart' : kind]]
  const [subject, text] = fillTexts(texts, { sale: mail.sale })
  const saleUrl = saleUrlOf(publicUrl, mail.sale_id)
  const [url, show] =
    kind === 'hold_ended' ? [`${saleUrl}/line`, words.toLine] : [`${saleUrl}/order/${mail.order_id}`, words.show]
  return { kind, language, subject, text, url, show }
}

function noticeHeadline({ kind, seconds, sale_id, sale, ...notice }: Notice, publicUrl: string): Headline {
  const language = languageOf(notice.language)
  const words = WORDS[language]
  const [subject, text] = fillTexts(words[WORDS_OF[kind]], { sale, t: roughly(language, seconds ?? 0) })
  const saleUrl = saleUrlOf(publicUrl, sale_id)
  const isTurn = kind === 'turn' || kind === 'turn_near'
  const [url, show] = isTurn ? [`${saleUrl}/line`, words.toLine] : [saleUrl, words.toSale]
  return { kind, language, subject, text, url, show }
}

type Texts = readonly [subject: string, text: string]
const fillTexts = ([subject, text]: Texts, values: Parameters<typeof fill>[1]): Texts => [
  fill(subject, values),
  fill(text, values),
]

function cancelledIn({ snapshot }: Mail, words: MailWords): Texts {
  const reason = mailedReason(snapshot)
  if (reason === undefined) throw new Error('an order that ended for no reason that is mailed')
  return [words.cancelled, words.cancelledFor[reason]]
}

const refundedIn = (mail: Mail) =>
  mail.type === 'order.refunded' ? (mail.snapshot?.refunded_minor ?? totalOf(mail)) : 0

export const write = (message: Mail | Notice, publicUrl: string, macOf: MacOf): Written =>
  'ask_id' in message ? writeNotice(message, publicUrl, macOf) : writeOrder(message, publicUrl, macOf)

function writeOrder(mail: Mail, publicUrl: string, macOf: MacOf): Written {
  const headline = orderHeadline(mail, publicUrl)
  const { kind, language } = headline
  const words = WORDS[language]
  const refunded = refundedIn(mail)
  const price = (minor: number) => money(language, minor, mail.currency)
  const date = mail.type === 'order.confirmed' ? mail.date : null
  const facts: Fact[] = [
    ...boughtIn(mail, words),
    ...(date ? whenAndWhere(date, mail.venue, language, words) : []),
    ...billOn(mail).map(({ kind, name, amount_minor, included }): Fact => {
      const what =
        kind === 'discount' ? fill(words.discount, { code: name }) : kind === 'shipping' ? words.shipping : name
      return [included ? fill(words.included, { name: what }) : what, price(amount_minor)]
    }),
    [words.total, price(totalOf(mail))],
    ...(refunded > 0 ? [[words.refundedSoFar, price(refunded)] satisfies Fact] : []),
  ]
  const number = shortNumber(mail.number)
  const next = kind === 'confirmed' || kind === 'sent' ? nextFor(mail, language, words) : null
  const isReminder = kind === 'hold_ends' || kind === 'hold_ended'
  return letter({
    ...headline,
    order: { number, facts, id: mail.order_id },
    next,
    calendar: date && `${saleUrlOf(publicUrl, mail.sale_id)}/event.ics`,
    sale: mail.sale,
    why: words.why,
    words,
    ...(isReminder && { stopUrl: stopUrlOf(publicUrl, mail.order_id, macOf) }),
  })
}

/** The texts of a notice that was requested on a page of the sale. */
function writeNotice(notice: Notice, publicUrl: string, macOf: MacOf): Written {
  const headline = noticeHeadline(notice, publicUrl)
  const words = WORDS[headline.language]
  return letter({
    ...headline,
    order: null,
    next: null,
    calendar: null,
    sale: notice.sale,
    why: words.whyAsked,
    words,
    stopUrl: stopUrlOf(publicUrl, notice.ask_id, macOf),
  })
}

/** The texts of each kind. Those of a cancelled order depend on its reason. */
const WORDS_OF = {
  turn_near: 'turnNear',
  turn: 'turn',
  sold_out: 'soldOut',
  restocked: 'restocked',
  hold_ends: 'holdEnds',
  hold_ended: 'holdEnded',
  confirmed: 'confirmed',
  declined: 'declined',
  refunded: 'refunded',
  refundedInPart: 'refundedInPart',
  sent: 'sent',
} as const satisfies Record<Exclude<MailKind, 'cancelled'> | 'refundedInPart', keyof MailWords>

function letter(shown: Shown): Written {
  const { subject, text, order, next, calendar, url, show, why, words, stopUrl } = shown
  const parts = [
    text,
    ...(order === null
      ? []
      : [`${words.order}: ${order.number}`, order.facts.map(([name, value]) => `${name}: ${value}`).join('\n')]),
    ...(next === null ? [] : [next]),
    ...(calendar === null ? [] : [`${words.calendar}: ${calendar}`]),
    `${show}: ${url}`,
    why,
    ...(stopUrl === undefined ? [] : [`${words.stop}: ${stopUrl}`]),
  ]
  return { subject, text: parts.join('\n\n'), html: String(page(shown)), ...(stopUrl !== undefined && { stopUrl }) }
}

function whenAndWhere(date: EventTime, venue: string | null, lang: Language, words: MailWords): Fact[] {
  return [[words.date, eventTimes(lang, date)], ...(venue === null ? [] : [[words.venue, venue] satisfies Fact])]
}

/** How the order reaches its buyer; null if another part of the mail says that. */
function nextFor({ delivery, recipient }: Mail, language: Language, words: MailWords): string | null {
  if (delivery.kind === 'pickup')
    return delivery.pickup === undefined ? words.pickUpLater : fill(words.pickUp, { where: delivery.pickup })
  if (delivery.kind === 'handover') return words.handover
  if (delivery.kind === 'none' || recipient === null) return null
  return [words.sentTo, ...addressLines(recipient, language)].join('\n')
}

/** One fact for each order line: the units that the buyer has, or that they had if none are left. */
function boughtIn({ cart, quantity, product, own_names }: Mail, words: MailWords): Fact[] {
  const times = (units: number, name: string) => (units === 1 ? name : `${units} × ${name}`)
  if (cart === null) return [[words.product, times(quantity, product)]]
  const units = cart.filter(({ product: of }) => !isPromoCode(of))
  const left = units.filter(({ returned }) => !returned)
  const nameOf = ({ product, name, quantity: units, row, number, seat_id }: StoredLine) =>
    seat_id === undefined
      ? times(units, own_names?.[product] ?? name)
      : `${name}, ${words.row} ${row ?? ''}, ${words.seat} ${number ?? seat_id}`
  return (left.length > 0 ? left : units).map((line) => [line.section ? words.ticket : words.product, nameOf(line)])
}

interface Shown extends Headline {
  /** The mail shows `id` in small print, for support. */
  readonly order: { readonly number: string; readonly facts: readonly Fact[]; readonly id: string } | null
  /** The text may have several lines. */
  readonly next: string | null
  readonly why: string
  /** The address of the event's date for a calendar. */
  readonly calendar: string | null
  readonly words: MailWords
  readonly sale: string
  readonly stopUrl?: string
}

/** The page has one column with inline styles or one style block, because mail programs support little else. */
const page = ({
  language,
  subject,
  text,
  order,
  next,
  calendar,
  url,
  show,
  why,
  words,
  sale,
  stopUrl,
}: Shown) => html`<!doctype html>
<html lang="${language}" dir="${language === 'ar' ? 'rtl' : 'ltr'}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<meta name="color-scheme" content="light dark">
<title>${subject}</title>
<style>
:root { color-scheme: light dark }
body { margin: 0; padding: 24px 12px; background: #f2f4f3; color: #15211d;
  font: 16px/1.55 -apple-system, "Segoe UI", Roboto, Arial, sans-serif }
.card { max-width: 34em; margin: 0 auto; padding: 28px; background: #ffffff; border-radius: 18px }
h1 { margin: 0 0 12px; font-size: 22px; line-height: 1.25 }
dt, .quiet { color: #55625d; font-size: 14px }
.number { color: #15211d; font-size: 28px; letter-spacing: .02em }
.lines { white-space: pre-line }
.small { margin: 0; color: #55625d; font-size: 12px; overflow-wrap: anywhere }
dd { margin: 0 0 12px; overflow-wrap: anywhere }
.button { display: inline-block; padding: 12px 20px; border-radius: 12px; background: #0b6450; color: #ffffff;
  font-weight: 600; text-decoration: none }
@media (prefers-color-scheme: dark) {
  body { background: #0d1211; color: #e9efec }
  .card { background: #151c1a }
  dt, .quiet, .small { color: #9daaa5 }
  .number { color: #e9efec }
  .button { background: #62d2b0; color: #04221a }
}
</style>
</head>
<body>
<div class="card">
<p class="quiet">${sale}</p>
<h1>${subject}</h1>
<p>${text}</p>
${
  order &&
  html`<p class="quiet">${words.order}<br><b class="number">${order.number}</b></p>
<dl>
${order.facts.map(([name, value]) => html`<dt>${name}</dt><dd>${value}</dd>\n`)}
</dl>
`
}${next !== null && html`<p class="lines">${next}</p>\n`}<p><a class="button" href="${url}">${show}</a></p>
${
  calendar !== null && html`<p><a href="${calendar}">${words.calendar}</a></p>\n`
}<p class="quiet">${why}${stopUrl !== undefined && html` <a class="quiet" href="${stopUrl}">${words.stop}</a>`}</p>
${order && html`<p class="small">${order.id}</p>`}
</div>
</body>
</html>
`

// -- The MAC in the link that ends mails. Only the mail has it: the id of an order is not enough to end its mails ----

/** This text cannot be part of a token, because signed tokens have two parts with a dot between them. */
const signedText = (id: string) => `stop mails ${id}`

/** `id` is the id of an order or a request. */
export const stopMac = ({ first }: TokenKeys<SyncKey>, id: string): string => first.sign(signedText(id))

export const isStopMac = ({ byHeader }: TokenKeys<SyncKey>, id: string, mac: string): boolean =>
  [...byHeader.values()].some((key) => key.verify(signedText(id), mac))
