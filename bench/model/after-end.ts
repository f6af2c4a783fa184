/**
 * The cost of pages that stay open after a sale has sold out: their reads of the schedule, which tell of a restock,
 * and the pages that all of them load when there is one. The intervals are those of the product, and the visitors are
 * a sample of those who look at the page.
 */
import { CACHE_TTL } from '../../edge/http/cache.ts'
import { ANNOUNCE_MS } from '../../edge/queue/timeline.ts'
import { seededRandom } from '../../shared/lib/random.ts'
import { FINAL_MS, JUST_ENDED_MS, JUST_ENDED_READ_MS } from '../../shared/next-read.ts'
import { passingThrough, WORKER_CPU_MS } from './bills.ts'
import { runsOf } from './isolates.ts'
import { costOf, SCHEDULE_CDN, sum } from './prices.ts'
import { NOTIFIED_MS } from './room.ts'
import { LOOKING, PerSecond, type Scenario } from './scenario.ts'

const SAMPLE = 5_000
/** Visitors stay for twenty minutes. This is an assumption, and the most expensive one: nobody leaves before. */
export const STAY_MS = 20 * 60_000
/** A page that has read of a restock loads itself within this time (edge/client/live-page.ts). */
const SPREAD_MS = 3_000

export function playAfterEnd(s: Pick<Scenario, 'visitors' | 'seed'>, restockAtMs: number) {
  const random = seededRandom(s.seed)
  const looking = s.visitors * LOOKING
  const each = looking / SAMPLE
  const [reads, pages] = [new PerSecond(), new PerSecond()]
  const livesMs: number[] = []
  for (let visitor = 0; visitor < SAMPLE; visitor++) {
    let hasSeen = false
    // Visitors have learnt of the end at different moments.
    for (let atMs = random() * JUST_ENDED_READ_MS; atMs < STAY_MS; ) {
      reads.add(atMs, each)
      // A copy in a cache is up to a second old.
      const copiedMs = atMs - random() * CACHE_TTL.schedule.inCache * 1_000
      if (!hasSeen && copiedMs >= restockAtMs + NOTIFIED_MS + ANNOUNCE_MS) {
        hasSeen = true
        const livesAtMs = atMs + random() * SPREAD_MS
        livesMs.push(livesAtMs - restockAtMs)
        pages.add(livesAtMs, each)
      }
      atMs += (atMs < JUST_ENDED_MS ? JUST_ENDED_READ_MS : FINAL_MS) * (1 - random() / 50)
    }
  }
  const runs = runsOf(reads, CACHE_TTL.schedule.inCache, 1)
  const usage = { objectRequests: 0, objectSeconds: 0, rowsWritten: 0 }
  return {
    looking,
    readsEach: reads.total / looking,
    readsAtPeak: reads.peak,
    runs,
    /** The price of the reads with Workers Cache. */
    dollars: sum(costOf({ ...usage, workerRequests: reads.total, workerCpuMs: runs * WORKER_CPU_MS })),
    /** Their price with a CDN that bills bytes (SCHEDULE_URL). */
    dollarsOfCdn: passingThrough({ requests: 0, scheduleReads: reads.total }, SCHEDULE_CDN),
    pagesAtPeak: pages.peak,
    livesWithinSeconds: Math.max(...livesMs) / 1_000,
  }
}
