/**
 * A ticket shard: gives ticket numbers to its share of the visitors, from blocks that the waiting room leases to it,
 * and hands on the waiting room's snapshots, so that the crowd never meets the waiting room. Where a sale has many
 * shards, some objects of this class are hubs and mirrors between them and the waiting room (tree.ts).
 *
 * Known visitors are stored before they get a response: a visitor who joins twice has the same number. They join in
 * batches, since a write costs five times as much as all else about a join, and as much for one as for fifty. A
 * number is unique without being stored: its block was leased to this instance alone, and a new instance starts with
 * a new block.
 */

import { DurableObject } from 'cloudflare:workers'
import type { Policy } from '../../../shared/api/access.ts'
import type { JoinCounts } from '../../../shared/api/internal.ts'
import { assertExists } from '../../../shared/lib/assert.ts'
import type { Env } from '../../http/config.ts'
import { CountSum } from '../counts.ts'
import {
  type FoundNumber,
  type JoinRequest,
  type JoinResponse,
  type LeaseRequest,
  type LeaseResponse,
  type LeaveRequest,
  PAYMENT_TTL_SECONDS,
  roomOf,
  type ShardCalls,
  type SnapshotRequest,
  type SnapshotResponse,
  type UpstreamCalls,
  upstreamOf,
} from '../rpc.ts'
import { MIRROR_MS } from '../timeline.ts'
import { Block, Demand, HUB_LEASE_MS, ISOLATE_LEASE_MS, LEASE_MS, MAX_LEASE, type UnusedRange } from './lease.ts'
import { isHub } from './tree.ts'

/** Leases requested for one caller before it gets "try again". */
const MAX_LEASES_PER_CALL = 5
/** Known visitors waiting for the next batch, some seconds' worth; more get "try again". */
const MAX_COMING = 10_000
/** How long a used payment is stored that may still be good somewhere: a minute for clocks that differ. */
const SPENT_MS = (PAYMENT_TTL_SECONDS + 60) * 1000
/** The limit of stored used payments, besides the latest of each visitor. A further payment gets "try again". */
export const MAX_SPENT = 100_000
/** Counts that nobody's request takes along are sent after so long. */
const SEND_COUNTS_MS = 500
/** How long after the end of its lease an isolate's unused range may still be on its way to this shard. */
const RETURN_MS = 75

const TRY_AGAIN: JoinResponse = { joined: false, reason: 'try-again' }
const CLOSED: JoinResponse = { joined: false, reason: 'closed' }

/** The policy is not sent again to a caller that has it. */
const withPolicy = (response: Extract<SnapshotResponse, { known: true }>, policy: Policy | undefined) => ({
  ...response,
  snapshot: { policy, ...response.snapshot },
})

/** An error is thrown to its own caller. */
type Batch = (JoinResponse | Error | null)[]

type VisitorRow = { number: number; present: number; paid_with: string | null }

/** The states of a recorded visitor (`present`). After leaving the lobby, joining again gives the same number. */
const GAVE_UP = 0
const PRESENT = 1
const LEFT_LOBBY = 2

export class TicketShard extends DurableObject<Env> implements ShardCalls {
  #block: Block | null = null
  #leasing: Promise<'leased' | 'closed'> | null = null
  /** Numbers that callers wait for at this moment. */
  #wanted = 0
  /** The joins that gather for the next batch, that batch, and the end of the batch before. */
  #coming: JoinRequest[] = []
  #batch: Promise<Batch> | null = null
  #batchBefore: Promise<unknown> = Promise.resolve()
  readonly #blockMs: number
  readonly #demand = new Demand(LEASE_MS)
  /** True once the tables exist: an object called for an unknown sale leaves nothing behind. */
  #hasTables = false
  #snapshot: { readonly response: SnapshotResponse; readonly requestedAtMs: number } | null = null
  #refreshing: Promise<void> | null = null
  readonly #counts = new CountSum()
  #sendingCounts: ReturnType<typeof setTimeout> | null = null

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#blockMs = isHub(this.#name) ? HUB_LEASE_MS : LEASE_MS
    const tables = ctx.storage.sql.exec("select 1 from sqlite_master where name = 'visitors'")
    this.#hasTables = tables.toArray().length > 0
  }

  /** Objects are called by name only (rpc.ts). */
  get #name(): string {
    return assertExists(this.ctx.id.name, 'A ticket shard is called by its name.')
  }

  #upstream(queue: string): UpstreamCalls {
    return upstreamOf(this.#name, queue, this.env)
  }

  /** Known visitors join; `first` where the number is new. */
  async joinAll(requests: readonly JoinRequest[]): Promise<readonly JoinResponse[]> {
    const from = this.#coming.length
    if (from + requests.length > MAX_COMING) return requests.map(() => TRY_AGAIN)
    this.#coming.push(...requests)
    if (!this.#batch) {
      this.#batch = this.#batchBefore.then(() => this.#joinBatch())
      this.#batchBefore = this.#batch.then(() => this.ctx.storage.sync()).catch(() => {})
    }
    const batch = await this.#batch
    return batch.slice(from, from + requests.length).map((joined) => {
      if (joined instanceof Error) throw joined
      return joined ?? TRY_AGAIN
    })
  }

  /**
   * A visitor leaves; if they come back, they join at the end. Their token outlives their place, so the place is
   * written down: at most one row for each number of this shard's visitors.
   */
  async leave({ visitor, number }: LeaveRequest): Promise<void> {
    if (number !== undefined) this.#createTables()
    if (!this.#hasTables) return
    const { sql } = this.ctx.storage
    this.#setPresent(visitor, GAVE_UP)
    if (number !== undefined) sql.exec('insert or ignore into left_places values (?)', number)
  }

  async findAll(visitors: readonly string[]): Promise<readonly FoundNumber[]> {
    if (!this.#hasTables) return visitors.map(() => ({ number: null }))
    const { sql } = this.ctx.storage
    return visitors.map((visitor) => {
      const [found] = sql
        .exec<Pick<VisitorRow, 'number'>>(
          'select number from visitors where visitor = ? and present = ?',
          visitor,
          PRESENT,
        )
        .toArray()
      return { number: found?.number ?? null }
    })
  }

  async haveLeft(numbers: readonly number[]): Promise<readonly boolean[]> {
    if (!this.#hasTables) return numbers.map(() => false)
    const { sql } = this.ctx.storage
    return numbers.map((number) => sql.exec('select 1 from left_places where number = ?', number).toArray().length > 0)
  }

  async storedOf(visitor: string): Promise<FoundNumber> {
    if (!this.#hasTables) return { number: null }
    const [found] = this.ctx.storage.sql
      .exec<Pick<VisitorRow, 'number'>>('select number from visitors where visitor = ?', visitor)
      .toArray()
    return { number: found?.number ?? null }
  }

  /** The place is given up with the name: a token of it is good for no turn, and its payment for no other number. */
  async forget(visitor: string): Promise<{ readonly forgotten: boolean }> {
    const { number } = await this.storedOf(visitor)
    if (number === null) return { forgotten: false }
    this.#storeSpent(visitor)
    this.ctx.storage.sql.exec('insert or ignore into left_places values (?)', number)
    this.ctx.storage.sql.exec('delete from visitors where visitor = ?', visitor)
    return { forgotten: true }
  }

  /** Deletes everything that is stored: who stood in the queue, a while after its end. */
  async deletePlaces(): Promise<void> {
    await this.ctx.storage.deleteAll()
    this.#hasTables = false
  }

  /** Subleases up to `count` numbers to an isolate of the Worker, for unknown visitors. */
  take(request: LeaseRequest): Promise<LeaseResponse> {
    return this.#sublease(request, Math.min(LEASE_MS, request.for_ms ?? ISOLATE_LEASE_MS))
  }

  /** Subleases numbers to a ticket shard; called on a shard that serves as a hub. */
  lease(request: LeaseRequest): Promise<LeaseResponse> {
    return this.#sublease(request, LEASE_MS)
  }

  async #sublease({ queue, count: wanted, unused }: LeaseRequest, forMs: number): Promise<LeaseResponse> {
    const count = Math.max(1, Math.min(MAX_LEASE, Math.floor(wanted)))
    if (unused) this.#block?.takeBack(unused)
    for (let leases = 0; ; leases++) {
      const nowMs = Date.now()
      const lease = this.#block?.sublease(count, forMs, nowMs)
      if (lease) {
        this.#demand.add(lease.count, nowMs)
        return { granted: true, lease }
      }
      if (leases === MAX_LEASES_PER_CALL || (await this.#lease(queue, count)) === 'closed') return { granted: false }
    }
  }

  async takeBack(unused: UnusedRange): Promise<void> {
    this.#block?.takeBack(unused)
  }

  /** The waiting room's snapshot, at most MIRROR_MS old; a request that waits is handed on to the waiting room. */
  async poll(request: SnapshotRequest): Promise<SnapshotResponse> {
    if (request.wait_ms) return roomOf(request.queue, this.env).poll(request)
    const ageMs = this.#snapshot ? Date.now() - this.#snapshot.requestedAtMs : Number.POSITIVE_INFINITY
    if (ageMs > MIRROR_MS || ageMs < 0) await this.#refresh(request.queue)
    if (!this.#snapshot) return { known: false, reason: 'unavailable' }
    // Counts are added only if there is a response. Otherwise the caller sends them again.
    if (request.counts) this.#count(request.counts, request.queue)
    const { response, requestedAtMs } = this.#snapshot
    if (!response.known) return response
    const age_ms = response.snapshot.age_ms + Date.now() - requestedAtMs
    const { policy, ...snapshot } = response.snapshot
    const isKnown = policy === undefined || policy.version === request.has_policy
    return { known: true, snapshot: { ...snapshot, ...(isKnown ? {} : { policy }), age_ms } }
  }

  /** Sends the counts after a delay if no other request takes them along. */
  #count(counts: JoinCounts, queue: string): void {
    this.#counts.add(counts)
    this.#sendingCounts ??= setTimeout(() => {
      this.#sendingCounts = null
      if (!this.#counts.isEmpty()) this.ctx.waitUntil(this.#sendCounts(queue))
    }, SEND_COUNTS_MS)
  }

  async #sendCounts(queue: string): Promise<void> {
    await this.#refresh(queue).catch(() => {})
    // After a failure the counts wait for the same delay again.
    const left = this.#counts.drain()
    if (left) this.#count(left, queue)
  }

  #refresh(queue: string): Promise<void> {
    this.#refreshing ??= this.#refreshOnce(queue).finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refreshOnce(queue: string) {
    const requestedAtMs = Date.now()
    const before = this.#snapshot?.response
    const policy = before?.known ? before.snapshot.policy : undefined
    const response = await this.#counts.send((counts) =>
      this.#upstream(queue).poll({ queue, has_policy: policy?.version, counts }),
    )
    this.#snapshot = { response: response.known ? withPolicy(response, policy) : response, requestedAtMs }
  }

  // -- Known visitors ----------------------------------------------------------------------------------------------

  /** The responses to all who join now, in their order; null for a visitor who gets no number. */
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
      const leased = await this.#lease(next.queue, waiting.length).catch((error: Error) => error)
      if (leased !== 'leased') return batch.map((joined) => joined ?? (leased === 'closed' ? CLOSED : leased))
    }
  }

  #setPresent(visitor: string, present: number): void {
    this.ctx.storage.sql.exec('update visitors set present = ? where visitor = ?', present, visitor)
  }

  #find({ visitor, instead_of, paid_with, leaves_lobby }: JoinRequest): JoinResponse | null {
    if (!this.#hasTables) return null
    const [found] = this.ctx.storage.sql
      .exec<VisitorRow>('select number, present, paid_with from visitors where visitor = ?', visitor)
      .toArray()
    if (!found) return null
    if (found.present !== GAVE_UP && found.number !== instead_of) {
      const present = leaves_lobby ? LEFT_LOBBY : PRESENT
      if (found.present !== present) this.#setPresent(visitor, present)
      return { joined: true, number: found.number, first: false }
    }
    const isSpent = paid_with !== undefined && (paid_with === found.paid_with || this.#isSpent(paid_with))
    return isSpent ? { joined: false, reason: 'paid-already' } : null
  }

  /** Stores a visitor with the block's next number; null when the block is used up. */
  #enter({ visitor, has, paid_with, leaves_lobby }: JoinRequest): JoinResponse | null {
    if (paid_with !== undefined && !this.#storeSpent(visitor)) return TRY_AGAIN
    const number = has ?? this.#nextNumber()
    if (!number) return null
    this.#createTables()
    this.ctx.storage.sql.exec(
      `insert into visitors (visitor, number, present, paid_with) values (?, ?, ?, ?) on conflict do update
        set number = excluded.number, present = excluded.present, paid_with = coalesce(excluded.paid_with, paid_with)`,
      visitor,
      number,
      leaves_lobby ? LEFT_LOBBY : PRESENT,
      paid_with ?? null,
    )
    return { joined: true, number, first: true }
  }

  #isSpent(payment: string): boolean {
    return this.ctx.storage.sql.exec('select 1 from spent where payment = ?', payment).toArray().length > 0
  }

  /** Stores the last payment of a visitor who pays once more; false if too many are stored. */
  #storeSpent(visitor: string): boolean {
    if (!this.#hasTables) return true
    const { sql } = this.ctx.storage
    const [last] = sql
      .exec('select paid_with from visitors where visitor = ? and paid_with is not null', visitor)
      .toArray()
    if (!last) return true
    const nowMs = Date.now()
    sql.exec('delete from spent where until_ms < ?', nowMs)
    const { stored } = sql.exec<{ stored: number }>('select count(*) as stored from spent').one()
    if (stored >= MAX_SPENT) return false
    sql.exec('insert or ignore into spent values (?, ?)', last.paid_with, nowMs + SPENT_MS)
    return true
  }

  #createTables() {
    if (this.#hasTables) return
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
    create index if not exists spent_until on spent (until_ms);
    create table if not exists left_places (number integer primary key) strict`)
    this.#hasTables = true
  }

  // -- Leases ------------------------------------------------------------------------------------------------------

  #nextNumber(): number | null {
    const nowMs = Date.now()
    const number = this.#block?.take(nowMs) ?? null
    if (number) this.#demand.add(1, nowMs)
    return number
  }

  /** Gets the next block; callers of the same moment share one. */
  async #lease(queue: string, wanted: number): Promise<'leased' | 'closed'> {
    this.#wanted += wanted
    try {
      this.#leasing ??= this.#leaseOnce(queue).finally(() => {
        this.#leasing = null
      })
      return await this.#leasing
    } finally {
      this.#wanted -= wanted
    }
  }

  async #leaseOnce(queue: string): Promise<'leased' | 'closed'> {
    // One turn of the event loop lets the other callers of this event arrive before the size of the lease is
    // computed.
    await Promise.resolve()
    const requestedAtMs = Date.now()
    const count = Math.min(MAX_LEASE, Math.max(this.#wanted, this.#demand.forecast(requestedAtMs)))
    const unused = this.#block?.giveBack()
    const request = { queue, count, for_ms: this.#blockMs, ...(unused ? { unused } : {}) }
    const leased = await this.#upstream(queue).lease(request)
    if (!leased.granted) return 'closed'
    const block = new Block(leased.lease, requestedAtMs, Date.now())
    this.#block = block
    // After its end, when the isolates have sent back theirs.
    setTimeout(() => this.ctx.waitUntil(this.#giveBack(queue, block)), this.#blockMs + RETURN_MS)
    return 'leased'
  }

  async #giveBack(queue: string, block: Block) {
    const unused = this.#block === block ? block.giveBack() : null
    // No retry: delivery is unknown, and a loss only leaves a gap.
    if (unused)
      await this.#upstream(queue)
        .takeBack(unused)
        .catch(() => {})
  }
}
