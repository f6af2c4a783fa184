/** The client verifies what the origin signs. */
import { expect, test } from 'vitest'
import { newSecret, rotate, signedHeaders } from '../../origin/webhooks/signing.ts'
import { verifyWebhook, WebhookError } from './webhooks.ts'

const BODY = JSON.stringify({ type: 'webhook.test', timestamp: '2026-11-27T12:00:00.000Z', data: { endpoint: 'é' } })
const secret = newSecret()
const at = new Date('2026-11-27T12:00:00Z')
const nowMs = at.getTime()

const requestOf = (headers: Record<string, string>, body = BODY) =>
  new Request('https://shop.example/hooks', { method: 'POST', headers, body })
const signed = (secrets = [{ secret }], when = at) => signedHeaders(secrets, 'evt_1', BODY, when)

test('takes a message of the origin, and its time as a clock that is minutes off', async () => {
  const message = JSON.parse(BODY)
  expect(await verifyWebhook(secret, requestOf(signed()), { nowMs })).toEqual(message)
  expect(await verifyWebhook(secret, requestOf(signed()), { nowMs: nowMs + 299_000 })).toEqual(message)
  const fresh = signed(undefined, new Date())
  expect(await verifyWebhook(secret, requestOf(fresh))).toEqual(message)
})

test('takes either secret while it is rotated, on both sides', async () => {
  const next = newSecret()
  const both = requestOf(signed([...rotate([{ secret }], next, nowMs)]))
  expect(await verifyWebhook(secret, both.clone(), { nowMs })).toBeTruthy()
  expect(await verifyWebhook(next, both, { nowMs })).toBeTruthy()
  expect(await verifyWebhook([next, secret], requestOf(signed()), { nowMs })).toBeTruthy()
})

test.each<[string, Parameters<typeof verifyWebhook>]>([
  ['another secret', [newSecret(), requestOf(signed()), { nowMs }]],
  ['another body', [secret, requestOf(signed(), BODY.replace('é', 'e')), { nowMs }]],
  ['another id', [secret, requestOf({ ...signed(), 'webhook-id': 'evt_2' }), { nowMs }]],
  ['an old message', [secret, requestOf(signed()), { nowMs: nowMs + 301_000 }]],
  ['a message from later', [secret, requestOf(signed()), { nowMs: nowMs - 301_000 }]],
  ['no headers', [secret, requestOf({}), { nowMs }]],
  ['a time that is none', [secret, requestOf({ ...signed(), 'webhook-timestamp': 'NaN' }), { nowMs }]],
  [
    'a signature that is none',
    [secret, requestOf({ ...signed(), 'webhook-signature': 'v1,%% v2,AA== v1' }), { nowMs }],
  ],
])('refuses %s', async (_, call) => {
  await expect(verifyWebhook(...call)).rejects.toThrow(WebhookError)
})

test('says what is wrong with a secret', async () => {
  await expect(verifyWebhook('whsec_%%', requestOf(signed()), { nowMs })).rejects.toThrow('whsec_ and base64')
})
