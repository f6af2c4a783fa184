import { randomUUID } from 'node:crypto'
import { afterAll, describe, expect, test } from 'vitest'
import { providerCases } from '../../test/lib/provider-cases.ts'
import { signStripe, startStripe } from '../../test/stand-ins/stripe.ts'
import type { ChargeRecord, PaymentProvider } from './provider.ts'
import { stripeProvider } from './stripe.ts'

const secretKey = 'sk_test_of_a_local_server'
const webhookSecret = 'whsec_of_a_local_server'

const FIRST = { attempt: 1, returnUrl: 'http://shop.test/order' }

describe('the Stripe provider', async () => {
  const stripe = await startStripe({ secretKey, webhookSecret })
  afterAll(() => stripe.stop())
  const provide = (options: { secretKey?: string; nowMs?: () => number; timeoutMs?: number } = {}) =>
    stripeProvider({ secretKey, webhookSecret, apiUrl: stripe.url, nowMs: Date.now, ...options })
  const provider = provide()
  /** This provider has a short timeout, for methods that never answer. */
  const impatient = provide({ timeoutMs: 300 })
  const authorize = (order: string, method = 'pm_card_visa', by = provider) =>
    by.authorize({ order, amountMinor: 2_000, currency: 'EUR', method, ...FIRST })
  const chargeFor = (order: string) => ({ charge: stripe.intents(order)[0]?.id ?? '', order })
  const TAKEN = { card: { brand: 'Visa', last4: '4242' } }
  /** A new order with an authorized charge. */
  async function authorized() {
    const order = randomUUID()
    await authorize(order)
    return chargeFor(order)
  }

  async function readChanges(from: PaymentProvider, since: string | null) {
    const records: ChargeRecord[] = []
    let cursor = since
    for await (const page of from.changes(since)) {
      records.push(...page.records)
      cursor = page.cursor
    }
    return { records, cursor }
  }

  providerCases({
    provider,
    methods: {
      good: 'pm_card_visa',
      declined: 'pm_card_chargeDeclined',
      insufficient: 'pm_card_chargeDeclinedInsufficientFunds',
      needsBuyer: 'pm_card_threeDSecure2Required',
    },
    decide: async ({ charge }, isGood) => stripe.authenticate(charge, isGood),
  })

  test('authorizes an order once, however often it is requested', async () => {
    const order = randomUUID()
    const results = [await authorize(order), ...(await Promise.all([authorize(order), authorize(order)]))]
    const intents = stripe.intents(order)
    expect(intents).toMatchObject([{ amount: 2_000, currency: 'eur', metadata: { order }, status: 'requires_capture' }])
    expect(results).toEqual(Array(3).fill({ result: 'authorized', charge: intents[0]?.id }))
    expect(await provider.find(order)).toMatchObject({ status: 'authorized' })
  })

  test.each([
    ['EUR', 12_345, 12_345],
    ['JPY', 500, 500],
    ['KWD', 5_120, 5_120],
    ['ISK', 500, 50_000],
    ['UGX', 60_000, 6_000_000],
    ['MGA', 50_000, 500],
  ])("converts %s to Stripe's unit and back: %i is %i", async (currency, ours, theirs) => {
    const order = randomUUID()
    await provider.authorize({ order, amountMinor: ours, currency, method: 'pm_card_visa', ...FIRST })
    expect(stripe.intents(order)).toMatchObject([{ amount: theirs, currency: currency.toLowerCase() }])
    expect(await provider.find(order)).toMatchObject({ amountMinor: ours, currency })
  })

  test('captures once, and accepts a charge captured by hand', async () => {
    const [charge, byHand] = [await authorized(), await authorized()]
    expect(await provider.capture(charge)).toEqual(TAKEN)
    expect(await provider.capture(charge)).toEqual(TAKEN)
    expect(await provider.find(charge.order)).toMatchObject({ status: 'captured' })
    stripe.succeed(byHand.charge)
    expect(await provider.capture(byHand)).toEqual(TAKEN)
    const { records } = await readChanges(provider, null)
    const captured = records.filter((r) => r.order === charge.order && r.status === 'captured')
    expect(captured).toHaveLength(1)
  })

  test('distinguishes a charge that can never be captured from one that cannot yet', async () => {
    const lapsed = await authorized()
    stripe.cancel(lapsed.charge)
    expect(await provider.capture(lapsed)).toBeNull()
    const order = randomUUID()
    await authorize(order, 'pm_card_processing')
    const early = chargeFor(order)
    await expect(provider.capture(early)).rejects.toThrow('the charge is pending')
    stripe.authorize(early.charge)
    expect(await provider.capture(early)).toEqual(TAKEN)
    await expect(provider.capture({ charge: 'pi_none', order })).rejects.toThrow()
  })

  test.each([
    ['pm_card_chargeDeclined', 'declined'],
    ['pm_card_chargeDeclinedInsufficientFunds', 'insufficient_funds'],
    ['pm_card_chargeDeclinedExpiredCard', 'expired_card'],
    ['pm_card_chargeDeclinedIncorrectCvc', 'incorrect_details'],
    ['pm_card_authenticate', 'authentication_failed'],
    ['pm_unknown', 'declined'],
    ['ctoken_unknown', 'declined'],
  ])('%s is declined: %s', async (method, code) => {
    const order = randomUUID()
    expect(await authorize(order, method)).toEqual({ result: 'declined', code })
    if (stripe.intents(order).length > 0)
      expect(await provider.find(order)).toMatchObject({ status: 'declined', attempt: 1, code })
  })

  test.each([
    ['KWD', 1_234, 'invalid_charge_amount'],
    ['MGA', 12_345, 'parameter_invalid_integer'],
    ['EUR', 40, 'amount_too_small'],
  ])('refuses %s %i, which no card can pay, and declines none', async (currency, amountMinor, code) => {
    const request = { order: randomUUID(), amountMinor, currency, method: 'pm_card_visa', ...FIRST }
    expect(await provider.authorize(request)).toMatchObject({ result: 'refused', code })
  })

  describe('needs the buyer', () => {
    /** A new order whose charge waits for its buyer. */
    async function waiting(method = 'pm_card_threeDSecure2Required') {
      const order = randomUUID()
      const authorized = await authorize(order, method)
      const { charge } = chargeFor(order)
      return { order, charge, authorized, client_secret: stripe.intents(order)[0]?.client_secret }
    }

    test.each<[string, string, (charge: string) => string]>([
      ['at the address of their bank', 'pm_card_threeDSecure2Required', (charge) => `${stripe.url}/3ds/${charge}`],
      ['on our page, where only its script can continue', 'ctoken_3ds', () => `${FIRST.returnUrl}/pay`],
    ])('%s', async (_, method, urlOf) => {
      const { cursor } = await readChanges(provider, null)
      const { order, charge, authorized, client_secret } = await waiting(method)
      const action = { charge, url: urlOf(charge), client_secret }
      expect(authorized).toEqual({ result: 'requires_action', action })
      const record = { charge, order, status: 'requires_action', attempt: 1, action }
      expect(await provider.find(order)).toEqual(record)
      expect(await provider.read(charge)).toEqual(record)
      expect((await readChanges(provider, cursor)).records).toEqual([record])
    })

    test('who approves it, or fails to', async () => {
      const [good, bad] = [await waiting(), await waiting()]
      const answer = (charge: string, result: string) => {
        const body = new URLSearchParams({ result })
        return fetch(`${stripe.url}/3ds/${charge}`, { method: 'POST', body, redirect: 'manual' })
      }
      const back = await answer(good.charge, 'complete')
      expect(back.headers.get('location')).toMatch(`${FIRST.returnUrl}?payment_intent=${good.charge}&`)
      expect(await provider.read(good.charge)).toMatchObject({ status: 'authorized', amountMinor: 2_000 })
      await answer(bad.charge, 'fail')
      const declined = { charge: bad.charge, order: bad.order, status: 'declined', attempt: 1 }
      expect(await provider.read(bad.charge)).toEqual({ ...declined, code: 'authentication_failed' })
    })
  })

  test('is turned away by a rate limit, a missing permission, or a wrong key, which it does not repeat', async () => {
    const order = randomUUID()
    const turnedAway = (reason: string) => ({ result: 'turned_away', reason })
    stripe.settings.turnAway = 1
    expect(await authorize(order)).toMatchObject({ result: 'turned_away' })
    expect(await authorize(order, 'pm_card_error_403')).toEqual(turnedAway('StripePermissionError: It did not work.'))
    const request = { order, amountMinor: 100, currency: 'EUR', method: 'pm_card_visa', ...FIRST }
    expect(await provide({ secretKey: 'sk_test_another' }).authorize(request)).toEqual(
      turnedAway('StripeAuthenticationError: Invalid API Key provided: test key'),
    )
    expect(await authorize(order)).toMatchObject({ result: 'authorized' })
  })

  test.each(['pm_card_unresponsive', 'pm_card_error_409', 'pm_card_error_500'])(
    'has an unknown result after %s',
    async (method) => {
      const order = randomUUID()
      expect(await authorize(order, method, impatient)).toMatchObject({ result: 'unknown' })
      expect(await provider.find(order)).toBeUndefined()
    },
  )

  test('finds a charge whose response was lost, and makes no second one', async () => {
    const order = randomUUID()
    expect(await authorize(order, 'pm_card_lost_response', impatient)).toMatchObject({ result: 'unknown' })
    await expect.poll(() => stripe.intents(order)).toHaveLength(1)
    const { charge } = chargeFor(order)
    const found = { charge, order, status: 'authorized', amountMinor: 2_000, currency: 'EUR' }
    expect(await provider.find(order)).toEqual(found)
    expect(await authorize(order, 'pm_card_lost_response')).toEqual({ result: 'authorized', charge })
    expect(stripe.intents(order)).toHaveLength(1)
  })

  test('cancels a pending charge, and returns the state of a captured one', async () => {
    const order = randomUUID()
    expect(await authorize(order, 'pm_card_processing')).toMatchObject({ result: 'unknown' })
    expect(await provider.find(order)).toMatchObject({ status: 'pending' })
    for (let times = 0; times < 2; times++)
      expect(await provider.cancel(chargeFor(order).charge)).toMatchObject({ order, status: 'cancelled' })
    const late = await authorized()
    await provider.capture(late)
    expect(await provider.cancel(late.charge)).toMatchObject({ status: 'captured', amountMinor: 2_000 })
  })

  test('refunds a captured charge, and names the row that it is for', async () => {
    const charge = await authorized()
    const all = { ...charge, key: randomUUID(), amountMinor: null, failed: 0 }
    await expect(provider.refund(all)).rejects.toThrow()
    expect(await provider.returns(charge.charge)).toEqual({ takenMinor: 0, refunds: [] })
    await provider.capture(charge)
    const made = { id: expect.stringMatching(/^re_/), key: all.key, amountMinor: 2_000, isMade: true }
    expect(await provider.refund(all)).toEqual(made)
    await expect(provider.refund(all)).rejects.toThrow()
    expect(await provider.returns(charge.charge)).toEqual({ takenMinor: 2_000, refunds: [made] })
    expect(await provider.find(charge.order)).toMatchObject({ status: 'refunded' })
    expect(await provider.capture(charge)).toEqual({ card: null })
  })

  test('refunds parts under a key, each once, and reports how much, by whom, and what failed', async () => {
    const order = randomUUID()
    const intent = stripe.add({ order }, 50_000, 'isk')
    const ref = { charge: intent.id, order }
    const part = (key: string, amountMinor: number, failed = 0) => provider.refund({ ...ref, key, amountMinor, failed })
    await expect(part('early', 100)).rejects.toThrow()
    stripe.succeed(intent.id)
    const { cursor } = await readChanges(provider, null)
    const one = await part('one', 100)
    expect(await part('one', 100)).toEqual(one)
    const captured = { ...ref, status: 'captured', amountMinor: 500, currency: 'ISK' }
    expect(await provider.read(intent.id)).toEqual({ ...captured, ...TAKEN, refundedMinor: 100 })
    expect((await readChanges(provider, cursor)).records).toEqual([{ ...captured, refundedMinor: 100 }])
    await expect(part('too much', 401)).rejects.toThrow()
    stripe.settings.refundStatus = 'failed'
    expect(await part('fails', 100)).toMatchObject({ isMade: false })
    stripe.settings.refundStatus = 'pending'
    expect(await part('fails', 100, 1)).toMatchObject({ isMade: true })
    stripe.settings.refundStatus = 'succeeded'
    stripe.refund(intent.id, {}, 5_000)
    stripe.sendRefundBack(intent.id, one.id)
    const said = {
      takenMinor: 500,
      refunds: expect.arrayContaining([
        { ...one, isMade: false },
        { id: expect.anything(), key: 'fails', amountMinor: 100, isMade: false },
        { id: expect.anything(), key: 'fails', amountMinor: 100, isMade: true },
        { id: expect.anything(), key: null, amountMinor: 50, isMade: true },
      ]),
    }
    expect(await provider.returns(intent.id)).toEqual(said)
    const { records } = await readChanges(provider, cursor)
    expect(records.at(-1)).toEqual({
      charge: intent.id,
      order,
      status: 'refund_failed',
      refund: { ...one, isMade: false },
    })
    stripe.sendRefundBack(intent.id)
    expect((await readChanges(provider, cursor)).records.at(-1)).toMatchObject({ charge: intent.id, order: '' })
  })

  test('lists changes, the oldest first, over any number of pages, without those of other systems', async () => {
    const { cursor } = await readChanges(provider, null)
    const orders = Array.from({ length: 1_050 }, () => randomUUID())
    stripe.succeed(stripe.add({ order: 'A-1001' }, 100, 'eur').id)
    for (const order of orders) stripe.succeed(stripe.add({ order }, 100, 'eur').id)
    stripe.succeed(stripe.add({}, 100, 'eur').id)
    const changed = await readChanges(provider, cursor)
    expect(changed.records.map((r) => r.order)).toEqual(orders)
    expect(new Set(changed.records.map((r) => r.status))).toEqual(new Set(['captured']))
    expect(await readChanges(provider, changed.cursor)).toEqual({ records: [], cursor: changed.cursor })
    const all = await readChanges(provider, null)
    expect(all.records.slice(-orders.length).map((r) => r.order)).toEqual(orders)
    expect(all.cursor).toBe(changed.cursor)
  })

  test('begins anew if Stripe has deleted the event of the cursor', async () => {
    await authorize(randomUUID())
    const { cursor } = await readChanges(provider, null)
    stripe.forgetEvents()
    expect((await readChanges(provider, cursor)).records).toEqual([])
    const order = randomUUID()
    await authorize(order)
    expect((await readChanges(provider, cursor)).records).toMatchObject([{ order, status: 'authorized' }])
  })

  test('begins with the last event before that day', async () => {
    await authorize(randomUUID())
    const last = randomUUID()
    await authorize(last)
    const nextWeek = provide({ nowMs: () => Date.now() + 7 * 24 * 3_600_000 })
    expect((await readChanges(nextWeek, null)).records.map((r) => r.order)).toEqual([last])
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
      provide({ nowMs: () => nowMs }).readWebhook(() => header, body)
    const body = event('payment_intent.succeeded', intent('succeeded'))

    test('as the state of its charge', async () => {
      const failed = { ...intent('requires_payment_method'), last_payment_error: { code: 'card_declined' } }
      const refund = { payment_intent: 'pi_1', metadata: { order } }
      const part = { ...refund, refunded: false, captured: true, currency: 'eur', amount_captured: 1_500 }
      const ofRefund = { id: 're_1', amount: 400, currency: 'eur', metadata: { order, refund: 'row' } }
      const failedRefund = { ...refund, ...ofRefund, object: 'refund', status: 'failed' }
      const taken = { status: 'captured', amountMinor: 1_500, currency: 'EUR' }
      const authorized = { status: 'authorized', amountMinor: 1_000, currency: 'EUR' }
      for (const [type, object, state] of [
        ['payment_intent.succeeded', intent('succeeded'), taken],
        ['payment_intent.amount_capturable_updated', intent('requires_capture'), authorized],
        ['payment_intent.payment_failed', failed, { status: 'declined', attempt: 1, code: 'declined' }],
        ['charge.refunded', { ...refund, object: 'charge', refunded: true }, { status: 'refunded' }],
        ['charge.refunded', { ...part, object: 'charge', amount_refunded: 400 }, { ...taken, refundedMinor: 400 }],
        [
          'refund.failed',
          failedRefund,
          { status: 'refund_failed', refund: { id: 're_1', key: 'row', amountMinor: 400, isMade: false } },
        ],
      ] as const)
        expect(await deliver(event(type, object)), type).toEqual({ charge: 'pi_1', order, ...state })
    })

    test('and ignores one that concerns no order of ours', async () => {
      expect(await deliver('no JSON')).toBeNull()
      expect(await deliver(event('customer.created', { object: 'customer' }))).toBeNull()
      const foreign = intent('succeeded', { order: 'A-1001' })
      expect(await deliver(event('payment_intent.succeeded', foreign))).toBeNull()
    })

    test('only with a valid signature', async () => {
      const another = body.replace('pi_1', 'pi_2')
      for (const header of ['', 't=1,v1=00', signStripe('whsec_other', body), signStripe(webhookSecret, another)])
        expect(await deliver(body, header)).toBeUndefined()
    })

    test('while its secret is rolled, when Stripe signs with both', async () => {
      const [ours, other] = [signStripe(webhookSecret, body), signStripe('whsec_other', body)]
      const v1 = (header: string) => header.slice(header.indexOf(',v1='))
      for (const header of [ours + v1(other), other + v1(ours)])
        expect(await deliver(body, header)).toMatchObject({ status: 'captured' })
    })

    test("only while it is fresh by the ledger's clock", async () => {
      const header = signStripe(webhookSecret, body)
      expect(await deliver(body, header, Date.now() + 310_000)).toBeUndefined()
      expect(await deliver(body, header, Date.now() + 200_000)).toMatchObject({ status: 'captured' })
    })
  })
})
