/** A shop's systems receive webhooks about orders, sales and findings, by the Standard Webhooks specification. */
import { randomBytes, randomUUID } from 'node:crypto'
import { afterEach, expect, test } from 'vitest'
import { requireDescribedMessage } from '../../test/lib/described.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { type Received, useReceiver, verify } from '../../test/stand-ins/receiver.ts'

const origin = useOrigin()
const receiver = useReceiver()

const made: string[] = []
afterEach(async () => {
  receiver.answers(undefined)
  for (const id of made.splice(0)) await origin.admin('DELETE', `/webhooks/${id}`)
})

const ORDERS = ['order.reserved', 'order.paying', 'order.confirmed']

interface Delivery extends Readonly<Record<'delivery' | 'state' | 'type', string>> {
  readonly attempts: number
  readonly tries: readonly object[]
  readonly body: { readonly data: { readonly sale: string } }
}

/** Creates an endpoint, and selects its messages about one sale, because it also gets those of other test files. */
async function endpoint(sale: string, events: readonly string[] = ['*'], config: object = {}) {
  const path = `/${randomUUID()}`
  const { status, body } = await origin.admin('POST', '/webhooks', { url: receiver.url(path), events, ...config })
  expect(status).toBe(201)
  const id = String(body.endpoint)
  made.push(id)
  const messages = () => {
    const all = receiver.at(path)
    for (const { type, timestamp, data } of all) requireDescribedMessage({ type, timestamp, data })
    return all.filter(({ data }) => data.sale === sale)
  }
  return {
    path,
    id,
    secret: String(body.secret),
    messages,
    types: () => messages().map(({ type }) => type),
    ids: () => messages().map((message) => message.id),
    state: async () => (await origin.admin('GET', `/webhooks/${id}`)).body.state,
    async deliveries(query = '') {
      const { body } = await origin.admin('GET', `/webhooks/${id}/deliveries${query}`)
      return (body.deliveries as Delivery[]).filter((one) => one.body.data.sale === sale)
    },
    /** Makes failed messages due at once. */
    retry: () => origin.sql()`
      update jobs set run_at = now() where group_id = ${id} and state = 'pending' and not leased`,
  }
}

test('reports an order until its end in signed messages with its state then, and again on request', async () => {
  const sale = await origin.sale()
  await origin.checkout(sale)
  const to = await endpoint(sale, [...ORDERS, 'order.expired'])
  const { body } = await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await expect.poll(to.types).toEqual(ORDERS)
  const messages = to.messages()
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
  expect(new Set(to.ids()).size).toBe(3)
  // The receiver gets a message before its delivery is recorded.
  await expect.poll(() => to.deliveries('?state=delivered')).toMatchObject([{ attempts: 1, status: 204 }, {}, {}])

  const [from, until] = [-60_000, 1_000].map((ms) => new Date(Date.now() + ms).toISOString())
  const { body: again } = await origin.admin('POST', `/webhooks/${to.id}/replay`, { from, to: until })
  expect(again.replayed).toBeGreaterThanOrEqual(3)
  await expect.poll(to.ids).toHaveLength(6)
  expect(to.ids().slice(3)).toEqual(to.ids().slice(0, 3))
})

test('reports a sale: opened, paused, sold out, restocked, ended, each once', async () => {
  const types = ['opened', 'paused', 'opened', 'sold_out', 'restocked', 'ended'].map((type) => `sale.${type}`)
  const sale = await origin.sale({ total: 1, opens_at: new Date(Date.now() + 3_600_000).toISOString() })
  const to = await endpoint(sale, [...new Set(types)])
  const post = (path: string, body?: object) => origin.admin('POST', `/sales/${sale}/${path}`, body)
  const steps = [
    () => post('open'),
    () => post('pause'),
    () => post('resume'),
    () => origin.checkout(sale, { body: { payment_method: 'pm_ok' } }),
    () => post('products/one/restock', { quantity: 2 }),
    () => post('end'),
  ]
  for (const [i, step] of steps.entries()) {
    await step()
    await expect.poll(to.types).toEqual(types.slice(0, i + 1))
  }
  const reported = to.messages().map(({ data }) => [data.sale, data.phase, data.products[0].total])
  expect(reported.map(([, phase]) => phase)).toEqual(['open', 'paused', 'open', 'sold_out', 'open', 'ended'])
  expect(reported.at(-1)).toEqual([sale, 'ended', 3])
})

test('gives up a message that was not accepted for a day, with a finding', async () => {
  const sale = await origin.sale()
  const to = await endpoint(sale, ['order.reserved', 'order.cancelled'])
  receiver.answers(({ type, data }, response) => {
    if (data.sale === sale && type === 'order.reserved') response.writeHead(500).end('no')
  })
  const findings = () => origin.sql()`select kind, closed_at, outcome from findings where subject = ${to.id}`
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token })
  await expect.poll(async () => (await to.deliveries())[0]?.attempts).toBeGreaterThan(0)
  await origin.call('DELETE', `/orders/${body.order_id}`, { token })
  await origin.sql()`
    update jobs set created_at = created_at - interval '24 hours', run_at = now() where group_id = ${to.id}`
  await expect.poll(() => to.deliveries()).toMatchObject([{ state: 'delivered' }, { state: 'dead', error: '500 no' }])
  expect(await findings()).toMatchObject([{ kind: 'webhook_failed' }])
  // An operator sends the message again; it arrives once, with its own id.
  receiver.answers(undefined)
  const { delivery = '' } = (await to.deliveries('?state=dead'))[0] ?? {}
  expect(await origin.admin('POST', `/webhooks/${to.id}/replay`, { delivery })).toMatchObject({ status: 202 })
  await expect.poll(() => to.types().at(-1)).toBe('order.reserved')
  const reserved = to.messages().filter(({ type }) => type === 'order.reserved')
  expect(new Set(reserved.map(({ id }) => id)).size).toBe(1)
  expect(await findings()).toMatchObject([{ closed_at: expect.any(Date), outcome: 'sent again by an operator' }])
})

test('signs with both secrets while they rotate, also if the change came twice, and shows neither', async () => {
  const sale = await origin.sale()
  const to = await endpoint(sale, ['order.reserved'])
  const secret = `whsec_${randomBytes(32).toString('base64')}`
  const change = (body: object) => origin.admin('PATCH', `/webhooks/${to.id}`, body)
  for (let i = 0; i < 2; i++) expect(await change({ secret })).toMatchObject({ body: { secrets_live: 2 } })
  await origin.checkout(sale)
  await expect.poll(to.ids).toHaveLength(1)
  const [message] = to.messages() as [Received]
  expect(String(message.headers['webhook-signature']).split(' ')).toHaveLength(2)
  for (const live of [to.secret, secret]) verify(live, message)
  const { body: list } = await origin.admin('GET', '/webhooks')
  const kept = await origin.sql()`select sealed_secrets from webhook_endpoints where endpoint_id = ${to.id}`
  const shown = JSON.stringify([list, kept])
  for (const live of [to.secret, secret]) expect(shown).not.toContain(live.slice(6, -4))
  await origin.sql()`
    update webhook_endpoints set sealed_secrets = jsonb_set(sealed_secrets, '{1,until}',
      to_jsonb(now() - interval '1 second'))
    where endpoint_id = ${to.id}`
  await origin.checkout(sale)
  await expect.poll(to.ids).toHaveLength(2)
  const later = to.messages()[1] as Received
  verify(secret, later)
  expect(() => verify(to.secret, later)).toThrow()
  const { body: rotated } = await change({ rotate: true })
  expect(rotated).toMatchObject({ secrets_live: 2, secret: expect.stringMatching(/^whsec_.{44}$/) })
  expect(rotated.secret).not.toBe(secret)
})

test('pauses an endpoint that is gone, and does not follow redirects', async () => {
  const sale = await origin.sale()
  const events = ['order.reserved', 'sale.paused']
  const [gone, elsewhere, other] = await Promise.all([1, 2, 3].map(() => endpoint(sale, events)))
  if (!gone || !elsewhere || !other) return expect.unreachable()
  receiver.answers(({ path }, response) => {
    if (path === gone.path) response.writeHead(410).end()
    if (path === elsewhere.path) response.writeHead(302, { location: receiver.url('/elsewhere') }).end()
  })
  await origin.checkout(sale)
  await expect.poll(gone.state).toBe('paused')
  await expect.poll(() => elsewhere.deliveries()).toMatchObject([{ status: 302, state: 'pending' }])
  expect(receiver.at('/elsewhere')).toEqual([])
  await origin.admin('POST', `/sales/${sale}/pause`)
  await expect.poll(other.types).toEqual(events)
  expect(gone.types()).toHaveLength(1)
})

test('refuses what is invalid: endpoints, and times of a range', async () => {
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
  const own = `whsec_${Buffer.alloc(24, 7).toString('base64')}`
  const { secret, id } = await endpoint('none', ['order.expired'], { secret: own })
  expect(secret).toBe(own)
  const [to, range] = ['2027-01-01T00:00:00Z', { status: 422, body: { errors: [{}] } }]
  for (const from of ['0000-01-01T00:00:00Z', '2026-02-30T00:00:00Z', '2026-01-01', '2026-01-01T00:00:00', 'now', 1])
    expect(await origin.admin('POST', `/webhooks/${id}/replay`, { from, to })).toMatchObject(range)
})

test('sends a test to any endpoint that is not paused, and counts what waits for it', async () => {
  const to = await endpoint('none', ['order.expired'])
  const test = () => origin.admin('POST', `/webhooks/${to.id}/test`)
  let isWell = false
  receiver.answers(({ path }, response) => {
    if (path === to.path && !isWell) response.writeHead(503).end('not now')
  })
  expect(await test()).toMatchObject({ status: 202 })
  const listed = async () => {
    const { webhooks } = (await origin.admin('GET', '/webhooks')).body as { webhooks: { endpoint: string }[] }
    return webhooks.find(({ endpoint }) => endpoint === to.id)
  }
  await expect.poll(listed).toMatchObject({ waiting: 1, dead: 0, failure: '503 not now' })
  isWell = true
  await to.retry()
  await expect.poll(listed).toMatchObject({ waiting: 0, oldest_seconds: null, failure: null })
  const [message] = receiver.at(to.path) as [Received]
  expect(verify(to.secret, message)).toMatchObject({ type: 'webhook.test', data: { endpoint: to.id } })
  await origin.admin('PATCH', `/webhooks/${to.id}`, { state: 'paused' })
  expect(await test()).toMatchObject({ status: 409 })
})

test('each change of an endpoint, and each replay, has an audit entry, without its secrets', async () => {
  const { id, path } = await endpoint('none', ['order.expired'])
  const [from, to] = ['2020-01-01T00:00:00.000Z', '2020-01-02T00:00:00.000Z']
  for (const [method, at, body] of [
    ['PATCH', '', { state: 'paused' }],
    ['POST', '/replay', { from, to }],
    ['PATCH', '', { state: 'active' }],
    ['POST', '/test', undefined],
    ['DELETE', '', undefined],
  ] as const)
    expect((await origin.admin(method, `/webhooks/${id}${at}`, body)).status).toBeLessThan(300)
  const entries = await origin.sql()`
    select actor, action, before, after from audit_log
    where coalesce(after, before) ->> 'endpoint' = ${id} order by entry_id`
  const about = { endpoint: id, url: receiver.url(path) }
  expect(entries).toMatchObject([
    { action: 'webhook created', actor: 'admin', before: null, after: { ...about, state: 'active', secrets: 1 } },
    { action: 'webhook changed', before: { state: 'active' }, after: { ...about, state: 'paused' } },
    { action: 'webhook sent again', after: { endpoint: id, from, to, replayed: 0 } },
    { action: 'webhook changed', after: { state: 'active' } },
    { action: 'webhook tested', after: about },
    { action: 'webhook deleted', before: about, after: null },
  ])
  expect(JSON.stringify(entries)).not.toContain('whsec_')
})

test('tells why an endpoint accepts nothing, tries it at once on request, and counts its attempts', async () => {
  const to = await endpoint('', ['order.reserved'])
  // The endpoint gets only the test's own messages, so that orders of other files are not counted.
  await origin.sql()`update webhook_endpoints set events = '{}' where endpoint_id = ${to.id}`
  const send = () => origin.admin('POST', `/webhooks/${to.id}/test`)
  const deliveries = async (query = '') =>
    (await origin.admin('GET', `/webhooks/${to.id}/deliveries${query}`)).body.deliveries as Delivery[]
  receiver.answers((_, response) => void response.writeHead(503).end('upstream: no healthy host'))
  await send()
  await send()
  const listed = async () => {
    const { body } = await origin.admin('GET', '/webhooks')
    return (body.webhooks as { endpoint: string }[]).find(({ endpoint }) => endpoint === to.id)
  }
  await expect.poll(listed).toMatchObject({
    waiting: 2,
    reason: 'It answers 503: its server fails',
    fails_since: expect.any(String),
    next_attempt_at: expect.any(String),
    accepted_at: null,
    sent_day: 0,
    median_ms: null,
  })
  const refused = { ms: expect.any(Number), status: 503, error: '503 upstream: no healthy host' }
  await expect.poll(async () => (await deliveries()).map(({ tries }) => tries[0])).toMatchObject([refused, refused])
  receiver.answers(undefined)
  // None is being tried while all are put off.
  const putOff = () => origin.sql()`
    update jobs set run_at = now() + interval '1 hour' where group_id = ${to.id} and not leased returning job_id`
  await expect.poll(putOff).toHaveLength(2)
  expect(await origin.admin('POST', `/webhooks/${to.id}/try`)).toMatchObject({ status: 202, body: { tried: 2 } })
  // The counts are written every five seconds.
  await expect
    .poll(listed)
    .toMatchObject({ waiting: 0, reason: null, fails_since: null, accepted_at: expect.any(String), sent_day: 2 })
  const { body } = await origin.admin('GET', `/webhooks/${to.id}/history`)
  const steps = body.steps as Record<'sent' | 'failed' | 'waiting', number>[]
  const sum = (name: 'sent' | 'failed' | 'waiting') => steps.reduce((all, step) => all + step[name], 0)
  expect([steps.length, sum('sent'), sum('waiting')]).toEqual([180, 2, 0])
  expect(sum('failed')).toBeGreaterThanOrEqual(2)
  // Chosen deliveries are sent again together, and begin without attempts.
  const chosen = (await deliveries('?state=delivered')).map(({ delivery }) => delivery)
  const again = await origin.admin('POST', `/webhooks/${to.id}/replay`, { deliveries: chosen })
  expect(again).toMatchObject({ status: 202, body: { replayed: 2 } })
  await expect.poll(() => deliveries()).toHaveLength(4)
  await expect.poll(() => deliveries('?state=pending')).toEqual([])
  const [newest] = await deliveries()
  expect(newest).toMatchObject({ attempts: 1, tries: [{ status: 204, error: null }] })
})
