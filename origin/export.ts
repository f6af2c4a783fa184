/** The operator's export of a sale's orders, streamed row by row: CSV (RFC 4180) or NDJSON. */
import type { Context } from 'hono'
import { stream } from 'hono/streaming'
import { problem } from '../shared/problem.ts'
import type { Deps } from './deps.ts'
import type { OrderRow } from './ledger/ledger.ts'
import { sendProblem } from './routes/rim.ts'

const ROWS = 1_000
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
  'created_at',
  'reserved_until',
  'updated_at',
] as const

export function exportOrders(deps: Deps, c: Context, sale: string): Response {
  const format = c.req.query('format') ?? 'ndjson'
  if (format !== 'csv' && format !== 'ndjson') {
    const detail = 'csv or ndjson is required'
    return sendProblem(
      problem('invalid-fields', { detail: `format: ${detail}`, errors: [{ field: 'format', detail }] }),
    )
  }
  const line = format === 'csv' ? csvLine : (row: OrderRow) => JSON.stringify(pick(row))
  c.header(
    'content-type',
    format === 'csv' ? 'text/csv; charset=utf-8; header=present' : 'application/x-ndjson',
  )
  c.header('content-disposition', `attachment; filename="${sale}-orders.${format}"`)
  return stream(c, async (out) => {
    if (format === 'csv') await out.write(`${COLUMNS.join(',')}\r\n`)
    const rows = deps.sql<OrderRow[]>`select * from orders where sale_id = ${sale} order by order_id`.cursor(
      ROWS,
    )
    for await (const chunk of rows) {
      if (out.aborted) return
      await out.write(chunk.map((row) => line(row) + (format === 'csv' ? '\r\n' : '\n')).join(''))
    }
  })
}

const pick = (row: OrderRow) => Object.fromEntries(COLUMNS.map((name) => [name, row[name]]))

function csvLine(row: OrderRow): string {
  return COLUMNS.map((name) => {
    const value = row[name]
    const text = value instanceof Date ? value.toISOString() : String(value ?? '')
    // A field that begins like a formula is one to a spreadsheet; the quote keeps it text.
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  }).join(',')
}
