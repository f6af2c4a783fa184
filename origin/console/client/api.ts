/** Calls of the operators' API, typed by its routes. All of them share one client and one error class. */
import { hc } from 'hono/client'
import type { Problem } from '../../../shared/problem.ts'
import type { AdminApi } from '../../operators-api.ts'

/** The response was a problem, or there was no response. */
export class ApiError extends Error {
  readonly problem: Partial<Problem> & { readonly status: number }
  constructor(problem: Partial<Problem> & { readonly status: number }) {
    super(problem.detail ?? problem.title ?? 'The origin does not answer.')
    this.problem = problem
  }
}

const TIMEOUT_MS = 15_000

/**
 * Throws ApiError unless the response is a success. A POST gets an idempotency key, so it takes effect once, however
 * often it is sent.
 */
export async function send(
  input: RequestInfo | URL,
  init: RequestInit = {},
  timeoutMs: number = TIMEOUT_MS,
): Promise<Response> {
  const headers = new Headers(init.headers)
  if (init.method === 'POST' && !headers.has('idempotency-key')) headers.set('idempotency-key', crypto.randomUUID())
  const signal = AbortSignal.any([AbortSignal.timeout(timeoutMs), ...(init.signal ? [init.signal] : [])])
  const response = await fetch(input, { ...init, headers, signal }).catch(() => {
    throw new ApiError({ status: 0, detail: 'The origin does not answer. Nothing is known of the last call.' })
  })
  if (response.ok) return response
  const problem: Partial<Problem> | null = await response.json().catch(() => null)
  throw new ApiError({ ...problem, status: response.status })
}

export const admin = hc<AdminApi>('/admin', {
  fetch: (input: RequestInfo | URL, init?: RequestInit) => send(input, init),
})

/** The sales in use. Pages and the palette share the result under the key `sales`. */
export const readSales = () => read(admin.sales.$get())

/** Returns the JSON of a call, for example `await read(admin.sales.$get())`. */
export async function read<T>(call: Promise<{ json(): Promise<T> }>): Promise<T> {
  return (await call).json()
}
