/**
 * A sale's traffic, billed in each way. Without a cache the Worker runs for each request. Workers Cache serves what it keeps: the
 * request is billed all the same, its processor time is not. Another CDN keeps those requests from Cloudflare, and bills all
 * that pass through it in its own way. How often caches run the Worker follows from how long the edge lets them keep (edge/cache.ts).
 */
import { sharesOf } from './isolates.ts'
import { CDNS, type Cdn, costOf, count, SCHEDULE_CDN, sum } from './prices.ts'
import type { Outcome } from './sale.ts'
import { type PerSecond, type Scenario, TRIP_MS } from './scenario.ts'

/** Processor time of a Worker request, milliseconds: about what npm run bench measures for a join and a status. */
const WORKER_CPU_MS = 0.15
/** Of a response with its headers, as the edge sends it; of all but the schedule at most. */
const SCHEDULE_BYTES = 750
const RESPONSE_BYTES = 6_000

/** Of the origin, for a CDN that serves schedules (origin/queue/schedule-routes.ts). */
const PULLS_PER_SECOND = 5

/** What visitors ask for. */
interface Traffic {
  /** All but the schedule. */
  readonly requests: number
  /** Of these, pages and reads of the feed that a cache before the Worker serves. */
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
    /** With Workers Cache. */
    runs,
    pagesFromCache,
    readsFromCache,
    /** Without a cache. */
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
        note: `SCHEDULE_URL: ${count(requests + pulls)} are billed, ${count(requests - pagesFromCache + pulls)} run a Worker`,
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

// -- Caches ------------------------------------------------------------------------------------------------------------

/**
 * Workers Cache has an upper tier of a few data centres, which all others ask before the Worker runs, once for all who ask at
 * the same time. How many they are is not public; this is a guess.
 */
const UPPER_TIERS = 10
/** Spellings of Accept-Language in a large crowd. Each is a variant of its own. */
export const PAGE_VARIANTS = 300

/** How often Workers Cache runs the Worker: at each upper tier once for each variant while a response is kept. */
export function runsOf(requests: PerSecond, keptSeconds: number, variants: number): number {
  let runs = UPPER_TIERS * variants
  for (const perSecond of requests.values)
    for (const share of sharesOf(UPPER_TIERS)) runs += Math.min(perSecond * share, variants / keptSeconds)
  return Math.min(runs, requests.total)
}

/** Another CDN: each data centre fetches once a second, and again for everyone who asks meanwhile. */
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
