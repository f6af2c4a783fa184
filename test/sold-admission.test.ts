/** An admission that its holder sells: of no use to the buyer at the edge, nor past it at the origin. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import type { QueueAnswer } from '../shared/api/public.ts'
import { createSale, saleOf } from './origin-process.ts'
import { ledgerDatabase } from './servers.ts'

const SALE = 'signed-in'
const SHOP = { SHOP_ISSUER: 'the shop', SHOP_AUDIENCE: 'the line' }

const { publicKey, privateKey } = await generateKeyPair('ES256')
const jwks = JSON.stringify({ keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: 'ES256' }] })
const shop = createServer((_request, response) => response.end(jwks))
let system: System

beforeAll(async () => {
  await new Promise<void>((resolve) => shop.listen(0, '127.0.0.1', resolve))
  const SHOP_JWKS_URL = `http://127.0.0.1:${(shop.address() as AddressInfo).port}`
  system = await startSystem({
    databaseUrl: (await ledgerDatabase()).url,
    originEnv: { ALLOW_DIRECT: 'false' },
    edgeVars: { ...SHOP, SHOP_JWKS_URL },
  })
  await createSale(system, SALE, saleOf(5))
})
afterAll(async () => {
  await system?.stop()
  shop.close()
})

const session = (subject: string) =>
  new SignJWT({})
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setSubject(subject)
    .setIssuer(SHOP.SHOP_ISSUER)
    .setAudience(SHOP.SHOP_AUDIENCE)
    .setExpirationTime('5m')
    .sign(privateKey)

const as = async (subject: string) => ({ 'x-shop-authorization': `Bearer ${await session(subject)}` })

async function admissionOf(subject: string): Promise<string> {
  const headers = await as(subject)
  const ask = async (path: string, init: RequestInit): Promise<QueueAnswer> =>
    (await (await fetch(`${system.edgeUrl}/sales/${SALE}${path}`, init)).json()) as QueueAnswer
  const { queue_token } = await ask('/queue', { method: 'POST', headers })
  for (let tries = 0; tries < 600; tries++) {
    const status = await ask('/queue/status', { headers: { ...headers, authorization: `Bearer ${queue_token}` } })
    if (status.admission_token) return status.admission_token
    await sleep(100)
  }
  throw new Error('The turn did not come.')
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
  const atEdge = await checkout(edgeUrl, token, await as('mallory'))
  expect(atEdge).toEqual({ status: 429, type: '/problems/not-admitted' })
  const pretended = { 'edge-token': 'edge', ...(await as('ada')) }
  for (const headers of [{}, pretended])
    expect(await checkout(originUrl, token, headers)).toEqual({ status: 403, type: '/problems/edge-only' })
  expect(await checkout(edgeUrl, token, await as('ada'))).toEqual({ status: 201, type: undefined })
})
