/**
 * Deletes data past their retention or makes them anonymous. Once an hour one worker runs short batches with pauses
 * between them, so that no sale becomes slower.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Config } from '../base/config.ts'
import type { Metrics } from '../base/metrics.ts'
import { deleteSearches } from '../front/recent-searches.ts'
import { deleteMisses } from '../front/search-misses.ts'
import type { Images } from '../images/images.ts'
import { deleteHistory } from '../jobs/queue-history.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { deleteWebhookCounts } from '../webhooks/counts.ts'
import {
  anonymizeOrders,
  deleteAudit,
  deleteContacts,
  deleteDead,
  deleteDeliveries,
  deleteEvents,
  deleteFindings,
  deleteInvited,
  deleteMinutes,
  deleteOldRequests,
  deletePictures,
  deletePosts,
  deleteRuns,
  deleteSaleCounts,
  deleteViewCounts,
  finishForgetting,
  RETENTION_BATCH,
} from './retention-queries.ts'

const EVERY_MS = 3_600_000
const PAUSE_MS = 250

type Days = Pick<Config, Extract<keyof Config, `RETENTION_${string}_DAYS`>>

interface RetentionDeps {
  readonly config: Days
  readonly sql: Sql
  readonly images: Pick<Images, 'remove'>
  readonly metrics: Pick<Metrics, 'retention'>
}

type Step = (tx: Queryable, days: Days, images: RetentionDeps['images']) => Promise<number>

/** The steps are named by the data that they delete. */
const STEPS: readonly (readonly [kind: string, step: Step])[] = [
  ['contacts', deleteContacts],
  ['mail_asks', deleteOldRequests],
  ['forgotten_orders', finishForgetting],
  ['orders', (tx, days) => anonymizeOrders(tx, days.RETENTION_ORDERS_DAYS)],
  ['invited_visitors', (tx, days) => deleteInvited(tx, days.RETENTION_ORDERS_DAYS)],
  ['events', (tx, days) => deleteEvents(tx, days.RETENTION_EVENTS_DAYS)],
  ['sale_minutes', (tx, days) => deleteMinutes(tx, days.RETENTION_EVENTS_DAYS)],
  ['sale_sources', (tx, days) => deleteSaleCounts(tx, 'sale_sources', days.RETENTION_EVENTS_DAYS)],
  ['sale_networks', (tx, days) => deleteSaleCounts(tx, 'sale_networks', days.RETENTION_EVENTS_DAYS)],
  ['view_counts', (tx, days) => deleteViewCounts(tx, days.RETENTION_EVENTS_DAYS)],
  ['posts', (tx, days) => deletePosts(tx, days.RETENTION_EVENTS_DAYS)],
  ['pictures', (tx, days, images) => deletePictures(tx, days.RETENTION_PICTURES_DAYS, images)],
  ['findings', (tx, days) => deleteFindings(tx, days.RETENTION_FINDINGS_DAYS)],
  ['scheduled_runs', (tx, days) => deleteRuns(tx, days.RETENTION_EVENTS_DAYS)],
  ['deliveries', (tx, days) => deleteDeliveries(tx, days.RETENTION_DELIVERIES_DAYS)],
  ['dead_jobs', deleteDead],
  ['queue_minutes', deleteHistory],
  ['webhook_counts', deleteWebhookCounts],
  ['searches', (tx) => deleteSearches(tx, RETENTION_BATCH)],
  ['search_misses', (tx, days) => deleteMisses(tx, days.RETENTION_EVENTS_DAYS, RETENTION_BATCH)],
  ['audit_log', (tx, days) => deleteAudit(tx, days.RETENTION_AUDIT_DAYS)],
]

export class Retention {
  readonly #deps: RetentionDeps
  readonly #pauseMs: number
  #next = 0
  #restsUntilMs = 0

  constructor(deps: RetentionDeps, pauseMs = PAUSE_MS) {
    this.#deps = deps
    this.#pauseMs = pauseMs
  }

  /** Runs one batch. The result is true if another batch should follow. */
  async round(): Promise<boolean> {
    if (performance.now() < this.#restsUntilMs) return false
    if (this.#next === STEPS.length) {
      this.#next = 0
      this.#restsUntilMs = performance.now() + EVERY_MS
      return false
    }
    const rows = await this.#batch()
    // The pass is running in another worker.
    if (rows === 'busy') this.#next = STEPS.length
    else if (rows >= RETENTION_BATCH) this.#next--
    await sleep(this.#pauseMs)
    return true
  }

  async #batch(): Promise<number | 'busy'> {
    const { sql, config, images, metrics } = this.#deps
    // If this step fails, the next round continues with the following one.
    const [kind, step] = STEPS[this.#next++] as (typeof STEPS)[number]
    const rows = await sql.begin(async (tx) => {
      const [lock] = await tx<{ free: boolean }[]>`select pg_try_advisory_xact_lock(hashtext('retention')) as free`
      return lock?.free ? step(tx, config, images) : 'busy'
    })
    if (rows !== 'busy') metrics.retention.inc({ kind }, rows)
    return rows
  }
}
