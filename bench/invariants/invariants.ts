/**
 * The one judge of rehearsals, calm or with faults: pure functions from the evidence to checks. Every check can fail, and
 * says by how much.
 */
import { n } from '../lib/figures.ts'
import { attackChecks } from './attack-checks.ts'
import { type Check, check, ifAny } from './check.ts'
import type { Evidence } from './evidence.ts'
import { orderChecks } from './order-checks.ts'
import { queueChecks } from './queue-checks.ts'
import { refundChecks } from './refund-checks.ts'
import { storeChecks } from './store-checks.ts'

export const judge = (e: Evidence): Check[] => [
  ...orderChecks(e),
  ...refundChecks(e),
  noBareErrors(e),
  ...storeChecks(e),
  ...queueChecks(e),
  ...attempts(e),
  ...attackChecks(e),
]

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
