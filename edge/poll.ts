/**
 * Waits for what another request has begun. In Workers a promise ends with the request that made it, so requests share
 * plain values only: one request does the work, and the others poll its outcome.
 */

/** How often a waiting request looks, in milliseconds; doubled up to the longest. */
const FIRST_STEP_MS = 1
const MAX_STEP_MS = 16

/** Resolves once `isPending` is false; callers bound it by a time in `isPending`. */
export async function pollWhile(isPending: (nowMs: number) => boolean): Promise<void> {
  for (let stepMs = FIRST_STEP_MS; isPending(Date.now()); stepMs = Math.min(MAX_STEP_MS, stepMs * 2))
    await scheduler.wait(stepMs)
}

/**
 * True before a moment that another request has set at most `atMostMs` ahead; a moment further ahead is from before the
 * clock was put back, and does not count.
 */
export function isAhead(untilMs: number, nowMs: number, atMostMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + atMostMs
}
