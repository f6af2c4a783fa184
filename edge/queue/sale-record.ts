/**
 * All that the waiting room knows of a sale. Pure functions from one record to the next; the room stores it and does
 * I/O.
 */
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import type { JoinCounts, LineFigures, SaleState } from '../../shared/api/internal.ts'
import { commitmentOf } from '../../shared/draw.ts'
import { assert } from '../../shared/lib/assert.ts'
import { USUAL_MS } from '../../shared/next-read.ts'
import { estimatedWaitSeconds, isFinal, servingExactly } from '../../shared/schedule.ts'
import type { RoomConfig } from '../http/config.ts'
import { nextSchedule, shiftSchedule } from './pace/controller.ts'
import {
  calledBeforeClaimWindow,
  calledBy,
  comingIn,
  type Memory,
  newMemory,
  observe,
  ranMs,
  type Settings,
  showRatio,
  UNREACHED_MS,
} from './pace/memory.ts'
import { productsLeft } from './pace/stock-outlook.ts'
import { momentHere, type Trip } from './room-clock.ts'
import { ANNOUNCE_MS, announce, inEffect, latest, nextFromMs, type SaleFacts, type Timeline } from './timeline.ts'

/** A reader waits for a refresh if the last one is older: longer than a refresh takes, so only after a pause. */
export const REFRESH_LATE_MS = 2_000
/** How long the opening waits for the announced beacon before it goes without. */
export const BEACON_WITHIN_MS = 30_000
/** A quicker response allows an earlier moment, but a new schedule is made only for a difference of at least this. */
const STEADY_MS = 100
/** The same for the time of the end, which pages show in minutes. */
const STEADY_END_MS = 1_000
/** After a refresh, readers are served for so long without another one. */
const SERVED_FOR_MS = REFRESH_LATE_MS + ANNOUNCE_MS

/** Stored by the waiting room, in these field names. */
export interface SaleRecord {
  readonly state: SaleState
  /** When an origin read the state from the ledger, on this clock, at the earliest. */
  readonly readAtMs: number
  readonly memory: Memory
  readonly timeline: Timeline
  /** Places taken, about as many as may still come, and those of them beyond what their network can use. */
  readonly places: { readonly joins: number; readonly crowded: number }
  readonly seed: string
  readonly beacon: string | null
  readonly preQueueOpensAtMs: number
  readonly opensAtMs: number
  readonly endsAtMs: number | null
  /** When the pre-queue was closed, and how many numbers it had; null before. */
  readonly closed: { readonly atMs: number; readonly size: number } | null
}

/**
 * Where the draw of a queue stands, which follows from the record and never goes back:
 *
 *     gathering   the pre-queue gives numbers        -> closed, in closedIfDue
 *     closed      nobody joins the draw any more     -> drawn, in withNextSchedule, once drawOf has what it needs
 *     drawn       the seed is published: each number has its position, for good
 */
export type DrawStage =
  | { readonly is: 'gathering' }
  | { readonly is: 'closed'; readonly atMs: number; readonly size: number }
  | { readonly is: 'drawn'; readonly size: number; readonly beacon: string | null }

export function drawStage({ closed, timeline }: Pick<SaleRecord, 'closed' | 'timeline'>): DrawStage {
  const { draw_seed, draw_beacon } = latest(timeline).schedule
  assert(closed !== null || draw_seed === null, 'A seed is published after the pre-queue has closed.')
  if (!closed) return { is: 'gathering' }
  return draw_seed === null ? { is: 'closed', ...closed } : { is: 'drawn', size: closed.size, beacon: draw_beacon }
}

/** A new sale. */
export function newRecord(
  state: SaleState,
  { seed, beaconAnnounced }: { seed: string; beaconAnnounced: boolean },
  trip: Trip,
): SaleRecord {
  const { heardMs: nowMs } = trip
  const opensAtMs = momentHere(null, state.opens_in_ms, trip, STEADY_MS)
  const preQueueOpensAtMs = momentHere(null, state.pre_queue_opens_in_ms, trip, STEADY_MS)
  const endsAtMs = state.ends_in_ms === null ? null : momentHere(null, state.ends_in_ms, trip, STEADY_END_MS)
  const schedule = {
    sale: state.sale,
    ...(state.line === PUBLIC_LINE ? {} : { line: state.line }),
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
    beacon_announced: beaconAnnounced,
    pre_queue_opens_at: state.pre_queue_opens_at ?? new Date(nowMs).toISOString(),
    opens_at: state.opens_at,
    ends_at: state.ends_at,
    pre_queue_opens_at_ms: preQueueOpensAtMs,
    ends_at_ms: endsAtMs,
    products: productsLeft(state),
    lasts_for_positions: null,
    announcement: state.announcement,
    feed_version: state.feed_version,
    pause_reason: state.pause_reason,
    next_read_ms: USUAL_MS,
    server_time_ms: nowMs,
  }
  return {
    state,
    readAtMs: trip.sentMs - state.read_ago_ms,
    memory: newMemory(state, nowMs),
    timeline: [{ from_ms: nowMs, schedule }],
    places: { joins: 0, crowded: 0 },
    seed,
    beacon: null,
    preQueueOpensAtMs,
    opensAtMs,
    endsAtMs,
    closed: null,
  }
}

/**
 * With the origin's response; its relative moments become moments of this clock. An origin that is cut off from the
 * ledger does not overwrite what another has read since: then it is the record itself. If all are cut off, it is the
 * same reading again, and holds.
 */
export function withState(sale: SaleRecord, state: SaleState, trip: Trip): SaleRecord {
  const { sentMs, heardMs } = trip
  // A known reading from the future does not count: the clock was put back.
  const isOld = heardMs - state.read_ago_ms < sale.readAtMs && sale.readAtMs <= heardMs
  if (isOld) return sale
  const known = sale.state.policy
  return {
    ...sale,
    // An origin that has just started, or cannot count, knows nobody who waits for stock; the known ones keep waiting.
    state: {
      ...state,
      ...(state.counted ? {} : { waiting_for_stock: Math.max(state.waiting_for_stock, sale.state.waiting_for_stock) }),
      // A caller that already has the policy does not get it again.
      policy: state.policy ?? known,
    },
    readAtMs: sentMs - state.read_ago_ms,
    preQueueOpensAtMs: momentHere(sale.preQueueOpensAtMs, state.pre_queue_opens_in_ms, trip, STEADY_MS),
    opensAtMs: momentHere(sale.opensAtMs, state.opens_in_ms, trip, STEADY_MS),
    endsAtMs: state.ends_in_ms === null ? null : momentHere(sale.endsAtMs, state.ends_in_ms, trip, STEADY_END_MS),
  }
}

/**
 * The opening, from gathering to closed: the pre-queue is closed at the highest number leased, and the next schedule,
 * ANNOUNCE_MS later, reveals the seed; by then every earlier lease has lapsed. Only after a recent response of the
 * origin, since the draw cannot be undone and the opening may have been put off.
 */
export function closedIfDue(sale: SaleRecord, highestNumber: number, nowMs: number): SaleRecord {
  if (drawStage(sale).is !== 'gathering' || sale.state.phase === 'ended') return sale
  const isReached = nowMs - sale.memory.reached_at_ms <= UNREACHED_MS
  if (sale.state.phase === 'upcoming' && !(nowMs >= sale.opensAtMs && isReached)) return sale
  return { ...sale, closed: { atMs: nowMs, size: highestNumber } }
}

interface Refresh {
  /** What the origin responded; null without a response, and where withState refused it. */
  readonly state: SaleState | null
  /**
   * True if the origin responded with a reading that was refused. The origin is then reachable, but its state is
   * unknown.
   */
  readonly isRefused?: boolean
  readonly nowMs: number
  readonly highestNumber: number
}

/**
 * With a refresh in its memory. When the clock was put back, or nobody refreshed for so long that no reader was
 * served, the line continues from the same point: that time does not count, also for those who were called before.
 */
export function withRefresh(sale: SaleRecord, { isRefused, ...refresh }: Refresh, settings: Settings): SaleRecord {
  const { nowMs } = refresh
  const { polled_at_ms, reached_at_ms } = sale.memory
  const { schedule: last } = latest(sale.timeline)
  const awayMs = Math.max(0, nowMs - polled_at_ms - SERVED_FOR_MS)
  const hasMoved = servingExactly(last, nowMs) > servingExactly(last, nowMs - awayMs)
  // After a clock was put back the line continues from the furthest point that readers may have seen.
  const byMs = nowMs < polled_at_ms ? nowMs - polled_at_ms - SERVED_FOR_MS : hasMoved ? awayMs : null
  const carried = byMs === null ? null : shiftSchedule(last, byMs)
  const timeline: Timeline = carried ? [{ from_ms: nowMs, schedule: carried }] : sale.timeline
  const memory = {
    ...sale.memory,
    polled_at_ms: polled_at_ms + awayMs,
    reached_at_ms: reached_at_ms + awayMs,
  }
  const ran = ranMs(sale.timeline, polled_at_ms, nowMs - awayMs)
  const next = observe(memory, { ...refresh, schedule: inEffect(timeline, nowMs), ranMs: ran }, settings)
  return { ...sale, timeline, memory: isRefused ? { ...next, reached_at_ms: nowMs } : next }
}

/** With places that were taken. Earlier ones are forgotten in proportion, once there are more than may still come. */
export function withJoins(
  sale: SaleRecord,
  { joins = 0, crowded = 0 }: Partial<JoinCounts>,
  highestNumber: number,
  settings: Settings,
): SaleRecord {
  const { places } = sale
  const others = Math.max(0, highestNumber - calledBeforeClaimWindow(sale.memory, settings) - joins)
  const kept = Math.min(1, others / Math.max(1, places.joins))
  return { ...sale, places: { joins: places.joins * kept + joins, crowded: places.crowded * kept + crowded } }
}

/** With the next schedule announced, if it differs from the last one; `isNew`: no reader has seen any yet. */
export function withNextSchedule(
  sale: SaleRecord,
  { nowMs, highestNumber, isNew }: { nowMs: number; highestNumber: number; isNew: boolean },
  config: Settings & Pick<RoomConfig, 'beaconUrl'>,
): SaleRecord {
  const previous = latest(sale.timeline)
  // At once where nobody can know anything else: at the very first refresh, and with an empty pre-queue, where there is
  // nothing to draw and no lease to lapse.
  const stage = drawStage(sale)
  const isNobodyDrawn = stage.is === 'closed' && stage.size === 0
  const fromMs = isNew || isNobodyDrawn ? nowMs : nextFromMs(previous, sale.state.phase, nowMs)
  const draw = drawOf(sale, nowMs, config.beaconUrl !== null)
  const schedule = nextSchedule({ ...sale, nowMs, fromMs, previous: previous.schedule, highestNumber, draw }, config)
  if (schedule === previous.schedule) return sale
  // What held since the last refresh shows how long turns could be used (ranMs).
  const sinceMs = Math.min(nowMs, sale.memory.polled_at_ms)
  return { ...sale, timeline: announce(sale.timeline, { from_ms: fromMs, schedule }, sinceMs) }
}

/** The draw, once it may be published; once published, it stays. */
export function drawOf(sale: SaleRecord, nowMs: number, isBeaconAnnounced: boolean) {
  const { seed, beacon } = sale
  const stage = drawStage(sale)
  switch (stage.is) {
    case 'gathering':
      return null
    case 'closed': {
      const waits = isBeaconAnnounced && !beacon && nowMs - stage.atMs < BEACON_WITHIN_MS
      return waits ? null : { size: stage.size, seed, beacon }
    }
    case 'drawn':
      return { size: stage.size, seed, beacon: stage.beacon }
  }
}

/** The first round of drand's quicknet that is published after a moment. */
export function roundAfter(atMs: number): number {
  const GENESIS_MS = 1_692_803_367_000
  const PERIOD_MS = 3_000
  return Math.floor((atMs - GENESIS_MS) / PERIOD_MS) + 2
}

export function factsOf({ state }: SaleRecord): SaleFacts {
  const { sale, name, pre_queue_opens_at, opens_at, ends_at, hold_seconds, limit_per_visitor } = state
  const { contact, seller, tax, fees, delivery, indexed, mails, push, payment, test, goods_version, chart_version } =
    state
  const products = state.products.map(({ held: _, sold: __, ...product }) => product)
  return {
    sale,
    name,
    pre_queue_opens_at,
    opens_at,
    ends_at,
    hold_seconds,
    limit_per_visitor,
    contact,
    seller,
    tax,
    fees,
    delivery,
    indexed,
    mails,
    push,
    payment,
    test,
    products,
    goods_version,
    chart_version,
  }
}

/**
 * What cached pages show, apart from the stock, the queue and the phases that a page's script changes by itself: it
 * changes when the sale ends or lives again, and when an operator changes it.
 */
export function cachedContentOf(sale: SaleRecord): string {
  const { phase, pre_queue_opens_at, opens_at, ends_at, announcement, pause_reason } = latest(sale.timeline).schedule
  const { products, ...facts } = factsOf(sale)
  const offered = products.map(({ available: _, ...product }) => product)
  const end = isFinal(phase) ? phase : null
  const said = [announcement?.id, pause_reason]
  return JSON.stringify([end, pre_queue_opens_at, opens_at, ends_at, facts, offered, sale.state.policy?.lines, said])
}

/** The queue's figures for operators. */
export function figuresOf(
  { timeline, memory, places }: SaleRecord,
  highestNumber: number,
  nowMs: number,
  settings: Settings,
): LineFigures {
  const schedule = inEffect(timeline, nowMs)
  const isMoving = schedule.phase === 'open'
  const called = calledBy(schedule, nowMs, highestNumber)
  // In a final phase nobody is called any more, so nobody waits.
  const waiting = isFinal(schedule.phase) ? 0 : highestNumber - called
  const wait = isMoving && waiting > 0 ? estimatedWaitSeconds(schedule, highestNumber, nowMs) : null
  const coming = comingIn(memory, called, settings)
  const expected = waiting * showRatio(memory, settings).share + coming.coming_units * settings.admissionsPerUnit
  return {
    numbers_given: highestNumber,
    called,
    waiting,
    ...coming,
    likely_people: expected * (1 - places.crowded / Math.max(1, places.joins)),
    ...(wait === null ? {} : { wait_seconds: wait }),
    called_per_second: isMoving ? schedule.rate_per_second : 0,
    boost: memory.boost,
    throttle: memory.throttle,
    clock_ms: nowMs,
  }
}
