/**
 * The one judge of rehearsals, calm or with faults: pure functions from the evidence to checks. Every check can fail, and
 * says by how much.
 */
import { n } from '../lib/figures.ts'
import { type Check, check, ifAny } from './check.ts'
import type { Evidence } from './evidence.ts'
import {
  acceptedPaymentsEnd,
  chargedOnce,
  everyoneServed,
  limitKept,
  noUnknownOrders,
  ordersEndAsShown,
  ordersRecorded,
  soldExactly,
  soldOutWasTrue,
} from './orders.ts'
import {
  checkoutsKeepRate,
  drawCommitted,
  drawOf,
  earlyVisitorsDrawn,
  firstCome,
  neverBack,
  nobodyEarly,
  numbersUnique,
  positionsMatch,
  queueKeepsRate,
  speedGainsNothing,
} from './queue.ts'
import { everyPartKilled, neverOversold, recovered, storesAgree } from './stores.ts'

export function judge(e: Evidence): Check[] {
  const orders = new Map(e.orders.map((o) => [o.order_id, o]))
  const draw = drawOf(e)
  return [
    soldExactly(e),
    everyoneServed(e),
    noBareErrors(e),
    soldOutWasTrue(e),
    ordersRecorded(e, orders),
    ordersEndAsShown(e, orders),
    acceptedPaymentsEnd(e),
    noUnknownOrders(e),
    limitKept(e),
    chargedOnce(e, orders),
    storesAgree(e),
    ...(e.faults ? [neverOversold(e.faults), everyPartKilled(e.faults), recovered(e.faults)] : []),
    numbersUnique(e),
    drawCommitted(e, draw),
    earlyVisitorsDrawn(e, draw),
    positionsMatch(e),
    speedGainsNothing(e, draw),
    firstCome(e, draw),
    nobodyEarly(e, draw),
    neverBack(e),
    queueKeepsRate(e),
    checkoutsKeepRate(e),
    ...attempts(e),
  ]
}

const noBareErrors = ({ bareErrors }: Evidence): Check =>
  check('no bare 5xx', bareErrors === 0, `${n(bareErrors)} responses of 500 and above that are no 503`)

function attempts({ attempts: a, bots }: Evidence): Check[] {
  const repeated = check(
    'repeated checkouts make one order',
    ifAny(a.repeats, a.secondOrders === 0),
    `${n(a.repeats)} repeated calls returned an order, ${n(a.secondOrders)} a second one`,
  )
  if (!bots) return a.repeats > 0 ? [repeated] : []
  return [
    check(
      'rejoining gains a bot no number',
      ifAny(a.rejoins, a.otherNumbers === 0),
      `${n(a.rejoins)} joins by token or cookie, ${n(a.otherNumbers)} with another number`,
    ),
    check(
      'no bot enters without an admission',
      ifAny(a.intrusions, a.letIn === 0),
      `${n(a.intrusions)} checkouts without an admission, ${n(a.letIn)} not refused`,
    ),
    repeated,
  ]
}
