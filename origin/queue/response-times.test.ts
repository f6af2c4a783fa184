import { once } from 'node:events'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { useRedis } from '../../test/lib/servers.ts'
import { connectRedis } from '../lib/redis.ts'
import { createMetrics } from '../metrics.ts'
import { defineScripts } from '../stock/scripts.ts'
import { highOf, ResponseTimes } from './response-times.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
const origin = useOrigin()
const log = pino({ level: 'silent' })

/** Two origins. */
async function both() {
  const redis = defineScripts(connectRedis(way.through(server.url), log))
  onTestFinished(() => redis.disconnect())
  await once(redis, 'ready')
  const each = [0, 1].map(() => new ResponseTimes({ redis, metrics: createMetrics(), log }))
  for (const { actor } of each) {
    actor.start()
    onTestFinished(() => actor.stop())
  }
  return each as [ResponseTimes, ResponseTimes]
}
const ago = (ms: number) => performance.now() - ms
/** As many calls as count. */
const answered = (one: ResponseTimes, sale: string, ms: number) => {
  for (let i = 0; i < 5; i++) one.answered(sale, ago(ms))
}
const all = (origins: readonly ResponseTimes[], sale: string) => Promise.all(origins.map((one) => one.of(sale)))

test('every origin knows how long the slowest answers of a sale take, and that they are quick again', async () => {
  const [one, other] = await both()
  const slow = await eventually(
    () => {
      answered(one, 'sale', 3_000)
      answered(other, 'sale', 10)
      return all([one, other], 'sale')
    },
    (each) => each.every((ms) => ms >= 3_000),
  )
  expect(Math.min(...slow)).toBeGreaterThanOrEqual(3_000)
  expect(await all([one, other], 'another')).toEqual([0, 0])
  await expect.poll(() => all([one, other], 'sale')).toEqual([0, 0])
})

test('an origin knows its own while Redis is away', async () => {
  const [one, other] = await both()
  way.vanish()
  const [own, unknown] = await eventually(
    () => {
      answered(one, 'alone', 2_000)
      return all([one, other], 'alone')
    },
    ([own = 0]) => own >= 2_000,
  )
  expect(own).toBeGreaterThanOrEqual(2_000)
  expect(unknown).toBe(0)
})

test('takes a single slow call for no congestion', async () => {
  const [one] = await both()
  const seen: number[] = []
  one.answered('quiet', ago(3_000))
  answered(one, 'busy', 2_000)
  await eventually(
    async () => {
      seen.push(await one.of('quiet'))
      return one.of('busy')
    },
    (ms) => ms >= 2_000,
  )
  await expect.poll(() => one.of('busy')).toBe(0)
  expect(Math.max(...seen, await one.of('quiet'))).toBe(0)
})

test('takes a high quantile: of many the slowest twentieth, of two calls the quicker one', () => {
  expect(highOf([5, 900])).toBe(5)
  expect(highOf(Array.from({ length: 101 }, (_, i) => 100 - i))).toBe(95)
  expect(highOf([])).toBe(0)
})

test('tells the edge how long checkouts, payments and orders take', async () => {
  const sale = await origin.sale({ total: 10_000 })
  const token = await origin.token(sale)
  const { order_id } = (await origin.checkoutDecided(sale, { token })).body
  const answersMs = async () =>
    (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.answers_ms
  const calls = {
    checkout: () => origin.checkout(sale, { token }),
    order: () => origin.call('GET', `/orders/${order_id}`, { token }),
    payment: () => origin.call('POST', `/orders/${order_id}/payment`, { token, body: { payment_method: 'pm_ok' } }),
  }
  for (const [name, call] of Object.entries(calls)) {
    await expect.poll(answersMs).toBe(0)
    const known = await eventually(
      async () => {
        await call()
        return answersMs()
      },
      (ms) => Number(ms) > 0,
    )
    expect(known, name).toBeGreaterThan(0)
  }
})

test('counts what a call waited in the Worker before it came', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const { order_id } = (await origin.checkoutDecided(sale, { token })).body
  const look = (waited: string) =>
    origin.call('GET', `/orders/${order_id}`, { token, headers: { 'edge-waited-ms': waited } })
  const known = await eventually(
    async () => {
      await Promise.all(['4000', '4000', '4000', '4000', '4000', '1e9', 'long'].map(look))
      return (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.answers_ms
    },
    (ms) => Number(ms) >= 4_000,
  )
  expect(known).toBeLessThan(1e9)
})
