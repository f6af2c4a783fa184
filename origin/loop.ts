/** Something done again and again until it is told to stop; stopping waits for the round under way. */
import type { Logger } from 'pino'

/** After failures in a row the pause doubles, up to this (or the usual pause, where that is longer). */
const MAX_PAUSE_MS = 3_000

export interface Actor {
  start(): void
  stop(): Promise<void>
}

export interface Loop extends Actor {
  /** Ends the pause: there is a reason to look now. */
  wake(): void
}

/** Rounds follow each other `everyMs` apart (jittered); a round that answers true wants the next one at once. */
export function loop(
  name: string,
  everyMs: number,
  log: Logger,
  round: () => Promise<boolean | undefined>,
): Loop {
  let running: Promise<void> | undefined
  let stopped = false
  let endPause = () => {}
  const pause = (ms: number) =>
    new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, ms)
      endPause = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  const run = async () => {
    let failures = 0
    while (!stopped) {
      let again: boolean | undefined = false
      try {
        again = await round()
        failures = 0
      } catch (error) {
        failures++
        // An outage is told as it begins, and then ever more rarely.
        if ((failures & (failures - 1)) === 0)
          log.warn({ actor: name, failures, error: String(error) }, 'a round failed')
      }
      if (stopped || (again && failures === 0)) continue
      await pause(
        Math.max(everyMs, Math.min(MAX_PAUSE_MS, everyMs * 2 ** failures)) * (0.75 + Math.random() / 2),
      )
    }
  }
  return {
    start() {
      running = run()
    },
    async stop() {
      stopped = true
      endPause()
      await running
    },
    wake: () => endPause(),
  }
}
