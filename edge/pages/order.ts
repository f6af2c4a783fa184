/** In the shop: choosing, and then the order in each of its states, with the hold's countdown. */
import type { Order, PublicSale } from '../../shared/api/public.ts'
import { clock, count, exactly, fill, money } from '../../shared/format.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import { tick } from './draw.ts'
import { type Html, html } from './html.ts'
import type { Content, Shown } from './view.ts'

/** Without a script, an order that is on its way is looked at again so often. */
const RELOAD_SECONDS = 3
/** And the page of a turn that has nothing to choose yet: they are few whose turn it is, and it runs. */
const RELOAD_IN_CARTS_SECONDS = 5

// -- The turn ------------------------------------------------------------------------------------------------------------

/** It is their turn: choose and reserve, or, where all of it is in carts, wait for what comes back. */
export function turnPage(shown: Shown, untilMs: number): Content {
  const { view, words, lang } = shown
  const { products, hold_seconds } = view.state
  const seconds = Math.max(0, (untilMs - view.nowMs) / 1000)
  const first = products.find((product) => product.available > 0)
  const title = first ? words.ready : words.allInCarts
  const text = first ? fill(words.chooseText, { t: exactly(lang, hold_seconds) }) : words.turnAllInCarts
  const main = html`<section class="card" id="turn" data-tone="${first ? 'turn' : 'hold'}">
    ${steps(shown, 0)}
    <h1 tabindex="-1">${title}</h1>
    <p class="lead">${text}</p>
    ${timeLeft(shown, { seconds, of: ADMISSION_TTL_SECONDS, label: words.admissionEndsIn })}
    ${first && reserveForm(shown, first)}
  </section>`
  // Not sooner than it is over: what somebody is about to choose is not to be taken from them.
  return { title, main, reloadSeconds: first ? Math.ceil(seconds) + 1 : RELOAD_IN_CARTS_SECONDS }
}

/** The most of one thing that it makes sense to ask for; what there is may have changed when it is asked for. */
const mostOf = ({ products, limit_per_visitor }: PublicSale) =>
  Math.min(limit_per_visitor, Math.max(...products.map((product) => product.available)))

/** The key is in the form, so that sending it twice makes one order. */
function reserveForm({ view, words, lang }: Shown, first: PublicSale['products'][number]): Html {
  const most = mostOf(view.state)
  const choices = view.state.products.map((product) => {
    const none = product.available === 0
    return html`<label class="choice">
      <input type="radio" name="product_id" value="${product.product_id}" ${product === first && html`checked`} ${none && html`disabled`} required>
      <span><bdi>${product.name}</bdi>
      <small>${none ? words.noneLeft : fill(words.left, { n: count(lang, product.available) })}</small></span>
      <b>${money(lang, product.unit_price_minor, product.currency)}</b></label>`
  })
  return html`<form method="post" action="/sales/${view.sale}/buy" class="once">
    <input type="hidden" name="idempotency_key" value="${crypto.randomUUID()}">
    <fieldset id="choices" data-left="${words.left}" data-none-left="${words.noneLeft}"><legend>${words.product}</legend>${choices}</fieldset>
    ${
      most > 1 &&
      html`<label class="field">${words.quantity}
      <input type="number" name="quantity" min="1" max="${most}" value="1" inputmode="numeric" required></label>`
    }
    <button class="button">${words.reserve}</button>
  </form>`
}

/** Where in the shop one is. */
function steps({ words }: Shown, at: 0 | 1 | 2): Html {
  return html`<ol class="steps" aria-label="${words.steps}">
    ${[words.stepChoose, words.stepPay, words.stepDone].map(
      (name, i) =>
        html`<li ${i === at && html`aria-current="step"`} ${i < at && html`class="past"`}>${name}</li>`,
    )}
  </ol>`
}

/** A countdown with a bar that runs out beside it; without a script, the time of day at which it is over. */
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

export function orderPage(shown: Shown, order: Order, alreadyHas: boolean): Content {
  const { view, words, lang } = shown
  const { title, text, tone, step, more } = stateOf(shown, order)
  const product = view.state.products.find((one) => one.product_id === order.product_id)
  const name = product?.name ?? order.product_id
  const done = order.status === 'confirmed' || order.status === 'fulfilled'
  const most = { n: count(lang, view.state.limit_per_visitor) }
  const main = html`${alreadyHas && html`<p class="note">${fill(words.alreadyHas, most)}</p>`}
  <section class="card" id="order" data-tone="${tone}" data-order="${order.order_id}" data-order-status="${order.status}">
    ${step !== null && steps(shown, step)}
    <h1 tabindex="-1">${done && tick}${title}</h1>
    <p class="lead">${text}</p>
    ${more}
    <dl>
      <div><dt>${words.product}</dt><dd><bdi>${name}</bdi>${order.quantity > 1 && ` ×\u00a0${count(lang, order.quantity)}`}</dd></div>
      <div><dt>${words.total}</dt><dd><b>${total(lang, order)}</b></dd></div>
      <div><dt>${words.orderNumber}</dt><dd><code>${order.order_id}</code></dd></div>
    </dl>
    ${order.status === 'reserved' && giveBack(shown, order)}
  </section>`
  const onItsWay = order.status === 'processing' || order.status === 'paying'
  const reloadSeconds = onItsWay
    ? RELOAD_SECONDS
    : order.status === 'reserved'
      ? Math.max(RELOAD_SECONDS, Math.ceil(order.expires_in_seconds) + 1)
      : null
  return { title, main, reloadSeconds }
}

const total = (lang: string, order: Order) =>
  money(lang, order.unit_price_minor * order.quantity, order.currency)

interface State {
  readonly title: string
  readonly text: string
  readonly tone: 'turn' | 'calm' | 'good' | 'hold' | 'quiet'
  readonly step: 0 | 1 | 2 | null
  readonly more?: Html
}

function stateOf(shown: Shown, order: Order): State {
  const { view, words } = shown
  const back = html`<p><a class="button" href="/sales/${view.sale}">${words.backToSale}</a></p>`
  const bar = (label: string) => html`<progress aria-label="${label}"></progress>`
  switch (order.status) {
    case 'processing':
      return {
        title: words.processing,
        text: words.processingText,
        tone: 'calm',
        step: 0,
        more: bar(words.processing),
      }
    case 'reserved':
      return {
        title: words.reserved,
        text: words.reservedText,
        tone: 'turn',
        step: 1,
        more: payment(shown, order),
      }
    case 'paying':
      return { title: words.paying, text: words.payingText, tone: 'calm', step: 1, more: bar(words.paying) }
    case 'confirmed':
    case 'fulfilled':
      return { title: words.confirmed, text: words.confirmedText, tone: 'good', step: 2 }
    case 'expired':
      return { title: words.expired, text: words.expiredText, tone: 'hold', step: null, more: back }
    case 'cancelled': {
      const [title, text] =
        order.reason === undefined ? [words.cancelled, words.cancelledText] : words.cancelledFor[order.reason]
      return { title, text, tone: 'hold', step: null, more: back }
    }
  }
}

function payment(shown: Shown, order: Order): Html {
  const { view, words, lang } = shown
  const pay = fill(words.pay, { m: total(lang, order) })
  return html`${timeLeft(shown, {
    seconds: order.expires_in_seconds,
    of: Math.max(view.state.hold_seconds, order.expires_in_seconds),
    label: words.holdEndsIn,
    id: 'hold',
  })}
    ${
      view.paymentPage === null
        ? sandboxForm(shown, order, pay)
        : html`<p><a class="button" href="${fill(view.paymentPage, { order: order.order_id })}">${pay}</a></p>`
    }`
}

function sandboxForm({ view, words }: Shown, order: Order, pay: string): Html {
  const methods = Object.entries(words.methods).map(
    ([method, name], i) => html`<label class="choice">
      <input type="radio" name="payment_method" value="${method}" ${i === 0 && html`checked`} required>
      <span>${name}</span></label>`,
  )
  return html`<form method="post" action="/sales/${view.sale}/order/${order.order_id}/payment" class="once">
      <fieldset><legend>${words.payWith}</legend>${methods}</fieldset>
      <button class="button">${pay}</button>
    </form>`
}

function giveBack({ view, words }: Shown, order: Order): Html {
  return html`<form method="post" action="/sales/${view.sale}/order/${order.order_id}/cancel" class="once"><button class="link">${words.giveBack}</button></form>`
}
