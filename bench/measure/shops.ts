/**
 * Servers that sell as the origin does, on the same stores with their own tables: the alternatives and the sketch.
 */
import { Redis } from 'ioredis'
import postgres from 'postgres'
import type { Server } from '../../dev/lib/processes.ts'
import { closedLoop, type Measured } from './load.ts'
import { checkoutsOf, PLENTY, type Stage, startRival, storesOf, tokensFor } from './stage.ts'

export type Mode =
  | ('for-update' | 'conditional' | 'skip-locked' | 'redis-insert' | 'sketch')
  | ('seats-for-update' | 'seats-skip-locked')

export const SKETCH = 'a sketch that keeps no promise'
/** Rows of units and seats are made in advance, more than any run sells. */
const UNITS_PER_SECOND = 9_000
const PAIRS_PER_SECOND = 12_000

let sales = 0

export class Shops {
  readonly sql: postgres.Sql
  readonly #stage: Stage
  readonly #redis: Redis
  readonly #servers = new Map<Mode, Server>()

  constructor(stage: Stage) {
    this.#stage = stage
    this.sql = postgres(stage.system.databaseUrl, { max: 2, onnotice: () => {} })
    this.#redis = new Redis(stage.system.redisUrl)
  }

  async open(modes: readonly Mode[]): Promise<this> {
    await this.#prepare()
    for (const mode of modes)
      this.#servers.set(mode, await startRival(this.#stage, mode === 'sketch' ? 'sketch' : 'alternative', mode))
    return this
  }

  async #prepare(): Promise<void> {
    const [durability] = await this.sql<{ fsync: string; commit: string }[]>`
      select current_setting('fsync') as fsync, current_setting('synchronous_commit') as commit`
    if (durability?.fsync !== 'on' || durability.commit !== 'on')
      throw new Error('Postgres runs without fsync or synchronous_commit: that would be no comparison.')
    await this.sql.unsafe(`
      drop schema if exists bench cascade;
      create schema bench;
      create table bench.stock (sale text primary key, available int not null check (available >= 0));
      create table bench.units (sale text not null, unit int not null, order_id uuid, primary key (sale, unit));
      create index free_units on bench.units (sale, unit) where order_id is null;
      create table bench.seats (sale text not null, seat int not null, order_id uuid, primary key (sale, seat));
      create index free_seats on bench.seats (sale, seat) where order_id is null;
      create table bench.orders (
        order_id uuid primary key, sale text not null, visitor text not null, idempotency_key text not null,
        status text not null default 'reserved', created_at timestamptz not null default clock_timestamp(),
        unique (sale, visitor, idempotency_key))`)
  }

  /** Runs checkouts by this many concurrent buyers on a separate sale. Each sends the body that `bodyOf` returns. */
  async checkouts(
    mode: Mode,
    seconds: number,
    buyers: number,
    bodyOf?: (turn: number) => string | null,
  ): Promise<Measured> {
    const { url = '', pid = 0 } = this.#servers.get(mode) ?? {}
    const sale = `shop-${++sales}`
    if (mode === 'skip-locked') {
      const units = Math.ceil(seconds * UNITS_PER_SECOND)
      await this.sql`insert into bench.units (sale, unit) select ${sale}, n from generate_series(1, ${units}::int) n`
      await this.sql`vacuum analyze bench.units`
    } else if (mode.startsWith('seats-')) {
      const seats = 2 * Math.ceil(seconds * PAIRS_PER_SECOND)
      await this
        .sql`insert into bench.seats (sale, seat) select ${sale}, n from generate_series(0, ${seats - 1}::int) n`
      await this.sql`vacuum analyze bench.seats`
    } else {
      await this.#redis.set(`bench:${sale}:stock`, PLENTY)
      await this.sql`insert into bench.stock (sale, available) values (${sale}, ${PLENTY})`
    }
    const next = checkoutsOf(this.#stage, sale, tokensFor(this.#stage, sale, seconds, { buyers }), bodyOf)
    const pids = [pid, ...storesOf(this.#stage)]
    const measured = await closedLoop({ url, pids, seconds, next, right: 201 }, buyers)
    // The data of one measurement are removed before the next one starts.
    await this.sql`truncate bench.units, bench.seats, bench.orders, bench.stock`
    await this.#redis.unlink(`bench:${sale}:stock`, `bench:${sale}:seen`)
    return measured
  }

  async close(): Promise<void> {
    for (const server of this.#servers.values()) await server.stop()
    await this.sql`drop schema if exists bench cascade`.catch(() => {})
    await this.sql.end({ timeout: 2 })
    this.#redis.disconnect()
  }
}
