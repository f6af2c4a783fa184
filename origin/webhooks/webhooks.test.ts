/** A shop's systems get webhooks about orders, sales and findings, as the Standard Webhooks specification says. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import type { Role } from '../../shared/api/roles.ts'
import { useOwnOrigin } from '../../test/origin-process.ts'
import { type Received, useReceiver, verify } from '../../test/stand-ins/receiver.ts'
import { writeOperator } from '../operators/operator-queries.ts'
import { newSecret as newOperatorSecret } from '../operators/operators.ts'
import { CONNECTIONS } from './sender.ts'

const origin = useOwnOrigin()
const receiver = useReceiver()

async function endpoint(config: object = {}) {
  const path = `/${randomUUID()}`
  const { status, body } = await origin.admin('POST', '/webhooks', {
    url: receiver.url(path),
    events: ['*'],
    ...config,
  })
  expect(status).toBe(201)
  return { path, id: String(body.endpoint), secret: String(body.secret) }
}
type Endpoint = Awaited<ReturnType<typeof endpoint>>
const typesAt = ({ path }: Endpoint) => receiver.at(path).map(({ type }) => type)
const deliveries = async ({ id }: Endpoint, query = '') => {
  const { body } = await origin.admin('GET', `/webhooks/${id}/deliveries${query}`)
  return body.deliveries as {
    delivery: string
    state: string
    attempts: number
    status: number
    error: string
    type: string
  }[]
}
const state = async ({ id }: Endpoint) => (await origin.admin('GET', `/webhooks/${id}`)).body.state

afterEach(async () => {
  receiver.answers(undefined)
  await origin.sql()`delete from webhook_endpoints`
  await origin.sql()`delete from jobs where queue = 'webhook'`
  await origin.sql()`delete from findings`
})

test('reports an order from its reservation to its end, each message signed, and as the order was then', async () => {
  const sale = await origin.sale()
  const to = await endpoint({ events: ['order.reserved', 'order.paying', 'order.confirmed', 'order.expired'] })
  const { body } = await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await expect.poll(() => typesAt(to)).toEqual(['order.reserved', 'order.paying', 'order.confirmed'])
  const messages = receiver.at(to.path)
  expect(messages.map(({ data }) => [data.order_id, data.status, data.payment?.status])).toEqual([
    [body.order_id, 'reserved', undefined],
    [body.order_id, 'paying', 'pending'],
    [body.order_id, 'confirmed', 'succeeded'],
  ])
  for (const message of messages) {
    expect(verify(to.secret, message)).toMatchObject({ type: message.type, timestamp: message.timestamp })
    expect(message.id).toMatch(/^evt_\d+_\d+/)
    expect(() => verify(`whsec_${Buffer.alloc(32).toString('base64')}`, message)).toThrow()
  }
  expect(new Set(messages.map(({ id }) => id)).size).toBe(3)
  // The receiver has a message before its delivery is recorded.
  await expect.poll(() => deliveries(to, '?state=delivered')).toMatchObject([{ attempts: 1, status: 204 }, {}, {}])
})

test('reports a sale: opened, paused, sold out, restocked, ended, each once', async () => {
  const to = await endpoint({ events: ['sale.opened', 'sale.paused', 'sale.sold_out', 'sale.restocked', 'sale.ended'] })
  const sale = await origin.sale({ total: 1 })
  const becomes = (...types: string[]) => expect.poll(() => typesAt(to)).toEqual(types.map((type) => `sale.${type}`))
  await becomes('opened')
  await origin.admin('POST', `/sales/${sale}/pause`)
  await becomes('opened', 'paused')
  await origin.admin('POST', `/sales/${sale}/resume`)
  await becomes('opened', 'paused', 'opened')
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await becomes('opened', 'paused', 'opened', 'sold_out')
  await origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 2 })
  await becomes('opened', 'paused', 'opened', 'sold_out', 'restocked')
  await origin.admin('POST', `/sales/${sale}/end`)
  await becomes('opened', 'paused', 'opened', 'sold_out', 'restocked', 'ended')
  const reported = receiver.at(to.path).map(({ data }) => [data.sale, data.phase, data.products[0].total])
  expect(reported.map(([, phase]) => phase)).toEqual(['open', 'paused', 'open', 'sold_out', 'open', 'ended'])
  expect(reported.at(-1)).toEqual([sale, 'ended', 3])
})

test('sends the messages of one order one after the other, also while the first one fails', async () => {
  const sale = await origin.sale()
  const to = await endpoint()
  let failures = 2
  receiver.answers(({ type }, response) => {
    if (type === 'order.reserved' && failures-- > 0) response.writeHead(500).end('not now')
  })
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await expect.poll(() => typesAt(to)).toEqual([...Array(3).fill('order.reserved'), 'order.paying', 'order.confirmed'])
  const ids = receiver.at(to.path).map(({ id }) => id)
  expect(new Set(ids.slice(0, 3)).size).toBe(1)
  expect(await deliveries(to)).toMatchObject([{}, {}, { type: 'order.reserved', attempts: 3, error: null }])
})

test('gives up a message that was not accepted for a day, with a finding', async () => {
  const sale = await origin.sale()
  const to = await endpoint({ events: ['order.reserved', 'order.cancelled'] })
  receiver.answers(({ type }, response) => void (type === 'order.reserved' && response.writeHead(500).end('no')))
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  await expect.poll(async () => (await deliveries(to))[0]?.attempts).toBeGreaterThan(0)
  await origin.call('DELETE', `/orders/${body.order_id}`, { token })
  await origin.sql()`update jobs set created_at = created_at - interval '24 hours', run_at = now() where queue = 'webhook'`
  await expect.poll(() => deliveries(to)).toMatchObject([{ state: 'delivered' }, { state: 'dead', error: '500 no' }])
  const { body: found } = await origin.admin('GET', '/findings')
  expect(found.findings).toMatchObject([{ kind: 'webhook_failed', subject: to.id }])
  // Sent again by an operator, once, with its own id.
  receiver.answers(undefined)
  const { delivery = '' } = (await deliveries(to, '?state=dead'))[0] ?? {}
  expect(await origin.admin('POST', `/webhooks/${to.id}/replay`, { delivery })).toMatchObject({ status: 202 })
  await expect.poll(() => typesAt(to).at(-1)).toBe('order.reserved')
  const reserved = receiver.at(to.path).filter(({ type }) => type === 'order.reserved')
  expect(new Set(reserved.map(({ id }) => id)).size).toBe(1)
  const { body: after } = await origin.admin('GET', '/findings')
  expect(after.findings).toMatchObject([{ closed_at: expect.any(String), outcome: 'sent again by an operator' }])
})

test('sends a range again, in its order', async () => {
  const sale = await origin.sale()
  const to = await endpoint({ events: ['order.reserved', 'order.paying', 'order.confirmed'] })
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  // Once each is recorded, which is after the receiver has it.
  await expect.poll(() => deliveries(to, '?state=delivered')).toHaveLength(3)
  const [from, until] = [new Date(Date.now() - 60_000), new Date(Date.now() + 1_000)].map((at) => at.toISOString())
  const { body } = await origin.admin('POST', `/webhooks/${to.id}/replay`, { from, to: until })
  expect(body).toEqual({ replayed: 3 })
  await expect
    .poll(() =>
      receiver
        .at(to.path)
        .map(({ id }) => id)
        .slice(3),
    )
    .toEqual(
      receiver
        .at(to.path)
        .map(({ id }) => id)
        .slice(0, 3),
    )
})

test('signs with both secrets while they rotate, and shows neither', async () => {
  const sale = await origin.sale()
  const to = await endpoint({ events: ['order.reserved'] })
  const { body } = await origin.admin('PATCH', `/webhooks/${to.id}`, { rotate: true })
  expect(body.secrets_live).toBe(2)
  await origin.checkout(sale)
  await expect.poll(() => receiver.at(to.path).length).toBe(1)
  const [message] = receiver.at(to.path) as [Received]
  expect(String(message.headers['webhook-signature']).split(' ')).toHaveLength(2)
  for (const secret of [to.secret, String(body.secret)]) verify(secret, message)
  const { body: list } = await origin.admin('GET', '/webhooks')
  expect(JSON.stringify(list)).not.toContain(to.secret.slice(6, -4))
  await origin.sql()`
    update webhook_endpoints set secrets = jsonb_set(secrets, '{1,until}', to_jsonb(now() - interval '1 second'))`
  await origin.checkout(sale)
  await expect.poll(() => receiver.at(to.path).length).toBe(2)
  const later = receiver.at(to.path)[1] as Received
  verify(String(body.secret), later)
  expect(() => verify(to.secret, later)).toThrow()
})

test('a secret that is sent twice, since the first answer was lost, leaves the one before alive', async () => {
  const sale = await origin.sale()
  const to = await endpoint({ events: ['order.reserved'] })
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  for (let i = 0; i < 2; i++)
    expect(await origin.admin('PATCH', `/webhooks/${to.id}`, { secret })).toMatchObject({ body: { secrets_live: 2 } })
  await origin.checkout(sale)
  await expect.poll(() => receiver.at(to.path).length).toBe(1)
  for (const live of [to.secret, secret]) verify(live, receiver.at(to.path)[0] as Received)
})

test('pauses an endpoint that is gone, does not follow redirects, and lets a slow one hold up nobody', async () => {
  const sale = await origin.sale()
  const [gone, elsewhere, slow, quick] = [await endpoint(), await endpoint(), await endpoint(), await endpoint()]
  let isSlowOver = false
  receiver.answers(async ({ path }, response) => {
    if (path === gone.path) response.writeHead(410).end()
    if (path === elsewhere.path) response.writeHead(302, { location: receiver.url('/elsewhere') }).end()
    if (path !== slow.path) return
    response.on('close', () => {
      isSlowOver = true
    })
    await new Promise(() => {})
  })
  await origin.checkout(sale)
  await expect.poll(() => typesAt(quick)).toContain('order.reserved')
  expect(isSlowOver).toBe(false)
  await expect.poll(() => state(gone)).toBe('paused')
  await expect.poll(async () => (await deliveries(elsewhere))[0]).toMatchObject({ status: 302, state: 'pending' })
  expect(receiver.at('/elsewhere')).toEqual([])
  // One message after the other: the paused endpoint would have had the first before the second.
  for (const [call, type] of [
    ['pause', 'sale.paused'],
    ['resume', 'sale.opened'],
  ] as const) {
    await origin.admin('POST', `/sales/${sale}/${call}`)
    await expect.poll(() => typesAt(quick).at(-1)).toBe(type)
  }
  expect(typesAt(gone)).toHaveLength(1)
})

test('an endpoint that never answers holds up no other one of the same host', async () => {
  const sale = await origin.sale({ total: 100 })
  const [silent, quick] = [
    await endpoint({ events: ['order.reserved'] }),
    await endpoint({ events: ['order.reserved'] }),
  ]
  let isSilentOver = false
  receiver.answers(async ({ path }, response) => {
    if (path !== silent.path) return
    response.on('close', () => {
      isSilentOver = true
    })
    await new Promise(() => {})
  })
  const tokens = await Promise.all(Array.from({ length: 60 }, () => origin.token(sale)))
  // The silent endpoint has all its connections in use before the other messages are due.
  await Promise.all(tokens.slice(0, 35).map((token) => origin.checkout(sale, { token })))
  await expect.poll(() => receiver.at(silent.path).length).toBe(CONNECTIONS)
  await Promise.all(tokens.slice(35).map((token) => origin.checkout(sale, { token })))
  await expect.poll(() => receiver.at(quick.path).length).toBe(60)
  expect(isSilentOver).toBe(false)
})

test('a new endpoint gets only what happens from then on', async () => {
  const sale = await origin.sale()
  await origin.checkout(sale)
  const to = await endpoint({ events: ['order.reserved'] })
  const { body } = await origin.checkout(sale)
  await expect.poll(() => typesAt(to)).toEqual(['order.reserved'])
  expect(receiver.at(to.path)[0]?.data.order_id).toBe(body.order_id)
})

test('refuses a range of invalid times', async () => {
  const to = await endpoint()
  for (const from of ['0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', 'now', 1])
    expect(await origin.admin('POST', `/webhooks/${to.id}/replay`, { from, to: '2027-01-01T00:00:00Z' })).toMatchObject(
      {
        status: 422,
        body: { errors: [{}] },
      },
    )
})

test('refuses invalid endpoints', async () => {
  const url = receiver.url('/x')
  for (const wrong of [
    { url: 'ftp://shop.example', events: ['*'] },
    { url: 'http://user:word@shop.example', events: ['*'] },
    { url, events: ['order.unknown'] },
    { url, events: [] },
    { url, events: ['*'], secret: 'whsec_c2hvcnQ=' },
    { url, events: ['*'], colour: 'red' },
  ])
    expect(await origin.admin('POST', '/webhooks', wrong)).toMatchObject({ status: 422 })
  expect(await origin.admin('GET', `/webhooks/${randomUUID()}`)).toMatchObject({ status: 404 })
  expect(await origin.call('GET', '/admin/webhooks')).toMatchObject({ status: 401 })
  const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const { secret, id } = await endpoint({ secret: own })
  expect(secret).toBe(own)
  expect(await origin.admin('DELETE', `/webhooks/${id}`)).toMatchObject({ status: 204 })
})

test('takes an owner to change an endpoint or to send again, a viewer to read; each change has an audit entry', async () => {
  const keyOf = async (role: Role) => {
    const { secret, hash } = newOperatorSecret()
    await writeOperator(origin.sql(), { name: `${role}@shop`, role }, hash)
    return secret
  }
  const [viewer, operator, owner] = [await keyOf('viewer'), await keyOf('operator'), await keyOf('owner')]
  const config = { url: receiver.url('/role'), events: ['*'] }
  const made = await origin.call('POST', '/admin/webhooks', { token: owner, body: config })
  expect(made).toMatchObject({ status: 201 })
  const path = `/admin/webhooks/${made.body.endpoint}`
  const [from, to] = ['2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z']
  const writes = [
    ['POST', '/admin/webhooks', config],
    ['PATCH', path, { state: 'paused' }],
    ['POST', `${path}/replay`, { from, to }],
    ['DELETE', path, undefined],
  ] as const
  for (const [method, at, body] of writes)
    for (const token of [viewer, operator])
      expect(await origin.call(method, at, { token, body })).toMatchObject({ status: 403 })
  expect(await origin.call('GET', path, { token: viewer })).toMatchObject({ status: 200, body: { state: 'active' } })
  for (const [method, at, body] of writes.slice(1))
    expect((await origin.call(method, at, { token: owner, body })).status).toBeLessThan(300)
  const entries = await origin.sql()`
    select actor, action, before, after from audit_log where action like 'webhook%' and actor = 'owner@shop' order by entry_id`
  const about = { endpoint: made.body.endpoint, url: config.url }
  expect(entries).toMatchObject([
    { action: 'webhook created', before: null, after: { ...about, state: 'active', secrets: 1 } },
    { action: 'webhook changed', before: { state: 'active' }, after: { ...about, state: 'paused' } },
    { action: 'webhook sent again', after: { endpoint: about.endpoint, from, to, replayed: 0 } },
    { action: 'webhook deleted', before: about, after: null },
  ])
  expect(JSON.stringify(entries)).not.toContain('whsec_')
})
