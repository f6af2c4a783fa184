import { once } from 'node:events'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { joinCounts } from '../../test/lib/samples.ts'
import { useRedis } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { defineScripts } from '../stock/scripts.ts'
import { ResponseTimes } from './response-times.ts'

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
/** The number of visitors is the least that counts. */
const VISITORS = ['ann', 'bob', 'cyd', 'dan', 'eve']
const answered = (one: ResponseTimes, sale: string, ms: number) => {
  for (const visitor of VISITORS) one.answered(sale, visitor, ago(ms))
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

test('knows how long a protected site takes, where the edge reports enough of its answers', async () => {
  const state = (sale: string, times: readonly number[]) => {
    const answers = Object.fromEntries(times.map((ms, i) => [`0000000${i}`, ms]))
    const counts = encodeURIComponent(joinCounts({ answers }))
    return origin.call('GET', `/internal/sales/${sale}?counts=${counts}`, { token: origin.edgeToken })
  }
  const [slow, few, lied] = [await origin.sale(), await origin.sale(), await origin.sale()]
  const answersOf = async (sale: string, times: readonly number[]) => (await state(sale, times)).body.answers_ms
  await expect.poll(() => answersOf(slow, [900, 2_000, 2_000, 2_000, 2_100])).toBe(2_000)
  await expect.poll(() => answersOf(lied, [20, 20, 20, 20, 20, 20, 30_000])).toBe(20)
  expect([await answersOf(few, [9_000]), await answersOf(few, [])]).toEqual([0, 0])
  await expect.poll(() => answersOf(slow, [])).toBe(0)
})

test('takes a single slow call for no congestion', async () => {
  const [one] = await both()
  const seen: number[] = []
  one.answered('quiet', 'ann', ago(3_000))
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

/** Returns the least number of visitors of a sale that counts, each with an order. */
async function buyers(sale: string) {
  return Promise.all(
    VISITORS.map(async (visitor) => {
      const token = await origin.token(sale, visitor)
      const { order_id } = (await origin.checkoutDecided(sale, { token })).body
      return { token, order_id }
    }),
  )
}
const answersMs = async (sale: string) =>
  Number((await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.answers_ms)

test('tells the edge how long checkouts and orders take', async () => {
  const sale = await origin.sale({ total: 10_000 })
  const all = await buyers(sale)
  const calls = {
    checkout: async () => {
      const newcomers = VISITORS.map(() => origin.token(sale, crypto.randomUUID()))
      await Promise.all(newcomers.map(async (token) => origin.checkout(sale, { token: await token })))
    },
    order: () => Promise.all(all.map(({ token, order_id }) => origin.call('GET', `/orders/${order_id}`, { token }))),
  }
  for (const [name, call] of Object.entries(calls)) {
    await expect.poll(() => answersMs(sale)).toBe(0)
    const known = await eventually(
      async () => {
        await call()
        return answersMs(sale)
      },
      (ms) => ms > 0,
    )
    expect(known, name).toBeGreaterThan(0)
  }
})

test('counts what calls waited in the Worker before they came, where the edge says so', async () => {
  const sale = await origin.sale()
  const all = await buyers(sale)
  const known = async (of: Record<string, string>) => {
    const waits = ['4000', '4000', '4000', '1e9', 'long']
    const looks = all.map(({ token, order_id }, i) =>
      origin.call('GET', `/orders/${order_id}`, { token, headers: { 'edge-waited-ms': waits[i] ?? '', ...of } }),
    )
    await Promise.all(looks)
    return answersMs(sale)
  }
  const seen = await eventually(
    () => known({ 'edge-token': origin.edgeToken }),
    (ms) => ms >= 4_000,
  )
  expect(seen).toBeLessThan(1e9)
  await expect.poll(() => answersMs(sale)).toBe(0)
  const byOthers = await eventually(
    () => known({}),
    (ms) => ms > 0,
  )
  expect(byOthers).toBeLessThan(4_000)
})
