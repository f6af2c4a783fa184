/** An admission that its holder sells: of no use to the buyer at the edge, nor past it at the origin. */
import { beforeAll, expect, test } from 'vitest'
import type { QueueAnswer } from '../shared/api/public.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { signedIn } from './lib/shop-session.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'signed-in'
const system = await sharedPart('system')
beforeAll(() => createSale(system, SALE, saleOf(5)))

async function admissionOf(subject: string): Promise<string> {
  const headers = await signedIn(subject)
  const ask = async (path: string, init: RequestInit): Promise<QueueAnswer> =>
    (await (await fetch(`${system.edgeUrl}/sales/${SALE}${path}`, init)).json()) as QueueAnswer
  const { queue_token } = await ask('/queue', { method: 'POST', headers })
  let admission: string | undefined
  const isCalled = async () => {
    const status = await ask('/queue/status', { headers: { ...headers, authorization: `Bearer ${queue_token}` } })
    admission = status.admission_token
    return admission !== undefined
  }
  await expect.poll(isCalled).toBe(true)
  return admission ?? ''
}

async function checkout(url: string, token: string, headers: Record<string, string>) {
  const response = await fetch(`${url}/sales/${SALE}/checkout`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': 'k',
      ...headers,
    },
    body: '{}',
  })
  return { status: response.status, type: ((await response.json()) as { type?: string }).type }
}

test('a sold admission buys nothing, with another session at the edge or directly at the origin', async () => {
  const token = await admissionOf('ada')
  const { edgeUrl, originUrl } = system
  const atEdge = await checkout(edgeUrl, token, await signedIn('mallory'))
  expect(atEdge).toEqual({ status: 429, type: '/problems/not-admitted' })
  const pretended = { 'edge-token': 'edge', ...(await signedIn('ada')) }
  for (const headers of [{}, pretended])
    expect(await checkout(originUrl, token, headers)).toEqual({ status: 403, type: '/problems/edge-only' })
  expect(await checkout(edgeUrl, token, await signedIn('ada'))).toEqual({ status: 201, type: undefined })
})
