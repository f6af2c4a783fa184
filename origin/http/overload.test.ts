/** Overload: excess calls are shed early and cheaply or wait, and nothing else suffers. */
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { eventually, useOrigin } from '../../test/origin-process.ts'

// As in production.
const origin = useOrigin(undefined, { CALLS_PER_VISITOR: '6' })

/** The most checkouts of one process at once, and some more. */
const ROOM = 2_000
const TOO_MANY = 400

test('sheds excess checkouts while orders, the edge and other sales are served', async () => {
  const [sale, other] = [await origin.sale({ total: 10_000 }), await origin.sale()]
  const stateOf = (of: string) => origin.call('GET', `/internal/sales/${of}`, { token: origin.edgeToken })
  const mine = await origin.token(sale)
  const order = (await origin.checkout(sale, { token: mine })).body.order_id
  const tokens = await Promise.all(Array.from({ length: ROOM + TOO_MANY }, () => origin.token(sale)))
  // The server closes idle connections: none of the crowd's may be used again by a client that is late to notice.
  const headers = { 'idempotency-key': 'first', connection: 'close' }
  const checkoutOf = (token: string) => origin.call('POST', `/sales/${sale}/checkout`, { token, body: {}, headers })
  const { crowd, looked, states, bought, madeUp } = await origin.sql().begin(async (tx) => {
    // Nothing can be recorded while the sale's row is locked.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const crowd = Promise.all(tokens.map(checkoutOf))
    const invented = eventually(
      () => origin.checkout('there-is-no-such-sale'),
      ({ status }) => status === 503,
      5_000,
    )
    await new Promise((resolve) => setTimeout(resolve, 1_500))
    const looked = await origin.call('GET', `/orders/${order}`, { token: mine })
    const [states, bought, madeUp] = await Promise.all([
      Promise.all([sale, other].map(stateOf)),
      origin.checkout(other),
      invented,
    ])
    return { crowd: await crowd, looked, states, bought, madeUp }
  })
  expect(looked.status).toBe(200)
  expect(states.map(({ body }) => body.health)).toEqual(['slow', 'ok'])
  expect(bought.status).toBe(201)
  // An invented path has no share.
  expect(madeUp.status).toBe(503)
  const shed = crowd.filter((answer) => answer.status === 503)
  expect(shed.length).toBeGreaterThanOrEqual(TOO_MANY / 2)
  expect(shed.every(({ headers }) => Number(headers.get('retry-after')) >= 1)).toBe(true)
  const taken = crowd.filter((answer) => answer.status === 201 || answer.status === 202)
  expect(taken.length + shed.length).toBe(crowd.length)
  expect(await origin.stock(sale)).toMatchObject({ held: expect.any(Number), sold: 0 })
  const metrics = await origin.ops('/metrics')
  expect(metrics.headers.get('content-type')).toContain('text/plain')
  expect(String(metrics.body.text)).toContain(`checkouts_total{sale="${sale}",outcome="shed"} ${shed.length}`)
}, 60_000)

test.each([
  ['slows nobody down', 400],
  ['turns no buyer away', 2_000],
])(
  'one admission %s with %i calls at once',
  async (_, calls) => {
    const sale = await origin.sale({ total: 10_000 })
    const token = await origin.token(sale)
    const { order_id } = (await origin.checkout(sale, { token })).body
    const crowd = await origin.sql().begin(async (tx) => {
      // Nothing can be recorded while the sale's row is locked.
      await tx`select 1 from sales where sale_id = ${sale} for update`
      const hammered = Promise.all(
        Array.from({ length: calls }, (_, i) =>
          i % 2 === 0
            ? origin.checkout(sale, { token, body: { quantity: 1 } })
            : origin.call('GET', `/orders/${order_id}`, { token }),
        ),
      )
      await new Promise((resolve) => setTimeout(resolve, 1_000))
      const state = await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
      expect(state.body.health).toBe('ok')
      expect(await origin.checkout(sale)).toMatchObject({ status: 202 })
      return { hammered }
    })
    const answers = await crowd.hammered
    const refused = answers.filter(({ status }) => status === 429)
    expect(refused.length).toBeGreaterThanOrEqual(0.75 * calls)
    expect(refused[0]).toMatchObject({ body: { type: '/problems/too-many-requests' } })
    expect(refused[0]?.headers.get('retry-after')).toBe('1')
    expect(await origin.checkout(sale, { token })).toMatchObject({ status: 200, body: { order_id } })
  },
  60_000,
)

test('orders of many callers are looked up in one statement', async () => {
  const sale = await origin.sale({ total: 50 })
  const buyers = await Promise.all(
    Array.from({ length: 50 }, async () => {
      const token = await origin.token(sale)
      return { token, order: (await origin.checkout(sale, { token })).body.order_id }
    }),
  )
  const { asked, statements } = await origin.sql().begin(async (tx) => {
    await tx`lock table orders in access exclusive mode`
    const asked = Promise.all(buyers.map(({ token, order }) => origin.call('GET', `/orders/${order}`, { token })))
    await new Promise((resolve) => setTimeout(resolve, 700))
    const statements = await tx`
      select pid from pg_stat_activity
      where wait_event_type = 'Lock' and query like '%as left_ms%from orders where order_id = any%'`
    return { asked, statements: statements.length }
  })
  expect(statements).toBe(1)
  for (const { status } of await asked) expect(status).toBe(200)
})

test('rebuilds more gates at once than there are connections without deadlock', async () => {
  const sales: string[] = []
  while (sales.length < 25) sales.push(await origin.sale({ total: 10 }))
  const restocked = await Promise.all(
    sales.map((sale) => origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })),
  )
  expect(new Set(restocked.map((answer) => answer.status))).toEqual(new Set([200]))
  expect((await origin.ops('/readyz')).body).toEqual({ ledger: true, gate: true })
  for (const sale of sales) expect(await origin.stock(sale)).toMatchObject({ total: 11, available: 11 })
})

test('bodies that never arrive take no room', async () => {
  const sale = await origin.sale({ total: 10 })
  const token = await origin.token(sale)
  const { hostname, port } = new URL(origin.url())
  const head = `POST /sales/${sale}/checkout HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nidempotency-key: k\r\n`
  const stalled = Array.from({ length: ROOM + TOO_MANY }, () => connect(Number(port), hostname).on('error', () => {}))
  try {
    for (const socket of stalled) socket.write(`${head}content-length: 10\r\n\r\n{`)
    await new Promise((resolve) => setTimeout(resolve, 1_000))
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    const state = await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
    expect(state.body.health).toBe('ok')
  } finally {
    for (const socket of stalled) socket.destroy()
  }
})
