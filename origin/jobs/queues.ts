/** Defines the queues: the data of a job, the length of its lease, and the times of its retries. Pure. */
import type { Alert, AlertChannel } from '../../shared/api/operators/alerts.ts'
import type { OrderSnapshot } from '../ledger/schema/events.ts'

/** The data of a job, by queue. */
export interface JobData {
  readonly charge: {
    readonly order: string
    /** The time of the ledger's clock since which the provider has rejected the charge unprocessed. */
    readonly turnedAwayAtMs?: number
    /** The span (`traceparent`) of the call that paid, if that call is traced. */
    readonly trace?: string
  }
  readonly capture: { readonly charge: string; readonly order: string }
  readonly refund: { readonly charge: string; readonly order: string; readonly refund: string }
  /** A time (ISO 8601) at which a scheduled action is due. */
  readonly scheduled: {
    readonly action: string
    readonly dueAt: string
    /** The operator who has the action run now, whatever its time. */
    readonly by?: string
  }
  readonly webhook: {
    readonly message: string
    readonly type: string
    readonly body: string
    /** The HTTP status of the last response. */
    readonly status?: number | null
    /** The latest attempts, the oldest first. */
    readonly tries?: readonly WebhookTry[]
    /** The time of the first attempt that failed. */
    readonly failsSince?: string
  }
  readonly mail: OrderMail | AskedMail
  readonly alert: {
    readonly channel: AlertChannel
    readonly alert: Alert
    /** The recipients of a mail that is not for those who hear of findings. */
    readonly to?: readonly string[]
  }
}

/** An attempt to send a message. `error` is null if the endpoint accepted it. */
export interface WebhookTry {
  readonly at: string
  readonly ms: number
  readonly status: number | null
  readonly error: string | null
}

/**
 * `event` is the transaction and number of the event that the mail is about. `push` is the request of the browser
 * that gets the message instead.
 */
export interface OrderMail {
  readonly order: string
  readonly event: string
  readonly push?: string
  readonly type: string
  readonly snapshot: OrderSnapshot | null
}

/** A message that was requested on a page of the sale. `seconds` is the time until a turn that is near. */
export interface AskedMail {
  readonly ask: string
  readonly kind: 'turn_near' | 'turn' | 'sold_out' | 'restocked'
  readonly seconds: number | null
}
export type QueueName = keyof JobData

interface QueuePolicy {
  /**
   * A lease is longer than an attempt. A job that was taken longer ago than this was lost with its worker, and
   * another worker takes it.
   */
  readonly leaseMs: number
  /** The worker renews the lease during an attempt that may last longer, so that only a lost worker's lease ends. */
  readonly isRenewed?: boolean
  /** The pause after a failed attempt doubles from the first to the longest, jittered. */
  readonly firstPauseMs: number
  readonly maxPauseMs: number
  /** After the last attempt, or after this age, a failed job is dead, which means that it waits for an operator. */
  readonly attempts: number
  readonly lifetimeMs?: number
  /** Finished jobs stay as a log of sent messages until retention deletes them. */
  readonly keepsDone?: boolean
}

const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE

/**
 * charges.ts gives up charges sooner, unless the provider responds to nobody, in which case they are tried for an
 * hour. Captures and refunds are tried for hours before an operator is informed.
 */
export const QUEUES: Readonly<Record<QueueName, QueuePolicy>> = {
  charge: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * SECOND, attempts: 720 },
  capture: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * MINUTE, attempts: 60 },
  refund: { leaseMs: 10 * SECOND, firstPauseMs: SECOND, maxPauseMs: 5 * MINUTE, attempts: 60 },
  // A run takes milliseconds, and counts as late after five seconds.
  scheduled: { leaseMs: 3 * SECOND, firstPauseMs: SECOND, maxPauseMs: 10 * SECOND, attempts: 360 },
  // A worker tries all that it takes for an endpoint within a minute and a half. A day has about twenty attempts.
  webhook: {
    leaseMs: 90 * SECOND,
    firstPauseMs: SECOND,
    maxPauseMs: 2 * HOUR,
    attempts: Number.POSITIVE_INFINITY,
    lifetimeMs: 24 * HOUR,
    keepsDone: true,
  },
  // A slow mail server may need minutes for a message, but the mails of a killed worker are sent within a minute.
  mail: {
    leaseMs: 45 * SECOND,
    isRenewed: true,
    firstPauseMs: 30 * SECOND,
    maxPauseMs: HOUR,
    attempts: 30,
    keepsDone: true,
  },
  // After a day nobody needs to be told any more, and the console shows what is still open.
  alert: {
    leaseMs: 60 * SECOND,
    firstPauseMs: 5 * SECOND,
    maxPauseMs: 10 * MINUTE,
    attempts: 100,
    lifetimeMs: 24 * HOUR,
  },
}

export const QUEUE_NAMES = Object.keys(QUEUES) as readonly QueueName[]
export const isQueue = (name: string): name is QueueName => Object.hasOwn(QUEUES, name)

/** A job that a worker has taken. */
export interface Job<Name extends QueueName = QueueName> {
  readonly job_id: number
  readonly queue: Name
  readonly group_id: string
  readonly data: JobData[Name]
  /** The first attempt is 1. */
  readonly attempt: number
  readonly ageMs: number
  /** The time for which it could have begun. */
  readonly waitedMs: number
}

/** What a trace says of an attempt. */
export const attemptOf = ({ attempt, waitedMs }: Job) => ({ 'job.attempt': attempt, 'job.waited_ms': waitedMs })

/** The period in which another attempt makes sense. */
export interface Wish {
  /** The next attempt is no sooner than this, as the recipient demands. */
  readonly afterMs?: number
  /** The next attempt is no later than this, because the message would no longer help. */
  readonly withinMs?: number
}

/** The result of an attempt. `note` is merged into the job's data. */
export type Outcome = { readonly note?: object } & (
  | { readonly end: 'done' }
  /** The job is tried again after a pause, and is dead after the last attempt. */
  | ({ readonly end: 'failed'; readonly error: string } & Wish)
  /** The job is dead at once, because a further attempt would not help. */
  | { readonly end: 'dead'; readonly error: string }
  /** The job was not tried, which does not count as an attempt. */
  | { readonly end: 'returned'; readonly waitMs?: number }
)

export interface Ended<Name extends QueueName = QueueName> {
  readonly job: Job<Name>
  readonly outcome: Outcome
}

/** The jitter keeps jobs that failed together from being retried together. */
export const jitter = (ms: number, random: number) => ms * (0.75 + random / 2)

/**
 * The pause after a job's failed attempt; null means that the job is dead. The last attempt is made at the end of its
 * lifetime. A wish cannot make a pause longer than the longest.
 */
export function pauseAfter(
  { queue, attempt, ageMs }: Pick<Job, 'queue' | 'attempt' | 'ageMs'>,
  { afterMs = 0, withinMs = Number.POSITIVE_INFINITY }: Wish = {},
  random = Math.random(),
): number | null {
  const { firstPauseMs, maxPauseMs, attempts, lifetimeMs = Number.POSITIVE_INFINITY } = QUEUES[queue]
  if (attempt >= attempts || ageMs >= lifetimeMs) return null
  const ownMs = jitter(Math.min(maxPauseMs, firstPauseMs * 2 ** (attempt - 1)), random)
  const pauseMs = Math.max(ownMs, Math.min(maxPauseMs, afterMs) * (1 + random / 4))
  return pauseMs > withinMs ? null : Math.min(pauseMs, lifetimeMs - ageMs)
}
