/**
 * The interface of a payment provider. A charge is authorized first, which may need its buyer (3-D Secure), and its
 * money is captured when the order is confirmed. The order's id and the attempt are its idempotency key: a repeated
 * request concerns the same charge, never a second one.
 */

import type { Card, DeclineCode } from '../../shared/api/public.ts'
import type { ChargeOf } from '../ledger/payment-statements.ts'
import type { PaymentAction } from '../ledger/schema/orders.ts'

type AuthorizeResult =
  | { readonly result: 'authorized'; readonly charge: string }
  /** The buyer must authenticate it with their bank; the result comes by a webhook, or by comparison. */
  | { readonly result: 'requires_action'; readonly action: PaymentAction }
  | { readonly result: 'declined'; readonly code: DeclineCode }
  /** No response in time: it may have happened, or may happen later. */
  | { readonly result: 'unknown'; readonly reason: string }
  /** The charge is impossible: the request is wrong, and no other card helps. `code` is the provider's. */
  | { readonly result: 'refused'; readonly code: string; readonly reason: string }
  /** The provider did nothing, because of a rate limit or a key without permission. A later attempt may succeed. */
  | { readonly result: 'turned_away'; readonly reason: string }

export interface Captured {
  /** Null: it was no card, or the provider does not say. */
  readonly card: Card | null
}

/** A charge in the provider's records. */
export type ChargeRecord = ChargeOf &
  (
    | { readonly status: 'authorized'; readonly amountMinor: number; readonly currency: string }
    | {
        readonly status: 'captured'
        readonly amountMinor: number
        readonly currency: string
        /** What was given back of it, short of all. */
        readonly refundedMinor?: number
        readonly card?: Card
      }
    | { readonly status: 'requires_action'; readonly attempt: number; readonly action: PaymentAction }
    | { readonly status: 'declined'; readonly attempt: number; readonly code: DeclineCode }
    /** The bank sent this refund back; its order may be unknown, as of one that was made by hand. */
    | { readonly status: 'refund_failed'; readonly refund?: ProviderRefund }
    /** `cancelled`: no money was or will be taken. `refunded`: all of it was given back. */
    | { readonly status: 'pending' | 'cancelled' | 'refunded' }
  )

/** One refund in the provider's records. */
export interface ProviderRefund {
  readonly id: string
  /** The row that it was made for; null for one that a person made there. */
  readonly key: string | null
  readonly amountMinor: number
  /** False once it has failed, which is for good: the money is the shop's again. */
  readonly isMade: boolean
}

/** What was taken by a charge, and all refunds of it, whoever made them. */
export interface Returns {
  readonly takenMinor: number
  readonly refunds: readonly ProviderRefund[]
}

/** The key of a charge at the provider. */
export const chargeKey = (order: string, attempt: number) => `${order}-${attempt}`

/** One header of a request. */
type HeaderOf = (name: Lowercase<string>) => string | undefined

export interface PaymentProvider {
  /** The name in the path of its webhooks. */
  readonly name: string
  authorize(charge: {
    readonly order: string
    readonly attempt: number
    readonly amountMinor: number
    readonly currency: string
    readonly method: string
    /** Where a bank sends the buyer back to. */
    readonly returnUrl: string
  }): Promise<AuthorizeResult>
  /** The state of a charge at this moment; undefined if there is none. */
  read(charge: string): Promise<ChargeRecord | undefined>
  /** Takes the money, once. Null if nothing is authorized any more, for good; throws if it may be retried. */
  capture(charge: ChargeOf): Promise<Captured | null>
  /** Cancels a charge for good unless its money was taken; returns its current state. */
  cancel(charge: string): Promise<ChargeRecord>
  /** What was given back of a charge. */
  returns(charge: string): Promise<Returns>
  /** Refunds money that was taken. Whoever calls has read `returns` before, since a later repeat may refund again. */
  refund(
    charge: ChargeOf & {
      readonly key: string
      /** Null: all that is left. */
      readonly amountMinor: number | null
      /** How many refunds under this key have failed. */
      readonly failed: number
    },
  ): Promise<ProviderRefund>
  /** The latest charge of an order, if there is one; a captured or authorized one before others. */
  find(order: string): Promise<ChargeRecord | undefined>
  /** Pages of changes after a cursor of the provider, the oldest first; null begins as far back as matters. */
  changes(since: string | null): AsyncIterable<{ records: readonly ChargeRecord[]; cursor: string }>
  /**
   * Reads a webhook by its body and the headers that are asked for: undefined if its signature is invalid, null if it
   * is irrelevant.
   */
  readWebhook(header: HeaderOf, body: string): Promise<ChargeRecord | null | undefined>
}

/** The result of an authorization by the state of its charge. */
export function authorizeResult(record: ChargeRecord): AuthorizeResult {
  switch (record.status) {
    case 'authorized':
    case 'captured':
      return { result: 'authorized', charge: record.charge }
    case 'requires_action':
      return { result: 'requires_action', action: record.action }
    case 'declined':
      return { result: 'declined', code: record.code }
    case 'cancelled':
      return { result: 'declined', code: 'declined' }
    default:
      return { result: 'unknown', reason: `the charge is ${record.status}` }
  }
}

/** What was captured, by the charge's state after the attempt; throws for "not yet". */
export function capturedOf(record: ChargeRecord): Captured | null {
  const { status } = record
  if (status === 'captured') return { card: record.card ?? null }
  if (status === 'refunded') return { card: null }
  if (status === 'cancelled') return null
  throw new Error(`the charge is ${status}`)
}

/** A call to a provider must end well before the lease of its job does (queues.ts). */
export const PROVIDER_TIMEOUT_MS = 6_000

/** How slow the sandbox's slow and late answers are, unless set otherwise. */
export const SANDBOX_DELAYS = { slowMs: 3_000, lateMs: 15_000 } as const

/** When the provider answered last, and when it last did not; null: never in this process. */
export interface ProviderSeen {
  readonly answeredAtMs: number | null
  readonly failedAtMs: number | null
  /** True if even reads get no answer. Reads do not depend on a card. */
  readonly isAway: boolean
  /** The charges answered in the last minute, by classes of time. */
  readonly times: readonly number[]
}
