/**
 * What any payment provider must be able to do. A charge carries the order's id as its idempotency key: asking again is
 * asking after the same charge, never a second one.
 */
export interface ChargeRequest {
  readonly order: string
  readonly amountMinor: number
  readonly currency: string
  readonly method: string
}

export type ChargeResult =
  | { readonly result: 'succeeded'; readonly charge: string }
  | { readonly result: 'declined'; readonly reason: string }
  /** No answer in time: it may have happened, or may yet. */
  | { readonly result: 'unknown' }

/** A charge as the provider has it. */
export interface ChargeRecord {
  readonly charge: string
  readonly order: string
  readonly status: 'pending' | 'succeeded' | 'declined' | 'refunded'
}

export interface PaymentProvider {
  /** The name in the path of its webhooks. */
  readonly name: string
  charge(request: ChargeRequest): Promise<ChargeResult>
  /** Gives the money back; a second call changes nothing. */
  refund(charge: string): Promise<void>
  /** The charge of an order, if there is one. */
  find(order: string): Promise<ChargeRecord | undefined>
  /** Charges that came into being or changed in the last so many seconds. */
  recent(seconds: number): Promise<ChargeRecord[]>
  /** Reads a webhook; undefined when its signature does not hold. Null when it is of no interest. */
  readWebhook(headers: Headers, body: string): Promise<ChargeRecord | null | undefined>
}
