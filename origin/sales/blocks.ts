/** Who is blocked in all sales, in memory: read again within a second of every change by any origin. */
import { type Block, blocksVersion, readBlocks } from '../ledger/access.ts'
import type { Sql } from '../ledger/connection.ts'
import { type Actor, type LoopDeps, loop } from '../lib/loop.ts'

const REFRESH_MS = 500

export class Blocks {
  readonly #sql: Sql
  #all: readonly Block[] = []
  #version = ''
  /** Reads, as long as it runs. */
  readonly actor: Actor

  constructor(sql: Sql, deps: LoopDeps) {
    this.#sql = sql
    this.actor = loop('blocks', REFRESH_MS, deps, () => this.refresh())
  }

  all(): readonly Block[] {
    return this.#all
  }

  async refresh(): Promise<void> {
    const version = await blocksVersion(this.#sql)
    if (version === this.#version) return
    this.#all = await readBlocks(this.#sql)
    this.#version = version
  }
}
