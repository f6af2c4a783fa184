/** An origin whose provider is Stripe, with a key that takes money; the sandbox takes the payments of test sales. */
import { afterAll, describe, expect, test } from 'vitest'
import { eventually, eventuallyMatches } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOwnOrigin } from '../../test/lib/origin-process.ts'
import { sandboxWebhook } from '../../test/lib/payments.ts'
import { useDatabase, useRedis } from '../../test/lib/servers.ts'
import { startStripe } from '../../test/stand-ins/stripe.ts'

const secretKey = 'sk_live_of_a_local_server'
const webhookSecret = 'whsec_of_a_local_server'
const sandboxSecret = 'webhooks-of-the-sandbox-of-this-test'
const stripe = await startStripe({ secretKey, webhookSecret, webhookUrl: () => `${origin.url()}/webhooks/stripe` })
afterAll(() => stripe.stop())
const database = useDatabase()
const redis = useRedis()
/** In development as to its secrets. */
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }), {
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: secretKey,
  STRIPE_WEBHOOK_SECRET: webhookSecret,
  STRIPE_API_URL: stripe.url,
  WEBHOOK_SECRET: sandboxSecret,
  SANDBOX_SLOW_MS: '500',
})

async function buy(payment_method?: string, sale: object = {}) {
  const saleId = await origin.sale({ total: 3, ...sale })
  const token = await origin.token(saleId)
  const { body } = await origin.checkout(saleId, { token, body: payment_method ? { payment_method } : {} })
  const id = body.order_id ?? ''
  const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
  const isConfirmed = () => eventuallyMatches(read, { status: 'confirmed' })
  return { saleId, id, token, read, isConfirmed }
}
const hasSandbox = async () => (await origin.sql()`select to_regnamespace('sandbox') is not null as has`)[0]?.has
const inSandbox = async (id: string) =>
  (await hasSandbox()) ? origin.sql()`select status from sandbox.charges where order_id = ${id}` : []
const atStripe = (id: string) => async () => stripe.intents(id)

/** An order whose buyer is at their bank, and the charge. */
async function buyWith3ds() {
  const bought = await buy('pm_card_threeDSecure2Required')
  const [{ id: charge, client_secret } = { id: '', client_secret: '' }] = await eventually(
    atStripe(bought.id),
    (intents) => intents.length > 0,
  )
  const next_action = { type: 'redirect', url: `${stripe.url}/3ds/${charge}` }
  const payment = { status: 'requires_action', next_action, client_secret, attempts_left: 2 }
  await eventuallyMatches(bought.read, { payment })
  return { ...bought, charge, client_secret }
}
async function isPaid({ id, read }: Awaited<ReturnType<typeof buy>>) {
  await eventuallyMatches(read, { status: 'confirmed', payment: { status: 'succeeded' } })
  await eventuallyMatches(atStripe(id), [{ status: 'succeeded' }])
  await eventuallyMatches(read, { payment: { card: { brand: 'Visa', last4: '4242' } } })
}

test('has no schema of the sandbox until a test sale is paid', async () => {
  const { isConfirmed } = await buy('pm_card_visa')
  await isConfirmed()
  await eventuallyMatches(() => origin.sql()`select provider from comparisons`, [{ provider: 'stripe' }])
  expect(await hasSandbox()).toBe(false)
  const bought = await buy('pm_ok', { test: true })
  await bought.isConfirmed()
  expect(await hasSandbox()).toBe(true)
})

describe.concurrent('an origin with Stripe', () => {
  test('confirms and captures an authorized order with one charge', async () => {
    const { saleId, id, isConfirmed } = await buy('pm_card_visa')
    await isConfirmed()
    await eventuallyMatches(atStripe(id), [{ amount: 1_000, currency: 'eur', status: 'succeeded' }])
    const capture = `POST /v1/payment_intents/${stripe.intents(id)[0]?.id}/capture`
    expect(stripe.calls.filter((call) => call === capture)).toHaveLength(1)
    expect(await origin.stock(saleId)).toMatchObject({ available: 2, held: 0, sold: 1 })
    expect(await inSandbox(id)).toEqual([])
  })

  test('shows the secret of a payment, and where to authenticate it, to its buyer alone', async () => {
    const endpoint = { url: 'http://127.0.0.1:9/', events: ['*'], state: 'paused' }
    const webhook = String((await origin.admin('POST', '/webhooks', endpoint)).body.endpoint)
    const { saleId, id, charge, client_secret } = await buyWith3ds()
    await origin.admin('POST', `/orders/${id}/notes`, { text: 'asked' })
    const texts = await Promise.all(
      [
        ...[`/orders/${id}`, `/orders?q=${id}`, `/orders?sale=${saleId}`, `/sales/${saleId}/orders`],
        ...[`/sales/${saleId}/orders?format=csv`, `/audit?sale=${saleId}`],
      ].map((path) => origin.admin('GET', path)),
    )
    const sent = await eventually(
      async () => JSON.stringify((await origin.admin('GET', `/webhooks/${webhook}/deliveries`)).body),
      (text) => text.includes('requires_action'),
    )
    const seen = JSON.stringify(texts.map(({ body }) => body)) + sent + origin.log()
    expect(seen).toContain('requires_action')
    expect(seen).not.toContain(client_secret)
    expect(seen).not.toContain(`/3ds/${charge}`)
  })

  test('confirms what its buyer has authenticated', async () => {
    const bought = await buyWith3ds()
    stripe.authenticate(bought.charge, true)
    await isPaid(bought)
  })

  test('refunds a capture of a cancelled order, and reopens a refund that the bank sends back', async () => {
    const { saleId, id, token } = await buy()
    await origin.call('DELETE', `/orders/${id}`, { token })
    const intent = stripe.add({ order: id }, 1_000, 'eur')
    stripe.succeed(intent.id)
    const findings = async () => (await origin.admin('GET', `/sales/${saleId}/findings`)).body.findings
    const refunds = () => origin.sql()`
      select refunded_at is not null as done from refunds where charge_id = ${intent.id}`
    await eventuallyMatches(refunds, [{ done: true }])
    expect(intent.refunded).toBe(true)
    expect(await origin.stock(saleId)).toMatchObject({ available: 3, held: 0, sold: 0 })
    expect(await findings()).toEqual([])
    stripe.sendRefundBack(intent.id)
    const detail = { order: id, error: 'the bank sent it back' }
    await eventuallyMatches(findings, [{ kind: 'refund_failed', subject: intent.id, detail }])
    expect(await refunds()).toEqual([{ done: false }])
  })

  test('has the sandbox alone take the payment of a test sale, and refund it', async () => {
    const { id, read, isConfirmed } = await buy('pm_ok', { test: true })
    await isConfirmed()
    await eventuallyMatches(() => inSandbox(id), [{ status: 'captured' }])
    expect(stripe.intents(id)).toEqual([])
    const refund = { token: ADMIN_TOKEN, headers: { 'idempotency-key': id } }
    expect((await origin.call('POST', `/admin/orders/${id}/refund`, refund)).status).toBe(202)
    await eventuallyMatches(() => inSandbox(id), [{ status: 'refunded' }])
    await eventuallyMatches(read, { status: 'refunded' })
  })
})

test('finds in the records of Stripe what no webhook reported, and believes no records of the sandbox', async () => {
  const [awaiting3ds, authorized, captured, unpaid] = [await buyWith3ds(), await buy(), await buy(), await buy()]
  stripe.settings.sendsWebhooks = false
  stripe.authenticate(awaiting3ds.charge, true)
  stripe.authorize(stripe.add({ order: authorized.id }, 1_000, 'eur').id)
  stripe.succeed(stripe.add({ order: captured.id }, 1_000, 'eur').id)
  const charge = { charge: 'ch_00000000-0000-4000-8000-000000000000', order: unpaid.id, status: 'authorized' }
  expect(await sandboxWebhook(origin, charge, sandboxSecret)).toMatchObject({ status: 200 })
  expect(await sandboxWebhook(origin, charge, 'development-webhook-secret-0000000')).toMatchObject({ status: 401 })
  await origin.sql()`
    insert into sandbox.charges (charge_id, idempotency_key, order_id, attempt, amount_minor, currency, method, status)
    values (${charge.charge}, 'key', ${unpaid.id}, 1, 1000, 'EUR', 'pm_ok', 'authorized')`
  await origin.sql()`update comparisons set compared_at = now() - interval '1 hour' where provider = 'sandbox'`
  await isPaid(awaiting3ds)
  await authorized.isConfirmed()
  await captured.isConfirmed()
  const captures = () => origin.sql()`
    select order_id from captures where captured_at is not null
      and order_id = any(${[authorized.id, captured.id]}::uuid[])`
  await eventuallyMatches(captures, [{}, {}])
  const compared = () =>
    origin.sql()`select from comparisons where provider = 'sandbox' and compared_at > now() - interval '1 minute'`
  await eventuallyMatches(compared, [{}])
  expect(await unpaid.read()).toMatchObject({ status: 'reserved', payment: null })
  expect(stripe.intents(unpaid.id)).toEqual([])
})
