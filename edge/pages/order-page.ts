/** In the shop: choosing, and then the order in each of its states, with the hold's countdown. */
import { DECLINE_CODES, type DeclineCode, type Order, type OrderLine, type Payment } from '../../shared/api/public.ts'
import { clock, count, exactly, fill, money, plural } from '../../shared/format.ts'
import { isLive, isSettled, isSold, progressOf } from '../../shared/order-status.ts'
import type { Problem } from '../../shared/problem.ts'
import { ADMISSION_TTL_SECONDS } from '../../shared/tokens.ts'
import { hallForm, hasSections, seatName } from './hall-form.ts'
import { buttonTo, type Html, heading, html, postForm } from './html.ts'
import { pauseReason } from './parts/announcement.ts'
import { faultOf } from './parts/fault.ts'
import { during } from './parts/phases.ts'
import { type Content, homeOf, type PageContext, type Refused } from './view.ts'
import type { Words } from './words/words.ts'

/** Without a script, an order in progress reloads so often. */
const RELOAD_SECONDS = 3
/** Longer, so that the page does not reload under the finger of someone about to press the button. */
const RELOAD_IN_3DS_SECONDS = 15
/** The origin's PAYMENT_ACTION_SECONDS, unless it is set: only the bar's length depends on it. */
export const MAX_3DS_SECONDS = 300
/** A turn with nothing to choose yet reloads so often: few people have a turn, and it runs out. */
const RELOAD_IN_CARTS_SECONDS = 5

// -- The turn ------------------------------------------------------------------------------------------------------------

/** The visitor's turn: choose and reserve, or, where all units are in carts, wait for what comes back. */
export function turnPage(context: PageContext, untilMs: number, refused?: Refused): Content {
  const { view, words, lang } = context
  const { products, hold_seconds } = view.state
  const seconds = Math.max(0, (untilMs - view.nowMs) / 1000)
  const first = products.find((product) => product.available > 0)
  const title = first ? words.ready : words.allInCarts
  const text = first ? fill(words.chooseText, { t: exactly(lang, hold_seconds) }) : words.turnAllInCarts
  const main = html`<section class="card" id="turn" data-tone="${first ? 'turn' : 'hold'}">
    ${steps(context, 0)}
    ${heading(title, text)}
    ${during(view.schedule, ['paused'], html`<p class="lead"><b>${words.paused}</b>${words.fullStop}${words.turnPaused}</p>${pauseReason(context)}`)}
    ${timeLeft(context, { seconds, of: ADMISSION_TTL_SECONDS, label: words.admissionEndsIn })}
    ${first && (hasSections(view.state) ? hallForm(context, untilMs, refused) : reserveForm(context, refused))}
  </section>`
  // Not before the turn is over: a reload would take away what the visitor is about to choose.
  return { title, main, reloadSeconds: first ? Math.ceil(seconds) + 1 : RELOAD_IN_CARTS_SECONDS }
}

/**
 * The idempotency key is in the form, so that sending it twice makes one order. After a 503 it stays: the first may have come
 * through.
 */
function reserveForm(context: PageContext, refused?: Refused): Html {
  const { view, words, lang } = context
  const { products, limit_per_visitor } = view.state
  const { chosen = {}, problem } = refused ?? {}
  const key = problem?.status === 503 ? chosen.idempotency_key : undefined
  const faults = problem ? faultsOf(context, problem) : {}
  const fault = (name: keyof Faults) =>
    faults[name] && html`<p class="fault" id="fault-${name}" role="alert">${faults[name]}</p>`
  const describes = (name: keyof Faults) =>
    faults[name] && html`aria-invalid="true" aria-describedby="fault-${name}" autofocus`
  const most = Math.min(limit_per_visitor, Math.max(...products.map((product) => product.available)))
  const choices = products.map((product) => {
    const none = product.available === 0
    const isChosen = products.length === 1 || product.product_id === chosen.product_id
    return html`<label class="choice">
      <input type="radio" name="product_id" value="${product.product_id}" ${isChosen && html`checked`} ${none && html`disabled`} required>
      <span><bdi>${product.name}</bdi>
      <small>${none ? words.noneLeft : fill(words.left, { n: count(lang, product.available) })}</small></span>
      <b>${money(lang, product.unit_price_minor, product.currency)}</b></label>`
  })
  const quantity = html`<label class="field">${words.quantity}
      <input type="number" name="quantity" min="1" max="${most}" value="${chosen.quantity ?? 1}" inputmode="numeric" required ${describes('quantity')}></label>${fault('quantity')}`
  const { contact } = view.state
  const email = html`<label class="field">${contact === 'required' ? words.email : words.emailOptional}
      <input type="email" name="email" autocomplete="email" maxlength="254" value="${chosen.email ?? ''}" ${contact === 'required' && html`required`} ${describes('email') ?? html`aria-describedby="email-for"`}>
      <small id="email-for">${words.emailFor}</small></label>${fault('email')}`
  return postForm(
    `/sales/${view.sale}/buy`,
    html`
    <input type="hidden" name="idempotency_key" value="${key ?? crypto.randomUUID()}">
    <fieldset id="choices" data-left="${words.left}" data-none-left="${words.noneLeft}"><legend>${words.product}</legend>${choices}</fieldset>${fault('product')}
    ${most > 1 && quantity}
    ${contact !== 'off' && email}
    ${problem && Object.keys(faults).length === 0 && view.schedule.phase !== 'paused' && faultOf(problem, words)}
    <button class="button">${words.reserve}</button>
  `,
  )
}

type Faults = Partial<Record<'product' | 'quantity' | 'email', string>>

/** What is wrong with a purchase, by the field to mend it in. */
function faultsOf({ view, words, lang }: PageContext, { type, errors = [], remaining }: Problem): Faults {
  const of = (form: RegExp) => errors.some(({ field }) => form.test(field))
  // The origin sends what remains where too much was wanted, for now or for good.
  if (remaining !== undefined || /(all-in-carts|sold-out)$/.test(type)) return { product: words.lessLeftText }
  return {
    ...(of(/^product_id$/) && { product: words.chooseAgain }),
    ...(of(/^quantity$/) && {
      quantity: fill(words.perVisitorTogether, { n: count(lang, view.state.limit_per_visitor) }),
    }),
    ...(of(/^contact/) && { email: words.emailWrong }),
  }
}

export function steps({ words }: PageContext, at: 0 | 1 | 2): Html {
  const names = [words.stepChoose, words.stepPay, words.stepDone]
  const items = names.map(
    (name, i) => html`<li ${i === at && html`aria-current="step"`} ${i < at && html`class="past"`}>${name}</li>`,
  )
  return html`<ol class="steps" aria-label="${words.steps}">${items}</ol>`
}

/** A countdown with a bar that runs out; without a script, the time of day at which it is over. */
export function timeLeft(
  { view, words, lang }: PageContext,
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
  fulfilled: { tone: 'good', step: 2 },
  expired: { tone: 'hold', step: null },
  cancelled: { tone: 'hold', step: null },
  refunded: { tone: 'hold', step: null },
} as const

export function orderPage(context: PageContext, order: Order, alreadyHas: boolean): Content {
  const { view, words, lang } = context
  const { status } = order
  const [title] = stateOf(words, order)
  const most = { n: count(lang, view.state.limit_per_visitor) }
  const main = html`${alreadyHas && html`<p class="note">${fill(words.alreadyHas, most)}</p>`}
  ${orderCard(context, order)}`
  const holdSeconds = Math.max(RELOAD_SECONDS, Math.ceil(order.expires_in_seconds) + 1)
  return {
    title,
    main,
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

function orderCard(context: PageContext, order: Order): Html {
  const { view, words, lang } = context
  const { status, payment: paid } = order
  const [title, text] = stateOf(words, order)
  const { step } = LOOKS[status]
  const isDeclined = declineOf(order) !== null
  const action = isAtBank(order) ? paid : null
  return html`<section class="card" id="order" data-tone="${toneOf(order)}" data-order="${order.order_id}" data-order-status="${status}" ${!isSettled(status) && html`data-progress="${progressOf(order)}"`}>
    ${step !== null && steps(context, step)}
    ${heading(title, text)}
    ${isDeclined && html`<p><b>${attemptsLeft(context, order)}</b></p>`}
    ${status === 'reserved' && payment(context, order)}
    ${action && awaiting3ds(context, action)}
    ${isInProgress(order) && !action && html`<progress aria-label="${title}"></progress>`}
    ${step === null && html`<p>${buttonTo(homeOf(view), words.backToSale)}</p>`}
    <dl>
      <div><dt>${words.product}</dt><dd>${order.lines.map((line) => html`<div>${lineName(context, line, order)}</div>`)}</dd></div>
      <div><dt>${words.total}</dt><dd><b>${totalOf(lang, order)}</b></dd></div>
      ${refundedRow(context, order)}
      ${orderNumber(context, order)}
    </dl>
    ${!view.protects && html`<p class="links">${isSold(status) && html`<a href="${pathOf(context, order)}/receipt">${words.receipt}</a>`} <a href="/sales/${view.sale}/orders">${words.ownOrders}</a></p>`}
    ${status === 'reserved' && giveBackForm(context, order)}
    ${status === 'paying' && whenConfirmed(context, order)}
  </section>`
}

/** What follows a payment that goes through, as nearly all do: the script, which learns of it, need not ask for the page. */
function whenConfirmed(context: PageContext, order: Order): Html {
  const confirmed = { ...order, status: 'confirmed', payment: { status: 'succeeded' }, expires_in_seconds: 0 } as const
  const [title] = stateOf(context.words, confirmed)
  return html`<template id="order-confirmed" data-title="${title}">${orderCard(context, confirmed)}</template>`
}

/** Giving back takes two steps, since it cannot be undone. */
function giveBackForm(context: PageContext, order: Order): Html {
  const { words } = context
  return html`<details class="leave">
      <summary>${words.giveBack}</summary>
      <p class="quiet">${words.giveBackText}</p>
      ${postForm(`${pathOf(context, order)}/cancel`, html`<button class="button second">${words.giveBackYes}</button>`)}
    </details>`
}

export const pathOf = ({ view }: PageContext, order: Order) => `/sales/${view.sale}/order/${order.order_id}`

/** On a line of its own, so that it never breaks where the words are long. */
export const orderNumber = ({ words }: PageContext, { order_id }: Order) =>
  html`<div class="order-number"><dt>${words.orderNumber}</dt><dd><code>${order_id}</code></dd></div>`

export const totalOf = (lang: string, order: Order) => money(lang, order.total_minor, order.currency)

/**
 * What a line is for: a seat by its section, row and number. What was given back of an order that goes on is struck through,
 * and said; of one that is over its status says so.
 */
export function lineName({ words, lang }: PageContext, line: OrderLine, { status }: Pick<Order, 'status'>): Html {
  const { name, row, number, quantity } = line
  const seat = row !== undefined && number !== undefined && html`, <bdi>${seatName(words, { row, number })}</bdi>`
  const text = html`<bdi>${name}</bdi>${seat}${quantity > 1 && ` ×\u00a0${count(lang, quantity)}`}`
  const isReturned = line.status === 'returned' && (isLive(status) || isSold(status))
  return isReturned ? html`<s>${text}</s> <small>(${words.hall.returned})</small>` : text
}

const refundedRow = ({ words, lang }: PageContext, { refunded_minor, currency }: Order) =>
  refunded_minor > 0 && html`<div><dt>${words.refunded}</dt><dd>${money(lang, refunded_minor, currency)}</dd></div>`

/** What the buyer reads first: where the order is, and what they can do. */
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

const toneOf = (order: Order) => (declineOf(order) === null ? LOOKS[order.status].tone : 'bad')

// -- Paying --------------------------------------------------------------------------------------------------------------

/** Why the last payment of an order that is still reserved was declined; null if it was not. */
function declineOf({ status, payment }: Order): DeclineCode | null {
  if (status !== 'reserved' || payment?.status !== 'declined') return null
  return DECLINE_CODES.find((code) => code === payment.code) ?? 'declined'
}

function attemptsLeft({ words, lang }: PageContext, { payment }: Order): string {
  const left = payment?.attempts_left ?? 1
  return fill(plural(lang, left, words.attemptsLeft), { n: count(lang, left) })
}

/** The bank asks its buyer to confirm (3-D Secure): the link to the bank, and until when. */
function awaiting3ds(context: PageContext, { next_action, expires_in_seconds: seconds = 0 }: Payment): Html {
  const { words } = context
  const of = Math.max(MAX_3DS_SECONDS, seconds)
  const to = next_action?.url
  return html`${timeLeft(context, { seconds, of, label: words.awaiting3dsEndsIn })}
    ${to !== undefined && html`<p>${buttonTo(to, words.toBank)}</p>`}`
}

function payment(context: PageContext, order: Order): Html {
  const { view, words, lang } = context
  const pay = fill(words.pay, { m: totalOf(lang, order) })
  const seconds = order.expires_in_seconds
  const of = Math.max(view.state.hold_seconds, seconds)
  return html`${timeLeft(context, { seconds, of, label: words.holdEndsIn, id: 'hold' })}
    ${
      view.paymentPage === null || view.state.test
        ? sandboxForm(context, order, pay)
        : html`<p>${buttonTo(fill(view.paymentPage, { sale: view.sale, order: order.order_id }), pay)}</p>`
    }`
}

function sandboxForm(context: PageContext, order: Order, pay: string): Html {
  const { words } = context
  const methods = Object.entries(words.methods).map(
    ([method, name], i) => html`<label class="choice">
      <input type="radio" name="payment_method" value="${method}" ${i === 0 && html`checked`} required>
      <span>${name}</span></label>`,
  )
  return postForm(
    `${pathOf(context, order)}/payment`,
    html`
      <fieldset><legend>${words.payWith}</legend>${methods}</fieldset>
      <button class="button">${pay}</button>
    `,
  )
}
