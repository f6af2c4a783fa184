/** Trouble: the origin slow or gone, operators who pause, alarms that come late, clocks that are put forward or back. */
import { runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { afterEach, expect, it, vi } from 'vitest'
import { product, TestSale } from './testing/edge.ts'

afterEach(() => {
  vi.useRealTimers()
})

const RATE = 100

/** A sale with people waiting, whose line moves. */
async function movingSale() {
  const sale = await new TestSale().tell({ admission: { rate_per_second: RATE, max_inside: null } })
  const places = []
  for (let i = 0; i < 400; i++) places.push(await sale.joined())
  places.sort((a, b) => a.number - b.number)
  const number = places[places.length - 1]?.number ?? 0
  await sale.until((schedule) => schedule.phase === 'open' && schedule.ceiling >= number)
  const last = places[places.length - 1]?.queue_token ?? ''
  return { sale, serving: async () => (await sale.statusOf(last)).now_serving, last, number }
}

it.concurrent('stands still when the origin is gone, keeps every place, and goes on without a jump', async () => {
  const { sale, serving, last, number } = await movingSale()
  await sale.tell({ status: 0 })
  await sale.until((schedule) => schedule.phase === 'paused')
  const stoodAt = await serving()
  expect(await sale.statusOf(last)).toMatchObject({ status: 'paused', position_in_queue: number - stoodAt })
  await scheduler.wait(500)
  expect(await serving()).toBe(stoodAt)
  // New visitors still get a place.
  expect((await sale.join()).status).toBe(201)
  await sale.tell({ status: 200 })
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

it.concurrent('stands still while an operator pauses, and goes on from there', async () => {
  const { sale, serving } = await movingSale()
  await sale.tell({ phase: 'paused' })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'paused', 1_000)
  const stoodAt = await serving()
  await scheduler.wait(300)
  expect(await serving()).toBe(stoodAt)
  await sale.tell({ phase: 'open' })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'open', 1_000)
  expect((await serving()) - stoodAt).toBeLessThan(RATE * 0.1)
})

it.concurrent('says that all units are in carts, and goes on when one comes back', async () => {
  const { sale, last } = await movingSale()
  await sale.tell({ phase: 'all_in_carts', products: [product(0, 100, 0)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'all_in_carts')
  expect((await sale.statusOf(last)).status).toBe('all_in_carts')
  await sale.tell({ phase: 'open', products: [product(1, 99, 0)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'open')
  expect((await sale.statusOf(last)).status).toBe('waiting')
})

it.concurrent('moves nobody back over a hundred changes of rate', async () => {
  const { sale, serving } = await movingSale()
  let before = 0
  for (let i = 0; i < 20; i++) {
    await sale.tell({ admission: { rate_per_second: 20 + ((i * 37) % 100), max_inside: null } })
    await sale.push()
    for (let polls = 0; polls < 5; polls++) {
      const now = await serving()
      expect(now).toBeGreaterThanOrEqual(before)
      before = now
      await scheduler.wait(5)
    }
  }
  expect(before).toBeGreaterThan(0)
})

it.concurrent('keeps the line moving without any alarm', async () => {
  const { sale, serving } = await movingSale()
  const before = await serving()
  for (let i = 0; i < 10; i++) {
    await runInDurableObject(sale.room, (_, state) => state.storage.deleteAlarm())
    await scheduler.wait(100)
    await serving()
  }
  expect((await serving()) - before).toBeGreaterThan(RATE * 0.9)
})

it.concurrent('changes nothing when an alarm runs twice', async () => {
  const { sale, serving } = await movingSale()
  const before = await serving()
  const began = performance.now()
  for (let i = 0; i < 10; i++) await runDurableObjectAlarm(sale.room)
  expect((await serving()) - before).toBeLessThanOrEqual((RATE * (performance.now() - began)) / 1000 + 5)
})

it('moves nobody back when the clock is put back by an hour, nor far ahead when it is put forward', async () => {
  const { sale, serving } = await movingSale()
  let before = await serving()
  let offsetMs = 0
  const realNow = Date.now
  vi.spyOn(Date, 'now').mockImplementation(() => realNow() + offsetMs)
  for (const stepMs of [-3_600_000, 1_800_000]) {
    offsetMs += stepMs
    await sale.tell()
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
