/** Divides a sale's feed into pages by the numbers of its posts; page 1 has the oldest. Pure. */

/** A page has this many numbers. A removed post leaves its number unused. */
export const POSTS_A_PAGE = 10
/**
 * The newest posts, which all visitors read, are this many: whoever looked away for some minutes of a lively sale has
 * missed fewer.
 */
export const NEWEST_POSTS = 30

/** The page of a post; 0 for the number before the first. */
export const pageOf = (n: number) => Math.ceil(n / POSTS_A_PAGE)

/** True if all numbers of a page are in use, so that no post can be added to it. */
export const isFull = (page: number, latest: number) => page * POSTS_A_PAGE <= latest

/**
 * The page on which the posts go on that a reader who has all up to `since` misses among the newest; null if none is
 * missing. `newest` are the newest posts, the latest first.
 */
export function pageOfMissed(newest: readonly { readonly n: number }[], since: number): number | null {
  const before = (newest.at(-1)?.n ?? 1) - 1
  return newest.length < NEWEST_POSTS || before <= since ? null : pageOf(before)
}

/** A feed is read often for this long after its latest post. */
const LIVELY_MS = 120_000
const LIVELY_POLL_MS = 4_000
/** A feed without recent posts is read this rarely, because the schedule says when there is a new post. */
export const QUIET_POLL_MS = 60_000

/** The time until the next read of a feed in milliseconds. Urgent posts come with the schedule instead. */
export function nextPollMs(latestAtMs: number | null, isOver: boolean, nowMs: number): number {
  const isLively = !isOver && latestAtMs !== null && nowMs - latestAtMs < LIVELY_MS
  return isLively ? LIVELY_POLL_MS : QUIET_POLL_MS
}
