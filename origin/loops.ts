/** The background work of the roles `worker` and `all`: each actor a loop of its own, started and stopped together. */

import type { Load } from './checkout/load-shedder.ts'
import { readQueues } from './jobs/job-queries.ts'
import { DEAD_QUEUES } from './jobs/payment-jobs.ts'
import { type Actor, loop } from './lib/loop.ts'
import { watchMemory } from './lib/redis.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { sweepGate, sweepLedger } from './orders/hold-sweeper.ts'
import type { Orders } from './orders/orders.ts'
import type { Payments } from './payments/payments.ts'
import { workerReports } from './report/worker-reports.ts'
import type { Retention } from './retention/retention.ts'
import { tellSales } from './sales/sale-events.ts'
import type { Scheduler } from './scheduled/scheduler.ts'
import { recordAllIntents } from './stock/intent-recorder.ts'
import type { Reconciler, ReconcilerDeps } from './stock/reconciler.ts'
import type { Store } from './stock/scripts.ts'
import { searchRounds } from './support/indexer.ts'
import { Deliverer } from './webhooks/deliverer.ts'
import { fanOut } from './webhooks/fan-out.ts'
import type { Sender } from './webhooks/sender.ts'

/** At a stop, charges and messages in progress get this long; what comes later is for another worker. */
const DRAIN_TIMEOUT_MS = 5_000

interface WorkerDeps extends Omit<ReconcilerDeps, 'refunds'> {
  readonly redis: Store
  readonly reconciler: Reconciler
  readonly retention: Retention
  readonly orders: Orders
  readonly payments: Pick<Payments, 'charges' | 'captures' | 'refunds'>
  readonly webhookSender: Sender
  readonly load: () => Load
  readonly scheduler: Pick<Scheduler, 'round' | 'overdue'>
}

export function createWorker(deps: WorkerDeps): Actor {
  const { redis, reconciler, scheduler } = deps
  const { charges, captures, refunds } = deps.payments
  const deliverer = new Deliverer({ ...deps, sender: deps.webhookSender })
  // After a restart of Redis the gate is out of use until it is rebuilt, and the exact gate serves alone.
  const watch = loop('gate watch', 500, deps, () => reconciler.watch())
  const actors = [
    loop('hold sweeper', 300, deps, () => sweepGate(deps)),
    loop('ledger sweeper', 1_500, deps, () => sweepLedger(deps)),
    loop('intent recorder', 700, deps, () => recordAllIntents(deps)),
    loop('charges', 150, deps, () => charges.round()),
    loop('lost charges', 2_000, deps, () => charges.giveUpLost()),
    loop('abandoned charges', 1_000, deps, () => charges.endOverdueActions()),
    loop('captures', 1_000, deps, () => captures.round()),
    loop('refunds', 1_000, deps, () => refunds.round()),
    loop('charge comparison', 10_000, deps, () => charges.compare()),
    loop('forgotten charges', 30_000, deps, async () => {
      // In turn: a connection for each would lie idle, and after a loss of the ledger each had to be found dead.
      for (const owed of [charges, captures, refunds]) await owed.resume()
    }),
    loop('scheduled actions', 500, deps, () => scheduler.round()),
    loop('overdue actions', 1_000, deps, () => scheduler.overdue()),
    loop('search', 300, deps, searchRounds(deps.sql)),
    loop('sale events', 1_000, deps, () => tellSales(deps.sql, deps.sales)),
    loop('webhook messages', 300, deps, () => fanOut(deps.sql)),
    loop('webhooks', 150, deps, () => deliverer.round()),
    loop('webhook watch', 15_000, deps, () => deliverer.watch()),
    loop('queue watch', 5_000, deps, async () => {
      for (const { queue, oldest_seconds, ...jobs } of await readQueues(deps.sql, DEAD_QUEUES)) {
        for (const [state, count] of Object.entries(jobs)) deps.metrics.queueJobs.set({ queue, state }, count)
        deps.metrics.queueAge.set({ queue }, oldest_seconds ?? 0)
      }
    }),
    watch,
    loop('memory watch', 5_000, deps, () => watchMemory(redis, deps.metrics)),
    loop('reconciler', 5_000, deps, () => reconciler.round()),
    loop('retention', 30_000, deps, () => deps.retention.round()),
    workerReports({ ...deps, provider: () => charges.providerSeen(), nowMs: () => deps.sales.nowMs() }),
  ]
  return {
    start() {
      redis.on('ready', watch.wake)
      for (const actor of actors) actor.start()
    },
    async stop() {
      redis.off('ready', watch.wake)
      await Promise.all(actors.map((actor) => actor.stop()))
      await withTimeout(Promise.all([charges.drain(), deliverer.stop()]), DRAIN_TIMEOUT_MS).catch(() => {})
    },
  }
}
