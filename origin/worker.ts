/** What happens without a call: each actor a loop of its own, started and stopped together. */
import type { Deps } from './deps.ts'
import { sweepGate, sweepLedger } from './holds.ts'
import { recordAllIntents } from './intents.ts'
import { type Actor, loop } from './loop.ts'
import { reconcileAll } from './reconcile.ts'

export function createWorker(deps: Deps): Actor {
  const { log, payments } = deps
  const done = async (work: Promise<unknown>): Promise<undefined> => void (await work)
  const actors = [
    loop('hold sweeper', 300, log, () => sweepGate(deps)),
    loop('ledger sweeper', 1_500, log, () => sweepLedger(deps)),
    loop('intent recorder', 700, log, () => done(recordAllIntents(deps))),
    loop('charges', 150, log, () => payments.charges.round()),
    loop('lost charges', 2_000, log, () => payments.charges.lost()),
    loop('refunds', 1_000, log, () => payments.refunds.round()),
    loop('charge comparison', 10_000, log, () => done(payments.charges.compare())),
    loop('forgotten charges', 30_000, log, () => done(payments.charges.resume())),
    loop('reconciler', 5_000, log, () => done(reconcileAll(deps))),
  ]
  return {
    start() {
      for (const actor of actors) actor.start()
    },
    async stop() {
      await Promise.all(actors.map((actor) => actor.stop()))
      await payments.charges.drain()
    },
  }
}
