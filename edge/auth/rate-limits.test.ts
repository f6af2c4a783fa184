import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { Env } from '../config.ts'
import { call, edgeEnv, ORDER_TOKEN, requestsTo, TestSale } from '../testing/visitors.ts'
import { addressKey, Limiter } from './rate-limits.ts'

it('limits joins and status per address, and all calls without one as one address', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_ADDRESS: '5/60', STATUS_PER_ADDRESS: '3/60' }
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const from = { 'cf-connecting-ip': '192.0.2.1' }
  const join = (headers: Record<string, string>) => sale.join(headers, env)
  for (let i = 0; i < 5; i++) expect((await join(from)).status).toBe(201)
  for (let i = 0; i < 5; i++) expect((await join({})).status).toBe(201)
  expect((await join({})).status).toBe(429)
  const refused = await join(from)
  expect(refused.status).toBe(429)
  expect(await refused.json()).toMatchObject({ type: '/problems/too-many-requests' })
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  expect((await join({ 'cf-connecting-ip': '192.0.2.2' })).status).toBe(201)
  for (const wanted of [200, 200, 200, 429]) expect((await sale.status(queue_token, from, env)).status).toBe(wanted)
})

it('limits joins and status per visitor', async () => {
  const env: Env = { ...edgeEnv, JOINS_PER_VISITOR: '2/60', STATUS_PER_VISITOR: '3/60' }
  const sale = await new TestSale().publish()
  const cookie = 'visitor-secret=somebody-who-hammers'
  const { queue_token } = await sale.joined({ cookie }, env)
  const join = () => sale.join({ cookie }, env)
  expect([(await join()).status, (await join()).status]).toEqual([200, 429])
  for (const wanted of [200, 200, 200, 429]) expect((await sale.status(queue_token, {}, env)).status).toBe(wanted)
})

it('limits leaving as it does joining, and an address’s calls for orders as its status calls', async () => {
  const env: Env = {
    ...edgeEnv,
    JOINS_PER_ADDRESS: '3/60',
    JOINS_PER_VISITOR: '2/60',
    STATUS_PER_ADDRESS: '3/60',
  }
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

it('allows in any period no more than a burst and what the rate adds', () => {
  fc.assert(
    fc.property(
      fc.integer({ min: 1, max: 20 }),
      fc.integer({ min: 1, max: 60 }),
      fc.array(fc.integer({ min: 0, max: 5_000 }), { maxLength: 200, size: 'max' }),
      (calls, seconds, gaps) => {
        const limiter = new Limiter()
        let nowMs = 1_000_000
        const passed: number[] = []
        for (const gap of gaps) {
          nowMs += gap
          if (limiter.take('one', { calls, seconds }, nowMs) === 0) passed.push(nowMs)
        }
        for (const [i, from] of passed.entries()) {
          const within = passed.filter((at) => at >= from && at <= from + seconds * 1000).length
          expect(within).toBeLessThanOrEqual(2 * calls + 1)
          if (i < calls) expect(passed.length).toBeGreaterThanOrEqual(Math.min(calls, gaps.length))
        }
      },
    ),
  )
})

it('counts a subscriber’s whole IPv6 network as one address', () => {
  expect(addressKey('2001:db8:1:2:3:4:5:6')).toBe('2001:db8:1:2')
  expect(addressKey('2001:db8:1:2::1')).toBe('2001:db8:1:2')
  expect(addressKey('2001:db8::1')).toBe('2001:db8:0:0')
  expect(addressKey('::1')).toBe('0:0:0:0')
  expect(addressKey('192.0.2.1')).toBe('192.0.2.1')
  expect(addressKey('::ffff:192.0.2.1')).toBe('192.0.2.1')
})
