/** The calls for webhooks. Each change reports its result and how to undo it. */
import type { Delivery, WebhookHistory, WebhookState } from '../../../../../shared/api/operators/answers.ts'
import { send } from '../../api.ts'
import { count } from '../../format.ts'
import type { Done } from '../../toast.tsx'

export type Endpoint = WebhookState
export type Change = Partial<Pick<Endpoint, 'url' | 'events' | 'note' | 'state'>>

async function call<T = undefined>(method: string, path: string, body?: object): Promise<T> {
  const headers = { 'content-type': 'application/json' }
  const response = await send(`/admin/webhooks${path}`, {
    method,
    ...(body && { headers, body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return (text === '' ? undefined : JSON.parse(text)) as T
}

export const readEndpoints = () => call<{ readonly webhooks: readonly Endpoint[] }>('GET', '')
export const readDeliveries = (endpoint: string, query: Readonly<Record<string, string>>) =>
  call<{ readonly deliveries: readonly Delivery[]; readonly next: string | null }>(
    'GET',
    `/${endpoint}/deliveries?${new URLSearchParams({ ...query, limit: '25' })}`,
  )

export const readHistory = (endpoint: string) => call<WebhookHistory>('GET', `/${endpoint}/history`)

export const nameOf = ({ note, url }: Pick<Endpoint, 'note' | 'url'>) => note || url

export const add = (json: Change) => call<Endpoint>('POST', '', json)
export const rotate = ({ endpoint }: Endpoint) => call<Endpoint>('PATCH', `/${endpoint}`, { rotate: true })

export async function change(endpoint: Endpoint, to: Change): Promise<Done> {
  const changed = await call<Endpoint>('PATCH', `/${endpoint.endpoint}`, to)
  const { url, events, note, state } = endpoint
  const is = changed.state === 'active' ? 'is sent what happens' : 'is paused: its messages wait, a day at most'
  return {
    text: `${nameOf(changed)} ${is}.`,
    undo: () => change(changed, { url, events, note, state }),
  }
}

export async function remove(endpoint: Endpoint): Promise<Done> {
  await call('DELETE', `/${endpoint.endpoint}`)
  return { text: `${nameOf(endpoint)} is deleted.` }
}

export async function sendTest(endpoint: Endpoint): Promise<Done> {
  await call('POST', `/${endpoint.endpoint}/test`)
  return { text: `A test is on its way to ${nameOf(endpoint)}.` }
}

export async function tryNow(endpoint: Endpoint): Promise<Done> {
  const { tried } = await call<{ tried: number }>('POST', `/${endpoint.endpoint}/try`)
  return {
    text: `${nameOf(endpoint)} is asked again now; ${count(tried)} ${tried === 1 ? 'message waits' : 'messages wait'}.`,
  }
}

export async function sendAgain(endpoint: Endpoint, what: object): Promise<Done> {
  const { replayed } = await call<{ replayed: number }>('POST', `/${endpoint.endpoint}/replay`, what)
  return { text: `${count(replayed)} ${replayed === 1 ? 'message is' : 'messages are'} sent again.` }
}
