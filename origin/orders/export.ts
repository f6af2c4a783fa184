/**
 * The operator's export of a sale's orders. An order that changes while it is read appears once, in its old or its
 * new state.
 */
import type { Context } from 'hono'
import { statusOf } from '../../shared/api/order-status.ts'
import { shortNumber } from '../../shared/format.ts'
import { invalidField } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { type ExportedOrder, exportPages, totalOf } from '../ledger/order-statements.ts'
import { refuse } from '../lib/http/request.ts'
import { sendTable } from '../lib/http/table.ts'
import { linesOf, totalsIn } from './order-json.ts'

const ADDRESS_FIELDS = [
  'name',
  'phone',
  'company',
  'street',
  'line2',
  'postcode',
  'city',
  'region',
  'country',
  'note',
] as const

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
  'short_number',
  'discount_minor',
  'fees_minor',
  'shipping_minor',
  'tax_minor',
  ...ADDRESS_FIELDS.map((field) => `delivery_${field}` as const),
  'fulfilled_at',
] as const

type Column = (typeof COLUMNS)[number]
const IDS = ['order_id', 'product_id', 'visitor', 'charge_id'] as const
type Computed = Exclude<Column, keyof ExportedOrder> | 'status' | 'quantity'

/** The columns that an order has no field for. */
const COMPUTED: Readonly<Record<Computed, (row: ExportedOrder) => unknown>> = {
  status: (row) => statusOf(row.status),
  // The line's, as product and price are: of the first one.
  quantity: ({ cart, quantity }) => cart?.[0]?.quantity ?? quantity,
  total_minor: totalOf,
  lines: linesOf,
  short_number: (row) => shortNumber(row.number),
  discount_minor: (row) => totalsIn(row).discount_minor,
  fees_minor: (row) => totalsIn(row).fees.reduce((sum, fee) => (fee.included ? sum : sum + fee.amount_minor), 0),
  shipping_minor: (row) => totalsIn(row).shipping_minor,
  tax_minor: (row) => totalsIn(row).tax_minor,
  ...(Object.fromEntries(
    ADDRESS_FIELDS.map((field) => [`delivery_${field}`, (row: ExportedOrder) => row.delivery?.[field] ?? null]),
  ) as Record<`delivery_${(typeof ADDRESS_FIELDS)[number]}`, (row: ExportedOrder) => string | null>),
}
const isComputed = (name: Column): name is Computed => name in COMPUTED

const fieldOf = (row: ExportedOrder, name: Column) => (isComputed(name) ? COMPUTED[name](row) : row[name])

const OF_PERSON: ReadonlySet<string> = new Set(['visitor', ...ADDRESS_FIELDS.map((field) => `delivery_${field}`)])
const IMPERSONAL = COLUMNS.filter((name) => !OF_PERSON.has(name))

/** An order of the export without its visitor and address. */
export const withoutPerson = (row: ExportedOrder) =>
  Object.fromEntries(IMPERSONAL.map((name) => [name, fieldOf(row, name)]))

/** `GET /admin/sales/{sale}/orders`, as NDJSON or, with `?format=csv`, as CSV. */
export const exportOrders = (sql: Sql, c: Context, saleId: string): Response =>
  sendOrders(c, exportPages(sql, saleId), `${saleId}-orders`)

/** Pages of orders to download. */
export function sendOrders(c: Context, pages: AsyncGenerator<ExportedOrder[], void>, name: string): Response {
  const format = c.req.query('format') ?? 'ndjson'
  if (format !== 'csv' && format !== 'ndjson') return refuse(invalidField('format', 'csv or ndjson is required'))
  const object = (row: ExportedOrder) => Object.fromEntries(COLUMNS.map((name) => [name, fieldOf(row, name)]))
  return sendTable({ columns: COLUMNS, ids: IDS, pages, field: fieldOf, object, name }, format)
}
