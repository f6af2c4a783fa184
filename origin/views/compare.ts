/**
 * Compares what was counted live with the same hour counted again from the raw log. They are equal unless something was
 * lost or counted twice, such as by a worker that started without enough of the log.
 */
import type { Metrics } from '../base/metrics.ts'
import { closeAbout, openFinding } from '../findings/finding-queries.ts'
import type { Sql } from '../ledger/connection.ts'
import { SETTLES_MS } from './count.ts'
import { liveSums } from './count-queries.ts'
import { readBehind } from './log-queries.ts'
import { replay } from './replay.ts'
import type { CountRow } from './tally.ts'
import type { ViewRules } from './view-rules.ts'

const HOUR_MS = 3_600_000
/** Views are decided this long after they began; a few minutes more, since events are written late. */
const SETTLED_MS = SETTLES_MS + 5 * 60_000
/** A difference above this share is a finding, unless it is a handful of views. */
const MAX_SHARE = 0.01
const MAX_VIEWS = 10

export interface CompareDeps {
  readonly sql: Sql
  readonly rules: Pick<ViewRules, 'inForce'>
  readonly metrics: Pick<Metrics, 'findings'>
}

/** Compares each hour once, when all its views are decided. */
export class HourComparison {
  readonly #deps: CompareDeps
  #comparedMs = 0

  constructor(deps: CompareDeps) {
    this.#deps = deps
  }

  async round(nowMs: number): Promise<void> {
    const hourMs = Math.floor((nowMs - SETTLED_MS) / HOUR_MS) * HOUR_MS - HOUR_MS
    if (hourMs === this.#comparedMs) return
    await compareHour(this.#deps, new Date(hourMs))
    this.#comparedMs = hourMs
  }
}

/** Compares an hour, if the same rules were in force all the time. */
export async function compareHour({ sql, rules, metrics }: CompareDeps, from: Date): Promise<void> {
  const to = new Date(from.getTime() + HOUR_MS)
  const { compiled, changedAt } = await rules.inForce()
  if (changedAt !== null && changedAt > from) return
  // Live counts that are late are not wrong.
  if ((await readBehind(sql)).some(({ seconds }) => seconds * 1000 > SETTLED_MS - SETTLES_MS)) return
  const [rows = []] = await replay(sql, { saleId: null, from, to }, [compiled])
  const again = sumsOf(rows)
  const live = new Map((await liveSums(sql, from, to)).map((sums) => [sums.sale_id, sums]))
  for (const saleId of new Set([...again.keys(), ...live.keys()])) {
    const [was, is] = [live.get(saleId) ?? NONE, again.get(saleId) ?? NONE]
    const subject = `${saleId} ${from.toISOString()}`
    const off = Math.max(Math.abs(was.counted - is.counted), Math.abs(was.dropped - is.dropped))
    if (off <= MAX_VIEWS || off <= MAX_SHARE * (is.counted + is.dropped)) {
      await closeAbout(sql, 'views_differ', [subject], 'the same when compared again')
      continue
    }
    const detail = { from: from.toISOString(), live: was, again: is }
    await openFinding(sql, metrics, { sale: saleId, product: '', kind: 'views_differ', subject, detail })
  }
}

const NONE = { counted: 0, dropped: 0 }

/** The sums of each sale. */
export function sumsOf(rows: readonly CountRow[]) {
  const sums = new Map<string, { counted: number; dropped: number }>()
  for (const { sale_id, by, counted, dropped } of rows) {
    if (by !== 'total') continue
    const sum = sums.get(sale_id) ?? { ...NONE }
    sums.set(sale_id, { counted: sum.counted + counted, dropped: sum.dropped + dropped })
  }
  return sums
}
