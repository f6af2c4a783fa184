/** The answer of `GET /admin/sales/{sale}/seconds`: a sale by the second, and what operators did meanwhile. */

/**
 * One second of a sale. The first figures are what happened in it, the others are the values at its end; null means
 * that nobody counted then.
 */
export interface Second {
  /** The beginning in ISO 8601. */
  readonly at: string
  readonly called: number | null
  readonly arrived: number | null
  readonly joined: number | null
  readonly reserved: number | null
  readonly paid: number | null
  readonly declined: number | null
  /** The price of the orders paid in this second. */
  readonly paid_minor: number | null
  readonly waiting: number | null
  readonly held: number | null
  readonly sold: number | null
  /** The rate that the sale asks for, in people a second. */
  readonly asked: number | null
}

/** An entry of the audit log that a chart marks. */
export interface Marker {
  readonly at: string
  readonly action: string
  readonly by: string
  readonly product_id: string | null
  readonly before: Readonly<Record<string, unknown>> | null
  readonly after: Readonly<Record<string, unknown>> | null
}

export interface SecondsAnswer {
  readonly opens_at: string
  /** The time until which a second is complete. */
  readonly until: string
  readonly seconds: readonly Second[]
  readonly markers: readonly Marker[]
}
