import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reservationOf } from '../../test/origin-process.ts'
import type { Gate } from '../stock/gate.ts'
import type { Outcome } from './outcome.ts'
import { PendingReservations } from './pending-reservations.ts'

beforeEach(() => {
  vi.useFakeTimers()
})
afterEach(() => {
  vi.useRealTimers()
})

/** As many as one process may promise. */
const ROOM = 20_000
const never = new Promise<Outcome>(() => {})
const of = (order: string) => ({ ...reservationOf('sale'), order })
const gateWith = (waiting: () => Promise<number>) => ({ countIntents: vi.fn(waiting) })
const asGate = (gate: object) => gate as Gate

test('no more is promised than there is room for, until workers have kept some of it', async () => {
  const promises = new PendingReservations()
  let inStream = ROOM / 2
  const gate = gateWith(async () => inStream)
  for (let i = 0; i < ROOM / 2; i++) promises.leaveToWorkers(asGate(gate))
  for (let i = 0; i < ROOM / 2 - 1; i++) promises.begin(of(`order ${i}`), never)
  expect(promises.areMany()).toBe(false)
  promises.begin(of('one more'), never)
  expect([promises.areMany(), await promises.areStillMany()]).toEqual([true, true])

  inStream -= 10
  vi.advanceTimersByTime(1_000)
  expect(await promises.areStillMany()).toBe(false)
  for (let i = 0; i < 10; i++) promises.leaveToWorkers(asGate(gate))
  expect(promises.areMany()).toBe(true)
})

test('streams are counted once a second, whoever asks, and one that does not answer is taken as it was', async () => {
  const promises = new PendingReservations()
  const gate = gateWith(() => Promise.reject(new Error('Redis is away')))
  for (let i = 0; i < ROOM; i++) promises.leaveToWorkers(asGate(gate))
  const asked = await Promise.all(Array.from({ length: 5 }, () => promises.areStillMany()))
  expect(asked).toEqual(Array(5).fill(true))
  expect(await promises.areStillMany()).toBe(true)
  expect(gate.countIntents).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(await promises.areStillMany()).toBe(true)
  expect(gate.countIntents).toHaveBeenCalledTimes(2)
})

test('who was told "processing" is remembered until the ledger has spoken, and nobody is told it after that', () => {
  const promises = new PendingReservations()
  promises.begin(of('late'), never)
  promises.begin(of('soon'), never)
  expect(promises.tell('late')).toBe(true)
  expect(promises.reservationOf('late')).toEqual(of('late'))
  expect([promises.end('late'), promises.end('soon')]).toEqual([true, false])
  expect(promises.tell('late')).toBe(false)
  expect([promises.outcomeOf('late'), promises.reservationOf('late')]).toEqual([undefined, undefined])
  expect(promises.end('late')).toBe(false)
})

test('what waits in a stream for other processes makes no promises of this one', async () => {
  const promises = new PendingReservations()
  const [empty, full] = [gateWith(async () => 0), gateWith(async () => 2 * ROOM)]
  for (let i = 0; i < ROOM - 1; i++) promises.leaveToWorkers(asGate(empty))
  promises.leaveToWorkers(asGate(full))
  expect([promises.areMany(), await promises.areStillMany()]).toEqual([true, false])
})

test('what is left to workers while a stream is counted is not counted out', async () => {
  const promises = new PendingReservations()
  const counted = Promise.withResolvers<number>()
  const gate = gateWith(() => counted.promise)
  for (let i = 0; i < ROOM; i++) promises.leaveToWorkers(asGate(gate))
  const asked = promises.areStillMany()
  for (let i = 0; i < 10; i++) promises.leaveToWorkers(asGate(gate))
  counted.resolve(ROOM - 5)
  expect(await asked).toBe(true)
})

test('the end of a process waits for what is on its way, and not for ever', async () => {
  const promises = new PendingReservations()
  const outcome = Promise.withResolvers<Outcome>()
  promises.begin(of('late'), outcome.promise)
  const ended = vi.fn()
  const waits = promises.settled().then(ended)
  await vi.advanceTimersByTimeAsync(1_000)
  expect(ended).not.toHaveBeenCalled()
  outcome.resolve({ kind: 'processing', reservation: of('late'), replayed: false })
  await waits
  promises.begin(of('lost'), never)
  promises.settled().then(ended)
  await vi.advanceTimersByTimeAsync(5_000)
  expect(ended).toHaveBeenCalledTimes(2)
})
