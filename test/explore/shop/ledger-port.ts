/**
 * The ledger as an explored process has it: real statements and transactions on a real Postgres, each of which is a
 * call that the scheduler lets go. A transaction is executed in some steps and committed in another.
 */
import type postgres from 'postgres'
import type { Sql } from '../../../origin/ledger/connection.ts'
import type { Fate, Process, Scheduler } from '../scheduler.ts'
import { READS, statementPoint } from './points.ts'

type Query = postgres.PendingQuery<postgres.Row[]> & { state: unknown; strings: readonly string[]; args: unknown[] }

/** What may become of a statement by itself: as it is sent, or as it is answered, or later. */
const STATEMENT: readonly Fate[] = [
  ...(['done', 'held', 'held long', 'late', 'slow', 'lost', 'failed', 'unheard', 'delayed'] as const),
  ...(['dies', 'dies after'] as const),
]
/** One in a transaction: what breaks here breaks the transaction, which is rolled back. */
const INNER: readonly Fate[] = ['done', 'held', 'late', 'unheard', 'dies']
const COMMIT: readonly Fate[] = ['done', 'held', 'late', 'slow', 'lost', 'unheard', 'delayed', 'dies', 'dies after']

const failed = (code: string) => Object.assign(new Error(`write ${code} (explored)`), { code })
const broken = () => failed('CONNECTION_CLOSED')

export interface LedgerWorld {
  readonly sql: Sql
  readonly scheduler: Scheduler
  /** True while no process reaches it. */
  isAway: boolean
  /** How often something was committed that may have changed it. */
  changes: number
  /** How many sessions wait for a lock. */
  blocked(): Promise<number>
}

/** The pool of a process. */
export function ledgerOf(world: LedgerWorld, process: Process): Sql {
  const { sql, scheduler } = world
  const wrapped = withCalls(world, process, sql, STATEMENT)
  const begin = async (...args: [unknown, unknown?]) => {
    const [options, work] = (args.length === 1 ? ['', args[0]] : args) as [string, (tx: Sql) => Promise<unknown>]
    if (world.isAway) throw failed('ECONNREFUSED')
    const began = Promise.withResolvers<Sql>()
    const ending = Promise.withResolvers<'commit' | 'rollback'>()
    const rolledBack = new Error('rolled back (explored)')
    const done = sql.begin(options, async (tx) => {
      began.resolve(tx as unknown as Sql)
      if ((await ending.promise) === 'rollback') throw rolledBack
    })
    done.catch(began.reject)
    let isEnding = false
    const rollBack = () => {
      if (isEnding) return
      isEnding = true
      ending.resolve('rollback')
      void scheduler.busy(done.catch(() => {}))
    }
    process.onEnd(rollBack)
    const tx = await scheduler.busy(began.promise)
    let result: unknown
    try {
      result = await work(withCalls(world, process, tx, INNER))
    } catch (error) {
      rollBack()
      await scheduler.busy(done.catch(() => {}))
      throw error
    }
    await process.call<unknown>({
      what: 'commits',
      fates: COMMIT,
      effect: async () => {
        if (isEnding) throw broken()
        isEnding = true
        ending.resolve('commit')
        await done
        world.changes++
      },
      failure: (fate) => {
        if (fate === 'unheard') rollBack()
        throw broken()
      },
      blocked: world.blocked,
    })
    return result
  }
  return Object.assign(wrapped, { begin, end: async () => {} }) as unknown as Sql
}

/** A tag whose statements are calls, where they are statements of their own and not a part of another one. */
function withCalls(world: LedgerWorld, process: Process, real: Sql, fates: readonly Fate[]): Sql {
  const tag = (...args: unknown[]) => explored((real as unknown as (...args: unknown[]) => Query)(...args))
  const explored = (query: Query): Query => {
    if (!(query instanceof Promise)) return query
    const { then } = Object.getPrototypeOf(query) as Promise<unknown>
    let started: Promise<unknown> | undefined
    const start = () => {
      if (started) return started
      const what = statementPoint(textOf(query))
      started = process.call<unknown>({
        what,
        fates,
        effect: async () => {
          if (world.isAway) throw failed('ECONNREFUSED')
          const result = await new Promise((resolve, reject) => void then.call(query, resolve, reject))
          if (fates === STATEMENT && !READS.test(what)) world.changes++
          return result
        },
        failure: (fate) => {
          if (fate === 'failed') throw failed('ECONNREFUSED')
          // The driver sets it as it writes a statement to a connection.
          query.state ??= {}
          throw broken()
        },
        blocked: world.blocked,
      })
      return started
    }
    return Object.assign(query, {
      // biome-ignore lint/suspicious/noThenProperty: a query is a promise that begins when it is awaited.
      then: (...args: Parameters<Promise<unknown>['then']>) => start().then(...args),
      catch: (...args: Parameters<Promise<unknown>['catch']>) => start().catch(...args),
      finally: (...args: Parameters<Promise<unknown>['finally']>) => start().finally(...args),
      execute() {
        void start()
        return query
      },
      async *cursor() {
        yield await start()
      },
    })
  }
  const unsafe = (...args: unknown[]) => explored((real.unsafe as unknown as (...args: unknown[]) => Query)(...args))
  return Object.assign(tag, real, { unsafe }) as unknown as Sql
}

/** The text of a statement, with the parts that it was put together from. */
const textOf = (query: Query): string =>
  query.strings
    .map((text, i) => {
      const arg = query.args[i]
      return text + (arg instanceof Promise ? textOf(arg as Query) : i < query.args.length ? '?' : '')
    })
    .join('')
    .replaceAll(/\s+/g, ' ')
    .trim()
