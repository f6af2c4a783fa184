/**
 * Counts the raw log again, without a change to any reader: to try rules, to recount a period, to compare what was
 * counted live, and to export. A replay begins so early that the rules know what was before its period.
 */
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { SeenView } from '../../shared/api/operators/views.ts'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { refuse } from '../lib/http/request.ts'
import { decide, newState, SETTLES_MS } from './count.ts'
import { warmUpMs } from './counter.ts'
import { type LoggedView, PAGE, readPeriod } from './log-queries.ts'
import type { CompiledRules } from './rules.ts'
import { type CountRow, networkKey, newKeys, Tally } from './tally.ts'

/** A replay of this many events takes a process some minutes, in turns of milliseconds. */
const MAX_EVENTS = 5_000_000
/** An event is written some seconds after its time, or later where the ledger was away. */
const WRITTEN_LATE_MS = 5 * 60_000

interface Replay {
  /** Null: all sales and the front. */
  readonly saleId: string | null
  readonly from: Date
  readonly to: Date
}

/** The rows of a period by each of several lists of rules, all by one reading of the log. */
export async function replay(sql: Sql, period: Replay, lists: readonly CompiledRules[]): Promise<CountRow[][]> {
  const { saleId, from, to } = period
  const runs = lists.map((rules) => ({ rules, state: newState(), tally: new Tally(newKeys()) }))
  const isInside = (atMs: number) => atMs >= from.getTime() && atMs < to.getTime()
  const selection = {
    saleId,
    from: new Date(from.getTime() - Math.max(...lists.map(warmUpMs))),
    // What decides about a view may come so much later.
    to: new Date(to.getTime() + SETTLES_MS + WRITTEN_LATE_MS),
  }
  for await (const event of eventsOf(sql, selection)) {
    for (const { rules, state, tally } of runs)
      for (const decision of decide(state, rules, event))
        if (isInside(decision.kind === 'seen' ? decision.atMs : decision.view.at_ms)) tally.add(decision)
  }
  return runs.map(({ tally }) => [...tally.rows])
}

async function* eventsOf(sql: Sql, selection: Replay): AsyncGenerator<LoggedView> {
  let [after, events] = [0, 0]
  for (;;) {
    const page = await readPeriod(sql, selection, after)
    yield* page
    events += page.length
    if (page.length < PAGE) return
    if (events > MAX_EVENTS)
      refuse(problem('invalid-request', { detail: 'The log of this period is too long: take a shorter one.' }))
    after = page.at(-1)?.seq ?? after
    await nextTurn()
  }
}

/** One call reads this many rows of the log at most; the caller goes on from the cursor of the last line. */
const EXPORT_EVENTS = 50_000

/**
 * The views of a sale that were counted after a row of the log, by the rules in force, as lines of JSON. Each has the
 * cursor to go on from, and so has the last line, which is no view: what was read may have no counted view.
 */
export async function* exportLines(sql: Sql, saleId: string, after: number, rules: CompiledRules) {
  const all = { saleId, from: new Date(0), to: new Date(FAR_AHEAD_MS) }
  const [first] = await readPeriod(sql, all, after, 1)
  let [cursor, events] = [after, 0]
  const state = newState()
  // The log before says which views are repeats.
  const fromMs = first ? Date.parse(first.written_at) - warmUpMs(rules) : FAR_AHEAD_MS
  for await (const event of eventsOf(sql, { ...all, from: new Date(fromMs) })) {
    const decisions = decide(state, rules, event)
    if (event.seq <= after) continue
    cursor = event.seq
    for (const { kind, view } of decisions)
      if (kind === 'counted') yield lineOf({ cursor: String(cursor), view: view.view, ...seenViewOf(view) })
    if (++events >= EXPORT_EVENTS) break
  }
  yield lineOf({ cursor: String(cursor), more: events >= EXPORT_EVENTS })
}

const FAR_AHEAD_MS = Date.parse('2100-01-01T00:00:00Z')
const lineOf = (value: object) => `${JSON.stringify(value)}\n`

/** A view without the hashes of its visitor. */
export const seenViewOf = (view: ViewEvent): SeenView => ({
  at: new Date(view.at_ms).toISOString(),
  sale: view.sale,
  page: view.page,
  source: view.source,
  country: view.country,
  network: networkKey(view),
  device: view.device,
  language: view.language,
})
