/** In the shop: choosing, and then the order in each of its states, with the hold's countdown. */
import type { Order, PublicSale } from '../../shared/api/public.ts'
import { clock, count, exactly, fill, money } from '../../shared/format.ts'
import { isSold } from '../../shared/order-status.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import { tick } from './draw.ts'
import { buttonTo, type Html, heading, html, postForm } from './html.ts'
import { type Content, homeOf, type Shown } from './view.ts'

/** Without a script, an order in progress reloads so often. */
const RELOAD_SECONDS = 3
/** And a turn with nothing to choose yet: few people have a turn, and it runs out. */
const RELOAD_IN_CARTS_SECONDS = 5

// -- The turn ------------------------------------------------------------------------------------------------------------

/** The visitor's turn: choose and reserve, or, where all units are in carts, wait for what comes back. */
export function turnPage(shown: Shown, untilMs: number): Content {
  const { view, words, lang } = shown
  const { products, hold_seconds } = view.state
  const seconds = Math.max(0, (untilMs - view.nowMs) / 1000)
  const first = products.find((product) => product.available > 0)
  const title = first ? words.ready : words.allInCarts
  const text = first ? fill(words.chooseText, { t: exactly(lang, hold_seconds) }) : words.turnAllInCarts
  const main = html`<section class="card" id="turn" data-tone="${first ? 'turn' : 'hold'}">
    ${steps(shown, 0)}
    ${heading(title, text)}
    ${timeLeft(shown, { seconds, of: ADMISSION_TTL_SECONDS, label: words.admissionEndsIn })}
    ${first && reserveForm(shown, first)}
  </section>`
  // Not before the turn is over: a reload would take away what the visitor is about to choose.
  return { title, main, reloadSeconds: first ? Math.ceil(seconds) + 1 : RELOAD_IN_CARTS_SECONDS }
}

/** The idempotency key is in the form, so that sending it twice makes one order. */
function reserveForm({ view, words, lang }: Shown, first: PublicSale['products'][number]): Html {
  const { products, limit_per_visitor } = view.state
  const most = Math.min(limit_per_visitor, Math.max(...products.map((product) => product.available)))
  const choices = products.map((product) => {
    const none = product.available === 0
    return html`<label class="choice">
      <input type="radio" name="product_id" value="${product.product_id}" ${product === first && html`checked`} ${none && html`disabled`} required>
      <span><bdi>${product.name}</bdi>
      <small>${none ? words.noneLeft : fill(words.left, { n: count(lang, product.available) })}</small></span>
      <b>${money(lang, product.unit_price_minor, product.currency)}</b></label>`
  })
  const quantity = html`<label class="field">${words.quantity}
      <input type="number" name="quantity" min="1" max="${most}" value="1" inputmode="numeric" required></label>`
  return postForm(
    `/sales/${view.sale}/buy`,
    html`
    <input type="hidden" name="idempotency_key" value="${crypto.randomUUID()}">
    <fieldset id="choices" data-left="${words.left}" data-none-left="${words.noneLeft}"><legend>${words.product}</legend>${choices}</fieldset>
    ${most > 1 && quantity}
    <button class="button">${words.reserve}</button>
  `,
  )
}

function steps({ words }: Shown, at: 0 | 1 | 2): Html {
  const names = [words.stepChoose, words.stepPay, words.stepDone]
  const items = names.map(
    (name, i) => html`<li ${i === at && html`aria-current="step"`} ${i < at && html`class="past"`}>${name}</li>`,
  )
  return html`<ol class="steps" aria-label="${words.steps}">${items}</ol>`
}

/** A countdown with a bar that runs out; without a script, the time of day at which it is over. */
function timeLeft(
  { view, words, lang }: Shown,
  { seconds, of, label, id }: { seconds: number; of: number; label: string; id?: string },
): Html {
  const until = new Date(view.nowMs + seconds * 1000).toISOString()
  return html`<div class="time-left" ${id && html`id="${id}"`}>
    <p><span class="label" data-over="${words.timeOver}">${label}</span>
    <noscript><b>${fill(words.until, { t: `${until.slice(11, 19)} UTC` })}</b></noscript>
    <time role="timer" datetime="${until}" data-over="look">${clock(lang, seconds)}</time></p>
    <progress max="${of}" value="${Math.min(of, seconds)}" aria-hidden="true"></progress>
  </div>`
}

// -- The order -----------------------------------------------------------------------------------------------------------

/** The card's colour and the step it shows, by status. */
const LOOKS = {
  processing: { tone: 'calm', step: 0 },
  reserved: { tone: 'turn', step: 1 },
  paying: { tone: 'calm', step: 1 },
  confirmed: { tone: 'good', step: 2 },
  expired: { tone: 'hold', step: null },
  cancelled: { tone: 'hold', step: null },
} as const

export function orderPage(shown: Shown, order: Order, alreadyHas: boolean): Content {
  const { view, words, lang } = shown
  const { status } = order
  const look = status === 'fulfilled' ? 'confirmed' : status
  const [title, text] =
    look === 'cancelled' && order.reason ? words.cancelledFor[order.reason] : [words[look], words[`${look}Text`]]
  const { tone, step } = LOOKS[look]
  const isInProgress = status === 'processing' || status === 'paying'
  const product = view.state.products.find((one) => one.product_id === order.product_id)
  const name = product?.name ?? order.product_id
  const most = { n: count(lang, view.state.limit_per_visitor) }
  const main = html`${alreadyHas && html`<p class="note">${fill(words.alreadyHas, most)}</p>`}
  <section class="card" id="order" data-tone="${tone}" data-order="${order.order_id}" data-order-status="${status}">
    ${step !== null && steps(shown, step)}
    ${heading([isSold(status) && tick, title], text)}
    ${status === 'reserved' && payment(shown, order)}
    ${isInProgress && html`<progress aria-label="${title}"></progress>`}
    ${step === null && html`<p>${buttonTo(homeOf(view), words.backToSale)}</p>`}
    <dl>
      <div><dt>${words.product}</dt><dd><bdi>${name}</bdi>${order.quantity > 1 && ` ×\u00a0${count(lang, order.quantity)}`}</dd></div>
      <div><dt>${words.total}</dt><dd><b>${total(lang, order)}</b></dd></div>
      <div><dt>${words.orderNumber}</dt><dd><code>${order.order_id}</code></dd></div>
    </dl>
    ${
      status === 'reserved' &&
      postForm(`${pathOf(shown, order)}/cancel`, html`<button class="link">${words.giveBack}</button>`)
    }
  </section>`
  const holdSeconds = Math.max(RELOAD_SECONDS, Math.ceil(order.expires_in_seconds) + 1)
  return {
    title,
    main,
    reloadSeconds: isInProgress ? RELOAD_SECONDS : status === 'reserved' ? holdSeconds : null,
  }
}

const pathOf = ({ view }: Shown, order: Order) => `/sales/${view.sale}/order/${order.order_id}`

const total = (lang: string, order: Order) => money(lang, order.unit_price_minor * order.quantity, order.currency)

function payment(shown: Shown, order: Order): Html {
  const { view, words, lang } = shown
  const pay = fill(words.pay, { m: total(lang, order) })
  const seconds = order.expires_in_seconds
  const of = Math.max(view.state.hold_seconds, seconds)
  return html`${timeLeft(shown, { seconds, of, label: words.holdEndsIn, id: 'hold' })}
    ${
      view.paymentPage === null
        ? sandboxForm(shown, order, pay)
        : html`<p>${buttonTo(fill(view.paymentPage, { order: order.order_id }), pay)}</p>`
    }`
}

function sandboxForm(shown: Shown, order: Order, pay: string): Html {
  const { words } = shown
  const methods = Object.entries(words.methods).map(
    ([method, name], i) => html`<label class="choice">
      <input type="radio" name="payment_method" value="${method}" ${i === 0 && html`checked`} required>
      <span>${name}</span></label>`,
  )
  return postForm(
    `${pathOf(shown, order)}/payment`,
    html`
      <fieldset><legend>${words.payWith}</legend>${methods}</fieldset>
      <button class="button">${pay}</button>
    `,
  )
}
