/**
 * The state of a sale at a moment: its phase, the available units, and its description. Pure: it depends on the
 * sale's row and the ledger's time.
 */
import type { GoodsDocument } from '../../shared/api/goods.ts'
import type { SaleState } from '../../shared/api/internal.ts'
import { productsOf } from '../../shared/products.ts'
import type { ProductRow, SaleRow } from '../ledger/sale-row.ts'

const early = new WeakMap<SaleRow, Map<string, SaleRow>>()

/**
 * The sale with the times of one line, whose lobby and turns may begin earlier. It is unchanged for a line that the
 * sale does not have.
 */
export function inLine(sale: SaleRow, line: string): SaleRow {
  const ms = 1000 * (sale.lines.find((one) => one.line === line)?.opens_early_seconds ?? 0)
  if (ms === 0) return sale
  const known = early.get(sale) ?? new Map<string, SaleRow>()
  early.set(sale, known)
  const { opens_at, pre_queue_opens_at: lobby } = sale
  const earlier = (at: Date) => new Date(at.getTime() - ms)
  const made = known.get(line) ?? {
    ...sale,
    opens_at: earlier(opens_at),
    pre_queue_opens_at: lobby && earlier(lobby),
  }
  known.set(line, made)
  return made
}

/** The units that are or were for sale: all except the buffer. */
export const forSale = (p: Pick<ProductRow, 'total' | 'buffer'>) => p.total - p.buffer

export const available = (p: Pick<ProductRow, 'total' | 'buffer' | 'held' | 'sold'>) =>
  Math.max(0, forSale(p) - p.held - p.sold)

/**
 * The products as everyone sees them, without withheld units. In a section the withheld units are blocked seats,
 * which everyone sees.
 */
export const publicProducts = ({ products }: SaleRow) =>
  products.map(({ buffer, total, limit_per_visitor: limit, ...p }) => ({
    ...p,
    limit,
    total: p.section_type === null ? total - buffer : total,
    available: available({ ...p, total, buffer }),
  }))

/** The remaining units of a product at the last read of the ledger. */
export function remainingIn(sale: SaleRow, product: string): number {
  const found = sale.products.find((p) => p.product_id === product)
  return found ? available(found) : 0
}

/** The phase of a sale at a time of the ledger's clock. */
export function phaseOf(sale: SaleRow, nowMs: number): SaleState['phase'] {
  if (sale.ended_at !== null || (sale.ends_at !== null && nowMs >= sale.ends_at.getTime())) return 'ended'
  if (nowMs < sale.opens_at.getTime()) return 'upcoming'
  if (sale.paused) return 'paused'
  // A sale without products stands before a site that sells by itself.
  if (sale.products.length === 0) return 'open'
  const sum = (of: (p: ProductRow) => number) => sale.products.reduce((units, p) => units + of(p), 0)
  if (sum(available) > 0) return 'open'
  return sum((p) => p.held) > 0 ? 'all_in_carts' : 'sold_out'
}

/** The events to publish when a sale changes from one phase to another, and the phase to store. */
export function phaseEvents(was: string, phase: SaleState['phase']): { events: readonly SaleEvent[]; phase: string } {
  // Units move into carts and back all the time, so this change is not published.
  const now = phase === 'all_in_carts' ? 'open' : phase
  if (now === was) return { events: [], phase: now }
  if (now === 'open') return { events: [was === 'sold_out' ? 'sale.restocked' : 'sale.opened'], phase: now }
  // The sale sold out within its first second, so it also opened.
  if (now === 'sold_out')
    return { events: was === 'upcoming' ? ['sale.opened', 'sale.sold_out'] : ['sale.sold_out'], phase: now }
  return { events: now === 'upcoming' ? [] : [`sale.${now}`], phase: now }
}

/** An announcement with an end is shown until then. */
const isShown = (announcement: SaleRow['announcement'], nowMs: number) =>
  !announcement?.until || Date.parse(announcement.until) > nowMs

type SaleEvent = 'sale.opened' | 'sale.paused' | 'sale.sold_out' | 'sale.restocked' | 'sale.ended'

/** The description for readers of the whole sale. `goods` is null if they were not read. */
export function describeSale(sale: SaleRow, nowMs: number, goods: GoodsDocument | null = null) {
  const units = sale.products.map(({ limit_per_visitor: limit, ...p }) => ({ ...p, limit, available: available(p) }))
  return {
    sale: sale.sale_id,
    name: sale.name,
    time_zone: sale.time_zone,
    phase: phaseOf(sale, nowMs),
    pre_queue_opens_at: (sale.pre_queue_opens_at ?? sale.created_at).toISOString(),
    opens_at: sale.opens_at.toISOString(),
    ends_at: sale.ends_at?.toISOString() ?? null,
    hold_seconds: sale.hold_seconds,
    limit_per_visitor: sale.limit_per_visitor,
    limit_per_order: sale.limit_per_order,
    products: productsOf(units, goods),
    goods_version: sale.goods_version,
    chart_version: sale.chart_version,
    admission: { rate_per_second: sale.rate_per_second, max_inside: sale.max_inside },
    expected_visitors: sale.expected_visitors,
    max_unpaid_orders: sale.max_unpaid_orders,
    announcement: isShown(sale.announcement, nowMs) ? sale.announcement : null,
    pause_reason: sale.paused ? sale.pause_reason : null,
    seller: sale.seller,
    tax: sale.tax,
    fees: sale.fees,
    delivery: sale.delivery,
    indexed: sale.indexed,
    mails: sale.mails,
    payment: sale.payment,
    test: sale.test,
  }
}
