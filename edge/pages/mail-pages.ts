/** The pages for visitors who requested a mail or want no more, and the form for such a request. */
import type { MailKind } from '../../shared/api/mails.ts'
import type { OrderStatus } from '../../shared/api/order-status.ts'
import { buttonTo, type Html, heading, html, postForm } from './html.ts'
import { type Content, homeOf, type PageContext } from './view.ts'
import type { Words } from './words/words.ts'

export function mailedPage({ view, words }: PageContext): Content {
  const [title, text] = words.mailAsked
  const main = html`<section class="stack says">${heading(title, text)}
    <p class="actions">${buttonTo(homeOf(view), words.backToSale)}</p></section>`
  return { title, main, reloadSeconds: null }
}

/** The form that requests a mail, if the sale sends it. */
export const mailForm = ({ view, words }: PageContext, label: string): Html =>
  html`<form method="post" action="/sales/${view.sale}/mail" class="once stack">
      <div class="field"><label>${words.email}<input type="email" name="email" autocomplete="email" maxlength="254"
        value="${view.accountEmail ?? ''}" required></label></div>
      <p><button class="button second">${label}</button></p>
    </form>`

/**
 * The switch for push messages, if the sale sends any that may still follow. The script shows it if the browser
 * supports them.
 */
export const pushSwitch = ({ view: { state }, words }: PageContext, mayCome: readonly MailKind[]): Html | false =>
  mayCome.some((kind) => state.push?.kinds.includes(kind)) &&
  html`<button type="button" class="switch" role="switch" id="notice-push" aria-checked="false"
    data-key="${state.push?.key}" data-failed="${words.proof.error}" hidden><span>${words.noticePush}</span><i
      aria-hidden="true"></i></button>
      <p class="small quiet" id="push-failed" role="status"></p>`

/** The mails that may still follow an unpaid order. */
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

/** The switch for push messages next to an order. */
export const orderPushSwitch = (context: PageContext, status: OrderStatus): Html | false =>
  pushSwitch(context, MAY_COME[status])

/** If not `isDone`, a button ends the mails. */
export function stopContent(words: Words, isDone: boolean): Html {
  const [title, text] = isDone ? words.mailStopped : words.stopMail
  return html`<section class="stack says">${heading(title, text)}
    ${!isDone && postForm(null, html`<button class="button">${words.stopMailYes}</button>`)}</section>`
}
