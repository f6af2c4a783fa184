/** A visitor's list of orders: whose it shows, and to whom. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()
const ACCOUNT = 'account:Zoë 1'

const buy = async (sale: string, token: string, key: string) =>
  (await origin.checkout(sale, { token, key })).body.order_id

test('lists one’s own orders, the latest first, by the admission or for the edge by name', async () => {
  const sale = await origin.sale({ limit_per_visitor: 2 })
  const [mine, other] = [await origin.token(sale, ACCOUNT), await origin.token(sale, 'another')]
  const [first, second] = [await buy(sale, mine, 'a'), await buy(sale, mine, 'b')]
  await buy(sale, other, 'a')
  const path = `/sales/${sale}/orders`
  const idsIn = ({ body }: { body: Record<string, unknown> }) =>
    (body.orders as { order_id: string; order_token?: string }[]).map((order) => order.order_id)

  const admitted = await origin.call('GET', path, { token: mine })
  expect(idsIn(admitted)).toEqual([second, first])
  expect(JSON.stringify(admitted.body)).not.toContain('order_token')
  expect(admitted.headers.get('cache-control')).toBe('no-store')

  const byName = { 'edge-visitor': encodeURIComponent(ACCOUNT) }
  const byEdge = { ...byName, 'edge-token': origin.edgeToken }
  const named = await origin.call('GET', path, { headers: byEdge })
  expect(idsIn(named)).toEqual([second, first])
  const [{ order_token: token = '' } = {}] = named.body.orders as { order_token?: string }[]
  expect(await origin.call('GET', `/orders/${second}`, { token })).toMatchObject({ status: 200 })
  expect(await origin.call('GET', `/orders/${first}`, { token })).toMatchObject({ status: 404 })

  // Buyers may come directly here: a name alone says nothing of them.
  const forged = await origin.call('GET', path, { headers: { ...byEdge, 'edge-token': 'x' } })
  expect(forged).toMatchObject({ status: 429, body: { type: '/problems/not-admitted' } })
  const asOther = await origin.call('GET', path, { token: other, headers: byName })
  expect(idsIn(asOther)).toHaveLength(1)
  const elsewhere = await origin.call('GET', `/sales/${await origin.sale()}/orders`, { token: mine })
  expect(elsewhere).toMatchObject({ status: 403, body: { type: '/problems/wrong-sale' } })
})

test('shows no orders of more than thirty days ago', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const order = await buy(sale, token, 'a')
  await origin.sql()`update orders set created_at = now() - interval '31 days' where order_id = ${order ?? ''}`
  expect((await origin.call('GET', `/sales/${sale}/orders`, { token })).body).toEqual({ orders: [] })
})

test('lists for the edge one’s orders of all sales, the latest first', async () => {
  const visitor = `account:${randomUUID()}`
  const [one, other] = [await origin.sale(), await origin.sale()]
  const first = await buy(one, await origin.token(one, visitor), 'a')
  const second = await buy(other, await origin.token(other, visitor), 'a')
  const old = await origin.sale()
  const gone = await buy(old, await origin.token(old, visitor), 'a')
  await origin.sql()`update orders set created_at = now() - interval '31 days' where order_id = ${gone ?? ''}`
  const asked = (headers: Record<string, string>, token = origin.edgeToken) =>
    origin.call('GET', '/internal/orders', { token, headers })
  const { body } = await asked({ 'edge-visitor': encodeURIComponent(visitor) })
  expect(body.orders).toMatchObject([
    { order_id: second, sale: other },
    { order_id: first, sale: one },
  ])
  expect(JSON.stringify(body)).not.toContain('order_token')
  expect((await asked({})).status).toBe(401)
  expect((await asked({ 'edge-visitor': visitor }, 'x')).status).toBe(401)
})
