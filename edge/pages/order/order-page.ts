/** The order in each of its states, with the hold's countdown and the payment methods, or the next steps. */

import { isLive, isSettled, isSold, progressOf } from '../../../shared/api/order-status.ts'
import {
  DECLINE_CODES,
  type DeclineCode,
  type Order,
  type OrderLine,
  type Payment,
} from '../../../shared/api/public.ts'
import { comma, count, fill, money, plural } from '../../../shared/format.ts'
import { orderScript } from '../assets.ts'
import { buttonTo, type Html, heading, html, icon, postForm } from '../html.ts'
import { orderPushSwitch } from '../mail-pages.ts'
import { band, steps } from '../parts/band.ts'
import { billRows, type Row } from '../parts/bill-rows.ts'
import { nameOfLine, pictureOf } from '../parts/offer.ts'
import { picture } from '../parts/picture.ts'
import { seatName } from '../turn/cart/cart-seats.ts'
import { type Content, homeOf, type PageContext } from '../view.ts'
import type { Words } from '../words/words.ts'
import { whatNext } from './what-next.ts'

/** An order in progress reloads this often without a script. */
const RELOAD_SECONDS = 3
/** The pause is longer, so that the page does not reload while the buyer is about to press the button. */
const RELOAD_IN_3DS_SECONDS = 15
/** The default of the origin's PAYMENT_ACTION_SECONDS. If that is set, only the bar's length is wrong. */
export const MAX_3DS_SECONDS = 300

/** The step that an order has reached; null for one that is over. */
const STEPS = {
  processing: 0,
  reserved: 1,
  paying: 1,
  confirmed: 2,
  fulfilled: 2,
  expired: null,
  cancelled: null,
  refunded: null,
} as const

export function orderPage(context: PageContext, order: Order, alreadyHas: boolean): Content {
  const { view, words, lang } = context
  const { status } = order
  const [title] = stateOf(words, order)
  const most = { n: count(lang, view.state.limit_per_visitor) }
  const main = html`${alreadyHas && html`<div class="page"><p class="note">${fill(words.alreadyHas, most)}</p></div>`}
  ${orderSection(context, order)}`
  const holdSeconds = Math.max(RELOAD_SECONDS, Math.ceil(order.expires_in_seconds) + 1)
  const step = STEPS[status]
  return {
    title,
    main,
    look: 'full',
    ...(step !== null && { steps: steps(context, step) }),
    reloadSeconds: isAtBank(order)
      ? RELOAD_IN_3DS_SECONDS
      : isInProgress(order)
        ? RELOAD_SECONDS
        : status === 'reserved'
          ? holdSeconds
          : null,
  }
}

const isInProgress = ({ status }: Order) => status === 'processing' || status === 'paying'
const isAtBank = ({ payment }: Order) => payment?.status === 'requires_action'

function orderSection(context: PageContext, order: Order): Html {
  const { status } = order
  return html`<section id="order" data-order="${order.order_id}" data-order-status="${status}" ${
    !isSettled(status) && html`data-progress="${progressOf(order)}"`
  } ${!isSettled(status) && status !== 'reserved' && html`data-script="${orderScript.path}"`}>
    ${top(context, order)}
    <div class="page split bought">
      ${isSold(status) ? bought(context, order) : unpaid(context, order)}
      ${ticket(context, order)}
      ${isSold(status) ? afterwards(context, order) : html`<div>${orderPushSwitch(context, status)}</div>`}
    </div>
    ${status === 'paying' && whenConfirmed(context, order)}
  </section>`
}

/** The countdown, if there is one. */
function top(context: PageContext, order: Order): Html | false {
  const { view, words } = context
  const { status, payment, expires_in_seconds } = order
  const [title, text] = stateOf(words, order)
  if (status === 'reserved') {
    const of = Math.max(view.state.hold_seconds, expires_in_seconds)
    const isBad = declineOf(order) !== null
    return band(context, { title, text, seconds: expires_in_seconds, of, label: words.holdEndsIn, id: 'hold', isBad })
  }
  if (!isAtBank(order)) return false
  const seconds = payment?.expires_in_seconds ?? 0
  return band(context, { title, text, seconds, of: Math.max(MAX_3DS_SECONDS, seconds), label: words.awaiting3dsEndsIn })
}

/** The buyer's actions for an unpaid order, or none if it is over. */
function unpaid(context: PageContext, order: Order): Html {
  const { view, words } = context
  const { status, payment: paid } = order
  const [title, text] = stateOf(words, order)
  const hasBand = status === 'reserved' || isAtBank(order)
  return html`<div class="stack">
      ${!hasBand && html`<div>${heading(title, text)}</div>`}
      ${declineOf(order) !== null && html`<p><b>${attemptsLeft(context, order)}</b></p>`}
      ${status === 'reserved' && payment(context, order)}
      ${isAtBank(order) && paid && toBank(context, paid)}
      ${isInProgress(order) && !isAtBank(order) && html`<progress class="comb" aria-label="${title}"></progress>`}
      ${STEPS[status] === null && html`<p>${buttonTo(homeOf(view), words.backToSale)}</p>`}
      ${status === 'reserved' && giveBackForm(context, order)}
      ${links(context, order)}
      ${orderNumber(context, order)}
    </div>`
}

const bought = ({ words }: PageContext, order: Order) => {
  const [title, text] = stateOf(words, order)
  return html`<div>${order.status !== 'refunded' && checkMark}${heading(title, text)}</div>`
}

/** The goods, and the number that buyers and support tell each other. */
export function ticket(context: PageContext, order: Order): Html {
  const { view, words } = context
  const { short_number, lines } = order
  const image = pictureOf(view, lines)
  const isDone = isSold(order.status)
  const names = lines.map((line) => html`<p>${lineName(context, line, order)}</p>`)
  return html`<aside class="stay ticket" aria-label="${words.toOrder}">
      ${
        image &&
        html`<div class="pic goods-pic">${picture(image, {
          sizes: '(min-width: 60rem) 40vw, 100vw',
          eager: true,
        })}</div>`
      }
      ${image && html`<div class="comb" aria-hidden="true"></div>`}
      <div>
        <p class="row"><span class="quiet">${words.orderNumber}</span>${
          isDone && short_number !== null && copyButton(context, short_number)
        }</p>
        ${short_number !== null && html`<strong class="num">${short_number}</strong>`}
        ${isDone ? names : billOf(context, order)}
        ${isDone && html`<p class="small quiet">${totalOf(context.lang, order)}</p>`}
      </div>
    </aside>`
}

/** The part below the head of a paid order. */
function afterwards(context: PageContext, order: Order): Html {
  const { words } = context
  return html`<div class="stack">
      ${order.status !== 'refunded' && whatNext(context, order, pathOf(context, order))}
      <section>
        <h2>${words.receipt}</h2>
        ${billOf(context, order)}
        ${links(context, order)}
      </section>
      ${orderNumber(context, order)}
      ${orderPushSwitch(context, order.status)}
    </div>`
}

/** A page without steps has the link to the visitor's orders in its header. */
function links(context: PageContext, order: Order): Html | false {
  const { view, words } = context
  if (view.protects) return false
  const receipt = isSold(order.status) && html`<a href="${pathOf(context, order)}/receipt">${words.receipt}</a>`
  const own = STEPS[order.status] !== null && html`<a href="/sales/${view.sale}/orders">${words.ownOrders}</a>`
  return (receipt || own) && html`<p class="row links actions">${receipt} ${own}</p>`
}

/** The order lines and their total. */
function billOf(context: PageContext, order: Order): Html {
  const { words, lang } = context
  const { currency, refunded_minor } = order
  const lines: Row[] = order.lines.map((line) => ({
    name: lineName(context, line, order),
    amount: money(lang, line.unit_price_minor * line.quantity, currency),
  }))
  const refunded = { name: words.refunded, amount: money(lang, refunded_minor, currency) }
  return billRows(context, order, lines, { after: refunded_minor > 0 ? [refunded] : [] })
}

const copyButton = ({ words }: PageContext, text: string) =>
  html`<button class="icon-button" type="button" data-copy="${text}" aria-label="${words.after.copy}"
    hidden>${icon('copy')}</button>`

/**
 * The page that follows a successful payment, as nearly all are. The script shows it when it learns of the success,
 * without another request.
 */
function whenConfirmed(context: PageContext, order: Order): Html {
  const confirmed = { ...order, status: 'confirmed', payment: { status: 'succeeded' }, expires_in_seconds: 0 } as const
  const [title] = stateOf(context.words, confirmed)
  return html`<template id="order-confirmed" data-title="${title}">${steps(context, 2)}${orderSection(context, confirmed)}</template>`
}

/** Cancelling takes two steps, because it cannot be undone. */
function giveBackForm(context: PageContext, order: Order): Html {
  const { words } = context
  return html`<details class="leave">
      <summary>${words.giveBack}</summary>
      <p class="quiet">${words.giveBackText}</p>
      ${postForm(`${pathOf(context, order)}/cancel`, html`<button class="button second">${words.giveBackYes}</button>`)}
    </details>`
}

export const pathOf = ({ view }: PageContext, order: Order) => `/sales/${view.sale}/order/${order.order_id}`

/** The full order number for machines, in small print. */
export const orderNumber = ({ words }: PageContext, { order_id }: Order) =>
  html`<p class="small quiet order-number">${words.after.fullNumber} <code>${order_id}</code></p>`

export const totalOf = (lang: string, order: Order) => money(lang, order.total_minor, order.currency)

/**
 * The name of a line: for a seat its section, row and number. Returned lines of a continuing order are struck through
 * and marked; the status of an ended order says it for all lines.
 */
export const lineName = ({ view, words, lang }: PageContext, line: OrderLine, order: Pick<Order, 'status'>): Html =>
  lineText({ words, lang }, nameOfLine(view, line), line, order)

/** The same with a name of its own. */
export function lineText(
  { words, lang }: Pick<PageContext, 'words' | 'lang'>,
  name: string,
  { row, number, quantity, ...line }: OrderLine,
  { status }: Pick<Order, 'status'>,
): Html {
  const seat =
    row !== undefined && number !== undefined && html`${comma(lang)}<bdi>${seatName(words, { row, number })}</bdi>`
  const text = html`<bdi>${name}</bdi>${seat}${quantity > 1 && ` ×\u00a0${count(lang, quantity)}`}`
  const isReturned = line.status === 'returned' && (isLive(status) || isSold(status))
  return isReturned ? html`<s>${text}</s> <small>(${words.hall.returned})</small>` : text
}

/** The first text that the buyer reads: the state of the order, and what they can do. */
export function stateOf(words: Words, order: Order): readonly [title: string, text: string] {
  const { status, reason, payment } = order
  const declined = declineOf(order)
  if (declined !== null) return [words.declined, words.declinedFor[declined]]
  if (status === 'cancelled' && reason) return words.cancelledFor[reason === 'blocked' ? 'by_shop' : reason]
  if (payment?.status === 'requires_action') return [words.awaiting3ds, words.awaiting3dsText]
  if (isSold(status) && status !== 'refunded' && order.refunded_minor > 0)
    return [words.partlyRefunded, words.partlyRefundedText]
  return [words[status], words[`${status}Text`]]
}

// -- Paying ---------------------------------------------------------------------------------------------------------

/** The reason why the last payment of a still reserved order was declined; null if it was not. */
function declineOf({ status, payment }: Order): DeclineCode | null {
  if (status !== 'reserved' || payment?.status !== 'declined') return null
  return DECLINE_CODES.find((code) => code === payment.code) ?? 'declined'
}

function attemptsLeft({ words, lang }: PageContext, { payment }: Order): string {
  const left = payment?.attempts_left ?? 1
  return fill(plural(lang, left, words.attemptsLeft), { n: count(lang, left) })
}

/** The link to the bank, which asks its customer to confirm (3-D Secure). */
const toBank = ({ words }: PageContext, { next_action }: Payment) =>
  next_action && html`<p>${buttonTo(next_action.url, words.toBank)}</p>`

function payment(context: PageContext, order: Order): Html {
  const { view, words, lang } = context
  const pay = fill(words.pay, { m: totalOf(lang, order) })
  // The shop takes the money, in its own checkout.
  if (view.state.payment === 'handover') return html`<p>${buttonTo(`${pathOf(context, order)}/pay`, pay)}</p>`
  return view.paymentPage === null || view.state.test
    ? sandboxForm(context, order, pay)
    : html`<p>${buttonTo(fill(view.paymentPage, { sale: view.sale, order: order.order_id }), pay)}</p>`
}

function sandboxForm(context: PageContext, order: Order, pay: string): Html {
  const { words } = context
  const methods = Object.entries(words.methods).map(
    ([method, name], i) => html`<label>
      <input type="radio" name="payment_method" value="${method}" ${i === 0 && html`checked`} required>
      <span>${name}</span></label>`,
  )
  return postForm(
    `${pathOf(context, order)}/payment`,
    html`
      <fieldset class="part"><legend>${words.payWith}</legend><div class="choices">${methods}</div></fieldset>
      <button class="button wide">${pay}</button>
    `,
  )
}

/** The rays of the ring around the check mark. Every fourth ray is longer. */
const TICKS = 48
const round = (value: number) => value.toFixed(1)

const rays = Array.from({ length: TICKS }, (_, i) => {
  const angle = (i / TICKS) * 2 * Math.PI
  const at = (radius: number) => `${round(60 + radius * Math.cos(angle))} ${round(60 + radius * Math.sin(angle))}`
  return `M${at(40)}L${at(i % 4 === 0 ? 52 : 47)}`
}).join('')

/**
 * The check mark of a paid order in a ring like the comb. It is hidden from screen readers, because the words next to
 * it have the same meaning.
 */
const checkMark = html`<svg class="done" viewBox="0 0 120 120" aria-hidden="true" focusable="false"><path
  class="rays" d="${rays}" stroke="currentColor" stroke-width="2.4" stroke-linecap="round"/><circle cx="60" cy="60"
    r="30" fill="currentColor"/><path class="tick" d="m47 61 9 9 17-19" fill="none" stroke="var(--paper)"
      stroke-width="5" stroke-linecap="round" stroke-linejoin="round"/></svg>`
