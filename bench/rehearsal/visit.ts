/**
 * One visitor's way through a sale, step by step, as a person with a browser goes it:
 *
 *     page ─▶ join ─▶ page ─▶ wait ─▶ claim the turn ─▶ page ─▶ checkout ─▶ pay ─▶ look at the order until it is settled
 *                               └──────────── told sold out ─▶ the final page
 *
 * Waiting is done as the page's script does it (edge/client/live.ts): the visitor reads the public schedule now and then
 * (`pollAfterMs` says when), works out its own place, and comes to a Worker only when its turn has come. The script shows
 * by itself that it is over; the final page is what people load once more to be sure.
 */
import { calledAtMs, placeOf, pollAfterMs } from '../../shared/schedule.ts'
import { orderIn, type PlaceTold, placeIn, problemType } from '../lib/answers.ts'
import { type Answer, headerOf, requestText } from '../lib/http.ts'
import type { End } from '../verdict/story.ts'
import { hammerWhileWaiting, rejoin, rushCheckout } from './bots.ts'
import type { Crowd } from './crowd.ts'
import { PLAN, STEP } from './visitors.ts'

/** As edge/client/live.ts: the longest between two reads, and how often the page looks at the clock in between. */
const READ_MAX_MS = 30_000
const CLOCK_EVERY_MS = 500
/** When it is over for all at once, browsers show it themselves, and load the final page no more than so many a second. */
const FINALS_PER_SECOND = 1_000
const FINAL_SPREAD_MAX_MS = 20_000

/** Two clocks may differ by this when an admission has just run out. */
const CLOCKS_MS = 1_000

/** What a visitor does now, which was due at `dueMs`. */
export function visit(crowd: Crowd, visitor: number, dueMs: number) {
  switch (crowd.visitors.step[visitor]) {
    case STEP.arrive:
      return loadPage(crowd, visitor, dueMs)
    case STEP.join:
      return join(crowd, visitor, dueMs)
    case STEP.wait:
      return crowd.visitors.has(visitor, PLAN.poller | PLAN.bot)
        ? askStatus(crowd, visitor, dueMs, 'status')
        : readSchedule(crowd, visitor, dueMs)
    case STEP.claim:
      return askStatus(crowd, visitor, dueMs, 'admission')
    case STEP.checkout:
      return checkout(crowd, visitor, dueMs)
    case STEP.pay:
      return pay(crowd, visitor, dueMs)
    case STEP.settle:
      return askOrder(crowd, visitor, dueMs)
    case STEP.leave:
      return loadFinalPage(crowd, visitor, dueMs)
  }
}

function loadPage(crowd: Crowd, visitor: number, intendedMs: number) {
  if (crowd.visitors.attempts[visitor] === 0) crowd.tally.counts.arrived++
  if (!crowd.options.pages) {
    crowd.go(visitor, STEP.join)
    return join(crowd, visitor, intendedMs)
  }
  crowd.send(visitor, 'page', crowd.texts.page, intendedMs, (answer) => {
    // A page that does not load is reloaded; one that does is shown, whatever the phase.
    if (answer.status !== 200) return crowd.again(visitor, 'page', answer)
    crowd.go(visitor, STEP.join)
    join(crowd, visitor, answer.answeredMs)
  })
}

function join(crowd: Crowd, visitor: number, intendedMs: number) {
  const text = crowd.visitors.has(visitor, PLAN.known)
    ? requestText('POST', `/sales/${crowd.options.sale}/queue`, crowd.client.host, [
        'accept: application/json',
        `cookie: visitor-secret=${crowd.nameOf(visitor)}`,
      ])
    : crowd.texts.join
  crowd.send(visitor, 'join', text, intendedMs, (answer, meantMs) => {
    if (answer.status === 410) return toldOver(crowd, visitor, answer)
    const told = answer.status === 201 || answer.status === 200 ? placeIn(answer) : null
    if (!told?.queue_token) return crowd.again(visitor, 'join', answer)
    const { visitors } = crowd
    crowd.tally.recent.join.add(answer.answeredMs - meantMs)
    visitors.joinSentMs[visitor] = answer.sentMs
    visitors.joinAnsweredMs[visitor] = answer.answeredMs
    const before = visitors.number[visitor] ?? Number.NaN
    if (!Number.isNaN(before) && before !== told.number) visitors.otherNumbers.push(before)
    visitors.number[visitor] = told.number
    visitors.token[visitor] = told.queue_token
    crowd.tally.counts.joined++
    crowd.go(visitor, STEP.wait)
    if (visitors.has(visitor, PLAN.bot)) {
      rejoin(crowd, visitor, answer)
      hammerWhileWaiting(crowd, visitor)
    }
    // A plain form's join is answered with the page again; who has no browser takes the answer as it is.
    if (!inBrowser(crowd, visitor)) return place(crowd, visitor, told, answer)
    crowd.checkPosition(visitor, told)
    showPage(crowd, visitor, answer.answeredMs, (shownMs) => readSchedule(crowd, visitor, shownMs))
  })
}

/**
 * An admission was refused. If it has run out, while all units were in carts say, the turn has passed, and there is a new
 * place at the end. One that holds, and is refused all the same, is a place that was lost.
 */
function refusedIn(crowd: Crowd, visitor: number, answer: Answer) {
  const { visitors, cdn } = crowd
  if (cdn.serverMs(answer.answeredMs) < (visitors.admissionEndsMs[visitor] ?? 0) - CLOCKS_MS) {
    crowd.tally.complain('checkout: refused with an admission that holds')
    return crowd.finish(visitor, 'failed')
  }
  visitors.admittedMs[visitor] = 0
  visitors.servingTold[visitor] = 0
  visitors.position[visitor] = 0
  crowd.tally.counts.joined--
  crowd.go(visitor, STEP.join)
  crowd.at(visitor, answer.answeredMs + crowd.think())
}

function inBrowser(crowd: Crowd, visitor: number): boolean {
  return crowd.options.pages && !crowd.visitors.has(visitor, PLAN.poller | PLAN.bot)
}

/** The page with the visitor's own place on it. Whatever becomes of it, the visitor goes on. */
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

/**
 * As the page's script does, from the public document alone: it reads it when `pollAfterMs` says so, and knocks when
 * the line as it knows it has come to its place.
 */
function readSchedule(crowd: Crowd, visitor: number, dueMs: number) {
  const { visitors, cdn, options } = crowd
  // Between two reads it only looks at the clock.
  if (visitors.looksAtClock[visitor] === 0) visitors.cdnReads[visitor] = (visitors.cdnReads[visitor] ?? 0) + 1
  visitors.looksAtClock[visitor] = 0
  const schedule = cdn.copy
  const nowMs = performance.now()
  const serverMs = cdn.serverMs(nowMs)
  const place = placeOf(schedule, visitors.number[visitor] ?? Number.NaN, serverMs, () =>
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
      ? calledAtMs(schedule, place.position) - serverMs + options.random() * CLOCK_EVERY_MS
      : Number.POSITIVE_INFINITY
  if (calledInMs < readInMs) visitors.looksAtClock[visitor] = 1
  crowd.at(visitor, nowMs + Math.min(readInMs, calledInMs))
}

function askStatus(crowd: Crowd, visitor: number, intendedMs: number, kind: 'admission' | 'status') {
  const token = crowd.visitors.token[visitor] ?? ''
  const text = requestText('GET', `/sales/${crowd.options.sale}/queue/status`, crowd.client.host, [
    'accept: application/json',
    `authorization: Bearer ${token}`,
  ])
  crowd.send(visitor, kind, text, intendedMs, (answer) => {
    const told = answer.status === 200 ? placeIn(answer) : null
    if (!told) return crowd.again(visitor, kind, answer)
    if (told.number !== crowd.visitors.number[visitor])
      crowd.tally.complain(`${kind}: another number was told`)
    crowd.go(visitor, kind === 'admission' ? STEP.claim : STEP.wait)
    place(crowd, visitor, told, answer)
  })
}

/** What a join or a status answer leads to. */
function place(crowd: Crowd, visitor: number, told: PlaceTold, answer: Answer) {
  const { visitors } = crowd
  crowd.checkPosition(visitor, told)
  switch (told.status) {
    case 'ready':
      if (visitors.has(visitor, PLAN.noShow)) return crowd.finish(visitor, 'no_show')
      if (!told.admission_token) return crowd.again(visitor, 'admission', answer)
      visitors.admittedMs[visitor] = answer.answeredMs
      visitors.servingTold[visitor] = told.now_serving
      visitors.admissionEndsMs[visitor] = Date.parse(told.admission_expires_at ?? '') || 0
      crowd.tally.counts.admitted++
      crowd.go(visitor, STEP.checkout)
      if (!inBrowser(crowd, visitor)) crowd.at(visitor, answer.answeredMs + crowd.think())
      else
        showPage(crowd, visitor, answer.answeredMs, (shownMs) => crowd.at(visitor, shownMs + crowd.think()))
      visitors.token[visitor] = told.admission_token
      return
    case 'sold_out':
    case 'ended':
      return over(crowd, visitor, told.status, answer.answeredMs)
    case 'missed_turn':
      return crowd.finish(visitor, visitors.has(visitor, PLAN.noShow) ? 'no_show' : 'missed_turn')
    default:
      crowd.at(visitor, answer.answeredMs + Math.max(100, told.poll_after_ms))
  }
}

function checkout(crowd: Crowd, visitor: number, intendedMs: number) {
  const { visitors } = crowd
  if (visitors.attempts[visitor] === 0) {
    crowd.tally.counts.shopping++
    crowd.tally.shoppingMs.push(intendedMs)
    if (visitors.has(visitor, PLAN.bot)) rushCheckout(crowd, visitor)
  }
  const text = crowd.checkoutText(visitor, crowd.keyOf(visitor))
  crowd.send(visitor, 'checkout', text, intendedMs, (answer, meantMs) => {
    const { status } = answer
    // One that was not answered may have made the order that the next answer tells of.
    visitors.reserveSentMs[visitor] ||= answer.sentMs
    if (status === 410) return toldOver(crowd, visitor, answer)
    if (status === 429 && problemType(answer) === '/problems/not-admitted')
      return refusedIn(crowd, visitor, answer)
    const order = status === 200 || status === 201 || status === 202 ? orderIn(answer) : null
    if (!order) {
      if (status !== 0) visitors.reserveSentMs[visitor] = 0
      return crowd.again(visitor, 'checkout', answer)
    }
    crowd.tally.recent.checkout.add(answer.answeredMs - meantMs)
    visitors.orders.set(visitor, {
      order: order.order_id,
      status: order.status,
      reserved: false,
      payMeantMs: null,
      paidSentMs: null,
      payingSinceMs: null,
    })
    crowd.go(visitor, STEP.settle)
    onOrder(crowd, visitor, order.status, answer.answeredMs)
  })
}

function pay(crowd: Crowd, visitor: number, intendedMs: number) {
  const { visitors } = crowd
  const method = visitors.methodOf(visitor)
  const order = visitors.orders.get(visitor)
  if (order) order.payMeantMs ??= intendedMs
  const text = requestText(
    'POST',
    `/orders/${order?.order}/payment`,
    crowd.client.host,
    ['accept: application/json', `authorization: Bearer ${visitors.token[visitor]}`],
    JSON.stringify({ payment_method: method }),
  )
  crowd.send(visitor, 'payment', text, intendedMs, (answer, meantMs) => {
    const told = answer.status >= 200 && answer.status < 300 ? orderIn(answer) : null
    // A conflict means that something has happened to the order meanwhile: look what.
    if (!told && answer.status !== 409) return crowd.again(visitor, 'payment', answer)
    if (order && told) order.paidSentMs ??= answer.sentMs
    if (order && order.payingSinceMs === null) {
      order.payingSinceMs = meantMs
      crowd.tally.counts.paying++
    }
    crowd.go(visitor, STEP.settle)
    crowd.at(visitor, answer.answeredMs + crowd.settleAfter(visitor))
  })
}

function askOrder(crowd: Crowd, visitor: number, intendedMs: number) {
  const order = crowd.visitors.orders.get(visitor)
  const text = requestText('GET', `/orders/${order?.order}`, crowd.client.host, [
    'accept: application/json',
    `authorization: Bearer ${crowd.visitors.token[visitor]}`,
  ])
  crowd.send(visitor, 'order', text, intendedMs, (answer) => {
    const told = answer.status === 200 ? orderIn(answer) : null
    if (!told) return crowd.again(visitor, 'order', answer)
    onOrder(crowd, visitor, told.status, answer.answeredMs)
  })
}

/** What the buyer does when they see their order in this state. */
function onOrder(crowd: Crowd, visitor: number, status: string, nowMs: number) {
  const { visitors } = crowd
  const told = visitors.orders.get(visitor)
  if (!told) return
  const first = !told.reserved && status !== 'processing'
  told.status = status
  if (first && status !== 'cancelled') {
    told.reserved = true
    crowd.tally.counts.reserved++
  }
  switch (status) {
    case 'reserved':
      if (visitors.has(visitor, PLAN.abandon)) return crowd.finish(visitor, 'abandoned')
      if (told.payingSinceMs === null) {
        crowd.go(visitor, STEP.pay)
        crowd.at(visitor, nowMs + crowd.think())
        return
      }
      break
    case 'confirmed':
    case 'fulfilled':
      return settle(crowd, visitor, 'bought', nowMs)
    case 'cancelled': {
      const end = visitors.has(visitor, PLAN.decline)
        ? 'declined'
        : visitors.has(visitor, PLAN.timeout)
          ? 'payment_timeout'
          : // Promised as `processing`, and not to be had when it was recorded: told so, as for everyone else.
            first
            ? 'sold_out'
            : 'failed'
      return settle(crowd, visitor, end, nowMs)
    }
    case 'expired':
      return settle(crowd, visitor, 'expired', nowMs)
  }
  crowd.at(visitor, nowMs + crowd.settleAfter(visitor))
}

function settle(crowd: Crowd, visitor: number, end: End, nowMs: number) {
  const sinceMs = crowd.visitors.orders.get(visitor)?.payingSinceMs ?? null
  if (sinceMs !== null) {
    crowd.tally.settled.add(nowMs - sinceMs)
    crowd.tally.counts.paying--
  }
  crowd.finish(visitor, end)
}

/** Told `410` by a join or a checkout. */
function toldOver(crowd: Crowd, visitor: number, answer: Answer) {
  const type = problemType(answer)
  if (type === '/problems/sold-out') {
    crowd.visitors.tellOver(visitor, 'sold_out', answer.answeredMs)
    crowd.finish(visitor, 'sold_out')
  } else if (type === '/problems/ended') crowd.finish(visitor, 'ended')
  else {
    crowd.tally.complain(`410 ${type}`)
    crowd.finish(visitor, 'failed')
  }
}

/** Told by the schedule or the status that it is over: the browser shows it, and loads the final page. */
function over(crowd: Crowd, visitor: number, as: 'sold_out' | 'ended', toldMs: number) {
  crowd.visitors.tellOver(visitor, as, toldMs)
  crowd.go(visitor, STEP.leave)
  const spreadMs = Math.min(FINAL_SPREAD_MAX_MS, (crowd.visitors.size / FINALS_PER_SECOND) * 1000)
  crowd.at(visitor, performance.now() + crowd.options.random() * spreadMs)
}

function loadFinalPage(crowd: Crowd, visitor: number, intendedMs: number) {
  crowd.send(visitor, 'final', crowd.texts.page, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'final', answer)
    // The contract: a page that is final may be kept by others, and sets no cookie. Any other is live again.
    const final = /^public\b/.test(headerOf(answer, 'cache-control')) && headerOf(answer, 'set-cookie') === ''
    if (final) return crowd.finish(visitor, crowd.visitors.toldOverAs(visitor))
    crowd.go(visitor, STEP.wait)
    crowd.at(visitor, answer.answeredMs + 1_000 * (0.5 + crowd.options.random()))
  })
}
