import { CDNS, type Cdn, costOf, count, SCHEDULE_CDN, sum } from './prices.ts'
import type { Outcome } from './sale.ts'

/**
 * The processor time of a Worker request in milliseconds, approximately as npm run bench measures it for a join and a
 * status.
 */
export const WORKER_CPU_MS = 0.15
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

export function passingThrough(
  { requests, scheduleReads }: Omit<Traffic, 'pagesFromCache'>,
  { perMillion, perGb }: Cdn,
): number {
  const bytes = requests * RESPONSE_BYTES + scheduleReads * SCHEDULE_BYTES
  return ((requests + scheduleReads) / 1e6) * perMillion + (bytes / 1e9) * perGb
}

// -- Caches ---------------------------------------------------------------------------------------------------------
