/**
 * The operator's export of a sale's orders as CSV (RFC 4180) or NDJSON, streamed in pages: a slow reader holds no transaction.
 * An order that changes meanwhile appears once, in its old or new state. A failure ends the connection before the body does.
 */
import type { Context } from 'hono'
import { invalidField } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { type ExportedOrder, exportPages } from '../ledger/orders.ts'
import { refuse } from './request.ts'

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

const FORMATS = {
  csv: {
    type: 'text/csv; charset=utf-8; header=present',
    header: `${COLUMNS.join(',')}\r\n`,
    line: csvLine,
  },
  ndjson: {
    type: 'application/x-ndjson; charset=utf-8',
    header: '',
    line: (row: ExportedOrder) => `${JSON.stringify(Object.fromEntries(COLUMNS.map((name) => [name, row[name]])))}\n`,
  },
} as const

export function exportOrders(sql: Sql, c: Context, saleId: string): Response {
  const format = c.req.query('format') ?? 'ndjson'
  if (format !== 'csv' && format !== 'ndjson') return refuse(invalidField('format', 'csv or ndjson is required'))
  const { type, header, line } = FORMATS[format]
  const encoder = new TextEncoder()
  const pages = exportPages(sql, saleId)
  let prefix: string = header
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pages.next()
      const text = prefix + (value ?? []).map(line).join('')
      prefix = ''
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (done) controller.close()
    },
    async cancel() {
      await pages.return(undefined)
    },
  })
  return new Response(body, {
    headers: {
      'content-type': type,
      'content-disposition': `attachment; filename="${saleId}-orders.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

function csvLine(row: ExportedOrder): string {
  const fields = COLUMNS.map((name) => {
    const value = row[name]
    const text = value instanceof Date ? value.toISOString() : String(value ?? '')
    // A spreadsheet evaluates a field that begins like a formula; the quote keeps it text.
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
  })
  return `${fields.join(',')}\r\n`
}
