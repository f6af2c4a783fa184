/** Describes each entry of an order's history in words. Pure. */

import type { CANCEL_REASONS } from '../../../../../shared/api/order-status.ts'
import { money } from '../../../../../shared/format.ts'
import type { Entry, Order } from './order.ts'

interface Described {
  readonly title: string
  readonly text: string
  /** The entry is red only if it is an error. */
  readonly isWrong: boolean
}

const EVENTS: Readonly<Record<string, string>> = {
  'order.reserved': 'Reserved',
  'order.paying': 'Payment begun',
  'order.declined': 'Payment declined',
  'order.confirmed': 'Paid',
  'order.fulfilled': 'Handed over',
  'order.moved': 'Got another seat',
  'order.expired': 'The hold ended, unpaid',
  'order.cancelled': 'Cancelled',
  'order.lines_cancelled': 'Lines cancelled',
  'order.refunded': 'Refunded',
  'order.refund_failed': 'A refund came back from the bank',
  'order.units_returned': 'Units back on sale',
}

const REASONS: Readonly<Record<(typeof CANCEL_REASONS)[number], string>> = {
  given_back: 'given back by the buyer',
  declined: 'the payment was declined',
  not_authenticated: 'not confirmed with the bank in time',
  payment_timeout: 'the provider did not respond in time',
  oversold: 'more was sold than there is',
  blocked: 'the buyer is blocked',
  by_shop: 'cancelled by the shop',
  no_stock: 'no unit was left',
  seat_taken: 'a seat was taken',
  price_changed: 'the price had changed',
  limit: 'the limit per visitor was used up',
  replay: 'another order had the same key',
  too_many: 'too many earlier orders were not paid',
}

/** Describes a known reason in words; an operator's text stays unchanged. */
export const reasonInWords = (reason: string) => (REASONS as Readonly<Record<string, string>>)[reason] ?? reason

const words = (value: unknown) => String(value).replaceAll('_', ' ')
const attempts = (value: unknown) => (Number(value) > 1 ? `attempt ${value}` : '')
const linesIn = ({ lines }: Entry['detail']) =>
  Array.isArray(lines) && `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}`
const together = (...parts: readonly unknown[]) =>
  parts.filter((part) => part !== null && part !== undefined && part !== '' && part !== false).join(', ')

export function describe({ kind, what, by, detail }: Entry, order: Pick<Order, 'currency' | 'total_minor'>): Described {
  const amount = (minor: unknown) => money('en', Number(minor), order.currency)
  const isWrong = what === 'dead' || what === 'order.declined'
  const says = (title: string, ...text: readonly unknown[]): Described => ({ title, text: together(...text), isWrong })
  switch (kind) {
    case 'event': {
      const title = EVENTS[what] ?? what
      if (what === 'order.reserved') return says(title, detail.ticket_number && `ticket number ${detail.ticket_number}`)
      if (what === 'order.paying' && detail.action) return says('The bank asks the buyer to confirm')
      if (what === 'order.refunded')
        return says(title, detail.refunded_minor !== undefined && `${amount(detail.refunded_minor)} in all`)
      if (what === 'order.lines_cancelled' || what === 'order.units_returned') return says(title, linesIn(detail))
      const code = detail.decline_code === 'declined' ? '' : detail.decline_code
      return says(title, code && words(code), detail.reason && reasonInWords(String(detail.reason)))
    }
    case 'capture':
      return says(what === 'captured' ? 'Money taken' : 'Capture of the charge asked for', detail.charge_id)
    case 'refund': {
      const how = detail.amount_minor === null ? 'whatever was left' : amount(detail.amount_minor)
      const title = what === 'refunded' ? 'The provider gave the money back' : 'Refund asked for'
      const back = detail.restock === true && 'units back on sale'
      return says(title, how, by && `by ${by}`, linesIn(detail), detail.reason, back)
    }
    case 'delivery':
      return says(
        `Webhook ${detail.type} ${what}`,
        detail.status && `status ${detail.status}`,
        attempts(detail.attempts),
        detail.error,
      )
    case 'mail':
      return says(`Mail about ${detail.type} ${what}`, attempts(detail.attempts), detail.error)
    case 'action':
      return says(`${words(what)}, by ${by}`, changeOf(detail, amount))
    case 'note':
      return says(`Note by ${by}`, what)
  }
}

/** The fields of an audit entry that differ, with their new values. */
function changeOf({ after }: Entry['detail'], amount: (minor: unknown) => string): string {
  if (after === null || typeof after !== 'object') return ''
  return Object.entries(after)
    .filter(([name, value]) => name !== 'refund' && value !== false)
    .map(([name, value]) => {
      if (name.endsWith('_minor')) return `${words(name.slice(0, -'_minor'.length))}: ${amount(value)}`
      return `${words(name)}: ${typeof value === 'object' ? JSON.stringify(value) : words(value)}`
    })
    .join(', ')
}
