/** A visitor's orders of all sales, with the link to each. */
import type { Image } from '../../../shared/api/goods.ts'
import type { Order } from '../../../shared/api/public.ts'
import { buttonTo, type Html, heading, html } from '../html.ts'
import { lineText, stateOf, totalOf } from '../order/order-page.ts'
import { timeAt } from '../parts/moments.ts'
import { cardPicture, type FrontView, frontShell, homeOf } from './front-page.ts'

export type OwnOrdersView = FrontView & {
  readonly orders: readonly Order[]
  /** The pictures of the listed sales. */
  readonly images: ReadonlyMap<string, Image | null>
}

export function ownOrdersPage(view: OwnOrdersView): Html {
  const { words, orders } = view
  const title = orders.length > 0 ? words.ownOrders : words.noOrders
  const main = html`<main id="main" class="page" data-now-ms="${Math.round(view.nowMs)}">
  <section class="stack found">
    ${heading(title, words.front.ordersText)}
    ${orders.length > 0 && html`<ul class="orders">${orders.map((order) => orderItem(view, order))}</ul>`}
    <p class="actions">${buttonTo(homeOf(view), words.front.toFront)}</p>
  </section>
</main>`
  return frontShell(view, { title, indexed: false, path: '/me/orders' }, main)
}

function orderItem({ words, lang, choseLanguage, images }: OwnOrdersView, order: Order): Html {
  const [state] = stateOf(words, order)
  const path = `/sales/${order.sale}/order/${order.order_id}${choseLanguage ? `?lang=${lang}` : ''}`
  const names = order.lines.map((line) => html`<span>${lineText({ words, lang }, line.name, line, order)}</span>`)
  return html`<li>
      ${cardPicture({ image: images.get(order.sale) ?? null }, '3.5rem', 'thumb')}
      <p><a href="${path}">${state}</a> ${names}
      <small>${
        order.short_number !== null && html`<b>${order.short_number}</b>`
      } ${timeAt(lang, order.created_at)}</small></p>
      <b>${totalOf(lang, order)}</b>
    </li>`
}
