/** Calculations on an order as the operators' API returns it. Pure. */
import type { Address } from '../../../../../shared/api/goods.ts'
import type { AsJson, FoundOrder, HistoryEntry, OrderTimeline } from '../../../../../shared/api/operators/answers.ts'
import type { OrderLine } from '../../../../../shared/api/public.ts'
import type { Mark } from '../../sheet/marks.tsx'

export type Entry = AsJson<HistoryEntry>
export type Order = AsJson<OrderTimeline>

/** The refunds that were requested and that the provider has not confirmed yet. */
export function openRefunds({ history }: Pick<Order, 'history'>): readonly Entry[] {
  const refunds = history.filter(({ kind }) => kind === 'refund')
  const done = new Set(refunds.flatMap(({ what, detail }) => (what === 'refunded' ? [detail.refund_id] : [])))
  return refunds.filter(({ what, detail }) => what === 'requested' && !done.has(detail.refund_id))
}

/** The amount that can still be refunded: the price without completed and open refunds. */
export function restMinor(order: Order): number {
  const left = order.total_minor - order.refunded_minor
  const open = openRefunds(order)
  // A refund without an amount returns all that was left.
  if (open.some(({ detail }) => detail.amount_minor === null)) return 0
  return Math.max(0, left - open.reduce((sum, { detail }) => sum + Number(detail.amount_minor), 0))
}

/**
 * The highest refund for these lines. With the last lines it includes the charges of the whole order. Without lines
 * it is all that is left.
 */
export function proposedMinor(order: Order, chosen: readonly number[]): number {
  const rest = restMinor(order)
  if (chosen.length === 0) return rest
  const costOf = (lines: Order['lines']) => lines.reduce((sum, { cost_minor }) => sum + cost_minor, 0)
  const cost = costOf(order.lines.filter(({ line }) => chosen.includes(line)))
  const isLast = chosen.length === openLines(order).length
  return Math.min(rest, isLast ? cost + order.total_minor - costOf(order.lines) : cost)
}

/** The lines that are neither returned nor part of a refund. */
export function openLines({ lines, history }: Pick<Order, 'lines' | 'history'>): Order['lines'] {
  const named = new Set(
    history.flatMap(({ kind, detail }) => (kind === 'refund' ? ((detail.lines ?? []) as number[]) : [])),
  )
  return lines.filter(({ line, status }) => status !== 'returned' && !named.has(line))
}

/** The name of a line, for example `2 × Cap`, or `Stalls, row A, seat 7`. */
export function lineName({ name, quantity, row, number, seat_id }: OrderLine): string {
  if (seat_id !== undefined) return `${name}, row ${row ?? ''}, seat ${number ?? seat_id}`
  return `${quantity} × ${name}`
}

interface Bought {
  readonly lines: readonly OrderLine[]
  readonly product_name: string
}

/** Summarises an order as its first line and the number of the others. */
export function boughtIn({ lines, product_name }: Bought): string {
  const [first, ...others] = lines
  if (!first) return product_name
  return `${lineName(first)}${others.length > 0 ? ` and ${others.length} more` : ''}`
}

/** True if the order is expected to change without an operator. */
export function isPending(order: Order): boolean {
  const { status, history } = order
  if (status === 'processing' || status === 'reserved' || status === 'paying') return true
  const captures = history.filter(({ kind }) => kind === 'capture')
  const isCapturing = captures.length > 0 && !captures.some(({ what }) => what === 'captured')
  const isSending = history.some(({ kind, what }) => (kind === 'delivery' || kind === 'mail') && what === 'pending')
  return isCapturing || isSending || openRefunds(order).length > 0
}

const ORDINALS = ['first', 'second', 'third']
/** The number in words, as far as there are payment attempts. */
export const ordinal = (n: number) => ORDINALS[n - 1] ?? `${n}th`

type Stated = Pick<FoundOrder, 'status' | 'is_parcel' | 'refunded_minor' | 'refunding_minor'>

/** The state of an order as a mark and in words. */
export function stateOf({ status, is_parcel, refunded_minor, refunding_minor }: Stated): readonly [Mark, string] {
  if (refunding_minor !== 0) return ['watch', 'Refund under way']
  const part = refunded_minor > 0 ? ', in part refunded' : ''
  switch (status) {
    case 'processing':
      return ['info', 'Being recorded']
    case 'reserved':
      return ['info', 'Held']
    case 'paying':
      return ['info', 'Being paid']
    case 'confirmed':
      return ['good', `Paid${part}`]
    case 'fulfilled':
      return ['good', `${is_parcel ? 'Sent' : 'Handed over'}${part}`]
    case 'expired':
      return ['off', 'Not paid in time']
    case 'cancelled':
      return ['off', 'Cancelled']
    case 'refunded':
      return ['off', 'Refunded']
  }
}

/** The account of a signed-in visitor. */
export const accountOf = (visitor: string) => (visitor.startsWith('user:') ? visitor.slice('user:'.length) : null)

/** The address as written on a parcel, followed by the buyer's other details. */
export function addressLines({
  name,
  company,
  street,
  line2,
  postcode,
  city,
  region,
  country,
  phone,
  note,
}: Address): string[] {
  const town = [postcode, city].filter(Boolean).join(' ')
  return [name, company, street, line2, town, region, country, phone, note].filter(
    (line) => line !== undefined && line !== '',
  ) as string[]
}
