import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventuallyMatches } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { sandboxWebhook } from '../../test/lib/payments.ts'

const origin = useOrigin()

const PRICE = 1_000
async function paid(sale: string, token?: string): Promise<string> {
  const { body } = await origin.checkout(sale, { body: { payment_method: 'pm_ok' }, ...(token && { token }) })
  const order = String(body.order_id)
  await until(order, { status: 'confirmed' })
  return order
}
async function read(order: string) {
  const [row] = await origin.sql()<{ status: string; refunded_minor: number; reason: string | null }[]>`
    select status, refunded_minor::int, reason from orders where order_id = ${order}`
  if (!row) throw new Error(`no order ${order}`)
  return row
}
const until = (order: string, wanted: Partial<Awaited<ReturnType<typeof read>>>) =>
  eventuallyMatches(() => read(order), wanted)
const refund = (order: string, body: object = {}, key: string = randomUUID()) =>
  origin.call('POST', `/admin/orders/${order}/refund`, {
    token: ADMIN_TOKEN,
    body,
    headers: { 'idempotency-key': key },
  })
const cancel = (order: string, body: object = {}) => origin.admin('POST', `/orders/${order}/cancel`, body)
/** What the provider has of an order. */
const charged = (order: string) =>
  origin.sql()`select status, refunded_minor::int from sandbox.charges where order_id = ${order}`
const eventsOf = async (order: string) =>
  (await origin.sql()`select type from events where order_id = ${order} order by seq`).map(({ type }) => type)
const auditOf = (order: string) =>
  origin.sql()`select actor, action, before, after from audit_log where order_id = ${order} order by entry_id`
const drifts = (sale: string) => origin.sql()`select kind from findings where sale_id = ${sale}`

/** The orders' sum, the counters and the gate say the same. */
async function agree(sale: string, counts: { total: number; available: number; held: number; sold: number }) {
  await eventuallyMatches(() => origin.stock(sale), counts)
  // The origin compares by itself too, and while it loads the gate again there is nothing to compare.
  const reconciled = async () => (await origin.admin('POST', `/sales/${sale}/reconcile`)).body
  await eventuallyMatches(reconciled, { findings: [{ found: 'ok', drift: 0, recount: { found: 'ok', units: 0 } }] })
}

describe.concurrent('a refund', () => {
  test('of all gives the money back once, and its unit stays gone', async () => {
    const sale = await origin.sale({ total: 3 })
    const order = await paid(sale)
    const key = randomUUID()
    const answers = await Promise.all(Array.from({ length: 4 }, () => refund(order, { reason: 'torn' }, key)))
    expect(answers.map(({ status }) => status)).toEqual([202, 202, 202, 202])
    expect(answers.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')).toHaveLength(3)
    expect(await refund(order, { reason: 'other' }, key)).toMatchObject({ status: 422 })
    await until(order, { status: 'refunded', refunded_minor: PRICE })
    expect(await refund(order, { reason: 'torn' }, key)).toMatchObject({
      status: 200,
      body: { status: 'refunded', refunded_minor: PRICE, payment: { status: 'refunded' } },
    })
    expect(await refund(order)).toMatchObject({ status: 422, body: { rest_minor: 0 } })
    expect(await eventsOf(order)).toEqual(['order.paying', 'order.confirmed', 'order.refunded'])
    expect(await auditOf(order)).toEqual([
      {
        actor: 'admin',
        action: 'refund requested',
        before: { status: 'confirmed', refunded_minor: 0 },
        after: { refund: expect.any(String), amount_minor: PRICE, reason: 'torn', restock: false },
      },
    ])
    await agree(sale, { total: 3, available: 2, held: 0, sold: 1 })
    expect(await drifts(sale)).toEqual([])
  })

  test('is made in parts, and shows what remains', async () => {
    const sale = await origin.sale()
    const order = await paid(sale)
    expect(await refund(order, { amount_minor: 300 })).toMatchObject({ status: 202, body: { status: 'confirmed' } })
    expect(await refund(order, { amount_minor: 701 })).toMatchObject({ status: 422, body: { rest_minor: 700 } })
    await until(order, { status: 'confirmed', refunded_minor: 300 })
    expect(await origin.admin('POST', `/orders/${order}/fulfil`)).toMatchObject({ status: 200 })
    expect(await refund(order, { amount_minor: 200 })).toMatchObject({ status: 202 })
    expect(await refund(order, { restock: true })).toMatchObject({ status: 202 })
    await until(order, { status: 'returned', refunded_minor: PRICE })
    expect(await charged(order)).toEqual([{ status: 'refunded', refunded_minor: PRICE }])
    await agree(sale, { total: 10, available: 10, held: 0, sold: 0 })
    expect(await drifts(sale)).toEqual([])
  })

  test('is for paid orders only, and needs a key', async () => {
    const sale = await origin.sale()
    const { body } = await origin.checkout(sale)
    const id = String(body.order_id)
    expect(await refund(id)).toMatchObject({ status: 409 })
    expect(await origin.admin('POST', `/orders/${id}/refund`)).toMatchObject({ status: 400 })
    expect(await refund(randomUUID())).toMatchObject({ status: 404 })
  })

  test('of many calls at once never exceeds the price', async () => {
    const sale = await origin.sale()
    const order = await paid(sale)
    const amounts = Array.from({ length: 30 }, () => 1 + Math.floor(Math.random() * 200))
    const answers = await Promise.all(amounts.map((amount_minor) => refund(order, { amount_minor })))
    const asked = amounts.filter((_, i) => answers[i]?.status === 202).reduce((sum, amount) => sum + amount, 0)
    expect(asked, `amounts ${amounts}`).toBeLessThanOrEqual(PRICE)
    await until(order, { refunded_minor: asked })
    expect(await charged(order)).toMatchObject([{ refunded_minor: asked }])
    await refund(order)
    await until(order, { status: 'refunded', refunded_minor: PRICE })
    expect(await charged(order)).toMatchObject([{ status: 'refunded', refunded_minor: PRICE }])
  })

  test('made at the provider is shown by the order, with a finding', async () => {
    const sale = await origin.sale()
    const order = await paid(sale)
    await eventuallyMatches(() => charged(order), [{ status: 'captured' }])
    await refund(order, { amount_minor: 100 })
    await until(order, { refunded_minor: 100 })
    await byHand(order, 250)
    await until(order, { status: 'confirmed', refunded_minor: 350 })
    expect(await refund(order, { amount_minor: 651 })).toMatchObject({ status: 422, body: { rest_minor: 650 } })
    await byHand(order)
    await until(order, { status: 'refunded', refunded_minor: PRICE })
    expect(await drifts(sale)).toEqual([{ kind: 'refunded_outside' }])
    await agree(sale, { total: 10, available: 9, held: 0, sold: 1 })
  })

  /** In the provider's records, which send a webhook. */
  async function byHand(order: string, amount?: number) {
    await origin.sql()`
      insert into sandbox.refunds (key, charge_id, amount_minor)
      select ${randomUUID()}, charge_id, ${amount ?? origin.sql()`amount_minor - refunded_minor`}
        from sandbox.charges where order_id = ${order}`
    const [charge] = await origin.sql()`
      update sandbox.charges set changed_by = pg_current_xact_id(),
        refunded_minor = ${amount === undefined ? origin.sql()`amount_minor` : origin.sql()`refunded_minor + ${amount}`},
        status = ${amount === undefined ? 'refunded' : 'captured'}
      where order_id = ${order}
      returning charge_id as charge, order_id as order, status, refunded_minor::int`
    expect(await sandboxWebhook(origin, charge ?? {})).toMatchObject({ status: 200 })
  }
})

describe.concurrent('an operator cancels', () => {
  test('what is held and what is paid: unit and money come back', async () => {
    const sale = await origin.sale({ total: 2 })
    const held = String((await origin.checkout(sale)).body.order_id)
    const sold = await paid(sale)
    for (const order of [held, sold]) {
      const cancelled = { status: 200, body: { status: 'cancelled', reason: 'by_shop' } }
      expect(await cancel(order, { reason: 'recalled' })).toMatchObject(cancelled)
      expect(await cancel(order)).toMatchObject(cancelled)
      expect(await auditOf(order)).toMatchObject([{ action: 'cancelled', after: { reason: 'recalled' } }])
    }
    await agree(sale, { total: 2, available: 2, held: 0, sold: 0 })
    await eventuallyMatches(() => charged(sold), [{ status: expect.stringMatching(/^(refunded|cancelled)$/) }])
    expect(await drifts(sale)).toEqual([])
  })

  test('what was taken and not noted: the order shows what came back', async () => {
    const order = await paid(await origin.sale())
    const taken = () => origin.sql()`select captured_at is not null as taken from captures where order_id = ${order}`
    await eventuallyMatches(taken, [{ taken: true }])
    // A worker that dies between the provider and the ledger leaves this state.
    await origin.sql()`update captures set captured_at = null where order_id = ${order}`
    expect(await cancel(order)).toMatchObject({ status: 200 })
    await until(order, { status: 'cancelled', refunded_minor: PRICE })
    expect(await charged(order)).toEqual([{ status: 'refunded', refunded_minor: PRICE }])
  })

  test.each(['pm_slow', 'pm_3ds'])('what is being paid: the charge is cancelled (%s)', async (payment_method) => {
    const sale = await origin.sale()
    const { body } = await origin.checkout(sale, { body: { payment_method } })
    const id = String(body.order_id)
    await eventuallyMatches(
      () => charged(id),
      [{ status: payment_method === 'pm_3ds' ? 'requires_action' : 'pending' }],
    )
    // The order knows of its charge.
    const waits = () => origin.sql()`select action is not null as waits from orders where order_id = ${id}`
    await eventuallyMatches(waits, [{ waits: payment_method === 'pm_3ds' }])
    expect(await cancel(id)).toMatchObject({ status: 200, body: { status: 'cancelled' } })
    await eventuallyMatches(() => charged(id), [{ status: 'cancelled' }])
    expect(await eventsOf(id)).not.toContain('order.refunded')
    await agree(sale, { total: 10, available: 10, held: 0, sold: 0 })
  })

  test('nothing that is handed over or refunded', async () => {
    const order = await paid(await origin.sale())
    await origin.admin('POST', `/orders/${order}/fulfil`)
    const detail = { detail: expect.stringContaining('can only be refunded') }
    expect(await cancel(order)).toMatchObject({ status: 409, body: detail })
    await refund(order)
    await until(order, { status: 'refunded' })
    expect(await cancel(order)).toMatchObject({ status: 409, body: detail })
  })
})
