/**
 * A pool that hands out the connection used last, for a statement that is sent again and again: its server process has
 * everything cached. The driver's own pool hands out the connection idle for longest, which made recording a tenth slower.
 */
import type { Sql } from './connection.ts'

/** More concurrent statements use the driver's pool. */
const MAX_CONNECTIONS = 4

export class WarmConnections {
  readonly #pool: Sql
  readonly #connect: () => Sql
  readonly #all = new Set<Sql>()
  readonly #idle: Sql[] = []

  /** `connect` makes a pool of one connection. */
  constructor(pool: Sql, connect: () => Sql) {
    this.#pool = pool
    this.#connect = connect
  }

  async use<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    if (this.#idle.length === 0 && this.#all.size === MAX_CONNECTIONS) return work(this.#pool)
    const sql = this.#idle.pop() ?? this.#connect()
    this.#all.add(sql)
    try {
      return await work(sql)
    } finally {
      this.#idle.push(sql)
    }
  }

  async end(): Promise<void> {
    await Promise.all([...this.#all].map((sql) => sql.end({ timeout: 2 })))
  }
}
