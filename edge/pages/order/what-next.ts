/** The next steps of a paid order, by its delivery. */
import { addressLines } from '../../../shared/api/addresses.ts'
import type { Address } from '../../../shared/api/goods.ts'
import type { Order } from '../../../shared/api/public.ts'
import { comma, fill, money } from '../../../shared/format.ts'
import { buttonTo, type Html, html } from '../html.ts'
import { eventOf } from '../sale/calendar.ts'
import { shareButton } from '../sale/sharing.ts'
import type { PageContext } from '../view.ts'

interface Stage {
  readonly title: string
  readonly text?: Html | string
  readonly more?: Html
  readonly isPast?: boolean
}

export function whatNext(context: PageContext, order: Order, path: string): Html {
  const { words } = context
  const items = [...stagesOf(context, order, path), ...dateStage(context)].map(
    ({ title, text, more, isPast }) =>
      html`<li ${
        isPast && html`class="past"`
      }><h3>${title}</h3>${text && html`<p class="quiet">${text}</p>`}${more}</li>`,
  )
  return html`<section>
      <h2>${words.after.title}</h2>
      <ol class="next">${items}</ol>
      <p class="row actions">${shareButton(context)}</p>
    </section>`
}

function stagesOf(context: PageContext, order: Order, path: string): Stage[] {
  const { words, view } = context
  const { after } = words
  const { contact, delivery, mails } = view.state
  const paid = { title: after.paid, text: paidText(context, order), isPast: true }
  const { email, delivery: address } = order.contact ?? {}
  const sendsMail = mails.includes('confirmed') && (email !== undefined || contact === 'required')
  const told = sendsMail
    ? { title: after.mail, text: html`${email && html`<b><bdi>${email}</bdi></b><br>`}${after.mailText}` }
    : { title: after.keep, text: after.keepText }
  const isPast = order.status === 'fulfilled'
  switch (delivery.kind) {
    case 'none':
      return [paid, told]
    case 'pickup': {
      const where = delivery.pickup !== undefined && html`<span class="lines" dir="auto">${delivery.pickup}</span>`
      return [paid, told, { title: after.pickup, ...(where && { text: where }), isPast }]
    }
    case 'address':
      return [paid, told, { title: after.send, text: sendText(context, address, isPast), isPast }]
    case 'handover': {
      const more = html`<p>${buttonTo(`${path}/handover`, after.toHandover)}</p>`
      return [paid, { title: after.handover, text: after.handoverText, isPast, ...(!isPast && { more }) }, told]
    }
  }
}

/** Where the shop sends it, as a parcel's label has it. */
const sendText = ({ words: { after }, lang }: PageContext, address: Address | undefined, isPast: boolean) =>
  html`${isPast ? after.sent : after.sendText}${
    address && html`<br><span class="lines" dir="auto">${addressLines(address, lang).join('\n')}</span>`
  }`

/** The time and place of the event, if the shop has set them. */
function dateStage(context: PageContext): Stage[] {
  const { view, words } = context
  const event = eventOf(context)
  if (!event) return []
  const text = html`${event.time}${view.goods?.venue && html`<br><bdi>${view.goods.venue}</bdi>`}`
  return [{ title: words.date, text, more: html`<p class="row links">${event.toCalendar}</p>` }]
}

/** The amount and the card, as far as they are known. */
function paidText({ words, lang }: PageContext, { payment, total_minor, currency }: Order): string {
  const { card } = payment ?? {}
  const paid = money(lang, total_minor, currency)
  return card ? `${paid}${comma(lang)}${fill(words.cardEndingIn, { brand: card.brand, n: card.last4 })}` : paid
}
