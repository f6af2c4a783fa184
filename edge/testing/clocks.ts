/** Waiting, and clocks that stand still or run slowly. */
import { onTestFinished, vi } from 'vitest'

/** As in test/run/patience.ts: it ends a test that hangs, and judges no speed. */
export const WITHIN_MS = 20_000 * __PATIENCE__

/** The first result of `look` that is not false. Unlike `vi.waitUntil` it leaves a stopped clock alone. */
export async function eventually<T>(look: () => Promise<T | false>): Promise<T> {
  for (const began = performance.now(); performance.now() - began < WITHIN_MS; await scheduler.wait(20)) {
    const found = await look()
    if (found !== false) return found
  }
  throw new Error(`not within ${WITHIN_MS} ms: ${look}`)
}

/**
 * Stops the clock up to the end of the test: however long the calls take, they are of one moment. `vi.setSystemTime` puts it
 * forward.
 */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** How many times as long everything takes on a slow clock. */
const SLOWER = 8

/**
 * Up to the end of the test the clock and the timers run slowly, so that the busiest machine keeps the times that the Worker
 * sets itself; before a sale is published. They are an hour ahead, too, since an alarm rings by the real clock.
 */
export function slowClock(): void {
  const realNow = Date.now
  const began = realNow()
  const now = () => Math.floor(began + 3_600_000 + (realNow() - began) / SLOWER)
  const mock = vi.spyOn(Date, 'now').mockImplementation(now)
  onTestFinished(() => mock.mockRestore())
  slowTimers()
}

/** Up to the end of the test the timers alone run slowly: for a test that moves the clock itself. */
export function slowTimers(): void {
  const realTimer = setTimeout
  const slow = (act: () => void, ms = 0) => realTimer(act, SLOWER * ms)
  const mock = vi.spyOn(globalThis, 'setTimeout').mockImplementation(slow as typeof setTimeout)
  onTestFinished(() => mock.mockRestore())
}
