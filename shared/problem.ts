/**
 * Problem details (RFC 9457): the one form of every error that leaves the system, and the list of all there are.
 * An error is a value made here and turned into a response at the rim by `problemResponse`.
 */

const CATALOGUE = {
  'invalid-request': [400, 'The request is malformed'],
  'idempotency-key-required': [400, 'An Idempotency-Key is required'],
  'invalid-token': [401, 'The token is not valid'],
  unauthorized: [401, 'Not authorized'],
  'proof-of-work-required': [401, 'Proof of work is required'],
  'wrong-sale': [403, 'The token belongs to another sale'],
  forbidden: [403, 'Not allowed'],
  'not-found': [404, 'Not found'],
  'unknown-sale': [404, 'There is no such sale'],
  'unknown-product': [404, 'There is no such product in this sale'],
  'unknown-order': [404, 'There is no such order'],
  'method-not-allowed': [405, 'Method not allowed'],
  conflict: [409, 'In conflict with the present state'],
  'all-in-carts': [409, 'All units are in carts'],
  'sold-out': [410, 'Sold out'],
  ended: [410, 'The sale has ended'],
  'body-too-large': [413, 'The body is too large'],
  'unsupported-media-type': [415, 'Send application/json'],
  'invalid-fields': [422, 'Some fields are not valid'],
  'idempotency-key-reused': [422, 'The Idempotency-Key was used with another body'],
  'not-open': [425, 'The sale is not open yet'],
  'not-admitted': [429, 'Wait for your turn first'],
  'too-many-requests': [429, 'Too many requests'],
  'internal-error': [500, 'Something went wrong on our side'],
  'try-again': [503, 'Please try again in a moment'],
} as const satisfies Record<string, readonly [status: number, title: string]>

export type ProblemType = keyof typeof CATALOGUE

/** One field that was wrong, by its path in the body (`products.0.total`), and what is wrong with it. */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

export interface ProblemFields {
  readonly detail?: string
  readonly errors?: readonly FieldError[]
  /** Where to join the line, with `not-admitted`. */
  readonly queue?: string
  /** ISO 8601, with `not-open`. */
  readonly opens_at?: string
  readonly [extension: string]: unknown
}

export interface Problem extends ProblemFields {
  readonly type: `/problems/${ProblemType}`
  readonly title: string
  readonly status: number
  /** Sent as the Retry-After header as well, in whole seconds. */
  readonly retry_after_seconds?: number
}

/** A problem of a known type. `detail` is a sentence for the person who reads it; nothing internal belongs in it. */
export function problem(
  type: ProblemType,
  fields: ProblemFields & { retry_after_seconds?: number } = {},
): Problem {
  const [status, title] = CATALOGUE[type]
  return { type: `/problems/${type}`, title, status, ...fields }
}

/** One field is wrong. */
export const invalidField = (field: string, detail: string) =>
  problem('invalid-fields', { detail: `${field}: ${detail}`, errors: [{ field, detail }] })

/** Status, headers and body of a problem, for whichever server sends it. */
export function problemResponse(p: Problem): {
  status: number
  headers: Record<string, string>
  body: string
} {
  return {
    status: p.status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(p.retry_after_seconds === undefined
        ? {}
        : { 'retry-after': String(Math.max(1, Math.ceil(p.retry_after_seconds))) }),
    },
    body: JSON.stringify(p),
  }
}

/** A problem on its way up to the rim, for code that has no other way out than to throw. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  constructor(p: Problem) {
    super(p.detail ?? p.title)
    this.problem = p
  }
}
