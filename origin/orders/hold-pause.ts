/**
 * A hold's time stands still while payment cannot be taken: where no process that serves buyers reaches the ledger,
 * and a worker does. Those processes note in Redis whether they reach it; a worker stops the holds' clock in the
 * ledger (`hold_clock`), and then has each hold end later by the time that it stood.
 */
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import type { Runtime } from '../lib/runtime.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import type { Sales } from '../sales/sales.ts'
import type { Store } from '../stock/scripts.ts'

const EVERY_MS = 1_000
/** One late note does not stop the clock. */
const NOTED_FOR_MS = 2_500
const REDIS_TIMEOUT_MS = 500
/** Noted by any process that reaches the ledger. The other note says for how many milliseconds a process has not. */
const REACHED = 'ledger reached by buyers'
const AWAY = 'ledger away from buyers'

interface NoteDeps extends LoopDeps {
  readonly redis: Pick<Store, 'set'>
  readonly sales: Pick<Sales, 'isLedgerUnresponsive' | 'ledgerSilentMs'>
}

/** Notes whether this process reaches the ledger, which its buyers' payments need. */
export function noteReach({ redis, sales, ...deps }: NoteDeps): Actor {
  return loop('reach of the ledger', EVERY_MS, deps, async () => {
    const key = sales.isLedgerUnresponsive() ? AWAY : REACHED
    await withTimeout(
      redis.set(key, Math.ceil(sales.ledgerSilentMs()), 'PX', NOTED_FOR_MS),
      REDIS_TIMEOUT_MS,
      deps.runtime,
    )
  })
}

interface PauseDeps {
  readonly sql: Sql
  readonly redis: Pick<Store, 'get'>
  readonly runtime?: Runtime
}

/** Rounds that stop the clock of all holds, and start it again. */
export function holdPauses({ sql, redis, runtime }: PauseDeps): () => Promise<void> {
  // At first the clock may be stopped, by another worker that has ended since.
  let clock: 'running' | 'stopped' = 'stopped'
  return async () => {
    // Two keys, which a Cluster may have on two nodes.
    const notes = Promise.all([redis.get(REACHED), redis.get(AWAY)])
    const [reached, silentMs] = await withTimeout(notes, REDIS_TIMEOUT_MS, runtime)
    const isPayable = reached !== null || silentMs === null
    if (isPayable) {
      // The clock goes from stopped to running: each hold ends later by the time that it stood.
      if (clock === 'stopped') await sql`select resume_holds()`
      clock = 'running'
    } else {
      // The clock goes from running to stopped; again in each round, as another worker may have resumed the holds.
      await sql`
        insert into hold_pauses (began_at) values (clock_timestamp() - ${Number(silentMs)} * interval '1 millisecond')
        on conflict do nothing`
      clock = 'stopped'
    }
  }
}
