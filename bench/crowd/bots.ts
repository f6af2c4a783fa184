/** Bots try more than people do. The evidence records what they gained, which must be nothing. */
import { type Answer, headerOf } from '../lib/http.ts'
import { orderIn, placeIn } from '../lib/responses.ts'
import type { Crowd } from './crowd.ts'
import type { Visitor } from './visitors/visitors.ts'

const REJOINS = 4
const HAMMERS = 5
const CLICKS = 4

/** Joins again to get a better number: with its token, and with its cookie alone. */
export function rejoin(crowd: Crowd, visitor: Visitor, joined: Answer): void {
  const { attempts } = crowd.tally
  const { number } = visitor
  const cookie = /\r\nset-cookie: *(visitor-secret=[^;\r\n]+)/i.exec(joined.head)?.[1]
  const join = (header: string, isRight: (number: number) => boolean) => {
    const text = crowd.requests.ofVisitor(visitor, 'POST', '/queue', ['accept: application/json', header])
    for (let i = 0; i < REJOINS; i++)
      crowd.sendBeside('join', text, (answer) => {
        const place = placeIn(answer)
        if (!place) return
        attempts.rejoins++
        if (!isRight(place.number)) attempts.otherNumbers++
      })
  }
  join(`authorization: Bearer ${visitor.token}`, (other) => other === number)
  // With its cookie alone it counts as one further visitor, with the same number for each request.
  let first: number | undefined
  if (cookie)
    join(`cookie: ${cookie}`, (other) => {
      if (first === undefined && other !== number) crowd.tally.otherNumbers.push(other)
      first ??= other
      return other === first
    })
}

/** Sends checkouts without an admission, with no token or with the one it has. */
export function hammerWhileWaiting(crowd: Crowd, visitor: Visitor): void {
  const key = `bot-${visitor.id}`
  const bare = crowd.requests.ofVisitor(visitor, 'POST', '/checkout', [`idempotency-key: ${key}`], '{}')
  const withPlace = crowd.requests.checkout(visitor, key)
  for (let i = 0; i < HAMMERS; i++) {
    crowd.sendBeside('checkout', i % 2 === 0 ? bare : withPlace, (answer) => {
      if (answer.status === 0) return
      crowd.tally.attempts.intrusions++
      const refused = answer.status === 429 && headerOf(answer, 'retry-after') !== ''
      if (refused || answer.status === 503) return
      crowd.tally.attempts.letIn++
      crowd.tally.complain(`a bot without an admission got ${answer.status}`)
    })
  }
}

/** Clicks several times, with the same key and with others. Every response must name the same order. */
export function rushCheckout(crowd: Crowd, visitor: Visitor): void {
  let order: string | undefined
  for (let i = 0; i < CLICKS; i++) {
    // A visitor who chooses goods may get another order with another key, within their limit.
    const isSame = i % 2 === 0 || visitor.wishes !== null
    const key = isSame ? crowd.requests.keyOf(visitor) : `${crowd.requests.keyOf(visitor)}-${i}`
    crowd.sendBeside('checkout', crowd.requests.checkout(visitor, key), (answer) => {
      const seen = orderIn(answer)
      // An order that is only `processing` may still be replaced if the store that knew it is lost.
      if (!seen || seen.status === 'processing') return
      crowd.tally.attempts.repeats++
      const own = visitor.order
      order ??= own?.reserved ? own.order : seen.order_id
      if (seen.order_id !== order) crowd.tally.attempts.secondOrders++
    })
  }
}
