/** The pages of a sale's feed, by the numbers of its posts: page 1 has the oldest. Pure. */

/** Numbers of a page. A post that was taken away leaves its number unused. */
export const POSTS_A_PAGE = 10

/** The page of a post; 0 for the number before the first. */
export const pageOf = (n: number) => Math.ceil(n / POSTS_A_PAGE)

/** Whether all numbers of a page are given: no post is added to it any more. */
export const isFull = (page: number, latest: number) => page * POSTS_A_PAGE <= latest

/** Within this time of its latest post a feed is lively, and read often. */
const LIVELY_MS = 120_000
const LIVELY_POLL_MS = 4_000
/** Of a quiet one whoever reads the schedule knows when there is something new. */
export const QUIET_POLL_MS = 60_000

/** When to read a feed again, in milliseconds. Urgent posts come with the schedule. */
export function nextPollMs(latestAtMs: number | null, isOver: boolean, nowMs: number): number {
  const isLively = !isOver && latestAtMs !== null && nowMs - latestAtMs < LIVELY_MS
  return isLively ? LIVELY_POLL_MS : QUIET_POLL_MS
}
