/**
 * The operator's export of a sale's orders, streamed row by row: CSV (RFC 4180) or NDJSON, a visitor's orders together. It is
 * read in pages, so that a slow reader holds no connection and no transaction; orders that change while it is read appear
 * once, as they were or as they are. An export that breaks off does so visibly: the connection ends before the body does.
 */
import type { Context } from 'hono'
import { invalidField } from '../../shared/problem.ts'
import type { Deps } from '../deps.ts'
import type { Queryable } from '../ledger/connection.ts'
import type { OrderRow } from '../ledger/orders.ts'
import { sendProblem } from './request.ts'

/** Confirmed is one thing, and that the money is taken, or given back, is another. */
type ExportedOrder = OrderRow & { readonly captured_at: Date | null; readonly refunded_at: Date | null }

export const PAGE = 1_000
const COLUMNS = [
  'order_id',
  'product_id',
  'visitor',
  'ticket_number',
  'quantity',
  'unit_price_minor',
  'currency',
  'status',
  'reason',
  'payment_method',
  'charge_id',
  'captured_at',
  'refunded_at',
  'created_at',
  'reserved_until',
  'updated_at',
] as const

export function exportOrders(deps: Deps, c: Context, sale: string): Response {
  const format = c.req.query('format') ?? 'ndjson'
  if (format !== 'csv' && format !== 'ndjson') {
    return sendProblem(invalidField('format', 'csv or ndjson is required'))
  }
  const line = format === 'csv' ? csvLine : (row: ExportedOrder) => `${JSON.stringify(pick(row))}\n`
  const encoder = new TextEncoder()
  const pages = pagesOf(deps, sale)
  let header = format === 'csv' ? `${COLUMNS.join(',')}\r\n` : ''
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pages.next()
      const text = header + (value ?? []).map(line).join('')
      header = ''
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (done) controller.close()
    },
    async cancel() {
      await pages.return(undefined)
    },
  })
  return new Response(body, {
    headers: {
      'content-type':
        format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson; charset=utf-8',
      'content-disposition': `attachment; filename="${sale}-orders.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

async function* pagesOf({ sql }: Deps, sale: string): AsyncGenerator<ExportedOrder[], undefined> {
  let after: Place = { visitor: '', idempotency_key: '' }
  for (;;) {
    const rows = await sql.begin((tx) => readPage(tx, sale, after))
    const last = rows.at(-1)
    if (last) yield rows
    if (!last || rows.length < PAGE) return
    after = last
  }
}

/** Where an order stands among those of its sale: it never changes, and `one_order_per_key` has them in this order. */
type Place = Pick<OrderRow, 'visitor' | 'idempotency_key'>

/** The orders after a place, within a transaction. */
export async function readPage(tx: Queryable, sale: string, after: Place): Promise<ExportedOrder[]> {
  // Where Postgres believes that a sale is small, it would read all that is left of it for each page, and sort it.
  await tx`select set_config('enable_sort', 'off', true)`
  return tx<ExportedOrder[]>`
    select *, (select captured_at from captures c where c.charge_id = o.charge_id),
      (select refunded_at from refunds r where r.charge_id = o.charge_id)
    from orders o
    where sale_id = ${sale} and (visitor, idempotency_key) > (${after.visitor}, ${after.idempotency_key})
    order by visitor, idempotency_key limit ${PAGE}`
}

const pick = (row: ExportedOrder) => Object.fromEntries(COLUMNS.map((name) => [name, row[name]]))

function csvLine(row: ExportedOrder): string {
  const fields = COLUMNS.map((name) => {
    const value = row[name]
    const text = value instanceof Date ? value.toISOString() : String(value ?? '')
    // A field that begins like a formula is one to a spreadsheet; the quote keeps it text.
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  })
  return `${fields.join(',')}\r\n`
}
