/**
 * The schedules that the coordinator has announced for a sale, and how old a copy of them may be.
 *
 * Hundreds of isolates hold a copy, each a few hundred milliseconds older or younger than the next. A change is
 * announced before it takes effect, so that no isolate contradicts another: an isolate that read a snapshot at a
 * moment T knows everything that holds until T + ANNOUNCE_MS, and all change over together, by the clock. An isolate
 * that gets no newer snapshot stops its queue from there on (sale-cache.ts).
 */
import type { Policy } from '../../shared/api/access.ts'
import type { PublicSale } from '../../shared/api/public.ts'
import { isDrawn, isFinal, type Phase, type Schedule } from '../../shared/schedule.ts'

/**
 * Ages of a snapshot, counted from the moment at which the waiting room made it. A shard's copy must still be fresh
 * when an isolate receives it, and an isolate must not use a copy for longer than it is certain: MIRROR_MS < FRESH_MS
 * < USABLE_MS < ANNOUNCE_MS.
 */

/** A change is announced this long before it takes effect: a snapshot is certain for so long. */
export const ANNOUNCE_MS = 500
/** A ticket shard hands on a copy up to this age; then it requests the next one from the waiting room. */
export const MIRROR_MS = 100
/** An isolate answers from a copy up to this age without refreshing it. */
export const FRESH_MS = 250
/** Up to this age it answers and refreshes behind the response; beyond it, it refreshes first. */
export const USABLE_MS = 450

/** An unknown sale is requested again after so long, by an isolate and by the waiting room. */
export const UNKNOWN_MS = 400
/** A clock that is put back by no more stands still instead; the line is made anew for one that is put back further. */
export const CLOCK_TOLERANCE_MS = 1_000

/** A schedule, and the moment from which it holds. */
interface Announcement {
  readonly from_ms: number
  readonly schedule: Schedule
}

/** In the order in which they take effect; never empty. */
export type Timeline = readonly [Announcement, ...Announcement[]]

/** The public sale without what its schedule says. */
export type SaleFacts = Omit<PublicSale, 'phase' | 'server_time_ms'>

/** A sale as the waiting room publishes it: plain data, since it crosses from object to Worker. */
export interface SaleSnapshot {
  readonly timeline: Timeline
  readonly facts: SaleFacts
  /** The rules that decide who may join; left out if the caller has this version. */
  readonly policy?: Policy | undefined
  /** The number of ticket shards; null means the setting of the edge. */
  readonly ticket_shards: number | null
  /** How long ago the waiting room made it, and what its clock showed then. */
  readonly age_ms: number
  readonly at_ms: number
  /** When an origin read the stock from the ledger, on the same clock. */
  readonly read_at_ms?: number
}

/** The schedule that holds at a moment. */
export function inEffect(timeline: Timeline, atMs: number): Schedule {
  let { schedule } = timeline[0]
  for (const announcement of timeline) if (announcement.from_ms <= atMs) schedule = announcement.schedule
  return schedule
}

/** The schedule announced last, in effect or not yet. */
export function latest(timeline: Timeline): Announcement {
  return timeline[timeline.length - 1] ?? timeline[0]
}

/**
 * Returns the time from which the next schedule takes effect. The end of a line that does not move changes nobody's
 * turn, so it takes effect at once: isolates learn of it one after the other, within USABLE_MS.
 */
export function nextFromMs({ from_ms, schedule }: Announcement, phase: Phase, nowMs: number): number {
  const isStanding = isDrawn(schedule) && schedule.rate_per_second === 0
  return Math.max(nowMs + (isStanding && isFinal(phase) ? 0 : ANNOUNCE_MS), from_ms)
}

/** Adds an announcement, and drops those that are superseded for good by `sinceMs`. */
export function announce(timeline: Timeline, next: Announcement, sinceMs: number): Timeline {
  const current = timeline.filter((_, i) => (timeline[i + 1]?.from_ms ?? Number.POSITIVE_INFINITY) > sinceMs)
  const [first, ...later] = [...current.filter((a) => a.from_ms < next.from_ms), next]
  return first ? [first, ...later] : [next]
}
