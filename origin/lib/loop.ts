/**
 * Something done again and again until it is told to stop; stopping waits for the round under way. And what many rounds
 * are: something done for every product.
 */
import type { Logger } from 'pino'
import type { Metrics } from './metrics.ts'
import { Alarm } from './signal.ts'
import { withTimeout } from './with-timeout.ts'

/** After failures in a row the pause doubles, up to this (or the usual pause, where that is longer). */
const MAX_PAUSE_MS = 3_000

export interface Actor {
  start(): void
  stop(): Promise<void>
}

/** What goes on is told as it begins, and then ever more rarely: the first time, the second, the fourth. */
export const isTold = (times: number) => (times & (times - 1)) === 0

interface Loop extends Actor {
  /** There is a reason to look now: ends the pause, or in the middle of a round the one that would follow. */
  wake(): void
}

/** Rounds follow each other `everyMs` apart (jittered); a round that answers true wants the next one at once. */
export function loop(
  name: string,
  everyMs: number,
  { log, metrics }: { readonly log: Logger; readonly metrics: Metrics },
  round: () => Promise<unknown>,
): Loop {
  let running: Promise<void> | undefined
  let stopped = false
  const alarm = new Alarm()
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
        if (isTold(failures)) log.warn({ actor: name, failures, error: String(error) }, 'a round failed')
      }
      if (stopped || again) continue
      await alarm.rings(
        Math.max(everyMs, Math.min(MAX_PAUSE_MS, everyMs * 2 ** failures)) * (0.75 + Math.random() / 2),
      )
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
      alarm.ring()
      await running
    },
    wake: alarm.ring,
  }
}

/**
 * Products worked on at once in one round, and gates rebuilt at once in one process, of which a round begins no more than
 * there may be. Each rebuild keeps a connection for its lock and works with others of the same pool: as many as there are
 * connections would wait for each other for ever.
 */
const SIDE_BY_SIDE = 3
/** A round waits so long for one product; what takes longer goes on beside it, and is not begun again meanwhile. */
const WITHIN_MS = 2_000

/** One of a sale's products, and what an actor needs to know of it. */
interface Product {
  readonly sale: string
  readonly product: string
}

/** What one origin has under way for its products. */
export class ProductWork {
  readonly #underWay = new Set<string>()
  #rebuilds = 0

  /** Works on every product. One that fails or hangs holds up no other; that some did is thrown at the end. */
  async each<P extends Product>(
    actor: string,
    products: readonly P[],
    work: (product: P) => Promise<unknown>,
    withinMs = WITHIN_MS,
  ): Promise<void> {
    const failed: string[] = []
    const waiting = products.values()
    const lane = async () => {
      for (const one of waiting) {
        const name = `${one.sale}:${one.product}`
        await this.#once(`${actor} ${name}`, () => work(one), withinMs).catch((error) =>
          failed.push(`${name}: ${error}`),
        )
      }
    }
    await Promise.all(Array.from({ length: SIDE_BY_SIDE }, lane))
    if (failed.length > 0) throw new Error(`${failed.length} of ${products.length} products; ${failed[0]}`)
  }

  async #once(name: string, work: () => Promise<unknown>, withinMs: number): Promise<void> {
    if (this.#underWay.has(name)) throw new Error('still under way')
    this.#underWay.add(name)
    await withTimeout(
      work().finally(() => this.#underWay.delete(name)),
      withinMs,
    )
  }

  /** Rebuilds a gate, if there is room for another rebuild. */
  async rebuild<Done>(work: () => Promise<Done>): Promise<Done | 'busy'> {
    if (this.#rebuilds >= SIDE_BY_SIDE) return 'busy'
    this.#rebuilds++
    try {
      return await work()
    } finally {
      this.#rebuilds--
    }
  }
}
