/** A line in trouble: the origin slow or gone, a pause, late alarms, clocks put forward or back. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, expect, it, vi } from 'vitest'
import { serving } from '../../shared/schedule.ts'
import { call, product, requestsTo, stub, TestSale, withShards } from '../testing/visitors.ts'

afterEach(() => {
  vi.useRealTimers()
})

const RATE = 100

/** The origin publishes a change, and notifies the edge. */
async function change(sale: TestSale, state: Parameters<TestSale['publish']>[0]) {
  await sale.publish(state)
  return sale.push()
}

/** A sale with people waiting, and a moving line. */
async function movingSale() {
  const sale = await new TestSale().publish({ admission: { rate_per_second: RATE, max_inside: null } })
  const places = []
  for (let i = 0; i < 400; i++) places.push(await sale.joined())
  places.sort((a, b) => a.number - b.number)
  const number = places[places.length - 1]?.number ?? 0
  await sale.until((schedule) => schedule.phase === 'open' && schedule.ceiling >= number)
  const last = places[places.length - 1]?.queue_token ?? ''
  return { sale, serving: async () => (await sale.statusOf(last)).now_serving, last, number }
}

it.concurrent('stands still when the origin is gone, keeps every place, and resumes without a jump', async () => {
  const { sale, serving, last, number } = await movingSale()
  await sale.publish({ status: 0 })
  await sale.until((schedule) => schedule.phase === 'paused')
  const stoodAt = await serving()
  expect(await sale.statusOf(last)).toMatchObject({ status: 'paused', position_in_queue: number - stoodAt })
  await scheduler.wait(500)
  expect(await serving()).toBe(stoodAt)
  // New visitors still get a place.
  expect((await sale.join()).status).toBe(201)
  await sale.publish({ status: 200 })
  await sale.until((schedule) => schedule.phase === 'open')
  const began = performance.now()
  let before = stoodAt
  while (performance.now() - began < 600) {
    const now = await serving()
    expect(now).toBeGreaterThanOrEqual(before)
    expect(now - stoodAt).toBeLessThanOrEqual((RATE * (performance.now() - began)) / 1000 + RATE * 0.1)
    before = now
    await scheduler.wait(10)
  }
  expect(before).toBeGreaterThan(stoodAt)
})

it.concurrent('keeps moving when the origin leaves one state request unanswered', async () => {
  const { sale } = await movingSale()
  const path = `/internal/sales/${sale.name}`
  const { calls } = await requestsTo(path)
  await sale.publish({ delayMs: 5_000 })
  while ((await requestsTo(path)).calls === calls) await scheduler.wait(10)
  await sale.publish()
  const phases = new Set<string>()
  for (const began = performance.now(); performance.now() - began < 3_000; await scheduler.wait(20))
    phases.add((await sale.schedule()).phase)
  expect(phases).toEqual(new Set(['open']))
})

it.concurrent('stands still while an operator pauses, and resumes there', async () => {
  const { sale, serving } = await movingSale()
  await change(sale, { phase: 'paused' })
  await sale.until((schedule) => schedule.phase === 'paused', 1_000)
  const stoodAt = await serving()
  await scheduler.wait(300)
  expect(await serving()).toBe(stoodAt)
  await change(sale, { phase: 'open' })
  await sale.until((schedule) => schedule.phase === 'open', 1_000)
  expect((await serving()) - stoodAt).toBeLessThan(RATE * 0.1)
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

it.concurrent('moves nobody back over many changes of rate', async () => {
  const { sale, serving } = await movingSale()
  let before = 0
  for (let i = 0; i < 20; i++) {
    await change(sale, { admission: { rate_per_second: 20 + ((i * 37) % 100), max_inside: null } })
    for (let polls = 0; polls < 5; polls++) {
      const now = await serving()
      expect(now).toBeGreaterThanOrEqual(before)
      before = now
      await scheduler.wait(5)
    }
  }
  expect(before).toBeGreaterThan(0)
})

it.concurrent('requests the state once a second, with its alarm or without it, however often it is read', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  const requestsIn = async (ms: number, meanwhile: () => unknown) => {
    const before = await requestsTo(`/internal/sales/${sale.name}`)
    for (const began = performance.now(); performance.now() - began < ms; await scheduler.wait(20)) {
      await meanwhile()
      await sale.schedule()
    }
    return (await requestsTo(`/internal/sales/${sale.name}`)).calls - before.calls
  }
  const noAlarm = () => runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
  for (const meanwhile of [() => {}, noAlarm]) {
    const requests = await requestsIn(4_000, meanwhile)
    expect(requests).toBeGreaterThanOrEqual(2)
    expect(requests).toBeLessThanOrEqual(4)
  }
})

it.concurrent('changes nothing when an alarm runs twice', async () => {
  const { sale, serving } = await movingSale()
  const before = await serving()
  const began = performance.now()
  for (let i = 0; i < 10; i++) await runDurableObjectAlarm(sale.room)
  expect((await serving()) - before).toBeLessThanOrEqual((RATE * (performance.now() - began)) / 1000 + 5)
})

it('moves nobody back when the clock is put back by an hour or forward', async () => {
  const { sale, serving } = await movingSale()
  let before = await serving()
  let offsetMs = 0
  const realNow = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offsetMs)
  for (const stepMs of [-3_600_000, 1_800_000]) {
    offsetMs += stepMs
    await sale.publish()
    for (let i = 0; i < 20; i++) {
      const now = await serving()
      expect(now).toBeGreaterThanOrEqual(before)
      before = now
      await scheduler.wait(50)
    }
    const later = await serving()
    expect(later).toBeGreaterThan(0)
  }
  vi.restoreAllMocks()
})

it('shows a paused line, and a running clock, when the shards do not respond any more', async () => {
  const { sale } = await movingSale()
  const away = () => Promise.reject(Object.assign(new Error('away'), { overloaded: true }))
  const unresponsive = withShards(() => ({ look: away }))
  const ask = (headers = {}) => call(`/sales/${sale.name}/schedule`, { headers }, unresponsive)
  const etag = (await ask()).headers.get('etag') ?? ''
  let schedule = await sale.schedule()
  for (const began = performance.now(); performance.now() - began < 5_000 && schedule.phase !== 'paused'; ) {
    await scheduler.wait(100)
    schedule = await (await ask()).json()
  }
  expect(schedule).toMatchObject({ phase: 'paused', rate_per_second: 0 })
  const stoodAt = serving(schedule, schedule.server_time_ms)
  expect(stoodAt).toBeGreaterThan(0)
  await scheduler.wait(500)
  schedule = await (await ask()).json()
  expect(Math.abs(schedule.server_time_ms - Date.now())).toBeLessThan(100)
  expect(serving(schedule, schedule.server_time_ms + 60_000)).toBe(stoodAt)
  expect((await ask({ 'if-none-match': etag })).status).toBe(200)
}, 10_000)

it('makes no refresh for requests that waited for the origin', async () => {
  const sale = await new TestSale().publish()
  const { admission_token } = await sale.ready()
  let looks = 0
  const counting = withShards(() => {
    looks++
    return sale.shard(0)
  })
  const problem = { type: '/problems/try-again', title: 'x', status: 503 }
  await stub(`/sales/${sale.name}/checkout`, 503, problem, 600)
  const cookie = `admission-${sale.name}=${admission_token}`
  const form = () => sale.form('/buy', { product_id: 'lamp' }, { cookie }, counting)
  const forms = Promise.all(Array.from({ length: 40 }, form))
  // Other requests keep the copy fresh meanwhile.
  for (const until = performance.now() + 650; performance.now() < until; await scheduler.wait(30)) await sale.schedule()
  await forms
  expect(looks).toBeLessThan(10)
})

it('spares overloaded ticket shards, however many visitors join, and uses one that recovers', async () => {
  const sale = await new TestSale().publish()
  await sale.schedule()
  let takes = 0
  let ill = true
  const env = withShards(() => {
    const well = sale.shard(0)
    const take = (request: { sale: string; count: number }) => {
      takes++
      return ill ? Promise.reject(Object.assign(new Error('away'), { overloaded: true })) : well.take(request)
    }
    return {
      take,
      look: (request: { sale: string }) => well.look(request),
      takeBack: () => Promise.resolve(),
    }
  })
  const joins = Array.from({ length: 100 }, () => sale.join({}, env).then(({ status }) => status))
  await scheduler.wait(1_000)
  ill = false
  expect(new Set(await Promise.all(joins))).toEqual(new Set([201]))
  expect(takes).toBeLessThan(15)
})

it('sets its alarm again after a restock', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  await change(sale, { phase: 'sold_out', products: [product(0, 0, 10_000)] })
  await scheduler.wait(1_200)
  await runDurableObjectAlarm(sale.room)
  await sale.publish({ phase: 'open', products: [product(5, 0, 10_000)] })
  await runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
  expect((await sale.push()).status).toBe(204)
  expect(await runInDurableObject(sale.room, (_, state) => state.storage.getAlarm())).not.toBeNull()
})
