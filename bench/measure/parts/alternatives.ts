/**
 * Compares the system with the usual approaches in the field, on the same Postgres and Redis with the same durability
 * (fsync and synchronous_commit on), driver, pool, HTTP request and token check, for a growing number of buyers. The
 * floor is a sketch without guarantees.
 */
import type { Sql } from 'postgres'
import { contest } from '../load.ts'
import { type Aim, ahead, row, type Table } from '../rows.ts'
import { type Mode, Shops, SKETCH } from '../shops.ts'
import { durableCheckouts, type Stage } from '../stage.ts'
import type { Bench } from '../table.ts'

interface Alternative {
  readonly mode: Exclude<Mode, 'seats-for-update' | 'seats-skip-locked'>
  readonly what: string
  /** The factors by which this system should be faster with many buyers, and on a slower disk. */
  readonly aims: readonly [many: number, slower: number]
}

const ALTERNATIVES: readonly Alternative[] = [
  { mode: 'for-update', what: 'SELECT FOR UPDATE on one row', aims: [12, 25] },
  { mode: 'conditional', what: 'conditional UPDATE on one row', aims: [4.3, 18] },
  { mode: 'skip-locked', what: 'a row per unit, SKIP LOCKED', aims: [2.6, 2.9] },
  { mode: 'redis-insert', what: 'Redis script, INSERT per order', aims: [1.8, 2.3] },
]

const MANY_BUYERS = 256
/** The delay of the slower disk; a machine's own disk syncs in a twentieth of this. */
const SLOWER_MS = 1

export async function* againstAlternatives(stage: Stage, bench: Bench): AsyncGenerator<Table> {
  const shops = new Shops(stage)
  const { rounds, seconds } = bench
  try {
    await shops.open([...ALTERNATIVES.map(({ mode }) => mode), 'sketch'])
    const compare = async (title: string, buyers: number, aimOf: (alternative: Alternative) => Aim | null) => {
      const by = (mode: Mode) => () => shops.checkouts(mode, seconds, buyers)
      const results = await contest(rounds, {
        ours: () => durableCheckouts(stage, seconds, buyers),
        sketch: by('sketch'),
        'for-update': by('for-update'),
        conditional: by('conditional'),
        'skip-locked': by('skip-locked'),
        'redis-insert': by('redis-insert'),
      })
      const { ours, sketch } = results
      return {
        title,
        against: 'ours is',
        rows: [
          row('ours: batched through both gates', ours, null),
          ...ALTERNATIVES.map((alternative) =>
            ahead(alternative.what, results[alternative.mode], ours, aimOf(alternative), {
              what: SKETCH,
              measured: sketch,
            }),
          ),
          ahead(SKETCH, sketch, ours),
        ],
      }
    }
    for (const buyers of bench.rivals) {
      const title = `Ahead of the alternatives, ${buyers} ${buyers === 1 ? 'buyer' : 'buyers'}`
      yield await compare(title, buyers, ({ aims }) => (buyers === MANY_BUYERS ? { ratio: aims[0] } : null))
    }
    // The setting applies to the whole server, so it is changed only on a server of this run.
    if (stage.system.postgres) {
      const title = `Ahead of them on a disk that syncs ${SLOWER_MS} ms slower, ${MANY_BUYERS} buyers`
      yield await withSlowerDisk(shops.sql, () => compare(title, MANY_BUYERS, ({ aims }) => ({ ratio: aims[1] })))
    }
  } finally {
    await shops.close()
  }
}

/**
 * Delays every flush of the log, as a remote disk does. `commit_delay` simulates such a disk: transactions that
 * commit during the delay join the flush, which a real disk would not allow, so it favours approaches that commit one
 * by one.
 */
async function withSlowerDisk<T>(sql: Sql, measure: () => Promise<T>): Promise<T> {
  const set = async (...settings: string[]) => {
    for (const setting of settings) await sql.unsafe(`alter system ${setting}`)
    await sql`select pg_reload_conf()`
  }
  await set(`set commit_delay = ${SLOWER_MS * 1000}`, 'set commit_siblings = 0')
  try {
    return await measure()
  } finally {
    await set('reset commit_delay', 'reset commit_siblings')
  }
}
