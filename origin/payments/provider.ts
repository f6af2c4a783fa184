/**
 * What any payment provider must be able to do. A charge carries the order's id as its idempotency key: asking again is
 * asking after the same charge, never a second one.
 */
interface ChargeRequest {
  readonly order: string
  readonly amountMinor: number
  readonly currency: string
  readonly method: string
}

type ChargeResult =
  | { readonly result: 'succeeded'; readonly charge: string }
  | { readonly result: 'declined'; readonly reason: string }
  /** No answer in time: it may have happened, or may yet. */
  | { readonly result: 'unknown' }

/** A charge as the provider has it. */
export interface ChargeRecord {
  readonly charge: string
  readonly order: string
  /** `refund_failed`: it was refunded, and the money has come back since. */
  readonly status: 'pending' | 'succeeded' | 'declined' | 'cancelled' | 'refunded' | 'refund_failed'
}

/** Some of what changed in the provider's records, and from where to go on. */
interface Changes {
  readonly records: readonly ChargeRecord[]
  readonly cursor: string
}

export interface PaymentProvider {
  /** The name in the path of its webhooks. */
  readonly name: string
  charge(request: ChargeRequest): Promise<ChargeResult>
  /** Ends a charge that has not happened, so that it never will; returns what stands, which may be a success. */
  cancel(charge: string): Promise<ChargeRecord>
  /** Gives the money back; a second call changes nothing. */
  refund(of: { readonly charge: string; readonly order: string }): Promise<void>
  /** The charge of an order, if there is one. */
  find(order: string): Promise<ChargeRecord | undefined>
  /** What changed since a cursor of the provider's own, the oldest first; null begins as far back as matters. */
  changes(since: string | null): AsyncIterable<Changes>
  /** Reads a webhook; undefined when its signature does not hold, null when it is of no interest. */
  readWebhook(headers: Headers, body: string): Promise<ChargeRecord | null | undefined>
}

/** A call to a provider must end well before its job is taken to be lost (EXPIRE_SECONDS in jobs.ts). */
export const PROVIDER_TIMEOUT_MS = 6_000
