/**
 * Forecasts the load of each sale in use, for the metrics that an autoscaler reads. The forecast is also written into
 * the sale's minutes, so that its report can tell how good it was.
 */
import type { ScheduledEffect } from '../../../shared/api/operators/requests.ts'
import type { Metrics } from '../../base/metrics.ts'
import type { Sql } from '../../ledger/connection.ts'
import type { SaleRow } from '../../ledger/sale-row.ts'
import type { SaleWork } from '../../sales/sale-work.ts'
import type { Sales } from '../../sales/sales.ts'
import { noteForecast, readMinutes } from '../report-queries.ts'
import { AHEAD_MINUTES, forecast } from './forecast.ts'

/** The curve needs six whole minutes and the current one. */
const READ_MINUTES = 8
/** A sale has fewer scheduled actions in ten minutes; further ones are left out. */
const MAX_ACTIONS = 100

interface ForecasterDeps {
  readonly sql: Sql
  readonly sales: Pick<Sales, 'inUse' | 'nowMs'>
  readonly work: SaleWork
  readonly metrics: Pick<Metrics, 'forecastJoins' | 'forecastCheckouts' | 'forecastWaiting'>
}

export const forecastSales = ({ sql, sales, work, metrics }: ForecasterDeps) =>
  work.each('forecast', sales.inUse(), async (sale: SaleRow) => {
    const { sale_id } = sale
    const nowMs = sales.nowMs()
    const [minutes, actions] = await Promise.all([
      readMinutes(sql, sale_id, READ_MINUTES),
      actionsUntil(sql, sale_id, new Date(nowMs + AHEAD_MINUTES * 60_000)),
    ])
    const endsAt = sale.ended_at ?? sale.ends_at
    const { joins_per_second, checkouts_per_second, waiting } = forecast({
      nowMs,
      joinsFromMs: (sale.pre_queue_opens_at ?? sale.created_at).getTime(),
      opensAtMs: sale.opens_at.getTime(),
      endsAtMs: endsAt ? endsAt.getTime() : null,
      paused: sale.paused,
      ratePerSecond: sale.rate_per_second,
      expectedVisitors: sale.expected_visitors,
      minutes,
      actions,
    })
    metrics.forecastJoins.set({ sale: sale_id }, joins_per_second)
    metrics.forecastCheckouts.set({ sale: sale_id }, checkouts_per_second)
    metrics.forecastWaiting.set({ sale: sale_id }, waiting)
    await noteForecast(sql, sale_id, { forecast_joins: joins_per_second, forecast_checkouts: checkouts_per_second })
  })

async function actionsUntil(sql: Sql, saleId: string, until: Date) {
  const rows = await sql<{ at: Date; effect: ScheduledEffect }[]>`
    select next_at as at, effect from scheduled_actions
    where sale_id = ${saleId} and next_at <= ${until} and cancelled_at is null
    order by next_at limit ${MAX_ACTIONS}`
  return rows.map(({ at, effect }) => ({ atMs: at.getTime(), effect }))
}
