/**
 * What the coordinator tells about a sale, and until when it is certain.
 *
 * Hundreds of isolates know the schedule, each a few hundred milliseconds later than the next. So that none of them
 * tells a visitor something that another one takes back, a change is announced before it takes effect: whoever read
 * the bulletin at a moment T knows everything that holds until T + ANNOUNCE_MS, and all change over together, by the
 * clock. An isolate that hears nothing new for longer lets its line stand still there (`nowOf` in known-sales.ts).
 */
import type { PublicSale } from '../../shared/api/public.ts'
import type { Schedule } from '../../shared/schedule.ts'

/*
 * The ages of what is told, all counted from the moment at which the waiting room said it. A shard's copy must still be
 * fresh when it comes to an isolate, and an isolate's must not be used for longer than it is certain:
 * MIRROR_MS < FRESH_MS < USABLE_MS < ANNOUNCE_MS.
 */

/** How long before it takes effect a change is announced: what was told is certain for so long. */
export const ANNOUNCE_MS = 500
/** A ticket shard hands its copy on until it is so old, and then asks the waiting room for the next. */
export const MIRROR_MS = 100
/** An isolate answers from a copy younger than this, and that is all. */
export const FRESH_MS = 200
/** Older than this, it asks before it answers; in between it answers, and asks behind the response. */
export const USABLE_MS = 400

/** A name that nobody knows is asked for again after so long, by an isolate and by the waiting room. */
export const UNKNOWN_MS = 400
/** Clocks of two machines that differ by less are left alone, since both are set by the same means. */
export const CLOCK_TOLERANCE_MS = 1_000

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
