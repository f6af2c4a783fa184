/**
 * A sale's traffic, billed in each way. Without a cache the Worker runs for each request. Workers Cache serves what is kept: the
 * request is billed all the same, its processor time is not. Another CDN keeps those requests from Cloudflare, and bills all
 * that pass through it in its own way.
 */
import { CDNS, type Cdn, costOf, count, sum } from './prices.ts'
import type { Outcome } from './sale.ts'
import type { Scenario } from './scenario.ts'

/** Processor time of a Worker request, milliseconds: about what npm run bench measures for a join and a status. */
const WORKER_CPU_MS = 0.15
/** Of a response with its headers, as the edge sends it; of all but the schedule at most. */
const SCHEDULE_BYTES = 750
const RESPONSE_BYTES = 6_000

/** What visitors ask for. */
interface Traffic {
  /** All but the schedule. */
  readonly requests: number
  /** Of these, pages that a cache before the Worker serves. */
  readonly pagesFromCache: number
  readonly scheduleReads: number
}

/** The traffic of the model's own sale. */
export function trafficOf({ requests: { page, final, ...others }, keptRuns, scheduleReads }: Outcome): Traffic {
  const rest = Object.values(others).reduce((all, many) => all + many, 0)
  return {
    requests: rest + page + final,
    pagesFromCache: page + final - keptRuns.page - keptRuns.final,
    scheduleReads,
  }
}

export type Bills = ReturnType<typeof billsOf>

export function billsOf(o: Outcome, s: Scenario, traffic: Traffic) {
  const { requests, pagesFromCache, scheduleReads } = traffic
  const costs = (workerRequests: number, runs: number) =>
    costOf({
      workerRequests,
      workerCpuMs: runs * WORKER_CPU_MS,
      objectRequests: o.objectCalls,
      objectSeconds: o.seconds * (s.shards + 1),
      rowsWritten: o.rowsWritten,
    })
  const all = requests + scheduleReads
  const readsFromCache = Math.max(0, scheduleReads - o.keptRuns.schedule)
  const runs = all - pagesFromCache - readsFromCache
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
      ...CDNS.map((cdn) => ({
        what: cdn.name,
        dollars: sum(costs(behindCdn, behindCdn)) + passingThrough(traffic, cdn),
        note: `${cdn.perMillion.toFixed(2)} per million and ${cdn.perGb} per GB; ${count(behindCdn)} run a Worker`,
      })),
    ],
  }
}

function passingThrough({ requests, scheduleReads }: Traffic, { perMillion, perGb }: Cdn): number {
  const bytes = requests * RESPONSE_BYTES + scheduleReads * SCHEDULE_BYTES
  return ((requests + scheduleReads) / 1e6) * perMillion + (bytes / 1e9) * perGb
}
