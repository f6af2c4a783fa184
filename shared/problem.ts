/**
 * Problem details (RFC 9457), which are the form of every error response, and the catalogue of all types. Code throws
 * a ProblemError; the http edge of either half converts it with `problemResponse`.
 */

/** Each type has a status, a title and a default detail. */
const CATALOGUE = {
  'invalid-request': [400, 'The request is malformed', 'It could not be parsed.'],
  'idempotency-key-required': [
    400,
    'An Idempotency-Key is required',
    'Send an Idempotency-Key header of 1 to 255 printable ASCII characters.',
  ],
  'cookies-required': [
    400,
    'This needs cookies',
    'A browser keeps its place in a cookie, which this one does not have.',
  ],
  'sign-in-failed': [400, 'Signing in did not work', 'Sign in again.'],
  'invalid-token': [401, 'The token is not valid', 'It has expired, or was not issued here. Join again.'],
  'signed-out': [401, 'You are signed out of the shop', 'Sign in to the shop again: the place is kept.'],
  unauthorized: [401, 'Not authorized', 'Send Authorization: Bearer with the right token.'],
  'sign-in-required': [401, 'Sign in to the shop first', 'This sale is for people who are signed in to the shop.'],
  'proof-required': [401, 'A proof is required', 'Solve the challenge, and join with it.'],
  'invitation-required': [403, 'An invitation is required', 'Join with the code or the link of your invitation.'],
  refused: [403, 'You cannot take part', 'The shop does not let you into this sale.'],
  'wrong-sale': [403, 'The token belongs to another sale', 'Send the token of this sale.'],
  'edge-only': [
    403,
    'Only the edge may make this call',
    'Send it to the address of the sale page. The origin takes it from the edge alone, unless ALLOW_DIRECT=true ' +
      'is set.',
  ],
  forbidden: [403, 'Not allowed', 'The request came from a page of another host.'],
  'not-found': [404, 'Not found', 'There is nothing here.'],
  'unknown-sale': [404, 'There is no such sale', 'Check its name.'],
  'unknown-product': [404, 'There is no such product in this sale', 'Check the product_id.'],
  'unknown-order': [404, 'There is no such order', 'You have no order with this id.'],
  'method-not-allowed': [405, 'Method not allowed', 'The Allow header lists the allowed methods.'],
  'request-timeout': [408, 'The request took too long', 'Send it again.'],
  conflict: [409, 'Conflict with the current state', 'Read the current state, then decide again.'],
  'seat-taken': [409, 'A seat is taken', 'Choose other seats.'],
  'price-changed': [409, 'The price has changed', 'See the new sum, then decide again.'],
  'promo-code-used-up': [409, 'The promo code is used up', 'Buy without it, or with another one.'],
  'all-in-carts': [409, 'All units are in carts', 'Some may come back: retry after Retry-After.'],
  'sold-out': [410, 'Sold out', 'All units are sold.'],
  ended: [410, 'The sale has ended', 'Nothing is sold any more.'],
  'changed-meanwhile': [
    412,
    'It has been changed meanwhile',
    'Read it as it is now, and decide again. Nothing was changed.',
  ],
  'body-too-large': [413, 'The body is too large', 'Send a smaller body.'],
  'unsupported-media-type': [415, 'Send application/json', 'The body is read as application/json only.'],
  'invalid-fields': [422, 'Some fields are not valid', 'See errors for each field.'],
  'promo-code-unknown': [422, 'There is no such promo code', 'Check it, or buy without it.'],
  'idempotency-key-reused': [
    422,
    'The Idempotency-Key was used with another body',
    'Send the first body again, or another key.',
  ],
  'not-open': [425, 'The sale is not open yet', 'Come back at opens_at.'],
  'not-admitted': [429, 'Wait for your turn first', 'Come through the waiting room.'],
  'too-many-orders': [429, 'Too many unpaid orders', 'Others who wait come first: retry after Retry-After.'],
  'too-many-requests': [429, 'Too many requests', 'Retry after Retry-After.'],
  'headers-too-large': [431, 'The headers are too large', 'Send fewer cookies, or a shorter address.'],
  'internal-error': [500, 'Something went wrong on our side', 'Please try again. If it happens again, tell the shop.'],
  'try-again': [503, 'Please try again in a moment', 'Retry after Retry-After.'],
} as const satisfies Record<string, readonly [status: number, title: string, detail: string]>

export type ProblemType = keyof typeof CATALOGUE

export const PROBLEM_TYPES = Object.keys(CATALOGUE) as readonly ProblemType[]

export const isProblemType = (text: string): text is ProblemType => Object.hasOwn(CATALOGUE, text)

/** A wrong field, by its path in the body (`products.0.total`). */
export interface FieldError {
  readonly field: string
  readonly detail: string
}

export interface ProblemFields {
  readonly detail?: string
  readonly errors?: readonly FieldError[]
  /** With `not-admitted`, the path at which to join the queue. */
  readonly queue?: string
  /** With `not-open`, the opening in ISO 8601. */
  readonly opens_at?: string
  /** The time in whole seconds, which is also sent as the Retry-After header. */
  readonly retry_after_seconds?: number
  /** The request that was answered so, which the log names too. */
  readonly request_id?: string
  readonly [extension: string]: unknown
}

export interface Problem extends ProblemFields {
  readonly type: `/problems/${ProblemType}`
  readonly title: string
  readonly status: number
  readonly detail: string
}

/** A problem of a known type. `detail` is a sentence for the reader, without internal details. */
export function problem(type: ProblemType, fields: ProblemFields = {}): Problem {
  const [status, title, detail] = CATALOGUE[type]
  return { type: `/problems/${type}`, title, status, detail, ...fields }
}

/** The `reason` of an `invalid-fields` problem whose order is too heavy to be sent to its country. */
export const TOO_HEAVY = 'too_heavy'

export const invalidField = (field: string, detail: string) =>
  problem('invalid-fields', { detail: `${field}: ${detail}`, errors: [{ field, detail }] })

/** The header of every response, and of the edge's calls to the origin, that names the request. */
export const REQUEST_ID_HEADER = 'x-request-id'

/** The status, headers and body of a problem, for the server of either half. The body names the request. */
export function problemResponse(
  p: Problem,
  requestId?: string,
): {
  status: number
  headers: Record<string, string>
  body: string
} {
  const headers: Record<string, string> = { 'content-type': 'application/problem+json', 'cache-control': 'no-store' }
  if (p.status === 401) headers['www-authenticate'] = challengeOf(p)
  // No body is read in another coding (RFC 9110, 15.5.16).
  if (p.status === 415) headers['accept-encoding'] = 'identity'
  const named = requestId === undefined ? p : { ...p, request_id: requestId }
  if (p.retry_after_seconds === undefined) return { status: p.status, headers, body: JSON.stringify(named) }
  const retry_after_seconds = Math.max(1, Math.ceil(p.retry_after_seconds))
  return {
    status: p.status,
    headers: { ...headers, 'retry-after': String(retry_after_seconds) },
    body: JSON.stringify({ ...named, retry_after_seconds }),
  }
}

/** A response of 401 names the way to authenticate (RFC 9110, 15.5.2): a bearer token (RFC 6750, section 3). */
const challengeOf = ({ type }: Problem) =>
  type === '/problems/invalid-token' ? 'Bearer realm="flash-sale", error="invalid_token"' : 'Bearer realm="flash-sale"'

/** The exception that carries a problem to the http edge. */
export class ProblemError extends Error {
  override readonly name = 'ProblemError'
  readonly problem: Problem
  constructor(p: Problem) {
    super(p.detail)
    this.problem = p
  }
}

/**
 * Returns the problem of a thrown error for a caller that decides by it (`.catch(problemIn)`), and throws every other
 * error again.
 */
export function problemIn(error: unknown): Problem {
  if (error instanceof ProblemError) return error.problem
  throw error
}
