/**
 * What scheduled actions keep instead of changing their sale: its report, or its orders as they are at that time. The
 * orders are kept without their visitors and addresses, so that a copy never outlives the wish to be forgotten.
 */
import { promisify } from 'node:util'
import { gzip } from 'node:zlib'
import type { ScheduledEffect } from '../../shared/api/operators/requests.ts'
import type { Sql } from '../ledger/connection.ts'
import { exportPages } from '../ledger/order-statements.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { withoutPerson } from '../orders/export.ts'
import type { Document } from './scheduled-queries.ts'

const compress = promisify(gzip)

/** With more orders, a document of some megabytes would be held in memory: their export is streamed instead. */
const MAX_ORDERS = 50_000
const TOO_MANY = `The sale has more than ${MAX_ORDERS} orders: read them by GET /admin/sales/{sale}/orders.`

export type DocumentKind = 'report' | 'export'
export const documentKind = ({ action }: ScheduledEffect): DocumentKind | null =>
  action === 'report' || action === 'export' ? action : null

export interface DocumentDeps {
  readonly sql: Sql
  readonly report: (sale: SaleRow) => Promise<object>
}

/** A document, or the reason why there is none. */
export type MadeDocument = Document | { readonly error: string }

export async function makeDocument(
  { sql, report }: DocumentDeps,
  kind: DocumentKind,
  sale: SaleRow,
): Promise<MadeDocument> {
  if (kind === 'report') return { type: 'application/json', body: await compress(JSON.stringify(await report(sale))) }
  const lines: string[] = []
  for await (const orders of exportPages(sql, sale.sale_id)) {
    if (lines.length + orders.length > MAX_ORDERS) return { error: TOO_MANY }
    for (const order of orders) lines.push(`${JSON.stringify(withoutPerson(order))}\n`)
  }
  return { type: 'application/x-ndjson', body: await compress(lines.join('')) }
}
