import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reservationOf } from '../../test/origin-process.ts'
import type { Gate } from '../stock/gate.ts'
import type { Outcome } from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** The maximum of one process. */
const ROOM = 20_000
const never = new Promise<Outcome>(() => {})
const noAnswer = () => {}
const of = (order: string) => ({ ...reservationOf('sale'), order })
const gateWith = (waiting: () => Promise<number>) => ({ countIntents: vi.fn(waiting) }) as unknown as Gate
const leave = (pending: PendingReservations, orders: number, gate: Gate) => {
  for (let i = 0; i < orders; i++) pending.leaveToWorkers(gate)
}

test('is full at the maximum, until workers have recorded some', async () => {
  const pending = new PendingReservations()
  let inStream = ROOM / 2
  const gate = gateWith(async () => inStream)
  leave(pending, ROOM / 2, gate)
  for (let i = 0; i < ROOM / 2 - 1; i++) pending.begin(of(`order ${i}`), never, noAnswer)
  expect(pending.isFull()).toBe(false)
  pending.begin(of('one more'), never, noAnswer)
  expect([pending.isFull(), await pending.isStillFull()]).toEqual([true, true])

  inStream -= 10
  vi.advanceTimersByTime(1_000)
  expect(await pending.isStillFull()).toBe(false)
  leave(pending, 10, gate)
  expect(pending.isFull()).toBe(true)
})

test('counts streams once a second for all callers, and keeps the last count if Redis does not answer', async () => {
  const pending = new PendingReservations()
  const gate = gateWith(() => Promise.reject(new Error('Redis is away')))
  leave(pending, ROOM, gate)
  const asked = await Promise.all(Array.from({ length: 5 }, () => pending.isStillFull()))
  expect(asked).toEqual(Array(5).fill(true))
  expect(await pending.isStillFull()).toBe(true)
  expect(gate.countIntents).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(await pending.isStillFull()).toBe(true)
  expect(gate.countIntents).toHaveBeenCalledTimes(2)
})

test('answers once the ledger is late, and not after it has answered', () => {
  const pending = new PendingReservations()
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
  const pending = new PendingReservations()
  const [empty, full] = [gateWith(async () => 0), gateWith(async () => 2 * ROOM)]
  leave(pending, ROOM - 1, empty)
  leave(pending, 1, full)
  expect([pending.isFull(), await pending.isStillFull()]).toEqual([true, false])
})

test('does not count out what is left to workers during the count', async () => {
  const pending = new PendingReservations()
  const counted = Promise.withResolvers<number>()
  const gate = gateWith(() => counted.promise)
  leave(pending, ROOM, gate)
  const asked = pending.isStillFull()
  leave(pending, 10, gate)
  counted.resolve(ROOM - 5)
  expect(await asked).toBe(true)
})

test('waits for reservations in progress when it drains, within a bound', async () => {
  const pending = new PendingReservations()
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
