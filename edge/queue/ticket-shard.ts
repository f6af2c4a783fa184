/**
 * A ticket shard: hands out ticket numbers to its share of the visitors, from blocks that the waiting room leases to
 * it, and hands on what the waiting room tells, so that neither ever meets the crowd.
 *
 * Visitors who are known (signed in, or by their cookie) are recorded in storage before they are answered: whoever joins
 * twice has the same number. They join in batches: who comes while the batch before is being written is written together
 * with the others who do, since a write costs five times as much as all else about a join, and as much for one as for
 * fifty. A number needs no record to be unique: its block was leased to this instance alone, and a new instance begins
 * with a new block. What a visitor paid with for a number is recorded with them, and beside them once they paid again.
 */
import { DurableObject } from 'cloudflare:workers'
import { GOOD_FOR_SECONDS } from '../auth/proof-of-work.ts'
import type { Env } from '../config.ts'
import { Block, Demand, LEASE_MS, MAX_LEASE } from './lease.ts'
import {
  type Joined,
  type JoinRequest,
  type Leased,
  type LeaseRequest,
  type LookRequest,
  type RestRequest,
  roomOf,
  type ShardCalls,
} from './rpc.ts'
import { MIRROR_MS, type Told } from './timeline.ts'

/** Leases asked for on behalf of one caller before it is told to try again. */
const MAX_LEASES_PER_CALL = 5
/** Known visitors waiting for the next batch, some seconds' worth; more are told to try again. */
const MAX_COMING = 10_000

/** How long a payment is remembered that may still be good somewhere: a minute for clocks that differ. */
const SPENT_MS = (GOOD_FOR_SECONDS + 60) * 1000
/** Most of them remembered, besides each visitor's last; whoever pays once more then is told to try again. */
export const MAX_SPENT = 100_000

/** How long after the end of its lease an isolate's rest may still be on its way to this shard. */
const RETURN_MS = 75

const TRY_AGAIN: Joined = { joined: false, reason: 'try-again' }
const CLOSED: Joined = { joined: false, reason: 'closed' }

/** What became of those who joined together; an error is thrown to whom it belongs. */
type Batch = (Joined | Error | null)[]

type VisitorRow = { number: number; present: number; paid_with: string | null }

export class TicketShard extends DurableObject<Env> implements ShardCalls {
  #block: Block | null = null
  #leasing: Promise<'leased' | 'closed'> | null = null
  /** Numbers that callers wait for at this moment. */
  #wanted = 0
  /** Who joins in the next batch, that batch, and the end of the one before. */
  #coming: JoinRequest[] = []
  #batch: Promise<Batch> | null = null
  #batchBefore: Promise<unknown> = Promise.resolve()
  readonly #demand = new Demand(LEASE_MS)
  /** True once there is a record of visitors: an object that was only asked for a sale that is none leaves nothing behind. */
  #recorded = false
  #told: { readonly at: Told; readonly askedAtMs: number } | null = null
  #asking: Promise<void> | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    const tables = ctx.storage.sql.exec("select 1 from sqlite_master where name = 'visitors'")
    // Begun by a neighbouring version, it may lack a table.
    if (tables.toArray().length > 0) this.#beginRecord()
  }

  /** A known visitor joins: 'first' if the number is new. */
  async join(request: JoinRequest): Promise<Joined> {
    if (this.#coming.length >= MAX_COMING) return TRY_AGAIN
    const place = this.#coming.push(request) - 1
    if (!this.#batch) {
      this.#batch = this.#batchBefore.then(() => this.#joinBatch())
      this.#batchBefore = this.#batch.then(() => this.ctx.storage.sync()).catch(() => {})
    }
    const batch = await this.#batch
    const joined = batch[place] ?? TRY_AGAIN
    if (joined instanceof Error) throw joined
    return joined
  }

  /** A visitor leaves; if they come back, it is at the end. */
  async leave(request: { visitor: string }): Promise<void> {
    if (this.#recorded)
      this.ctx.storage.sql.exec('update visitors set present = 0 where visitor = ?', request.visitor)
  }

  /** Leases up to `count` numbers on to an isolate of the Worker, for visitors nobody knows. */
  async take(request: LeaseRequest): Promise<Leased> {
    const count = Math.max(1, Math.min(MAX_LEASE, Math.floor(request.count)))
    if (request.rest) this.#block?.takeBack(request.rest)
    for (let leases = 0; ; leases++) {
      const nowMs = Date.now()
      if (leases === 0) this.#demand.add(count, nowMs)
      const lease = this.#block?.sublease(count, nowMs)
      if (lease) return { granted: true, lease }
      if (leases === MAX_LEASES_PER_CALL || (await this.#lease(request.sale, count)) === 'closed')
        return { granted: false }
    }
  }

  /** What an isolate did not use of its lease comes back. */
  async takeBack(request: RestRequest): Promise<void> {
    this.#block?.takeBack(request.rest)
  }

  /** What the waiting room tells, at most MIRROR_MS old; with `newer_than` and `wait_ms`, as the waiting room does. */
  async look(request: LookRequest): Promise<Told> {
    if (request.wait_ms) return roomOf(request.sale, this.env).look(request)
    const ageMs = this.#told ? Date.now() - this.#told.askedAtMs : Number.POSITIVE_INFINITY
    if (ageMs > MIRROR_MS || ageMs < 0) await this.#ask(request.sale)
    if (!this.#told) return { known: false, reason: 'unavailable' }
    const { at, askedAtMs } = this.#told
    if (!at.known) return at
    return { known: true, bulletin: { ...at.bulletin, age_ms: at.bulletin.age_ms + Date.now() - askedAtMs } }
  }

  // -- Numbers -----------------------------------------------------------------------------------------------------

  #find({ visitor, instead_of, paid_with }: JoinRequest): Joined | null {
    if (!this.#recorded) return null
    const [found] = this.ctx.storage.sql
      .exec<VisitorRow>('select number, present, paid_with from visitors where visitor = ?', visitor)
      .toArray()
    if (!found) return null
    if (found.present === 1 && found.number !== instead_of)
      return { joined: true, number: found.number, first: false }
    const spent = paid_with !== undefined && (paid_with === found.paid_with || this.#isSpent(paid_with))
    return spent ? { joined: false, reason: 'paid-already' } : null
  }

  #isSpent(payment: string): boolean {
    return this.ctx.storage.sql.exec('select 1 from spent where payment = ?', payment).toArray().length > 0
  }

  /** Remembers what a visitor paid with before, who pays once more; false if there is too much of it. */
  #keepSpent(visitor: string): boolean {
    if (!this.#recorded) return true
    const { sql } = this.ctx.storage
    const [last] = sql
      .exec('select paid_with from visitors where visitor = ? and paid_with is not null', visitor)
      .toArray()
    if (!last) return true
    const nowMs = Date.now()
    sql.exec('delete from spent where until_ms < ?', nowMs)
    const { many } = sql.exec<{ many: number }>('select count(*) as many from spent').one()
    if (many >= MAX_SPENT) return false
    sql.exec('insert or ignore into spent values (?, ?)', last.paid_with, nowMs + SPENT_MS)
    return true
  }

  /** What becomes of those who join now, in their order; null for who finds no number after all. */
  async #joinBatch(): Promise<Batch> {
    const requests = this.#coming
    this.#coming = []
    this.#batch = null
    const batch: Batch = requests.map(() => null)
    for (let leases = 0; ; leases++) {
      for (const [i, request] of requests.entries()) batch[i] ??= this.#find(request) ?? this.#enter(request)
      const waiting = requests.filter((_, i) => batch[i] === null)
      const [next] = waiting
      if (!next || leases === MAX_LEASES_PER_CALL) return batch
      const leased = await this.#lease(next.sale, waiting.length).catch((error: Error) => error)
      if (leased !== 'leased') return batch.map((one) => one ?? (leased === 'closed' ? CLOSED : leased))
    }
  }

  /** A visitor without a number takes the next of the block; null when it is used up. */
  #enter({ visitor, has, paid_with }: JoinRequest): Joined | null {
    if (paid_with !== undefined && !this.#keepSpent(visitor)) return TRY_AGAIN
    const number = has ?? this.#take()
    if (!number) return null
    this.#beginRecord()
    this.ctx.storage.sql.exec(
      `insert into visitors (visitor, number, paid_with) values (?, ?, ?) on conflict do update
        set number = excluded.number, present = 1, paid_with = coalesce(excluded.paid_with, paid_with)`,
      visitor,
      number,
      paid_with ?? null,
    )
    return { joined: true, number, first: true }
  }

  #take(): number | null {
    const nowMs = Date.now()
    const number = this.#block?.take(nowMs) ?? null
    if (number) this.#demand.add(1, nowMs)
    return number
  }

  #beginRecord() {
    if (this.#recorded) return
    this.ctx.storage.sql.exec(`create table if not exists visitors (
      visitor text primary key,
      number integer not null,
      present integer not null default 1,
      paid_with text
    ) strict, without rowid;
    create table if not exists spent (
      payment text primary key,
      until_ms integer not null
    ) strict, without rowid;
    create index if not exists spent_until on spent (until_ms)`)
    this.#recorded = true
  }

  /** Gets the next block; callers of the same moment share one. */
  async #lease(sale: string, wanted: number): Promise<'leased' | 'closed'> {
    this.#wanted += wanted
    try {
      this.#leasing ??= this.#leaseOnce(sale).finally(() => {
        this.#leasing = null
      })
      return await this.#leasing
    } finally {
      this.#wanted -= wanted
    }
  }

  async #leaseOnce(sale: string): Promise<'leased' | 'closed'> {
    // The callers of this event have not all come in yet when the first of them finds the block used up.
    await Promise.resolve()
    const askedAtMs = Date.now()
    const count = Math.min(MAX_LEASE, Math.max(this.#wanted, this.#demand.forecast()))
    const rest = this.#block?.giveBack()
    const leased = await roomOf(sale, this.env).lease({ sale, count, ...(rest ? { rest } : {}) })
    if (!leased.granted) return 'closed'
    const block = new Block(leased.lease, askedAtMs, Date.now())
    this.#block = block
    // When it has ended, and the isolates have brought back theirs, the rest goes back.
    setTimeout(() => this.ctx.waitUntil(this.#giveBack(sale, block)), LEASE_MS + RETURN_MS)
    return 'leased'
  }

  async #giveBack(sale: string, block: Block) {
    const rest = this.#block === block ? block.giveBack() : null
    if (rest)
      await roomOf(sale, this.env)
        .takeBack({ sale, rest })
        .catch(() => {})
  }

  // -- News --------------------------------------------------------------------------------------------------------

  #ask(sale: string): Promise<void> {
    this.#asking ??= this.#askOnce(sale).finally(() => {
      this.#asking = null
    })
    return this.#asking
  }

  async #askOnce(sale: string) {
    const askedAtMs = Date.now()
    this.#told = { at: await roomOf(sale, this.env).look({ sale }), askedAtMs }
  }
}
