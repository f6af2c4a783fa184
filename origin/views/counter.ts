/**
 * Counts the raw log in parts: each part has a reader with its own place, and one worker at a time. The counts and the
 * reader's place change in one transaction. A worker that takes over a part, or starts, first reads so much of the log
 * before the place as the rules look back.
 */
import type { Metrics } from '../base/metrics.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleWork } from '../sales/sale-work.ts'
import type { Store } from '../stock/scripts.ts'
import { type CountState, type Decision, decide, newState } from './count.ts'
import { moveReader, placeOf } from './count-queries.ts'
import { type LoggedView, PAGE, type Place, readBehind, readPart } from './log-queries.ts'
import type { CompiledRules } from './rules.ts'
import { type NamedKeys, newKeys, Tally } from './tally.ts'
import { addVisitors } from './uniques.ts'
import { PARTS } from './view-log.ts'
import type { ViewRules } from './view-rules.ts'

/** A view that is hidden for longer, and shown again, may count twice after a restart of its worker. */
const MIN_WARM_UP_MINUTES = 10
/** A part may take so long, for the log before its place. */
const TIMEOUT_MS = 120_000

export const warmUpMs = ({ windowMinutes }: CompiledRules) => Math.max(MIN_WARM_UP_MINUTES, windowMinutes + 1) * 60_000

export interface CounterDeps {
  readonly sql: Sql
  readonly redis: Store
  readonly rules: Pick<ViewRules, 'inForce'>
  readonly work: Pick<SaleWork, 'each'>
  readonly metrics: Pick<Metrics, 'views' | 'viewsBehind'>
}

interface Memory {
  /** The state is that of the log up to here. */
  readonly seq: number
  readonly state: CountState
  readonly named: NamedKeys
}

export class ViewCounter {
  readonly #deps: CounterDeps
  readonly #memories = new Map<number, Memory>()

  constructor(deps: CounterDeps) {
    this.#deps = deps
  }

  /** One round over this worker's parts. The result is true if there is more to count. */
  async round(): Promise<boolean> {
    let isMore = false
    const parts = Array.from({ length: PARTS }, (_, part) => ({ sale_id: `part ${part} of views`, part }))
    const count = async ({ part }: { part: number }) => {
      if (await this.#count(part)) isMore = true
    }
    await this.#deps.work.each('view counts', parts, count, TIMEOUT_MS)
    return isMore
  }

  /** Shows how far each part is behind, also one that no worker counts. */
  async watch(): Promise<void> {
    for (const { part, seconds } of await readBehind(this.#deps.sql))
      this.#deps.metrics.viewsBehind.set({ part: String(part) }, seconds)
  }

  async #count(part: number): Promise<boolean> {
    const { sql, redis, rules, metrics } = this.#deps
    const place = await placeOf(sql, part)
    const page = await readPart(sql, part, place)
    const last = page.at(-1)
    if (!last) return false
    const { compiled } = await rules.inForce()
    const known = this.#memories.get(part)
    const memory = known?.seq === place.seq ? known : await this.#remember(part, place, compiled)
    // Until the transaction has committed, the state is that of neither place.
    this.#memories.delete(part)
    const decisions = decideAll(memory.state, compiled, page)
    const tally = tallyOf(decisions, memory.named)
    // Adding a visitor twice changes nothing, while one that is not added would be missing.
    await addVisitors(redis, tally)
    const to = { seq: last.seq, read_to: last.written_at }
    if (!(await moveReader(sql, part, place, to, tally.rows))) return true
    this.#memories.set(part, { ...memory, seq: last.seq })
    for (const { view, kind } of decisions)
      if (kind === 'counted' || kind === 'dropped') metrics.views.inc({ sale: view.sale ?? '', verdict: kind })
    return page.length === PAGE
  }

  /** The state at a place, by the log of the minutes before. */
  async #remember(part: number, place: Place, rules: CompiledRules): Promise<Memory> {
    const memory = { seq: place.seq, state: newState(), named: newKeys() }
    let from: Place = { seq: 0, read_to: new Date(Date.parse(place.read_to) - warmUpMs(rules)).toISOString() }
    for (;;) {
      const page = await readPart(this.#deps.sql, part, from, place.seq)
      tallyOf(decideAll(memory.state, rules, page), memory.named)
      const last = page.at(-1)
      if (!last || page.length < PAGE) return memory
      from = { seq: last.seq, read_to: last.written_at }
    }
  }
}

export const decideAll = (state: CountState, rules: CompiledRules, page: readonly LoggedView[]): Decision[] =>
  page.flatMap((event) => decide(state, rules, event))

function tallyOf(decisions: readonly Decision[], named: NamedKeys): Tally {
  const tally = new Tally(named)
  for (const decision of decisions) tally.add(decision)
  return tally
}
