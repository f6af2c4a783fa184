/**
 * The operator's export of a sale's orders. An order that changes while it is read appears once, in its old or its new state.
 */
import type { Context } from 'hono'
import { statusOf } from '../../shared/order-status.ts'
import { invalidField } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { type ExportedOrder, exportPages, totalOf } from '../ledger/order-statements.ts'
import { refuse } from '../lib/request.ts'
import { sendTable } from '../lib/table.ts'
import { linesOf } from './order-json.ts'

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
  'refunded_minor',
  'total_minor',
  'lines',
] as const

function fieldOf(row: ExportedOrder, name: (typeof COLUMNS)[number]) {
  if (name === 'status') return statusOf(row.status)
  if (name === 'total_minor') return totalOf(row)
  return name === 'lines' ? linesOf(row) : row[name]
}

/** `GET /admin/sales/{sale}/orders`, as NDJSON or, with `?format=csv`, as CSV. */
export function exportOrders(sql: Sql, c: Context, saleId: string): Response {
  const format = c.req.query('format') ?? 'ndjson'
  if (format !== 'csv' && format !== 'ndjson') return refuse(invalidField('format', 'csv or ndjson is required'))
  const object = (row: ExportedOrder) => Object.fromEntries(COLUMNS.map((name) => [name, fieldOf(row, name)]))
  const pages = exportPages(sql, saleId)
  return sendTable({ columns: COLUMNS, pages, field: fieldOf, object, name: `${saleId}-orders` }, format)
}
