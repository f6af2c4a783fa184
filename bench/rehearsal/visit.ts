/**
 * One visitor's way through a sale, step by step, as a person with a browser takes it:
 *
 *     page ─▶ join ─▶ page ─▶ wait ─▶ claim the turn ─▶ page ─▶ checkout ─▶ pay or give back ─▶ poll the order
 *                               └──────────── sold out ─▶ the final page
 *
 * Waiting follows the page's script (edge/client/live.ts): the visitor reads the public schedule when `pollAfterMs` says
 * so, computes its own place, and comes to a Worker when its turn has come.
 */
import { calledAtMs, placeOf, pollAfterMs } from '../../shared/schedule.ts'
import type { End } from '../invariants/evidence.ts'
import { type Answer, headerOf, requestText } from '../lib/http.ts'
import { orderIn, type PlaceResponse, placeIn, problemType } from '../lib/responses.ts'
import { hammerWhileWaiting, rejoin, rushCheckout } from './bots.ts'
import type { Crowd } from './crowd.ts'
import { type OrderSeen, PLAN, STEP } from './visitors.ts'

/** As in edge/client/live.ts: the longest between two reads, and between two looks at the clock. */
const READ_MAX_MS = 30_000
const CLOCK_EVERY_MS = 500
/** Browsers load the final page spread out, at most this many a second. */
const FINALS_PER_SECOND = 1_000
const FINAL_SPREAD_MAX_MS = 20_000
/** Two clocks differ by this much when an admission has just expired. */
const CLOCKS_MS = 1_000

/** What a visitor does now, meant for `dueMs`. */
export function visit(crowd: Crowd, visitor: number, dueMs: number) {
  switch (crowd.visitors.step[visitor]) {
    case STEP.arrive:
      return loadPage(crowd, visitor, dueMs)
    case STEP.join:
      return join(crowd, visitor, dueMs)
    case STEP.wait:
      return inBrowser(crowd, visitor)
        ? readSchedule(crowd, visitor, dueMs)
        : askStatus(crowd, visitor, dueMs, 'status')
    case STEP.claim:
      return askStatus(crowd, visitor, dueMs, 'admission')
    case STEP.checkout:
      return checkout(crowd, visitor, dueMs)
    case STEP.pay:
      return pay(crowd, visitor, dueMs)
    case STEP.giveBack:
      return giveBack(crowd, visitor, dueMs)
    case STEP.settle:
      return askOrder(crowd, visitor, dueMs)
    case STEP.leave:
      return loadFinalPage(crowd, visitor, dueMs)
  }
}

function loadPage(crowd: Crowd, visitor: number, intendedMs: number) {
  if (crowd.visitors.attempts[visitor] === 0) crowd.tally.counts.arrived++
  crowd.send(visitor, 'page', crowd.texts.page, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'page', answer)
    crowd.go(visitor, STEP.join)
    join(crowd, visitor, answer.answeredMs)
  })
}

function join(crowd: Crowd, visitor: number, intendedMs: number) {
  const { visitors, tally, options } = crowd
  const text = visitors.has(visitor, PLAN.known)
    ? requestText('POST', `/sales/${options.sale}/queue`, crowd.client.host, [
        'accept: application/json',
        `cookie: visitor-secret=${options.sale}-visitor-${visitor}`,
      ])
    : crowd.texts.join
  crowd.send(visitor, 'join', text, intendedMs, (answer, meantMs) => {
    if (answer.status === 410) return refusedForGood(crowd, visitor, answer)
    const place = placeIn(answer)
    if (!place?.queue_token) return crowd.again(visitor, 'join', answer)
    tally.recent.join.add(answer.answeredMs - meantMs)
    visitors.joinSentMs[visitor] = answer.sentMs
    visitors.joinAnsweredMs[visitor] = answer.answeredMs
    const before = visitors.number[visitor] ?? Number.NaN
    if (!Number.isNaN(before) && before !== place.number) visitors.otherNumbers.push(before)
    visitors.number[visitor] = place.number
    visitors.token[visitor] = place.queue_token
    tally.counts.joined++
    crowd.go(visitor, STEP.wait)
    if (visitors.has(visitor, PLAN.bot)) {
      rejoin(crowd, visitor, answer)
      hammerWhileWaiting(crowd, visitor)
    }
    // A browser loads its page again after the join; other clients use the response.
    if (!inBrowser(crowd, visitor)) return takePlace(crowd, visitor, place, answer)
    crowd.checkPosition(visitor, place)
    showPage(crowd, visitor, answer.answeredMs, (shownMs) => readSchedule(crowd, visitor, shownMs))
  })
}

const inBrowser = ({ visitors }: Crowd, visitor: number) => !visitors.has(visitor, PLAN.poller | PLAN.bot)

/** Loads the visitor's own page. They go on whatever comes of it. */
function showPage(crowd: Crowd, visitor: number, intendedMs: number, then: (shownMs: number) => void) {
  const { sale } = crowd.options
  const text = requestText('GET', `/sales/${sale}`, crowd.client.host, [
    'accept: text/html',
    `cookie: queue-${sale}=${crowd.visitors.token[visitor]}`,
  ])
  crowd.send(visitor, 'page', text, intendedMs, (answer) => {
    if (answer.status !== 200) crowd.tally.complain(`page: ${answer.status || answer.failure}`)
    then(answer.answeredMs)
  })
}

/** Reads the public schedule, and claims the turn once the queue has come to the visitor's place. */
function readSchedule(crowd: Crowd, visitor: number, dueMs: number) {
  const { visitors, schedule, options } = crowd
  if (visitors.looksAtClock[visitor] === 0)
    visitors.scheduleReads[visitor] = (visitors.scheduleReads[visitor] ?? 0) + 1
  visitors.looksAtClock[visitor] = 0
  const nowMs = performance.now()
  const serverMs = schedule.serverMs(nowMs)
  const place = placeOf(schedule.copy, visitors.number[visitor] ?? Number.NaN, serverMs, () =>
    crowd.positionOf(visitor),
  )
  switch (place.status) {
    case 'ready':
      if (visitors.has(visitor, PLAN.noShow)) return crowd.finish(visitor, 'no_show')
      crowd.go(visitor, STEP.claim)
      return askStatus(crowd, visitor, dueMs, 'admission')
    case 'sold_out':
    case 'ended':
      return over(crowd, visitor, place.status, nowMs)
    case 'missed_turn':
      return crowd.finish(visitor, visitors.has(visitor, PLAN.noShow) ? 'no_show' : 'missed_turn')
  }
  const readInMs = Math.min(READ_MAX_MS, pollAfterMs(place, options.random()))
  const calledInMs =
    place.status === 'waiting' && place.position !== null
      ? calledAtMs(schedule.copy, place.position) - serverMs + options.random() * CLOCK_EVERY_MS
      : Number.POSITIVE_INFINITY
  if (calledInMs < readInMs) visitors.looksAtClock[visitor] = 1
  crowd.at(visitor, nowMs + Math.min(readInMs, calledInMs))
}

function askStatus(crowd: Crowd, visitor: number, intendedMs: number, kind: 'admission' | 'status') {
  const text = requestText('GET', `/sales/${crowd.options.sale}/queue/status`, crowd.client.host, [
    'accept: application/json',
    `authorization: Bearer ${crowd.visitors.token[visitor]}`,
  ])
  crowd.send(visitor, kind, text, intendedMs, (answer) => {
    const place = placeIn(answer)
    if (!place) return crowd.again(visitor, kind, answer)
    if (place.number !== crowd.visitors.number[visitor]) crowd.tally.complain(`${kind}: another number`)
    crowd.go(visitor, kind === 'admission' ? STEP.claim : STEP.wait)
    takePlace(crowd, visitor, place, answer)
  })
}

/** What the response to a join or a status leads to. */
function takePlace(crowd: Crowd, visitor: number, place: PlaceResponse, answer: Answer) {
  const { visitors } = crowd
  crowd.checkPosition(visitor, place)
  switch (place.status) {
    case 'ready':
      if (visitors.has(visitor, PLAN.noShow)) return crowd.finish(visitor, 'no_show')
      if (!place.admission_token) return crowd.again(visitor, 'admission', answer)
      visitors.admittedMs[visitor] = answer.answeredMs
      visitors.admittedAtServing[visitor] = place.now_serving
      visitors.admissionEndsMs[visitor] = Date.parse(place.admission_expires_at ?? '') || 0
      crowd.tally.counts.admitted++
      crowd.go(visitor, STEP.checkout)
      if (!inBrowser(crowd, visitor)) crowd.at(visitor, answer.answeredMs + crowd.think())
      else
        showPage(crowd, visitor, answer.answeredMs, (shownMs) => crowd.at(visitor, shownMs + crowd.think()))
      visitors.token[visitor] = place.admission_token
      return
    case 'sold_out':
    case 'ended':
      return over(crowd, visitor, place.status, answer.answeredMs)
    case 'missed_turn':
      return crowd.finish(visitor, visitors.has(visitor, PLAN.noShow) ? 'no_show' : 'missed_turn')
    default:
      crowd.at(visitor, answer.answeredMs + Math.max(100, place.poll_after_ms))
  }
}

function checkout(crowd: Crowd, visitor: number, intendedMs: number) {
  const { visitors, tally } = crowd
  if (visitors.attempts[visitor] === 0 && !visitors.orders.has(visitor)) {
    tally.counts.shopping++
    tally.shoppingMs.push(intendedMs)
    if (visitors.has(visitor, PLAN.bot)) rushCheckout(crowd, visitor)
  }
  const text = crowd.checkoutText(visitor, crowd.keyOf(visitor))
  crowd.send(visitor, 'checkout', text, intendedMs, (answer, meantMs) => {
    const { status } = answer
    // A call without a response may have made the order that the next response names.
    visitors.reserveSentMs[visitor] ||= answer.sentMs
    if (status === 410) return refusedForGood(crowd, visitor, answer)
    if (status === 429 && problemType(answer) === '/problems/not-admitted')
      return admissionRefused(crowd, visitor, answer)
    const order = orderIn(answer)
    if (!order) {
      if (status !== 0) visitors.reserveSentMs[visitor] = 0
      // Fewer than two units are left: retry with one.
      if (status === 422 && visitors.has(visitor, PLAN.pair))
        visitors.plan[visitor] = (visitors.plan[visitor] ?? 0) & ~PLAN.pair
      return crowd.again(visitor, 'checkout', answer)
    }
    tally.recent.checkout.add(answer.answeredMs - meantMs)
    visitors.orders.set(visitor, {
      order: order.order_id,
      statuses: [],
      reserved: false,
      payMeantMs: null,
      paidSentMs: null,
      payingSinceMs: null,
    })
    crowd.go(visitor, STEP.settle)
    onOrder(crowd, visitor, order.status, answer.answeredMs)
  })
}

/**
 * An expired admission means that the turn has passed, and the visitor joins again at the end. A valid one that is refused
 * is a lost place.
 */
function admissionRefused(crowd: Crowd, visitor: number, answer: Answer) {
  const { visitors, schedule, tally } = crowd
  if (schedule.serverMs(answer.answeredMs) < (visitors.admissionEndsMs[visitor] ?? 0) - CLOCKS_MS) {
    tally.complain('checkout: refused with a valid admission')
    return crowd.finish(visitor, 'failed')
  }
  visitors.admittedMs[visitor] = 0
  visitors.admittedAtServing[visitor] = 0
  visitors.position[visitor] = 0
  tally.counts.joined--
  crowd.go(visitor, STEP.join)
  crowd.at(visitor, answer.answeredMs + crowd.think())
}

function pay(crowd: Crowd, visitor: number, intendedMs: number) {
  const order = crowd.visitors.orders.get(visitor)
  if (order) order.payMeantMs ??= intendedMs
  const body = { payment_method: crowd.visitors.methodOf(visitor) }
  const text = crowd.orderText(visitor, 'POST', '/payment', body)
  crowd.send(visitor, 'payment', text, intendedMs, (answer, meantMs) => {
    const accepted = orderIn(answer) !== null
    // A conflict means that something has happened to the order meanwhile.
    if (!accepted && answer.status !== 409) return crowd.again(visitor, 'payment', answer)
    if (order && accepted) order.paidSentMs ??= answer.sentMs
    paying(crowd, visitor, meantMs)
    crowd.go(visitor, STEP.settle)
    crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
  })
}

function paying(crowd: Crowd, visitor: number, sinceMs: number) {
  const order = crowd.visitors.orders.get(visitor)
  if (!order || order.payingSinceMs !== null) return
  order.payingSinceMs = sinceMs
  crowd.tally.counts.paying++
}

function giveBack(crowd: Crowd, visitor: number, intendedMs: number) {
  crowd.send(visitor, 'order', crowd.orderText(visitor, 'DELETE'), intendedMs, (answer) => {
    if (answer.status !== 200 && answer.status !== 409) return crowd.again(visitor, 'order', answer)
    crowd.go(visitor, STEP.settle)
    crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
  })
}

function askOrder(crowd: Crowd, visitor: number, intendedMs: number) {
  crowd.send(visitor, 'order', crowd.orderText(visitor, 'GET'), intendedMs, (answer) => {
    const order = orderIn(answer)
    if (order) return onOrder(crowd, visitor, order.status, answer.answeredMs)
    // One that was on its way, and was lost with its store: the same key is asked again.
    if (answer.status !== 404 || crowd.visitors.orders.get(visitor)?.reserved)
      return crowd.again(visitor, 'order', answer)
    crowd.go(visitor, STEP.checkout)
    crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
  })
}

/** What a buyer does when they see their order in this state. */
function onOrder(crowd: Crowd, visitor: number, status: string, nowMs: number) {
  const { visitors, tally } = crowd
  const order = visitors.orders.get(visitor)
  if (!order) return
  const first = !order.reserved && status !== 'processing'
  if (order.statuses.at(-1) !== status) order.statuses.push(status)
  if (first && status !== 'cancelled') {
    order.reserved = true
    tally.counts.reserved++
  }
  switch (status) {
    case 'reserved':
      if (visitors.has(visitor, PLAN.abandon)) return crowd.finish(visitor, 'abandoned')
      if (order.payingSinceMs !== null) break
      crowd.go(visitor, visitors.has(visitor, PLAN.giveBack) ? STEP.giveBack : STEP.pay)
      return crowd.at(visitor, nowMs + crowd.think())
    case 'paying':
      // Also of an order that was paid with its checkout.
      paying(crowd, visitor, nowMs)
      break
    case 'confirmed':
    case 'fulfilled':
      return settle(crowd, visitor, 'bought', nowMs)
    case 'cancelled':
      return settle(crowd, visitor, cancelledAs(crowd, visitor, order), nowMs)
    case 'expired':
      return settle(crowd, visitor, 'expired', nowMs)
  }
  crowd.at(visitor, nowMs + crowd.settleAfter(visitor))
}

function cancelledAs({ visitors }: Crowd, visitor: number, order: OrderSeen): End {
  // Accepted as `processing`, and refused when it was recorded.
  if (!order.reserved && order.payingSinceMs === null) return 'sold_out'
  if (visitors.has(visitor, PLAN.giveBack)) return 'cancelled'
  if (visitors.has(visitor, PLAN.decline)) return 'declined'
  return order.payingSinceMs === null ? 'failed' : 'payment_timeout'
}

function settle(crowd: Crowd, visitor: number, end: End, nowMs: number) {
  const sinceMs = crowd.visitors.orders.get(visitor)?.payingSinceMs ?? null
  if (sinceMs !== null) {
    crowd.tally.settled.add(nowMs - sinceMs)
    crowd.tally.counts.paying--
  }
  crowd.finish(visitor, end)
}

/** A join or a checkout was answered `410`. */
function refusedForGood(crowd: Crowd, visitor: number, answer: Answer) {
  const type = problemType(answer)
  if (type === '/problems/sold-out') {
    crowd.visitors.sawOver(visitor, 'sold_out', answer.answeredMs)
    crowd.finish(visitor, 'sold_out')
  } else if (type === '/problems/ended') crowd.finish(visitor, 'ended')
  else {
    crowd.tally.complain(`410 ${type}`)
    crowd.finish(visitor, 'failed')
  }
}

/** The schedule or the status says that it is over: the browser shows it, and loads the final page. */
function over(crowd: Crowd, visitor: number, as: 'sold_out' | 'ended', seenMs: number) {
  crowd.visitors.sawOver(visitor, as, seenMs)
  crowd.go(visitor, STEP.leave)
  const spreadMs = Math.min(FINAL_SPREAD_MAX_MS, (crowd.visitors.size / FINALS_PER_SECOND) * 1000)
  crowd.at(visitor, performance.now() + crowd.options.random() * spreadMs)
}

function loadFinalPage(crowd: Crowd, visitor: number, intendedMs: number) {
  crowd.send(visitor, 'final', crowd.texts.page, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'final', answer)
    // The contract: a final page is public and sets no cookie. Any other page means that the sale is live again.
    const final = /^public\b/.test(headerOf(answer, 'cache-control')) && headerOf(answer, 'set-cookie') === ''
    if (final) return crowd.finish(visitor, crowd.visitors.finalEnd(visitor))
    crowd.go(visitor, STEP.wait)
    crowd.at(visitor, answer.answeredMs + 1_000 * (0.5 + crowd.options.random()))
  })
}
