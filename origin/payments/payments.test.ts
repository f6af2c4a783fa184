import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventually, eventuallyMatches } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { sandboxWebhook } from '../../test/lib/payments.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { untilLocked } from '../../test/lib/servers.ts'
import { record } from '../ledger/record.ts'

const origin = useOrigin()

async function reserve(sale: string) {
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  return { id: body.order_id ?? '', token }
}
const pay = (id: string, token: string, payment_method = 'pm_ok') =>
  origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method } })
async function buy(sale: string, payment_method: string) {
  const { id, token } = await reserve(sale)
  await pay(id, token, payment_method)
  return { id, token }
}

const status = async (id: string, token: string) => (await origin.call('GET', `/orders/${id}`, { token })).body.status
const becomes = (wanted: string, id: string, token: string) =>
  eventuallyMatches(async () => ({ status: await status(id, token) }), { status: wanted })
const charges = (id: string) => origin.sql()<{ status: string; attempts: number; captures: number }[]>`
  select status, attempts, capture_attempts as captures from sandbox.charges where order_id = ${id}`
/** All charges of an order, once one has this status. */
const once = (status: string, id: string) =>
  eventually(
    () => charges(id),
    (made) => made.some((charge) => charge.status === status),
  )
const captured = (id: string) => once('captured', id)

/** Has the time of an order's hold pass, until the sweeper has ended another one that passed with it. */
async function pastItsHold(id: string): Promise<void> {
  const overdue = await reserve(await origin.sale())
  await origin.sql()`
    update orders set reserved_until = now() - interval '1 second' where order_id in (${id}, ${overdue.id})`
  await becomes('expired', overdue.id, overdue.token)
}
const webhook = (charge: object | string) => sandboxWebhook(origin, charge)

describe.concurrent('a payment', () => {
  test('confirms the order, sells the unit, and is charged once, however often it is requested', async () => {
    const sale = await origin.sale({ total: 3 })
    const { id, token } = await reserve(sale)
    const responses: Awaited<ReturnType<typeof pay>>[] = []
    while (responses.length < 20)
      responses.push(...(await Promise.all(Array.from({ length: 4 }, () => pay(id, token)))))
    expect(responses).toContainEqual(
      expect.objectContaining({ status: 202, body: expect.objectContaining({ status: 'paying' }) }),
    )
    expect(new Set(responses.map((r) => r.status))).toEqual(new Set([202]))
    await becomes('confirmed', id, token)
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 0, sold: 1 })
    expect(await captured(id)).toEqual([{ status: 'captured', attempts: 1, captures: 1 }])
    const { body } = await origin.call('GET', `/orders/${id}`, { token })
    expect(body).toMatchObject({ payment: { status: 'succeeded', method: 'pm_ok' } })
  })

  test('is confirmed while the row of another sale is locked', async () => {
    const [locked, free] = [await origin.sale(), await origin.sale()]
    const paid = await origin.checkout(locked)
    const authorized = { charge: randomUUID(), order: paid.body.order_id, status: 'authorized' }
    const blocked = await origin.sql().begin(async (tx) => {
      await tx`select 1 from products where sale_id = ${locked} for update`
      const response = webhook(authorized)
      const { id, token } = await buy(free, 'pm_ok')
      await becomes('confirmed', id, token)
      return { response }
    })
    await blocked.response
    // A lock that outlasts the bound of a statement is answered 503, and the provider sends the webhook again.
    expect(await webhook(authorized)).toMatchObject({ status: 200 })
  })

  test('begins while an order of another sale is locked', async () => {
    const [locked, free] = [await reserve(await origin.sale()), await reserve(await origin.sale())]
    const [{ status }, waiting] = await origin.sql().begin(async (tx) => {
      await tx`select 1 from orders where order_id = ${locked.id} for update`
      const waiting = pay(locked.id, locked.token)
      // It has reached the ledger, and waits there.
      await untilLocked(origin.sql())
      return [await pay(free.id, free.token), waiting] as const
    })
    expect([status, (await waiting).status]).toEqual([202, 202])
  })

  test('that is declined keeps the hold for two more attempts, and then returns the unit', async () => {
    const sale = await origin.sale({ total: 1 })
    const { id, token } = await reserve(sale)
    const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
    for (const attempts_left of [2, 1]) {
      expect((await pay(id, token, 'pm_insufficient_funds')).body).toMatchObject({ payment: { status: 'pending' } })
      await becomes('reserved', id, token)
      const message = expect.stringContaining('not enough money')
      const payment = { status: 'declined', code: 'insufficient_funds', message, attempts_left }
      expect(await read()).toMatchObject({ status: 'reserved', payment })
      expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 1, sold: 0 })
    }
    await pay(id, token, 'pm_declined')
    await becomes('cancelled', id, token)
    expect(await read()).toMatchObject({ reason: 'declined', payment: { status: 'declined', attempts_left: 0 } })
    expect(await charges(id)).toHaveLength(3)
    expect(await origin.stock(sale)).toMatchObject({ available: 1, held: 0, sold: 0 })
    // The gate hears of it a moment after the ledger.
    await eventuallyMatches(() => origin.checkout(sale), { status: 201 })
    expect(await origin.checkout(sale)).toMatchObject({ status: 409 })
  })

  test.each(['of a cancelled order', 'after the end of the hold'])('%s is refused', async (when) => {
    const { id, token } = await reserve(await origin.sale())
    if (when === 'of a cancelled order') await origin.call('DELETE', `/orders/${id}`, { token })
    else await origin.sql()`update orders set reserved_until = now() where order_id = ${id}`
    expect(await pay(id, token, 'pm_3ds')).toMatchObject({ status: 409, body: { type: '/problems/conflict' } })
    expect(await charges(id)).toEqual([])
  })

  test('that times out once succeeds at the second attempt', async () => {
    const sale = await origin.sale()
    const { id, token } = await buy(sale, 'pm_flaky')
    await becomes('confirmed', id, token)
    expect(await captured(id)).toEqual([{ status: 'captured', attempts: 2, captures: 1 }])
  })

  test('takes no signed webhook that is no JSON', async () => {
    expect(await webhook('{"charge":')).toMatchObject({ status: 400, body: { type: '/problems/invalid-request' } })
  })

  test('ignores duplicate and late webhooks', async () => {
    const sale = await origin.sale()
    const { id, token } = await buy(sale, 'pm_webhook_twice')
    await becomes('confirmed', id, token)
    const [row] = await origin.sql()`select charge_id as charge from sandbox.charges where order_id = ${id}`
    await webhook({ ...row, order: id, status: 'declined' })
    await captured(id)
    for (const status of ['authorized', 'captured']) await webhook({ ...row, order: id, status })
    expect(await status(id, token)).toBe('confirmed')
    expect(await charges(id)).toEqual([{ status: 'captured', attempts: 1, captures: 1 }])
    expect(await origin.stock(sale)).toMatchObject({ held: 0, sold: 1 })
  })

  test('of an order that is paid already is voided', async () => {
    const sale = await origin.sale()
    const { id } = await buy(sale, 'pm_ok')
    const [first] = await captured(id)
    const second = `ch_${randomUUID()}`
    await origin.sql()`
      insert into sandbox.charges (charge_id, idempotency_key, order_id, amount_minor, currency, method, status)
      values (${second}, ${second}, ${id}, 1000, 'EUR', 'pm_ok', 'authorized')`
    await webhook({ charge: second, order: id, status: 'authorized' })
    expect(await once('cancelled', id)).toEqual(
      expect.arrayContaining([first, { status: 'cancelled', attempts: 1, captures: 0 }]),
    )
    expect(await origin.sql()`select captured_at from captures where order_id = ${id}`).toHaveLength(1)
  })

  test('is begun by a worker if the process that accepted the order has died', async () => {
    const sale = await origin.sale()
    const visitor = randomUUID()
    const reservation = { ...reservationOf(sale), visitor, method: 'pm_ok' }
    await record(origin.sql(), sale, [reservation], false)
    await becomes('confirmed', reservation.order, await origin.token(sale, visitor))
  })

  test('keeps its hold while its buyer is at their bank, and is confirmed when they come back', async () => {
    const sale = await origin.sale({ total: 1 })
    const { id, token } = await buy(sale, 'pm_3ds')
    const stream = await fetch(`${origin.url()}/orders/${id}/events`, { headers: { authorization: `Bearer ${token}` } })
    const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
    const { payment } = await eventually(read, ({ payment }) => payment?.status === 'requires_action')
    const url = payment?.next_action?.url ?? ''
    expect(await pay(id, token, 'pm_3ds')).toMatchObject({ status: 202 })
    const other = await pay(id, token, 'pm_ok')
    expect(other).toMatchObject({ status: 409, body: { order: { payment: { next_action: { url } } } } })
    expect(payment).toMatchObject({ next_action: { type: 'redirect', url }, attempts_left: 2 })
    expect(payment?.expires_in_seconds).toBeLessThanOrEqual(300)
    await pastItsHold(id)
    expect(await read()).toMatchObject({ status: 'paying' })
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 1 })
    const back = await fetch(`${url}/approve`, { method: 'POST', redirect: 'manual' })
    expect(back.headers.get('location')).toMatch(new RegExp(`/sales/${sale}/order/${id}$`))
    await becomes('confirmed', id, token)
    expect(await read()).toMatchObject({ payment: { status: 'succeeded' } })
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 1 })
    expect(await captured(id)).toMatchObject([{ status: 'captured', captures: 1 }])
    const sent = [...(await stream.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(sent.map(({ status }) => status)).toEqual(['reserved', 'paying', 'paying', 'confirmed'])
    expect(sent.findLast((order) => order.payment?.next_action)?.payment.next_action.url).toBe(url)
  })
})
