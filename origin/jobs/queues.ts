/** The queues: what a job of each holds, for how long a worker has it, and when it is tried again. Pure. */
import type { OrderSnapshot } from '../ledger/schema/events.ts'

/** What a job of each queue holds. */
export interface JobData {
  readonly charge: {
    readonly order: string
    /** Since when the provider has rejected it unprocessed, by the ledger's time. */
    readonly turnedAwayAtMs?: number
  }
  readonly capture: { readonly charge: string; readonly order: string }
  readonly refund: { readonly charge: string; readonly order: string; readonly refund: string }
  /** One time (ISO 8601) that a scheduled action is due. */
  readonly scheduled: { readonly action: string; readonly dueAt: string }
  readonly webhook: {
    readonly message: string
    readonly type: string
    readonly body: string
    /** The last response's HTTP status. */
    readonly status?: number | null
  }
  readonly mail: OrderMail | AskedMail
}

/** `event`: transaction and number of the event that the mail is about; `push`: the ask of the browser that gets it instead. */
export interface OrderMail {
  readonly order: string
  readonly event: string
  readonly push?: string
  readonly type: string
  readonly snapshot: OrderSnapshot | null
}

/** Asked for on a page of the sale. `seconds`: until a turn that is near. */
export interface AskedMail {
  readonly ask: string
  readonly kind: 'turn_near' | 'turn' | 'sold_out' | 'restocked'
  readonly seconds: number | null
}
export type QueueName = keyof JobData

interface QueuePolicy {
  /** A job taken longer ago than this was lost with its worker, and another worker takes it: longer than an attempt lasts. */
  readonly leaseMs: number
  /** The pause after a failed attempt doubles from the first to the longest, jittered. */
  readonly firstPauseMs: number
  readonly maxPauseMs: number
  /** After the last attempt, or after this age, a failed job is dead: it waits for an operator. */
  readonly attempts: number
  readonly lifetimeMs?: number
  /** Done jobs stay, as a log of what was sent, until retention deletes them. */
  readonly keepsDone?: boolean
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * Charges are given up sooner, by charges.ts, unless the provider answers nobody: then they are tried for an hour. Captures and
 * refunds are tried for hours before a person must know.
 */
export const QUEUES: Readonly<Record<QueueName, QueuePolicy>> = {
  charge: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * SECOND, attempts: 720 },
  capture: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * MINUTE, attempts: 60 },
  refund: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * MINUTE, attempts: 60 },
  // A run takes milliseconds, and is late after five seconds.
  scheduled: { leaseMs: 3 * SECOND, firstPauseMs: SECOND, maxPauseMs: 10 * SECOND, attempts: 360 },
  // All that a worker takes for an endpoint is tried within a minute and a half. A day has some twenty attempts.
  webhook: {
    leaseMs: 90 * SECOND,
    firstPauseMs: SECOND,
    maxPauseMs: 2 * HOUR,
    attempts: Number.POSITIVE_INFINITY,
    lifetimeMs: 24 * HOUR,
    keepsDone: true,
  },
  mail: { leaseMs: 10 * MINUTE, firstPauseMs: 30 * SECOND, maxPauseMs: HOUR, attempts: 30, keepsDone: true },
}

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[]
export const isQueue = (name: string): name is QueueName => Object.hasOwn(QUEUES, name)

/** A job in the hands of a worker. */
export interface Job<Name extends QueueName = QueueName> {
  readonly job_id: number
  readonly queue: Name
  readonly group_id: string
  readonly data: JobData[Name]
  /** Begins with 1. */
  readonly attempt: number
  readonly ageMs: number
}

/** When another attempt makes sense. */
export interface Wish {
  /** No sooner, as whoever refused it said. */
  readonly afterMs?: number
  /** No later: it would help nobody any more. */
  readonly withinMs?: number
}

/** How an attempt ended. `note` is merged into the job's data. */
export type Outcome = { readonly note?: object } & (
  | { readonly end: 'done' }
  /** Tried again after a pause; dead after the last attempt. */
  | ({ readonly end: 'failed'; readonly error: string } & Wish)
  /** Another attempt would not help. */
  | { readonly end: 'dead'; readonly error: string }
  /** Not tried, which does not count as an attempt. */
  | { readonly end: 'returned'; readonly waitMs?: number }
)

export interface Ended<Name extends QueueName = QueueName> {
  readonly job: Job<Name>
  readonly outcome: Outcome
}

/** So that what failed together is not tried again together. */
export const jittered = (ms: number, random: number) => ms * (0.75 + random / 2)

/**
 * The pause after a job's failed attempt; null: it is dead. The last attempt is made at the end of its lifetime. No wish makes a
 * pause longer than the longest.
 */
export function pauseAfter(
  { queue, attempt, ageMs }: Pick<Job, 'queue' | 'attempt' | 'ageMs'>,
  { afterMs = 0, withinMs = Number.POSITIVE_INFINITY }: Wish = {},
  random = Math.random(),
): number | null {
  const { firstPauseMs, maxPauseMs, attempts, lifetimeMs = Number.POSITIVE_INFINITY } = QUEUES[queue]
  if (attempt >= attempts || ageMs >= lifetimeMs) return null
  const ownMs = jittered(Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)), random)
  const pauseMs = Math.max(ownMs, Math.min(maxPauseMs, afterMs) * (1 + random / 4))
  return pauseMs > withinMs ? null : Math.min(pauseMs, lifetimeMs - ageMs)
}
