/** What a rehearsal leaves behind to be judged by: what every client was told, and what is on record. */
import type { Schedule } from '../../shared/schedule.ts'

export const ENDS = [
  'bought',
  'declined',
  'payment_timeout',
  'abandoned',
  'expired',
  'no_show',
  'sold_out',
  'ended',
  'missed_turn',
  'gave_up',
  'failed',
] as const
export type End = (typeof ENDS)[number]

/** What buyers pay with; what an accepted payment of each must come to. */
export const PAID_ENDS = { pm_ok: 'bought', pm_declined: 'declined', pm_timeout: 'payment_timeout' } as const
export type Method = keyof typeof PAID_ENDS

/** A public document, and when it was seen first and last: `server_time_ms` of the two answers. */
export interface Seen {
  readonly atMs: number
  lastMs: number
  readonly schedule: Schedule
}

/** What one visitor went through. Times are milliseconds on the server's clock; null means it did not happen. */
export interface Story {
  /** Null for those who came when it was over, or never got one. */
  readonly number: number | null
  readonly joinSentMs: number
  readonly joinAnsweredMs: number
  readonly admittedMs: number | null
  /** How far the line was, as the answer that admitted them said. */
  readonly admittedAtServing: number | null
  /** The order they were told of, and the last status they saw. */
  readonly order: string | null
  readonly orderStatus: string | null
  /** When the checkout was asked for that made the order, at the earliest. */
  readonly reserveSentMs: number | null
  /** What they pay with when they come to it; null for those who were never to pay. */
  readonly method: Method | null
  /** When they first meant to pay; and when the call was sent that was accepted. */
  readonly payMeantMs: number | null
  readonly paidSentMs: number | null
  readonly soldOutToldMs: number | null
  readonly end: End
}

export interface LedgerOrder {
  readonly order_id: string
  readonly status: string
  readonly visitor: string
  readonly ticket_number: number
  readonly quantity: number
}

export interface Charge {
  readonly order: string
  readonly status: string
  readonly amount_minor: number
  readonly currency: string
}

/** The provider's records could not be read, and why: for a person. */
export interface Unread {
  readonly unread: string
}

export interface BotEvidence {
  /** Joins of one who had joined, and how many of them got a number they should not have. */
  rejoins: number
  otherNumbers: number
  /** Checkouts without an admission, and how many of them were not refused. */
  intrusions: number
  letIn: number
  /** Answers to double clicks and second keys that named an order, and how many named a second one. */
  rushes: number
  secondOrders: number
}

export interface Evidence {
  readonly stock: number
  readonly rate: number
  readonly limit: number
  readonly price: { readonly unit_price_minor: number; readonly currency: string }
  readonly holdMs: number
  /** On the server's clock. */
  readonly opensAtMs: number
  /** True if it was played on a system of its own, of which everything can be read. */
  readonly ownSystem: boolean
  /** True if time ran out before everyone had come to an end. */
  readonly cutShort: boolean
  readonly stories: readonly Story[]
  /** Numbers that were given out and are in no story: to who joined again, and to bots with two names. */
  readonly otherNumbers: readonly number[]
  readonly orders: readonly LedgerOrder[]
  readonly inventory: { total: number; available: number; held: number; sold: number }
  /** The public documents in the order in which they were read; the first was read before anyone came. */
  readonly documents: readonly Seen[]
  /** The highest position the public documents had called by a moment of the server's clock. */
  readonly servedByMs: (atMs: number) => number
  /** Positions told by answers, and how many differ from the draw as recomputed. */
  readonly positions: { readonly told: number; readonly wrong: number }
  /** Moments of first checkout calls, milliseconds, in order. */
  readonly shoppingMs: readonly number[]
  /** From the provider's own records. */
  readonly charges: readonly Charge[] | Unread
  /** Null where there were none. */
  readonly bots: BotEvidence | null
}
