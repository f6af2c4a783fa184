/**
 * The payment page with Stripe's form, for an order that is reserved or needs the buyer's confirmation at the bank.
 */
import type { Order } from '../../../shared/api/public.ts'
import { toStripe } from '../../../shared/api/stripe-amount.ts'
import { fill } from '../../../shared/format.ts'
import { paymentScript } from '../assets.ts'
import { html, postForm } from '../html.ts'
import { band, steps } from '../parts/band.ts'
import type { Content, PageContext, StripePage } from '../view.ts'
import { MAX_3DS_SECONDS, pathOf, ticket, totalOf } from './order-page.ts'

export const paymentHead = html`<script type="module" src="${paymentScript.path}"></script>`

export function paymentPage(context: PageContext, order: Order, { key, script }: StripePage): Content {
  const { view, words, lang } = context
  const { payment, currency } = order
  const confirms = payment?.status === 'requires_action'
  const seconds = (confirms ? payment.expires_in_seconds : order.expires_in_seconds) ?? 0
  const of = Math.max(confirms ? MAX_3DS_SECONDS : view.state.hold_seconds, seconds)
  const label = confirms ? words.awaiting3dsEndsIn : words.holdEndsIn
  const title = confirms ? words.awaiting3ds : words.payTitle
  const back = pathOf(context, order)
  const pay = fill(words.pay, { m: totalOf(lang, order) })
  const form = html`<form>
        <div data-form></div>
        <p class="fault" role="alert"></p>
        <button class="button wide" aria-disabled="true">${pay}</button>
      </form>`
  const amount = toStripe(order.total_minor, currency)
  const stripeForm = html`<noscript><p><b>${words.payNeedsScript}</b></p></noscript>
    <stripe-payment data-key="${key}" data-script="${script}" data-order="${order.order_id}" data-back="${back}"
      data-amount="${amount}" data-currency="${currency}" ${confirms && html`data-confirms`}
      data-away="${words.payAway}" data-failed="${words.payFailed}">
      ${confirms ? html`<progress aria-label="${title}"></progress><p class="fault" role="alert"></p>` : form}
    </stripe-payment>`
  // Stripe refuses a charge of 0, so the origin confirms such an order without one.
  const free = postForm(
    `${back}/payment`,
    html`<input type="hidden" name="payment_method" value="pm_free"><button class="button wide">${pay}</button>`,
  )
  const text = confirms ? words.awaiting3dsText : amount === 0 ? words.reservedText : words.payText
  const main = html`<section id="payment">
    ${band(context, { title, text, seconds, of, label, id: 'hold' })}
    <div class="page split bought">
      <div class="stack">
        ${amount === 0 ? free : stripeForm}
        <p class="links"><a href="${back}">${words.toOrder}</a></p>
      </div>
      ${ticket(context, order)}
    </div>
  </section>`
  return { title, main, look: 'full', steps: steps(context, 1), reloadSeconds: Math.ceil(seconds) + 1 }
}
