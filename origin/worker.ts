/** The background work of the roles `worker` and `all`: each actor a loop of its own, started and stopped together. */
import { type Actor, loop } from './lib/loop.ts'
import { watchMemory } from './lib/redis.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { sweepGate, sweepLedger } from './orders/hold-sweeper.ts'
import type { Orders } from './orders/orders.ts'
import type { Payments } from './payments/payments.ts'
import { recordAllIntents } from './stock/intent-recorder.ts'
import type { Reconciler, ReconcilerDeps } from './stock/reconciler.ts'
import type { Store } from './stock/scripts.ts'

/** At a stop, charges in progress get this long; what comes later is for another worker. */
const DRAIN_TIMEOUT_MS = 5_000

interface WorkerDeps extends Omit<ReconcilerDeps, 'refunds'> {
  readonly redis: Store
  readonly reconciler: Reconciler
  readonly orders: Orders
  readonly payments: Pick<Payments, 'charges' | 'captures' | 'refunds'>
}

export function createWorker(deps: WorkerDeps): Actor {
  const { redis, reconciler } = deps
  const { charges, captures, refunds } = deps.payments
  // After a restart of Redis the gate is out of use until it is rebuilt, and the exact gate serves alone.
  const watch = loop('gate watch', 500, deps, () => reconciler.watch())
  const actors = [
    loop('hold sweeper', 300, deps, () => sweepGate(deps)),
    loop('ledger sweeper', 1_500, deps, () => sweepLedger(deps)),
    loop('intent recorder', 700, deps, () => recordAllIntents(deps)),
    loop('charges', 150, deps, () => charges.round()),
    loop('lost charges', 2_000, deps, () => charges.giveUpLost()),
    loop('captures', 1_000, deps, () => captures.round()),
    loop('refunds', 1_000, deps, () => refunds.round()),
    loop('charge comparison', 10_000, deps, () => charges.compare()),
    loop('forgotten charges', 30_000, deps, async () => {
      // In turn: a connection for each would lie idle, and after a loss of the ledger each had to be found dead.
      for (const owed of [charges, captures, refunds]) await owed.resume()
    }),
    watch,
    loop('memory watch', 5_000, deps, () => watchMemory(redis, deps.metrics)),
    loop('reconciler', 5_000, deps, () => reconciler.round()),
  ]
  return {
    start() {
      redis.on('ready', watch.wake)
      for (const actor of actors) actor.start()
    },
    async stop() {
      redis.off('ready', watch.wake)
      await Promise.all(actors.map((actor) => actor.stop()))
      await withTimeout(charges.drain(), DRAIN_TIMEOUT_MS).catch(() => {})
    },
  }
}
