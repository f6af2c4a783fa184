/**
 * The controller: the next admission schedule, from the origin's state and the coordinator's memory. Pure functions.
 *
 * It steers by arrivals at the origin, not by numbers called: it makes up, within bounds, for numbers that nobody
 * holds and for people who do not turn up. It never moves the queue back, never lets it jump after a pause, and never
 * calls more people than may still find something.
 */
import type { SaleState } from '../../../shared/api/internal.ts'
import { nextReadMs, type Prospect } from '../../../shared/next-read.ts'
import { type Phase, type Schedule, servingExactly } from '../../../shared/schedule.ts'
import {
  calledBeforeClaimWindow,
  calledBy,
  comingIn,
  hasUnits,
  isUnreached,
  type Memory,
  type Settings,
  showRatio,
  unitsOf,
} from './memory.ts'
import { lastsForPositions, productsLeft } from './stock-outlook.ts'

/** How often the coordinator refreshes the sale's state while a sale is live. */
export const REFRESH_EVERY_MS = 1_000
/** The queue never promises more than this ahead: a leaping clock can do no more. */
const HORIZON_SECONDS = 60
/** How far the queue may run ahead of the last number given out: someone who joins an idle sale does not wait. */
const LOOKAHEAD_SECONDS = 0.2

interface Situation {
  readonly nowMs: number
  /** The time from which the next schedule takes effect. */
  readonly fromMs: number
  /** The last schedule announced. */
  readonly previous: Schedule
  /** The origin's last response. */
  readonly state: SaleState
  readonly memory: Memory
  readonly highestNumber: number
  readonly preQueueOpensAtMs: number
  readonly opensAtMs: number
  readonly endsAtMs: number | null
  /** The draw, once the pre-queue is closed and the seed may be known. */
  readonly draw: { readonly size: number; readonly seed: string; readonly beacon: string | null } | null
}

/** The schedule from `fromMs` on: the previous one itself if nothing changes. */
export function nextSchedule(situation: Situation, settings: Settings): Schedule {
  const { previous, state, draw, fromMs } = situation
  const next: Schedule = {
    ...previous,
    ...(draw ? movingSchedule(situation, settings) : waitingSchedule(situation)),
    phase: phaseFrom(situation),
    pre_queue_size: draw ? draw.size : situation.highestNumber,
    draw_seed: draw?.seed ?? null,
    draw_beacon: draw?.beacon ?? null,
    pre_queue_opens_at: state.pre_queue_opens_at ?? previous.pre_queue_opens_at,
    opens_at: state.opens_at,
    ends_at: state.ends_at,
    pre_queue_opens_at_ms: situation.preQueueOpensAtMs,
    ends_at_ms: situation.endsAtMs,
    products: productsLeft(state),
    lasts_for_positions: draw ? outlook(situation, settings) : null,
    announcement: state.announcement,
    pause_reason: state.pause_reason,
    feed_version: state.feed_version,
    next_read_ms: nextReadMs(prospectOf(situation)),
    server_time_ms: fromMs,
  }
  return isSame(next, previous) ? previous : { ...next, version: previous.version + 1 }
}

function isSame(a: Schedule, b: Schedule): boolean {
  return (Object.keys(a) as (keyof Schedule)[]).every(
    (key) => key === 'server_time_ms' || key === 'version' || a[key] === b[key] || isSameText(a[key], b[key]),
  )
}

/** The parts that are read with each state. */
const isSameText = (a: unknown, b: unknown) => typeof a === 'object' && JSON.stringify(a) === JSON.stringify(b)

function outlook({ state, memory, previous, nowMs, highestNumber }: Situation, settings: Settings): number | null {
  const called = previous.draw_seed === null ? 0 : calledBy(previous, nowMs, highestNumber)
  return lastsForPositions(state, memory, called, settings)
}

function prospectOf(situation: Situation): Prospect {
  const { state, memory, nowMs, opensAtMs, draw } = situation
  // The pace of sales is known from the second refresh on.
  const { paid_per_second = 0 } = memory
  return {
    phase: phaseFrom(situation),
    unitsLeft: hasUnits(state) ? unitsOf(state, 'available') + unitsOf(state, 'held') : Number.POSITIVE_INFINITY,
    paidPerSecond: paid_per_second,
    announcedAgoMs: state.announcement && nowMs - Date.parse(state.announcement.since),
    openedAgoMs: draw && nowMs - opensAtMs,
  }
}

function phaseFrom({ draw, state, fromMs, memory, preQueueOpensAtMs, opensAtMs }: Situation): Phase {
  if (state.phase === 'ended') return 'ended'
  if (!draw) return fromMs >= preQueueOpensAtMs ? 'pre_queue' : 'upcoming'
  if (state.phase === 'sold_out') return 'sold_out'
  if (isUnreached(memory)) return 'paused'
  // A state from a moment before the opening means open by now. An opening put off after the draw, which cannot be made
  // again, means that the queue stops.
  if (state.phase === 'upcoming') return fromMs >= opensAtMs ? 'open' : 'paused'
  return state.phase
}

/** Before the draw nobody is served; the queue as announced is the one to expect. */
function waitingSchedule({ state, opensAtMs }: Situation) {
  return {
    anchor_at_ms: opensAtMs,
    anchor_position: 0,
    rate_per_second: state.admission.rate_per_second,
    ceiling: 0,
    missed_through: 0,
  }
}

function movingSchedule(situation: Situation, settings: Settings) {
  const { previous, state, memory, highestNumber, nowMs, fromMs } = situation
  const isOpening = previous.draw_seed === null
  const reached = isOpening ? 0 : servingExactly(previous, fromMs)
  const isOpen = phaseFrom(situation) === 'open'
  const rate = isOpen ? roundRate(state.admission.rate_per_second * memory.throttle * memory.boost) : 0
  const called = isOpening ? 0 : calledBy(previous, nowMs, highestNumber)
  const ceiling = isOpen
    ? Math.min(
        Math.ceil(reached + rate * HORIZON_SECONDS),
        highestNumber + Math.max(1, Math.floor(state.admission.rate_per_second * LOOKAHEAD_SECONDS)),
        called + roomFor(called, state, memory, settings),
      )
    : previous.ceiling
  // While the queue moves as before, its anchor stays, and so does every position's exact moment. Where a ceiling
  // begins or ceases to hold it back, it gets a new anchor at its current point; otherwise it would slip back or leap
  // ahead.
  const wasHeld = reached >= previous.ceiling
  const isHeld = reached >= ceiling
  const goesOn = !isOpening && rate === previous.rate_per_second && wasHeld === isHeld
  return {
    anchor_at_ms: goesOn ? previous.anchor_at_ms : fromMs,
    anchor_position: goesOn ? previous.anchor_position : reached,
    rate_per_second: rate,
    ceiling: Math.max(ceiling, Math.floor(reached)),
    missed_through: Math.max(
      isOpening ? 0 : previous.missed_through,
      Math.floor(calledBeforeClaimWindow(memory, settings)),
    ),
  }
}

/** Three decimal places are enough for a rate. */
const roundRate = (rate: number) => Math.round(rate * 1000) / 1000

/**
 * How many more may be called before someone is let in who can find nothing, or no room. The limit by units holds in
 * expectation, since units given back or wanted twice cannot be foreseen. The limit by room (`max_inside`) counts who
 * has a unit in a cart, waits for stock, is on a protected site, or is called and likely to come; before a site without
 * units here everybody who may come.
 */
function roomFor(called: number, state: SaleState, memory: Memory, settings: Settings): number {
  const units = (settings.admissionsPerUnit * unitsOf(state, 'available') - state.waiting_for_stock) * state.share
  const { coming_units, coming_people, may_come } = comingIn(memory, called, settings)
  // Where few of those called come, several are called for one unit.
  const forUnits = hasUnits(state)
    ? (units - settings.admissionsPerUnit * coming_units) / showRatio(memory, settings).unitShare
    : Number.POSITIVE_INFINITY
  const { max_inside } = state.admission
  // A site that is protected from too many has room for all who may come, and not only for those who likely do.
  const coming = hasUnits(state) ? coming_people : may_come
  const inside = unitsOf(state, 'held') + state.waiting_for_stock + state.on_site + coming
  const forRoom = max_inside === null ? Number.POSITIVE_INFINITY : max_inside - inside
  return Math.max(0, Math.floor(Math.min(forUnits, forRoom, Number.MAX_SAFE_INTEGER - called)))
}

/**
 * The same schedule later by `byMs`: a time that does not count, after which the queue continues from the same point.
 */
export function shiftSchedule(schedule: Schedule, byMs: number): Schedule {
  return { ...schedule, version: schedule.version + 1, anchor_at_ms: schedule.anchor_at_ms + byMs }
}
