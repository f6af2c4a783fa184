/**
 * The steps of an admitted visitor: check out, pay or cancel, confirm at the bank, and follow the order (see
 * visit.ts). A browser sends the page's forms, whose response is the page, and listens while a change is expected; a
 * program calls the API and polls.
 */
import { isSold, PAYMENT_ATTEMPTS, progressOf } from '../../shared/api/order-status.ts'
import type { End } from '../invariants/evidence.ts'
import type { Answer } from '../lib/http.ts'
import { cookieIn, type OrderAnswer, orderIn, problemType, refusalIn, shownOrderIn } from '../lib/responses.ts'
import { rushCheckout } from './bots.ts'
import type { Crowd } from './crowd.ts'
import { type OrderSeen, PLAN, type Visitor } from './visitors/visitors.ts'

/** Two clocks may differ by this much when an admission has just expired. */
const CLOCKS_MS = 1_000
/** The number of clicks at a buyer's bank. */
const BANK_CLICKS = 4

export function checkout(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  const { tally } = crowd
  if (visitor.attempts === 0 && !visitor.order) {
    tally.counts.shopping++
    tally.shoppingMs.push(intendedMs)
    if (visitor.has(PLAN.bot)) rushCheckout(crowd, visitor)
  }
  if (visitor.wishes) visitor.wishes.askedMs ||= performance.now()
  const text = visitor.byForms()
    ? crowd.requests.buy(visitor)
    : crowd.requests.checkout(visitor, crowd.requests.keyOf(visitor))
  crowd.send(visitor, 'checkout', text, intendedMs, (answer, meantMs) => {
    const { status } = answer
    // A call without a response, or with a 503 that leaves the result open, may have made the order that the next
    // response names.
    visitor.reserveSentMs ||= answer.sentMs
    if (status === 410 && answer.body.includes('id="turn"')) {
      // The page's copy of the sale is a moment old and still offers remaining units.
      visitor.reserveSentMs = 0
      return crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
    }
    if (visitor.wishes && (status === 409 || status === 410 || status === 422)) {
      visitor.reserveSentMs = 0
      const reaction = visitor.wishes.refused(refusalIn(answer), crowd.options.random)
      if (reaction === 'wait') return crowd.again(visitor, 'checkout', answer)
      if (reaction === 'ask') {
        // The next request differs, but is not the first.
        visitor.attempts = 1
        return crowd.at(visitor, answer.answeredMs + crowd.think())
      }
    }
    if (status === 410) return refusedForGood(crowd, visitor, answer)
    if (status === 429 && problemType(answer) === '/problems/not-admitted')
      return admissionRefused(crowd, visitor, answer)
    const order = seenIn(visitor, answer)
    if (!order) {
      if (status !== 0 && status !== 503) visitor.reserveSentMs = 0
      // Fewer than two units are left, so the visitor requests one, which is a different request.
      if (status === 422 && visitor.has(PLAN.pair)) {
        visitor.plan &= ~PLAN.pair
        visitor.attempts = 0
      }
      return crowd.again(visitor, 'checkout', answer)
    }
    tally.recent.checkout.add(answer.answeredMs - meantMs)
    visitor.order = {
      order: order.order_id,
      token: visitor.byForms() ? cookieIn(answer, `order-${order.order_id}`) : null,
      statuses: [],
      lines: null,
      reserved: false,
      attemptsLeft: PAYMENT_ATTEMPTS,
      declines: 0,
      bank: null,
      payMeantMs: null,
      paidSentMs: null,
      payingSinceMs: null,
    }
    crowd.go(visitor, 'settle')
    // The reason is only in the order itself.
    if (order.status === 'cancelled' && order.reason === undefined) return crowd.at(visitor, answer.answeredMs)
    onOrder(crowd, visitor, order, answer.answeredMs)
  })
}

/** The order in a response to a visitor's call. */
const seenIn = (visitor: Visitor, answer: Answer) => (visitor.byForms() ? shownOrderIn(answer) : orderIn(answer))

/**
 * If the admission has expired, the turn has passed, and the visitor joins again at the end. A valid admission that
 * is refused is a lost place.
 */
function admissionRefused(crowd: Crowd, visitor: Visitor, answer: Answer) {
  const { schedule, tally } = crowd
  if (schedule.serverMs(answer.answeredMs) < visitor.admissionEndsMs - CLOCKS_MS) {
    tally.complain('checkout: refused with a valid admission')
    return crowd.finish(visitor, 'failed')
  }
  visitor.admittedMs = 0
  visitor.admittedAtServing = null
  visitor.position = null
  tally.counts.joined--
  crowd.go(visitor, crowd.entry)
  crowd.at(visitor, answer.answeredMs + crowd.think())
}

export function pay(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  const { order } = visitor
  if (order) order.payMeantMs ??= intendedMs
  const method = visitor.method() ?? ''
  const text = visitor.byForms()
    ? crowd.requests.form(visitor, `/order/${order?.order}/payment`, { payment_method: method })
    : crowd.requests.ofOrder(visitor, 'POST', '/payment', { payment_method: method })
  crowd.send(visitor, 'payment', text, intendedMs, (answer, meantMs) => {
    const seen = seenIn(visitor, answer)
    const accepted = seen !== null && (answer.status === 202 || seen.status === 'paying' || isSold(seen.status))
    // A conflict means that the order has changed meanwhile.
    if (!seen && answer.status !== 409) return crowd.again(visitor, 'payment', answer)
    if (order && accepted) order.paidSentMs ??= answer.sentMs
    if (accepted || !seen) paying(crowd, visitor, meantMs)
    // The page shows the current order; the reason of a cancellation is only in the order itself.
    const isUnexplained = seen?.status === 'cancelled' && seen.reason === undefined
    if (!visitor.byForms() || !seen || isUnexplained) return waitForOrder(crowd, visitor, answer.answeredMs)
    crowd.go(visitor, 'settle')
    onOrder(crowd, visitor, seen, answer.answeredMs)
  })
}

function waitForOrder(crowd: Crowd, visitor: Visitor, nowMs: number) {
  crowd.go(visitor, 'settle')
  crowd.at(visitor, nowMs + crowd.settleAfter(visitor))
}

function paying(crowd: Crowd, visitor: Visitor, sinceMs: number) {
  const { order } = visitor
  if (!order || order.payingSinceMs !== null) return
  order.payingSinceMs = sinceMs
  crowd.tally.counts.paying++
}

/** Confirms or declines on the bank's page. After that the buyer waits for the shop again. */
export function authenticate(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  crowd.send(visitor, 'bank', crowd.requests.bank(visitor), intendedMs, (answer) => {
    if (answer.status !== 200 && answer.status !== 303) return crowd.again(visitor, 'bank', answer)
    if (visitor.order) visitor.order.payingSinceMs = answer.answeredMs
    // The bank redirects to the order's page.
    if (visitor.byForms()) return loadOrder(crowd, visitor, null, answer.answeredMs)
    waitForOrder(crowd, visitor, answer.answeredMs)
  })
}

export function giveBack(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  const text = visitor.byForms()
    ? crowd.requests.form(visitor, `/order/${visitor.order?.order}/cancel`, {})
    : crowd.requests.ofOrder(visitor, 'DELETE')
  crowd.send(visitor, 'order', text, intendedMs, (answer) => {
    if (answer.status !== 200 && answer.status !== 409) return crowd.again(visitor, 'order', answer)
    const seen = seenIn(visitor, answer)
    if (seen?.status === 'cancelled')
      return onOrder(crowd, visitor, { ...seen, reason: 'given_back' }, answer.answeredMs)
    waitForOrder(crowd, visitor, answer.answeredMs)
  })
}

/** Polls as a program, or as a page without a stream. */
export function pollOrder(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  crowd.send(visitor, 'order', crowd.requests.ofOrder(visitor, 'GET'), intendedMs, (answer) => {
    const order = orderIn(answer)
    if (order) return onOrder(crowd, visitor, order, answer.answeredMs)
    // The order was still `processing` and was lost with its store, so the checkout is repeated with the same key.
    if (answer.status !== 404 || visitor.order?.reserved) return crowd.again(visitor, 'order', answer)
    crowd.go(visitor, 'checkout')
    crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
  })
}

/**
 * Listens to an order in progress as a page does. Programs poll, and so do visitors who expect another change of a
 * reserved order.
 */
function follow(crowd: Crowd, visitor: Visitor, shown: OrderAnswer, nowMs: number) {
  const poll = (fromMs: number) => crowd.at(visitor, fromMs + crowd.settleAfter(visitor))
  if (!visitor.byForms() || shown.status === 'reserved') return poll(nowMs)
  const isNews = (seen: OrderAnswer) => progressOf(seen) !== progressOf(shown)
  crowd.listen(visitor, isNews, (news, atMs) => {
    if (news === null) return poll(atMs)
    // The page already contains what follows a successful payment.
    if (news.status === 'confirmed') return onOrder(crowd, visitor, news, atMs)
    loadOrder(crowd, visitor, news, atMs)
  })
}

/** Loads the order's page after a change, or when the visitor returns. */
function loadOrder(crowd: Crowd, visitor: Visitor, news: OrderAnswer | null, intendedMs: number) {
  crowd.go(visitor, 'settle')
  crowd.send(visitor, 'order', crowd.requests.orderPage(visitor), intendedMs, (answer) => {
    const shown = shownOrderIn(answer)
    if (!shown) return crowd.again(visitor, 'order', answer)
    // The reason of a cancellation is in the event, or otherwise in the order itself.
    const reason = news?.reason
    if (shown.status === 'cancelled' && reason === undefined) return crowd.at(visitor, answer.answeredMs)
    onOrder(crowd, visitor, { ...shown, ...(reason && { reason }) }, answer.answeredMs)
  })
}

/** The buyer's reaction to the order in this state. */
function onOrder(crowd: Crowd, visitor: Visitor, seen: OrderAnswer, nowMs: number) {
  const { tally } = crowd
  const { order } = visitor
  if (!order) return
  const { status, payment } = seen
  const first = !order.reserved && status !== 'processing'
  const { wishes } = visitor
  if (wishes && status !== 'processing' && order.lines === null) {
    order.lines = seen.lines ?? []
    wishes.answeredMs = nowMs
    wishes.has(seen)
  }
  if (order.statuses.at(-1) !== status) order.statuses.push(status)
  if (first && status !== 'cancelled') {
    order.reserved = true
    tally.counts.reserved++
  }
  switch (status) {
    case 'reserved':
      if (visitor.has(PLAN.abandon)) return crowd.finish(visitor, 'abandoned')
      if (payment?.status === 'declined' && (payment.attempts_left ?? 0) < order.attemptsLeft)
        return handleDecline(crowd, visitor, order, payment.attempts_left ?? 0, nowMs)
      if (order.payingSinceMs !== null) break
      crowd.go(visitor, visitor.has(PLAN.giveBack) ? 'giveBack' : 'pay')
      return crowd.at(visitor, nowMs + crowd.think())
    case 'paying':
      // The order may have been paid with its checkout.
      paying(crowd, visitor, nowMs)
      if (payment?.status === 'requires_action' && payment.next_action) {
        const { next_action, expires_in_seconds = 0 } = payment
        if (visitor.has(PLAN.bankLeft)) return settle(crowd, visitor, 'unauthenticated', nowMs)
        if (order.bank === next_action.url) break
        order.bank = next_action.url
        crowd.go(visitor, 'authenticate')
        return crowd.at(visitor, nowMs + Math.min(BANK_CLICKS * crowd.think(), expires_in_seconds * 500))
      }
      break
    case 'confirmed':
    case 'fulfilled':
      return settle(crowd, visitor, 'bought', nowMs)
    case 'cancelled':
      return settle(
        crowd,
        visitor,
        seen.reason === undefined ? 'failed' : (CANCELLED[seen.reason] ?? 'sold_out'),
        nowMs,
      )
    case 'expired':
      return settle(crowd, visitor, 'expired', nowMs)
  }
  follow(crowd, visitor, seen, nowMs)
}

/**
 * The end of a visitor whose order was cancelled. The other reasons belong to an order that was refused when it was
 * recorded.
 */
const CANCELLED: Readonly<Partial<Record<NonNullable<OrderAnswer['reason']>, End>>> = {
  given_back: 'cancelled',
  declined: 'declined',
  payment_timeout: 'payment_timeout',
  not_authenticated: 'unauthenticated',
  oversold: 'failed',
  blocked: 'failed',
  by_shop: 'failed',
}

/** The hold continues: the buyer pays with another card, tries the same one again, or leaves. */
function handleDecline(crowd: Crowd, visitor: Visitor, order: OrderSeen, attemptsLeft: number, nowMs: number) {
  order.declines++
  order.attemptsLeft = attemptsLeft
  paid(crowd, order, nowMs)
  if (!visitor.has(PLAN.otherCard | PLAN.sameCard)) return crowd.finish(visitor, 'declined')
  if (visitor.has(PLAN.otherCard)) visitor.takesOtherCard()
  Object.assign(order, { payMeantMs: null, paidSentMs: null })
  crowd.go(visitor, 'pay')
  crowd.at(visitor, nowMs + crowd.think())
}

/** The payment has ended. */
function paid(crowd: Crowd, order: OrderSeen, nowMs: number) {
  if (order.payingSinceMs === null) return
  crowd.tally.settled.add(nowMs - order.payingSinceMs)
  crowd.tally.counts.paying--
  order.payingSinceMs = null
}

function settle(crowd: Crowd, visitor: Visitor, end: End, nowMs: number) {
  if (visitor.order) paid(crowd, visitor.order, nowMs)
  crowd.finish(visitor, end)
}

/** A join or a checkout had the status `410`. */
export function refusedForGood(crowd: Crowd, visitor: Visitor, answer: Answer) {
  const type = problemType(answer)
  if (type === '/problems/sold-out') {
    visitor.sawOver('sold_out', answer.answeredMs)
    crowd.finish(visitor, 'sold_out')
  } else if (type === '/problems/ended') crowd.finish(visitor, 'ended')
  else {
    crowd.tally.complain(`410 ${type}`)
    crowd.finish(visitor, 'failed')
  }
}
