/**
 * Different visitors, by HyperLogLog in Redis: about one in a hundred off. Their names last for a day, so that they are
 * counted by the day. While Redis is away nobody is counted, and the answer says so.
 */
import type { Store } from '../stock/scripts.ts'
import { type By, beatOf, pagesKey, type Tally, uniquesKey } from './tally.ts'

/** Days are answered for so long. */
const KEPT_SECONDS = 35 * 86_400
/** An answer adds up this many days at most. */
const MAX_DAYS = 35
const DAY_MS = 86_400_000

/** Pages that are seen are asked for at once, or not at all. */
const PAGES_KEPT_SECONDS = 300
/** Beacons take so long to the counts; later than the second, nothing is known of the pages that are seen now. */
const [DELAY_MS, MOST_BEHIND_SECONDS] = [5_000, 60]

/** Adds the visitors of counted views, and the pages that are seen. */
export async function addVisitors(redis: Store, { visitors, pages }: Pick<Tally, 'visitors' | 'pages'>): Promise<void> {
  if (redis.status !== 'ready') return
  const add = (names: ReadonlyMap<string, ReadonlySet<string>>, keptSeconds: number) =>
    [...names].flatMap(([key, each]) => [redis.pfadd(key, ...each), redis.expire(key, keptSeconds)])
  await Promise.allSettled([...add(visitors, KEPT_SECONDS), ...add(pages, PAGES_KEPT_SECONDS)])
}

/** The pages of a sale that are being looked at; null while that is not known. */
export async function countPages(
  redis: Store,
  saleId: string,
  nowMs: number,
  behindSeconds: number,
): Promise<number | null> {
  if (behindSeconds > MOST_BEHIND_SECONDS) return null
  const whole = beatOf(nowMs - DELAY_MS - 1000 * behindSeconds) - 1
  return redis.pfcount(pagesKey(saleId, whole)).catch(() => null)
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
