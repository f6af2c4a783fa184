/** A background actor: one round after the other until it is stopped, which waits for the round in progress. */
import type { Logger } from 'pino'
import type { Counter, Gauge } from 'prom-client'
import { machine, type Runtime, sleep } from './runtime.ts'
import { Signal } from './signal.ts'
import { withTimeout } from './with-timeout.ts'

/** After consecutive failures the pause doubles, up to this (or the usual pause, where that is longer). */
const MAX_PAUSE_MS = 3_000

export interface Actor {
  start(): void
  stop(): Promise<void>
}

/** Limits repeated log lines: true for the 1st, 2nd, 4th, 8th time. */
export const shouldLog = (times: number) => (times & (times - 1)) === 0

export interface LoopDeps {
  /** Left out: the machine's. */
  readonly runtime?: Runtime
  readonly log: Logger
  /** The metrics by the actor's name: the end of its last successful round, and the number of failed rounds. */
  readonly metrics: {
    readonly actorSuccess: Pick<Gauge<'actor'>, 'setToCurrentTime'>
    readonly actorFailures: Pick<Counter<'actor'>, 'inc'>
  }
}

export interface Loop extends Actor {
  /** Ends the pause; during a round, skips the pause after it. */
  wake(): void
}

/**
 * Runs rounds `everyMs` apart (jittered). A round that returns true is followed by the next one at once. However
 * often it is woken, `restMs` pass between two: what comes meanwhile is for one round.
 */
export function loop(
  name: string,
  everyMs: number,
  { runtime = machine, log, metrics }: LoopDeps,
  round: () => Promise<unknown>,
  restMs = 0,
): Loop {
  let running: Promise<void> | undefined
  let stopped = false
  const signal = new Signal(runtime)
  const run = async () => {
    let failures = 0
    while (!stopped) {
      let again = false
      try {
        again = (await round()) === true
        failures = 0
        metrics.actorSuccess.setToCurrentTime({ actor: name })
      } catch (error) {
        failures++
        metrics.actorFailures.inc({ actor: name })
        if (shouldLog(failures)) log.warn({ actor: name, failures, error: String(error) }, 'round failed')
      }
      if (restMs > 0 && !stopped) await sleep(runtime, restMs)
      if (stopped || again) continue
      const pauseMs = Math.max(everyMs, Math.min(MAX_PAUSE_MS, everyMs * 2 ** failures))
      await signal.wait(pauseMs * (0.75 + runtime.random() / 2))
    }
  }
  return {
    start() {
      metrics.actorSuccess.setToCurrentTime({ actor: name })
      metrics.actorFailures.inc({ actor: name }, 0)
      running = run()
    },
    async stop() {
      stopped = true
      signal.notify()
      await running
    },
    wake: signal.notify,
  }
}

/**
 * A loop that writes what was gathered since its last round. Once stopped it writes the rest, within a bound, because
 * a store may be away.
 */
export function writingLoop(
  name: string,
  everyMs: number,
  deps: LoopDeps,
  write: () => Promise<unknown>,
  lastWithinMs = 1_000,
): Loop {
  const writing = loop(name, everyMs, deps, write)
  return {
    ...writing,
    async stop() {
      await writing.stop()
      await withTimeout(write(), lastWithinMs).catch(() => {})
    },
  }
}
