/**
 * The waiting room: one object per sale, its coordinator. It leases ticket numbers, makes the draw, looks at the origin
 * and publishes the admission schedule. It hears from the ticket shards a few times a second, whatever the crowd.
 *
 * Two instances of one object can exist for a moment, one of them a ghost that only has its memory. So whatever must
 * not happen twice is written to storage before it leaves: the platform holds every answer until the write is
 * confirmed, and a ghost's write is refused. A ghost cannot tell old news for long either, since each look is written.
 */
import { DurableObject } from 'cloudflare:workers'
import { bytesToHex } from '@noble/hashes/utils.js'
import * as v from 'valibot'
import { SaleState } from '../../shared/api/internal.ts'
import { isDrawn, isFinal, serving } from '../../shared/schedule.ts'
import { type Env, type RoomConfig, readRoomConfig } from '../config.ts'
import { LOOK_EVERY_MS, LOOK_LATE_MS, NOTHING_SEEN, uncalled } from './controller.ts'
import { Grants, LAPSE_MS, LEASE_MS, MAX_LEASE, type Rest } from './lease.ts'
import {
  type Leased,
  type LeaseRequest,
  type LookRequest,
  type RestRequest,
  type RoomCalls,
  shardOf,
} from './rpc.ts'
import {
  closedIfDue,
  factsOf,
  figuresOf,
  newRecord,
  roundAfter,
  type SaleRecord,
  withLook,
  withNextSchedule,
  withState,
} from './sale-record.ts'
import { ANNOUNCE_MS, CLOCK_TOLERANCE_MS, inEffect, latest, type Told, UNKNOWN_MS } from './timeline.ts'
import { NOTHING_FORETOLD } from './wait-accuracy.ts'

/**
 * The origin answers from memory; what takes longer is as good as no answer. Together with LOOK_EVERY_MS it is less than
 * UNREACHED_MS: one look that is not answered leaves the line as it is.
 */
const LOOK_TIMEOUT_MS = 800
/** Newcomers are called at once where nobody waits, though no more often than this. */
const CALL_EVERY_MS = 100
/** How long before the opening the sale counts as about to open, and how seldom it is looked at until then. */
const WARM_MS = 60_000
const IDLE_ALARM_MS = 60_000
/** Longest that a reader who waits for news is kept. */
const MAX_WAIT_MS = 20_000
/** Most calls to shards under way at once while they are warmed. */
const WARM_BATCH = 16

export class WaitingRoom extends DurableObject<Env> implements RoomCalls {
  readonly #config: RoomConfig
  /** Kept under one key: of an unknown sale nothing is stored, and so nothing is left behind. */
  #sale: SaleRecord | null
  /** The next number that nobody has. */
  #next: number
  get #highestNumber() {
    return this.#next - 1
  }
  readonly #grants = new Grants()
  /** While the sale is not known: when it was looked for, and what came of it. */
  #missed: { atMs: number; reason: 'unknown-sale' | 'unavailable' } = { atMs: 0, reason: 'unavailable' }
  #looking: Promise<void> | null = null
  readonly #waiting = new Set<() => void>()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#config = readRoomConfig(env)
    const kept = ctx.storage.kv.get<SaleRecord>('sale')
    // What a neighbouring version kept may lack what this one remembers besides.
    this.#sale = kept
      ? {
          ...kept,
          endsAtMs: kept.endsAtMs ?? null,
          readAtMs: kept.readAtMs ?? 0,
          state: { ...kept.state, hopeful: kept.state.hopeful ?? 0 },
          memory: { ...NOTHING_SEEN, ...kept.memory },
          foretold: kept.foretold ?? NOTHING_FORETOLD,
        }
      : null
    this.#next = ctx.storage.kv.get<number>('next') ?? 1
  }

  /**
   * What holds of the sale. With `newer_than`, a version, waits until there is a newer one, at most `wait_ms`: so
   * whoever serves a final answer hears at once that it is not final any more, without asking again and again.
   */
  async look(request: LookRequest): Promise<Told> {
    await this.#beFresh(request.sale)
    const waitMs = Math.min(request.wait_ms ?? 0, MAX_WAIT_MS)
    const version = this.#sale ? latest(this.#sale.timeline).schedule.version : 0
    if (waitMs > 0 && this.#sale && version <= (request.newer_than ?? 0)) {
      const news = this.#news(waitMs)
      // Whoever waits for the end of a final answer relies on the alarm, which a final answer alone does not set.
      await this.#setAlarm(this.#sale, Date.now())
      await news
    }
    return this.#tell()
  }

  /** Looks at the origin now: someone knows that something has changed. */
  async refresh(request: { sale: string }): Promise<Told> {
    // A look that is under way may have left before the change.
    await this.#looking
    await this.#look(request.sale)
    return this.#tell()
  }

  /** Leases `count` numbers that nobody else will ever get. */
  async lease(request: LeaseRequest): Promise<Leased> {
    await this.#beFresh(request.sale)
    if (!this.#sale) return { granted: false }
    if (request.rest) this.#takeBack(request.rest)
    const nowMs = this.#now(this.#sale)
    const sale = closedIfDue(this.#sale, this.#highestNumber, nowMs)
    if (sale !== this.#sale) this.#keep(sale)
    const { phase } = inEffect(sale.timeline, nowMs)
    if (phase === 'upcoming' || isFinal(phase)) return { granted: false }
    const count = Math.max(1, Math.min(MAX_LEASE, Math.floor(request.count)))
    const first = this.#next
    this.ctx.storage.kv.put('next', first + count)
    this.#next = first + count
    this.#callNewcomers(sale, nowMs)
    const closesInMs = sale.opensAtMs - nowMs
    const lapsesInMs = sale.closed ? null : closesInMs > 0 ? Math.min(LAPSE_MS, closesInMs) : LAPSE_MS
    const id = this.#grants.grant(first, count)
    return { granted: true, lease: { id, first, count, lives_ms: LEASE_MS, lapses_in_ms: lapsesInMs } }
  }

  /** What was not used of a lease comes back, so that it need not be a gap in the line. */
  async takeBack(request: RestRequest): Promise<void> {
    this.#takeBack(request.rest)
  }

  /** Numbers of the pre-queue stay where they are once it is closed: its size is part of the draw. */
  #takeBack(rest: Rest) {
    const sale = this.#sale
    const next = Math.max(this.#grants.takeBack(rest, this.#next), (sale?.closed?.size ?? 0) + 1)
    if (!sale || next >= this.#next) return
    this.ctx.storage.kv.put('next', next)
    this.#next = next
    this.#keep({ ...sale, memory: uncalled(sale.memory, next) })
  }

  override async alarm() {
    if (!this.#sale) return
    await this.#look(this.#sale.state.sale)
    await this.#warmShards(this.#sale)
  }

  // -- Looking at the origin ---------------------------------------------------------------------------------------

  /** Makes sure that what is known is no older than a reader may expect. */
  async #beFresh(name: string) {
    const lookedAtMs = this.#sale?.memory.looked_at_ms ?? this.#missed.atMs
    const ageMs = Date.now() - lookedAtMs
    const late = ageMs > (this.#sale ? LOOK_LATE_MS : UNKNOWN_MS) || ageMs < -CLOCK_TOLERANCE_MS
    if (late) await this.#look(name)
    // The alarm is late.
    else if (ageMs > LOOK_EVERY_MS) this.ctx.waitUntil(this.#look(name))
  }

  #look(name: string): Promise<void> {
    this.#looking ??= this.#lookOnce(name).finally(() => {
      this.#looking = null
    })
    return this.#looking
  }

  async #lookOnce(name: string) {
    const askedAtMs = Date.now()
    const answer = await this.#askOrigin(name)
    const state = typeof answer === 'object' ? answer : null
    const beacon = await this.#beaconIfDue()
    if (!this.#sale && !state) {
      this.#missed = { atMs: Date.now(), reason: answer === 'unknown-sale' ? answer : 'unavailable' }
      return
    }
    const nowMs = this.#sale ? this.#now(this.#sale) : Date.now()
    let sale = this.#sale
    if (state) {
      const atMs = (askedAtMs + nowMs) / 2
      sale = sale ? withState(sale, state, atMs) : newRecord(state, freshSeed(), atMs, nowMs)
    }
    if (!sale) return
    if (beacon) sale = { ...sale, beacon }
    sale = closedIfDue(sale, this.#highestNumber, nowMs)
    sale = withLook(sale, { state, nowMs, highestNumber: this.#highestNumber }, this.#config)
    const decided = this.#decided(sale, nowMs)
    this.#keep(decided)
    await this.#setAlarm(decided, nowMs)
  }

  async #askOrigin(name: string): Promise<SaleState | 'unknown-sale' | 'unavailable'> {
    try {
      const response = await fetch(`${this.#config.originUrl}/internal/sales/${name}${this.#figures()}`, {
        headers: { authorization: `Bearer ${this.#config.edgeToken}`, accept: 'application/json' },
        signal: AbortSignal.timeout(LOOK_TIMEOUT_MS),
      })
      if (response.status === 404) {
        await response.body?.cancel()
        return 'unknown-sale'
      }
      if (!response.ok) throw new Error(`status ${response.status}`)
      return v.parse(SaleState, await response.json())
    } catch (error) {
      console.warn(
        JSON.stringify({ msg: 'the origin did not tell of a sale', sale: name, why: String(error) }),
      )
      return 'unavailable'
    }
  }

  /** What the line looks like, as the query of that request; nothing while the sale is not known. */
  #figures(): string {
    if (!this.#sale) return ''
    const figures = figuresOf(this.#sale, this.#highestNumber, this.#now(this.#sale))
    return `?${new URLSearchParams(Object.entries(figures).map(([name, value]) => [name, String(value)]))}`
  }

  /** The announced public value, between the end of the pre-queue and the draw. Its round is fixed by the opening, so that nobody can choose one. */
  async #beaconIfDue(): Promise<string | null> {
    const sale = this.#sale
    if (!this.#config.beaconUrl || !sale?.closed || sale.beacon) return null
    if (isDrawn(latest(sale.timeline).schedule)) return null
    try {
      const url = this.#config.beaconUrl.replace('{round}', String(roundAfter(sale.opensAtMs)))
      const response = await fetch(url, { signal: AbortSignal.timeout(LOOK_TIMEOUT_MS) })
      return v.parse(Beacon, await response.json()).randomness
    } catch (error) {
      console.warn(JSON.stringify({ msg: 'the beacon is not there yet', why: String(error) }))
      return null
    }
  }

  // -- Deciding ----------------------------------------------------------------------------------------------------

  /** Now, on a clock that does not run backwards by a little; a great step back is met in `withLook`. */
  #now(sale: SaleRecord): number {
    const nowMs = Date.now()
    const lookedAtMs = sale.memory.looked_at_ms
    return nowMs < lookedAtMs && nowMs >= lookedAtMs - CLOCK_TOLERANCE_MS ? lookedAtMs : nowMs
  }

  #decided(sale: SaleRecord, nowMs: number): SaleRecord {
    const isNew = this.#sale === null
    return withNextSchedule(sale, { nowMs, highestNumber: this.#highestNumber, isNew }, this.#config)
  }

  /** When the line has caught up with the crowd, those who join now need not wait for the next look. */
  #callNewcomers(sale: SaleRecord, nowMs: number) {
    const { from_ms, schedule } = latest(sale.timeline)
    const justAnnounced = from_ms > nowMs + ANNOUNCE_MS - CALL_EVERY_MS
    if (schedule.phase !== 'open' || justAnnounced) return
    if (serving(schedule, nowMs + ANNOUNCE_MS) >= schedule.ceiling) this.#keep(this.#decided(sale, nowMs))
  }

  #keep(sale: SaleRecord) {
    const isNews = sale.timeline !== this.#sale?.timeline
    this.ctx.storage.kv.put('sale', sale)
    this.#sale = sale
    if (isNews) for (const wake of this.#waiting) wake()
  }

  // -- Telling -----------------------------------------------------------------------------------------------------

  #tell(): Told {
    const sale = this.#sale
    if (!sale) return { known: false, reason: this.#missed.reason }
    const bulletin = { timeline: sale.timeline, facts: factsOf(sale), age_ms: 0, at_ms: this.#now(sale) }
    return { known: true, bulletin }
  }

  #news(waitMs: number): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        clearTimeout(timer)
        this.#waiting.delete(wake)
        resolve()
      }
      const timer = setTimeout(wake, waitMs)
      this.#waiting.add(wake)
    })
  }

  // -- Alarms ------------------------------------------------------------------------------------------------------

  async #setAlarm(sale: SaleRecord, nowMs: number) {
    const { phase } = latest(sale.timeline).schedule
    // Once it is final, only the isolates that serve that answer need to hear of a restock, or of a later end. They are
    // waiting for the news, and the origin is looked at for as long as one of them does.
    if (isFinal(phase) && this.#waiting.size === 0) return
    const opensInMs = sale.opensAtMs - nowMs
    const soon = sale.closed !== null || opensInMs <= WARM_MS
    const moments = [
      soon ? LOOK_EVERY_MS : IDLE_ALARM_MS,
      opensInMs,
      opensInMs - WARM_MS,
      sale.preQueueOpensAtMs - ANNOUNCE_MS - nowMs,
    ]
    await this.ctx.storage.setAlarm(nowMs + Math.min(...moments.filter((ms) => ms > 0)))
  }

  /** Wakes the ticket shards before the opening, so that no visitor waits for one to start. */
  async #warmShards({ state, closed, opensAtMs }: SaleRecord) {
    if (closed || opensAtMs - Date.now() > WARM_MS) return
    const shards = Array.from({ length: this.#config.ticketShards }, (_, index) =>
      shardOf(state.sale, index, this.env),
    )
    for (let i = 0; i < shards.length; i += WARM_BATCH) {
      await Promise.allSettled(
        shards.slice(i, i + WARM_BATCH).map((shard) => shard.look({ sale: state.sale })),
      )
    }
  }
}

const freshSeed = () => bytesToHex(crypto.getRandomValues(new Uint8Array(32)))

/** What drand answers, as far as it is used. */
const Beacon = v.object({ randomness: v.pipe(v.string(), v.regex(/^([0-9a-f]{2})+$/)) })
