/**
 * One visitor's visit to a sale, step by step, as a person with a browser makes it:
 *
 *     page ─▶ join ─▶ wait ─▶ claim the turn by the page ─▶ checkout ─▶ pay or give back ─▶ follow the order
 *                       └──────────── sold out ─▶ the final page          ▲  the bank asks ◀──┤
 *                                                                         └── declined ◀──────┘
 *
 * Waiting follows the page's script (edge/client/live-page.ts): the visitor reads the public schedule when
 * `pollAfterMs` says so, calculates its own place, and calls a Worker when its turn has come. Some visitors come by
 * the shop front (front.ts). The steps from the checkout on are in buy.ts.
 */
import { decodeJwt } from 'jose'
import { identityOf } from '../../edge/http/visitor-secret.ts'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { calledAtMs, placeOf, pollAfterMs, pollMaxMs, type Status } from '../../shared/schedule.ts'
import { type Answer, headerOf } from '../lib/http.ts'
import { cookieIn, ownPageIn, placeIn, problemType } from '../lib/responses.ts'
import { hammerWhileWaiting, rejoin } from './bots.ts'
import { authenticate, checkout, giveBack, pay, pollOrder, refusedForGood } from './buy.ts'
import { comesByClient, waitByClient } from './by-client.ts'
import type { Crowd } from './crowd.ts'
import { BY_SCRIPT } from './requests.ts'
import { comeByFront, readFeed } from './shop-front.ts'
import { sourceOf } from './visitors/sources.ts'
import { PLAN, type Step, type Visitor } from './visitors/visitors.ts'

/** The value is the same as in edge/client/main.ts: the longest time between two looks at the clock. */
const CLOCK_EVERY_MS = 500
/** Browsers load the final page spread out, at most this many a second. */
const FINALS_PER_SECOND = 1_000
const FINAL_SPREAD_MAX_MS = 20_000
/** The value is the same as in edge/client/turn.ts: a page that does not show the turn yet is loaded again. */
const CLAIM_AGAIN_MS = 3_000

const STEPS: Record<Step, (crowd: Crowd, visitor: Visitor, dueMs: number) => void> = {
  front: comeByFront,
  arrive: loadPage,
  prove,
  join: (crowd, visitor, dueMs) => (comesByClient(visitor) ? byClient(crowd, visitor) : join(crowd, visitor, dueMs)),
  wait: (crowd, visitor, dueMs) =>
    comesByClient(visitor)
      ? byClient(crowd, visitor)
      : visitor.inBrowser()
        ? readSchedule(crowd, visitor, dueMs)
        : pollStatus(crowd, visitor, dueMs, 'status'),
  claim: claimTurn,
  checkout,
  pay,
  authenticate,
  giveBack,
  settle: pollOrder,
  leave: loadFinalPage,
  gone: () => {},
}

/** Runs a visitor's current step, which was due at `dueMs`. */
export const visit = (crowd: Crowd, visitor: Visitor, dueMs: number) => STEPS[visitor.step](crowd, visitor, dueMs)

function loadPage(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  if (visitor.attempts === 0) crowd.tally.counts.arrived++
  crowd.send(visitor, 'page', crowd.pageText, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'page', answer)
    crowd.go(visitor, crowd.entry)
    visit(crowd, visitor, answer.answeredMs)
  })
}

function prove(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  // The request has the cookie of the join, because a proof belongs to one visitor.
  const text = crowd.requests.ofVisitor(visitor, 'GET', '/challenge', [
    'accept: application/json',
    ...knownBy(crowd, visitor),
  ])
  crowd.send(visitor, 'challenge', text, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'challenge', answer)
    const solved = ({ altcha, phoneMs }: { altcha: string; phoneMs: number }) => {
      visitor.proof = altcha
      crowd.go(visitor, 'join')
      crowd.at(visitor, performance.now() + phoneMs)
    }
    void crowd.options.prover?.solve(answer.body).then(solved)
  })
}

const knownBy = (crowd: Crowd, visitor: Visitor) =>
  visitor.has(PLAN.known) ? [`cookie: visitor-secret=${knownCookie(crowd, visitor)}`] : []

function join(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  const { sale } = crowd.options
  const headers = [...(visitor.inBrowser() ? BY_SCRIPT : ['accept: application/json']), ...knownBy(crowd, visitor)]
  const { invitation } = crowd.options.identityOf(visitor.id)
  const altcha = visitor.proof
  const source = sourceOf(visitor.id)
  const brings = invitation !== null || altcha !== null || source !== undefined
  const sent = { invitation: invitation ?? undefined, altcha: altcha ?? undefined, source }
  const body = brings ? JSON.stringify(sent) : undefined
  const text = crowd.requests.ofVisitor(visitor, 'POST', '/queue', headers, body)
  crowd.send(visitor, 'join', text, intendedMs, (answer, meantMs) => {
    if (answer.status === 410) return refusedForGood(crowd, visitor, answer)
    if (answer.status === 401 && problemType(answer) === '/problems/proof-required') {
      // The difficulty has increased meanwhile.
      crowd.go(visitor, 'prove')
      return crowd.at(visitor, answer.answeredMs + crowd.think())
    }
    if (visitor.inBrowser()) {
      const page = ownPageIn(answer, sale)
      if (!page) return crowd.again(visitor, 'join', answer)
      handleJoin(crowd, visitor, page, answer, meantMs)
      crowd.checkPosition(visitor, page.position)
      return page.admission === null
        ? readSchedule(crowd, visitor, answer.answeredMs)
        : admitByPage(crowd, visitor, page.admission, answer)
    }
    const place = placeIn(answer)
    if (!place?.queue_token) return crowd.again(visitor, 'join', answer)
    handleJoin(crowd, visitor, { number: place.number, token: place.queue_token }, answer, meantMs)
    if (visitor.has(PLAN.bot)) {
      rejoin(crowd, visitor, answer)
      hammerWhileWaiting(crowd, visitor)
    }
    takePlace(crowd, visitor, place, answer)
  })
}

function knownCookie({ options: { sale, visitorKey } }: Crowd, { id }: Visitor): string {
  const secret = `${sale}-visitor-${id}`
  return visitorKey ? identityOf(secret, visitorKey).cookie : secret
}

function handleJoin(
  crowd: Crowd,
  visitor: Visitor,
  { number, token }: { readonly number: number; readonly token: string },
  { sentMs, answeredMs }: Pick<Answer, 'sentMs' | 'answeredMs'>,
  meantMs: number,
) {
  const { tally } = crowd
  tally.recent.join.add(answeredMs - meantMs)
  visitor.joinSentMs = sentMs
  visitor.joinAnsweredMs = answeredMs
  const before = visitor.number
  if (before !== null && before !== number) tally.otherNumbers.push(before)
  visitor.number = number
  visitor.token = token
  visitor.proof = null
  tally.counts.joined++
  crowd.go(visitor, 'wait')
}

const byClient = (crowd: Crowd, visitor: Visitor) =>
  void waitByClient(crowd, visitor, {
    joined: (place, times) => handleJoin(crowd, visitor, place, times, times.sentMs),
    admitted: (token, endsMs, serving, answeredMs) => admit(crowd, visitor, token, endsMs, serving, { answeredMs }),
    over: (as, seenMs) => over(crowd, visitor, as, seenMs),
  })

/** Reads the public schedule, and claims the turn once the queue has reached the visitor's place. */
function readSchedule(crowd: Crowd, visitor: Visitor, dueMs: number) {
  const { schedule, options } = crowd
  if (!visitor.looksAtClock) crowd.tally.scheduleReads++
  visitor.looksAtClock = false
  const nowMs = performance.now()
  const serverMs = schedule.serverMs(nowMs)
  const place = placeOf(schedule.copy, visitor.number ?? Number.NaN, serverMs, () => crowd.positionOf(visitor))
  if (leaves(crowd, visitor, place.status, nowMs)) return
  if (visitor.has(PLAN.front)) readFeed(crowd, visitor, nowMs)
  if (place.status === 'ready') {
    crowd.go(visitor, 'claim')
    return claimTurn(crowd, visitor, dueMs)
  }
  const readInMs = Math.min(pollMaxMs(options.claimSeconds), pollAfterMs(place, options.random()))
  const calledInMs =
    place.status === 'waiting' && place.position !== null
      ? calledAtMs(schedule.copy, place.position) - serverMs + options.random() * CLOCK_EVERY_MS
      : Number.POSITIVE_INFINITY
  visitor.looksAtClock = calledInMs < readInMs
  crowd.at(visitor, nowMs + Math.min(readInMs, calledInMs))
}

/** A browser loads its page, which sets the admission as a cookie; other clients request their status. */
function claimTurn(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  if (!visitor.inBrowser()) return pollStatus(crowd, visitor, intendedMs, 'admission')
  const { sale, random } = crowd.options
  const text = crowd.requests.ofVisitor(visitor, 'GET', '/line', [
    'accept: text/html',
    `cookie: queue-${sale}=${visitor.token}`,
  ])
  crowd.send(visitor, 'admission', text, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'admission', answer)
    const token = cookieIn(answer, `admission-${sale}`)
    if (token !== null) return admitByPage(crowd, visitor, token, answer)
    // The server is a moment behind, or the sale is over.
    crowd.go(visitor, 'wait')
    crowd.at(visitor, answer.answeredMs + CLAIM_AGAIN_MS * (0.5 + random()))
  })
}

function pollStatus(crowd: Crowd, visitor: Visitor, intendedMs: number, kind: 'admission' | 'status') {
  const text = crowd.requests.ofVisitor(visitor, 'GET', '/queue/status', [
    'accept: application/json',
    `authorization: Bearer ${visitor.token}`,
  ])
  crowd.send(visitor, kind, text, intendedMs, (answer) => {
    const place = placeIn(answer)
    if (!place) return crowd.again(visitor, kind, answer)
    if (place.number !== visitor.number) crowd.tally.complain(`${kind}: another number`)
    crowd.go(visitor, kind === 'admission' ? 'claim' : 'wait')
    takePlace(crowd, visitor, place, answer)
  })
}

/** Handles the response to a join or a status. */
function takePlace(crowd: Crowd, visitor: Visitor, place: QueueAnswer, answer: Answer) {
  const { answeredMs } = answer
  const { status, position_in_queue, now_serving: serving } = place
  crowd.checkPosition(visitor, status === 'waiting' && position_in_queue !== null ? position_in_queue + serving : null)
  if (leaves(crowd, visitor, place.status, answeredMs)) return
  if (place.status !== 'ready') return crowd.at(visitor, answeredMs + Math.max(100, place.poll_after_ms))
  const { admission_token, admission_expires_at } = place
  if (!admission_token) return crowd.again(visitor, 'admission', answer)
  admit(crowd, visitor, admission_token, Date.parse(admission_expires_at ?? '') || 0, serving, answer)
}

function admitByPage(crowd: Crowd, visitor: Visitor, token: string, answer: Answer) {
  if (visitor.has(PLAN.noShow)) return crowd.finish(visitor, 'no_show')
  admit(crowd, visitor, token, (decodeJwt(token).exp ?? 0) * 1000, null, answer)
}

/** `serving` is null if the response does not say how far the queue had come. */
function admit(
  crowd: Crowd,
  visitor: Visitor,
  token: string,
  endsMs: number,
  serving: number | null,
  { answeredMs }: Pick<Answer, 'answeredMs'>,
) {
  visitor.admittedMs = answeredMs
  visitor.admittedAtServing = serving
  visitor.admissionEndsMs = endsMs
  visitor.token = token
  crowd.tally.counts.admitted++
  crowd.go(visitor, 'checkout')
  crowd.at(visitor, answeredMs + crowd.think())
}

/**
 * True if there is nothing left to wait for: the sale is over, the turn has passed, or the visitor does not come to
 * it.
 */
function leaves(crowd: Crowd, visitor: Visitor, status: Status, nowMs: number): boolean {
  if (status === 'sold_out' || status === 'ended') over(crowd, visitor, status, nowMs)
  else if (status !== 'ready' && status !== 'missed_turn') return false
  else if (visitor.has(PLAN.noShow)) crowd.finish(visitor, 'no_show')
  else if (status === 'missed_turn') crowd.finish(visitor, 'missed_turn')
  else return false
  return true
}

/** The schedule or the status says that the sale is over. The browser shows that, and loads the final page. */
function over(crowd: Crowd, visitor: Visitor, as: 'sold_out' | 'ended', seenMs: number) {
  visitor.sawOver(as, seenMs)
  crowd.go(visitor, 'leave')
  const spreadMs = Math.min(FINAL_SPREAD_MAX_MS, (crowd.visitors.length / FINALS_PER_SECOND) * 1000)
  crowd.at(visitor, performance.now() + crowd.options.random() * spreadMs)
}

function loadFinalPage(crowd: Crowd, visitor: Visitor, intendedMs: number) {
  crowd.send(visitor, 'final', crowd.pageText, intendedMs, (answer) => {
    if (answer.status !== 200) return crowd.again(visitor, 'final', answer)
    // The final page is public and sets no cookie. Another page means that the sale is live again, or that a cache is
    // a moment behind.
    const isPublic = /^public\b/.test(headerOf(answer, 'cache-control')) && headerOf(answer, 'set-cookie') === ''
    if (isPublic && answer.body.includes('id="final"')) return crowd.finish(visitor, visitor.overAs)
    crowd.go(visitor, 'wait')
    crowd.at(visitor, answer.answeredMs + 1_000 * (0.5 + crowd.options.random()))
  })
}
