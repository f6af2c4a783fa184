/** An order as the operators' API returns it, and what follows from it. Pure. */
import type { AsJson, HistoryEntry, OrderTimeline } from '../../../../../shared/api/operator.ts'

export type Entry = AsJson<HistoryEntry>
export type Order = AsJson<OrderTimeline>

/** Refunds that were asked for and that the provider has not confirmed yet. */
export function openRefunds({ history }: Pick<Order, 'history'>): readonly Entry[] {
  const refunds = history.filter(({ kind }) => kind === 'refund')
  const done = new Set(refunds.flatMap(({ what, detail }) => (what === 'refunded' ? [detail.refund_id] : [])))
  return refunds.filter(({ what, detail }) => what === 'requested' && !done.has(detail.refund_id))
}

/** What can still be refunded: the price, less what went back and what is on its way. */
export function restMinor(order: Order): number {
  const left = order.total_minor - order.refunded_minor
  const open = openRefunds(order)
  // Without an amount: all that was left.
  if (open.some(({ detail }) => detail.amount_minor === null)) return 0
  return Math.max(0, left - open.reduce((sum, { detail }) => sum + Number(detail.amount_minor), 0))
}

/** Whether anything is still to happen by itself. */
export function isPending(order: Order): boolean {
  const { status, history } = order
  if (status === 'processing' || status === 'reserved' || status === 'paying') return true
  const captures = history.filter(({ kind }) => kind === 'capture')
  const isCapturing = captures.length > 0 && !captures.some(({ what }) => what === 'captured')
  const isSending = history.some(({ kind, what }) => (kind === 'delivery' || kind === 'mail') && what === 'pending')
  return isCapturing || isSending || openRefunds(order).length > 0
}

/** The account of a visitor who was signed in. */
export const accountOf = (visitor: string) => (visitor.startsWith('user:') ? visitor.slice('user:'.length) : null)

type Line = Order['lines'][number]

/** One line of units of a product, as most orders are. */
export const isPlain = ({ lines }: Pick<Order, 'lines'>) => lines.length <= 1 && lines[0]?.section_id === undefined

export const lineInWords = ({ name, row, number, quantity }: Pick<Line, 'name' | 'row' | 'number' | 'quantity'>) =>
  row === undefined ? `${quantity} × ${name}` : `${name}, row ${row}, seat ${number}`

/** What it is for: its one product, or how much of it there is. */
export function goodsOf(order: Pick<Order, 'lines' | 'quantity' | 'product_name'>): string {
  const [first] = order.lines
  if (isPlain(order) || !first) return `${order.quantity} × ${order.product_name}`
  const others = order.lines.length - 1
  return `${lineInWords(first)}${others > 0 ? `, and ${others} more ${others === 1 ? 'line' : 'lines'}` : ''}`
}
