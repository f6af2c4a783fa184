/** Overload: excess calls are shed early and cheaply or wait, and nothing else suffers. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { expect, test } from 'vitest'
import { eventually, useOwnOrigin } from '../../test/origin-process.ts'

// As in production.
const origin = useOwnOrigin(undefined, { CALLS_PER_VISITOR: '6' })

/** The most checkouts of one process at once, and some more. */
const ROOM = 2_000
const TOO_MANY = 500
/** The connections that bring them. */
const PARTS = 100
/** Nobody's hold ends meanwhile: sweepers would look the orders up. */
const openSale = (total = 10) => origin.sale({ total, hold_seconds: 3_600 })

/**
 * Sends requests one behind the other over one connection, without waiting for answers: so a crowd is there at once however
 * slow the machine that sends it. Returns the answers from their status on, in the order of the requests.
 */
function pipeline(requests: readonly string[], socket = connection(), sent = () => {}): Promise<string[]> {
  return new Promise((resolve, reject) => {
    let text = ''
    socket
      .on('error', reject)
      .on('data', (data) => {
        text += data
      })
      .on('end', () => resolve(text.split('HTTP/1.1 ').slice(1)))
      .write(`${requests.join('')}GET /healthz HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n`, sent)
  })
}
function connection() {
  const { hostname, port } = new URL(origin.url())
  return connect(Number(port), hostname)
}
const requestOf = (path: string, token: string) => `${path} HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\n`
const checkoutOf = (sale: string, token: string, key = 'first') =>
  `${requestOf(`POST /sales/${sale}/checkout`, token)}idempotency-key: ${key}\r\ncontent-length: 2\r\n\r\n{}`
const stateOf = (sale: string) => `${requestOf(`GET /internal/sales/${sale}`, origin.edgeToken)}\r\n`

const healthOf = async (sale: string) =>
  (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.health

test('sheds excess checkouts while orders, the edge and other sales are served', async () => {
  const [sale, other] = [await openSale(10_000), await openSale()]
  const mine = await origin.token(sale)
  const order = (await origin.checkout(sale, { token: mine })).body.order_id
  const tokens = await Promise.all(Array.from({ length: ROOM + TOO_MANY }, () => origin.token(sale)))
  const noSale = 'there-is-no-such-sale'
  const inventors = await Promise.all(Array.from({ length: PARTS }, () => origin.token(noSale)))
  const parts = Array.from({ length: PARTS }, (_, part) => [
    ...tokens.filter((_, i) => i % PARTS === part).map((token) => checkoutOf(sale, token)),
    ...[stateOf(sale), stateOf(other), checkoutOf(noSale, inventors[part] ?? '')],
  ])
  const { all, looked, bought } = await origin.sql().begin(async (tx) => {
    // Nothing can be recorded while the sale's row is locked.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const sockets = parts.map(connection)
    await Promise.all(sockets.map((socket) => once(socket, 'connect')))
    await origin.call('GET', '/healthz')
    // It finds the whole crowd at once, however slowly that is sent.
    origin.freeze()
    let all: Promise<string[][]>
    try {
      const waiting = parts.map((part, i) => {
        const { promise: isSent, resolve } = Promise.withResolvers<void>()
        return { answers: pipeline(part, sockets[i], resolve), isSent }
      })
      all = Promise.all(waiting.map(({ answers }) => answers))
      await Promise.all(waiting.map(({ isSent }) => isSent))
    } finally {
      origin.goOn()
    }
    const [looked, bought] = [
      await eventually(
        () => origin.call('GET', `/orders/${order}`, { token: mine }),
        ({ status }) => status !== 503,
      ),
      await origin.checkoutDecided(other),
    ]
    return { all: await all, looked, bought }
  })
  expect(looked.status).toBe(200)
  expect(bought.status).toBe(201)
  const crowd = all.flatMap((answers) => answers.slice(0, -4))
  const [ours, others, madeUp] = [-4, -3, -2].map((at) => all.map((answers) => answers.at(at) ?? '')) as [
    string[],
    string[],
    string[],
  ]
  expect(ours.some((answer) => answer.includes('"health":"slow"'))).toBe(true)
  // Or the whole origin has been too busy to read the ledger.
  const readAgoMs = (answer: string) => Number(/"read_ago_ms":([\d.]+)/.exec(answer)?.[1])
  expect(others.filter((answer) => !answer.includes('"health":"ok"') && !(readAgoMs(answer) > 2_000))).toEqual([])
  // Who is answered after two seconds leaves their room to others: it is too small for a crowd that comes before that.
  const cameMs = others.map((answer) => Number(/"opens_in_ms":(-?[\d.]+)/.exec(answer)?.[1]))
  const isCrowd = Math.max(...cameMs) - Math.min(...cameMs) < 1_900
  // An invented path has no share.
  if (isCrowd) expect(madeUp.some((answer) => answer.startsWith('503'))).toBe(true)
  const turnedAway = crowd.filter((answer) => answer.startsWith('503'))
  expect(turnedAway.every((answer) => /^retry-after: [1-9]/im.test(answer))).toBe(true)
  const taken = crowd.filter((answer) => /^20[12]/.test(answer))
  expect(taken.length + turnedAway.length).toBe(crowd.length)
  expect(await origin.stock(sale)).toMatchObject({ held: expect.any(Number), sold: 0 })
  const metrics = await origin.ops('/metrics')
  expect(metrics.headers.get('content-type')).toContain('text/plain')
  // On a busy machine others are turned away later, where Redis is too late for them.
  const shed = Number(
    new RegExp(`^checkouts_total{sale="${sale}",outcome="shed"} (.+)$`, 'm').exec(String(metrics.body.text))?.[1] ?? 0,
  )
  if (isCrowd) expect(shed).toBeGreaterThan(0)
  expect(shed).toBeLessThanOrEqual(turnedAway.length)
})

test('one admission slows nobody down and turns no buyer away, with as many calls as there is room', async () => {
  const sale = await openSale(10_000)
  const token = await origin.token(sale)
  const { order_id } = (await origin.checkout(sale, { token })).body
  const crowd = await origin.sql().begin(async (tx) => {
    // Nothing can be recorded while the sale's row is locked.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    const mine = [checkoutOf(sale, token, 'other'), `${requestOf(`GET /orders/${order_id}`, token)}\r\n`]
    const part = Array.from({ length: ROOM / PARTS / 2 }, () => mine).flat()
    const sent: Promise<void>[] = []
    const hammered = Promise.all(
      Array.from({ length: PARTS }, () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        sent.push(promise)
        return pipeline(part, connection(), resolve)
      }),
    )
    await Promise.all(sent)
    await expect.poll(() => healthOf(sale)).toBe('ok')
    const buyer = { token: await origin.token(sale), key: 'the-one' }
    // Redis may be late for the first call.
    await expect.poll(() => origin.checkout(sale, buyer)).toMatchObject({ status: 202 })
    return { hammered }
  })
  const refused = (await crowd.hammered).flat().filter((answer) => answer.startsWith('429'))
  // How many come while the few before them are still in progress depends on the machine.
  expect(refused.length).toBeGreaterThan(PARTS)
  expect(refused[0]).toContain('/problems/too-many-requests')
  expect(refused[0]).toMatch(/^retry-after: 1\r$/im)
  expect(await origin.checkout(sale, { token })).toMatchObject({ status: 200, body: { order_id } })
})

test('rebuilds more gates at once than there are connections without deadlock', async () => {
  const sales = await Promise.all(Array.from({ length: 15 }, () => origin.sale({ total: 10 })))
  const restocked = await Promise.all(
    sales.map((sale) => origin.admin('POST', `/sales/${sale}/products/one/restock`, { quantity: 1 })),
  )
  expect(new Set(restocked.map((answer) => answer.status))).toEqual(new Set([200]))
  await expect.poll(() => origin.ops('/readyz')).toMatchObject({ body: { ledger: true, gate: true } })
  for (const sale of sales) expect(await origin.stock(sale)).toMatchObject({ total: 11, available: 11 })
})

test('bodies that never arrive take no room', async () => {
  const sale = await origin.sale({ total: 10 })
  const token = await origin.token(sale)
  const { hostname, port } = new URL(origin.url())
  const head = `POST /sales/${sale}/checkout HTTP/1.1\r\nhost: x\r\nauthorization: Bearer ${token}\r\nidempotency-key: k\r\n`
  const stalled = Array.from({ length: ROOM + TOO_MANY }, () => connect(Number(port), hostname).on('error', () => {}))
  try {
    const sent = (socket: Socket) =>
      new Promise((resolve) => socket.write(`${head}content-length: 10\r\n\r\n{`, resolve))
    await Promise.all(stalled.map(sent))
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    await expect.poll(() => healthOf(sale)).toBe('ok')
  } finally {
    for (const socket of stalled) socket.destroy()
  }
})
