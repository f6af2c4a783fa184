/** Calls of the operators' API: one function, one error. */
import type { Problem } from '../../../shared/problem.ts'

/** The problem's own title is for buyers. */
const AWAY =
  'The origin cannot read or write this now: Postgres does not answer, or not in time. Try again in a moment.'

/** A response that is a problem, or none at all. */
export class ApiError extends Error {
  readonly problem: Partial<Problem> & { readonly status: number }
  constructor(problem: Partial<Problem> & { readonly status: number }) {
    super(problem.detail ?? (problem.status === 503 ? AWAY : problem.title) ?? 'The origin does not answer.')
    this.problem = problem
  }
}

const TIMEOUT_MS = 15_000

/** The JSON of a response; throws ApiError. */
export async function api<T>(
  method: string,
  path: string,
  body?: unknown,
  headers: Record<string, string> = {},
  signal?: AbortSignal,
): Promise<T> {
  const sent =
    body === undefined
      ? {}
      : { body: JSON.stringify(body), headers: { 'content-type': 'application/json', ...headers } }
  let response: Response
  try {
    response = await fetch(path, {
      method,
      headers,
      ...sent,
      signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), ...(signal ? [signal] : [])]),
    })
  } catch {
    throw new ApiError({ status: 0, detail: 'The origin does not answer. Nothing is known of the last call.' })
  }
  const answer: unknown = response.status === 204 ? null : await response.json().catch(() => null)
  if (response.ok) return answer as T
  throw new ApiError({ ...(answer as Partial<Problem> | null), status: response.status })
}

export const get = <T>(path: string, signal?: AbortSignal) => api<T>('GET', path, undefined, {}, signal)
/** A call that changes something, once however often it is sent. */
export const post = <T>(path: string, body: unknown = {}) =>
  api<T>('POST', path, body, { 'idempotency-key': crypto.randomUUID() })
