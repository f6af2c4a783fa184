import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { reservationOf } from '../test/origin.ts'
import type { Gate } from './gate/gate.ts'
import type { Outcome } from './outcome.ts'
import { Promises } from './promises.ts'

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
const gateWith = (waiting: () => Promise<number>) => ({ waiting: vi.fn(waiting) })
const asGate = (gate: object) => gate as Gate

test('no more is promised than there is room for, until workers have kept some of it', async () => {
  const promises = new Promises()
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
  const promises = new Promises()
  const gate = gateWith(() => Promise.reject(new Error('Redis is away')))
  for (let i = 0; i < ROOM; i++) promises.leaveToWorkers(asGate(gate))
  const asked = await Promise.all(Array.from({ length: 5 }, () => promises.areStillMany()))
  expect(asked).toEqual(Array(5).fill(true))
  expect(await promises.areStillMany()).toBe(true)
  expect(gate.waiting).toHaveBeenCalledTimes(1)
  vi.advanceTimersByTime(1_000)
  expect(await promises.areStillMany()).toBe(true)
  expect(gate.waiting).toHaveBeenCalledTimes(2)
})

test('who was told "processing" is remembered until the ledger has spoken, and nobody is told it after that', () => {
  const promises = new Promises()
  promises.begin(of('late'), never)
  promises.begin(of('soon'), never)
  expect(promises.tell('late')).toBe(true)
  expect(promises.reservationOf('late')).toEqual(of('late'))
  expect([promises.end('late'), promises.end('soon')]).toEqual([true, false])
  expect(promises.tell('late')).toBe(false)
  expect([promises.outcomeOf('late'), promises.reservationOf('late')]).toEqual([undefined, undefined])
  expect(promises.end('late')).toBe(false)
})
