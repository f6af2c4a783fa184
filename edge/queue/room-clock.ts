/**
 * What travel, clocks and old answers may do to an isolate's copy of a snapshot. Pure functions.
 *
 * Whoever asks at `sent`, on a clock of its own, and hears the answer at `heard` knows that the waiting room stamped
 * it between the two, or up to `age` earlier where a mirror hands it on. With the stamp `t` of the room's clock, the
 * room's clock less one's own is at least `t - heard` and at most `t - sent + age`. Several answers narrow this
 * interval. The bounds that follow, and that the tests hold:
 *
 * - An isolate is at no moment before one that it was at: nobody moves back, and no version is followed by the one
 *   before it.
 * - It is at no moment later than ANNOUNCE_MS after the stamp of its copy, whatever its clock does: a pause, which is
 *   announced so long before, is not overrun.
 * - It is ahead of the room by nothing where both clocks agree; otherwise by at most the quickest round trip that it
 *   has heard, and what the clocks have drifted since. Where a quicker answer shows that it is too far ahead, it
 *   stands still until the room is as far.
 * - An answer that is older than the copy at hand changes nothing.
 */
import { ANNOUNCE_MS, CLOCK_TOLERANCE_MS } from './timeline.ts'

/** Two clocks that are set by the same means drift apart by less: each is corrected by at most 0.5 ms a second. */
export const DRIFT = 1 / 1_000

/** When a request left and when its answer came, on the clock of whoever asked. */
export interface Trip {
  readonly sentMs: number
  readonly heardMs: number
}

/**
 * An answer's snapshot: its latest version, its stamp on the room's clock, and how old it was at most when it was
 * sent.
 */
export interface Stamped {
  readonly version: number
  readonly at_ms: number
  readonly age_ms: number
}

/** What is known of the room's clock, from the answer that brought the copy at hand and those before it. */
export interface Known {
  readonly version: number
  readonly stampedMs: number
  /** The room's clock less the own one is between these. */
  readonly leastMs: number
  readonly mostMs: number
  readonly heardMs: number
}

/** The room's clock less the own one is between these. */
type Bounds = Pick<Known, 'leastMs' | 'mostMs'>

/**
 * What an answer is to what is known: `older` than the copy at hand; the `first`; one that `narrows` the bounds; or
 * one that `excludes` them, after one of the clocks was changed.
 */
type Hearing =
  | { readonly is: 'first' | 'excludes' }
  | { readonly is: 'older'; readonly known: Known }
  | ({ readonly is: 'narrows' } & Bounds)

function hearingOf(known: Known | null, { version, at_ms }: Stamped, heardMs: number, answer: Bounds): Hearing {
  if (!known) return { is: 'first' }
  if (version < known.version || (version === known.version && at_ms < known.stampedMs)) return { is: 'older', known }
  const driftMs = DRIFT * Math.max(0, heardMs - known.heardMs)
  const leastMs = Math.max(known.leastMs - driftMs, answer.leastMs)
  const mostMs = Math.min(known.mostMs + driftMs, answer.mostMs)
  return leastMs <= mostMs ? { is: 'narrows', leastMs, mostMs } : { is: 'excludes' }
}

/** What is known after an answer. */
export function hear(known: Known | null, stamped: Stamped, { sentMs, heardMs }: Trip): Known {
  const { version, at_ms, age_ms } = stamped
  // A clock that was put back meanwhile shows an answer before its request.
  const sinceStampMs = heardMs - Math.min(sentMs, heardMs) + age_ms
  // The stamp is as old as that at most, and the clocks have drifted since.
  const answer = { leastMs: at_ms - heardMs, mostMs: at_ms - heardMs + (1 + DRIFT) * sinceStampMs }
  const next = { version, stampedMs: at_ms, heardMs }
  const hearing = hearingOf(known, stamped, heardMs, answer)
  switch (hearing.is) {
    case 'older':
      return hearing.known
    case 'narrows':
      return { ...next, leastMs: hearing.leastMs, mostMs: hearing.mostMs }
    case 'first':
    case 'excludes':
      return { ...next, ...answer }
  }
}

/** The room's clock. Both clocks are set by the same means: no greater difference is assumed than the answers show. */
export function roomMs({ leastMs, mostMs }: Known, nowMs: number): number {
  return nowMs + Math.min(Math.max(0, leastMs), mostMs)
}

/** How long ago the room made the copy at hand; negative after the own clock was put back. */
export const ageMs = (known: Known, nowMs: number): number => roomMs(known, nowMs) - known.stampedMs

/** The moment of the room's clock that places are computed for, where `reachedMs` was the last one. */
export function momentAt(known: Known, nowMs: number, reachedMs: number): number {
  const { stampedMs } = known
  const certainUntilMs = stampedMs + ANNOUNCE_MS
  const atMs = Math.min(Math.max(roomMs(known, nowMs), stampedMs), certainUntilMs)
  // The room's clock was put back by so much that it made a new line for it (withRefresh).
  const isPutBack = reachedMs - certainUntilMs > CLOCK_TOLERANCE_MS
  return isPutBack ? atMs : Math.max(atMs, reachedMs)
}

/** A clock that was put back by a little stands still instead. */
export function steadyMs(lastMs: number, clockMs: number): number {
  return clockMs < lastMs && lastMs - clockMs <= CLOCK_TOLERANCE_MS ? lastMs : clockMs
}

/**
 * A moment on the own clock that was `inMs` away when another machine answered. It is the latest that it can be:
 * nobody comes too late who came before it. The known moment stays where the answer allows it or where both have
 * passed, and where it is later by at most `steadyForMs`: a slow answer changes nothing.
 */
export function momentHere(
  knownMs: number | null,
  inMs: number,
  { sentMs, heardMs }: Trip,
  steadyForMs: number,
): number {
  const latestMs = heardMs + inMs
  if (knownMs === null) return latestMs
  const isPossible = knownMs >= sentMs + inMs && knownMs <= latestMs + steadyForMs
  const hasPassed = inMs <= 0 && knownMs <= heardMs
  return isPossible || hasPassed ? knownMs : latestMs
}
