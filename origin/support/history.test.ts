/** The timeline of an order shows what happened to it and who did it. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'
import { orderHistory } from './history.ts'

const origin = useOrigin()

interface Story {
  readonly status: string
  readonly charge_id: string | null
  readonly contact: { readonly email: string } | null
  readonly history: readonly (Readonly<Record<'at' | 'kind' | 'what', string>> & {
    readonly by: string | null
    readonly detail: Readonly<Record<string, unknown>>
  })[]
}

const storyOf = async (id: string) => (await origin.admin('GET', `/orders/${id}`)).body as unknown as Story
const becomes = (id: string, right: (story: Story) => boolean) => eventually(() => storyOf(id), right)

test('tells a decline, the payment, the handing over, a note and the refund, and is found meanwhile', async () => {
  const sale = await origin.sale({ contact: { email: 'optional' } })
  const token = await origin.token(sale, 'user:story-teller')
  const { body } = await origin.checkout(sale, { token, body: { contact: { email: 'Story.Teller@example.org' } } })
  const id = body.order_id ?? ''
  const pay = (payment_method: string) =>
    origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method } })
  await pay('pm_declined')
  await becomes(id, ({ history }) => history.some(({ what }) => what === 'order.declined'))
  await pay('pm_ok')
  await becomes(id, ({ history }) => history.some(({ what }) => what === 'captured'))
  await origin.admin('POST', `/orders/${id}/fulfil`)
  const noted = await origin.admin('POST', `/orders/${id}/notes`, { text: 'Wants another colour.' })
  expect(noted).toMatchObject({ status: 201, body: { operator: 'admin', text: 'Wants another colour.' } })
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'idempotency-key': randomUUID() }
  await origin.call('POST', `/admin/orders/${id}/refund`, { headers, body: { amount_minor: 400, reason: 'a scratch' } })
  const story = await becomes(id, ({ history }) => history.some(({ what }) => what === 'order.refunded'))

  expect(story).toMatchObject({ status: 'fulfilled', refunded_minor: 400, visitor: 'user:story-teller' })
  expect(story.contact?.email.toLowerCase()).toBe('story.teller@example.org')
  const times = story.history.map(({ at }) => Date.parse(at))
  expect(times).toEqual(times.toSorted((a, b) => a - b))
  const told = (kind: string) => story.history.filter((entry) => entry.kind === kind)
  expect(told('event').map(({ what }) => what)).toEqual([
    ...['order.reserved', 'order.paying', 'order.declined', 'order.paying', 'order.confirmed', 'order.fulfilled'],
    'order.refunded',
  ])
  expect(told('event')[2]?.detail).toMatchObject({ status: 'reserved', decline_code: 'declined', attempts: 1 })
  expect(told('capture').map(({ what }) => what)).toEqual(['requested', 'captured'])
  expect(told('capture')[0]?.detail).toEqual({ charge_id: story.charge_id })
  expect(told('refund').map(({ what, by, detail }) => [what, by, detail.amount_minor, detail.reason])).toEqual([
    ['requested', 'admin', 400, 'a scratch'],
    ['refunded', 'admin', 400, 'a scratch'],
  ])
  expect(told('note')).toMatchObject([{ what: 'Wants another colour.', by: 'admin' }])
  expect(told('action').map(({ by }) => by)).toContain('admin')

  const found = async (query: string) => {
    const answer = await origin.admin('GET', `/orders?${query}`)
    return (answer.body as unknown as { orders: { order_id: string; email?: string; status: string }[] }).orders
  }
  for (const text of ['story-teller', 'story.teler', 'colour'])
    expect(await found(`q=${text}&sale=${sale}`)).toMatchObject([{ order_id: id, status: 'fulfilled' }])
})

test('tells of the bank, of webhooks and of who cancelled it', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const id = (await origin.checkout(sale, { token })).body.order_id ?? ''
  const sql = origin.sql()
  const endpoint = randomUUID()
  await sql`insert into webhook_endpoints (endpoint_id, url, events, sealed_secrets, state)
    values (${endpoint}, 'https://shop.example/hooks', '{}', '[]', 'paused')`
  await sql`insert into jobs (queue, group_id, lane, data, state, attempts, finished_at)
    values ('webhook', ${endpoint}, ${id},
      '{"message": "msg_1", "type": "order.reserved", "body": "{}", "status": 204}', 'done', 2, now())`
  await origin.call('POST', `/orders/${id}/payment`, { token, body: { payment_method: 'pm_3ds' } })
  const waiting = await becomes(id, ({ history }) => history.some(({ detail }) => detail.action !== undefined))
  const action = waiting.history.find(({ detail }) => detail.action !== undefined)?.detail.action
  expect(action).toEqual({ charge: expect.any(String) })
  const { payment } = (await origin.call('GET', `/orders/${id}`, { token })).body
  await fetch(`${payment?.next_action?.url}/approve`, { method: 'POST', redirect: 'manual' })
  await becomes(id, ({ status }) => status === 'confirmed')
  const reason = 'sent to a wrong address'
  await origin.admin('POST', `/orders/${id}/cancel`, { reason })
  const { status, history } = await storyOf(id)
  expect(status).toBe('cancelled')
  expect(history.filter(({ kind }) => kind === 'action')).toMatchObject([{ by: 'admin' }])
  const delivered = { endpoint_id: endpoint, type: 'order.reserved', attempts: 2, status: 204 }
  expect(waiting.history.filter(({ kind }) => kind === 'delivery')).toMatchObject([
    { what: 'delivered', by: null, detail: delivered },
  ])
})

test('refuses what is no search, and the story of an unknown order', async () => {
  for (const query of ['status=lost', 'limit=0', 'limit=x', 'q=a&after=nowhere', `q=${'x'.repeat(201)}`])
    expect(await origin.admin('GET', `/orders?${query}`)).toMatchObject({ status: 422 })
  expect(await origin.admin('GET', `/orders/${randomUUID()}`)).toMatchObject({ status: 404 })
  expect(await origin.admin('POST', `/orders/${randomUUID()}/notes`, { text: 'x' })).toMatchObject({ status: 404 })
})

test('tells of the order and of its events as of one moment', async () => {
  const id = (await origin.checkout(await origin.sale())).body.order_id ?? ''
  const sql = origin.sql()
  const nowMs = Date.now()
  let isOver = false
  const refunding = (async () => {
    for (let refunded = 1; !isOver; refunded++)
      await sql.begin(async (tx) => {
        await tx`update orders set refunded_minor = ${refunded} where order_id = ${id}`
        await tx`update events set data = jsonb_build_object('refunded_minor', ${refunded}::int) where order_id = ${id}`
        if (refunded === 1)
          await tx`insert into events (xid, type, order_id, status, data)
            values (event_xid(), 'order.refunded', ${id}, 'reserved', '{"refunded_minor": 1}')`
      })
  })()
  try {
    for (let i = 0; i < 100; i++) {
      const told = await orderHistory(sql, id, nowMs)
      const event = told?.history.find(({ what }) => what === 'order.refunded')
      expect(Number(told?.refunded_minor)).toBe(event?.detail.refunded_minor ?? 0)
    }
  } finally {
    isOver = true
    await refunding
  }
})

test('says where it goes to, and what it costs beside its lines', async () => {
  const delivery = { name: 'Ann Lee', street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const sale = await origin.sale({ delivery: { kind: 'address', prices: [{ amount_minor: 490 }] } })
  const { body } = await origin.checkoutDecided(sale, { body: { product_id: 'one', delivery } })
  expect(await storyOf(body.order_id ?? '')).toMatchObject({
    short_number: body.short_number,
    shipping_minor: 490,
    bill: [{ kind: 'shipping', amount_minor: 490 }],
    contact: { delivery },
  })
})

test('orders are counted, and exported as chosen or as the filters find them, which the audit log has', async () => {
  const delivery = { name: 'Ann Lee', street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const sale = await origin.sale({ delivery: { kind: 'address' } })
  const orders: string[] = []
  for (let i = 0; i < 2; i++)
    orders.push((await origin.checkout(sale, { body: { product_id: 'one', delivery } })).body.order_id ?? '')
  const [first = ''] = orders
  const about = `sale=${sale}&from=2026-01-01T00:00:00Z`
  await eventually(
    () => origin.admin('GET', `/orders/counts?${about}`),
    ({ body }) => (body as { counts?: { reserved?: number } }).counts?.reserved === 2,
  )
  const found = await origin.admin('GET', `/orders?q=&status=reserved,paying&${about}`)
  expect(found.body).toMatchObject({ orders: [{ is_parcel: true, picture: null, refunding_minor: 0 }, {}] })
  const exported = async (query: string) => {
    const headers = { authorization: `Bearer ${ADMIN_TOKEN}` }
    const { body } = await origin.call('GET', `/admin/orders/export?format=csv&${query}`, { headers })
    return String((body as { text?: string }).text)
      .split('\n')
      .slice(1)
      .flatMap((line) => (line === '' ? [] : [line.split(',', 1)[0]]))
  }
  expect(await exported(`orders=${first}`)).toEqual([first])
  expect((await exported(about)).sort()).toEqual(orders.sort())
  expect(await exported(`status=expired&${about}`)).toEqual([])
  expect(await origin.admin('GET', '/orders/export?orders=x')).toMatchObject({ status: 422 })
  expect((await origin.admin('GET', `/audit?sale=${sale}&action=orders+exported`)).body).toMatchObject({
    entries: [{}, {}],
  })
  await origin.admin('POST', `/orders/${first}/notes`, { text: 'ring twice' })
  expect((await origin.admin('GET', `/audit?sale=${sale}&action=noted`)).body).toMatchObject({
    entries: [{ is_parcel: true, currency: 'EUR' }],
  })
})
