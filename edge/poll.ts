/**
 * Waiting for the work of another request. In Workers a promise ends with the request that made it, so requests share plain
 * values only: one request does the work, and the others poll its outcome.
 */

/** Milliseconds between two looks at the outcome: the first pause, doubled each time up to the longest. */
const FIRST_PAUSE_MS = 1
const MAX_PAUSE_MS = 16

/** Resolves once `isPending` is false; callers bound it by a time in `isPending`. */
export async function pollWhile(isPending: (nowMs: number) => boolean): Promise<void> {
  for (let pauseMs = FIRST_PAUSE_MS; isPending(Date.now()); pauseMs = Math.min(MAX_PAUSE_MS, pauseMs * 2))
    await scheduler.wait(pauseMs)
}

/**
 * True before a moment that another request has set at most `atMostMs` ahead; a moment further ahead is from before the
 * clock was put back, and does not count.
 */
export function isAhead(untilMs: number, nowMs: number, atMostMs: number): boolean {
  return untilMs > nowMs && untilMs <= nowMs + atMostMs
}
