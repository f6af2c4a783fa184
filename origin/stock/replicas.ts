/**
 * Tells whether a replica of Redis has received what was written. WAIT blocks its connection, so it has a connection
 * of its own, which is opened at the first use. A write there comes after everything that Redis has executed before,
 * and replicas apply writes in that order.
 */
import type { ChainableCommander, Cluster, Redis } from 'ioredis'
import { assertExists } from '../../shared/lib/assert.ts'
import { anotherConnection, reopen } from '../lib/redis/redis.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Store } from './scripts.ts'

/** A replica that follows acknowledges within a round trip. */
const ACKNOWLEDGE_TIMEOUT_MS = 300
/** For one pipeline, with a connection to be made first. */
const TIMEOUT_MS = 1_000
/** How long a mark stays. Nobody reads it. */
const MARK_MS = 1_000

const REPLIED = 'A pipeline has a reply to each command.'

export class Replicas {
  readonly #redis: Redis | Cluster
  readonly #runtime: Runtime
  #own: Redis | Cluster | undefined

  constructor(redis: Store, runtime = machine) {
    this.#redis = redis
    this.#runtime = runtime
  }

  /**
   * Resolves to a connection for further reads once a replica has all that was written before to the node of this
   * key, or if the node has no replica. Fails if the replicas do not acknowledge in time.
   */
  async caughtUp(markKey: string): Promise<Redis | Cluster> {
    if (this.#redis.status !== 'ready') throw new Error('Redis is away')
    // Commands wait for the connection, within their timeout.
    this.#own ??= anotherConnection(this.#redis)
    const redis = this.#own
    if ((await this.#hasReplica(redis, markKey)) && !(await this.#hasAcknowledged(redis, markKey)))
      throw new Error('no replica has acknowledged')
    return redis
  }

  /**
   * A replica that still connects or makes its first copy does not count. Some hosted Redis forbid INFO: then no
   * replica is known. Fails if the server itself has become a replica, which may not have what the master has.
   */
  async #hasReplica(redis: Redis | Cluster, key: string): Promise<boolean> {
    // In a Cluster the key says which node is asked.
    const [, info] = await this.#replies(redis.pipeline().exists(key).info('replication'))
    if (/^role:slave/m.test(String(info))) {
      reopen(redis)
      throw new Error('the server of this connection is a replica by now')
    }
    return /^slave\d+:.*state=online/m.test(String(info))
  }

  async #hasAcknowledged(redis: Redis | Cluster, key: string): Promise<boolean> {
    const [marked, acknowledged] = await this.#replies(
      redis.pipeline().set(key, '', 'PX', MARK_MS).wait(1, ACKNOWLEDGE_TIMEOUT_MS),
    )
    return marked === 'OK' && Number(acknowledged) >= 1
  }

  /** The replies of one connection to commands of one pipeline; null for those that it refused. */
  async #replies(pipeline: ChainableCommander): Promise<unknown[]> {
    const results = assertExists(await withTimeout(pipeline.exec(), TIMEOUT_MS, this.#runtime), REPLIED)
    const [error] = assertExists(results[0], REPLIED)
    if (error) throw error
    return results.map(([error, reply]) => (error ? null : reply))
  }
}
