/**
 * Which orders have changed, from process to process: whoever has committed a change publishes it through Redis, many
 * in one message. A message may be lost, with its process or with Redis: those who need each change also read the
 * ledger.
 */
import type { Cluster, Redis } from 'ioredis'
import type { Logger } from 'pino'
import { Batcher } from '../lib/batcher.ts'
import { listen } from '../lib/redis/redis.ts'
import { machine } from '../lib/runtime.ts'

const CHANNEL = 'order_changes'
/**
 * Changes in one message, each of up to a few hundred orders; the pause between two; and changes that wait for Redis:
 * more are not published.
 */
const PUBLISH = { size: 100, queue: 10_000, pauseMs: 20 }

type Listener = (orderIds: readonly string[]) => void

export class OrderChanges {
  readonly #redis: Redis | Cluster
  readonly #log: Logger
  readonly #publishing: Batcher<readonly string[], void>
  readonly #listeners = new Set<Listener>()

  constructor(redis: Redis | Cluster, log: Logger, runtime = machine) {
    this.#redis = redis
    this.#log = log
    const publish = async (changes: readonly (readonly string[])[]) => {
      await this.#redis.publish(CHANNEL, changes.flat().join())
    }
    this.#publishing = new Batcher(PUBLISH, publish, runtime)
  }

  /** Runs after the commit, and the caller does not wait for it. */
  publish(orderIds: readonly string[]): void {
    if (orderIds.length === 0) return
    this.#publishing
      .add(orderIds)
      .catch((error) => this.#log.debug({ error: String(error) }, 'changes of orders not published'))
  }

  /** Calls `listener` with the orders of each message; returns a function that ends it. */
  onChange(listener: Listener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Listens on a connection of its own; returns a function that ends it. */
  start(): () => void {
    const hear = (message: string) => {
      const orderIds = message.split(',')
      for (const listener of this.#listeners) listener(orderIds)
    }
    const failed = (error: unknown) =>
      this.#log.warn({ error: String(error) }, 'changes of orders are read from the ledger alone')
    return listen(this.#redis, CHANNEL, hear, failed)
  }
}
