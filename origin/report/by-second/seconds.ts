/**
 * A sale by the second, from what all processes wrote: rates out of growing figures, values that last until the next
 * row, and gaps where nobody knows. Pure.
 */

import type { Figures } from '../../../shared/api/operators/report.ts'
import type { Second } from '../../../shared/api/operators/seconds.ts'

/** A row of `sale_seconds`. */
export interface SecondRow {
  readonly second: Date
  readonly counts: Figures
  readonly gauges: Figures
}

/**
 * The processes write a row at least every five seconds while the edge reports, even if nothing changes. A longer
 * silence means that nobody counted.
 */
const SEEN_WITHIN_SECONDS = 8

const SECOND_MS = 1_000

/** A growth that took longer happened in its last second, because a row is written as soon as anything changes. */
const SPREAD_SECONDS = 2

/** Growing figures of the gauges, whose increase is what happened. */
const GROWING = ['called', 'arrived', 'joined'] as const

/**
 * Returns each second from `fromMs` to `toMs`. Figures of a second are null if nobody counted then. `rows` are sorted,
 * and begin some seconds earlier, so that the first second has one to grow from.
 */
export function secondsOf(rows: readonly SecondRow[], fromMs: number, toMs: number): Second[] {
  const seconds: Second[] = []
  let at = 0
  let gauges: Figures = {}
  const growth = GROWING.map((name) => growthOf(rows, name))
  for (let ms = Math.floor(fromMs / SECOND_MS) * SECOND_MS; ms <= toMs; ms += SECOND_MS) {
    for (let row = rows[at]; row && row.second.getTime() < ms; row = rows[++at]) gauges = { ...gauges, ...row.gauges }
    const [before, next] = [rows[at - 1], rows[at]]
    const isSeen = secondsBetween(before, next) <= SEEN_WITHIN_SECONDS
    const isRow = next?.second.getTime() === ms
    if (isRow) gauges = { ...gauges, ...next.gauges }
    const sinceRow = before ? (ms - before.second.getTime()) / SECOND_MS : Infinity
    const isKnown = isRow || (isSeen && before !== undefined) || (next === undefined && sinceRow <= SEEN_WITHIN_SECONDS)
    const grown = GROWING.map((name, i) => (growth[i]?.has(ms) || gauges[name] === undefined ? growth[i]?.get(ms) : 0))
    seconds.push(isKnown ? known(ms, gauges, grown, isRow ? next.counts : {}) : unknown(ms))
  }
  return seconds
}

const secondsBetween = (before: SecondRow | undefined, next: SecondRow | undefined) =>
  before && next ? (next.second.getTime() - before.second.getTime()) / SECOND_MS : Infinity

type Growth = ReadonlyMap<number, number | undefined>

/**
 * What a growing figure added in each second, by time. A row that only orders wrote has no figure, and is passed over.
 * After a silence nobody knows when it grew, which is `undefined`.
 */
function growthOf(rows: readonly SecondRow[], name: (typeof GROWING)[number]): Growth {
  const growth = new Map<number, number | undefined>()
  let before: SecondRow | undefined
  for (const row of rows) {
    const to = row.gauges[name]
    if (to === undefined) continue
    const [from, seconds] = [before?.gauges[name], secondsBetween(before, row)]
    const spread = seconds <= SPREAD_SECONDS ? seconds : 1
    const added = from === undefined || seconds > SEEN_WITHIN_SECONDS ? undefined : Math.max(0, to - from) / spread
    for (let i = 0; i < spread; i++) growth.set(row.second.getTime() - SECOND_MS * i, added)
    before = row
  }
  return growth
}

function known(ms: number, gauges: Figures, grown: readonly (number | undefined)[], counts: Figures): Second {
  const [called, arrived, joined] = grown
  const { waiting = null, held = null, sold = null, rate_target = null } = gauges
  return {
    at: new Date(ms).toISOString(),
    called: called ?? null,
    arrived: arrived ?? null,
    joined: joined ?? counts.joined ?? null,
    reserved: counts.reserved ?? 0,
    paid: counts.confirmed ?? 0,
    declined: counts.declined ?? 0,
    paid_minor: counts.paid_minor ?? 0,
    waiting,
    held,
    sold,
    asked: rate_target,
  }
}

const unknown = (ms: number): Second => ({
  at: new Date(ms).toISOString(),
  ...{ called: null, arrived: null, joined: null, reserved: null, paid: null, declined: null, paid_minor: null },
  ...{ waiting: null, held: null, sold: null, asked: null },
})
