/** What those see who asked for a mail, or want none any more; and the form that asks. */
import type { MailKind } from '../../shared/api/mails.ts'
import type { OrderStatus } from '../../shared/order-status.ts'
import { buttonTo, type Html, heading, html, postForm } from './html.ts'
import { type Content, homeOf, type PageContext } from './view.ts'
import type { Words } from './words/words.ts'

export function mailedPage({ view, words }: PageContext): Content {
  const [title, text] = words.mailAsked
  const main = html`<section class="stack says">${heading(title, text)}
    <p class="actions">${buttonTo(homeOf(view), words.backToSale)}</p></section>`
  return { title, main, reloadSeconds: null }
}

/** Asks for a mail, where the sale sends it. */
export const mailForm = ({ view, words }: PageContext, label: string): Html =>
  html`<form method="post" action="/sales/${view.sale}/mail" class="once stack">
      <div class="field"><label>${words.email}<input type="email" name="email" autocomplete="email" maxlength="254" value="${view.accountEmail ?? ''}" required></label></div>
      <p><button class="button second">${label}</button></p>
    </form>`

/** Switches messages by push on and off, where the sale sends one of those that may come; the script shows it where the browser has them. */
export const pushSwitch = ({ view: { state }, words }: PageContext, mayCome: readonly MailKind[]): Html | false =>
  mayCome.some((kind) => state.push?.kinds.includes(kind)) &&
  html`<button type="button" class="switch" role="switch" id="notice-push" aria-checked="false" data-key="${state.push?.key}" data-failed="${words.proof.error}" hidden><span>${words.noticePush}</span><i aria-hidden="true"></i></button>
      <p class="small quiet" id="push-failed" role="status"></p>`

/** What may still come of an order. */
const OF_UNPAID: readonly MailKind[] = [
  'hold_ends',
  'hold_ended',
  'confirmed',
  'declined',
  'cancelled',
  'refunded',
  'sent',
]
const MAY_COME: Readonly<Record<OrderStatus, readonly MailKind[]>> = {
  processing: OF_UNPAID,
  reserved: OF_UNPAID,
  paying: OF_UNPAID,
  confirmed: ['cancelled', 'refunded', 'sent'],
  fulfilled: ['refunded'],
  expired: [],
  cancelled: [],
  refunded: [],
}

/** The same beside an order. */
export const orderPushSwitch = (context: PageContext, status: OrderStatus): Html | false =>
  pushSwitch(context, MAY_COME[status])

/** `isDone`: otherwise a button ends them. */
export function stopContent(words: Words, isDone: boolean): Html {
  const [title, text] = isDone ? words.mailStopped : words.stopMail
  return html`<section class="stack says">${heading(title, text)}
    ${!isDone && postForm('', html`<button class="button">${words.stopMailYes}</button>`)}</section>`
}
