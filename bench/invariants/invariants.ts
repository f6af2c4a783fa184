/**
 * The judge of all rehearsals, with or without faults: pure functions from the evidence to checks. Every check can
 * fail, and reports by how much.
 */
import { n } from '../lib/figures.ts'
import { type Check, check, type Evidence, type Gains, ifAny } from './evidence.ts'
import { frontChecks } from './front-checks.ts'
import { funnelChecks } from './funnel-checks.ts'
import { goodsChecks } from './goods-checks.ts'
import { orderChecks } from './order-checks.ts'
import { queueChecks } from './queue-checks.ts'
import { refundChecks } from './refund-checks.ts'
import { seatChecks } from './seat-checks.ts'
import { storeChecks } from './store-checks.ts'
import { viewChecks } from './view-checks.ts'

export const judge = (e: Evidence): Check[] => [
  ...orderChecks(e),
  ...refundChecks(e),
  noBareErrors(e),
  ...storeChecks(e),
  ...seatChecks(e),
  ...goodsChecks(e),
  ...queueChecks(e),
  ...frontChecks(e),
  ...funnelChecks(e),
  ...viewChecks(e),
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

/** The share of the units that all attacks together may gain. */
const MOST_GAINED = 0.02

/**
 * The check applies only if an account is required, because otherwise the gains follow from the shop's own choice.
 */
function attackChecks({ attackers, stock }: Evidence): Check[] {
  if (!attackers) return []
  const { gains, refusedByLimit, accounts } = attackers
  const judged = (holds: boolean) => (accounts === null ? null : holds)
  const sum = (of: (gain: Gains) => number) => gains.reduce((all, gain) => all + of(gain), 0)
  const [bought, held] = [sum((gain) => gain.bought), sum((gain) => gain.held)]
  const share = (bought + held) / stock
  const little = check(
    `attackers get at most ${MOST_GAINED * 100} % of the units`,
    judged(share <= MOST_GAINED),
    `${n(share * 100)} %: ${n(bought)} bought, ${n(held)} kept from others on average, of ${n(stock)}; ` +
      `${n(sum((gain) => gain.places))} places`,
  )
  const unhindered = check(
    'no honest visitor is refused by a limit',
    judged(refusedByLimit === 0),
    `${n(refusedByLimit)} visitors were refused by a limit`,
  )
  const most = Math.max(0, ...gains.map((gain) => gain.visitors))
  const single = check(
    'an account is one visitor',
    judged(most <= (accounts ?? most)),
    `an attack with ${accounts === null ? 'no accounts' : n(accounts)} joined as ${n(most)} visitors at most`,
  )
  return gains.length === 0 ? [unhindered] : [little, single, unhindered]
}
