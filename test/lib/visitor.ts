/** A sale on a whole system, as visitors without a browser use it. */
import { randomUUID } from 'node:crypto'
import type { Order, QueueAnswer } from '../../shared/api/public.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { requireDescribed } from './described.ts'
import { eventually } from './eventually.ts'

interface Sent {
  readonly token?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: object
}

/** Sends JSON and reads JSON; the body of any other response is its text. */
export async function call<Body = Record<string, unknown>>(
  method: string,
  url: string,
  { token, headers, body }: Sent = {},
) {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  const read = text.startsWith('{') ? JSON.parse(text) : { text }
  requireDescribed(method, url, response, read)
  return { status: response.status, headers: response.headers, body: read as Body & { readonly type?: string } }
}

/** The states of a visitor whose turn has not come. */
const WAITING = ['pre_queue', 'waiting', 'paused']

/** The calls of a sale's visitors. `url` is the address of the edge, or of a replacement for it. */
export function visitorsOf(url: string, sale: string) {
  const at = (path = '') => `${url}/sales/${sale}${path}`
  const status = async (token: string, headers = {}) =>
    (await call<QueueAnswer>('GET', at('/queue/status'), { token, headers })).body
  return {
    at,
    schedule: async (query = '') => (await call<Schedule>('GET', at(`/schedule${query}`))).body,
    join: (sent: Sent = {}) => call<QueueAnswer>('POST', at('/queue'), sent),
    status,
    /** Waits until a visitor who has joined no longer waits: for the turn, or for the end of the sale. */
    called: ({ queue_token = '' }: QueueAnswer, headers = {}) =>
      eventually(
        () => status(queue_token, headers),
        (answer) => !WAITING.includes(answer.status),
      ),
    checkout: (token: string | undefined, body: object = {}, headers = {}) =>
      call<Order>('POST', at('/checkout'), { token, body, headers: { 'idempotency-key': randomUUID(), ...headers } }),
    order: async ({ order_id, order_token }: Order) =>
      (await call<Order>('GET', `${url}/orders/${order_id}`, { token: order_token })).body,
  }
}

/** Joins a sale and waits for the turn; returns the admission. */
export async function admitted(url: string, sale: string, headers = {}): Promise<string> {
  const visitors = visitorsOf(url, sale)
  const { body } = await visitors.join({ headers })
  return (await visitors.called(body, headers)).admission_token ?? ''
}
