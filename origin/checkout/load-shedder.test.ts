import { expect, test } from 'vitest'
import { ONE_LINE } from '../../shared/api/access.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import { NO_CONTACT } from '../../shared/api/operators/sale-config.ts'
import { problem } from '../../shared/problem.ts'
import { VisitorCalls } from '../access/visitor-calls.ts'
import { createMetrics } from '../base/metrics.ts'
import { checkoutRoutes } from './checkout-routes.ts'
import { CheckoutTraffic } from './checkout-traffic.ts'
import { LoadShedder } from './load-shedder.ts'
import { refusal } from './outcome.ts'

/** Calls in progress from which a sale is slow, and from which calls are shed. */
const [SLOW, FULL] = [400, 2_000]

/** Enters this many calls; returns how many were let in. */
function enter(loadShedder: LoadShedder, sale: string | undefined, callers: number): number {
  let entered = 0
  for (let i = 0; i < callers; i++) if (loadShedder.enter(sale)) entered++
  return entered
}

test('one sale alone has all the room', () => {
  const loadShedder = new LoadShedder()
  expect(enter(loadShedder, 'hot', SLOW - 1)).toBe(SLOW - 1)
  expect(loadShedder.isSlow('hot')).toBe(false)
  expect(enter(loadShedder, 'hot', FULL)).toBe(FULL - SLOW + 1)
  expect(loadShedder.isSlow('hot')).toBe(true)
  loadShedder.leave('hot')
  expect(enter(loadShedder, 'hot', 2)).toBe(1)
})

test('a hammered sale neither takes the room of another nor makes it slow', () => {
  const loadShedder = new LoadShedder()
  enter(loadShedder, 'hot', FULL)
  expect(loadShedder.isSlow('other')).toBe(false)
  expect(enter(loadShedder, 'other', SLOW / 2 - 1)).toBe(SLOW / 2 - 1)
  expect([loadShedder.isSlow('other'), loadShedder.isSlow('hot')]).toEqual([false, true])
  expect(loadShedder.enter('hot')).toBe(false)
  expect(enter(loadShedder, 'other', FULL)).toBe(FULL / 2 - SLOW / 2 + 1)
  expect(loadShedder.isSlow('other')).toBe(true)
})

test('sales with calls in progress share the room', () => {
  const loadShedder = new LoadShedder()
  for (const sale of ['a', 'b', 'c']) loadShedder.enter(sale)
  enter(loadShedder, 'hot', FULL)
  expect(enter(loadShedder, 'a', FULL)).toBe(FULL / 4 - 1)
  for (const sale of ['b', 'c']) loadShedder.leave(sale)
  expect(enter(loadShedder, 'a', FULL)).toBe(FULL / 2 - FULL / 4)
})

test('unknown sales fill the room that is left, and have no share', () => {
  const loadShedder = new LoadShedder()
  expect(enter(loadShedder, undefined, FULL + 1)).toBe(FULL)
  expect(loadShedder.isSlow('one')).toBe(false)
  expect(enter(loadShedder, 'one', FULL + 1)).toBe(FULL)
  loadShedder.leave(undefined)
  expect(loadShedder.enter(undefined)).toBe(false)
})

test('checkouts in excess are turned away, and so are those of a sale that somebody made up', async () => {
  const row = { sale_id: 'hot', lines: [...ONE_LINE], contact: NO_CONTACT, delivery: NO_DELIVERY }
  const buyers = {
    throughEdge: (_: unknown, next: () => Promise<void>) => next(),
    readAdmission() {},
    enterAdmitted: () => ({ sub: 'ann', num: 1 }),
    waitedMs: () => 0,
    networksOf() {},
    asnOf() {},
    leave() {},
  }
  const [loadShedder, metrics] = [new LoadShedder(), createMetrics()]
  const others = { arrivals: { arrived() {} }, responseTimes: { answered() {} }, saleCounts: { count() {} } }
  const app = checkoutRoutes({
    buyers,
    sales: { get: (id: string) => (id === 'hot' ? row : undefined), find: async () => undefined },
    checkout: { checkout: () => refusal(problem('ended')) },
    traffic: new CheckoutTraffic({ ...others, loadShedder, metrics } as never),
  } as never)
  const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
  const ask = (sale: string) => app.request(`/sales/${sale}/checkout`, { method: 'POST', headers, body: '{}' })
  enter(loadShedder, 'hot', FULL)
  for (const sale of ['hot', 'made-up']) {
    const shed = await ask(sale)
    expect([shed.status, shed.headers.get('retry-after')]).toEqual([503, expect.stringMatching(/^[1-9]/)])
  }
  loadShedder.leave('hot')
  for (let again = 0; again < 2; again++) expect((await ask('hot')).status).toBe(410)
  expect(await metrics.registry.getSingleMetricAsString('checkouts_total')).toMatch(/sale="hot",outcome="shed"} 1$/m)
})

test('a visitor has so many calls in progress, whatever others have', () => {
  const calls = new VisitorCalls(6)
  const entered = (visitor: string) => Array.from({ length: 8 }, () => calls.enter(visitor)).filter(Boolean).length
  expect([entered('ann'), entered('bob')]).toEqual([6, 6])
  calls.leave('ann')
  expect([entered('ann'), entered('bob')]).toEqual([1, 0])
  for (let i = 0; i < 6; i++) calls.leave('ann')
  expect(entered('ann')).toBe(6)
})

test('background work leaves time to checkouts while some are in progress, whatever their sale', () => {
  const loadShedder = new LoadShedder()
  enter(loadShedder, 'one', 20)
  enter(loadShedder, 'two', 11)
  expect(loadShedder.load()).toBe('light')
  enter(loadShedder, undefined, 1)
  expect(loadShedder.load()).toBe('busy')
  loadShedder.leave('one')
  expect(loadShedder.load()).toBe('light')
  enter(loadShedder, 'one', 97)
  expect(loadShedder.load()).toBe('full')
})
