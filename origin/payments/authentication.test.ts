import { describe, expect, test } from 'vitest'
import type { Payment } from '../../shared/api/public.ts'
import { eventually, eventuallyMatches } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()

async function buy(method: string) {
  const sale = await origin.sale({ total: 1 })
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  const id = body.order_id ?? ''
  const read = async () => (await origin.call('GET', `/orders/${id}`, { token })).body
  const pay = (payment_method: string) =>
    origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method } })
  const becomes = async (status: string) => {
    await eventuallyMatches(read, { status })
    return read()
  }
  const charges = () => origin.sql()<{ status: string; captures: number }[]>`
    select status, capture_attempts as captures from sandbox.charges where order_id = ${id} order by attempt`
  const end = async (wanted: object[]) => {
    await eventuallyMatches(charges, wanted)
    expect(await charges()).toEqual(wanted)
  }
  await pay(method)
  return { sale, id, token, read, pay, becomes, charges, end }
}
type Bought = Awaited<ReturnType<typeof buy>>

/** Has the time of an order's hold pass, until the sweeper has ended another one that passed with it. */
async function pastItsHold({ id }: Bought): Promise<void> {
  const sale = await origin.sale({ total: 1 })
  expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
  const overdue = await origin.sql()<{ order_id: string }[]>`
    update orders set reserved_until = now() - interval '1 second' where order_id = ${id} or sale_id = ${sale} returning order_id`
  expect(overdue).toHaveLength(2)
  await eventuallyMatches(
    () => origin.sql()`select status from orders where sale_id = ${sale}`,
    [{ status: 'expired' }],
  )
}
/** Where the bank waits for the buyer of an order. */
async function bankOf({ read }: Bought): Promise<string> {
  const { payment } = await eventually(read, ({ payment }) => payment?.status === 'requires_action')
  return payment?.next_action?.url ?? ''
}
const answer = (url: string, how: 'approve' | 'decline') =>
  fetch(`${url}/${how}`, { method: 'POST', redirect: 'manual' })

describe.concurrent('a payment that its buyer authenticates', () => {
  test('keeps its hold meanwhile, and is confirmed when they come back', async () => {
    const bought = await buy('pm_3ds')
    const { sale, id, token, read, becomes, end } = bought
    const stream = await fetch(`${origin.url()}/orders/${id}/events`, { headers: { authorization: `Bearer ${token}` } })
    const url = await bankOf(bought)
    const { payment } = await read()
    expect(payment).toMatchObject({ next_action: { type: 'redirect', url }, attempts_left: 2 })
    expect(payment?.expires_in_seconds).toBeGreaterThan(1)
    expect(payment?.expires_in_seconds).toBeLessThanOrEqual(300)
    await pastItsHold(bought)
    expect(await read()).toMatchObject({ status: 'paying' })
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 1 })
    const back = await answer(url, 'approve')
    expect(back.headers.get('location')).toMatch(new RegExp(`/sales/${sale}/order/${id}$`))
    expect(await becomes('confirmed')).toMatchObject({ payment: { status: 'succeeded' } })
    expect(await origin.stock(sale)).toMatchObject({ available: 0, held: 0, sold: 1 })
    await end([{ status: 'captured', captures: 1 }])
    const events = [...(await stream.text()).matchAll(/^data: (.*)$/gm)].map(([, data = '']) => JSON.parse(data))
    expect(events.map(({ status }) => status)).toEqual(['reserved', 'paying', 'paying', 'confirmed'])
    const waits = (events as { payment: Payment }[]).filter((e) => e.payment?.status === 'requires_action')
    expect(waits.at(-1)?.payment.next_action?.url).toBe(url)
  })

  test('and declines can be tried with another method', async () => {
    const bought = await buy('pm_3ds')
    await answer(await bankOf(bought), 'decline')
    const { payment } = await bought.becomes('reserved')
    expect(payment).toMatchObject({ status: 'declined', code: 'authentication_failed', attempts_left: 2 })
    await bought.pay('pm_ok')
    await bought.becomes('confirmed')
    await bought.end([
      { status: 'declined', captures: 0 },
      { status: 'captured', captures: 1 },
    ])
  })
})
