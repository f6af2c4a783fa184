/** Waits for states, and stops clocks or makes them slow. */
import { onTestFinished, vi } from 'vitest'

/** The limit has the same purpose as in test/run/patience.ts: it ends a test that hangs, and judges no speed. */
export const WITHIN_MS = 20_000 * __PATIENCE__

/** Returns the first result of `look` that is not false. Unlike `vi.waitUntil` it does not move a stopped clock. */
export async function eventually<T>(look: () => Promise<T | false>): Promise<T> {
  for (const began = performance.now(); performance.now() - began < WITHIN_MS; await scheduler.wait(20)) {
    const found = await look()
    if (found !== false) return found
  }
  throw new Error(`not within ${WITHIN_MS} ms: ${look}`)
}

/**
 * Stops the clock until the end of the test, so that all calls are at one moment. `vi.setSystemTime` moves it
 * forward.
 */
export function stopClock(): void {
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
}

/** The factor by which everything takes longer on a slow clock. */
const SLOWER = 8

/**
 * Makes the clock and the timers slow until the end of the test, so that even a busy machine keeps the times that the
 * Worker sets itself. It must be called before a sale is published. The clock is also an hour ahead, because an alarm
 * rings by the real clock.
 */
export function slowClock(): void {
  const realNow = Date.now
  const began = realNow()
  const now = () => Math.floor(began + 3_600_000 + (realNow() - began) / SLOWER)
  const mock = vi.spyOn(Date, 'now').mockImplementation(now)
  onTestFinished(() => mock.mockRestore())
  slowTimers()
}

/** Makes only the timers slow until the end of the test, for a test that moves the clock itself. */
export function slowTimers(): void {
  const realTimer = setTimeout
  const slow = (act: () => void, ms = 0) => realTimer(act, SLOWER * ms)
  const mock = vi.spyOn(globalThis, 'setTimeout').mockImplementation(slow as typeof setTimeout)
  onTestFinished(() => mock.mockRestore())
}
