/**
 * Checks of stock, orders and money, which compare what buyers received with the records of the ledger and the
 * provider.
 */
import { isLive, isSold } from '../../shared/api/order-status.ts'
import { n } from '../lib/figures.ts'
import {
  type Charge,
  type Check,
  check,
  count,
  type End,
  type Evidence,
  ifAny,
  type LedgerOrder,
  PAID_ENDS,
  type VisitRecord,
} from './evidence.ts'

type Orders = ReadonlyMap<string, LedgerOrder>

/** A payment this long before the end of the hold is in time, and no hold may end this much too early. */
const HOLD_MARGIN_MS = 1_000
const ORDER_ENDS: Partial<Record<End, RegExp>> = {
  bought: /^(confirmed|fulfilled)$/,
  declined: /^(cancelled|expired)$/,
  payment_timeout: /^cancelled$/,
  unauthenticated: /^cancelled$/,
  cancelled: /^(cancelled|expired)$/,
  abandoned: /^expired$/,
  expired: /^expired$/,
}
/** The statuses that may follow each status. */
const AFTER: Readonly<Record<string, RegExp>> = {
  processing: /./,
  reserved: /^(paying|confirmed|fulfilled|expired|cancelled)$/,
  paying: /^(confirmed|fulfilled|cancelled)$/,
  /** A declined payment leaves the hold, which may end. */
  'declined paying': /^(confirmed|fulfilled|cancelled|expired)$/,
  confirmed: /^fulfilled$/,
}
const LOST: ReadonlySet<End> = new Set(['failed', 'gave_up', 'missed_turn', 'ended'])

export function orderChecks(e: Evidence): Check[] {
  const orders = new Map(e.orders.map((o) => [o.order_id, o]))
  return [
    soldExactly(e),
    everyoneServed(e),
    soldOutWasTrue(e),
    ordersRecorded(e, orders),
    ordersEndAsShown(e, orders),
    acceptedPaymentsEnd(e),
    noUnknownOrders(e),
    limitKept(e),
    chargedOnce(e, orders),
  ]
}

/**
 * If any visitor saw "sold out", every unit is sold, except those that an operator has made available again. In any
 * case the ledger's sum is right, nothing is held, and the clients who saw "confirmed" have exactly the units sold
 * and those returned.
 */
function soldExactly(e: Evidence): Check {
  const { stock, visits, inventory, attackers, operator, orders } = e
  const buyers = visits.filter((s) => s.end === 'bought')
  const bought = buyers.reduce((units, s) => units + s.quantity, 0)
  const toBots = (attackers?.gains ?? []).reduce((units, gain) => units + gain.bought, 0)
  const refused = count(visits, (s) => s.end === 'sold_out')
  const back = orders.reduce((units, o) => units + (operator.orders.get(o.order_id)?.restocked ? o.quantity : 0), 0)
  const { total, available, held, sold } = inventory
  const right =
    total === stock &&
    available + held + sold === total &&
    available >= 0 &&
    held === 0 &&
    (refused === 0 || sold >= stock - back) &&
    bought + toBots === sold + back
  const anyServed = buyers.length + refused > 0
  const anyWilling = visits.some((s) => s.method !== null && PAID_ENDS[s.method] === 'bought')
  return check(
    'sold exactly',
    right && !anyServed && !anyWilling ? null : right && anyServed,
    `${n(sold)} sold of ${n(stock)}, ${n(bought)} confirmed to ` +
      `clients${toBots > 0 ? `, ${n(toBots)} to attackers` : ''}${back > 0 ? `, ${n(back)} put back` : ''}; ` +
      `${n(held)} held, ${n(available)} left; ${n(refused)} saw "sold out"${available > 0 ? `; ${whyLeft(e)}` : ''}`,
  )
}

/** The reason why units are left: what became of those that the visitors wanted, and did not buy. */
function whyLeft({ visits, holdMs, cutShort }: Evidence): string {
  const unitsOf = (some: readonly VisitRecord[]) => some.reduce((units, s) => units + s.quantity, 0)
  const without = visits.filter(({ end }) => end !== 'bought')
  const byEnd = [...Map.groupBy(without, ({ end }) => end)]
    .map(([end, some]) => [end.replaceAll('_', ' '), unitsOf(some)] as const)
    .sort(([, a], [, b]) => b - a)
  const late = unitsOf(without.filter(({ end, method }) => end === 'expired' && method !== null))
  const tooLate =
    late > 0 ? `; ${n(late)} expired with buyers who would have paid, but not within ${n(holdMs / 1000)} s` : ''
  return (
    `the visitors wanted ${n(unitsOf(visits))}, and those without a purchase ended as: ` +
    `${byEnd.map(([end, units]) => `${end} ${n(units)}`).join(', ')}${tooLate}${cutShort ? '; time ran out' : ''}`
  )
}

/**
 * The sale of a rehearsal does not end before it is judged, so "ended" is not a valid end. A visitor who waits behind
 * others at the end was told the truth if an order of theirs failed.
 */
function everyoneServed({ visits, orders, cutShort }: Evidence): Check {
  const unpaid = new Set(orders.flatMap((o) => (isLive(o.status) ? [] : o.ticket_number)))
  const behind = visits.filter((s) => s.end === 'others_first')
  const deceived = count(behind, ({ number }) => number === null || !unpaid.has(number))
  const lost = count(visits, (s) => LOST.has(s.end)) + deceived
  const ended = count(visits, (s) => s.end === 'ended')
  return check(
    'nobody lost',
    lost === 0 && !cutShort,
    `${n(lost)} of ${n(visits.length)} visitors without an honest ` +
      `end${ended > 0 ? `, ${n(ended)} of them saw "ended"` : ''}${behind.length > deceived ? `; ${n(behind.length - deceived)} still wait behind others` : ''}${cutShort ? '; time ran out' : ''}`,
  )
}

/**
 * After the first "sold out", no unit may be in a cart, because it might become available again. Rehearsals do not
 * restock. With faults this is not judged by the time of the last payment, because a buyer repeats an accepted
 * payment whose response was lost.
 */
function soldOutWasTrue({ visits, orders, holdMs, inventory, stock, faults }: Evidence): Check {
  const what = 'no "sold out" while units are in carts'
  const seen = visits.flatMap((s) => (s.soldOutSeenMs === null ? [] : [s.soldOutSeenMs]))
  if (seen.length === 0 || inventory.total > stock) return check(what, null, 'nobody saw it')
  if (faults) return check(what, null, 'not judged with faults')
  const firstMs = seen.reduce((first, ms) => Math.min(first, ms))
  // A payment that waits for its buyer holds the unit for at least as long.
  const ranOut = ({ status, reason }: LedgerOrder) => status === 'expired' || reason === 'not_authenticated'
  const unpaid = new Set(orders.filter(ranOut).map((o) => o.order_id))
  const late = count(visits, (s) => inCartUntilMs(s, unpaid, holdMs) > firstMs)
  return check(
    what,
    late === 0,
    `${n(seen.length)} saw it; after the first, ${n(late)} orders were still reserved, held or paid for`,
  )
}

/** The time until which a visitor's unit was certainly in their cart: reserved, paid, or still held. */
function inCartUntilMs(visit: VisitRecord, unpaid: ReadonlySet<string>, holdMs: number): number {
  const { order, reserveSentMs, paidSentMs } = visit
  if (order === null || reserveSentMs === null) return Number.NEGATIVE_INFINITY
  const ranOut = unpaid.has(order) ? reserveSentMs + holdMs - HOLD_MARGIN_MS : reserveSentMs
  return Math.max(ranOut, reserveSentMs, paidSentMs ?? 0)
}

/** It includes an order that was only "processing", because its buyer polled until another response replaced it. */
function ordersRecorded({ visits }: Evidence, orders: Orders): Check {
  const shown = visits.filter((s) => s.order !== null)
  const recorded = shown.map((s) => ({ number: s.number, row: orders.get(s.order ?? '') }))
  const lost = count(recorded, ({ row }) => !row)
  const others = count(recorded, ({ row, number }) => row !== undefined && row.ticket_number !== number)
  return check(
    'every order in a response is in the ledger',
    ifAny(shown.length, lost + others === 0),
    `${n(shown.length)} orders, ${n(lost)} not in the ledger, ${n(others)} of somebody else`,
  )
}

/** Confirmed orders that an operator changed are judged separately. */
function ordersEndAsShown({ visits, operator }: Evidence, orders: Orders): Check {
  const shown = visits.filter((s) => s.order !== null || ORDER_ENDS[s.end])
  const otherwise = count(shown, ({ end, order, statuses, declines, method }) => {
    const given = operator.orders.has(order ?? '') && { status: 'confirmed', reason: null }
    const { status, reason } = given || (orders.get(order ?? '') ?? { status: '', reason: null })
    const isRight = (ORDER_ENDS[end] ?? /./).test(status) && (status !== 'cancelled' || isReasonOf(end, reason))
    const mayBeDeclined = declines > 0 || (method !== null && PAID_ENDS[method] === 'declined')
    return !isRight || !follows(statuses, status, mayBeDeclined)
  })
  return check(
    'orders end as their buyers saw',
    ifAny(shown.length, otherwise === 0),
    `${n(shown.length)} orders, ${n(otherwise)} ended otherwise or moved back`,
  )
}

/** Responses to concurrent calls may overtake each other, so each status is compared only with the last. */
const follows = (statuses: readonly string[], last: string, mayBeDeclined: boolean) =>
  statuses.every(
    (status) => status === last || AFTER[mayBeDeclined && status === 'paying' ? 'declined paying' : status]?.test(last),
  )

const isReasonOf = (end: End, reason: string | null) => (REASONS[end] ?? reason) === reason
const REASONS: Partial<Record<End, string>> = {
  declined: 'declined',
  payment_timeout: 'payment_timeout',
  unauthenticated: 'not_authenticated',
  cancelled: 'given_back',
}

/**
 * An accepted payment ends as its method does, never by expiry, and a buyer who pays in time is accepted. A declined
 * one returns the order to its hold, which may be over. With faults the provider, the bank or the shop may be
 * unreachable until the order is cancelled, the hold may end while nobody responds, and an interrupted call that is
 * repeated uses one more attempt.
 */
function acceptedPaymentsEnd({ visits, holdMs, faults }: Evidence): Check {
  const paid = visits.filter((s) => s.paidSentMs !== null)
  const broken = count(paid, ({ method, end, declines }) => {
    if (method === null || end === PAID_ENDS[method]) return false
    if (PAID_ENDS[method] === 'declined' && end === 'expired') return false
    const isOutage = end === 'payment_timeout' || end === 'unauthenticated' || (declines > 0 && end !== 'bought')
    return !(faults && isOutage)
  })
  const inTime = ({ payMeantMs, reserveSentMs }: VisitRecord) =>
    payMeantMs !== null && payMeantMs < (reserveSentMs ?? 0) + holdMs - HOLD_MARGIN_MS
  const unheard = faults ? 0 : count(visits, (s) => s.end === 'expired' && s.paidSentMs === null && inTime(s))
  return check(
    'accepted payments end as their method does',
    ifAny(paid.length + unheard, broken === 0 && unheard === 0),
    `${n(paid.length)} accepted, ${n(broken)} ended otherwise; ${n(unheard)} came in time and were not accepted ` +
      'before the hold ended',
  )
}

/** A live order that no client knows is a unit sold to nobody. */
function noUnknownOrders({ visits, orders, attackers }: Evidence): Check {
  const known = new Set(visits.map((s) => s.order))
  const isKnown = (order: string) => known.has(order) || attackers?.orders.has(order)
  const unknown = count(orders, (o) => isLive(o.status) && !isKnown(o.order_id))
  return check(
    'no live order unknown to its buyer',
    ifAny(orders.length, unknown === 0),
    `${n(orders.length)} orders in the ledger, ${n(unknown)} live and unknown to the crowd`,
  )
}

function limitKept({ orders, limit }: Evidence): Check {
  const units = new Map<string, number>()
  for (const o of orders) if (isLive(o.status)) units.set(o.visitor, (units.get(o.visitor) ?? 0) + o.quantity)
  const over = count([...units.values()], (of) => of > limit)
  return check(
    'no visitor over the limit',
    ifAny(units.size, over === 0),
    `${n(units.size)} visitors with live orders, ${n(over)} with more than ${limit}`,
  )
}

/** A charge in one of these states must be voided, refunded or declined if its order is not sold. */
const OPEN_OR_CAPTURED = /^(requires_action|authorized|captured)$/

function chargedOnce({ charges, currency: of, ownSystem }: Evidence, orders: Orders): Check {
  const what = 'charged once, and only for sold orders'
  if ('unread' in charges) return check(what, ownSystem ? false : null, `the provider's records: ${charges.unread}`)
  const sold = [...orders.values()].filter((o) => isSold(o.status))
  // The charge was voided before it was captured.
  const isRefunded = (c: Charge) =>
    c.recorded && /^(refunded|cancelled)$/.test(c.status) && orders.get(c.order)?.status === 'refunded'
  const paid = charges.filter((c) => OPEN_OR_CAPTURED.test(c.status) || isRefunded(c))
  const once = new Set(paid.map((c) => c.order))
  const taken = paid.filter((c) => (c.recorded && c.status === 'captured') || isRefunded(c))
  const captured = new Set(taken.map((c) => c.order))
  const twice = paid.length - once.size
  const unsold = count([...once], (order) => !isSold(orders.get(order)?.status))
  const unknown = count(charges, (c) => !orders.has(c.order))
  const otherAmount = count(charges, ({ order, amount_minor, currency }) => {
    const total = orders.get(order)?.total_minor
    return total !== undefined && (amount_minor !== total || currency !== of)
  })
  const unpaid = count(sold, (o) => !captured.has(o.order_id))
  return check(
    what,
    ifAny(charges.length + sold.length, twice + unsold + unknown + otherAmount + unpaid === 0),
    `${n(paid.length)} charges for ${n(sold.length)} sold; ${n(twice)} twice, ${n(unsold)} not for a sold ` +
      `order, ${n(unknown)} for unknown orders, ${n(otherAmount)} of another amount, ${n(unpaid)} unpaid`,
  )
}
