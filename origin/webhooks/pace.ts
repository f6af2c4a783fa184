/** How an endpoint that fails is treated, and what is left to buyers. Pure. */
import type { Load } from '../checkout/load-shedder.ts'
import { jittered } from '../jobs/queues.ts'

/** After this many failed attempts in a row the endpoint fails, not a message. */
const FAILING_AFTER = 8
/** While an endpoint fails, one message is tried after a pause that doubles from the first to the longest. */
const FIRST_PROBE_MS = 1_000
const MAX_PROBE_MS = 60_000

/** How an endpoint does, as one worker sees it. While it fails, one message at a time finds out whether it answers again. */
export interface Health {
  /** Attempts since the last success. */
  readonly failures: number
  readonly probeAtMs: number
}

export const HEALTHY: Health = { failures: 0, probeAtMs: 0 }

export const isFailing = ({ failures }: Health) => failures >= FAILING_AFTER

/** `isProbe`: it was sent because the endpoint failed. Those that were on their way together count as one failure more. */
export function afterAttempt(
  { failures: before }: Health,
  { succeeded, isProbe }: { readonly succeeded: boolean; readonly isProbe: boolean },
  nowMs: number,
  random = Math.random(),
): Health {
  if (succeeded) return HEALTHY
  const failures = isProbe ? before : Math.min(before, FAILING_AFTER - 1)
  const probes = failures + 1 - FAILING_AFTER
  const waitMs = probes < 0 ? 0 : jittered(Math.min(MAX_PROBE_MS, FIRST_PROBE_MS * 2 ** probes), random)
  return { failures: failures + 1, probeAtMs: nowMs + waitMs }
}

/** How many more messages a worker may take for an endpoint, where it has `busy` ones. */
export function roomFor(health: Health, busy: number, max: number, nowMs: number): number {
  if (!isFailing(health)) return max - busy
  return busy === 0 && nowMs >= health.probeAtMs ? 1 : 0
}

/** Messages a second, of one worker, while buyers need its processor: a message may be late, a checkout may not. */
const BESIDE_BUYERS_PER_SECOND = { busy: 600, full: 50 } as const

/** How many messages a worker may take for each of `endpoints` in a round, `elapsedMs` after the previous round. */
export function shareOf(load: Load, elapsedMs: number, endpoints: number, max: number): number {
  if (load === 'light') return max
  return Math.min(max, Math.max(1, Math.ceil((BESIDE_BUYERS_PER_SECOND[load] * elapsedMs) / 1000 / endpoints)))
}
