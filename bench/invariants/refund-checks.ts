/**
 * Checks of the operator's refunds and cancellations during a rehearsal, and of the feed of changes of every order.
 */
import { isSold } from '../../shared/api/order-status.ts'
import { n } from '../lib/figures.ts'
import {
  type Change,
  type Charge,
  type Check,
  check,
  count,
  type Evidence,
  type GivenBack,
  ifAny,
  type LedgerOrder,
} from './evidence.ts'

export const refundChecks = (e: Evidence): Check[] => [refundsRecorded(e), feedComplete(e)]

function refundsRecorded({ orders, charges, operator }: Evidence): Check {
  const what = 'refunds are made once, and recorded'
  const { orders: given, failed } = operator
  const wrong = count(orders, (o) => !isRecorded(o, given.get(o.order_id)))
  const recorded = orders.reduce((sum, o) => sum + o.refunded_minor, 0)
  const detail =
    `${n(given.size)} orders, ${n(wrong)} recorded otherwise; ${n(failed.length)} calls ` +
    `failed${failed[0] ? ` (${failed[0]})` : ''}`
  const occurred = given.size + failed.length + wrong
  if ('unread' in charges) return check(what, ifAny(occurred, wrong + failed.length === 0), detail)
  const made = madeByOrder(orders, charges)
  const differ = count(orders, (o) => o.refunded_minor !== (made.get(o.order_id) ?? 0))
  return check(
    what,
    ifAny(occurred + differ, wrong + failed.length + differ === 0),
    `${detail}; ${n(recorded)} in the ledger, ${n([...made.values()].reduce((sum, minor) => sum + minor, 0))} ` +
      `at the provider, ${n(differ)} orders differ`,
  )
}

/** The orders whose refunds are still to be made or recorded. */
export function openRefunds(
  orders: readonly LedgerOrder[],
  charges: readonly Charge[],
  given: ReadonlyMap<string, GivenBack>,
): number {
  const made = madeByOrder(orders, charges)
  const taken = new Set(charges.filter((c) => c.status === 'captured').map((c) => c.order))
  return count(
    orders.filter((o) => given.has(o.order_id)),
    (o) =>
      !isRecorded(o, given.get(o.order_id)) ||
      (charges.length > 0 && o.refunded_minor !== (made.get(o.order_id) ?? 0)) ||
      (o.status === 'cancelled' && taken.has(o.order_id)),
  )
}

/** The amounts refunded at the provider. A charge that is refunded completely before it is captured is voided. */
function madeByOrder(orders: readonly LedgerOrder[], charges: readonly Charge[]): ReadonlyMap<string, number> {
  const whole = new Set(orders.filter((o) => /^(refunded|returned)$/.test(o.status)).map((o) => o.order_id))
  const isLetGo = (c: Charge) => c.recorded && c.status === 'cancelled' && whole.has(c.order)
  return new Map(
    charges.flatMap((c) => {
      const minor = isLetGo(c) ? c.amount_minor : c.refunded_minor
      return minor > 0 ? [[c.order, minor] as const] : []
    }),
  )
}

/** The charge of a cancelled order may have been voided before it was captured. */
function isRecorded({ status, total_minor: total, refunded_minor }: LedgerOrder, given: GivenBack | undefined) {
  if (!given) return refunded_minor === 0 && status !== 'refunded' && status !== 'returned'
  if (given.cancelled) return status === 'cancelled' && (refunded_minor === 0 || refunded_minor === total)
  if (given.minor !== null) return isSold(status) && status !== 'refunded' && refunded_minor === given.minor
  return refunded_minor === total && status === (given.restocked ? 'returned' : 'refunded')
}

/** Each of these happens to an order at most once. */
const ONCE = ['order.reserved', 'order.confirmed', 'order.fulfilled', 'order.expired', 'order.cancelled']
/** The third decline cancels the order. */
const MOST_DECLINES = 2

/** The feed, read from its beginning, contains every event of every order once, and ends with its status. */
function feedComplete({ feed, orders, operator }: Evidence): Check {
  const what = 'the feed has every change once, and ends as the ledger'
  if ('unread' in feed) return check(what, null, `the feed: ${feed.unread}`)
  const byOrder = Map.groupBy(feed, (change) => change.order)
  let [otherwise, twice, refunds] = [0, 0, 0]
  for (const order of orders) {
    const changes = byOrder.get(order.order_id) ?? []
    if (changes.at(-1)?.status !== publicStatus(order.status)) otherwise++
    const given = operator.orders.get(order.order_id)
    if (isRepeated(changes)) twice++
    const recorded = count(changes, (change) => change.type === 'order.refunded')
    const least = given && !given.cancelled ? 1 : 0
    if (recorded < least || recorded > (given?.calls ?? 0)) refunds++
  }
  const unknown = feed.length - orders.reduce((sum, o) => sum + (byOrder.get(o.order_id)?.length ?? 0), 0)
  return check(
    what,
    ifAny(orders.length, otherwise + twice + refunds + unknown === 0),
    `${n(feed.length)} changes of ${n(orders.length)} orders: ${n(otherwise)} end otherwise, ${n(twice)} repeat ` +
      `a change, ${n(refunds)} have another number of refunds, ${n(unknown)} are of no order`,
  )
}

function isRepeated(changes: readonly Change[]): boolean {
  const times = (type: string) => count(changes, (change) => change.type === type)
  return ONCE.some((type) => times(type) > 1) || times('order.declined') > MOST_DECLINES
}

/** The orders whose status in the feed is not up to date yet. */
export function countUnpublished(orders: readonly LedgerOrder[], feed: readonly Change[]): number {
  const last = new Map(feed.map(({ order, status }) => [order, status]))
  return count(orders, (o) => last.get(o.order_id) !== publicStatus(o.status))
}

const publicStatus = (status: string) => (status === 'returned' ? 'refunded' : status)
