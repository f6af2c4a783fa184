/**
 * Reads a running sale for the console: its state, its last hours by the minute, its backlog, and a summary of its
 * health. It is read at most once a second for each sale, however many operators watch. While a store does not
 * respond, its last figures are shown and the page says that the store is away.
 */

import type { Backlogs, HealthSummary, LiveReading, OpenFinding } from '../../shared/api/operators/live.ts'
import type { Backlog, Figures, Minute } from '../../shared/api/operators/report.ts'
import { openFindings } from '../findings/finding-queries.ts'
import { readBacklogs } from '../jobs/job-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import type { RedisWatch } from '../lib/redis/redis-watch.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import {
  firstOpeningMs,
  gaugesOf,
  joinedOf,
  soldOutAtMs,
  totalOf,
  turnsOf,
  withCallsMade,
  withPeople,
} from '../report/figures.ts'
import { summaryOf } from '../report/health/sale-health.ts'
import { countsBefore, readMinutes } from '../report/report-queries.ts'
import { readWorkers } from '../report/work/worker-reports.ts'
import type { PerSale, SaleMemory } from '../sales/sale-memory.ts'
import { phaseOf } from '../sales/sale-state.ts'
import type { Gates } from '../stock/gate/gate.ts'
import type { Store } from '../stock/scripts.ts'
import type { AdminSales } from './admin-sales.ts'
import type { State } from './inspect-sale.ts'

/** A result is reused for this long; the age that operators see adds the time of the call. */
const FRESH_MS = 900
/** The charts show this many minutes. */
const MINUTES = 120
const FINDINGS = 20
const STORE_TIMEOUT_MS = 2_000

interface LiveDeps {
  readonly sql: Sql
  readonly sales: Pick<AdminSales, 'nowMs' | 'isLedgerUnresponsive' | 'canRecord' | 'inspectStock'>
  readonly redis: Pick<Store, 'hgetall'>
  readonly redisWatch: Pick<RedisWatch, 'refusal'>
  readonly gates: Pick<Gates, 'of'>
  readonly memory: SaleMemory
  /** The name is `development` or `production`; `payments` is the provider of payments. */
  readonly environment: { readonly name: string; readonly payments: string }
  /** The number of calls per second that the provider accepts; null means no limit. */
  readonly paymentsPerSecond: number | null
  /** The address of the buyers' pages; undefined if the origin is not configured with it. */
  readonly shopUrl: string | undefined
}

/** Figures that only the ledger has. */
interface OfLedger {
  readonly minutes: readonly Minute[]
  readonly before: Figures
  readonly backlogs: Backlogs
  readonly findings: readonly OpenFinding[]
}
const NONE: Backlog = { waiting: 0, oldest_seconds: null }
const NOTHING: OfLedger = {
  minutes: [],
  before: {},
  findings: [],
  backlogs: { charges: NONE, captures: NONE, refunds: NONE, webhooks: NONE, mails: NONE },
}

/** The sale's state as `GET /admin/sales/{sale}` returns it, without the content of its pages. */
type Made = { readonly state: State } & LiveReading

export class Live {
  readonly #deps: LiveDeps
  readonly #latest = new Map<string, { readonly atMs: number; readonly made: Promise<Made> }>()
  readonly #ofLedger: PerSale<OfLedger>
  readonly #summaries: PerSale<HealthSummary>

  constructor(deps: LiveDeps) {
    this.#deps = deps
    this.#ofLedger = deps.memory.map('live figures')
    this.#summaries = deps.memory.map('health')
  }

  of(sale: SaleRow): Promise<Made> {
    const known = this.#latest.get(sale.sale_id)
    if (known && performance.now() - known.atMs < FRESH_MS) return known.made
    const made = this.#read(sale)
    this.#latest.set(sale.sale_id, { atMs: performance.now(), made })
    made.catch(() => {}).finally(() => setTimeout(() => this.#forget(sale.sale_id, made), FRESH_MS).unref())
    return made
  }

  #forget(saleId: string, made: Promise<Made>): void {
    if (this.#latest.get(saleId)?.made === made) this.#latest.delete(saleId)
  }

  async #read(sale: SaleRow): Promise<Made> {
    const { sales, shopUrl, paymentsPerSecond, redisWatch } = this.#deps
    const [state, ledger, gate] = await Promise.all([
      sales.inspectStock(sale),
      this.#readLedger(sale),
      this.#readRedis(sale),
    ])
    const { before, findings, backlogs } = ledger.known
    const minutes = withPeople(ledger.known.minutes)
    const nowMs = sales.nowMs()
    const edgeAtMs = ledger.answers ? minutes.at(-1)?.gauges.edge_at_ms : undefined
    const edge_seconds = edgeAtMs === undefined ? null : Math.max(0, (nowMs - edgeAtMs) / 1000)
    const { workers = null, provider = null, provider_ms = null, intents = null } = gate ?? {}
    // A store that answers and takes no writes serves nobody.
    const stores = { ledger: ledger.answers && sales.canRecord(), redis: gate !== null && redisWatch.refusal === null }
    const health = { ...stores, edge_seconds, workers, provider, provider_ms }
    const phase = phaseOf(sale, nowMs)
    const soldOutMs = phase === 'open' ? soldOutAtMs(minutes, nowMs) : null
    const counts = totalOf(before, minutes)
    const gauges = gaugesOf(minutes, nowOf(state))
    const environment = { ...this.#deps.environment, ...(sale.test && { payments: 'sandbox' }), test: sale.test }
    const waiting = { intents, ...backlogs }
    const summary = summaryOf(
      {
        saleId: sale.sale_id,
        phase,
        addsUp: addsUp(state.invariant),
        nowMs,
        shopUrl: shopUrl === undefined ? null : new URL(`/sales/${sale.sale_id}`, shopUrl).href,
        environment,
        paymentsPerSecond,
        health,
        backlogs: waiting,
        findings,
        minutes,
      },
      this.#summaries.get(sale.sale_id),
    )
    this.#summaries.set(sale.sale_id, summary)
    return {
      state,
      environment,
      summary,
      forecast: { sold_out_at: soldOutMs === null ? null : new Date(soldOutMs).toISOString() },
      backlogs: waiting,
      health,
      findings,
      rules: sale.rules,
      funnel: {
        joined: joinedOf(gauges, counts),
        ...turnsOf(phase, gauges),
        reserved: counts.reserved ?? 0,
        paid: counts.confirmed ?? 0,
        revenue_minor: counts.paid_minor ?? 0,
      },
      minutes: withCallsMade(minutes, firstOpeningMs(sale)),
      before,
      read_at: new Date(nowMs).toISOString(),
    }
  }

  /** Returns the ledger's figures, or the last known ones while the ledger does not respond. */
  async #readLedger({ sale_id: saleId }: SaleRow): Promise<{ known: OfLedger; answers: boolean }> {
    const { sql, sales } = this.#deps
    const last = this.#ofLedger.get(saleId)
    const away = { known: last ?? NOTHING, answers: false }
    if (sales.isLedgerUnresponsive()) return away
    const read = async (): Promise<OfLedger> => {
      const [minutes, backlogs, findings] = await Promise.all([
        readMinutes(sql, saleId, MINUTES),
        readBacklogs(sql),
        openFindings(sql, saleId, FINDINGS),
      ])
      const first = minutes[0]?.minute
      // Earlier minutes change only when the first minute does, and a short history has none.
      const isSame = last !== undefined && last.minutes[0]?.minute === first
      const isAll = first === undefined || minutes.length < MINUTES
      const before = isAll ? {} : isSame ? last.before : await countsBefore(sql, saleId, first)
      return { minutes, before, backlogs, findings }
    }
    try {
      const known = await withTimeout(read(), STORE_TIMEOUT_MS)
      this.#ofLedger.set(saleId, known)
      return { known, answers: true }
    } catch {
      return away
    }
  }

  /** Returns null if Redis does not respond. */
  async #readRedis({ sale_id }: SaleRow) {
    const { redis, gates, sales } = this.#deps
    const { intents } = gates.of(sale_id)
    try {
      const [workers, waiting, [oldest]] = await Promise.all([
        readWorkers(redis, sales.nowMs()),
        withTimeout(intents.count(), STORE_TIMEOUT_MS),
        // The oldest pending charge is searched among a thousand; if more are pending, it is the oldest of some of
        // them.
        withTimeout(intents.read(1), STORE_TIMEOUT_MS),
      ])
      const oldestMs = oldest ? sales.nowMs() - Number.parseInt(oldest.stored, 10) : null
      const oldest_seconds = oldestMs === null || waiting === 0 ? null : Math.max(0, oldestMs / 1000)
      return { ...workers, intents: { waiting, oldest_seconds } }
    } catch {
      return null
    }
  }
}

/** The edge reports these figures to this process about a second before they are in the minutes. */
function nowOf({ queue: { called, waiting, may_come, arrivals } }: State): Figures {
  return called === null || waiting === null
    ? {}
    : { called, waiting, arrived: arrivals, ...(may_come !== null && { may_come }) }
}

/** The displayed figures must add up as well, so that an operator can check the sum. */
const addsUp = ({ holds, sold, held, available, buffer, total }: State['invariant']) =>
  holds && sold + held + available + buffer === total
