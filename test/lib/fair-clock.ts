/**
 * A clock that stands still while this process gets no processor: a machine that is busy with other tests must not use
 * up the time that a product gives its stores. On an idle one it goes as every clock does.
 */
import { machine, type Runtime } from '../../origin/lib/runtime.ts'

/** A turn of the clock, and the most that it goes on in one. */
const [TICK_MS, MOST_MS] = [5, 20]

interface Timer {
  readonly dueMs: number
  readonly work: () => void
}

/** The machine's runtime with such a clock, until the process ends. */
export function fairRuntime(): Runtime {
  const timers = new Set<Timer>()
  let [nowMs, tickedMs] = [0, performance.now()]
  const tick = () => {
    const realMs = performance.now()
    nowMs += Math.min(MOST_MS, realMs - tickedMs)
    tickedMs = realMs
    for (const timer of timers) {
      if (timer.dueMs > nowMs) continue
      timers.delete(timer)
      timer.work()
    }
  }
  setInterval(tick, TICK_MS).unref()
  return {
    ...machine,
    monotonicMs: () => nowMs,
    after(ms, work) {
      const timer = { dueMs: nowMs + ms, work }
      timers.add(timer)
      return () => void timers.delete(timer)
    },
  }
}
