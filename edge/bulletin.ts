/**
 * What the coordinator tells about a sale, and until when it is certain.
 *
 * Hundreds of isolates know the schedule, each a few hundred milliseconds later than the next. So that none of them
 * tells a visitor something that another one takes back, a change is announced before it takes effect: whoever read
 * the bulletin at a moment T knows everything that holds until T + ANNOUNCE_MS, and all change over together, by the
 * clock. An isolate that hears nothing new for longer lets its line stand still there (`nowOf` in known-sales.ts).
 */
import type { PublicSale } from '../shared/api.ts'
import type { Schedule } from '../shared/schedule.ts'

/** How long before it takes effect a change is announced. */
export const ANNOUNCE_MS = 500
/** How old the copy is that a ticket shard hands on; together with the next it stays well below ANNOUNCE_MS. */
export const MIRROR_MS = 100
/** Younger than this, an isolate's copy is answered from without a thought. */
export const FRESH_MS = 200
/** Older than this, an isolate asks before it answers; in between it answers and asks behind the response. */
export const USABLE_MS = 400

/** A schedule, and the moment from which it holds. */
interface Announcement {
  readonly from_ms: number
  readonly schedule: Schedule
}

/** In the order in which they take effect; never empty. */
export type Timeline = readonly [Announcement, ...Announcement[]]

/** What is said of the sale beside its schedule. */
export type SaleFacts = Omit<PublicSale, 'phase' | 'server_time_ms'>

/** Plain data, since it crosses from object to Worker, and their versions may differ for a while. */
export interface Bulletin {
  readonly timeline: Timeline
  readonly facts: SaleFacts
  /** How long ago the coordinator said so, and what its clock showed then. */
  readonly age_ms: number
  readonly at_ms: number
}

/** A bulletin, or why there is none. */
export type Told =
  | { readonly known: true; readonly bulletin: Bulletin }
  | { readonly known: false; readonly reason: 'unknown-sale' | 'unavailable' }

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

/** Adds an announcement, and drops what it or an earlier one has superseded for good by `nowMs`. */
export function announce(timeline: Timeline, next: Announcement, nowMs: number): Timeline {
  const kept = timeline.filter((_, i) => (timeline[i + 1]?.from_ms ?? Number.POSITIVE_INFINITY) > nowMs)
  const [first, ...rest] = [...kept.filter((a) => a.from_ms < next.from_ms), next]
  return first ? [first, ...rest] : [next]
}
