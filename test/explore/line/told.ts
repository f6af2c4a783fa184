/** What the judge of the line is told: by visitors, of calls, and by the README. */
import { type Place, type Schedule, serving } from '../../../shared/schedule.ts'

/** A number that a visitor was told. */
export interface Told {
  readonly visitor: string
  readonly number: number
  /** When they asked for it. */
  readonly beganMs: number
  readonly atMs: number
  /** False for a number that they had before. */
  readonly isFirst: boolean
}

/** A place that a visitor saw; `isolate` is the name of a memory, which ends with it. */
export interface Seen {
  readonly isolate: string
  readonly number: number
  readonly place: Place
  readonly schedule: Schedule
  readonly atMs: number
  /** The same moment on the room's clock, as the isolate knows it. */
  readonly roomMs: number
}

/** The way of a lease. */
export interface Trip {
  readonly method: 'lease' | 'take'
  readonly sentMs: number
  readonly heardMs: number
}

/** The bounds that the README and the settings state. */
export interface Bounds {
  readonly ratePerSecond: number
  readonly admissionsPerUnit: number
  readonly claimMs: number
  /** How far two visitors can be out of order, beside a round trip. */
  readonly orderMs: number
}

export type Timeline = readonly { readonly from_ms: number; readonly schedule: Schedule }[]
export type Published = Record<'text', string> & Record<'version' | 'serving' | 'atMs', number> & { timeline: Timeline }

/** How long numbers were on their way at most, between these moments. */
export function longestMs(trips: readonly Trip[], fromMs: number, untilMs: number): number {
  const met = trips.filter(({ sentMs, heardMs }) => heardMs >= fromMs && sentMs <= untilMs)
  const longest = (by: Trip['method']) =>
    Math.max(0, ...met.filter(({ method }) => method === by).map(({ sentMs, heardMs }) => heardMs - sentMs))
  return longest('lease') + longest('take')
}

/** How far a published line is at a moment. */
export function servingAt(timeline: Timeline, atMs: number): number {
  const current = timeline.findLast(({ from_ms }) => from_ms <= atMs) ?? timeline[0]
  return current ? serving(current.schedule, atMs) : 0
}
