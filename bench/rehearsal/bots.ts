/**
 * What machines do to a sale, beside what people do: each of these is tried by every bot, and what it got is evidence
 * for the verdict. None of it may gain anything.
 */

import { orderIn, placeIn } from '../lib/answers.ts'
import type { Answer } from '../lib/http.ts'
import { headerOf, requestText } from '../lib/http.ts'
import type { Crowd } from './crowd.ts'

/** Joins once more with its cookie, and once with its token, for a better number: four times each at once. */
const REJOINS = 4
/** Asks for a checkout it was not admitted to, with nothing and with the token it has. */
const HAMMERS = 5
/** Clicks so many times at once when it is admitted, with one key and with others. */
const CLICKS = 4

export function rejoin(crowd: Crowd, visitor: number, joined: Answer): void {
  const number = crowd.visitors.number[visitor]
  const token = crowd.visitors.token[visitor]
  const cookie = /\r\nset-cookie: *(visitor-secret=[^;\r\n]+)/i.exec(joined.head)?.[1]
  const join = (header: string) =>
    requestText('POST', `/sales/${crowd.options.sale}/queue`, crowd.client.host, [
      'accept: application/json',
      header,
    ])
  for (let i = 0; i < REJOINS; i++) {
    send(crowd, visitor, 'join', join(`authorization: Bearer ${token}`), (answer) => {
      const told = answer.status === 200 || answer.status === 201 ? placeIn(answer) : null
      if (!told) return
      crowd.tally.bots.rejoins++
      if (told.number !== number) crowd.tally.bots.otherNumbers++
    })
  }
  if (!cookie) return
  // By its cookie alone it is one visitor, who gets one further number however often it asks.
  let first: number | undefined
  for (let i = 0; i < REJOINS; i++) {
    send(crowd, visitor, 'join', join(`cookie: ${cookie}`), (answer) => {
      const told = answer.status === 200 || answer.status === 201 ? placeIn(answer) : null
      if (!told) return
      crowd.tally.bots.rejoins++
      if (first === undefined && told.number !== number) crowd.visitors.otherNumbers.push(told.number)
      first ??= told.number
      if (told.number !== first) crowd.tally.bots.otherNumbers++
    })
  }
}

export function hammerWhileWaiting(crowd: Crowd, visitor: number): void {
  const path = `/sales/${crowd.options.sale}/checkout`
  const queueToken = crowd.visitors.token[visitor] ?? ''
  const bare = requestText('POST', path, crowd.client.host, [`idempotency-key: bot-${visitor}`], '{}')
  const withPlace = crowd.checkoutText(visitor, `bot-${visitor}`, queueToken)
  for (let i = 0; i < HAMMERS; i++) {
    send(crowd, visitor, 'checkout', i % 2 === 0 ? bare : withPlace, (answer) => {
      if (answer.status === 0) return
      crowd.tally.bots.intrusions++
      const refused = answer.status === 429 && headerOf(answer, 'retry-after') !== ''
      if (!refused && answer.status !== 503) {
        crowd.tally.bots.letIn++
        crowd.tally.complain(`a bot without an admission was answered ${answer.status}`)
      }
    })
  }
}

/** Double clicks, and other keys for a second unit: all answers must name one order. */
export function rushCheckout(crowd: Crowd, visitor: number): void {
  let order: string | undefined
  for (let i = 0; i < CLICKS; i++) {
    const key = i % 2 === 0 ? crowd.keyOf(visitor) : `${crowd.keyOf(visitor)}-${i}`
    send(crowd, visitor, 'checkout', crowd.checkoutText(visitor, key), (answer) => {
      const told = answer.status >= 200 && answer.status < 300 ? orderIn(answer) : null
      if (!told) return
      crowd.tally.bots.rushes++
      order ??= crowd.visitors.orders.get(visitor)?.order ?? told.order_id
      if (told.order_id !== order) crowd.tally.bots.secondOrders++
    })
  }
}

function send(
  crowd: Crowd,
  visitor: number,
  kind: 'join' | 'checkout',
  text: string,
  answered: (answer: Answer) => void,
): void {
  crowd.tally.requests[kind]++
  crowd.visitors.workerRequests[visitor] = (crowd.visitors.workerRequests[visitor] ?? 0) + 1
  crowd.client.send(text, answered)
}
