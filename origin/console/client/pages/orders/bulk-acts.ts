/** What can be done with several orders at once: with which of them, what it does, and the calls. */
import type { FoundOrder } from '../../../../../shared/api/operators/answers.ts'
import { money } from '../../../../../shared/format.ts'
import { ApiError, admin } from '../../api.ts'
import { count } from '../../format.ts'
import type { IconName } from '../../sheet/icon.tsx'

export interface Act {
  readonly id: 'send' | 'refund' | 'cancel' | 'block'
  readonly icon: IconName
  readonly name: string
  /** True for an act that takes something away. */
  readonly isDanger: boolean
  /** What it does, in the present. */
  readonly effects: Readonly<Partial<Record<'stops' | 'goesOn' | 'isKept' | 'undo', string>>>
  /** Why it cannot be done with an order; null if it can. */
  refusal(order: FoundOrder): string | null
  /** The label of the button that does it. */
  label(orders: readonly FoundOrder[]): string
  /** What is true afterwards. */
  result(orders: readonly FoundOrder[]): string
  /** Sends one call. The key makes a repeated call harmless. Returns how to undo it, if it can be undone. */
  run(order: FoundOrder, key: string, reason: string): Promise<(() => Promise<void>) | null>
}

const call = admin.orders[':order']
const NO_UNDO = 'There is no undo.'
const ordersIn = ({ length }: readonly unknown[]) => `${count(length)} ${length === 1 ? 'order' : 'orders'}`
const are = ({ length }: readonly unknown[]) => (length === 1 ? 'is' : 'are')

/** What can still be given back of an order. */
const restOf = ({ total_minor, refunded_minor, refunding_minor }: FoundOrder) =>
  refunding_minor === null ? 0 : total_minor - refunded_minor - refunding_minor

/** The sum of amounts, for each currency. */
export function sumOf(orders: readonly FoundOrder[], of: (order: FoundOrder) => number): string {
  const byCurrency = Map.groupBy(orders, ({ currency }) => currency)
  const sums = [...byCurrency].map(([currency, group]) =>
    money(
      'en',
      group.reduce((sum, one) => sum + of(one), 0),
      currency,
    ),
  )
  return sums.join(' + ')
}

const PAID: readonly FoundOrder['status'][] = ['confirmed', 'fulfilled', 'refunded']
const CANCELLABLE: readonly FoundOrder['status'][] = ['reserved', 'paying', 'confirmed']

export const ACTS: readonly Act[] = [
  {
    id: 'send',
    icon: 'truck',
    name: 'Mark as sent',
    isDanger: false,
    effects: {
      stops: 'they can no longer be cancelled, only refunded',
      goesOn: 'a mail to each buyer says that the order is sent, or handed over where there is no address',
      undo: NO_UNDO,
    },
    refusal: ({ status }) =>
      status === 'confirmed' ? null : status === 'fulfilled' ? 'is sent already' : 'is not paid, or no longer',
    label: (orders) => `Mark ${ordersIn(orders)} as sent`,
    result: (orders) => `${ordersIn(orders)} ${are(orders)} sent.`,
    async run({ order_id: order }) {
      await call.fulfil.$post({ param: { order } })
      return null
    },
  },
  {
    id: 'refund',
    icon: 'undo',
    name: 'Refund',
    isDanger: true,
    effects: {
      goesOn: 'all that is left of each order goes back to its buyer in some days, and a mail says so',
      isKept: 'the units stay sold; an order’s own page puts them back on sale',
      undo: NO_UNDO,
    },
    refusal: (order) =>
      !PAID.includes(order.status) ? 'is not paid' : restOf(order) <= 0 ? 'has nothing left to give back' : null,
    label: (orders) => `Refund ${sumOf(orders, restOf)}`,
    result: (orders) => `${sumOf(orders, restOf)} of ${ordersIn(orders)} is on its way back.`,
    async run({ order_id: order }, key, reason) {
      const headers = { 'idempotency-key': key }
      await call.refund.$post({ param: { order }, json: reason === '' ? {} : { reason } }, { headers })
      return null
    },
  },
  {
    id: 'cancel',
    icon: 'ban',
    name: 'Cancel',
    isDanger: true,
    effects: {
      stops: 'their holds end, and payments under way are called off',
      goesOn: 'what was paid goes back, and all their units are for sale again',
      undo: NO_UNDO,
    },
    refusal: ({ status }) =>
      CANCELLABLE.includes(status) ? null : status === 'fulfilled' ? 'is sent, and can only be refunded' : 'has ended',
    label: (orders) => `Cancel ${ordersIn(orders)}`,
    result: (orders) => `${ordersIn(orders)} ${are(orders)} cancelled.`,
    async run({ order_id: order }, key, reason) {
      const headers = { 'idempotency-key': key }
      await call.cancel.$post({ param: { order }, json: reason === '' ? {} : { reason } }, { headers })
      return null
    },
  },
  {
    id: 'block',
    icon: 'lock',
    name: 'Block the buyers',
    isDanger: true,
    effects: {
      stops: 'whoever made these orders can join no sale any more, and loses their place in all of them',
      goesOn: 'what they hold goes back on sale',
      isKept: 'what is paid stays paid',
      undo: 'by the message that follows, or on the page Rules and blocks',
    },
    refusal: () => null,
    label: (orders) => `Block the buyers of ${ordersIn(orders)}`,
    result: (orders) => `The buyers of ${ordersIn(orders)} can join no sale.`,
    async run({ order_id: order }, _key, note) {
      const { block } = await (await admin.blocks.$post({ json: { order, note } })).json()
      return async () => {
        await admin.blocks[':block'].$delete({ param: { block } })
      }
    },
  },
]

export interface Failed {
  readonly order: FoundOrder
  readonly why: string
}

export interface Progress {
  readonly done: readonly FoundOrder[]
  readonly failed: readonly Failed[]
}

/** The number of calls that run at once. A browser has six connections to a host, and the page needs some of them. */
const AT_ONCE = 4

interface Run {
  readonly orders: readonly FoundOrder[]
  readonly isStopped: () => boolean
  run(order: FoundOrder): Promise<void>
  onProgress(progress: Progress): void
}

/** Runs one call for each order, some at once, and reports each that ends. A session that has ended ends the run too. */
export async function runAll({ orders, isStopped, run, onProgress }: Run): Promise<Progress> {
  let progress: Progress = { done: [], failed: [] }
  const waiting = [...orders]
  const worker = async () => {
    for (let order = waiting.shift(); order && !isStopped(); order = waiting.shift()) {
      try {
        await run(order)
        progress = { ...progress, done: [...progress.done, order] }
      } catch (error) {
        if (error instanceof ApiError && error.problem.status === 401) throw error
        const why = error instanceof Error ? error.message : String(error)
        progress = { ...progress, failed: [...progress.failed, { order, why }] }
      }
      onProgress(progress)
    }
  }
  await Promise.all(Array.from({ length: AT_ONCE }, worker))
  return progress
}
