/**
 * A pool that hands out the connection used last, for a statement that is sent again and again: its server process
 * has everything cached. The driver's own pool hands out the connection idle for longest, which made recording a
 * tenth slower.
 */
import { machine, type Runtime } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { mayHaveCommitted, type PoolLoad, type Sql, Unheard } from './connection.ts'

/** The warm connections of the process. If all are busy, further statements use the driver's pool. */
const MAX_CONNECTIONS = 4
/**
 * A statement without an answer after this time runs again on another connection, because the network may have
 * dropped the first.
 */
const AGAIN_AFTER_MS = 1_000

type Work<Result> = (sql: Sql) => Promise<Result>

/** What is done where an answer is late. It must be right if the first work is done before it, after it or never. */
interface Again<Result> {
  readonly work: Work<Result>
  /** True if a second attempt cannot change the result of the first. */
  readonly isFinal: (result: Result) => boolean
}

export class WarmConnections {
  readonly #pool: Sql
  readonly #connect: () => Sql
  readonly #runtime: Runtime
  readonly #all = new Set<Sql>()
  readonly #idle: Sql[] = []

  /** `connect` makes a pool of one connection. */
  constructor(pool: Sql, connect: () => Sql, runtime = machine) {
    this.#pool = pool
    this.#connect = connect
    this.#runtime = runtime
  }

  /**
   * Does the work on one connection, and, where it is late and `again` is given, that on another one. From then on
   * the first answer counts only if it is final; if not, the second one does, since the first work may be done before
   * it, after it or never. A connection that is still silent when the other one has answered is closed. Fails with
   * Unheard where the first work may be done all the same.
   */
  async use<Result>(work: Work<Result>, again?: Again<Result>): Promise<Result> {
    const sql = this.#take()
    const result = work(sql)
    let isSilent = true
    let mayBeDone = true
    const heard = result.then(
      () => {},
      (error) => {
        mayBeDone = mayHaveCommitted(error)
      },
    )
    void heard.then(() => {
      isSilent = false
      if (this.#all.has(sql)) this.#idle.push(sql)
    })
    if (!again) return result
    const isLate = await withTimeout(
      heard.then(() => false),
      AGAIN_AFTER_MS,
      this.#runtime,
      () => true,
    )
    if (!isLate) return result
    const second = this.use(again.work)
      .catch((error) => {
        throw mayBeDone ? new Unheard(error) : error
      })
      .finally(() => {
        if (isSilent && this.#all.delete(sql)) void sql.end({ timeout: 0 })
      })
    const first = result.then(
      (one) => (again.isFinal(one) ? one : second),
      () => second,
    )
    return Promise.race([first, second])
  }

  /** The connection that was used last, or another one. */
  #take(): Sql {
    if (this.#idle.length === 0 && this.#all.size === MAX_CONNECTIONS) return this.#pool
    const sql = this.#idle.pop() ?? this.#connect()
    this.#all.add(sql)
    return sql
  }

  /** No statement waits here: one that finds all of them busy goes to the driver's pool. */
  load(): PoolLoad {
    return { used: this.#all.size - this.#idle.length, waiting: 0, max: MAX_CONNECTIONS }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all].map((sql) => sql.end({ timeout: 2 })))
  }
}
