/** A line in trouble: the origin slow or gone, a pause, late alarms, clocks put forward or back. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, expect, it, vi } from 'vitest'
import { serving } from '../../shared/schedule.ts'
import { call, product, requestsTo, stub, TestSale, withShards } from '../testing/visitors.ts'

afterEach(() => {
  vi.useRealTimers()
})

const RATE = 100
const LENGTH = 5_000

/** The origin publishes a change, and notifies the edge. */
async function change(sale: TestSale, state: Parameters<TestSale['publish']>[0]) {
  await sale.publish(state)
  return sale.push()
}

/** The same; returns the schedule that the waiting room announces for it. */
async function announced(sale: TestSale, state: Parameters<TestSale['publish']>[0]) {
  await sale.publish(state)
  const response = await sale.room.refresh({ sale: sale.name })
  const schedule = response.known && response.bulletin.timeline.at(-1)?.schedule
  if (!schedule) throw new Error('the sale is not known')
  return schedule
}

/** A sale with people waiting, and a moving line: it is as long as the line moves in most of a minute. */
async function movingSale() {
  const sale = await new TestSale().publish({ admission: { rate_per_second: RATE, max_inside: null } })
  await sale.joined()
  await sale.room.lease({ sale: sale.name, count: LENGTH })
  // The shards hand out first what they have.
  let place = await sale.joined()
  for (; place.number <= LENGTH; place = await sale.joined()) await scheduler.wait(50)
  const { number, queue_token: last } = place
  await sale.until((schedule) => schedule.phase === 'open' && schedule.ceiling >= number)
  return { sale, serving: async () => (await sale.statusOf(last)).now_serving, last, number }
}

it.concurrent('stands still when the origin is gone, keeps every place, and resumes without a jump', async () => {
  const { sale, serving, last, number } = await movingSale()
  const { version } = await announced(sale, { status: 0 })
  // Not only where this isolate has not heard of it for a while.
  await sale.until((schedule) => schedule.phase === 'paused' && schedule.version > version)
  const stoodAt = await serving()
  expect(await sale.statusOf(last)).toMatchObject({ status: 'paused', position_in_queue: number - stoodAt })
  await scheduler.wait(500)
  expect(await serving()).toBe(stoodAt)
  // New visitors still get a place.
  expect((await sale.join()).status).toBe(201)
  const open = await announced(sale, { status: 200 })
  expect(open.phase).toBe('open')
  expect(Math.abs(open.anchor_position - stoodAt)).toBeLessThan(RATE * 0.1)
  await sale.until(({ version }) => version >= open.version)
  let before = stoodAt
  for (let polls = 0; polls < 30; polls++) {
    const now = await serving()
    expect(now).toBeGreaterThanOrEqual(before)
    before = now
    await scheduler.wait(20)
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
  const paused = await announced(sale, { phase: 'paused' })
  await sale.until(({ phase, version }) => phase === 'paused' && version >= paused.version)
  const stoodAt = await serving()
  await scheduler.wait(300)
  expect(await serving()).toBe(stoodAt)
  const open = await announced(sale, { phase: 'open' })
  expect(open.phase).toBe('open')
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
  const requests = async () => (await requestsTo(`/internal/sales/${sale.name}`)).calls
  const noAlarm = () => runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
  for (const meanwhile of [() => {}, noAlarm]) {
    const [began, before] = [performance.now(), await requests()]
    while ((await requests()) < before + 3) {
      await meanwhile()
      await sale.schedule()
      await scheduler.wait(20)
    }
    // As many as could be made in this time, and the one that was due.
    expect((await requests()) - before).toBeLessThanOrEqual(1 + (performance.now() - began) / 1000)
  }
})

it.concurrent('changes nothing when an alarm runs twice', async () => {
  const { sale, serving } = await movingSale()
  const began = performance.now()
  const before = await serving()
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
  for (const began = performance.now(); performance.now() - began < 30_000 && schedule.phase !== 'paused'; ) {
    await scheduler.wait(100)
    schedule = await (await ask()).json()
  }
  expect(schedule).toMatchObject({ phase: 'paused', rate_per_second: 0 })
  const stoodAt = serving(schedule, schedule.server_time_ms)
  expect(stoodAt).toBeGreaterThan(0)
  await scheduler.wait(500)
  const askedAtMs = Date.now()
  schedule = await (await ask()).json()
  expect(schedule.server_time_ms).toBeGreaterThanOrEqual(askedAtMs - 100)
  expect(schedule.server_time_ms).toBeLessThanOrEqual(Date.now() + 100)
  expect(serving(schedule, schedule.server_time_ms + 60_000)).toBe(stoodAt)
  expect((await ask({ 'if-none-match': etag })).status).toBe(200)
})

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
