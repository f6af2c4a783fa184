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
import { SaleState } from '../shared/api.ts'
import { commitmentOf } from '../shared/draw.ts'
import { isFinal, serving } from '../shared/schedule.ts'
import {
  ANNOUNCE_MS,
  announce,
  inEffect,
  latest,
  type SaleFacts,
  type Timeline,
  type Told,
} from './bulletin.ts'
import { type Env, type RoomConfig, readRoomConfig } from './config.ts'
import {
  atFirst,
  LOOK_EVERY_MS,
  type Memory,
  NOTHING_SEEN,
  nextSchedule,
  observe,
  onClockPutBack,
  UNREACHED_MS,
  uncalled,
} from './controller.ts'
import { Grants, LAPSE_MS, LEASE_MS, MAX_LEASE, type Rest } from './lease.ts'
import {
  type Leased,
  type LeaseRequest,
  type LookRequest,
  type RestRequest,
  type RoomCalls,
  shardOf,
} from './rpc.ts'

/** A look at the origin younger than this is good enough for a reader; an older one is renewed behind the answer. */
const LOOK_MS = 400
/** The origin answers from memory; what takes longer is as good as no answer. */
const LOOK_TIMEOUT_MS = 1_000
/** Older than this, a reader waits for the next look: it is more than a look takes, so only after a pause. */
const LOOK_LATE_MS = 2_000
/** A name the origin does not know is asked for again after so long. */
const UNKNOWN_MS = 400
/** Newcomers are called at once where nobody waits, though no more often than this. */
const CALL_EVERY_MS = 100
/** How long before the opening the sale counts as about to open, and how seldom it is looked at until then. */
const WARM_MS = 60_000
const IDLE_ALARM_MS = 60_000
/** Longest that a reader who waits for news is kept. */
const MAX_WAIT_MS = 20_000
/** A clock behind the last look by less than this is only another machine's; by more, it was put back. */
const CLOCK_TOLERANCE_MS = 1_000
/** How long the opening waits for the announced beacon before it goes without. */
const BEACON_WITHIN_MS = 30_000
/** Most calls to shards under way at once while they are warmed. */
const WARM_BATCH = 16

/** Everything the room knows, under one key: an unknown sale's object stores nothing, and so leaves nothing behind. */
interface Sale {
  readonly state: SaleState
  readonly memory: Memory
  readonly timeline: Timeline
  readonly seed: string
  readonly beacon: string | null
  readonly preQueueOpensAtMs: number
  readonly opensAtMs: number
  /** When the pre-queue was closed, and how many numbers it had; null before. */
  readonly closed: { readonly atMs: number; readonly size: number } | null
}

export class WaitingRoom extends DurableObject<Env> implements RoomCalls {
  readonly #config: RoomConfig
  #sale: Sale | null
  /** The next number that nobody has. */
  #next: number
  readonly #grants = new Grants()
  /** While the sale is not known: when it was looked for, and what came of it. */
  #missed: { atMs: number; reason: 'unknown-sale' | 'unavailable' } = { atMs: 0, reason: 'unavailable' }
  #looking: Promise<void> | null = null
  readonly #waiting = new Set<() => void>()

  constructor(ctx: DurableObjectState, env: Env) {
    super(ctx, env)
    this.#config = readRoomConfig(env)
    const kept = ctx.storage.kv.get<Sale>('sale')
    // What a neighbouring version kept may lack what this one remembers besides.
    this.#sale = kept
      ? {
          ...kept,
          state: { ...kept.state, hopeful: kept.state.hopeful ?? 0 },
          memory: { ...NOTHING_SEEN, ...kept.memory },
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
    const sale = closedIfDue(this.#sale, this.#next, nowMs)
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
    else if (ageMs > LOOK_MS) this.ctx.waitUntil(this.#look(name))
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
    if (state) sale = told(sale, state, (askedAtMs + nowMs) / 2, nowMs)
    if (!sale) return
    if (beacon) sale = { ...sale, beacon }
    sale = closedIfDue(sale, this.#next, nowMs)
    sale = observed(sale, { state, nowMs, highestNumber: this.#next - 1 }, this.#config)
    const decided = this.#decided(sale, nowMs)
    this.#keep(decided)
    await this.#setAlarm(decided, nowMs)
  }

  async #askOrigin(name: string): Promise<SaleState | 'unknown-sale' | 'unavailable'> {
    try {
      const response = await fetch(`${this.#config.originUrl}/internal/sales/${name}`, {
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

  /** The announced public value, once the pre-queue is closed. Its round is fixed by the opening, so that nobody can choose one. */
  async #beaconIfDue(): Promise<string | null> {
    const sale = this.#sale
    if (!this.#config.beaconUrl || !sale?.closed || sale.beacon) return null
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

  /** Now, on a clock that does not run backwards by a little; a great step back is met in `observed`. */
  #now(sale: Sale): number {
    const nowMs = Date.now()
    const lookedAtMs = sale.memory.looked_at_ms
    return nowMs < lookedAtMs && nowMs >= lookedAtMs - CLOCK_TOLERANCE_MS ? lookedAtMs : nowMs
  }

  /** With the next schedule announced, if it differs from the last one. */
  #decided(sale: Sale, nowMs: number): Sale {
    const previous = latest(sale.timeline)
    // At once where nobody can know anything else: at the very first look, and when nobody is in the pre-queue, so that
    // there is nothing to draw and no lease to lapse.
    const nobodyDrawn = sale.closed?.size === 0 && previous.schedule.draw_seed === null
    const fromMs =
      this.#sale === null || nobodyDrawn ? nowMs : Math.max(nowMs + ANNOUNCE_MS, previous.from_ms)
    const schedule = nextSchedule(
      {
        ...sale,
        nowMs,
        fromMs,
        previous: previous.schedule,
        highestNumber: this.#next - 1,
        draw: drawOf(sale, nowMs, this.#config.beaconUrl !== null),
      },
      this.#config,
    )
    if (schedule === previous.schedule) return sale
    for (const wake of this.#waiting) wake()
    return { ...sale, timeline: announce(sale.timeline, { from_ms: fromMs, schedule }, nowMs) }
  }

  /** When the line has caught up with the crowd, those who join now need not wait for the next look. */
  #callNewcomers(sale: Sale, nowMs: number) {
    const { from_ms, schedule } = latest(sale.timeline)
    const justAnnounced = from_ms > nowMs + ANNOUNCE_MS - CALL_EVERY_MS
    if (schedule.phase !== 'open' || justAnnounced) return
    if (serving(schedule, nowMs + ANNOUNCE_MS) >= schedule.ceiling) this.#keep(this.#decided(sale, nowMs))
  }

  #keep(sale: Sale) {
    this.ctx.storage.kv.put('sale', sale)
    this.#sale = sale
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

  async #setAlarm(sale: Sale, nowMs: number) {
    const { phase } = latest(sale.timeline).schedule
    if (phase === 'ended') return
    // Once sold out, only those who serve that answer need to hear of a restock, and they are waiting for the news.
    if (phase === 'sold_out' && this.#waiting.size === 0) return
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
  async #warmShards({ state, closed, opensAtMs }: Sale) {
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

/** With what the origin said; moments told relative to its now become moments of this clock. */
function told(known: Sale | null, state: SaleState, atMs: number, nowMs: number): Sale {
  const opensAtMs = atMs + state.opens_in_ms
  const preQueueOpensAtMs = atMs + state.pre_queue_opens_in_ms
  if (known) {
    return {
      ...known,
      state,
      preQueueOpensAtMs: steady(known.preQueueOpensAtMs, preQueueOpensAtMs),
      opensAtMs: steady(known.opensAtMs, opensAtMs),
    }
  }
  const seed = bytesToHex(crypto.getRandomValues(new Uint8Array(32)))
  const schedule = {
    sale: state.sale,
    version: 1,
    phase: nowMs >= preQueueOpensAtMs ? ('pre_queue' as const) : ('upcoming' as const),
    anchor_at_ms: opensAtMs,
    anchor_position: 0,
    rate_per_second: state.admission.rate_per_second,
    ceiling: 0,
    missed_through: 0,
    pre_queue_size: 0,
    draw_commitment: commitmentOf(seed),
    draw_seed: null,
    draw_beacon: null,
    pre_queue_opens_at: state.pre_queue_opens_at ?? new Date(nowMs).toISOString(),
    opens_at: state.opens_at,
    ends_at: state.ends_at,
    server_time_ms: nowMs,
  }
  return {
    state,
    memory: atFirst(state, nowMs),
    timeline: [{ from_ms: nowMs, schedule }],
    seed,
    beacon: null,
    preQueueOpensAtMs,
    opensAtMs,
    closed: null,
  }
}

/**
 * The opening: the pre-queue is closed at the highest number leased, and the seed is revealed with the schedule
 * announced next, ANNOUNCE_MS later; by then every lease of before has lapsed. Only with word from the origin, since it
 * cannot be undone and the opening may have been put off.
 */
function closedIfDue(sale: Sale, next: number, nowMs: number): Sale {
  if (sale.closed || sale.state.phase === 'ended') return sale
  const heard = nowMs - sale.memory.reached_at_ms <= UNREACHED_MS
  if (sale.state.phase === 'upcoming' && !(nowMs >= sale.opensAtMs && heard)) return sale
  return { ...sale, closed: { atMs: nowMs, size: next - 1 } }
}

/** With the look in its memory. A clock that was put back takes the line along as it stood, at once. */
function observed(
  sale: Sale,
  look: { state: SaleState | null; nowMs: number; highestNumber: number },
  config: RoomConfig,
): Sale {
  const timeline: Timeline =
    look.nowMs < sale.memory.looked_at_ms
      ? [
          {
            from_ms: look.nowMs,
            schedule: onClockPutBack(latest(sale.timeline).schedule, sale.memory.looked_at_ms, look.nowMs),
          },
        ]
      : sale.timeline
  const schedule = inEffect(timeline, look.nowMs)
  return { ...sale, timeline, memory: observe(sale.memory, { ...look, schedule }, config) }
}

/** The draw as it may be told; once told, it stays. */
function drawOf({ closed, seed, beacon, timeline }: Sale, nowMs: number, beaconAnnounced: boolean) {
  if (!closed) return null
  const { draw_seed, draw_beacon } = latest(timeline).schedule
  if (draw_seed !== null) return { size: closed.size, seed, beacon: draw_beacon }
  if (beaconAnnounced && !beacon && nowMs - closed.atMs < BEACON_WITHIN_MS) return null
  return { size: closed.size, seed, beacon }
}

/** What drand answers, as far as it is used. */
const Beacon = v.object({ randomness: v.pipe(v.string(), v.regex(/^([0-9a-f]{2})+$/)) })

/** The first round of drand's quicknet that is published after a moment. */
function roundAfter(atMs: number): number {
  const GENESIS_MS = 1_692_803_367_000
  const PERIOD_MS = 3_000
  return Math.floor((atMs - GENESIS_MS) / PERIOD_MS) + 2
}

/** The same moment seen through another delay of the network stays the same moment. */
function steady(knownMs: number, toldMs: number): number {
  return Math.abs(toldMs - knownMs) < 100 ? knownMs : toldMs
}

function factsOf({ state }: Sale): SaleFacts {
  const { sale, name, pre_queue_opens_at, opens_at, ends_at, hold_seconds, limit_per_visitor } = state
  const products = state.products.map(({ held: _, sold: __, ...product }) => product)
  return { sale, name, pre_queue_opens_at, opens_at, ends_at, hold_seconds, limit_per_visitor, products }
}
