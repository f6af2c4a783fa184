/** The rules of views as operators set them: one document in the ledger, which each worker reads every few seconds. */

import { type ViewRules as RuleList, ViewRules as Rules } from '../../shared/api/operators/views.ts'
import { parse } from '../../shared/parse.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'
import { machine, type Runtime } from '../lib/runtime.ts'
import { type CompiledRules, compile, DEFAULT_RULES } from './rules.ts'

/** Rules are in force everywhere within a minute after a change; this is well below. */
const MAX_AGE_MS = 5_000

export interface RulesInForce {
  readonly rules: RuleList
  readonly compiled: CompiledRules
  /** Null for the default rules. */
  readonly changedAt: Date | null
}

export class ViewRules {
  readonly #sql: Sql
  readonly #edgeToken: string
  readonly #runtime: Runtime
  #read: (RulesInForce & { readonly atMs: number }) | undefined

  constructor(sql: Sql, edgeToken: string, runtime = machine) {
    this.#sql = sql
    this.#edgeToken = edgeToken
    this.#runtime = runtime
  }

  async inForce(maxAgeMs = MAX_AGE_MS): Promise<RulesInForce> {
    const nowMs = this.#runtime.monotonicMs()
    if (!this.#read || nowMs - this.#read.atMs > maxAgeMs) this.#read = { ...(await this.#load()), atMs: nowMs }
    return this.#read
  }

  compile(rules: RuleList): CompiledRules {
    return compile(rules, this.#edgeToken)
  }

  async #load(): Promise<RulesInForce> {
    const [row] = await this.#sql<{ rules: unknown; changed_at: Date }[]>`select rules, changed_at from view_rules`
    const rules = row ? parse(Rules, row.rules) : [...DEFAULT_RULES]
    return { rules, compiled: this.compile(rules), changedAt: row?.changed_at ?? null }
  }

  async set(rules: RuleList, actor: string): Promise<void> {
    const { rules: before } = await this.inForce(0)
    await this.#sql.begin(async (tx) => {
      await tx`
        insert into view_rules (rules, changed_at) values (${JSON.stringify(rules)}::text::jsonb, clock_timestamp())
        on conflict (one) do update set rules = excluded.rules, changed_at = excluded.changed_at`
      await auditRules(tx, actor, before, rules)
    })
    this.#read = undefined
  }
}

const auditRules = (tx: Queryable, actor: string, before: RuleList, after: RuleList) =>
  audit(tx, [
    { actor, action: 'view rules changed', sale: ALL_SALES, before: { rules: before }, after: { rules: after } },
  ])
