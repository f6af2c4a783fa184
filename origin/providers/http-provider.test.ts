import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeEach, describe, expect, test } from 'vitest'
import { examplePaymentServer, freePaymentServer, PAYMENT_SECRET } from '../../test/lib/payment-server.ts'
import { providerCases } from '../../test/lib/provider-cases.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { POLL_WITHIN_MS } from '../../test/run/patience.ts'
import { createMetrics } from '../base/metrics.ts'
import { isSigned, signedHeaders } from '../lib/http/standard-webhooks.ts'
import { Tracer } from '../lib/tracing.ts'
import { HttpCharges } from './http-charges.ts'
import { httpProvider, type NotedFault } from './http-provider.ts'
import type { ChargeRecord } from './provider.ts'

const sql = await useLedger()
const faults: NotedFault[] = []
beforeEach(() => void faults.splice(0))
const provide = (
  url: string,
  options: { secrets?: readonly string[]; timeoutMs?: number; nowMs?: () => number } = {},
) =>
  httpProvider({
    ...{ url, secrets: [PAYMENT_SECRET], charges: new HttpCharges(sql), nowMs: Date.now, timeoutMs: POLL_WITHIN_MS },
    note: async (fault) => void faults.push(fault),
    ...options,
  })
const SUM = { amountMinor: 1_000, currency: 'EUR' }
const FIRST = { attempt: 1, ...SUM, returnUrl: 'http://shop.test/order' }
const dueNow = () => sql`update shop_charges set next_check_at = now() where next_check_at is not null`

describe('with the example payment server', async () => {
  const shop = await examplePaymentServer(() => 'http://127.0.0.1:9/')
  await shop.server.start()
  afterAll(() => shop.server.stop())
  const provider = provide(shop.url)
  const authorize = (order: string, method = 'pm_ok', by = provider) => by.authorize({ order, method, ...FIRST })

  providerCases({
    provider,
    methods: { good: 'pm_ok', declined: 'pm_no', insufficient: 'pm_insufficient_funds', needsBuyer: 'pm_3ds' },
    decide: ({ url }, isGood) => shop.decide(url, isGood ? 'approve' : 'decline'),
    beforeChanges: dueNow,
  })

  test('keeps its charges when it is killed', async () => {
    const order = randomUUID()
    await authorize(order)
    await provider.capture({ charge: `${order}-1`, order })
    await shop.server.kill()
    expect(await authorize(order)).toMatchObject({ result: 'unknown' })
    await expect(provider.find(order)).rejects.toThrow('ECONNREFUSED')
    await shop.server.start()
    expect(await provider.find(order)).toMatchObject({ status: 'captured', ...SUM })
  })

  test('is turned away with a secret that the shop does not have, and accepted with both', async () => {
    const other = PAYMENT_SECRET.replace('whsec_c', 'whsec_d')
    const order = randomUUID()
    const [wrong, both] = [[other], [other, PAYMENT_SECRET]].map((secrets) => provide(shop.url, { secrets }))
    expect(await authorize(order, 'pm_ok', wrong)).toMatchObject({ result: 'turned_away' })
    expect(await authorize(order, 'pm_ok', both)).toMatchObject({ result: 'authorized' })
    expect(faults).toEqual([])
  })

  test('authorizes nothing that was cancelled before the call arrived', async () => {
    const order = randomUUID()
    const away = provide('http://127.0.0.1:9/', { timeoutMs: 1_000 })
    expect(await authorize(order, 'pm_ok', away)).toMatchObject({ result: 'unknown' })
    expect(await provider.find(order)).toBeUndefined()
    expect(await provider.cancel(`${order}-1`)).toMatchObject({ status: 'cancelled' })
    expect(await authorize(order)).toEqual({ result: 'declined', code: 'declined' })
  })

  test('asks about a charge until its state is final, and then no more', async () => {
    const order = randomUUID()
    expect(await authorize(order, 'pm_slow')).toMatchObject({ result: 'unknown', reason: 'the charge is pending' })
    const compare = async () => {
      await dueNow()
      const statuses: string[] = []
      for await (const { records } of provider.changes(null))
        statuses.push(...records.filter((one) => one.order === order).map(({ status }) => status))
      return statuses
    }
    await expect.poll(compare).toEqual(['authorized'])
    await shop.call({ call: 'capture', charge: `${order}-1` })
    expect(await compare()).toEqual(['captured'])
    expect(await compare()).toEqual([])
  })
})

describe('with a shop that answers as it should not', async () => {
  const shop = await freePaymentServer()
  afterAll(() => shop.stop())
  const provider = provide(shop.url, { timeoutMs: 2_000 })
  const authorize = (order: string) => provider.authorize({ order, method: 'pm_ok', ...FIRST })
  const said = () => faults.map(({ fault }) => fault)

  test('is told the trace of the call, and of no other', async () => {
    shop.answers({ status: 'declined' })
    const settings = {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
      OTEL_EXPORTER_OTLP_HEADERS: {},
      OTEL_SERVICE_NAME: '',
      OTEL_TRACES_SAMPLER_ARG: 0,
    }
    const tracer = new Tracer({ settings, metrics: createMetrics(), log: pino({ level: 'silent' }) })
    const noted = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const told = async (trace: string | undefined) => {
      await tracer.resume(trace, 'charge', () => authorize(randomUUID()))
      return shop.received.splice(0).at(-1)?.headers.traceparent
    }
    expect(await told(noted)).toMatch(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-01$/)
    expect(await told(undefined)).toBeUndefined()
    await tracer.stop()
  })

  test.each<[string, Parameters<typeof shop.answers>[0]]>([
    ['another_amount', { status: 'authorized', amount_minor: 10 }],
    ['another_currency', { status: 'authorized', amount_minor: 1_000, currency: 'USD' }],
    ['another_charge', { status: 'authorized', charge: 'of-another' }],
    ['unknown_status', { status: 'succeeded' }],
    ['malformed', { status: 'authorized', amount_minor: '1000' }],
    ['malformed', { status: 'requires_action' }],
    ['malformed', { status: 'requires_action', next_action: { type: 'redirect', url: 'javascript:alert(1)' } }],
    ['malformed', '[]'],
    ['not_json', '<html>Hello</html>'],
    ['not_json', ''],
    ['too_large', JSON.stringify({ status: 'authorized', message: 'x'.repeat(100_000) })],
    ['redirect', (_, response) => response.writeHead(302, { location: `${shop.url}/elsewhere` }).end()],
    ['unexpected_response', (_, response) => response.writeHead(404).end('no such page')],
  ])('takes it as no answer, and notes it: %s', async (fault, answer) => {
    shop.answers(answer)
    const order = randomUUID()
    expect(await authorize(order)).toMatchObject({ result: 'unknown' })
    const about = { charge: `${order}-1`, order, call: 'authorize', reason: expect.stringMatching(/./) }
    expect(faults).toEqual([{ fault, ...about }])
    expect(shop.received.splice(0)).toHaveLength(1)
  })

  test('is there, and has a charge that is not final, even if its answers count as none', async () => {
    const order = randomUUID()
    shop.answers('nonsense')
    await authorize(order)
    const pending = { charge: `${order}-1`, order, status: 'pending' }
    expect([await provider.find(order), await provider.read(pending.charge)]).toEqual([pending, pending])
    // One such charge holds up no other one.
    shop.answers((_, response, body) =>
      response.end(body.includes(order) ? 'nonsense' : JSON.stringify({ status: 'authorized' })),
    )
    const other = randomUUID()
    await authorize(other)
    await sql`update shop_charges set next_check_at = now() - (order_id = ${order})::int * interval '1 second'
      where order_id in (${order}, ${other})`
    const listed: ChargeRecord[] = []
    for await (const { records } of provider.changes(null)) listed.push(...records)
    expect(listed.filter((one) => one.order === order || one.order === other)).toMatchObject([
      pending,
      { order: other, status: 'authorized' },
    ])
    await expect(provider.cancel(pending.charge)).rejects.toThrow('it is not JSON')
  })

  test.each([
    [{ status: 'authorized' }, { result: 'authorized' }],
    [{ status: 'captured' }, { result: 'authorized' }],
    [{ status: 'pending' }, { result: 'unknown' }],
    [{ status: 'unknown' }, { result: 'unknown' }],
    [
      { status: 'declined', code: 'never heard of' },
      { result: 'declined', code: 'declined' },
    ],
    [{ status: 'authorized', of_tomorrow: 1 }, { result: 'authorized' }],
  ])('understands the least that a shop may say: %j', async (answer, result) => {
    shop.answers(answer)
    expect(await authorize(randomUUID())).toMatchObject(result)
    expect(faults).toEqual([])
  })

  test.each([
    [422, { code: 'amount_too_small', message: 'No.' }, { result: 'refused', code: 'amount_too_small', reason: 'No.' }],
    [400, 'nonsense', { result: 'refused', code: 'response_400' }],
    [429, '', { result: 'turned_away' }],
    [403, '', { result: 'turned_away' }],
    [500, '', { result: 'unknown' }],
    [503, { status: 'authorized' }, { result: 'unknown' }],
  ])('goes by the HTTP status %i', async (status, body, result) => {
    shop.answers((_, response) =>
      response.writeHead(status).end(typeof body === 'string' ? body : JSON.stringify(body)),
    )
    expect(await authorize(randomUUID())).toMatchObject(result)
    expect(faults).toEqual([])
  })

  test('notes a shop that charges twice, and goes on with the first', async () => {
    const order = randomUUID()
    for (const reference of ['first', 'first', 'second']) {
      shop.answers({ status: 'authorized', reference })
      expect(await authorize(order)).toEqual({ result: 'authorized', charge: `${order}-1` })
    }
    expect(faults).toMatchObject([{ fault: 'another_reference', reason: expect.stringContaining('first') }])
    expect(await sql`select reference from shop_charges where order_id = ${order}`).toEqual([{ reference: 'first' }])
  })

  test('does not believe that another sum was taken, and says what sum the shop has', async () => {
    const order = randomUUID()
    shop.answers({ status: 'authorized' })
    await authorize(order)
    shop.answers({ status: 'captured', amount_minor: 9_000 })
    await expect(provider.capture({ charge: `${order}-1`, order })).rejects.toThrow('9000 instead of 1000 EUR')
    expect(said()).toEqual(['another_amount'])
    expect(await provider.find(order)).toMatchObject({ status: 'captured', amountMinor: 9_000 })
  })

  test('signs each call anew, with the same id for each repetition but of the state', async () => {
    const order = randomUUID()
    shop.answers({ status: 'authorized' })
    shop.received.splice(0)
    for (let times = 0; times < 2; times++) await authorize(order)
    for (let times = 0; times < 2; times++) await provider.find(order)
    const ids = shop.received.map(({ headers }) => headers['webhook-id'])
    expect(ids.slice(0, 2)).toEqual([`${order}-1-authorize`, `${order}-1-authorize`])
    expect(new Set(ids).size).toBe(3)
    for (const { headers, body } of shop.received)
      expect(isSigned([PAYMENT_SECRET], (name) => String(headers[name]), body, Date.now())).toBe(true)
    expect(JSON.parse(shop.received[0]?.body ?? '')).toEqual({
      call: 'authorize',
      charge: `${order}-1`,
      order,
      amount_minor: 1_000,
      currency: 'EUR',
      payment_method: 'pm_ok',
      return_url: 'http://shop.test/order',
    })
  })

  test('waits no longer than its timeout', async () => {
    shop.answers(() => {})
    const impatient = provide(shop.url, { timeoutMs: 200 })
    const given = { order: randomUUID(), method: 'pm_ok', ...FIRST }
    expect(await impatient.authorize(given)).toMatchObject({
      result: 'unknown',
      reason: expect.stringMatching(/no response within/),
    })
    expect(faults).toEqual([])
  })

  describe('reads a webhook', () => {
    const asked = async () => {
      const order = randomUUID()
      shop.answers({ status: 'pending' })
      await authorize(order)
      return { order, charge: `${order}-1` }
    }
    const deliver = (body: object | string, { secret = PAYMENT_SECRET, at = new Date(), nowMs = Date.now() } = {}) => {
      const sent = typeof body === 'string' ? body : JSON.stringify(body)
      const headers = signedHeaders([secret], 'id', sent, at)
      return provide(shop.url, { nowMs: () => nowMs }).readWebhook((name) => headers[name], sent)
    }

    test('as the state of its charge', async () => {
      const about = await asked()
      const { charge } = about
      expect(await deliver({ charge, status: 'authorized' })).toEqual({ ...about, status: 'authorized', ...SUM })
      expect(await deliver({ charge, status: 'unknown' })).toBeNull()
      expect(await deliver({ charge, status: 'declined', code: 'expired_card' })).toEqual({
        ...{ ...about, status: 'declined', attempt: 1, code: 'expired_card' },
      })
      const refunds = [{ reference: 'r', amount_minor: 400 }]
      const captured = { ...about, status: 'captured', ...SUM }
      expect(await deliver({ charge, status: 'captured', refunds })).toEqual({ ...captured, refundedMinor: 400 })
      expect(await deliver({ charge, status: 'captured', refunds: [{ ...refunds[0], failed: true }] })).toEqual({
        ...{ ...about, status: 'refund_failed' },
      })
    })

    test('only with a valid signature, and while it is fresh', async () => {
      const { charge } = await asked()
      const body = { charge, status: 'authorized' }
      expect(await deliver(body, { secret: PAYMENT_SECRET.replace('whsec_c', 'whsec_d') })).toBeUndefined()
      expect(await deliver(body, { nowMs: Date.now() + 310_000 })).toBeUndefined()
      expect(await deliver(body, { nowMs: Date.now() - 310_000 })).toBeUndefined()
      expect(faults).toEqual([])
    })

    test('refuses what it must not say, and notes it', async () => {
      const { charge, order } = await asked()
      const sum = { charge, status: 'authorized' }
      for (const [body, type] of [
        [{ ...sum, amount_minor: 1 }, '/problems/conflict'],
        [{ ...sum, currency: 'USD' }, '/problems/conflict'],
        [{ ...sum, order: randomUUID() }, '/problems/conflict'],
        [{ ...sum, charge: `${order}-2` }, '/problems/not-found'],
        [{ ...sum, status: 'paid' }, '/problems/invalid-fields'],
        [{ status: 'authorized' }, '/problems/invalid-fields'],
        ['no JSON', '/problems/invalid-request'],
      ] as const)
        await expect(deliver(body), JSON.stringify(body)).rejects.toMatchObject({ problem: { type } })
      expect(said()).toEqual([
        ...['another_amount', 'another_currency', 'another_charge', 'unknown_charge'],
        ...['malformed', 'malformed', 'malformed'],
      ])
    })
  })
})
