/**
 * The background work of the roles `worker` and `all`: the job runner, and what happens at intervals. Each loop is an
 * actor of its own; they are started and stopped together.
 */
import { ALERT_READER } from './alerts/alert-queries.ts'
import type { AlertSender } from './alerts/alert-sender.ts'
import { releaseOverdue, tellGate } from './box-office/seat-changes.ts'
import { dueWork, type Work } from './due-work.ts'
import { watchEvents } from './events/watch.ts'
import type { RecentSearches } from './front/recent-searches.ts'
import { readQueues } from './jobs/job-queries.ts'
import { JobRunner } from './jobs/job-runner.ts'
import { QueueHistory } from './jobs/queue-history.ts'
import { watchSessions } from './ledger/sessions.ts'
import { type Actor, type Loop, loop } from './lib/loop.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { MAIL_READER, readMails } from './mail/mail-queries.ts'
import type { Mailer } from './mail/mailer.ts'
import { mailTurns } from './mail/turn-watch.ts'
import { holdPauses } from './orders/hold-pause.ts'
import { gateSweeps, sweepLedger } from './orders/hold-sweeper.ts'
import type { OrderChanges } from './orders/order-changes.ts'
import type { Orders } from './orders/orders.ts'
import type { Payments } from './payments/payments.ts'
import { forecastSales } from './report/forecast/forecaster.ts'
import { COUNT_READER, countOrders } from './report/sale-counts.ts'
import { workerReports } from './report/work/worker-reports.ts'
import type { Retention } from './retention/retention.ts'
import { type AnnounceNoted, writeNotedChanges } from './sales/change-notes.ts'
import { publishPhases } from './sales/sale-events.ts'
import { markLongOver } from './sales/sale-queries.ts'
import type { Scheduler } from './scheduled/scheduler.ts'
import { recordAllIntents } from './stock/intent-recorder.ts'
import type { Reconciler, ReconcilerDeps } from './stock/reconciler.ts'
import type { Store } from './stock/scripts.ts'
import { SEARCH_READER, searchRounds } from './support/indexer.ts'
import { type CompareDeps, HourComparison } from './views/compare.ts'
import { type CounterDeps, ViewCounter } from './views/counter.ts'
import { dropViewHours } from './views/log-queries.ts'
import type { WebhookCounts } from './webhooks/counts.ts'
import type { Deliverer } from './webhooks/deliverer.ts'
import { fanOut, WEBHOOK_READER } from './webhooks/fan-out.ts'

/** At a stop, jobs in progress get this long; what comes later is for another worker. */
const DRAIN_TIMEOUT_MS = 5_000
const HISTORY_TIMEOUT_MS = 1_000
/** What is woken where it has something to do also runs without, so often. */
const UNWOKEN_MS = 10_000
/** Woken each second while something is overdue, it does not run without a pause. */
const DUE_REST_MS = 300
/** The lines of those who wait for a mail about their turn are read no more often. */
const TURN_MAILS_REST_MS = 1_000

interface WorkerDeps extends Omit<ReconcilerDeps, 'refunds'> {
  readonly redis: Store
  readonly changes: Pick<OrderChanges, 'onChange'>
  readonly reconciler: Reconciler
  readonly retention: Retention
  readonly searches: Pick<RecentSearches, 'deleteStale'>
  readonly orders: Orders
  readonly payments: Pick<Payments, 'calls' | 'charges' | 'captures' | 'refunds'>
  readonly deliverer: Deliverer
  readonly webhookCounts: WebhookCounts
  /** Undefined where neither mails nor push messages are sent. */
  readonly mailer: Mailer | undefined
  readonly scheduler: Scheduler
  readonly alertSender: AlertSender
  /** Undefined where neither a channel of alerts nor mail is configured. */
  readonly readAlerts: (() => Promise<boolean>) | undefined
  /** Omitted if the shop has no feed. */
  readonly announceNoted?: AnnounceNoted
  readonly views: CounterDeps & CompareDeps
  /** The edge's address. If null, no visitor is notified of their turn. */
  readonly edgeUrl: string | undefined
}

type Reader =
  | typeof ALERT_READER
  | typeof WEBHOOK_READER
  | typeof SEARCH_READER
  | typeof COUNT_READER
  | typeof MAIL_READER

export function createWorker(deps: WorkerDeps): Actor {
  const { sql, redis, reconciler, deliverer, mailer, scheduler, retention } = deps
  const { calls, charges, captures, refunds } = deps.payments
  const history = new QueueHistory()
  const jobs = new JobRunner({ ...deps, history }, [
    charges,
    captures,
    refunds,
    scheduler,
    deliverer,
    deps.alertSender,
    ...(mailer ? [mailer] : []),
  ])
  const every = (ms: number, name: string, round: () => Promise<unknown>) => loop(name, ms, deps, round)
  /** Runs when it is woken, since something is due. */
  const whenDue = (name: string, round: () => Promise<unknown>, restMs?: number) =>
    loop(name, UNWOKEN_MS, deps, round, restMs)
  // Begun also by a change of an order, from any process.
  const changed = {
    jobs: whenDue('jobs', async () => (await jobs.round()) || calls.isShort, 150),
    messages: whenDue('webhook messages', () => thenJobs(fanOut(sql)), 300),
  }
  /** What a reader has added to a queue is sent at once. */
  async function thenJobs(added: Promise<boolean>): Promise<boolean> {
    const isMore = await added
    changed.jobs.wake()
    return isMore
  }
  const readers = new Map<Reader, Loop>([
    [WEBHOOK_READER, changed.messages],
    [SEARCH_READER, whenDue('search', searchRounds(sql))],
    [COUNT_READER, whenDue('order counts', () => countOrders(sql))],
  ])
  if (mailer)
    readers.set(
      MAIL_READER,
      whenDue('mail reader', () => thenJobs(readMails(sql, mailer.channels, mailer.perAddress))),
    )
  const { readAlerts } = deps
  if (readAlerts)
    readers.set(
      ALERT_READER,
      whenDue('alerts', () => thenJobs(readAlerts())),
    )
  const due = new Map<Reader | Work, Loop>([
    ...readers,
    ['jobs', changed.jobs],
    ['overdue holds', whenDue('ledger sweeper', () => sweepLedger(deps), DUE_REST_MS)],
    ['payments', whenDue('charges', () => charges.beginPayments(), DUE_REST_MS)],
    ['overdue actions', whenDue('abandoned charges', () => charges.endOverdueActions(), DUE_REST_MS)],
    ['overdue blocks', whenDue('seat blocks', () => releaseBlocks(deps), DUE_REST_MS)],
  ])
  const { edgeUrl } = deps
  if (mailer && edgeUrl !== undefined)
    due.set(
      'turn mails',
      whenDue('turn mails', () => mailTurns(sql, edgeUrl, mailer.perAddress), TURN_MAILS_REST_MS),
    )
  const wake = () => {
    for (const { wake } of Object.values(changed)) wake()
  }
  // After a restart of Redis the gate is out of use until it is rebuilt, and the exact gate serves alone.
  const gateWatch = every(1_000, 'gate watch', () => reconciler.watch())
  const counter = new ViewCounter(deps.views)
  const comparison = new HourComparison(deps.views)
  const actors = [
    // Orders and stock
    every(300, 'hold sweeper', gateSweeps(deps)),
    every(1_000, 'hold pauses', holdPauses(deps)),
    every(1_000, 'noted changes', () => writeNotedChanges({ ...deps, announce: deps.announceNoted })),
    every(1_000, 'intent recorder', () => recordAllIntents(deps)),
    gateWatch,
    every(5_000, 'reconciler', () => reconciler.round()),
    every(1_000, 'sale events', () => publishPhases(deps)),
    every(30_000, 'sales long over', async () => {
      for (const saleId of await markLongOver(sql)) await deps.gates.of(saleId).remove()
    }),
    every(5_000, 'queue history', () => history.write(sql)),
    every(5_000, 'webhook counts', () => deps.webhookCounts.write(sql)),
    every(5_000, 'queue watch', () => watchQueues(deps)),
    // Payments
    every(10_000, 'charge comparison', () => charges.compare()),
    every(30_000, 'forgotten charges', async () => {
      // In turn: a connection for each would lie idle, and after a loss of the ledger each had to be found dead.
      for (const owed of [charges, captures, refunds]) await owed.resume()
    }),
    // Readers of the events; jobs: charges, captures, refunds, scheduled actions, webhooks, mails; and what is overdue
    ...due.values(),
    every(1_000, 'due work', async () => {
      for (const work of await dueWork(sql, [...readers.keys()])) due.get(work)?.wake()
    }),
    every(5_000, 'event watch', () => watchEvents(deps)),
    // Views
    every(1_000, 'view counts', () => counter.round()),
    every(5_000, 'view watch', () => counter.watch()),
    every(60_000, 'view comparison', () => comparison.round(deps.sales.nowMs())),
    every(60_000, 'view log of a day', () => dropViewHours(sql)),
    // Watches
    every(5_000, 'session watch', () => watchSessions(deps)),
    every(5_000, 'forecast', () => forecastSales(deps)),
    every(15_000, 'webhook watch', () => deliverer.watch()),
    every(30_000, 'retention', () => retention.round()),
    every(5_000, 'search lists', () => deps.searches.deleteStale()),
    workerReports({
      ...deps,
      provider: () => charges.watch.seen(),
      isLedgerAway: () => deps.sales.isLedgerUnresponsive(),
      nowMs: () => deps.sales.nowMs(),
    }),
  ]
  let stopListening = () => {}
  return {
    start() {
      redis.on('ready', gateWatch.wake)
      stopListening = deps.changes.onChange(wake)
      for (const actor of actors) actor.start()
    },
    async stop() {
      redis.off('ready', gateWatch.wake)
      stopListening()
      await Promise.all(actors.map((actor) => actor.stop()))
      deliverer.stop()
      mailer?.stop()
      await withTimeout(jobs.drain(), DRAIN_TIMEOUT_MS).catch(() => {})
      for (const counts of [history, deps.webhookCounts])
        await withTimeout(counts.write(sql), HISTORY_TIMEOUT_MS).catch(() => {})
      deliverer.close()
      mailer?.close()
    },
  }
}

async function watchQueues({ sql, metrics }: Pick<WorkerDeps, 'sql' | 'metrics'>): Promise<void> {
  for (const { queue, oldest_seconds, open: _, ...jobs } of await readQueues(sql)) {
    for (const [state, count] of Object.entries(jobs)) metrics.queueJobs.set({ queue, state }, count)
    metrics.queueAge.set({ queue }, oldest_seconds ?? 0)
  }
}

/** Releases the seats whose blocks are over. */
async function releaseBlocks(deps: Pick<WorkerDeps, 'sql' | 'gates' | 'log'>): Promise<void> {
  for (const { saleId, changes } of await releaseOverdue(deps.sql))
    for (const change of changes) await tellGate(deps, saleId, change)
}
