import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventually, reservationOf, useOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { NO_SALE, readFindings } from '../ledger/findings.ts'
import { record } from '../ledger/record.ts'
import { signWebhook } from './sandbox.ts'

const database = useDatabase()
const redis = useRedis()
const origin = useOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }), {
  SANDBOX_TIMEOUT_MS: '500',
  SANDBOX_LATE_MS: '9000',
})
const WEBHOOK_SECRET = 'test-webhook-secret-of-at-least-32-chars'

async function buy(sale: string, payment_method: string) {
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  const id = body.order_id ?? ''
  const paying = await origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method } })
  return { id, token, paying }
}

const status = async (id: string, token: string) =>
  (await origin.call('GET', `/orders/${id}`, { token })).body.status
async function becomes(wanted: string, id: string, token: string, withinMs?: number) {
  const told = await eventually(
    () => status(id, token),
    (now) => now === wanted,
    withinMs,
  )
  expect(told).toBe(wanted)
}
const charges = (id: string) =>
  origin.sql()<
    { status: string; attempts: number; captures: number }[]
  >`select status, attempts, capture_attempts as captures from sandbox.charges where order_id = ${id}`
/** Every charge of an order, once the money of one is taken. */
const captured = (id: string) =>
  eventually(
    () => charges(id),
    (made) => made.some((charge) => charge.status === 'captured'),
  )

function webhook(charge: object, secret = WEBHOOK_SECRET) {
  const body = JSON.stringify({ amount_minor: 1_000, currency: 'EUR', ...charge })
  const signature = signWebhook(secret, body, Math.floor(Date.now() / 1000))
  return origin.call('POST', '/webhooks/sandbox', { body, headers: { 'sandbox-signature': signature } })
}

describe.concurrent('a payment', () => {
  test('that succeeds confirms the order, and the unit is sold', async () => {
    const sale = await origin.sale({ total: 3 })
    const { id, token, paying } = await buy(sale, 'pm_ok')
    expect(paying).toMatchObject({ status: 202, body: { status: 'paying' } })
    await becomes('confirmed', id, token)
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 0, sold: 1 })
    expect(await captured(id)).toEqual([{ status: 'captured', attempts: 1, captures: 1 }])
  })

  test('asked for many times at once is charged once', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    const answers = await Promise.all(
      Array.from({ length: 20 }, () =>
        origin.call('POST', `/orders/${body.order_id}/payment`, { token, body: { payment_method: 'pm_ok' } }),
      ),
    )
    expect(new Set(answers.map((a) => a.status))).toEqual(new Set([202]))
    await becomes('confirmed', body.order_id ?? '', token)
    expect(await captured(body.order_id ?? '')).toEqual([{ status: 'captured', attempts: 1, captures: 1 }])
  })

  test('of one sale is confirmed while the row of another is taken', async () => {
    const [taken, free] = [await origin.sale(), await origin.sale()]
    const paid = await origin.checkout(taken)
    const told = await origin.sql().begin(async (tx) => {
      await tx`select 1 from products where sale_id = ${taken} for update`
      const told = webhook({ charge: randomUUID(), order: paid.body.order_id, status: 'authorized' })
      const { id, token } = await buy(free, 'pm_ok')
      const inTime = 4_000
      await becomes('confirmed', id, token, inTime)
      return { answer: told }
    })
    expect(await told.answer).toMatchObject({ status: 200 })
  })

  test('that is declined cancels the order, and exactly its unit returns', async () => {
    const sale = await origin.sale({ total: 1 })
    const { id, token } = await buy(sale, 'pm_declined')
    await becomes('cancelled', id, token)
    expect((await origin.call('GET', `/orders/${id}`, { token })).body.reason).toBe('declined')
    expect(await origin.stock(sale)).toMatchObject({ available: 1, held: 0, sold: 0 })
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    expect(await origin.checkout(sale)).toMatchObject({ status: 409 })
  })

  test('that times out once succeeds at the second attempt', async () => {
    const sale = await origin.sale()
    const { id, token } = await buy(sale, 'pm_flaky')
    await becomes('confirmed', id, token)
    expect(await captured(id)).toEqual([{ status: 'captured', attempts: 2, captures: 1 }])
  })

  test('that never answers is tried three times, then the order is cancelled and the unit returns', async () => {
    const sale = await origin.sale({ total: 1, hold_seconds: 2 })
    const { id, token } = await buy(sale, 'pm_timeout')
    // The hold ends while the charge is in flight, and must not be taken away meanwhile.
    await new Promise((resolve) => setTimeout(resolve, 2_500))
    expect(await status(id, token)).toBe('paying')
    await becomes('cancelled', id, token)
    expect((await charges(id))[0]?.attempts).toBe(3)
    expect(await origin.stock(sale)).toMatchObject({ available: 1, held: 0, sold: 0 })
  })

  test('that is authorized too late is voided, and never captured', async () => {
    const sale = await origin.sale({ total: 1 })
    const { id, token } = await buy(sale, 'pm_late')
    await becomes('cancelled', id, token)
    expect(await charges(id)).toMatchObject([{ status: 'pending' }])
    expect(
      await eventually(
        () => charges(id),
        ([charge]) => charge?.status === 'cancelled',
      ),
    ).toMatchObject([{ status: 'cancelled', captures: 0 }])
    expect(await status(id, token)).toBe('cancelled')
    expect(await origin.stock(sale)).toMatchObject({ available: 1, sold: 0 })
    const refunds =
      await origin.sql()`select reason, refunded_at is not null as done from refunds where order_id = ${id}`
    expect(refunds).toEqual([{ reason: 'paid when cancelled', done: true }])
  })

  test('told twice, or after the fact, changes nothing', async () => {
    const sale = await origin.sale()
    const { id, token } = await buy(sale, 'pm_webhook_twice')
    await becomes('confirmed', id, token)
    const [charge] = await origin.sql()<
      { charge_id: string }[]
    >`select charge_id from sandbox.charges where order_id = ${id}`
    await webhook({ charge: charge?.charge_id, order: id, status: 'declined' })
    await captured(id)
    await webhook({ charge: charge?.charge_id, order: id, status: 'authorized' })
    await webhook({ charge: charge?.charge_id, order: id, status: 'captured' })
    expect(await status(id, token)).toBe('confirmed')
    expect(await charges(id)).toEqual([{ status: 'captured', attempts: 1, captures: 1 }])
    expect(await origin.stock(sale)).toMatchObject({ held: 0, sold: 1 })
  })

  test('that was captured without this system is noted as that', async () => {
    const sale = await origin.sale()
    const { id } = await buy(sale, 'pm_ok')
    const noted = () => origin.sql()<{ charge_id: string; at: Date | null }[]>`
      select charge_id, captured_at as at from captures where order_id = ${id}`
    const [capture] = await eventually(noted, ([row]) => row?.at != null)
    await origin.sql()`update captures set captured_at = null where order_id = ${id}`
    await webhook({ charge: capture?.charge_id, order: id, status: 'captured' })
    expect(await noted()).toMatchObject([{ at: expect.any(Date) }])
  })

  test('of an order that is paid already is voided, and never captured', async () => {
    const sale = await origin.sale()
    const { id } = await buy(sale, 'pm_ok')
    const [first] = await captured(id)
    const second = `ch_${randomUUID()}`
    await origin.sql()`
      insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
      values (${second}, ${second}, ${id}, 1000, 'EUR', 'pm_ok', 'authorized')`
    await webhook({ charge: second, order: id, status: 'authorized' })
    const made = await eventually(
      () => charges(id),
      (all) => all.some((charge) => charge.status === 'cancelled'),
    )
    expect(made).toEqual(expect.arrayContaining([first, { status: 'cancelled', attempts: 1, captures: 0 }]))
    expect(await origin.sql()`select captured_at from captures where order_id = ${id}`).toHaveLength(1)
  })

  test('told by someone else is not believed', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    const told = await webhook(
      { charge: 'ch_1', order: body.order_id, status: 'authorized' },
      'another secret',
    )
    expect(told.status).toBe(401)
    expect(await status(body.order_id ?? '', token)).toBe('reserved')
  })

  test('of an order that there is not is left for a person to look at, and counted', async () => {
    const charge = `ch_${randomUUID()}`
    const told = await webhook({ charge, order: randomUUID(), status: 'authorized' })
    expect(told.status).toBe(200)
    const { findings } = await readFindings(origin.sql(), NO_SALE)
    expect(findings).toMatchObject([{ kind: 'unknown_charge', subject: charge, seen: 1, closed_at: null }])
    const { body } = await origin.call('GET', '/metrics')
    expect(body.text).toContain('findings_total{sale="",kind="unknown_charge"} 1\n')
  })

  test('of an order given at checkout needs no second call', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const answer = await origin.checkout(sale, { token, body: { payment_method: 'pm_ok' } })
    expect(answer).toMatchObject({ status: 201, body: { status: 'reserved' } })
    await becomes('confirmed', answer.body.order_id ?? '', token)
  })

  test('of what costs nothing confirms the order without a charge', async () => {
    const sale = await origin.sale({
      products: [{ product_id: 'unit', name: 'Unit', unit_price_minor: 0, currency: 'EUR', total: 1 }],
    })
    const { id, token, paying } = await buy(sale, 'pm_declined')
    expect(paying).toMatchObject({ status: 202, body: { status: 'paying' } })
    await becomes('confirmed', id, token)
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 1 })
    expect(await charges(id)).toEqual([])
  })

  test('of an order that is over is refused', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    await origin.call('DELETE', `/orders/${body.order_id}`, { token })
    const answer = await origin.call('POST', `/orders/${body.order_id}/payment`, {
      token,
      body: { payment_method: 'pm_ok' },
    })
    expect(answer).toMatchObject({ status: 409, body: { type: '/problems/conflict' } })
    expect(await charges(body.order_id ?? '')).toEqual([])
  })

  test('of an order given at checkout is begun, though the process that took it died before that', async () => {
    const sale = await origin.sale()
    const visitor = randomUUID()
    const asked = { ...reservationOf(sale), visitor, method: 'pm_ok' }
    await record(origin.sql(), sale, [asked], false)
    await becomes('confirmed', asked.order, await origin.token(sale, visitor))
  })
})

test.concurrent('what was paid and never recorded is found in the records of the provider', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  const id = body.order_id ?? ''
  // A charge that happened, its answer and its webhook both lost.
  await origin.sql()`update orders set status = 'paying' where order_id = ${id}`
  await origin.sql()`
    insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
    values (${`ch_${randomUUID()}`}, ${`charge-${id}`}, ${id}, 1000, 'EUR', 'pm_ok', 'authorized')`
  await becomes('confirmed', id, token, 25_000)
}, 30_000)
