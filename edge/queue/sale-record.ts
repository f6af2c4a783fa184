/**
 * The record of a sale: all that the waiting room knows of it, and what each event makes of that. Pure functions from one
 * record to the next; the room keeps the record, and does what needs others.
 */
import type { LineFigures, SaleState } from '../../shared/api/internal.ts'
import { commitmentOf } from '../../shared/draw.ts'
import { estimatedWaitSeconds, isFinal, servingExactly } from '../../shared/schedule.ts'
import type { RoomConfig } from '../config.ts'
import {
  atFirst,
  calledBy,
  LOOK_LATE_MS,
  type Memory,
  nextSchedule,
  observe,
  onClockPutBack,
  type Settings,
  shifted,
  UNREACHED_MS,
} from './controller.ts'
import { ANNOUNCE_MS, announce, inEffect, latest, type SaleFacts, type Timeline } from './timeline.ts'
import { type Foretold, NOTHING_FORETOLD, waitRatio, watch } from './wait-accuracy.ts'

/** How long the opening waits for the announced beacon before it goes without. */
export const BEACON_WITHIN_MS = 30_000
/** The same moment seen through another delay of the network differs by less, and stays the same moment. */
const STEADY_MS = 100
/** The end is told to those who wait, in minutes: a look that was slow must not make a new schedule of it. */
const STEADY_END_MS = 1_000
/** One reading of the ledger, told twice, seems to be from moments that differ by less: a look takes no longer. */
const STEADY_READ_MS = 1_000
/** Of a line that was looked at nobody is told anything later than this, unless it is looked at again. */
const TOLD_FOR_MS = LOOK_LATE_MS + ANNOUNCE_MS

export interface SaleRecord {
  readonly state: SaleState
  /** When an origin read that from the ledger, on this clock. */
  readonly readAtMs: number
  readonly memory: Memory
  readonly foretold: Foretold
  readonly timeline: Timeline
  readonly seed: string
  readonly beacon: string | null
  readonly preQueueOpensAtMs: number
  readonly opensAtMs: number
  readonly endsAtMs: number | null
  /** When the pre-queue was closed, and how many numbers it had; null before. */
  readonly closed: { readonly atMs: number; readonly size: number } | null
}

/** A sale heard of for the first time; `atMs` is when the origin spoke, on this clock. */
export function newRecord(state: SaleState, seed: string, atMs: number, nowMs: number): SaleRecord {
  const opensAtMs = atMs + state.opens_in_ms
  const preQueueOpensAtMs = atMs + state.pre_queue_opens_in_ms
  const endsAtMs = state.ends_in_ms === null ? null : atMs + state.ends_in_ms
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
    pre_queue_opens_at_ms: preQueueOpensAtMs,
    ends_at_ms: endsAtMs,
    server_time_ms: nowMs,
  }
  return {
    state,
    readAtMs: atMs - state.read_ago_ms,
    memory: atFirst(state, nowMs),
    foretold: NOTHING_FORETOLD,
    timeline: [{ from_ms: nowMs, schedule }],
    seed,
    beacon: null,
    preQueueOpensAtMs,
    opensAtMs,
    endsAtMs,
    closed: null,
  }
}

/**
 * With what the origin said; moments told relative to its now become moments of this clock. One that has passed stays as
 * it was: how long ago that is changes nothing, and must not make a new schedule. What another origin has read since is not
 * undone by one that is cut off from the ledger; where all of them are, it is the same reading again, and holds.
 */
export function withState(sale: SaleRecord, state: SaleState, atMs: number): SaleRecord {
  const readAtMs = atMs - state.read_ago_ms
  // A reading that is still to come is none: the clock was put back.
  if (readAtMs < sale.readAtMs - STEADY_READ_MS && sale.readAtMs <= atMs) return sale
  const steady = (knownMs: number | null, inMs: number, steadyMs: number) => {
    const toldMs = atMs + inMs
    if (knownMs === null) return toldMs
    return Math.abs(toldMs - knownMs) < steadyMs || Math.max(toldMs, knownMs) <= atMs ? knownMs : toldMs
  }
  return {
    ...sale,
    // An origin that has just started, or cannot count, knows of nobody who hopes for a unit; they hope on.
    state: state.counted ? state : { ...state, hopeful: Math.max(state.hopeful, sale.state.hopeful) },
    readAtMs,
    preQueueOpensAtMs: steady(sale.preQueueOpensAtMs, state.pre_queue_opens_in_ms, STEADY_MS),
    opensAtMs: steady(sale.opensAtMs, state.opens_in_ms, STEADY_MS),
    endsAtMs: state.ends_in_ms === null ? null : steady(sale.endsAtMs, state.ends_in_ms, STEADY_END_MS),
  }
}

/**
 * The opening: the pre-queue is closed at the highest number leased, and the seed is revealed with the schedule
 * announced next, ANNOUNCE_MS later; by then every lease of before has lapsed. Only with word from the origin, since it
 * cannot be undone and the opening may have been put off.
 */
export function closedIfDue(sale: SaleRecord, highestNumber: number, nowMs: number): SaleRecord {
  if (sale.closed || sale.state.phase === 'ended') return sale
  const heard = nowMs - sale.memory.reached_at_ms <= UNREACHED_MS
  if (sale.state.phase === 'upcoming' && !(nowMs >= sale.opensAtMs && heard)) return sale
  return { ...sale, closed: { atMs: nowMs, size: highestNumber } }
}

/**
 * With the look in its memory. A clock that was put back takes the line along as it stood, at once. And where nobody looked
 * for so long that nobody was told of the line any more, it goes on from there: that time was none, to those who were
 * called before as well.
 */
export function withLook(
  sale: SaleRecord,
  look: { state: SaleState | null; nowMs: number; highestNumber: number },
  settings: Settings,
): SaleRecord {
  const { nowMs } = look
  const { looked_at_ms, reached_at_ms } = sale.memory
  const { schedule: last } = latest(sale.timeline)
  const awayMs = Math.max(0, nowMs - looked_at_ms - TOLD_FOR_MS)
  const wentOn = servingExactly(last, nowMs) > servingExactly(last, nowMs - awayMs)
  const carried =
    nowMs < looked_at_ms ? onClockPutBack(last, looked_at_ms, nowMs) : wentOn ? shifted(last, awayMs) : null
  const timeline: Timeline = carried ? [{ from_ms: nowMs, schedule: carried }] : sale.timeline
  const schedule = inEffect(timeline, nowMs)
  const memory = {
    ...sale.memory,
    looked_at_ms: looked_at_ms + awayMs,
    reached_at_ms: reached_at_ms + awayMs,
  }
  return {
    ...sale,
    timeline,
    memory: observe(memory, { ...look, schedule }, settings),
    foretold: watch(sale.foretold, schedule, look.highestNumber, nowMs),
  }
}

/** With the next schedule announced, if it differs from the last one; `isNew`: nobody has been told of any yet. */
export function withNextSchedule(
  sale: SaleRecord,
  { nowMs, highestNumber, isNew }: { nowMs: number; highestNumber: number; isNew: boolean },
  config: RoomConfig,
): SaleRecord {
  const previous = latest(sale.timeline)
  // At once where nobody can know anything else: at the very first look, and when nobody is in the pre-queue, so that
  // there is nothing to draw and no lease to lapse.
  const nobodyDrawn = sale.closed?.size === 0 && previous.schedule.draw_seed === null
  const fromMs = isNew || nobodyDrawn ? nowMs : Math.max(nowMs + ANNOUNCE_MS, previous.from_ms)
  const draw = drawOf(sale, nowMs, config.beaconUrl !== null)
  const schedule = nextSchedule(
    { ...sale, nowMs, fromMs, previous: previous.schedule, highestNumber, draw },
    config,
  )
  if (schedule === previous.schedule) return sale
  return { ...sale, timeline: announce(sale.timeline, { from_ms: fromMs, schedule }, nowMs) }
}

/** The draw as it may be told; once told, it stays. */
export function drawOf(
  { closed, seed, beacon, timeline }: SaleRecord,
  nowMs: number,
  beaconAnnounced: boolean,
) {
  if (!closed) return null
  const { draw_seed, draw_beacon } = latest(timeline).schedule
  if (draw_seed !== null) return { size: closed.size, seed, beacon: draw_beacon }
  if (beaconAnnounced && !beacon && nowMs - closed.atMs < BEACON_WITHIN_MS) return null
  return { size: closed.size, seed, beacon }
}

/** The first round of drand's quicknet that is published after a moment. */
export function roundAfter(atMs: number): number {
  const GENESIS_MS = 1_692_803_367_000
  const PERIOD_MS = 3_000
  return Math.floor((atMs - GENESIS_MS) / PERIOD_MS) + 2
}

/** What anyone may know of the sale beside its schedule. */
export function factsOf({ state }: SaleRecord): SaleFacts {
  const { sale, name, pre_queue_opens_at, opens_at, ends_at, hold_seconds, limit_per_visitor } = state
  const products = state.products.map(({ held: _, sold: __, ...product }) => product)
  return { sale, name, pre_queue_opens_at, opens_at, ends_at, hold_seconds, limit_per_visitor, products }
}

/** The line as operators watch it. */
export function figuresOf(
  { timeline, memory, foretold }: SaleRecord,
  highestNumber: number,
  nowMs: number,
): LineFigures {
  const schedule = inEffect(timeline, nowMs)
  const moves = schedule.phase === 'open'
  const called = calledBy(schedule, nowMs, highestNumber)
  // Once it is sold out or has ended nobody is called any more, and nobody waits for it.
  const waiting = isFinal(schedule.phase) ? 0 : highestNumber - called
  const ratio = waitRatio(foretold, nowMs)
  const wait = moves && waiting > 0 ? estimatedWaitSeconds(schedule, highestNumber, nowMs) : null
  return {
    numbers_given: highestNumber,
    called,
    waiting,
    ...(wait === null ? {} : { wait_seconds: wait }),
    ...(ratio === null ? {} : { wait_ratio: ratio }),
    called_per_second: moves ? schedule.rate_per_second : 0,
    boost: memory.boost,
    throttle: memory.throttle,
  }
}
