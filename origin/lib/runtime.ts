/**
 * What decides beside the stores and the network: time, timers, chance and ids. They are given in where the program
 * is composed, so that whoever composes it, a test for instance, may decide them.
 */
import { randomUUIDv7 } from 'node:crypto'

export interface Runtime {
  /** Milliseconds since the epoch, by this machine's clock, which may be wrong. */
  nowMs(): number
  /** Milliseconds on a clock that never goes back. */
  monotonicMs(): number
  /** Calls `work` once, later. Returns a function that cancels it. */
  after(ms: number, work: () => void): () => void
  /** Calls `work` at the end of this turn of the event loop. */
  soon(work: () => void): void
  /** A number in [0, 1). */
  random(): number
  /** A new id; those of later moments sort behind. */
  uuid(): string
}

/** Takes all of these from the machine. */
export const machine: Runtime = {
  nowMs: () => Date.now(),
  monotonicMs: () => performance.now(),
  after(ms, work) {
    const timer = setTimeout(work, ms)
    return () => clearTimeout(timer)
  },
  soon(work) {
    setImmediate(work)
  },
  random: () => Math.random(),
  uuid: () => randomUUIDv7(),
}

export const sleep = (runtime: Runtime, ms: number): Promise<void> =>
  new Promise((resolve) => void runtime.after(ms, resolve))
