/**
 * The verdict on a rehearsal: pure, from what every client was told and from what the ledger and the payment provider
 * have on record. Every check can fail, and says by how much.
 */
import { n } from '../lib/figures.ts'
import { type Check, check, ifAny } from './check.ts'
import {
  drawCommitted,
  drawOf,
  earlyWereDrawn,
  firstCome,
  lineKeepsRate,
  neverBack,
  nobodyEarly,
  numbersUnique,
  peopleKeepRate,
  positionsTold,
  speedBoughtNothing,
} from './line.ts'
import {
  chargedOnce,
  endsAreTrue,
  everyoneAnswered,
  limitKept,
  nothingUnasked,
  paidIsServed,
  reservedIsRecorded,
  soldExactly,
  soldOutWasTrue,
} from './orders.ts'
import type { Evidence } from './story.ts'

export function verdict(e: Evidence): Check[] {
  const orders = new Map(e.orders.map((o) => [o.order_id, o]))
  const draw = drawOf(e)
  return [
    soldExactly(e),
    everyoneAnswered(e),
    soldOutWasTrue(e),
    reservedIsRecorded(e, orders),
    endsAreTrue(e, orders),
    paidIsServed(e),
    nothingUnasked(e, orders),
    limitKept(e),
    chargedOnce(e, orders),
    numbersUnique(e),
    drawCommitted(e, draw),
    earlyWereDrawn(e, draw),
    positionsTold(e),
    speedBoughtNothing(e, draw),
    firstCome(e, draw),
    nobodyEarly(e, draw),
    neverBack(e),
    lineKeepsRate(e),
    peopleKeepRate(e),
    ...bots(e),
  ]
}

function bots({ bots: seen }: Evidence): Check[] {
  if (!seen) return []
  return [
    check(
      'joining again gains no bot a number',
      ifAny(seen.rejoins, seen.otherNumbers === 0),
      `${n(seen.rejoins)} joins by token or cookie, ${n(seen.otherNumbers)} with another number`,
    ),
    check(
      'no bot in without an admission',
      ifAny(seen.intrusions, seen.letIn === 0),
      `${n(seen.intrusions)} checkouts without an admission, ${n(seen.letIn)} not refused`,
    ),
    check(
      'double clicks and second keys make one order',
      ifAny(seen.rushes, seen.secondOrders === 0),
      `${n(seen.rushes)} answers with an order, ${n(seen.secondOrders)} with a second one`,
    ),
  ]
}
