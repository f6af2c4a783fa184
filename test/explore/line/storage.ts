/**
 * The storage of a Durable Object, with a real SQLite: writes take effect at once for the instance that makes them, and
 * count only once they are confirmed. Those of one turn are confirmed together, in order. A new instance begins with
 * what was confirmed.
 */
import { DatabaseSync, type SQLInputValue } from 'node:sqlite'

export type Write =
  | { readonly sql: string; readonly values: readonly SQLInputValue[] }
  | { readonly key: string; readonly value: unknown }
  | { readonly alarmMs: number }

/** What is confirmed of one object, in the order in which it was written. */
export class Disk {
  readonly #writes: Write[] = []
  alarmMs: number | null = null
  readonly #onConfirmed: (write: Write) => void

  constructor(onConfirmed: (write: Write) => void) {
    this.#onConfirmed = onConfirmed
  }

  confirm(batch: readonly Write[]): void {
    this.#writes.push(...batch)
    for (const write of batch) {
      if ('alarmMs' in write) this.alarmMs = write.alarmMs
      this.#onConfirmed(write)
    }
  }

  /** What an instance that starts now finds under each key, and the writes of its database. */
  load(): { readonly values: Map<string, unknown>; readonly writes: readonly Write[] } {
    const values = new Map<string, unknown>()
    for (const write of this.#writes) if ('key' in write) values.set(write.key, write.value)
    return { values, writes: [...this.#writes] }
  }
}

const CHANGES = /^\s*(insert|update|delete|create)/i

function run(database: DatabaseSync, sql: string, values: readonly SQLInputValue[]): Record<string, unknown>[] {
  // `prepare` takes the first statement alone.
  if (sql.includes(';')) database.exec(sql)
  else return database.prepare(sql).all(...values)
  return []
}

/** The storage as one instance sees it. */
export class Storage {
  #database: DatabaseSync | null = null
  readonly #found: readonly Write[]
  readonly #values: Map<string, unknown>
  /** Resolves once the platform has confirmed a batch of writes. It never does in an instance that ends before. */
  readonly #confirm: () => Promise<void>
  readonly #disk: Disk
  #alarmMs: number | null
  readonly #batch: Write[] = []
  /** Resolves once all writes so far are confirmed. */
  #confirmed: Promise<void> = Promise.resolve()

  constructor(disk: Disk, confirm: () => Promise<void>) {
    const { values, writes } = disk.load()
    this.#found = writes
    this.#values = values
    this.#alarmMs = disk.alarmMs
    this.#confirm = confirm
    this.#disk = disk
  }

  /** The output gate: nothing leaves the object before this. */
  confirmed(): Promise<void> {
    return this.#confirmed
  }

  close(): void {
    this.#database?.close()
  }

  /** Opened at the first statement: the waiting room has none. */
  get #open(): DatabaseSync {
    if (this.#database) return this.#database
    this.#database = new DatabaseSync(':memory:')
    for (const write of this.#found) if ('sql' in write) run(this.#database, write.sql, write.values)
    return this.#database
  }

  #write(write: Write): void {
    this.#batch.push(write)
    if (this.#batch.length > 1) return
    // The turn ends when the event loop has nothing left to do for it.
    const turnEnds = new Promise<Write[]>((resolve) => void setImmediate(() => resolve(this.#batch.splice(0))))
    this.#confirmed = Promise.all([turnEnds, this.#confirmed]).then(async ([batch]) => {
      await this.#confirm()
      this.#disk.confirm(batch)
    })
  }

  /** What the platform calls when an alarm rings. */
  alarmRings(): void {
    this.#alarmMs = null
  }

  readonly kv = {
    get: (key: string) => structuredClone(this.#values.get(key)),
    put: (key: string, value: unknown) => {
      const stored = structuredClone(value)
      this.#values.set(key, stored)
      this.#write({ key, value: stored })
    },
  }

  readonly sql = {
    exec: (sql: string, ...values: SQLInputValue[]) => {
      const rows = run(this.#open, sql, values)
      if (CHANGES.test(sql)) this.#write({ sql, values })
      return { toArray: () => rows, one: () => rows[0] }
    },
  }

  async sync(): Promise<void> {
    await this.#confirmed
  }

  async getAlarm(): Promise<number | null> {
    return this.#alarmMs
  }

  async setAlarm(alarmMs: number): Promise<void> {
    this.#alarmMs = alarmMs
    this.#write({ alarmMs })
  }
}
