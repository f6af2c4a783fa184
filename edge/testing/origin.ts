/**
 * The origin of the edge's tests. The edge's settings name it, and it gives the responses that a test has set
 * (test-origin-server.ts).
 */
import { env } from 'cloudflare:workers'
import type { Env } from '../http/config.ts'
import { orderOf as sampleOrder } from '../preview/sample-sale.ts'
import { product } from './simulation.ts'

export const edgeEnv = env as unknown as Env

/** The settings of a Worker before other sites, which the tests' origin plays unless a site names another upstream. */
export const before = (...sites: readonly { readonly sale: string; readonly [field: string]: unknown }[]): Env => ({
  ...edgeEnv,
  PROTECT: JSON.stringify(sites.map((site) => ({ upstream: edgeEnv.ORIGIN_URL, ...site }))),
})

/** Sets the origin's response at a path. */
export async function stub(
  path: string,
  status: number,
  body: unknown,
  delayMs = 0,
  headers: Readonly<Record<string, string>> = {},
) {
  const text = typeof body === 'string' ? body : JSON.stringify(body)
  await fetch(`${edgeEnv.ORIGIN_URL}/stub${path}`, {
    method: 'POST',
    body: JSON.stringify({ status, delayMs, headers, body: text }),
  })
}

interface ReceivedRequest {
  method: string
  query: string
  headers: Record<string, string>
  body: string
  /** The time at which it arrived, on the clock of this machine. */
  atMs: number
}

/** The number of requests for a path that the origin has received, and the last ones. */
export async function requestsTo(path: string): Promise<{ calls: number; requests: ReceivedRequest[] }> {
  return (await fetch(`${edgeEnv.ORIGIN_URL}/requests${path}`)).json()
}

/** The token has the form of the origin's tokens. */
export const ORDER_TOKEN = `e30.e30.${'A'.repeat(43)}`

/** An order in the form of the origin's response to a checkout. */
export const orderOf = (sale: string, order_id: string) => ({
  ...sampleOrder(product(10), 1, 'reserved', Date.parse('2026-11-21T12:00:00Z')),
  sale,
  order_id,
  remaining: 3,
  order_token: ORDER_TOKEN,
})
