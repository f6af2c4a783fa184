/**
 * Different visitors, by HyperLogLog in Redis: about one in a hundred off. Their names last for a day, so that they are
 * counted by the day. While Redis is away nobody is counted, and the answer says so.
 */
import type { Store } from '../stock/scripts.ts'
import { type By, uniquesKey } from './tally.ts'

/** Days are answered for so long. */
const KEPT_SECONDS = 35 * 86_400
/** An answer adds up this many days at most. */
const MAX_DAYS = 35
const DAY_MS = 86_400_000

/** Adds visitors by the names of `uniquesKey`. */
export async function addVisitors(redis: Store, visitors: ReadonlyMap<string, ReadonlySet<string>>): Promise<void> {
  if (redis.status !== 'ready') return
  const added = [...visitors].flatMap(([key, names]) => [redis.pfadd(key, ...names), redis.expire(key, KEPT_SECONDS)])
  await Promise.allSettled(added)
}

/** The days (UTC) that a period touches. */
export function daysOf(from: Date, to: Date): string[] {
  const days: string[] = []
  for (let at = Math.floor(from.getTime() / DAY_MS) * DAY_MS; at < to.getTime() && days.length < MAX_DAYS; at += DAY_MS)
    days.push(new Date(at).toISOString().slice(0, 10))
  return days
}

/** The visitors of each key in these days; null for all while Redis is away. */
export async function countVisitors(
  redis: Store,
  saleId: string,
  days: readonly string[],
  by: By,
  keys: readonly string[],
): Promise<(number | null)[]> {
  try {
    return await Promise.all(
      keys.map(async (key) => {
        const ofDays = await Promise.all(days.map((day) => redis.pfcount(uniquesKey(saleId, day, by, key))))
        return ofDays.reduce((all, visitors) => all + visitors, 0)
      }),
    )
  } catch {
    return keys.map(() => null)
  }
}
