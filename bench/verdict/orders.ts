/** What is checked of stock, orders and money: what buyers were told against the ledger and the provider's records. */
import { isLive, isSold } from '../../shared/order-status.ts'
import { n } from '../lib/figures.ts'
import { type Check, check, count, ifAny } from './check.ts'
import { type End, type Evidence, type LedgerOrder, PAID_ENDS, type Story } from './story.ts'

/** Whoever comes to pay so long before their hold is over has come in time; and no hold ends so much too soon. */
const HOLD_MARGIN_MS = 1_000
const ORDER_ENDS: Partial<Record<End, RegExp>> = {
  bought: /^(confirmed|fulfilled)$/,
  declined: /^cancelled$/,
  payment_timeout: /^cancelled$/,
  abandoned: /^expired$/,
  expired: /^expired$/,
}

/**
 * If anyone was told "sold out" every unit must be sold; and however it ended, the ledger's sum must be right, nothing
 * may be held any more, and the clients who were told "confirmed" must be exactly those who have the units. A sale that
 * served nobody has sold nothing exactly.
 */
export function soldExactly({ stock, stories, inventory }: Evidence): Check {
  const bought = count(stories, (s) => s.end === 'bought')
  const refused = count(stories, (s) => s.end === 'sold_out')
  const { total, available, held, sold } = inventory
  const wanted = refused > 0 ? stock : bought
  const right =
    total === stock &&
    available + held + sold === total &&
    available >= 0 &&
    held === 0 &&
    sold === wanted &&
    bought === sold
  const anyServed = bought + refused > 0
  const anyWilling = stories.some((s) => s.method === 'pm_ok')
  return check(
    'sold exactly',
    right && !anyServed && !anyWilling ? null : right && anyServed,
    `${n(sold)} sold of ${n(stock)}, ${n(bought)} clients told so; ${n(held)} held, ${n(available)} left; ${n(refused)} told "sold out"`,
  )
}

/** Nobody ends a rehearsal's sale before its verdict: to be told that it has ended is no honest end. */
export function everyoneAnswered({ stories, cutShort }: Evidence): Check {
  const lost = count(stories, (s) => LOST.has(s.end))
  const ended = count(stories, (s) => s.end === 'ended')
  return check(
    'nobody lost',
    lost === 0 && !cutShort,
    `${n(lost)} of ${n(stories.length)} visitors without an honest end${ended > 0 ? `, ${n(ended)} of them told that it had ended` : ''}${cutShort ? '; time ran out' : ''}`,
  )
}

const LOST: ReadonlySet<End> = new Set(['failed', 'gave_up', 'missed_turn', 'ended'])

/** From the first "sold out" on, no unit may be in anyone's cart: it might come back. Restocks are not rehearsed. */
export function soldOutWasTrue({ stories, orders, holdMs, inventory, stock }: Evidence): Check {
  const what = 'nobody told "sold out" while units were in carts'
  const told = stories.flatMap((s) => (s.soldOutToldMs === null ? [] : [s.soldOutToldMs]))
  if (told.length === 0 || inventory.total > stock) return check(what, null, 'nobody was told so')
  const firstMs = told.reduce((first, ms) => Math.min(first, ms))
  const expired = new Set(orders.filter((o) => o.status === 'expired').map((o) => o.order_id))
  const late = count(stories, (s) => inCartUntilMs(s, expired, holdMs) > firstMs)
  return check(
    what,
    late === 0,
    `${n(told.length)} told; after the first of them ${n(late)} units were still reserved, held or paid for`,
  )
}

/** Until when a visitor's unit was certainly in their cart: it was reserved, or paid for, or its hold ran out, after this. */
function inCartUntilMs(story: Story, expired: ReadonlySet<string>, holdMs: number): number {
  const { order, reserveSentMs, paidSentMs } = story
  if (order === null || reserveSentMs === null) return Number.NEGATIVE_INFINITY
  const ranOut = expired.has(order) ? reserveSentMs + holdMs - HOLD_MARGIN_MS : reserveSentMs
  return Math.max(ranOut, reserveSentMs, paidSentMs ?? 0)
}

export function reservedIsRecorded({ stories }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  let told = 0
  let lost = 0
  let anothers = 0
  for (const story of stories) {
    if (story.order === null || story.orderStatus === 'processing') continue
    told++
    const recorded = orders.get(story.order)
    if (!recorded) lost++
    else if (recorded.ticket_number !== story.number) anothers++
  }
  return check(
    'nobody told "reserved" without an order',
    ifAny(told, lost === 0 && anothers === 0),
    `${n(told)} told, ${n(lost)} without an order in the ledger, ${n(anothers)} with someone else's`,
  )
}

export function endsAreTrue({ stories }: Evidence, orders: ReadonlyMap<string, LedgerOrder>): Check {
  let judged = 0
  let untrue = 0
  for (const story of stories) {
    const wanted = ORDER_ENDS[story.end]
    if (!wanted) continue
    judged++
    if (story.order === null || !wanted.test(orders.get(story.order)?.status ?? '')) untrue++
  }
  return check(
    'orders ended as their owners were told',
    ifAny(judged, untrue === 0),
    `${n(judged)} orders, ${n(untrue)} ended otherwise`,
  )
}

/** A payment that was accepted ends as its method does, never by expiring; and who comes to pay in time is accepted. */
export function paidIsServed({ stories, holdMs }: Evidence): Check {
  const paid = stories.filter((s) => s.paidSentMs !== null)
  const broken = count(paid, (s) => s.method !== null && s.end !== PAID_ENDS[s.method])
  const unheard = count(
    stories,
    ({ end, paidSentMs, payMeantMs, reserveSentMs }) =>
      end === 'expired' &&
      paidSentMs === null &&
      payMeantMs !== null &&
      payMeantMs < (reserveSentMs ?? 0) + holdMs - HOLD_MARGIN_MS,
  )
  return check(
    'payments came to what they were',
    ifAny(paid.length + unheard, broken === 0 && unheard === 0),
    `${n(paid.length)} accepted, ${n(broken)} of them ended otherwise; ${n(unheard)} more came in time and were not accepted before their hold was over`,
  )
}

/** An order in the ledger that none of its clients was told of is a unit sold to nobody. */
export function nothingUnasked(
  { stories, orders: all }: Evidence,
  orders: ReadonlyMap<string, LedgerOrder>,
): Check {
  const told = new Set(stories.flatMap((s) => (s.order === null ? [] : [s.order])))
  const unasked = count(all, (o) => isLive(o.status) && !told.has(o.order_id))
  return check(
    'no live order that nobody was told of',
    ifAny(orders.size, unasked === 0),
    `${n(orders.size)} orders in the ledger, ${n(unasked)} live and unknown to the crowd`,
  )
}

export function limitKept({ orders, limit }: Evidence): Check {
  const units = new Map<string, number>()
  for (const o of orders) if (isLive(o.status)) units.set(o.visitor, (units.get(o.visitor) ?? 0) + o.quantity)
  const over = count([...units.values()], (of) => of > limit)
  return check(
    'no visitor over the limit',
    ifAny(units.size, over === 0),
    `${n(units.size)} visitors with live orders, ${n(over)} with more than ${limit}`,
  )
}

export function chargedOnce(
  { charges, price, ownSystem }: Evidence,
  orders: ReadonlyMap<string, LedgerOrder>,
): Check {
  const what = 'charged once, and only for what was sold'
  if ('unread' in charges)
    return check(what, ownSystem ? false : null, `the provider's records: ${charges.unread}`)
  const sold = [...orders.values()].filter((o) => isSold(o.status))
  const paid = charges.filter((c) => c.status === 'authorized' || c.status === 'captured')
  const once = new Set(paid.map((c) => c.order))
  const captured = new Set(paid.filter((c) => c.status === 'captured').map((c) => c.order))
  const twice = paid.length - once.size
  const wrong = count([...once], (order) => !isSold(orders.get(order)?.status))
  const unknown = count(charges, (c) => !orders.has(c.order))
  const amiss = count(charges, ({ order, amount_minor, currency }) => {
    const { quantity } = orders.get(order) ?? { quantity: 0 }
    return quantity > 0 && (amount_minor !== quantity * price.unit_price_minor || currency !== price.currency)
  })
  const unpaid = count(sold, (o) => !captured.has(o.order_id))
  return check(
    what,
    ifAny(charges.length + sold.length, twice + wrong + unknown + amiss + unpaid === 0),
    `${n(paid.length)} charges for ${n(sold.length)} sold; ${n(twice)} twice, ${n(wrong)} for nothing, ${n(unknown)} for unknown orders, ${n(amiss)} of another amount, ${n(unpaid)} unpaid`,
  )
}
