/**
 * Limits apply by address, network and visitor. The tests try each attack for many places at once, and what an honest
 * crowd may do.
 */
import { expect, it } from 'vitest'
import type { SnapshotRequest } from '../../queue/rpc.ts'
import { eventually } from '../../testing/clocks.ts'
import { edgeEnv, ORDER_TOKEN, requestsTo } from '../../testing/origin.ts'
import { call, knownCookie, TestSale, withShards } from '../../testing/visitors.ts'
import type { Call } from '../call.ts'
import type { Env } from '../config.ts'
import { isCrowded, limitVisitor, unpaidBounds } from './rate-limits.ts'

it('limits joins and status per address in any form, and all calls without one as one address', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '5/600', STATUS_PER_ADDRESS: '3/600' }
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const from = { 'cf-connecting-ip': '192.0.2.1' }
  const join = (headers: Record<string, string>) => sale.join(headers, env)
  for (let i = 0; i < 5; i++) expect((await join(from)).status).toBe(201)
  const unread = [{}, { 'cf-connecting-ip': 'unknown' }, { 'cf-connecting-ip': 'x1' }, { 'cf-connecting-ip': '_y' }, {}]
  for (const headers of unread) expect((await join(headers)).status).toBe(201)
  expect((await join({ 'cf-connecting-ip': 'x2' })).status).toBe(429)
  const refused = await join({ 'cf-connecting-ip': '10.0.0.1, 192.0.2.1:4711' })
  expect([refused.status, await refused.json()]).toMatchObject([429, { type: '/problems/too-many-requests' }])
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await join({ 'cf-connecting-ip': '192.0.2.2' })).status).toBe(201)
  for (const wanted of [200, 200, 200, 429]) expect((await sale.status(queue_token, from, env)).status).toBe(wanted)
})

it('limits joins and status per visitor', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_VISITOR: '2/600', STATUS_PER_VISITOR: '3/600' }
  const sale = await new TestSale().publish()
  const cookie = knownCookie('somebody-who-hammers')
  const { queue_token } = await sale.joined({ cookie }, env)
  const join = () => sale.join({ cookie }, env)
  expect([(await join()).status, (await join()).status]).toEqual([200, 429])
  for (const wanted of [200, 200, 200, 429]) expect((await sale.status(queue_token, {}, env)).status).toBe(wanted)
})

it('limits the visitor’s own page as their status, and asks their shard about their turn once', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  await eventually(async () => (await sale.statusOf(queue_token)).status === 'ready')
  let asked = 0
  const shards = withShards(() => ({
    poll: (request: SnapshotRequest) => sale.shard(0).poll(request),
    haveLeft: (numbers: readonly number[]) => Promise.resolve(numbers.map(() => ++asked < 0)),
  }))
  const from = (address: string) => ({ authorization: `Bearer ${queue_token}`, 'cf-connecting-ip': address })
  const visitor = { ...shards, STATUS_PER_VISITOR: '4/600' }
  expect((await sale.status(queue_token, {}, visitor)).status).toBe(200)
  for (const wanted of [200, 200, 200, 429]) expect((await sale.line(from('192.0.2.61'), visitor)).status).toBe(wanted)
  expect(asked).toBeLessThanOrEqual(1)
  const address = { ...shards, STATUS_PER_ADDRESS: '3/600' }
  for (const wanted of [200, 200, 200, 429]) expect((await sale.line(from('192.0.2.62'), address)).status).toBe(wanted)
  // A page that was limited reads itself again.
  const page = await (await sale.line({ ...from('192.0.2.62'), accept: 'text/html' }, address)).text()
  expect(page).toMatch(/http-equiv="refresh" content="\d+">/)
})

it('limits leaving as it does joining, and an address’s calls for orders as its status calls', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '3/600', JOINS_PER_VISITOR: '2/600', STATUS_PER_ADDRESS: '3/600' }
  const sale = await new TestSale().publish()
  const statuses = async (path: string, token: string, method: string) => {
    const headers = { authorization: `Bearer ${token}`, 'cf-connecting-ip': '192.0.2.4' }
    return (await call(path, { method, headers }, env)).status
  }
  const [one, other] = [await sale.joined(), await sale.joined()]
  const left = []
  for (const { queue_token } of [one, one, one, other])
    left.push(await statuses(`/sales/${sale.name}/queue`, queue_token, 'DELETE'))
  expect(left).toEqual([204, 204, 429, 429])
  const order = crypto.randomUUID()
  const [path, page] = [`/orders/${order}`, `/sales/${sale.name}/order/${order}`]
  const orders = []
  for (let i = 0; i < 4; i++) orders.push(await statuses(path, ORDER_TOKEN, 'GET'))
  orders.push(await statuses(page, ORDER_TOKEN, 'GET'), await statuses(`${page}/cancel`, ORDER_TOKEN, 'POST'))
  expect(orders).toEqual([404, 404, 404, 429, 429, 429])
  expect((await requestsTo(path)).calls).toBe(3)
})

/** An IPv6 address in one of the 65,536 subnets of a /48. */
const inSubnet = (subnet: number) => ({ 'cf-connecting-ip': `2001:db8:7:${subnet.toString(16)}::1` })

async function joinsFrom(sale: TestSale, addresses: Iterable<Record<string, string>>, env: Env) {
  const statuses: number[] = []
  for (const headers of addresses) statuses.push((await sale.join(headers, env)).status)
  return { joined: statuses.filter((status) => status === 201).length, last: statuses.at(-1) }
}

const upTo = (count: number) => Array.from({ length: count }, (_, i) => i)

it('gives the networks of one company or hoster a multiple of what one address has', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '2/600', NETWORK_MULTIPLES: '3/6' }
  const sale = await new TestSale().publish()
  const near = upTo(10).map((last) => ({ 'cf-connecting-ip': `198.51.100.${last}` }))
  expect(await joinsFrom(sale, near, env)).toEqual({ joined: 6, last: 429 })
  expect((await sale.join({ 'cf-connecting-ip': '198.51.101.1' }, env)).status).toBe(201)
  // The subnets of one /56 come first, followed by others of its /48.
  expect(await joinsFrom(sale, upTo(10).map(inSubnet), env)).toEqual({ joined: 6, last: 429 })
  const wide = upTo(10).map((i) => inSubnet(256 * (i + 1)))
  expect(await joinsFrom(sale, wide, env)).toEqual({ joined: 6, last: 429 })
  expect((await sale.join({ 'cf-connecting-ip': '2001:db8:8::1' }, env)).status).toBe(201)
})

it('does not let an address that is refused use up what its neighbours have', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '2/600', NETWORK_MULTIPLES: '3/6' }
  const sale = await new TestSale().publish()
  const hammering = upTo(10).map(() => ({ 'cf-connecting-ip': '203.0.113.1' }))
  expect(await joinsFrom(sale, hammering, env)).toEqual({ joined: 2, last: 429 })
  expect(await joinsFrom(sale, [{ 'cf-connecting-ip': '203.0.113.2' }], env)).toMatchObject({ joined: 1 })
})

it('knows the places of a network beyond those that can hold units unpaid, in each line', () => {
  const config = { UNPAID_PER_ADDRESS: 12, NETWORK_MULTIPLES: [2, 4], ADDRESS_HEADER: 'cf-connecting-ip' }
  const crowded = (address: string, queue = 'crowded', limits: object = config) => {
    const request = new Request('http://edge', { headers: { 'cf-connecting-ip': address } })
    return isCrowded(queue, 6, { request, config: limits, nowMs: 1_000_000 } as unknown as Call)
  }
  const of = (addresses: readonly string[], ...more: [queue?: string, limits?: object]) =>
    addresses.map((address) => crowded(address, ...more))
  const [one, other, third] = ['198.51.100.1', '198.51.100.2', '198.51.100.3']
  expect(of([one, one, one, other, other, third])).toEqual([false, false, true, false, false, true])
  const bounds = (limits: object) =>
    unpaidBounds({
      request: new Request('http://edge', { headers: { 'cf-connecting-ip': one } }),
      config: limits,
    } as Call)
  expect([bounds(config), bounds({ ...config, UNPAID_PER_ADDRESS: null })]).toEqual([
    '198.51.100.1%2F32=12 198.51.100%2F24=24',
    null,
  ])
  expect(of([one], 'another')).toEqual([false])
  expect(of([one], 'crowded', { ...config, UNPAID_PER_ADDRESS: null })).toEqual([false])
})

it('does not forgive an address when calls of another kind come from a crowd', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '1/600', NETWORK_MULTIPLES: '1000/1000' }
  const sale = await new TestSale().publish()
  const one = { 'cf-connecting-ip': '192.0.2.77' }
  expect((await sale.join(one, env)).status).toBe(201)
  for (const i of upTo(50_001))
    limitVisitor('status', `visitor-${i}`, { calls: 9, seconds: 60 }, { nowMs: Date.now() } as Call)
  expect((await sale.join(one, env)).status).toBe(429)
})

it('does not count a join of whoever has a place already as a new one', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '1/600', STATUS_PER_ADDRESS: '4/600' }
  const sale = await new TestSale().publish()
  const from = { 'cf-connecting-ip': '192.0.2.78' }
  const { queue_token } = await sale.joined(from, env)
  const again = { ...from, authorization: `Bearer ${queue_token}` }
  for (const wanted of [200, 200, 200, 200, 429]) expect((await sale.join(again, env)).status).toBe(wanted)
  expect((await sale.join(from, env)).status).toBe(429)
})

it('has Cloudflare count joins for all isolates of a location', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '1000/600' }
  const sale = await new TestSale().publish()
  const from = { 'cf-connecting-ip': '192.0.2.79' }
  let joined = 0
  while (joined <= 40 && (await sale.join(from, env)).status === 201) joined++
  // A minute of Cloudflare's counter may end among the joins, and then it allows twenty in each.
  expect(joined).toBeGreaterThanOrEqual(20)
  expect(joined).toBeLessThanOrEqual(40)
  expect((await sale.join({ 'cf-connecting-ip': '192.0.2.80' }, env)).status).toBe(201)
  // If joins are not limited, they are not counted either.
  expect((await sale.join(from)).status).toBe(201)
})
