/** What happens without a call: each actor a loop of its own, started and stopped together. */

import type { Deps } from './deps.ts'
import { type Actor, loop } from './lib/loop.ts'
import { watchMemory } from './lib/redis.ts'
import { withTimeout } from './lib/with-timeout.ts'
import { sweepGate, sweepLedger } from './orders/hold-sweeper.ts'
import { recordAllIntents } from './stock/intent-recorder.ts'
import { Reconciler } from './stock/reconciler.ts'

/** Charges under way at a stop get so long to be answered; after that they are somebody else's. */
const DRAIN_WITHIN_MS = 5_000

export function createWorker(deps: Deps): Actor {
  const { payments } = deps
  const { charges, captures, refunds } = payments
  const reconciler = new Reconciler(deps)
  // In a new run of Redis the gate is out of use until it is rebuilt, and the exact gate serves alone.
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
      // One after the other: a connection opened for each would lie idle, and a ledger that vanishes leaves it to be found dead.
      for (const owed of [charges, captures, refunds]) await owed.resume()
    }),
    watch,
    loop('memory watch', 5_000, deps, () => watchMemory(deps.redis, deps.metrics)),
    loop('reconciler', 5_000, deps, () => reconciler.round()),
  ]
  return {
    start() {
      deps.redis.on('ready', watch.wake)
      for (const actor of actors) actor.start()
    },
    async stop() {
      deps.redis.off('ready', watch.wake)
      await Promise.all(actors.map((actor) => actor.stop()))
      await withTimeout(charges.drain(), DRAIN_WITHIN_MS).catch(() => {})
    },
  }
}
