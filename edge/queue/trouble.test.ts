/** A line in trouble: the origin slow or gone, a pause, late alarms, clocks put forward or back. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import * as v from 'valibot'
import { afterEach, expect, it, vi } from 'vitest'
import { LineFigures } from '../../shared/api/internal.ts'
import { type Schedule, serving } from '../../shared/schedule.ts'
import { slowClock, stopClock } from '../testing/clocks.ts'
import { requestsTo, stub } from '../testing/origin.ts'
import { OPEN_TO_ALL, product } from '../testing/simulation.ts'
import { call, TestSale, withShards } from '../testing/visitors.ts'
import type { SaleRecord } from './sale-record.ts'

afterEach(() => void vi.restoreAllMocks())

const RATE = 100
/** A little less than the schedule's horizon, so that it is open to its end at once. */
const LENGTH = 5_500

/** The origin publishes a change, and notifies the edge. */
async function change(sale: TestSale, state: Parameters<TestSale['publish']>[0]) {
  await sale.publish(state)
  return sale.push()
}

/**
 * The same; returns the schedule that the waiting room announces for it: on a busy machine not at its first refresh.
 */
async function announced(sale: TestSale, state: Parameters<TestSale['publish']>[0]) {
  await sale.publish(state)
  for (;;) {
    const response = await sale.room.refresh(sale.name)
    const schedule = response.known && response.snapshot.timeline.at(-1)?.schedule
    if (!schedule) throw new Error('the sale is not known')
    if (state?.phase === undefined || schedule.phase === state.phase) return schedule
    await scheduler.wait(20)
  }
}

/** A sale with people waiting, and a moving line: it is as long as the line moves in most of a minute. */
async function movingSale() {
  const sale = await new TestSale().publish({ admission: { rate_per_second: RATE, max_inside: null } })
  await sale.schedule()
  await sale.room.lease({ queue: sale.name, count: LENGTH })
  const { number, queue_token: last } = await sale.joined()
  await sale.until((schedule) => schedule.phase === 'open' && schedule.ceiling >= number)
  return { sale, serving: async () => (await sale.statusOf(last)).now_serving, last, number }
}

/** A minute from now the line would be where it is. */
async function expectToStandAt(position: number, sale: TestSale) {
  const schedule = await sale.schedule()
  expect(serving(schedule, schedule.server_time_ms + 60_000)).toBe(position)
}

it.concurrent('stands still when the origin is gone, keeps every place, and resumes without a jump', async () => {
  const { sale, serving, last, number } = await movingSale()
  const { version } = await announced(sale, { status: 0 })
  // The pause is published, and not only a local result of an old copy.
  await sale.until((schedule) => schedule.phase === 'paused' && schedule.version > version)
  const stoodAt = await serving()
  expect(await sale.statusOf(last)).toMatchObject({ status: 'paused', position_in_queue: number - stoodAt })
  await expectToStandAt(stoodAt, sale)
  // New visitors still get a place.
  expect((await sale.join()).status).toBe(201)
  const open = await announced(sale, { status: 200, phase: 'open' })
  expect(Math.abs(open.anchor_position - stoodAt)).toBeLessThan(RATE * 0.1)
  await sale.until(({ version }) => version >= open.version)
  let before = stoodAt
  for (let polls = 0; polls < 30 || before === stoodAt; polls++) {
    const now = await serving()
    expect(now).toBeGreaterThanOrEqual(before)
    before = now
    await scheduler.wait(20)
  }
})

it('keeps moving when the origin leaves one state request unanswered', async () => {
  const { sale } = await movingSale()
  stopClock()
  await sale.push()
  const beganMs = Date.now()
  const served: number[] = []
  const moveTo = async (seconds: number) => {
    vi.setSystemTime(beganMs + 1000 * seconds)
    const schedule = await sale.schedule()
    expect(schedule.phase, `after ${seconds} s`).toBe('open')
    served.push(serving(schedule, schedule.server_time_ms))
  }
  // One refresh a second. The first one gets no response until its time is up.
  await sale.publish({ status: 0 })
  for (const seconds of [0.5, 1, 1.8]) await moveTo(seconds)
  await sale.push()
  await sale.publish({ status: 200 })
  for (const seconds of [2, 2.5, 2.8]) await moveTo(seconds)
  await sale.push()
  for (const seconds of [3, 3.5]) await moveTo(seconds)
  expect(served).toEqual([...new Set(served)].sort((a, b) => a - b))
})

it.concurrent('calls fewer while the origin takes longer than it should to tell its state', async () => {
  const { sale } = await movingSale()
  await sale.publish({ delayMs: 550 })
  await sale.until((schedule) => schedule.phase === 'open' && schedule.rate_per_second < RATE)
})

it.concurrent('stands still while an operator pauses, and resumes there', async () => {
  const { sale, serving } = await movingSale()
  const paused = await announced(sale, { phase: 'paused' })
  await sale.until(({ phase, version }) => phase === 'paused' && version >= paused.version)
  const stoodAt = await serving()
  await expectToStandAt(stoodAt, sale)
  const open = await announced(sale, { phase: 'open' })
  expect(Math.abs(open.anchor_position - stoodAt)).toBeLessThan(RATE * 0.1)
  await sale.until(({ phase }) => phase === 'open')
})

it.concurrent('shows all_in_carts, and moves on when a unit comes back', async () => {
  const { sale, last } = await movingSale()
  await change(sale, { phase: 'all_in_carts', products: [product(0, 100, 0)] })
  await sale.until((schedule) => schedule.phase === 'all_in_carts')
  expect((await sale.statusOf(last)).status).toBe('all_in_carts')
  await change(sale, { phase: 'open', products: [product(1, 99, 0)] })
  await sale.until((schedule) => schedule.phase === 'open')
  expect((await sale.statusOf(last)).status).toBe('waiting')
})

it.concurrent('requests the state once a second, with its alarm or without it, however often it is read', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  /** The waiting room's own times of its requests; the first one says nothing yet. */
  const sentAtMs = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    return requests.slice(1).map(({ query }) => Number(new URLSearchParams(query).get('clock_ms')))
  }
  const noAlarm = () => runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
  for (const meanwhile of [() => {}, noAlarm]) {
    const { length } = await sentAtMs()
    while ((await sentAtMs()).length < length + 3) {
      await meanwhile()
      await sale.schedule()
      await scheduler.wait(20)
    }
  }
  const times = await sentAtMs()
  const seconds = ((times.at(-1) ?? 0) - (times[0] ?? 0)) / 1_000
  // And on a busy machine now and then an alarm that comes just after the read that did its work.
  expect(times.length).toBeLessThanOrEqual(3 + seconds)
})

it('sends the figures, and the version of the policy it has, with each state request', async () => {
  const sale = await new TestSale().publish({ policy: { ...OPEN_TO_ALL, version: 'v1' } })
  await sale.joined()
  await sale.push()
  await sale.push()
  const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
  expect(requests[0]?.query).toBe('')
  const last = new URLSearchParams(requests.at(-1)?.query)
  const { policy, ...query } = Object.fromEntries(last)
  const figures = v.parse(v.strictObject(LineFigures.entries), query)
  expect(policy).toBe('v1')
  expect(figures.numbers_given).toBeGreaterThanOrEqual(1)
  expect(figures.called + figures.waiting).toBe(figures.numbers_given)
})

it('changes nothing when an alarm runs twice', async () => {
  const { sale, serving } = await movingSale()
  // It is one moment.
  stopClock()
  const before = await serving()
  for (let i = 0; i < 10; i++) await runDurableObjectAlarm(sale.room)
  expect(await serving()).toBe(before)
})

it('moves nobody back when the clock is put back by little, by an hour, or forward', async () => {
  const { sale, serving } = await movingSale()
  let before = await serving()
  let offsetMs = 0
  const realNow = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offsetMs)
  for (const stepMs of [-200, -900, -3_600_000, 1_800_000]) {
    offsetMs += stepMs
    await sale.publish()
    const asked = await sale.asked()
    do {
      const now = await serving()
      expect(now).toBeGreaterThanOrEqual(before)
      before = now
    } while ((await sale.asked()) < asked + 2)
    const later = await serving()
    expect(later).toBeGreaterThan(0)
  }
})

it('learns nothing of a reading that is older than the one it has', async () => {
  const { sale } = await movingSale()
  const sold = { products: [product(10_000, 0, 80)], arrivals: 80 }
  await announced(sale, sold)
  await announced(sale, { products: [product(10_080)], arrivals: 0, read_ago_ms: 60_000 })
  await announced(sale, { ...sold, read_ago_ms: 0 })
  const record = await runInDurableObject(sale.room, (_, state) => state.storage.kv.get<SaleRecord>('sale'))
  expect(record?.memory).toMatchObject({ sold: 80, arrivals: 80 })
  expect(record?.state.products).toEqual(sold.products)
})

it('shows a paused line, and a running clock, when the shards do not respond any more', async () => {
  const { sale } = await movingSale()
  const away = () => Promise.reject(Object.assign(new Error('away'), { overloaded: true }))
  const unresponsive = withShards(() => ({ poll: away }))
  const ask = (headers = {}) => call(`/sales/${sale.name}/schedule`, { headers }, unresponsive)
  const etag = (await ask()).headers.get('etag') ?? ''
  const now = async () => (await ask()).json<Schedule>()
  await expect.poll(now).toMatchObject({ phase: 'paused', rate_per_second: 0 })
  // At its rate the line would have called several people by then.
  stopClock()
  const before = await now()
  vi.setSystemTime(Date.now() + 1_000)
  const schedule = await now()
  expect(schedule.server_time_ms).toBe(Date.now())
  const stoodAt = serving(before, before.server_time_ms)
  expect(stoodAt).toBeGreaterThan(0)
  expect(serving(schedule, schedule.server_time_ms + 60_000)).toBe(stoodAt)
  expect((await ask({ 'if-none-match': etag })).status).toBe(200)
})

it('makes no refresh for requests that waited for the origin', async () => {
  slowClock()
  const sale = await new TestSale().publish()
  const { admission_token } = await sale.ready()
  let looks = 0
  const counting = withShards(() => {
    looks++
    return sale.shard(0)
  })
  const problem = { type: '/problems/try-again', title: 'x', status: 503 }
  await stub(`/sales/${sale.name}/checkout`, 503, problem, 2_500)
  const cookie = `admission-${sale.name}=${admission_token}`
  const form = () => sale.form('/buy', { product_id: 'lamp' }, { cookie }, counting)
  let isUnderWay = true
  const forms = Promise.all(Array.from({ length: 40 }, form)).finally(() => {
    isUnderWay = false
  })
  // The other requests keep the copy fresh meanwhile.
  for (; isUnderWay; await scheduler.wait(30)) await sale.schedule()
  await forms
  expect(looks).toBeLessThan(10)
})

/** Calls for numbers that an overloaded shard refuses, before it recovers. */
const ILL_FOR = 3

it('spares overloaded ticket shards, however many visitors join, and uses one that recovers', async () => {
  slowClock()
  const sale = await new TestSale().publish()
  await sale.schedule()
  let takes = 0
  const env = withShards(() => {
    const well = sale.shard(0)
    const take = (request: { queue: string; count: number }) => {
      return ++takes <= ILL_FOR
        ? Promise.reject(Object.assign(new Error('away'), { overloaded: true }))
        : well.take(request)
    }
    return { take, poll: (request: { queue: string }) => well.poll(request), takeBack: () => Promise.resolve() }
  })
  const joins = Array.from({ length: 100 }, () => sale.join({}, env).then(({ status }) => status))
  expect(new Set(await Promise.all(joins))).toEqual(new Set([201]))
  expect(takes).toBeGreaterThan(ILL_FOR)
  expect(takes).toBeLessThan(15)
})

it('sets its alarm again after a restock', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  const { version } = await announced(sale, { phase: 'sold_out', products: [product(0, 0, 10_000)] })
  await sale.until((schedule) => schedule.version >= version)
  await runDurableObjectAlarm(sale.room)
  await sale.publish({ phase: 'open', products: [product(5, 0, 10_000)] })
  await runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
  const alarm = async () => {
    expect((await sale.push()).status).toBe(204)
    return runInDurableObject(sale.room, (_, state) => state.storage.getAlarm())
  }
  await expect.poll(alarm).not.toBeNull()
})
