/**
 * Connections of which the one used last is used next, for a statement that is sent again and again: its server process
 * has all it needs at hand. A pool gives out the connection that was idle for longest, so that each statement finds
 * another process, which has forgotten what it needs since its last turn: recording orders took a tenth longer so.
 */
import type { Sql } from './connection.ts'

/** Statements at once that find a connection here; others take the pool's. */
const MAX_CONNECTIONS = 4

export class WarmConnections {
  readonly #pool: Sql
  readonly #connect: () => Sql
  readonly #all: Sql[] = []
  readonly #idle: Sql[] = []

  /** `connect` makes a pool of one connection. */
  constructor(pool: Sql, connect: () => Sql) {
    this.#pool = pool
    this.#connect = connect
  }

  async use<T>(work: (sql: Sql) => Promise<T>): Promise<T> {
    const sql = this.#idle.pop() ?? this.#another()
    if (!sql) return work(this.#pool)
    try {
      return await work(sql)
    } finally {
      this.#idle.push(sql)
    }
  }

  #another(): Sql | undefined {
    if (this.#all.length === MAX_CONNECTIONS) return undefined
    const sql = this.#connect()
    this.#all.push(sql)
    return sql
  }

  async end(): Promise<void> {
    await Promise.all(this.#all.map((sql) => sql.end({ timeout: 2 })))
  }
}
