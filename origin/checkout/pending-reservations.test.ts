import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import { SaleMemory } from '../sales/sale-memory.ts'
import type { Gate } from '../stock/gate/gate.ts'
import type { Outcome } from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

const MAX_PENDING = 100
const never = new Promise<Outcome>(() => {})
const noAnswer = () => {}
const of = (order: string) => ({ ...reservationOf('sale'), order })
const gateWith = (waiting: () => Promise<number>) => ({ intents: { count: vi.fn(waiting) } }) as unknown as Gate
const leave = (pending: PendingReservations, orders: number, gate: Gate, sale = 'sale') => {
  for (let i = 0; i < orders; i++) pending.leaveToWorkers(sale, gate)
}

test('takes places up to the maximum, and again as they are freed or workers have recorded some', async () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  let inStream = MAX_PENDING / 2
  const gate = gateWith(async () => inStream)
  leave(pending, MAX_PENDING / 2, gate)
  for (let i = 0; i < MAX_PENDING / 2; i++) expect(pending.takePlace()).toBe(true)
  expect([pending.takePlace(), await pending.takePlaceOnceCounted()]).toEqual([false, false])
  pending.freePlace()
  expect([pending.takePlace(), pending.takePlace()]).toEqual([true, false])

  inStream -= 2
  vi.advanceTimersByTime(1_000)
  const asked = await Promise.all(Array.from({ length: 5 }, () => pending.takePlaceOnceCounted()))
  expect(asked).toEqual([true, true, false, false, false])
})

test('counts streams once a second for all callers, and keeps the last count if Redis does not answer', async () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  const gate = gateWith(() => Promise.reject(new Error('Redis is away')))
  leave(pending, MAX_PENDING, gate)
  for (const counts of [1, 2]) {
    const asked = await Promise.all(Array.from({ length: 5 }, () => pending.takePlaceOnceCounted()))
    expect([...asked, await pending.takePlaceOnceCounted()]).toEqual(Array(6).fill(false))
    expect(gate.intents.count).toHaveBeenCalledTimes(counts)
    vi.advanceTimersByTime(1_000)
  }
})

test('answers once the ledger is late, and not after it has answered', () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  const answered: string[] = []
  const begin = (order: string) => pending.begin(of(order), never, () => void answered.push(order))
  begin('late')
  vi.advanceTimersByTime(1_500)
  begin('soon')
  expect(pending.end('soon')).toBe(false)
  vi.advanceTimersByTime(400)
  begin('later')
  expect(answered).toEqual([])
  vi.advanceTimersByTime(200)
  expect(answered).toEqual(['late'])
  expect(pending.get('late')?.reservation).toEqual(of('late'))
  expect([pending.end('late'), pending.end('late')]).toEqual([true, false])
  expect(pending.get('late')).toBeUndefined()
  vi.advanceTimersByTime(2_000)
  expect(answered).toEqual(['late', 'later'])
  expect(pending.end('later')).toBe(true)
  expect(vi.getTimerCount()).toBe(0)
})

test('does not count intents of other processes', async () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  const [empty, full] = [gateWith(async () => 0), gateWith(async () => 2 * MAX_PENDING)]
  leave(pending, MAX_PENDING - 1, empty)
  leave(pending, 1, full, 'another')
  expect([pending.takePlace(), await pending.takePlaceOnceCounted()]).toEqual([false, true])
})

test('does not count out what is left to workers during the count', async () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  const counted = Promise.withResolvers<number>()
  const gate = gateWith(() => counted.promise)
  leave(pending, MAX_PENDING, gate)
  const asked = pending.takePlaceOnceCounted()
  leave(pending, 10, gate)
  counted.resolve(MAX_PENDING - 5)
  expect(await asked).toBe(false)
})

test('waits for reservations in progress when it drains, within a bound', async () => {
  const pending = new PendingReservations(new SaleMemory(), MAX_PENDING)
  const outcome = Promise.withResolvers<Outcome>()
  pending.begin(of('late'), outcome.promise, noAnswer)
  const ended = vi.fn()
  const waits = pending.drain().then(ended)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).not.toHaveBeenCalled()
  outcome.resolve({ kind: 'processing', reservation: of('late'), replayed: false })
  await waits
  pending.begin(of('lost'), never, noAnswer)
  pending.drain().then(ended)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(ended).toHaveBeenCalledTimes(2)
})
