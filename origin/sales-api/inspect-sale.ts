/** A sale with its state in the form of the operators' API: units, line and rates. */

import { queueName } from '../../shared/api/access.ts'
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'
import type { SaleQueues } from '../queue/sale-queues.ts'
import { available, describeSale } from '../sales/sale-state.ts'
import type { Sales } from '../sales/sales.ts'
import type { Reconciler } from '../stock/reconciler.ts'

export interface InspectDeps {
  readonly sales: Pick<Sales, 'nowMs'>
  readonly reconciler: Pick<Reconciler, 'agrees'>
  readonly queues: Pick<SaleQueues, 'counts' | 'latestReport' | 'health'>
}

export type State = Awaited<ReturnType<typeof inspectSale>>

export async function inspectSale(deps: InspectDeps, sale: SaleRow, goods: GoodsDocument | null) {
  const agrees = await deps.reconciler.agrees(sale)
  const lines = sale.lines.map(({ line }) => lineNow(deps, sale.sale_id, line))
  const [first] = lines
  const nowMs = deps.sales.nowMs()
  const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
  const [total, buffer] = [sum((p) => p.total), sum((p) => p.buffer)]
  const [held, sold] = [sum((p) => p.held), sum((p) => p.sold)]
  return {
    ...describeSale(sale, nowMs, goods),
    brand: goods?.brand ?? null,
    venue: goods?.venue ?? null,
    names: goods?.names ?? null,
    event: goods?.event ?? null,
    ended_at: sale.ended_at?.toISOString() ?? null,
    paused: sale.paused,
    access: sale.access,
    contact: sale.contact,
    lines: sale.lines,
    oversell_policy: sale.oversell_policy,
    invariant: {
      total,
      buffer,
      available: sum(available),
      held,
      sold,
      // If the gate and the ledger cannot be compared, the ledger's own counters must add up.
      holds: agrees ?? held + sold <= total - buffer,
      compared_at: agrees === null ? null : new Date(nowMs).toISOString(),
    },
    rates: {
      admission_per_second: sale.rate_per_second,
      called_per_second: together(lines, 'called_per_second'),
      boost: first?.boost ?? null,
      throttle: first?.throttle ?? null,
    },
    queue: {
      ...deps.queues.counts(sale.sale_id),
      arrivals: together(lines, 'arrivals') ?? 0,
      numbers_given: together(lines, 'numbers_given'),
      called: together(lines, 'called'),
      may_come: together(lines, 'may_come'),
      waiting: together(lines, 'waiting'),
      wait_seconds: longest(lines),
      lines,
    },
    health: deps.queues.health(sale.sale_id),
    server_time: new Date(nowMs).toISOString(),
  }
}

/** The figures of one line. */
function lineNow({ queues }: InspectDeps, saleId: string, line: string) {
  const queue = queueName(saleId, line)
  const report = queues.latestReport(queue)
  return {
    line,
    arrivals: queues.counts(queue).arrivals,
    numbers_given: report?.numbers_given ?? null,
    called: report?.called ?? null,
    may_come: report?.may_come ?? null,
    waiting: report?.waiting ?? null,
    wait_seconds: report?.wait_seconds ?? null,
    called_per_second: report?.called_per_second ?? null,
    boost: report?.boost ?? null,
    throttle: report?.throttle ?? null,
  }
}

type Figures = Readonly<
  Record<
    'arrivals' | 'numbers_given' | 'called' | 'may_come' | 'waiting' | 'wait_seconds' | 'called_per_second',
    number | null
  >
>

/** The sum over all lines; null if no line has reported. */
function together(lines: readonly Figures[], of: keyof Figures): number | null {
  const known = lines.flatMap((line) => line[of] ?? [])
  return known.length === 0 ? null : known.reduce((sum, one) => sum + one)
}

function longest(lines: readonly Figures[]): number | null {
  const waits = lines.flatMap(({ wait_seconds }) => wait_seconds ?? [])
  return waits.length === 0 ? null : Math.max(...waits)
}
