/**
 * Makes the report of a sale during and after it: figures, curves, fairness, attacks, incidents and announcements. It
 * reads the draw from the edge's public schedule, as anybody can.
 */
import { setImmediate as breathe } from 'node:timers/promises'
import * as v from 'valibot'
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import { type Figures, lossesOf, type Minute, type SaleReport } from '../../shared/api/operators/report.ts'
import { isSold } from '../../shared/api/order-status.ts'
import { Schedule } from '../../shared/api/public.ts'
import { commitmentHolds, positionsOf } from '../../shared/draw.ts'
import { rankCorrelation } from '../../shared/lib/rank-correlation.ts'
import { isDrawn } from '../../shared/schedule.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { available, phaseOf } from '../sales/sale-state.ts'
import { firstOpeningMs, type Gauges, joinedOf, turnsOf, withCallsMade, withPeople } from './figures.ts'
import { forecastAccuracy } from './forecast/forecast.ts'
import { funnelOf, type ViewsBySource } from './funnel.ts'
import { honestShareOf, type ViewsByNetwork } from './honest-share.ts'
import {
  holdsOf,
  overtakingOf,
  recountedOf,
  type Served,
  servedBeforeTurn,
  share,
  stockOut,
  thinOut,
  waitAccuracy,
  waitsOf,
} from './report.ts'
import {
  firstOrders,
  holdFigures,
  incidents,
  minutesBetween,
  minuteTotals,
  type OrderFigures,
  orderFigures,
  protection,
  soldByProduct,
} from './report-queries.ts'

/** The curves begin this long before the opening, and end this long after the sale is over. */
const [BEFORE_MS, AFTER_MS] = [2 * 3600_000, 30 * 60_000]
const MOST_MINUTES = 3 * 24 * 60
/** A curve has at most this many points. */
const POINTS = 240
const LISTED = 500
/** The most frequent lengths of a hold that the report compares. */
const HOLD_LENGTHS = 20
/** If there are more orders than this, fairness is judged by a sample of about this size. */
const MOST_COMPARED = 200_000
/** After this many positions the calculation lets other work run on the event loop. */
const AT_A_TIME = 500
const SCHEDULE_WITHIN_MS = 2_000

/** What a sale's visitors were told, the latest first. */
export type ListAnnouncements = (
  sql: Sql,
  saleId: string,
  limit: number,
) => Promise<
  readonly (Omit<SaleReport['announcements'][number], 'since' | 'until'> & { at: Date; until: Date | null })[]
>

interface ReportDeps {
  /** Omitted if the shop has no feed. */
  readonly announcements?: ListAnnouncements
  /** Omitted if no views are counted. */
  readonly views?: ViewsBySource
  readonly viewsByNetwork?: ViewsByNetwork
  readonly sql: Sql
  readonly config: { readonly EDGE_URL?: string | undefined; readonly PUBLIC_URL?: string | undefined }
  readonly nowMs: () => number
}

export async function saleReport(
  { announcements, views, viewsByNetwork, sql, config, nowMs }: ReportDeps,
  sale: SaleRow,
): Promise<SaleReport> {
  const { sale_id: saleId } = sale
  const overMs = (sale.ended_at ?? sale.ends_at)?.getTime() ?? Number.POSITIVE_INFINITY
  const untilMs = Math.min(nowMs(), overMs)
  const [from, to] = [new Date(sale.opens_at.getTime() - BEFORE_MS), new Date(untilMs + AFTER_MS)]
  const [orders, sold, totals, minutes, { rules, blocks }, happened, announced, funnel, holds, honest] =
    await Promise.all([
      orderFigures(sql, saleId),
      soldByProduct(sql, saleId),
      minuteTotals(sql, saleId),
      minutesBetween(sql, saleId, from, to, MOST_MINUTES),
      protection(sql, saleId, sale.created_at, to),
      incidents(sql, saleId, LISTED),
      announcements?.(sql, saleId, LISTED) ?? [],
      funnelOf({ sql, views }, sale),
      holdFigures(sql, saleId, HOLD_LENGTHS),
      viewsByNetwork ? honestShareOf(sql, saleId, viewsByNetwork) : null,
    ])
  const reserved = orders.reduce((all, one) => all + one.reserved, 0)
  const fairness: Fairness[] = []
  // The lines are processed one after another, because each is a calculation over all orders of its line.
  for (const { line } of sale.lines) fairness.push(await fairnessOf({ sql, config }, sale, line, { reserved, minutes }))
  const waits = waitsOf(minutes)
  const people = withCallsMade(withPeople(minutes), firstOpeningMs(sale))
  const { points, minutes_per_point } = thinOut(people, POINTS)
  const figures = figuresOf(sale, { orders, sold, ...totals, minutes, untilMs, nowMs: nowMs() })
  return {
    sale: saleId,
    name: sale.name,
    test: sale.test,
    phase: phaseOf(sale, nowMs()),
    made_at: new Date(nowMs()).toISOString(),
    figures,
    curves: { minutes_per_point, minutes: points },
    fairness,
    attacks: { refused: refusalsOf(totals.counts), rules, blocks },
    honest,
    incidents: happened,
    announcements: announced
      .toReversed()
      .map(({ level, text, at, until, operator }) => ({ level, text, since: at, until, operator })),
    sources: funnel.map((row) => ({ ...row, losses: lossesOf(row) })),
    holds: holdsOf(holds),
    forecast: forecastAccuracy(minutes),
    expected_visitors: sale.expected_visitors,
    recounted: recountedOf(totals, figures, funnel),
    waits: { ...waitAccuracy(waits), minutes: waits },
  }
}

interface Counted extends Gauges {
  readonly orders: readonly OrderFigures[]
  readonly sold: readonly { readonly product: string; readonly minor: number }[]
  readonly counts: Figures
  readonly minutes: readonly Minute[]
  readonly untilMs: number
  readonly nowMs: number
}

function figuresOf(sale: SaleRow, { orders, sold, counts, most, last, minutes, untilMs, nowMs }: Counted) {
  const sum = (of: (one: OrderFigures) => number) => orders.reduce((all, one) => all + of(one), 0)
  const products = sale.products.map((product) => ({
    product_id: product.product_id,
    name: product.name,
    currency: product.currency,
    sold: product.sold,
    held: product.held,
    free: available(product),
    withheld: product.buffer,
    total: product.total,
    sold_minor: sold.find((one) => one.product === product.product_id)?.minor ?? 0,
  }))
  const units = (of: 'sold' | 'held' | 'free' | 'withheld' | 'total') =>
    products.reduce((all, product) => all + product[of], 0)
  // A cancelled order with a refund had been paid.
  const isPaid = ({ status }: OrderFigures) => isSold(status) || status === 'returned'
  const joined = minutes.length === 0 ? null : joinedOf({ most }, counts)
  const phase = phaseOf(sale, nowMs)
  const { called, arrived, may_come, did_not_come } = turnsOf(phase, { most, last })
  const reserved = sum((one) => one.reserved)
  const paid = sum((one) => (isPaid(one) ? one.orders : one.refunded_orders))
  const revenue = [...new Set(orders.map(({ currency }) => currency))].sort().map((currency) => {
    const of = orders.filter((one) => one.currency === currency)
    const paid_minor = of.reduce((all, one) => all + (isPaid(one) ? one.amount_minor : one.refunded_of_minor), 0)
    const refunded_minor = of.reduce((all, one) => all + one.refunded_minor, 0)
    return { currency, paid_minor, refunded_minor, left_minor: paid_minor - refunded_minor }
  })
  const { all_in_carts_at, sold_out_at } = stockOut(minutes)
  const overMs = sold_out_at === null ? untilMs : Date.parse(sold_out_at)
  return {
    joined,
    called,
    arrived,
    may_come,
    did_not_come,
    reserved,
    paid,
    refunded: sum((one) => one.refunded_orders),
    by_status: Object.fromEntries(
      [...new Set(orders.map(({ status }) => status))].map((status) => [
        status,
        sum((one) => (one.status === status ? one.orders : 0)),
      ]),
    ),
    most_waiting: most.most_waiting ?? null,
    revenue: revenue.filter(({ paid_minor }) => paid_minor > 0),
    units: {
      sold: units('sold'),
      held: units('held'),
      free: units('free'),
      withheld: units('withheld'),
      total: units('total'),
    },
    products,
    conversion: {
      joined_to_arrived: share(arrived, joined),
      arrived_to_reserved: share(reserved, arrived),
      reserved_to_paid: share(paid, reserved),
      joined_to_paid: share(paid, joined),
    },
    opened_at: sale.opens_at.toISOString(),
    ended_at: (sale.ended_at ?? sale.ends_at)?.toISOString() ?? null,
    // The two times are the beginnings of minutes.
    all_in_carts_at,
    sold_out_at,
    /** The time from the opening until all was sold, or until the end of the sale. */
    duration_seconds: Math.max(0, (overMs - sale.opens_at.getTime()) / 1000),
  }
}

const REFUSED = { 'join_refused.': 'joining', 'refused.': 'checkout' } as const

/** The refusals by reason, the most frequent first. */
const refusalsOf = (counts: Figures) =>
  Object.entries(REFUSED)
    .flatMap(([prefix, at]) =>
      Object.entries(counts)
        .filter(([name]) => name.startsWith(prefix))
        .map(([name, count]) => ({ at, reason: name.slice(prefix.length), count })),
    )
    .sort((a, b) => b.count - a.count)

// -- Fairness -------------------------------------------------------------------------------------------------------

function scheduleUrl(base: string | undefined, saleId: string, line: string): string | null {
  const query = line === PUBLIC_LINE ? '' : `?line=${line}`
  return base === undefined ? null : new URL(`/sales/${saleId}/schedule${query}`, base).href
}

/** Reads the public schedule. The result is null if no edge is known, or if it does not respond in time. */
async function readSchedule(url: string | null): Promise<Schedule | null> {
  if (url === null) return null
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(SCHEDULE_WITHIN_MS) })
    if (response.ok) return v.parse(Schedule, await response.json())
    await response.body?.cancel()
  } catch {
    // The report then says that the draw is unknown.
  }
  return null
}

type Fairness = SaleReport['fairness'][number]

interface Compared {
  /** The number of reserved orders of the sale. */
  readonly reserved: number
  readonly minutes: readonly Minute[]
}

/** Judges one line at a time, because each line has its own draw. */
async function fairnessOf(
  { sql, config: { EDGE_URL, PUBLIC_URL } }: Pick<ReportDeps, 'sql' | 'config'>,
  sale: SaleRow,
  line: string,
  { reserved, minutes }: Compared,
): Promise<Fairness> {
  const schedule = await readSchedule(scheduleUrl(EDGE_URL ?? PUBLIC_URL, sale.sale_id, line))
  const draw = schedule && drawOf(schedule, scheduleUrl(PUBLIC_URL ?? EDGE_URL, sale.sale_id, line))
  const nothing = { compared: 0, one_in: 1, rank_correlation: null, overtaking: null, before_turn: null }
  const unknown = (note: string) => ({ line, draw, ...nothing, note })
  if (schedule === null) return unknown('The edge did not respond with its schedule, so positions are unknown.')
  if (!isDrawn(schedule)) return unknown('The draw is not made yet.')
  const every = Math.max(1, Math.ceil(reserved / MOST_COMPARED))
  const position = positionsOf({
    seed: schedule.draw_seed,
    beacon: schedule.draw_beacon,
    size: schedule.pre_queue_size,
  })
  const served: Served[] = []
  for (const { number, at_ms } of await firstOrders(sql, sale.sale_id, line, every)) {
    served.push({ position: position(number), atMs: at_ms })
    if (served.length % AT_A_TIME === 0) await breathe()
  }
  const rank_correlation = rankCorrelation(
    served.map((one) => one.position),
    served.map((one) => one.atMs),
  )
  await breathe()
  const overtaking = overtakingOf(served)
  await breathe()
  return {
    line,
    draw,
    compared: served.length,
    one_in: every,
    rank_correlation,
    overtaking,
    // The minutes contain only the calls of all lines together.
    before_turn: sale.lines.length === 1 ? servedBeforeTurn(served, minutes) : null,
    note:
      every === 1 ? null : `Of the sale's ${reserved} orders, those of one ticket number in ${every} were compared.`,
  }
}

/** The proof of the draw, and how anybody can check it. */
function drawOf(schedule: Schedule, url: string | null) {
  const { draw_commitment: commitment, draw_seed: seed, draw_beacon: beacon } = schedule
  return {
    commitment,
    seed,
    beacon,
    beacon_announced: schedule.beacon_announced,
    drawn: schedule.pre_queue_size,
    /** True if the seed matches the commitment as published now; null before the draw. */
    holds: seed === null ? null : commitmentHolds(commitment, seed),
    schedule_url: url,
    verify: `npm run verify-draw -- --schedule ${url} --number N`,
  }
}
