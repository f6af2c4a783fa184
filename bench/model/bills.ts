/**
 * Bills a sale's traffic in each way. Without a cache the Worker runs for each request. With Workers Cache, a request
 * that the cache serves is billed too, but its processor time is not. Another CDN keeps those requests from
 * Cloudflare, and bills all that pass through it in its own way. The time for which the edge lets caches store
 * responses (edge/http/cache.ts) determines how often they run the Worker.
 */
import { sharesOf } from './isolates.ts'
import { CDNS, type Cdn, costOf, count, SCHEDULE_CDN, sum } from './prices.ts'
import type { Outcome } from './sale.ts'
import { type PerSecond, type Scenario, TRIP_MS } from './scenario.ts'

/**
 * The processor time of a Worker request in milliseconds, approximately as npm run bench measures it for a join and a
 * status.
 */
const WORKER_CPU_MS = 0.15
/** The sizes of a response with its headers, as the edge sends it: of the schedule, and the maximum of all others. */
const SCHEDULE_BYTES = 750
const RESPONSE_BYTES = 6_000

/** The rate at which a CDN reads schedules from the origin (origin/queue/schedule-routes.ts). */
const PULLS_PER_SECOND = 5

/** The requests of visitors. */
interface Traffic {
  /** The requests without those for the schedule. */
  readonly requests: number
  /** The pages and reads of the feed among these that a cache in front of the Worker serves. */
  readonly pagesFromCache: number
  readonly scheduleReads: number
}

/** The traffic of the model's own sale. */
export function trafficOf({ requests: { page, feed, final, ...others }, keptRuns, scheduleReads }: Outcome): Traffic {
  const rest = Object.values(others).reduce((all, many) => all + many, 0)
  return {
    requests: rest + page + feed + final,
    pagesFromCache: page + feed + final - keptRuns.page - keptRuns.feed - keptRuns.final,
    scheduleReads,
  }
}

export type Bills = ReturnType<typeof billsOf>

export function billsOf(o: Outcome, traffic: Traffic) {
  const { requests, pagesFromCache, scheduleReads } = traffic
  const costs = (workerRequests: number, runs: number) =>
    costOf({
      workerRequests,
      workerCpuMs: runs * WORKER_CPU_MS,
      objectRequests: o.objectCalls,
      objectSeconds: o.seconds * o.objects,
      rowsWritten: o.rowsWritten,
    })
  const all = requests + scheduleReads
  const readsFromCache = Math.max(0, scheduleReads - o.keptRuns.schedule)
  const runs = all - pagesFromCache - readsFromCache
  const pulls = o.seconds * PULLS_PER_SECOND
  const behindCdn = requests - pagesFromCache + Math.min(scheduleReads, o.scheduleMisses)
  const uncached = costs(all, all)
  return {
    /** The Worker's runs with Workers Cache. */
    runs,
    pagesFromCache,
    readsFromCache,
    /** The costs without a cache. */
    costs: uncached,
    ways: [
      { what: 'a Worker before every request', dollars: sum(uncached), note: `${count(all)} requests run one` },
      {
        what: 'Workers Cache',
        dollars: sum(costs(all, runs)),
        note: `as many are billed, ${count(runs)} run a Worker`,
      },
      {
        what: `Workers Cache, schedules from ${SCHEDULE_CDN.name}`,
        dollars:
          sum(costs(requests + pulls, requests - pagesFromCache + pulls)) +
          passingThrough({ requests: 0, scheduleReads }, SCHEDULE_CDN),
        note:
          `SCHEDULE_URL: ${count(requests + pulls)} are billed, ${count(requests - pagesFromCache + pulls)} ` +
          'run a Worker',
      },
      ...CDNS.map((cdn) => ({
        what: cdn.name,
        dollars: sum(costs(behindCdn, behindCdn)) + passingThrough(traffic, cdn),
        note: `${cdn.perMillion.toFixed(2)} per million and ${cdn.perGb} per GB; ${count(behindCdn)} run a Worker`,
      })),
    ],
  }
}

function passingThrough(
  { requests, scheduleReads }: Omit<Traffic, 'pagesFromCache'>,
  { perMillion, perGb }: Cdn,
): number {
  const bytes = requests * RESPONSE_BYTES + scheduleReads * SCHEDULE_BYTES
  return ((requests + scheduleReads) / 1e6) * perMillion + (bytes / 1e9) * perGb
}

// -- Caches ---------------------------------------------------------------------------------------------------------

/**
 * Workers Cache has an upper tier of a few data centres, which all others query before the Worker runs, once for all
 * concurrent requests. Their number is not public; this is an estimate.
 */
const UPPER_TIERS = 10
/** The number of spellings of Accept-Language in a large crowd, each of which is a separate variant. */
export const PAGE_VARIANTS = 300

/**
 * The number of Worker runs behind Workers Cache: at each upper tier one for each variant while a response is stored.
 */
export function runsOf(requests: PerSecond, keptSeconds: number, variants: number): number {
  let runs = UPPER_TIERS * variants
  for (const perSecond of requests.values)
    for (const share of sharesOf(UPPER_TIERS)) runs += Math.min(perSecond * share, variants / keptSeconds)
  return Math.min(runs, requests.total)
}

/** The misses of another CDN: each data centre fetches once a second, and again for every concurrent request. */
export function missesOf(reads: PerSecond, { dataCentres }: Scenario): number {
  const shares = sharesOf(dataCentres)
  let misses = 0
  for (const perSecond of reads.values) {
    for (const share of shares) {
      const here = perSecond * share
      misses += Math.min(here, 1 + (here * TRIP_MS) / 1000)
    }
  }
  return misses
}
