/** Tells each entry of an order's history in a sentence, with mails and webhooks in words. Pure. */

import type { CANCEL_REASONS } from '../../../../../shared/api/order-status.ts'
import { capital, exactly, money } from '../../../../../shared/format.ts'
import type { IconName } from '../../sheet/icon.tsx'
import type { Mark } from '../../sheet/marks.tsx'
import { describe as describeAction } from '../audit/sentences.ts'
import { boughtIn, type Entry, type Order, ordinal } from './order.ts'

export interface Described {
  readonly title: string
  /** One quiet line below it; empty if there is nothing to add. */
  readonly text: string
  readonly icon: IconName
  /** The mark of what went well, what waits, what is wrong, and what an operator did; empty for all else. */
  readonly level: Extract<Mark, 'good' | 'watch' | 'bad' | 'info'> | ''
}

/** The parts of an order that its timeline needs. */
export type About = Pick<
  Order,
  'currency' | 'total_minor' | 'is_parcel' | 'lines' | 'product_name' | 'card' | 'payment_method' | 'contact'
>

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
  Array.isArray(lines) ? `${lines.length === 1 ? 'line' : 'lines'} ${lines.join(', ')}` : ''
const together = (...parts: readonly unknown[]) =>
  parts.filter((part) => part !== null && part !== undefined && part !== '' && part !== false).join(', ')

/** What a mail or a webhook says of the order, after "says that the order". */
const SAYS: Readonly<Record<string, string>> = {
  'order.reserved': 'is reserved',
  'order.paying': 'is being paid',
  'order.declined': 'was declined by the bank',
  'order.confirmed': 'is paid',
  'order.fulfilled': 'was handed over',
  'order.moved': 'has another seat',
  'order.expired': 'was not paid in time',
  'order.cancelled': 'is cancelled',
  'order.lines_cancelled': 'has fewer lines',
  'order.refunded': 'is refunded',
  'order.refund_failed': 'is not refunded after all',
  'order.units_returned': 'gave units back',
}
const saysOf = (type: unknown, isParcel: boolean) =>
  type === 'order.fulfilled' && isParcel ? 'is sent' : (SAYS[String(type)] ?? `changed (${String(type)})`)

const DONE = { delivered: 'good', sent: 'good', dead: 'bad', pending: 'watch' } as const
const levelOf = (what: string, detail: Entry['detail']): Described['level'] =>
  what === 'pending' && !detail.error ? '' : (DONE[what as keyof typeof DONE] ?? '')

/** The card, such as `Visa •• 4242`, or else the method; empty if nothing has paid. */
export function paidWith({ card, payment_method }: Pick<Order, 'card' | 'payment_method'>): string {
  if (card) return `${capital(card.brand)} •• ${card.last4}`
  return payment_method ?? ''
}

export function describe(entry: Entry, order: About, time: (iso: string) => string): Described {
  const { kind, what, by, detail } = entry
  const amount = (minor: unknown) => money('en', Number(minor), order.currency)
  const says = (icon: IconName, level: Described['level'], title: string, ...text: readonly unknown[]): Described => ({
    title,
    text: together(...text),
    icon,
    level,
  })
  const nextTry = detail.next_at ? `tried again at ${time(String(detail.next_at))}` : ''
  switch (kind) {
    case 'event':
      return event(entry, order, says, amount)
    case 'capture':
      return what === 'captured'
        ? says('card', 'good', 'The money was taken', detail.charge_id)
        : says('card', '', 'The money was asked for', detail.charge_id)
    case 'refund': {
      const how = detail.amount_minor === null ? 'Whatever was left' : amount(detail.amount_minor)
      const back = detail.restock === true && 'units back on sale'
      if (what === 'refunded') return says('undo', 'good', `${how} went back to the buyer`, 'confirmed by the provider')
      const waiting = `${how} is on its way back to the buyer`
      return says('undo', '', waiting, by && `by ${by}`, linesIn(detail), detail.reason, back)
    }
    case 'delivery': {
      const [whom, that] = [
        detail.endpoint ?? 'A deleted endpoint',
        `that the order ${saysOf(detail.type, order.is_parcel)}`,
      ]
      const result = { delivered: 'was told', pending: 'is not told yet', dead: 'was never told' }[what] ?? what
      const more = [detail.error, detail.status && `status ${detail.status}`, attempts(detail.attempts), nextTry]
      return says('hooks', levelOf(what, detail), `${String(whom)} ${result} ${that}`, ...more)
    }
    case 'mail': {
      const state =
        detail.type === 'order.reserved' ? 'is held for 30 seconds more' : saysOf(detail.type, order.is_parcel)
      const that = `says that the order ${state}`
      const title = {
        sent: `A mail ${that}`,
        pending: `A mail that ${that} waits to be sent`,
        dead: `A mail that ${that} was given up`,
      }[what]
      const to = order.contact?.email && `to ${order.contact.email}`
      return says('mail', levelOf(what, detail), title ?? what, to, detail.error, attempts(detail.attempts), nextTry)
    }
    case 'action': {
      const about = { product_id: null, product_name: null, currency: order.currency, is_parcel: order.is_parcel }
      const { before, after } = detail
      const { sentence } = describeAction({ action: what, before, after, ...about })
      return says('people', 'info', `${by ?? 'Somebody'} ${sentence ?? words(what)}`)
    }
    case 'note':
      return says('note', 'info', `Note by ${by}`, what)
  }
}

type Says = (icon: IconName, level: Described['level'], title: string, ...text: readonly unknown[]) => Described

function event({ at, what, detail }: Entry, order: About, says: Says, amount: (minor: unknown) => string): Described {
  const code = detail.decline_code && detail.decline_code !== 'declined' ? words(detail.decline_code) : ''
  const reason = detail.reason && reasonInWords(String(detail.reason))
  switch (what) {
    case 'order.reserved': {
      const seconds = Math.round((Date.parse(String(detail.reserved_until)) - Date.parse(at)) / 1000)
      const held = seconds > 0 ? `, for ${exactly('en', seconds)}` : ''
      return says(
        'box',
        '',
        `Reserved ${boughtIn(order)}${held}`,
        detail.ticket_number && `ticket number ${detail.ticket_number}`,
      )
    }
    case 'order.paying':
      return detail.action
        ? says('bank', '', 'The bank asks the buyer to confirm')
        : says('card', '', 'The payment began')
    case 'order.declined':
      return says('bad', 'watch', 'The payment was declined', code, reason)
    case 'order.confirmed': {
      const attempt = detail.attempts ? `at the ${ordinal(Number(detail.attempts))} attempt` : ''
      const method = paidWith(order)
      return says('check', 'good', 'Paid', method && `with ${method}`, attempt)
    }
    case 'order.fulfilled':
      return says('truck', 'good', order.is_parcel ? 'Sent' : 'Handed over')
    case 'order.moved':
      return says('hall', '', 'Got another seat')
    case 'order.expired':
      return says('clock', '', 'The hold ended, unpaid')
    case 'order.cancelled':
      return says('ban', '', 'Cancelled', code, reason)
    case 'order.lines_cancelled':
      return says('ban', '', 'Lines cancelled', linesIn(detail))
    case 'order.refunded':
      return says(
        'undo',
        '',
        'Refunded',
        detail.refunded_minor !== undefined && `${amount(detail.refunded_minor)} in all`,
      )
    case 'order.refund_failed':
      return says('bad', 'bad', 'A refund came back from the bank', code, reason)
    case 'order.units_returned':
      return says('box', '', 'Units back on sale', linesIn(detail))
    default:
      return says('note', '', words(what), code, reason)
  }
}

/** The entry that an operator's action made, by the action's name: it says the same, so one of both is enough. */
const MADE: Readonly<Record<string, string>> = {
  cancelled: 'order.cancelled',
  blocked: 'order.cancelled',
  fulfilled: 'order.fulfilled',
  'lines cancelled': 'order.lines_cancelled',
  'units returned': 'order.units_returned',
  'refund requested': 'requested',
}
/** Both are written in one transaction, whose entries differ by less than this. */
const TOGETHER_MS = 1_000

/** The history, the newest entry first. Unless `isWhole`, an event that an operator's action tells of is left out. */
export function storyOf(history: readonly Entry[], isWhole: boolean): readonly Entry[] {
  const actions = history.filter(({ kind }) => kind === 'action')
  const isTold = (one: Entry) =>
    (one.kind === 'event' || one.kind === 'refund') &&
    actions.some(
      ({ what, at }) => MADE[what] === one.what && Math.abs(Date.parse(at) - Date.parse(one.at)) < TOGETHER_MS,
    )
  return history.filter((one) => isWhole || !isTold(one)).toReversed()
}
