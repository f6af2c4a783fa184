/** Checks of stock, orders and money: what buyers received against the ledger and the provider's records. */
import { isLive, isSold } from '../../shared/order-status.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, count, ifAny } from './check.ts'
import { type End, type Evidence, type LedgerOrder, PAID_ENDS, type Story } from './evidence.ts'

type Orders = ReadonlyMap<string, LedgerOrder>

/** Paying this long before the hold ends is in time; and no hold ends this much too early. */
const HOLD_MARGIN_MS = 1_000
const ORDER_ENDS: Partial<Record<End, RegExp>> = {
  bought: /^(confirmed|fulfilled)$/,
  declined: /^cancelled$/,
  payment_timeout: /^cancelled$/,
  cancelled: /^(cancelled|expired)$/,
  abandoned: /^expired$/,
  expired: /^expired$/,
}
/** Which statuses may follow each. */
const AFTER: Readonly<Record<string, RegExp>> = {
  processing: /./,
  reserved: /^(paying|confirmed|fulfilled|expired|cancelled)$/,
  paying: /^(confirmed|fulfilled|cancelled)$/,
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
 * If anyone saw "sold out", every unit is sold. However it ended, the ledger's sum is right, nothing is held, and the
 * clients who saw "confirmed" have exactly the units sold.
 */
function soldExactly({ stock, stories, inventory, attackers }: Evidence): Check {
  const buyers = stories.filter((s) => s.end === 'bought')
  const bought = buyers.reduce((units, s) => units + s.quantity, 0)
  const toBots = (attackers?.gains ?? []).reduce((units, gain) => units + gain.bought, 0)
  const refused = count(stories, (s) => s.end === 'sold_out')
  const { total, available, held, sold } = inventory
  const right =
    total === stock &&
    available + held + sold === total &&
    available >= 0 &&
    held === 0 &&
    sold === (refused > 0 ? stock : bought + toBots) &&
    bought + toBots === sold
  const anyServed = buyers.length + refused > 0
  const anyWilling = stories.some((s) => s.method !== null && PAID_ENDS[s.method] === 'bought')
  return check(
    'sold exactly',
    right && !anyServed && !anyWilling ? null : right && anyServed,
    `${n(sold)} sold of ${n(stock)}, ${n(bought)} confirmed to clients${toBots > 0 ? `, ${n(toBots)} to attackers` : ''}; ${n(held)} held, ${n(available)} left; ${n(refused)} saw "sold out"`,
  )
}

/** Nobody ends a rehearsal's sale before it is judged, so "ended" is no honest end. */
function everyoneServed({ stories, cutShort }: Evidence): Check {
  const lost = count(stories, (s) => LOST.has(s.end))
  const ended = count(stories, (s) => s.end === 'ended')
  return check(
    'nobody lost',
    lost === 0 && !cutShort,
    `${n(lost)} of ${n(stories.length)} visitors without an honest end${ended > 0 ? `, ${n(ended)} of them saw "ended"` : ''}${cutShort ? '; time ran out' : ''}`,
  )
}

/**
 * From the first "sold out" on, no unit may be in a cart: it might come back. Rehearsals do not restock. With faults a buyer
 * sends an accepted payment again when its response is lost, so the time of the last one says nothing.
 */
function soldOutWasTrue({ stories, orders, holdMs, inventory, stock, faults }: Evidence): Check {
  const what = 'no "sold out" while units are in carts'
  const seen = stories.flatMap((s) => (s.soldOutSeenMs === null ? [] : [s.soldOutSeenMs]))
  if (seen.length === 0 || inventory.total > stock) return check(what, null, 'nobody saw it')
  if (faults) return check(what, null, 'not judged with faults')
  const firstMs = seen.reduce((first, ms) => Math.min(first, ms))
  const expired = new Set(orders.filter((o) => o.status === 'expired').map((o) => o.order_id))
  const late = count(stories, (s) => inCartUntilMs(s, expired, holdMs) > firstMs)
  return check(
    what,
    late === 0,
    `${n(seen.length)} saw it; after the first, ${n(late)} orders were still reserved, held or paid for`,
  )
}

/** Until when a visitor's unit was certainly in their cart: reserved, paid for, or still held. */
function inCartUntilMs(story: Story, expired: ReadonlySet<string>, holdMs: number): number {
  const { order, reserveSentMs, paidSentMs } = story
  if (order === null || reserveSentMs === null) return Number.NEGATIVE_INFINITY
  const ranOut = expired.has(order) ? reserveSentMs + holdMs - HOLD_MARGIN_MS : reserveSentMs
  return Math.max(ranOut, reserveSentMs, paidSentMs ?? 0)
}

/** Also an order that was only "processing": its buyer asked on until another response replaced it. */
function ordersRecorded({ stories }: Evidence, orders: Orders): Check {
  const shown = stories.filter((s) => s.order !== null)
  const recorded = shown.map((s) => ({ number: s.number, row: orders.get(s.order ?? '') }))
  const lost = count(recorded, ({ row }) => !row)
  const others = count(recorded, ({ row, number }) => row !== undefined && row.ticket_number !== number)
  return check(
    'every order in a response is in the ledger',
    ifAny(shown.length, lost + others === 0),
    `${n(shown.length)} orders, ${n(lost)} not in the ledger, ${n(others)} of somebody else`,
  )
}

function ordersEndAsShown({ stories }: Evidence, orders: Orders): Check {
  const shown = stories.filter((s) => s.order !== null || ORDER_ENDS[s.end])
  const otherwise = count(shown, ({ end, order, statuses }) => {
    const status = orders.get(order ?? '')?.status ?? ''
    return !(ORDER_ENDS[end] ?? /./).test(status) || !follows(statuses, status)
  })
  return check(
    'orders end as their buyers saw',
    ifAny(shown.length, otherwise === 0),
    `${n(shown.length)} orders, ${n(otherwise)} ended otherwise or moved back`,
  )
}

/** Responses to simultaneous calls may overtake each other, so each status is only held against the last. */
const follows = (statuses: readonly string[], last: string) =>
  statuses.every((status) => status === last || AFTER[status]?.test(last))

/**
 * An accepted payment ends as its method does, never by expiry, and whoever comes to pay in time is accepted. With faults
 * the provider may be out of reach three times, which cancels; and the hold may end while nobody responds.
 */
function acceptedPaymentsEnd({ stories, holdMs, faults }: Evidence): Check {
  const paid = stories.filter((s) => s.paidSentMs !== null)
  const broken = count(
    paid,
    ({ method, end }) => method !== null && end !== PAID_ENDS[method] && !(faults && end === 'payment_timeout'),
  )
  const inTime = ({ payMeantMs, reserveSentMs }: Story) =>
    payMeantMs !== null && payMeantMs < (reserveSentMs ?? 0) + holdMs - HOLD_MARGIN_MS
  const unheard = faults ? 0 : count(stories, (s) => s.end === 'expired' && s.paidSentMs === null && inTime(s))
  return check(
    'accepted payments end as their method does',
    ifAny(paid.length + unheard, broken === 0 && unheard === 0),
    `${n(paid.length)} accepted, ${n(broken)} ended otherwise; ${n(unheard)} came in time and were not accepted before the hold ended`,
  )
}

/** A live order that no client knows of is a unit sold to nobody. */
function noUnknownOrders({ stories, orders, attackers }: Evidence): Check {
  const known = new Set(stories.map((s) => s.order))
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

function chargedOnce({ charges, price, ownSystem }: Evidence, orders: Orders): Check {
  const what = 'charged once, and only for sold orders'
  if ('unread' in charges) return check(what, ownSystem ? false : null, `the provider's records: ${charges.unread}`)
  const sold = [...orders.values()].filter((o) => isSold(o.status))
  const paid = charges.filter((c) => c.status === 'authorized' || c.status === 'captured')
  const once = new Set(paid.map((c) => c.order))
  const captured = new Set(paid.filter((c) => c.status === 'captured' && c.recorded).map((c) => c.order))
  const twice = paid.length - once.size
  const unsold = count([...once], (order) => !isSold(orders.get(order)?.status))
  const unknown = count(charges, (c) => !orders.has(c.order))
  const otherAmount = count(charges, ({ order, amount_minor, currency }) => {
    const { quantity } = orders.get(order) ?? { quantity: 0 }
    return quantity > 0 && (amount_minor !== quantity * price.unit_price_minor || currency !== price.currency)
  })
  const unpaid = count(sold, (o) => !captured.has(o.order_id))
  return check(
    what,
    ifAny(charges.length + sold.length, twice + unsold + unknown + otherAmount + unpaid === 0),
    `${n(paid.length)} charges for ${n(sold.length)} sold; ${n(twice)} twice, ${n(unsold)} not for a sold order, ${n(unknown)} for unknown orders, ${n(otherAmount)} of another amount, ${n(unpaid)} unpaid`,
  )
}
