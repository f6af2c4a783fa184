/** A crowd that waits for one sale: the process serves orders and other sales meanwhile, and refuses with a time. */
import { once } from 'node:events'
import { connect } from 'node:net'
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'

// The limit is the one of production.
const origin = useOwnOrigin(undefined, { CALLS_PER_VISITOR: '6' })

/** Half of the most checkouts of one process at once. */
const CROWD = 1_000
/** The connections that bring them. */
const PARTS = 100
/** The hold outlasts the test, so that no sweeper looks up the orders meanwhile. */
const openSale = (total = 10) => origin.sale({ total, hold_seconds: 3_600 })

/**
 * Sends requests one behind the other over one connection, without waiting for answers: so a crowd is there at once
 * however slow the machine that sends it. Returns the answers from their status on, in the order of the requests.
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
const isSlow = (answer = '') => answer.includes('"health":"slow"')

test('serves orders and other sales, and calls one sale slow alone, while a crowd waits for it', async () => {
  const [sale, other] = [await openSale(10_000), await openSale()]
  const mine = await origin.token(sale)
  const order = (await origin.checkout(sale, { token: mine })).body.order_id
  const tokens = await Promise.all(Array.from({ length: CROWD }, () => origin.token(sale)))
  const parts = Array.from({ length: PARTS }, (_, part) => [
    ...tokens.filter((_, i) => i % PARTS === part).map((token) => checkoutOf(sale, token)),
    ...[stateOf(sale), stateOf(other)],
  ])
  const sockets = parts.map(() => connection())
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const { all, looked, bought } = await origin.sql().begin(async (tx) => {
    // The lock on the sale's row keeps the origin from recording anything.
    await tx`select 1 from sales where sale_id = ${sale} for update`
    // The origin finds the whole crowd at once, however slowly that is sent.
    origin.freeze()
    const waiting = parts.map((part, i) => {
      const { promise: isSent, resolve } = Promise.withResolvers<void>()
      return { answers: pipeline(part, sockets[i], resolve), isSent }
    })
    await Promise.all(waiting.map(({ isSent }) => isSent)).finally(origin.goOn)
    const looked = await eventually(
      () => origin.call('GET', `/orders/${order}`, { token: mine }),
      ({ status }) => status !== 503,
    )
    const bought = await origin.checkoutDecided(other)
    return { looked, bought, all: await Promise.all(waiting.map(({ answers }) => answers)) }
  })
  expect([looked.status, bought.status]).toEqual([200, 201])
  expect(all.some((answers) => isSlow(answers.at(-3)))).toBe(true)
  // Where the ledger was late too, all sales are slow.
  const wasRead = (answer = '') => /"read_ago_ms":\d{1,3}\b/.test(answer)
  expect(all.flatMap((answers) => answers.at(-2) ?? []).filter((answer) => isSlow(answer) && wasRead(answer))).toEqual(
    [],
  )
  const crowd = all.flatMap((answers) => answers.slice(0, -3))
  // A call that Redis answers too late is refused with a Retry-After header.
  expect(crowd.filter((answer) => !/^(20[12]|503 .*^retry-after: [1-9])/ims.test(answer))).toEqual([])
  expect(await origin.stock(sale)).toMatchObject({ held: expect.any(Number), sold: 0 })
})
