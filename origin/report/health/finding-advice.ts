/**
 * Describes for each kind of finding what an operator should do, what buyers notice, and which page to open. Pure.
 */
import type { Level, Place } from '../../../shared/api/operators/live.ts'
import type { FindingKind } from '../../findings/finding-queries.ts'
import { reasonOf } from '../../webhooks/failure.ts'

/** The parts of a finding that a page can show. */
export interface About {
  readonly saleId: string
  readonly orderId: string | null
}

interface Advice {
  readonly level: Exclude<Level, 'good'>
  readonly advice: string
  readonly place: (about: About) => Place
}

/** Why a finding is so, as far as it says it: for an endpoint in words, for the rest as the error says it. */
export function reasonIn(kind: string, detail: unknown, ofEndpoint = reasonOf): string | null {
  const { error } = (detail ?? {}) as { readonly error?: unknown }
  if (typeof error !== 'string') return null
  return kind === 'webhook_failed' ? ofEndpoint(error) : error
}

const stock = (): Place => ({ text: 'Go to the stock', href: '#stock' })
const parts = (): Place => ({ text: 'See all parts', href: '#parts' })
const order = ({ saleId, orderId }: About): Place =>
  orderId === null
    ? { text: 'Open the orders', href: `/console/orders?sale=${encodeURIComponent(saleId)}` }
    : { text: 'Open the order', href: `/console/orders/${encodeURIComponent(orderId)}` }
const search = ({ orderId }: About): Place => ({
  text: 'Search the orders',
  href: `/console/orders?q=${encodeURIComponent(orderId ?? '')}`,
})
const scheduled = ({ saleId }: About): Place => ({
  text: 'Open Scheduled',
  href: `/console/sales/${encodeURIComponent(saleId)}/scheduled`,
})
const queues = (queue: string) => (): Place => ({ text: 'Open Queues', href: `/console/queues#${queue}` })
const webhooks = (): Place => ({ text: 'Open Webhooks', href: '/console/webhooks' })
const watch = (advice: string, place: Advice['place']): Advice => ({ level: 'watch', advice, place })

export const FINDING_ADVICE: Readonly<Record<string, Advice>> & Readonly<Record<FindingKind | 'unknown', Advice>> = {
  fenced: watch('Nothing to do: the gate is rebuilt from Postgres within seconds.', parts),
  assertion_failed: {
    level: 'bad',
    advice: 'A state that cannot be: the call was refused. Report the sentence; the log has the place in the code.',
    place: parts,
  },
  evicting: {
    level: 'bad',
    advice: 'Set maxmemory-policy noeviction at Redis. The gate is shut until then, and Postgres sells alone.',
    place: parts,
  },
  evicted: {
    level: 'bad',
    advice:
      'So many buyers, at most, were told "processing" and have no order. Tell them to buy again; the log names each.',
    place: order,
  },
  drift: watch('It is repaired. If it comes back, look for another program that writes to this Redis.', stock),
  miscounted: watch('It is repaired from the orders.', stock),
  oversold: {
    level: 'bad',
    advice: 'Decide: add units, cancel the latest orders, or take from the buffer (reconcile with a decision).',
    place: stock,
  },
  unreadable_intent: watch('Its buyer was told "processing". Decide about them by hand.', order),
  unknown_charge: watch(
    'Look it up at the provider: it may belong to another system, or must be refunded there.',
    search,
  ),
  refund_failed: watch('Its buyer waits for the money. Refund it at the provider by hand.', order),
  capture_failed: watch('The order is confirmed, and its money was not taken. Look it up at the provider.', order),
  charge_refused: watch(
    'No card can pay this. The provider says why: the amount, the currency, or its settings.',
    order,
  ),
  wrong_amount: watch('It is refunded. Find out who made the charge.', order),
  payment_answer_invalid: watch(
    "The shop's payment server said what counts as no answer. Mend it there: docs/payments.md says what it may say.",
    order,
  ),
  confirmation_refused: watch(
    'The shop took money for an order that is not sold, as it was told. See that it gives the money back.',
    order,
  ),
  refunded_outside: watch('Decide whether the order is delivered all the same.', order),
  webhook_failed: watch('No buyer notices. Mend the endpoint, then replay its deliveries.', webhooks),
  scheduled_failed: watch('Do by hand what it was to do, or schedule it again.', scheduled),
  scheduled_suspended: watch('An owner decides: resume it or call it off, among the scheduled actions.', scheduled),
  mail_failed: watch('Buyers wait for their mail. Check the address and the mail server.', queues('mail')),
  purge_failed: watch('Visitors may see the page of before a change. Check the cache, and purge it by hand.', parts),
  views_dropped: watch('The counts of views lack these beacons. See why the ledger was away.', parts),
  views_differ: watch('Count the views of this hour again, from the raw log of a day.', parts),
  unknown: watch('See docs/runbook.md.', parts),
}
