/** Decides how a failing endpoint is treated, and how much capacity is left to buyers. Pure. */
import { jitter, QUEUES } from '../jobs/queues.ts'

/**
 * After this many failed attempts in a row the endpoint counts as failing. Fewer failures concern only their
 * messages.
 */
const FAILING_AFTER = 8
/** While an endpoint fails, one message is tried after a pause that doubles from the first to the longest. */
const FIRST_PROBE_MS = 1_000
const MAX_PROBE_MS = 60_000
/**
 * An operator is informed of an endpoint that has accepted nothing for this long, and of a message that was refused
 * this often, which by the pauses of its queue is after two minutes. A restart of the endpoint is over sooner.
 */
const LASTING_MS = 60_000
const LASTING_ATTEMPTS = 8

/**
 * The health of an endpoint as one worker sees it. While it fails, one message at a time finds out whether it
 * responds again.
 */
export interface Health {
  /** The number of attempts since the last success. */
  readonly failures: number
  /** The time of the first of them. */
  readonly failsSinceMs: number
  readonly probeAtMs: number
  /** The endpoint asked for no message before this time (Retry-After). */
  readonly restsUntilMs: number
}

export const HEALTHY: Health = { failures: 0, failsSinceMs: 0, probeAtMs: 0, restsUntilMs: 0 }

export const isFailing = ({ failures }: Health) => failures >= FAILING_AFTER

/** True if an operator should know that a message failed, for which this was the attempt. */
export const isLasting = ({ failures, failsSinceMs }: Health, attempt: number, nowMs: number) =>
  attempt >= LASTING_ATTEMPTS || (failures > 0 && nowMs - failsSinceMs >= LASTING_MS)

export const isResting = ({ restsUntilMs }: Health, nowMs: number) => nowMs < restsUntilMs

interface Attempt {
  readonly succeeded: boolean
  /** The message was sent because the endpoint failed. Failures of messages sent concurrently count as one. */
  readonly isProbe: boolean
  readonly retryAfterMs: number
}

/** A message that is accepted meanwhile does not end a rest that another one's response asked for. */
export function afterAttempt(
  health: Health,
  { succeeded, isProbe, retryAfterMs }: Attempt,
  nowMs: number,
  random = Math.random(),
): Health {
  const { failures: before, restsUntilMs } = health
  if (succeeded) return isResting(health, nowMs) ? { ...HEALTHY, restsUntilMs } : HEALTHY
  const failures = isProbe ? before : Math.min(before, FAILING_AFTER - 1)
  const probes = failures + 1 - FAILING_AFTER
  const waitMs = probes < 0 ? 0 : jitter(Math.min(MAX_PROBE_MS, FIRST_PROBE_MS * 2 ** probes), random)
  return {
    failures: failures + 1,
    failsSinceMs: before === 0 ? nowMs : health.failsSinceMs,
    probeAtMs: nowMs + waitMs,
    restsUntilMs: Math.max(restsUntilMs, nowMs + Math.min(QUEUES.webhook.maxPauseMs, retryAfterMs)),
  }
}

/** The number of further messages that a worker may take for an endpoint that has `busy` ones. */
export function roomFor(health: Health, busy: number, max: number, nowMs: number): number {
  if (isResting(health, nowMs)) return 0
  if (!isFailing(health)) return max - busy
  return busy === 0 && nowMs >= health.probeAtMs ? 1 : 0
}

/**
 * The messages per second of one worker while buyers need its processor. A message may be late, a checkout may not.
 */
const BESIDE_BUYERS_PER_SECOND = { busy: 600, full: 50 } as const

/**
 * The number of messages that a worker may take for each of `endpoints` in a round that starts `elapsedMs` after the
 * previous one.
 */
export function shareOf(load: Load, elapsedMs: number, endpoints: number, max: number): number {
  if (load === 'light') return max
  return Math.min(max, Math.max(1, Math.ceil((BESIDE_BUYERS_PER_SECOND[load] * elapsedMs) / 1000 / endpoints)))
}

/** The part of this process's time that buyers need: little, much, or all of it. */
export type Load = 'light' | 'busy' | 'full'
