/**
 * A sale by the second, from what all processes wrote: rates out of growing figures, values that last until the next
 * row, and gaps where nobody knows. Pure.
 */

import type { Figures } from '../../shared/api/operators/report.ts'
import type { Second } from '../../shared/api/operators/seconds.ts'

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
  const rates = rows.map((row, i) => ratesOf(rows[i - 1], row))
  for (let ms = Math.floor(fromMs / SECOND_MS) * SECOND_MS; ms <= toMs; ms += SECOND_MS) {
    for (let row = rows[at]; row && row.second.getTime() < ms; row = rows[++at]) gauges = { ...gauges, ...row.gauges }
    const [before, next] = [rows[at - 1], rows[at]]
    const isSeen = secondsBetween(before, next) <= SEEN_WITHIN_SECONDS
    const isRow = next?.second.getTime() === ms
    if (isRow) gauges = { ...gauges, ...next.gauges }
    const sinceRow = before ? (ms - before.second.getTime()) / SECOND_MS : Infinity
    const isKnown = isRow || (isSeen && before !== undefined) || (next === undefined && sinceRow <= SEEN_WITHIN_SECONDS)
    const isGrowing = isRow || secondsBetween(before, next) <= SPREAD_SECONDS
    const growth = isGrowing ? rates[at] : still(gauges)
    seconds.push(isKnown ? known(ms, gauges, growth, isRow ? next.counts : {}) : unknown(ms))
  }
  return seconds
}

const secondsBetween = (before: SecondRow | undefined, next: SecondRow | undefined) =>
  before && next ? (next.second.getTime() - before.second.getTime()) / SECOND_MS : Infinity

type Rates = Partial<Record<(typeof GROWING)[number], number>>

const still = (gauges: Figures): Rates =>
  Object.fromEntries(GROWING.flatMap((name) => (gauges[name] === undefined ? [] : [[name, 0]])))

/** What happened in each second since the row before. */
function ratesOf(before: SecondRow | undefined, row: SecondRow): Rates {
  const seconds = secondsBetween(before, row)
  const rates: Rates = {}
  for (const name of GROWING) {
    const [from, to] = [before?.gauges[name], row.gauges[name]]
    if (from !== undefined && to !== undefined && seconds <= SEEN_WITHIN_SECONDS)
      rates[name] = Math.max(0, to - from) / (seconds <= SPREAD_SECONDS ? seconds : 1)
  }
  return rates
}

function known(ms: number, gauges: Figures, rates: Rates = {}, counts: Figures): Second {
  const { waiting = null, held = null, sold = null, rate_target = null } = gauges
  return {
    at: new Date(ms).toISOString(),
    called: rates.called ?? null,
    arrived: rates.arrived ?? null,
    joined: rates.joined ?? counts.joined ?? null,
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
