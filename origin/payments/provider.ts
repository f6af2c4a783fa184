/**
 * The interface of a payment provider. A charge is authorized first, and its money is captured when the order is confirmed.
 * The order's id is its idempotency key: a repeated request concerns the same charge, never a second one.
 */
import type { ChargeOf } from '../ledger/payments.ts'

type AuthorizeResult =
  | { readonly result: 'authorized'; readonly charge: string }
  | { readonly result: 'declined'; readonly reason: string }
  /** No response in time: it may have happened, or may happen later. */
  | { readonly result: 'unknown'; readonly reason: string }
  /** Nothing has happened: a rate limit, or a key without permission. A later attempt may succeed. */
  | { readonly result: 'turned_away'; readonly reason: string }

/** A charge in the provider's records. */
export type ChargeRecord = ChargeOf &
  (
    | {
        readonly status: 'authorized' | 'captured'
        readonly amountMinor: number
        readonly currency: string
      }
    /** `cancelled`: no money was or will be taken. `refund_failed`: it was refunded, and the bank sent the money back. */
    | { readonly status: 'pending' | 'declined' | 'cancelled' | 'refunded' | 'refund_failed' }
  )

export interface PaymentProvider {
  /** The name in the path of its webhooks. */
  readonly name: string
  authorize(charge: {
    readonly order: string
    readonly amountMinor: number
    readonly currency: string
    readonly method: string
  }): Promise<AuthorizeResult>
  /** Takes the money, once. False if nothing is authorized any more, for good; throws if it may be retried. */
  capture(charge: ChargeOf): Promise<boolean>
  /** Cancels a charge for good unless its money was taken; returns its current state. */
  cancel(charge: string): Promise<ChargeRecord>
  /** Voids an authorization, or refunds money that was taken. Repeats change nothing. */
  refund(charge: ChargeOf): Promise<void>
  /** The charge of an order, if there is one. */
  find(order: string): Promise<ChargeRecord | undefined>
  /** Pages of changes after a cursor of the provider, the oldest first; null begins as far back as matters. */
  changes(since: string | null): AsyncIterable<{ records: readonly ChargeRecord[]; cursor: string }>
  /** Reads a webhook: undefined if its signature is invalid, null if it is irrelevant. */
  readWebhook(headers: Headers, body: string): Promise<ChargeRecord | null | undefined>
}

/** The result of an authorization by the state of its charge. */
export function authorizeResult({ charge, status }: ChargeRecord): AuthorizeResult {
  if (status === 'authorized' || status === 'captured') return { result: 'authorized', charge }
  if (status === 'declined' || status === 'cancelled') return { result: 'declined', reason: status }
  return { result: 'unknown', reason: `the charge is ${status}` }
}

/** Whether a charge was captured, by its state after the attempt; throws for "not yet". */
export function wasCaptured({ status }: ChargeRecord): boolean {
  if (status === 'captured' || status === 'refunded') return true
  if (status === 'cancelled') return false
  throw new Error(`the charge is ${status}`)
}

/** A call to a provider must end well before its job expires (EXPIRE_SECONDS in jobs.ts). */
export const PROVIDER_TIMEOUT_MS = 6_000

/** How slow the sandbox's slow and late answers are, unless set otherwise. */
export const SANDBOX_DELAYS = { slowMs: 3_000, lateMs: 15_000 } as const
