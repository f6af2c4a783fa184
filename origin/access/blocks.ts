/** The blocks of all sales in memory. They are read again within a second of every change by any origin. */
import { ACCOUNT_PREFIX } from '../../shared/api/access.ts'
import { ProblemError, problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'
import { type Block, blocksVersion, readBlocks } from './access-queries.ts'

/** With the jitter of the loop, blocks are at most a second old. */
const REFRESH_MS = 800

/**
 * The visitor's name in the orders that a block concerns; null for an address, because orders contain no addresses.
 */
export const visitorIn = ({ visitor, account }: Pick<Block, 'visitor' | 'account'>) =>
  visitor ?? (account === null ? null : ACCOUNT_PREFIX + account)

/** The blocked visitor, account or address in the form of the API. */
export const subjectOf = ({ visitor, account, address }: Pick<Block, 'visitor' | 'account' | 'address'>) => ({
  ...(visitor !== null && { visitor }),
  ...(account !== null && { account }),
  ...(address !== null && { address }),
})

export class Blocks {
  readonly #sql: Sql
  #all: readonly Block[] = []
  #visitors: ReadonlySet<string | null> = new Set()
  #version = ''
  /** Reads the blocks every REFRESH_MS. */
  readonly actor: Actor

  constructor(sql: Sql, deps: LoopDeps) {
    this.#sql = sql
    this.actor = loop('blocks', REFRESH_MS, deps, () => this.refresh())
  }

  all(): readonly Block[] {
    return this.#all
  }

  /** Throws `refused` for a blocked visitor, by whichever way the call arrived. */
  refuse(visitor: string): void {
    if (this.#visitors.has(visitor)) throw new ProblemError(problem('refused'))
  }

  async refresh(): Promise<void> {
    const version = await blocksVersion(this.#sql)
    if (version === this.#version) return
    this.#all = await readBlocks(this.#sql)
    this.#visitors = new Set(this.#all.map(visitorIn))
    this.#version = version
  }
}
