/**
 * The waiting room: one object per line of a sale, its coordinator. It leases ticket numbers, makes the draw,
 * refreshes the sale's state from the origin and publishes the admission schedule. Ticket shards call it a few times
 * a second, whatever the crowd.
 *
 * Two instances of one object can exist for a moment, one of them a ghost that only has its memory. So whatever must
 * not happen twice is written to storage before it leaves: the platform holds every response until the write is
 * confirmed, and refuses a ghost's write. A ghost cannot serve an old snapshot for long either, since each refresh is
 * written.
 */

import { DurableObject } from 'cloudflare:workers'
import { bytesToHex } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { queueName } from '../../shared/api/access.ts'
import { type JoinCounts, SaleState } from '../../shared/api/internal.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { isFinal, serving } from '../../shared/schedule.ts'
import { purgeSale } from '../http/cache.ts'
import { type Env, type RoomConfig, readRoomConfig } from '../http/config.ts'
import { Waiting } from '../http/waiting.ts'
import { CachePurges } from './cache-purges.ts'
import { CountSum } from './counts.ts'
import { Grants, HUB_LEASE_MS, LAPSE_MS, LEASE_MS, MAX_LEASE, type UnusedRange } from './numbers/lease.ts'
import { objectNames } from './numbers/tree.ts'
import { type StateTimes, timesAfter, withTheWay } from './pace/congestion.ts'
import { REFRESH_EVERY_MS } from './pace/controller.ts'
import { uncalled } from './pace/memory.ts'
import { PlaceRetention } from './place-retention.ts'
import { steadyMs } from './room-clock.ts'
import {
  type LeaseRequest,
  type LeaseResponse,
  objectOf,
  type RoomCalls,
  type SnapshotRequest,
  type SnapshotResponse,
} from './rpc.ts'
import {
  cachedContentOf,
  closedIfDue,
  drawStage,
  factsOf,
  figuresOf,
  newRecord,
  REFRESH_LATE_MS,
  roundAfter,
  type SaleRecord,
  withJoins,
  withNextSchedule,
  withRefresh,
  withState,
} from './sale-record.ts'
import { ANNOUNCE_MS, CLOCK_TOLERANCE_MS, inEffect, latest, UNKNOWN_MS } from './timeline.ts'

/** With REFRESH_EVERY_MS less than UNREACHED_MS: one refresh without a response leaves the queue as it is. */
const ORIGIN_TIMEOUT_MS = 800
/** Newcomers are called at once where nobody waits, but no more often than this. */
const CALL_EVERY_MS = 100
/** How long before the opening the sale counts as about to open, and how seldom it is refreshed until then. */
const WARM_MS = 60_000
const IDLE_ALARM_MS = 60_000
/** Numbers count from 1. */
const FIRST_NUMBER = 1
/** Longest wait of a reader for a newer schedule. */
const MAX_WAIT_MS = 20_000
/** Ticket shards are started by parts, one with each alarm of the last minute: all of them in half a minute. */
const WARM_PARTS = WARM_MS / 2 / REFRESH_EVERY_MS
const MIN_WARMED = 16

/** Counts are stored so late. */
const STORE_COUNTS_MS = 100

interface StoredCounts {
  readonly joined: number
  readonly unsent: JoinCounts
}

const unavailable = () => 'unavailable' as const

export class WaitingRoom extends DurableObject<Env> implements RoomCalls {
  readonly #config: RoomConfig
  /** Stored under one key; for an unknown sale nothing is stored, and so nothing is left behind. */
  #sale: SaleRecord | null
  /** The next number that nobody has. */
  #next: number
  get #highestNumber() {
    return this.#next - 1
  }
  readonly #grants = new Grants()
  /** While the sale is not known: when it was last requested, and the result. */
  #missed: { atMs: number; reason: 'unknown-sale' | 'unavailable' } = { atMs: 0, reason: 'unavailable' }
  #refreshing: Promise<void> | null = null
  /** The last moment that was read from the clock. */
  #latestMs = 0
  #stateTimes: StateTimes = { lastMs: 0, beforeMs: 0, leastMs: Number.POSITIVE_INFINITY }
  /** What the origin does not know yet, and how many have joined, in all lines of the sale. */
  readonly #counts = new CountSum()
  #joined: number
  #storingCounts: ReturnType<typeof setTimeout> | null = null
  readonly #purges: CachePurges
  readonly #retention: PlaceRetention
  /** How many of the shards were started in this round. */
  #warmed = 0
  /** Readers who wait for a newer schedule. */
  readonly #waiting = new Waiting()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#config = readRoomConfig(env)
    const stored = ctx.storage.kv.get<SaleRecord>('sale')
    this.#sale = stored ?? null
    this.#next = ctx.storage.kv.get<number>('next') ?? FIRST_NUMBER
    this.#purges = new CachePurges(ctx.storage)
    this.#retention = new PlaceRetention(ctx.storage, this.#config.placesRetentionDays)
    const counted = ctx.storage.kv.get<StoredCounts>('counts')
    // The counts are stored from the first join on.
    this.#joined = counted ? counted.joined : 0
    if (counted) this.#counts.add(counted.unsent)
  }

  /**
   * The sale's snapshot; with `wait_ms`, once it is newer than `newer_than`: so the end of a final phase is known at
   * once.
   */
  async poll(request: SnapshotRequest): Promise<SnapshotResponse> {
    if (request.counts) {
      this.#counts.add(request.counts)
      this.#joined += request.counts.joins
      if (this.#sale) this.#sale = withJoins(this.#sale, request.counts, this.#highestNumber, this.#config)
      this.#storeCountsSoon()
    }
    await this.#refreshIfLate(request.queue)
    const { wait_ms = 0, newer_than = 0 } = request
    const waitMs = Math.min(wait_ms, MAX_WAIT_MS)
    const version = this.#sale ? latest(this.#sale.timeline).schedule.version : 0
    if (waitMs > 0 && this.#sale && version <= newer_than) {
      const update = this.#waiting.wait(waitMs)
      // The reader relies on the alarm, which a final phase alone does not set.
      await this.#setAlarm(this.#sale, Date.now())
      await update
    }
    return this.#snapshot(request.has_policy)
  }

  /** Refreshes the state now: the caller knows that something has changed. */
  async refresh(queue: string): Promise<SnapshotResponse> {
    // A refresh that is running may have left before the change.
    await this.#refreshing
    await this.#refresh(queue)
    return this.#snapshot()
  }

  async lease(request: LeaseRequest): Promise<LeaseResponse> {
    await this.#refreshIfLate(request.queue)
    if (!this.#sale) return { granted: false }
    if (request.unused) this.#takeBack(request.unused)
    const nowMs = this.#now(this.#sale)
    const sale = closedIfDue(this.#sale, this.#highestNumber, nowMs)
    if (sale !== this.#sale) this.#store(sale)
    const { phase } = inEffect(sale.timeline, nowMs)
    if (phase === 'upcoming' || isFinal(phase)) return { granted: false }
    const count = Math.max(1, Math.min(MAX_LEASE, Math.floor(request.count)))
    const first = this.#next
    this.#storeNext(first + count)
    this.#callNewcomers(sale, nowMs)
    const closesInMs = sale.opensAtMs - nowMs
    const isInDraw = drawStage(sale).is === 'gathering'
    const lapsesInMs = !isInDraw ? null : closesInMs > 0 ? Math.min(LAPSE_MS, closesInMs) : LAPSE_MS
    const id = this.#grants.grant(first, count)
    const lives_ms = Math.min(HUB_LEASE_MS, request.for_ms ?? LEASE_MS)
    return { granted: true, lease: { id, first, count, lives_ms, lapses_in_ms: lapsesInMs } }
  }

  async takeBack(unused: UnusedRange): Promise<void> {
    this.#takeBack(unused)
  }

  /** A closed pre-queue keeps its numbers: its size is part of the draw. */
  #takeBack(range: UnusedRange) {
    const sale = this.#sale
    if (!sale) return
    const stage = drawStage(sale)
    const fixed = stage.is === 'gathering' ? 0 : stage.size
    const next = Math.max(this.#grants.takeBack(range, this.#next), fixed + FIRST_NUMBER)
    if (next >= this.#next) return
    this.#storeNext(next)
    this.#store({ ...sale, memory: uncalled(sale.memory, next) })
  }

  override async alarm() {
    if (!this.#sale) return
    await this.#refresh(queueOfRecord(this.#sale))
    // The next refresh waits for this alarm, so it does not wait for a slow cache.
    this.ctx.waitUntil(this.#purgeIfDue(this.#sale))
    await this.#warmShards(this.#sale)
    await this.#deletePlacesIfDue(this.#sale)
  }

  // -- The origin's state ------------------------------------------------------------------------------------------

  async #refreshIfLate(queue: string) {
    const ageMs = Date.now() - (this.#sale?.memory.polled_at_ms ?? this.#missed.atMs)
    const isLate = ageMs > (this.#sale ? REFRESH_LATE_MS : UNKNOWN_MS) || ageMs < -CLOCK_TOLERANCE_MS
    if (isLate) await this.#refresh(queue)
    // The alarm is late.
    else if (ageMs > REFRESH_EVERY_MS) this.ctx.waitUntil(this.#refresh(queue))
  }

  #refresh(queue: string): Promise<void> {
    this.#refreshing ??= this.#refreshOnce(queue).finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refreshOnce(queue: string) {
    const sentMs = this.#now(this.#sale)
    const { failures } = this.#purges
    const response = await this.#counts.send((counts) => this.#fetchState(queue, counts)).catch(unavailable)
    const trip = { sentMs, heardMs: this.#now(this.#sale) }
    const beacon = await this.#beaconIfDue()
    const state = typeof response === 'object' ? response : null
    if (!this.#sale && !state) {
      this.#missed = { atMs: Date.now(), reason: response === 'unknown-sale' ? response : 'unavailable' }
      return
    }
    const nowMs = this.#now(this.#sale)
    const before = this.#sale
    let sale = before
    let learned: SaleState | null = null
    if (state) {
      if (failures === 0) this.#purges.reported()
      const stateTimes = timesAfter(this.#stateTimes, trip)
      // An origin that has answered nobody lately names no time.
      const answers_ms = withTheWay(state.answers_ms ?? 0, stateTimes, this.#config.answerTargetMs)
      const draw = { seed: freshSeed(), beaconAnnounced: this.#config.beaconUrl !== null }
      learned = { ...state, answers_ms }
      sale = before ? withState(before, learned, trip) : newRecord(learned, draw, trip)
      if (sale === before) learned = null
      else this.#stateTimes = stateTimes
    }
    if (!sale) return
    if (beacon) sale = { ...sale, beacon }
    sale = closedIfDue(sale, this.#highestNumber, nowMs)
    const isRefused = state !== null && learned === null
    sale = withRefresh(sale, { state: learned, isRefused, nowMs, highestNumber: this.#highestNumber }, this.#config)
    sale = this.#withNextSchedule(sale, nowMs)
    this.#store(sale)
    this.#storeCounts()
    await this.#setAlarm(sale, nowMs)
  }

  /** Fails where the origin has not answered. */
  async #fetchState(queue: string, counts: JoinCounts | undefined): Promise<SaleState | 'unknown-sale'> {
    try {
      const response = await fetch(`${this.#config.internalUrl}/internal/sales/${queue}${this.#figures(counts)}`, {
        headers: { authorization: `Bearer ${this.#config.edgeToken}`, accept: 'application/json' },
        signal: AbortSignal.timeout(ORIGIN_TIMEOUT_MS),
      })
      if (response.status === 404) {
        await response.body?.cancel()
        return 'unknown-sale'
      }
      if (!response.ok) throw new Error(`status ${response.status}`)
      const state = v.parse(SaleState, await response.json())
      if (!this.#sale && !state.policy) throw new Error('a state without its policy')
      return state
    } catch (error) {
      console.warn(JSON.stringify({ msg: 'sale state request failed', queue, why: String(error) }))
      throw error
    }
  }

  /** The queue's figures, as the query of a state request; empty while the sale is not known. */
  #figures(counts: JoinCounts | undefined): string {
    if (!this.#sale) return ''
    const ofQueue = figuresOf(this.#sale, this.#highestNumber, this.#now(this.#sale), this.#config)
    const { failures } = this.#purges
    const figures = { ...ofQueue, joined: this.#joined, ...(failures === null ? {} : { purge_failures: failures }) }
    const query = new URLSearchParams(Object.entries(figures).map(([name, value]) => [name, String(value)]))
    const { policy } = this.#sale.state
    query.set('policy', assertExists(policy, 'A known sale has its policy.').version)
    if (counts) query.set('counts', JSON.stringify(counts))
    return `?${query}`
  }

  /**
   * The announced public beacon, between the end of the pre-queue and the draw. The opening fixes its round, so that
   * nobody can choose one.
   */
  async #beaconIfDue(): Promise<string | null> {
    const sale = this.#sale
    if (!this.#config.beaconUrl || !sale || sale.beacon || drawStage(sale).is !== 'closed') return null
    try {
      const url = this.#config.beaconUrl.replace('{round}', String(roundAfter(sale.opensAtMs)))
      const response = await fetch(url, { signal: AbortSignal.timeout(ORIGIN_TIMEOUT_MS) })
      return v.parse(Beacon, await response.json()).randomness
    } catch (error) {
      console.warn(JSON.stringify({ msg: 'beacon request failed', why: String(error) }))
      return null
    }
  }

  // -- The record --------------------------------------------------------------------------------------------------

  /** Now, on a clock that does not run backwards by a little; `withRefresh` handles a great step back. */
  #now(sale: SaleRecord | null): number {
    // A new instance knows the last refresh alone.
    const lastMs = sale ? Math.max(this.#latestMs, sale.memory.polled_at_ms) : this.#latestMs
    this.#latestMs = steadyMs(lastMs, Date.now())
    return this.#latestMs
  }

  #withNextSchedule(sale: SaleRecord, nowMs: number): SaleRecord {
    const isNew = this.#sale === null
    return withNextSchedule(sale, { nowMs, highestNumber: this.#highestNumber, isNew }, this.#config)
  }

  /** When the queue has caught up with the crowd, newcomers need not wait for the next refresh. */
  #callNewcomers(sale: SaleRecord, nowMs: number) {
    const { from_ms, schedule } = latest(sale.timeline)
    const isJustAnnounced = from_ms > nowMs + ANNOUNCE_MS - CALL_EVERY_MS
    if (schedule.phase !== 'open' || isJustAnnounced) return
    if (serving(schedule, nowMs + ANNOUNCE_MS) >= schedule.ceiling) this.#store(this.#withNextSchedule(sale, nowMs))
  }

  #storeNext(next: number) {
    this.ctx.storage.kv.put('next', next)
    this.#next = next
  }

  /** Many mirrors report at the same time. */
  #storeCountsSoon() {
    this.#storingCounts ??= setTimeout(async () => {
      this.#storingCounts = null
      // The counts of an unknown sale are not stored.
      if (!this.#sale) return
      this.#store(this.#sale)
      this.#storeCounts()
      // A final phase has no alarm by itself.
      if ((await this.ctx.storage.getAlarm()) === null) await this.#setAlarm(this.#sale, Date.now())
    }, STORE_COUNTS_MS)
  }

  #storeCounts() {
    if (!this.#counts.isEmpty() || this.#joined > 0)
      this.ctx.storage.kv.put<StoredCounts>('counts', { joined: this.#joined, unsent: this.#counts.sum() })
  }

  #store(sale: SaleRecord) {
    const before = this.#sale
    this.ctx.storage.kv.put('sale', sale)
    this.#sale = sale
    if (sale.timeline !== before?.timeline) this.#waiting.resolveAll()
    // Caches keep final responses for long, and they must not outlive their phase.
    if (before && cachedContentOf(before) !== cachedContentOf(sale))
      this.#purges.add(Math.max(Date.now(), latest(sale.timeline).from_ms))
  }

  async #purgeIfDue({ state }: SaleRecord) {
    const isMade = await this.#purges.makeDue(() => purgeSale(state.sale, this.#config, this.ctx.exports))
    if (isMade && this.#sale) await this.#setAlarm(this.#sale, Date.now())
  }

  async #deletePlacesIfDue(sale: SaleRecord) {
    const shards = sale.state.ticket_shards ?? this.#config.ticketShards
    const deletePlaces = (name: string) => objectOf(name, this.env).deletePlaces()
    await this.#retention.deleteDue(queueOfRecord(sale), sale, shards, deletePlaces)
  }

  // -- Readers -----------------------------------------------------------------------------------------------------

  #snapshot(hasPolicy?: string): SnapshotResponse {
    const sale = this.#sale
    if (!sale) return { known: false, reason: this.#missed.reason }
    const { policy, ticket_shards } = sale.state
    const snapshot = {
      timeline: sale.timeline,
      facts: factsOf(sale),
      ...(policy && policy.version !== hasPolicy ? { policy } : {}),
      ticket_shards,
      age_ms: 0,
      at_ms: this.#now(sale),
      read_at_ms: sale.readAtMs,
    }
    return { known: true, snapshot }
  }

  // -- Alarms ------------------------------------------------------------------------------------------------------

  async #setAlarm(sale: SaleRecord, nowMs: number) {
    const { phase } = latest(sale.timeline).schedule
    // In a final phase only the isolates that serve it need to learn of a restock or a later end. They wait for an
    // update, and the state is refreshed for as long as one of them does, and until the origin has all reports.
    const isReported = this.#counts.isEmpty() && this.#purges.failures !== 0
    const isSettled = isFinal(phase) && this.#waiting.size === 0 && isReported
    const purgeAtMs = this.#purges.nextAtMs
    this.#retention.note(sale, nowMs)
    if (isSettled) {
      const dueAtMs = [purgeAtMs, this.#retention.nextAtMs(sale, nowMs)].filter((ms) => ms !== null)
      if (dueAtMs.length > 0) await this.ctx.storage.setAlarm(Math.max(nowMs, Math.min(...dueAtMs)))
      return
    }
    const opensInMs = sale.opensAtMs - nowMs
    const isSoon = drawStage(sale).is !== 'gathering' || opensInMs <= WARM_MS
    const moments = [
      isSoon ? REFRESH_EVERY_MS : IDLE_ALARM_MS,
      opensInMs,
      opensInMs - WARM_MS,
      sale.preQueueOpensAtMs - ANNOUNCE_MS - nowMs,
      ...(purgeAtMs === null ? [] : [Math.max(1, purgeAtMs - nowMs)]),
    ]
    await this.ctx.storage.setAlarm(nowMs + Math.min(...moments.filter((ms) => ms > 0)))
  }

  /**
   * Starts the ticket shards before the opening, so that no visitor waits for one to start: a part of them with each
   * alarm, since the next refresh waits for this one.
   */
  async #warmShards(record: SaleRecord) {
    const { closed, opensAtMs } = record
    if (closed || opensAtMs - Date.now() > WARM_MS) return
    const queue = queueOfRecord(record)
    const names = objectNames(queue, record.state.ticket_shards ?? this.#config.ticketShards)
    const count = Math.max(MIN_WARMED, Math.ceil(names.length / WARM_PARTS))
    const next = names.slice(this.#warmed, this.#warmed + count)
    this.#warmed = this.#warmed + count < names.length ? this.#warmed + count : 0
    await Promise.allSettled(next.map((name) => objectOf(name, this.env).poll({ queue })))
  }
}

const queueOfRecord = ({ state: { sale, line } }: SaleRecord) => queueName(sale, line)

const freshSeed = () => bytesToHex(crypto.getRandomValues(new Uint8Array(32)))

const Beacon = v.object({ randomness: v.pipe(v.string(), v.regex(/^([0-9a-f]{2})+$/)) })
