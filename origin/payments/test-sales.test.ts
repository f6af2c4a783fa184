import { afterAll, afterEach, expect, test } from 'vitest'
import { useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { startStripe } from '../../test/stand-ins/stripe.ts'
import { signWebhook } from './providers/sandbox.ts'

const secretKey = 'sk_live_of_a_local_server'
const webhookSecret = 'whsec_of_a_local_server'
const sandboxSecret = 'webhooks-of-the-sandbox-of-this-test'
const stripe = await startStripe({ secretKey, webhookSecret, webhookUrl: () => `${origin.url()}/webhooks/stripe` })
afterAll(() => stripe.stop())
afterEach(() => {
  stripe.settings.sendsWebhooks = true
})
const database = useDatabase()
const redis = useRedis()
/** In development as to its secrets; the key is one that takes money. */
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }), {
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: stripe.url,
  WEBHOOK_SECRET: sandboxSecret,
  SANDBOX_SLOW_MS: '500',
})

async function buy(isTest: boolean, payment_method?: string) {
  const sale = await origin.sale({ total: 3, test: isTest })
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token, body: payment_method ? { payment_method } : {} })
  const id = body.order_id ?? ''
  const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
  return { sale, id, token, read }
}
const inSandbox = (id: string) => origin.sql()`select status from sandbox.charges where order_id = ${id}`

test('a test sale is paid by the sandbox alone, beside a provider that takes money', async () => {
  const { id, read } = await buy(true, 'pm_ok')
  await expect.poll(read).toMatchObject({ status: 'confirmed' })
  await expect.poll(() => inSandbox(id)).toEqual([{ status: 'captured' }])
  expect(stripe.intents(id)).toEqual([])
  const refund = { token: 'test-admin-token-of-at-least-32-characters', headers: { 'idempotency-key': id } }
  expect((await origin.call('POST', `/admin/orders/${id}/refund`, refund)).status).toBe(202)
  await expect.poll(() => inSandbox(id)).toEqual([{ status: 'refunded' }])
  await expect.poll(read).toMatchObject({ status: 'refunded' })
})

test('the sandbox declines in a test sale, and nobody else is asked', async () => {
  const { id, read } = await buy(true, 'pm_declined')
  await expect.poll(read).toMatchObject({ status: 'reserved', payment: { status: 'declined' } })
  expect(stripe.intents(id)).toEqual([])
})

test("any other sale is paid by its provider alone, and the sandbox's word does not count", async () => {
  const { id, read } = await buy(false, 'pm_card_visa')
  await expect.poll(read).toMatchObject({ status: 'confirmed' })
  expect(stripe.intents(id)).toHaveLength(1)
  expect(await inSandbox(id)).toEqual([])

  const unpaid = await buy(false)
  const charge = { charge: 'ch_00000000-0000-4000-8000-000000000000', order: unpaid.id, status: 'authorized' }
  const body = JSON.stringify({ ...charge, attempt: 1, refunded_minor: 0, amount_minor: 1_000, currency: 'EUR' })
  const report = (secret: string) =>
    origin.call('POST', '/webhooks/sandbox', {
      body,
      headers: { 'sandbox-signature': signWebhook(secret, body, Math.floor(Date.now() / 1000)) },
    })
  expect(await report(sandboxSecret)).toMatchObject({ status: 200 })
  expect(await report('development-webhook-secret-0000000')).toMatchObject({ status: 401 })
  await origin.sql()`
    insert into sandbox.charges (charge_id, idempotency_key, order_id, attempt, amount_minor, currency, method, status)
    values (${charge.charge}, 'key', ${unpaid.id}, 1, 1000, 'EUR', 'pm_ok', 'authorized')`
  await origin.sql()`update comparisons set compared_at = now() - interval '1 hour' where provider = 'sandbox'`
  const isCompared = () =>
    origin.sql()`select from comparisons where provider = 'sandbox' and compared_at > now() - interval '1 minute'`
  await expect.poll(isCompared).toHaveLength(1)
  expect(await unpaid.read()).toMatchObject({ status: 'reserved', payment: null })
  expect(stripe.intents(unpaid.id)).toEqual([])
})
