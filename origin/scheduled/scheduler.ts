/**
 * Runs scheduled actions. A job gives a run to one worker at its time. The run, its effect and the job of the next
 * run are one transaction, which first locks the action's row. Another worker with the same run then finds that it is
 * no longer due, so the run happens once and a worker that dies loses nothing.
 */
import { gunzipSync } from 'node:zlib'
import type { Logger } from 'pino'
import { queueNamesOf } from '../../shared/api/access.ts'
import type { SaleReport } from '../../shared/api/operators/report.ts'
import { assertExists } from '../../shared/lib/assert.ts'
import { ProblemError } from '../../shared/problem.ts'
import { reportAlert } from '../alerts/alert.ts'
import { addAlerts } from '../alerts/alert-queries.ts'
import type { Metrics } from '../base/metrics.ts'
import { closeAbout, openFinding } from '../findings/finding-queries.ts'
import type { Consumer, End } from '../jobs/job-runner.ts'
import type { Job, JobData } from '../jobs/queues.ts'
import { audit } from '../ledger/audit.ts'
import { isLedgerAway, type Queryable, type Sql } from '../ledger/connection.ts'
import type { EdgeNotifier } from '../queue/edge-notifier.ts'
import { lockSale } from '../sales/sale-queries.ts'
import { phaseOf } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'
import { type DocumentDeps, documentKind, type MadeDocument, makeDocument } from './documents.ts'
import { type Announce, carryOut } from './effects.ts'
import { addRun, type Document, lockAction, readAction, type ScheduledRow, writeRun } from './scheduled-queries.ts'
import { lastDue, nextTime } from './times.ts'

/** One worker has at most this many runs in progress. */
const CONCURRENCY = 8

const NO_MAIL = 'No mail server is configured (SMTP_URL).'
const TOO_LATE = 'It was not carried out before its not_after.'

interface SchedulerDeps {
  readonly announce?: Announce
  readonly report: DocumentDeps['report']
  /** The console's address for links in mails; null if it is not known. */
  readonly consoleUrl: string | null
  readonly sendsMail: boolean
  readonly sql: Sql
  readonly sales: Pick<Sales, 'refresh' | 'find'>
  readonly reconciler: Pick<Reconciler, 'reconcileSale'>
  readonly edge: Pick<EdgeNotifier, 'notify'>
  readonly metrics: Pick<Metrics, 'findings' | 'scheduled'>
  readonly log: Logger
}

export class Scheduler implements Consumer<'scheduled'> {
  readonly queue = 'scheduled'
  readonly #deps: SchedulerDeps
  /** The documents that are being made: a run may be taken again before its document is made. */
  readonly #making = new Map<string, Promise<MadeDocument | null>>()

  constructor(deps: SchedulerDeps) {
    this.#deps = deps
    // The counters start at zero, because Prometheus sees no increase in a counter that first appears as 1.
    for (const outcome of ['done', 'late', 'failed']) deps.metrics.scheduled.inc({ outcome }, 0)
  }

  room(busy: number): number {
    return CONCURRENCY - busy
  }

  async run(jobs: readonly Job<'scheduled'>[], end: End<'scheduled'>): Promise<void> {
    await Promise.all(
      jobs.map(async (job) => {
        try {
          await this.#run(job.data)
        } catch (error) {
          this.#deps.log.warn({ ...job.data, error: String(error) }, 'scheduled action not carried out yet')
          return end(job, { end: 'failed', error: String(error) })
        }
        return end(job, { end: 'done' })
      }),
    )
  }

  async #run({ action, dueAt, by }: JobData['scheduled']): Promise<void> {
    // It takes seconds, in which the transaction below would hold back the sale's orders.
    const document = await this.#document(action, dueAt)
    const row = await this.#deps.sql.begin(async (tx) => {
      const row = await lockAction(tx, action)
      if (row?.next_at?.toISOString() === dueAt) await this.#carryOut(tx, row, { by, document })
      return row
    })
    if (!row || row.cancelled_at !== null) return
    // The result is also published if the run had been done before, because the process that did it may have died
    // before publishing.
    await this.#publish(row)
  }

  /** The document of a run that is due; null if the action makes none. */
  #document(action: string, dueAt: string): Promise<MadeDocument | null> {
    const key = `${action} ${dueAt}`
    const making = this.#making.get(key) ?? this.#makeDocument(action, dueAt).finally(() => this.#making.delete(key))
    this.#making.set(key, making)
    return making
  }

  async #makeDocument(action: string, dueAt: string): Promise<MadeDocument | null> {
    const row = await readAction(this.#deps.sql, action)
    const kind = row && documentKind(row.effect)
    if (!kind || row.next_at?.toISOString() !== dueAt) return null
    const sale = await this.#deps.sales.find(row.sale_id)
    return sale ? makeDocument(this.#deps, kind, sale) : { error: 'There is no such sale.' }
  }

  async #carryOut(
    tx: Queryable,
    row: ScheduledRow,
    { by, document }: { readonly by: string | undefined; readonly document: MadeDocument | null },
  ): Promise<void> {
    const { metrics } = this.#deps
    const { action_id, sale_id: saleId, effect, cron, not_after } = row
    const operator = by ?? row.operator
    const { sale, nowMs } = await lockSale(tx, saleId)
    const [wasDue, zone] = [assertExists(row.next_at, 'A run has a time.'), sale?.time_zone ?? 'UTC']
    const dueAt = cron === null || by !== undefined ? wasDue : lastDue(cron, zone, wasDue.getTime(), nowMs)
    const isOver = !sale || phaseOf(sale, nowMs) === 'ended'
    const isTooLate = by === undefined && not_after !== null && nowMs > not_after.getTime()
    const attempt = async () => {
      if (isTooLate) return TOO_LATE
      if (effect.action === 'report' && effect.to && !this.#deps.sendsMail) return NO_MAIL
      if (document) return 'error' in document ? document.error : null
      return isOver ? 'The sale has ended.' : this.#attempt(tx, { ...row, operator })
    }
    const error = await attempt()
    // A sale that has ended is not changed again. A repeated action ends with it, which is not an error.
    const isLast = cron === null || isOver || effect.action === 'end'
    const following = isLast ? null : nextTime(cron, zone, Math.max(wasDue.getTime(), nowMs))
    const next = following && not_after && following > not_after ? null : following
    const kept = document && error === null && !('error' in document) ? document : null
    if (kept && effect.action === 'report' && effect.to) await this.#mail(tx, kept, effect.to, nowMs)
    const { late } = await writeRun(tx, row, { due_at: dueAt, error, next, document: kept })
    if (next) await addRun(tx, action_id, next)
    const missed = dueAt > wasDue && { missed_since: wasDue.toISOString() }
    const about = { action_id, ...effect, due_at: dueAt.toISOString(), ...missed, late }
    await audit(tx, [{ actor: operator, action: 'scheduled', sale: saleId, after: { ...about, error } }])
    metrics.scheduled.inc({ outcome: error !== null ? 'failed' : late ? 'late' : 'done' })
    if (error === null || (isOver && cron !== null))
      return closeAbout(tx, 'scheduled_failed', [action_id], 'carried out the next time')
    await openFinding(tx, metrics, {
      sale: saleId,
      product: 'product_id' in effect ? effect.product_id : '',
      kind: 'scheduled_failed',
      subject: action_id,
      detail: { ...about, error },
    })
  }

  /** Queues the mails of a kept report, each to one address, so that a wrong one delays no other. */
  async #mail(tx: Queryable, { body }: Document, to: readonly string[], nowMs: number): Promise<void> {
    const report: SaleReport = JSON.parse(gunzipSync(body).toString())
    const alert = reportAlert(report, new Date(nowMs).toISOString(), this.#deps.consoleUrl)
    for (const one of to) await addAlerts(tx, ['mail'], alert, [one])
  }

  /**
   * Returns null, or the reason why the action cannot be done, which another attempt would not change. Throws if the
   * ledger is away.
   */
  async #attempt(tx: Queryable, { sale_id, effect, operator }: ScheduledRow): Promise<string | null> {
    if (!('savepoint' in tx)) throw new Error('not in a transaction')
    try {
      await tx.savepoint((inner) => carryOut(inner, sale_id, effect, operator, this.#deps.announce))
      return null
    } catch (error) {
      if (isLedgerAway(error as Error)) throw error
      return error instanceof ProblemError ? (error.problem.detail ?? error.problem.title) : String(error)
    }
  }

  /**
   * Informs this process, the edge and, after a restock, the fast gate. Failures are left to the actors that refresh
   * these anyway.
   */
  async #publish({ sale_id: saleId, effect }: ScheduledRow): Promise<void> {
    const { sales, reconciler, edge, log } = this.#deps
    if (documentKind(effect)) return
    try {
      if (effect.action === 'restock') await reconciler.reconcileSale(saleId, { force: true })
      else await sales.refresh()
      const sale = await sales.find(saleId)
      for (const room of sale ? queueNamesOf(saleId, sale.lines) : []) edge.notify(room)
    } catch (error) {
      log.warn({ sale: saleId, error: String(error) }, 'gate rebuild left to the reconciler')
    }
  }
}
