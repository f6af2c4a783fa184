/** An order in each of its states: the hold's countdown, paying, and how it ended. */
import type { Order } from '../../shared/api.ts'
import { clock, money } from '../../shared/speak.ts'
import { type Html, html } from './html.ts'
import type { Shown } from './index.ts'

/** Without a script, an order that is on its way is looked at again so often. */
const RELOAD_SECONDS = 3

export function orderSection(
  shown: Shown,
  order: Order,
): { title: string; body: Html; reloadSeconds: number | null } {
  const { view, words, lang } = shown
  const { title, explained, more } = stateOf(shown, order)
  const product = view.state.products.find((p) => p.product_id === order.product_id)
  const total = money(lang, order.unit_price_minor * order.quantity, order.currency)
  const body = html`<section class="card order ${order.status}" id="order" data-order="${order.order_id}" data-order-status="${order.status}">
    <h1 tabindex="-1">${title}</h1>
    <p class="lead" role="status">${explained}</p>
    ${more}
    <dl>
      <div><dt>${words.product}</dt><dd>${product?.name ?? order.product_id}${order.quantity > 1 && ` × ${order.quantity}`}</dd></div>
      <div><dt>${words.order}</dt><dd><code>${order.order_id}</code></dd></div>
      <div><dt></dt><dd><b>${total}</b></dd></div>
    </dl>
  </section>`
  const onItsWay = order.status === 'processing' || order.status === 'paying'
  return { title, body, reloadSeconds: onItsWay ? RELOAD_SECONDS : null }
}

function stateOf(shown: Shown, order: Order): { title: string; explained: string; more?: Html } {
  const { view, words } = shown
  const back = html`<p><a class="button quiet" href="/sales/${view.sale}">${words.backToSale}</a></p>`
  switch (order.status) {
    case 'processing':
      return {
        title: words.processing,
        explained: words.processingExplained,
        more: html`<progress></progress>`,
      }
    case 'reserved':
      return { title: words.reserved, explained: words.reservedFor, more: payment(shown, order) }
    case 'paying':
      return { title: words.paying, explained: words.payingExplained, more: html`<progress></progress>` }
    case 'confirmed':
    case 'fulfilled':
      return { title: words.confirmed, explained: words.confirmedExplained }
    case 'expired':
      return { title: words.expired, explained: words.expiredExplained, more: back }
    case 'cancelled':
      return { title: words.cancelled, explained: words.cancelledExplained, more: back }
  }
}

function payment({ view, words, lang }: Shown, order: Order): Html {
  const untilMs = view.nowMs + order.expires_in_seconds * 1000
  const total = money(lang, order.unit_price_minor * order.quantity, order.currency)
  return html`<p class="countdown hold"><time data-until-ms="${Math.round(untilMs)}" data-then="reload">${clock(lang, order.expires_in_seconds)}</time></p>
    <form method="post" action="/sales/${view.sale}/order/${order.order_id}/payment" class="once">
      <fieldset><legend>${words.payWith}</legend>
        ${Object.entries(words.methods).map(
          ([method, name], i) =>
            html`<label class="choice"><input type="radio" name="payment_method" value="${method}" ${i === 0 && html`checked`} required><span>${name}</span></label>`,
        )}
      </fieldset>
      <button class="button">${words.pay.replace('{m}', total)}</button>
    </form>
    <form method="post" action="/sales/${view.sale}/order/${order.order_id}/cancel" class="once"><button class="link">${words.giveBack}</button></form>`
}
