/**
 * The list of a visitor's own orders in a sale, and the receipt of an order, which is printable on a sheet of paper.
 */
import type { Order, PublicSale } from '../../../shared/api/public.ts'
import { count, fill, money, percentage } from '../../../shared/format.ts'
import { buttonTo, type Html, heading, html } from '../html.ts'
import { billingOf, taxIn, textRows } from '../parts/bill-rows.ts'
import { timeAt } from '../parts/moments.ts'
import { pictureOf } from '../parts/offer.ts'
import { picture } from '../parts/picture.ts'
import { eventOf } from '../sale/calendar.ts'
import { type Content, homeOf, type PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'
import { lineName, orderNumber, stateOf, totalOf } from './order-page.ts'

export function ordersPage(context: PageContext, orders: readonly Order[]): Content {
  const { view, words } = context
  const title = orders.length > 0 ? words.ownOrders : words.noOrders
  const main = html`<section class="stack">
    ${heading(title, words.ownOrdersText)}
    ${orders.length > 0 && html`<ul class="orders">${orders.map((order) => orderItem(context, order))}</ul>`}
    <p class="actions">${buttonTo(homeOf(view), words.backToSale)}</p>
  </section>`
  return { title, main, reloadSeconds: null }
}

function orderItem(context: PageContext, order: Order): Html {
  const { view, words, lang } = context
  const [state] = stateOf(words, order)
  const image = pictureOf(view, order.lines)
  const names = order.lines.map((line) => html`<span>${lineName(context, line, order)}</span>`)
  return html`<li>
      ${image && html`<div class="pic thumb">${picture(image, { sizes: '3.5rem' })}</div>`}
      <p><a href="/sales/${view.sale}/order/${order.order_id}">${state}</a> ${names}
      <small>${
        order.short_number !== null && html`<b>${order.short_number}</b>`
      }${order.refunded_minor > 0 && html` ${words.refunded}: ${refundOf(lang, order)}`}</small>
      <small>${timeAt(lang, order.created_at)}</small></p>
      <b>${totalOf(lang, order)}</b>
    </li>`
}

const refundOf = (lang: string, { refunded_minor, currency }: Order) => money(lang, refunded_minor, currency)

/** The receipt of a paid order. */
export function receiptPage(context: PageContext, order: Order): Content {
  const { view, words, lang } = context
  const { currency } = order
  const { seller, tax } = order.receipt ?? view.state
  const event = eventOf(context)
  const lines = order.lines.map(
    ({
      quantity,
      unit_price_minor,
      ...line
    }) => html`<tr><td>${lineName(context, { ...line, quantity: 1, unit_price_minor }, order)}
        <small>${count(lang, quantity)} ×\u00a0${money(lang, unit_price_minor, currency)}</small></td>
        <td>${money(lang, unit_price_minor * quantity, currency)}</td></tr>`,
  )
  const main = html`<article class="stack receipt">
    ${heading(words.receipt, html`<bdi>${view.goods?.brand?.shop ?? view.brand.name}</bdi>`)}
    <dl class="rows">
      ${seller && sellerRows(context, seller)}
      <div><dt>${words.sale}</dt><dd><bdi>${view.state.name}</bdi></dd></div>
      ${event && html`<div><dt>${words.date}</dt><dd>${event.time}</dd></div>`}
      ${event && view.goods?.venue && html`<div><dt>${words.venue}</dt><dd><bdi>${view.goods.venue}</bdi></dd></div>`}
      ${
        order.short_number !== null &&
        html`<div><dt>${words.orderNumber}</dt><dd><b>${order.short_number}</b></dd></div>`
      }
      <div><dt>${words.orderedAt}</dt><dd>${timeAt(lang, order.created_at)}</dd></div>
      ${order.total_minor > 0 && html`<div><dt>${words.paidWith}</dt><dd>${methodOf(words, order)}</dd></div>`}
    </dl>
    <table>
      <thead><tr><th scope="col">${words.product}</th><th scope="col">${words.amount}</th></tr></thead>
      <tbody>${lines}</tbody>
      <tfoot>
        ${textRows(order, billingOf(context, order)).map(
          ({ name, amount }) => html`<tr><th scope="row">${name}</th><td>${amount}</td></tr>`,
        )}
        <tr class="total"><th scope="row">${words.total}</th><td><b>${totalOf(lang, order)}</b></td></tr>
        ${
          tax &&
          tax.included !== false &&
          html`<tr><th
          scope="row">${fill(words.taxIncluded, { tax: tax.name, p: percentage(lang, tax.percent) })}</th><td>${money(lang, taxIn(tax, order), currency)}</td></tr>`
        }
        ${
          order.refunded_minor > 0 &&
          html`<tr><th scope="row">${words.refunded}</th><td>${refundOf(lang, order)}</td></tr>`
        }
      </tfoot>
    </table>
    ${orderNumber(context, order)}
    <p class="row actions"><button class="button" data-print>${words.print}</button>
      <a class="button second" href="/sales/${view.sale}/order/${order.order_id}">${words.toOrder}</a></p>
    ${event && html`<p class="row links actions">${event.toCalendar}</p>`}
  </article>`
  return { title: words.receipt, main, reloadSeconds: null }
}

function sellerRows({ words }: PageContext, { name, address, tax_id }: NonNullable<PublicSale['seller']>): Html {
  return html`<div><dt>${words.seller}</dt><dd class="lines"><bdi>${name}</bdi>${
    address && html`\n<bdi>${address}</bdi>`
  }</dd></div>
      ${tax_id && html`<div><dt>${words.taxId}</dt><dd><bdi>${tax_id}</bdi></dd></div>`}`
}

/**
 * Describes the payment method if it is a card or a method of the sandbox. The provider gives no details of any
 * other.
 */
function methodOf(words: Words, { payment }: Order): string {
  const { card, method } = payment ?? {}
  if (card) return fill(words.cardEndingIn, { brand: card.brand, n: card.last4 })
  return Object.entries(words.methods).find(([name]) => name === method)?.[1] ?? words.onlinePayment
}
