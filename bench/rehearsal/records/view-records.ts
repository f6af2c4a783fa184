/** Reads how a sale's views were counted, and by which rules others were dropped. */
import { setTimeout as sleep } from 'node:timers/promises'
import type { SaleViews } from '../../../shared/api/operators/views.ts'
import type { Viewers } from '../../crowd/viewers.ts'
import type { ViewRecord } from '../../invariants/evidence.ts'
import { admin } from '../../lib/operator.ts'
import type { Target } from './records.ts'

/** Beacons reach the counts within seconds; on a busy machine later. */
const COUNTED_WITHIN_MS = 30_000
const POLL_EVERY_MS = 500

/** Waits until every view that began has been counted or dropped. */
export async function viewRecordOf(to: Target, sale: string, { sent, refused }: Viewers): Promise<ViewRecord> {
  const begun = Object.values(sent).reduce((sum, views) => sum + views, 0)
  const untilMs = performance.now() + COUNTED_WITHIN_MS
  for (;;) {
    const views = (await (await admin(to, 'GET', `/sales/${sale}/views?by=page`)).json()) as SaleViews
    const isAll = views.counted + views.dropped >= begun
    if (isAll || performance.now() > untilMs) {
      const dropped = new Map(views.by_rule.map((row) => [row.rule, row.dropped]))
      return { sent, refused, counted: views.counted, dropped }
    }
    await sleep(POLL_EVERY_MS)
  }
}
