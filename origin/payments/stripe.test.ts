import { randomUUID } from 'node:crypto'
import { afterAll, afterEach, describe, expect, test } from 'vitest'
import { eventually, useOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { signStripe, startStripe } from '../../test/stripe.ts'
import type { ChargeRecord, PaymentProvider } from './provider.ts'
import { stripeProvider } from './stripe.ts'

const secretKey = 'sk_test_played_by_a_local_server'
const webhookSecret = 'whsec_played_by_a_local_server'

describe('Stripe as a provider', async () => {
  const stripe = await startStripe({ secretKey, webhookSecret })
  afterAll(() => stripe.stop())
  const provide = (options: { secretKey?: string; nowMs?: () => number } = {}) =>
    stripeProvider({
      secretKey,
      webhookSecret,
      apiUrl: stripe.url,
      timeoutMs: 300,
      nowMs: Date.now,
      ...options,
    })
  const provider = provide()
  const authorize = (order: string, method = 'pm_card_visa') =>
    provider.authorize({ order, amountMinor: 2_000, currency: 'EUR', method })
  /** The intent of an order, and what a provider is asked about it with. */
  const madeFor = (order: string) => {
    const [intent] = stripe.intents(order)
    if (!intent) throw new Error(`nothing was asked of Stripe for ${order}`)
    return { intent, of: { charge: intent.id, order } }
  }

  async function read(from: PaymentProvider, since: string | null) {
    const records: ChargeRecord[] = []
    let cursor = since
    for await (const page of from.changes(since)) {
      records.push(...page.records)
      cursor = page.cursor
    }
    return { records, cursor }
  }

  test('authorizes the charge of an order once, however often it is asked, and takes no money', async () => {
    const order = randomUUID()
    const answers = [await authorize(order), ...(await Promise.all([authorize(order), authorize(order)]))]
    const intents = stripe.intents(order)
    expect(intents).toMatchObject([
      { amount: 2_000, currency: 'eur', metadata: { order }, status: 'requires_capture' },
    ])
    expect(answers).toEqual(Array(3).fill({ result: 'authorized', charge: intents[0]?.id }))
    expect(await provider.find(order)).toMatchObject({ status: 'authorized' })
  })

  test.each([
    ['EUR', 12_345, 12_345],
    ['JPY', 500, 500],
    ['KWD', 5_120, 5_120],
    ['ISK', 500, 50_000],
    ['UGX', 60_000, 6_000_000],
    ['MGA', 50_000, 500],
  ])("counts in Stripe's units of %s, and reads them back: %i for %i", async (currency, ours, theirs) => {
    const order = randomUUID()
    await provider.authorize({ order, amountMinor: ours, currency, method: 'pm_card_visa' })
    expect(stripe.intents(order)).toMatchObject([{ amount: theirs, currency: currency.toLowerCase() }])
    expect(await provider.find(order)).toMatchObject({ amountMinor: ours, currency })
  })

  test('captures what is authorized once, and is content with what is captured already', async () => {
    const [order, byHand] = [randomUUID(), randomUUID()]
    await authorize(order)
    await authorize(byHand)
    const { of } = madeFor(order)
    expect(await provider.capture(of)).toBe(true)
    expect(await provider.capture(of)).toBe(true)
    expect(await provider.find(order)).toMatchObject({ status: 'captured' })
    stripe.succeed(madeFor(byHand).of.charge)
    expect(await provider.capture(madeFor(byHand).of)).toBe(true)
    const { records } = await read(provider, null)
    const captured = records.filter((r) => r.order === order && r.status === 'captured')
    expect(captured).toHaveLength(1)
  })

  test('knows what can never be captured from what cannot be captured yet', async () => {
    const [lapsed, early] = [randomUUID(), randomUUID()]
    await authorize(lapsed)
    stripe.cancel(madeFor(lapsed).of.charge)
    expect(await provider.capture(madeFor(lapsed).of)).toBe(false)
    await authorize(early, 'pm_card_processing')
    await expect(provider.capture(madeFor(early).of)).rejects.toThrow('the charge is pending')
    stripe.authorize(madeFor(early).of.charge)
    expect(await provider.capture(madeFor(early).of)).toBe(true)
    await expect(provider.capture({ charge: 'pi_none', order: early })).rejects.toThrow()
  })

  test.each([
    ['pm_card_chargeDeclined', 'card_declined'],
    ['pm_card_authenticate', 'authentication_required'],
    ['pm_unknown', 'resource_missing'],
  ])('takes %s for a no', async (method, reason) => {
    expect(await authorize(randomUUID(), method)).toEqual({ result: 'declined', reason })
  })

  test('knows that nothing has happened where it asked too much of Stripe, or what it may not', async () => {
    const order = randomUUID()
    stripe.turnAway(1)
    expect(await authorize(order)).toMatchObject({ result: 'turned_away' })
    expect(await authorize(order, 'pm_card_error_403')).toEqual({
      result: 'turned_away',
      reason: 'StripePermissionError: It did not work.',
    })
    expect(await authorize(order)).toMatchObject({ result: 'authorized' })
  })

  test.each(['pm_card_silent', 'pm_card_error_409', 'pm_card_error_500'])(
    'does not know after %s',
    async (method) => {
      const order = randomUUID()
      expect(await authorize(order, method)).toMatchObject({ result: 'unknown' })
      expect(await provider.find(order)).toBeUndefined()
    },
  )

  test('does not take a key that is not accepted for a no, and says what is wrong without it', async () => {
    const request = { order: randomUUID(), amountMinor: 100, currency: 'EUR', method: 'pm_card_visa' }
    expect(await provide({ secretKey: 'sk_test_another' }).authorize(request)).toEqual({
      result: 'turned_away',
      reason: 'StripeAuthenticationError: Invalid API Key provided: test key',
    })
  })

  test('finds, and does not repeat, the charge whose answer was lost', async () => {
    const order = randomUUID()
    expect(await authorize(order, 'pm_card_unheard')).toMatchObject({ result: 'unknown' })
    const [intent] = stripe.intents(order)
    expect(await provider.find(order)).toEqual({
      ...{ charge: intent?.id, order, status: 'authorized' },
      ...{ amountMinor: 2_000, currency: 'EUR' },
    })
    expect(await authorize(order, 'pm_card_unheard')).toEqual({ result: 'authorized', charge: intent?.id })
    expect(stripe.intents(order)).toHaveLength(1)
  })

  test('cancels what has not happened, and says what stands where it is too late', async () => {
    const [early, late] = [randomUUID(), randomUUID()]
    expect(await authorize(early, 'pm_card_processing')).toMatchObject({ result: 'unknown' })
    const pending = await provider.find(early)
    expect(pending).toMatchObject({ status: 'pending' })
    expect(await provider.cancel(pending?.charge ?? '')).toMatchObject({ order: early, status: 'cancelled' })
    expect(await provider.cancel(pending?.charge ?? '')).toMatchObject({ order: early, status: 'cancelled' })
    await authorize(late)
    const { of } = madeFor(late)
    await provider.capture(of)
    expect(await provider.cancel(of.charge)).toMatchObject({ ...of, status: 'captured', amountMinor: 2_000 })
  })

  test('voids what is authorized and not captured, and takes nothing of it afterwards', async () => {
    const order = randomUUID()
    await authorize(order)
    const { intent, of } = madeFor(order)
    const before = stripe.calls.length
    await provider.refund(of)
    await provider.refund(of)
    expect(intent.status).toBe('canceled')
    expect(stripe.calls.slice(before)).not.toContain('POST /v1/refunds')
    expect(await provider.find(order)).toMatchObject({ status: 'cancelled' })
    expect(await provider.capture(of)).toBe(false)
  })

  test('refunds what is captured once, and is content with what is refunded already', async () => {
    const [order, byHand] = [randomUUID(), randomUUID()]
    await authorize(order)
    await authorize(byHand)
    const { of } = madeFor(order)
    await provider.capture(of)
    const refunded = () => stripe.events.filter((e) => e.type === 'charge.refunded').length
    const before = refunded()
    await provider.refund(of)
    await provider.refund(of)
    expect(refunded()).toBe(before + 1)
    expect(await provider.find(order)).toMatchObject({ status: 'refunded' })
    expect(await provider.capture(of)).toBe(true)
    await provider.capture(madeFor(byHand).of)
    stripe.refund(madeFor(byHand).of.charge)
    await provider.refund(madeFor(byHand).of)
    await expect(provider.refund({ charge: 'pi_none', order })).rejects.toThrow()
  })

  test('refunds at a later attempt what it could not at the first, and takes no failed refund for one', async () => {
    const order = randomUUID()
    const intent = stripe.add({ order }, 100, 'eur')
    const refund = () => provider.refund({ charge: intent.id, order })
    stripe.succeed(intent.id)
    stripe.refundsAre('failed')
    await expect(refund()).rejects.toThrow('the refund is failed')
    stripe.refundsAre('pending')
    await refund()
    expect(intent.refunded).toBe(true)
    stripe.refundsAre('succeeded')
  })

  test('lists what changed, the oldest first, over several pages, and leaves out what is not ours', async () => {
    const { cursor } = await read(provider, null)
    const orders = Array.from({ length: 230 }, () => randomUUID())
    stripe.succeed(stripe.add({ order: 'A-1001' }, 100, 'eur').id)
    for (const order of orders) stripe.succeed(stripe.add({ order }, 100, 'eur').id)
    stripe.succeed(stripe.add({}, 100, 'eur').id)
    const changed = await read(provider, cursor)
    expect(changed.records.map((r) => r.order)).toEqual(orders)
    expect(new Set(changed.records.map((r) => r.status))).toEqual(new Set(['captured']))
    expect(await read(provider, changed.cursor)).toEqual({ records: [], cursor: changed.cursor })
    const all = await read(provider, null)
    expect(all.records.slice(-230).map((r) => r.order)).toEqual(orders)
    expect(all.cursor).toBe(changed.cursor)
  })

  test('begins again where it left off in records that Stripe keeps no longer', async () => {
    await authorize(randomUUID())
    const { cursor } = await read(provider, null)
    stripe.forgetEvents()
    expect((await read(provider, cursor)).records).toEqual([])
    const order = randomUUID()
    await authorize(order)
    expect((await read(provider, cursor)).records).toMatchObject([{ order, status: 'authorized' }])
  })

  test('leaves nothing of the last day out at the first look, however much it is', async () => {
    stripe.forgetEvents()
    const orders = Array.from({ length: 10_050 }, () => randomUUID())
    for (const order of orders) stripe.succeed(stripe.add({ order }, 100, 'eur').id)
    const { records } = await read(provider, null)
    expect(records.map((r) => r.order)).toEqual(orders)
    stripe.forgetEvents()
  })

  test('begins with the last event before that day', async () => {
    await authorize(randomUUID())
    const last = randomUUID()
    await authorize(last)
    const nextWeek = provide({ nowMs: () => Date.now() + 7 * 24 * 3_600_000 })
    expect((await read(nextWeek, null)).records.map((r) => r.order)).toEqual([last])
  })

  describe('reads a webhook', () => {
    const order = randomUUID()
    const intent = (status: string, metadata: object = { order }) => ({
      id: 'pi_1',
      object: 'payment_intent',
      metadata,
      status,
      currency: 'eur',
      amount_capturable: 1_000,
      amount_received: 1_500,
    })
    const event = (type: string, object: object) =>
      JSON.stringify({ id: 'evt_1', object: 'event', type, data: { object } })
    const deliver = (body: string, header = signStripe(webhookSecret, body), nowMs = Date.now()) =>
      provide({ nowMs: () => nowMs }).readWebhook(new Headers({ 'stripe-signature': header }), body)
    const body = event('payment_intent.succeeded', intent('succeeded'))

    test('by what it says of the charge', async () => {
      const taken = { charge: 'pi_1', order, status: 'captured', amountMinor: 1_500, currency: 'EUR' }
      expect(await deliver(body)).toEqual(taken)
      const authorized = event('payment_intent.amount_capturable_updated', intent('requires_capture'))
      expect(await deliver(authorized)).toEqual({ ...taken, status: 'authorized', amountMinor: 1_000 })
      const failed = { ...intent('requires_payment_method'), last_payment_error: { code: 'card_declined' } }
      expect(await deliver(event('payment_intent.payment_failed', failed))).toMatchObject({
        status: 'declined',
      })
      const refunded = { object: 'charge', payment_intent: 'pi_1', metadata: { order }, refunded: true }
      expect(await deliver(event('charge.refunded', refunded))).toEqual({
        charge: 'pi_1',
        order,
        status: 'refunded',
      })
      const sentBack = { object: 'refund', payment_intent: 'pi_1', metadata: { order }, status: 'failed' }
      expect(await deliver(event('refund.failed', sentBack))).toEqual({
        charge: 'pi_1',
        order,
        status: 'refund_failed',
      })
    })

    test('and passes over what is not about an order of ours', async () => {
      expect(await deliver(event('customer.created', { object: 'customer' }))).toBeNull()
      expect(
        await deliver(event('payment_intent.succeeded', intent('succeeded', { order: 'A-1001' }))),
      ).toBeNull()
    })

    test('only when its signature holds', async () => {
      expect(await deliver(body, '')).toBeUndefined()
      expect(await deliver(body, 't=1,v1=00')).toBeUndefined()
      expect(await deliver(body, signStripe('whsec_other', body))).toBeUndefined()
      expect(await deliver(body.replace('pi_1', 'pi_2'), signStripe(webhookSecret, body))).toBeUndefined()
    })

    test('only while it is fresh by the clock of the ledger', async () => {
      const header = signStripe(webhookSecret, body)
      expect(await deliver(body, header, Date.now() + 310_000)).toBeUndefined()
      expect(await deliver(body, header, Date.now() + 200_000)).toMatchObject({ status: 'captured' })
    })
  })
})

describe('an origin that takes money through Stripe', async () => {
  const database = useDatabase()
  const redis = useRedis()
  const stripe = await startStripe({
    secretKey,
    webhookSecret,
    webhookUrl: () => `${origin.url()}/webhooks/stripe`,
  })
  afterAll(() => stripe.stop())
  afterEach(() => stripe.sendWebhooks(true))
  const origin = useOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }), {
    PAYMENT_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: secretKey,
    STRIPE_WEBHOOK_SECRET: webhookSecret,
    STRIPE_API_URL: stripe.url,
  })

  async function buy(payment_method?: string) {
    const sale = await origin.sale({ total: 3 })
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token, body: payment_method ? { payment_method } : {} })
    const id = body.order_id ?? ''
    const status = async () => (await origin.call('GET', `/orders/${id}`, { token })).body.status
    return { sale, id, token, becomes: (s: string) => eventually(status, (now) => now === s) }
  }

  test('confirms what is authorized, captures it, with one charge, and the unit is sold', async () => {
    const { sale, id, becomes } = await buy('pm_card_visa')
    expect(await becomes('confirmed')).toBe('confirmed')
    expect(
      await eventually(
        async () => stripe.intents(id),
        ([intent]) => intent?.status === 'succeeded',
      ),
    ).toMatchObject([{ amount: 1_000, currency: 'eur', status: 'succeeded' }])
    expect(
      stripe.calls.filter((call) => call === `POST /v1/payment_intents/${stripe.intents(id)[0]?.id}/capture`),
    ).toHaveLength(1)
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 0, sold: 1 })
  })

  test('cancels what is declined, and the unit returns', async () => {
    const { sale, becomes } = await buy('pm_card_chargeDeclined')
    expect(await becomes('cancelled')).toBe('cancelled')
    expect(await origin.stock(sale)).toMatchObject({ available: 3, held: 0, sold: 0 })
  })

  test('hears by webhook of a charge whose answer was lost', async () => {
    const { id, becomes } = await buy('pm_card_unheard')
    expect(await becomes('confirmed')).toBe('confirmed')
    expect(stripe.intents(id)).toHaveLength(1)
  })

  test('finds in the records of Stripe what neither answer nor webhook told', async () => {
    stripe.sendWebhooks(false)
    const [authorized, captured] = [await buy(), await buy()]
    stripe.authorize(stripe.add({ order: authorized.id }, 1_000, 'eur').id)
    stripe.succeed(stripe.add({ order: captured.id }, 1_000, 'eur').id)
    expect(await authorized.becomes('confirmed')).toBe('confirmed')
    expect(await captured.becomes('confirmed')).toBe('confirmed')
    const noted = () =>
      origin.sql()`
        select order_id from captures where captured_at is not null
          and order_id = any(${[authorized.id, captured.id]}::uuid[])`
    expect(await eventually(noted, (rows) => rows.length === 2, 25_000)).toHaveLength(2)
  }, 40_000)

  test('voids what is authorized for an order that is over, and takes no money', async () => {
    const { id, token } = await buy()
    await origin.call('DELETE', `/orders/${id}`, { token })
    const intent = stripe.add({ order: id }, 1_000, 'eur')
    stripe.authorize(intent.id)
    expect(
      await eventually(
        async () => intent.status,
        (status) => status === 'canceled',
      ),
    ).toBe('canceled')
    const captured = stripe.events.filter(({ type, data }) => {
      return type === 'payment_intent.succeeded' && (data.object as { id: string }).id === intent.id
    })
    expect(captured).toEqual([])
  })

  test('gives back what is captured for an order that is over', async () => {
    const { sale, id, token } = await buy()
    await origin.call('DELETE', `/orders/${id}`, { token })
    const intent = stripe.add({ order: id }, 1_000, 'eur')
    stripe.succeed(intent.id)
    expect(
      await eventually(
        async () => intent.refunded,
        (refunded) => refunded,
      ),
    ).toBe(true)
    expect(await origin.stock(sale)).toMatchObject({ available: 3, held: 0, sold: 0 })
  })

  test('owes again, and tells a person, what the bank sends back', async () => {
    const { sale, id, token } = await buy()
    await origin.call('DELETE', `/orders/${id}`, { token })
    const intent = stripe.add({ order: id }, 1_000, 'eur')
    stripe.succeed(intent.id)
    const findings = async () =>
      (await origin.admin('GET', `/sales/${sale}/findings`)).body.findings as unknown[]
    const isRefunded = async () => {
      const [refund] = await origin.sql()`select refunded_at from refunds where charge_id = ${intent.id}`
      return refund?.refunded_at != null
    }
    expect(await eventually(isRefunded, Boolean)).toBe(true)
    expect(await findings()).toEqual([])
    stripe.sendRefundBack(intent.id)
    expect(await eventually(findings, (found) => found.length > 0)).toMatchObject([
      { kind: 'refund_failed', subject: intent.id, detail: { order: id, error: 'the bank sent it back' } },
    ])
    expect(await isRefunded()).toBe(false)
  })

  test('believes no webhook that Stripe did not sign', async () => {
    const { id, becomes } = await buy()
    const object = { id: 'pi_1', object: 'payment_intent', status: 'succeeded', metadata: { order: id } }
    const body = JSON.stringify({
      id: 'evt_1',
      object: 'event',
      type: 'payment_intent.succeeded',
      data: { object },
    })
    const headers = { 'stripe-signature': signStripe('whsec_other', body) }
    expect(await origin.call('POST', '/webhooks/stripe', { body, headers })).toMatchObject({ status: 401 })
    expect(await becomes('reserved')).toBe('reserved')
  })
})
