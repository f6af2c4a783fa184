/** The operators' call for the audit log: one page as JSON, or all that a filter finds as CSV or NDJSON. */
import { type Context, Hono } from 'hono'
import * as v from 'valibot'
import { pageLimit, SaleId } from '../../shared/api/fields.ts'
import { preferred } from '../../shared/lib/accept.ts'
import { readAudit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { query } from '../lib/http/request.ts'
import { sendTable, type TableFormat } from '../lib/http/table.ts'

/** The entries of a page, by default and at most. A page of an export has the maximum. */
const [SHOWN, MOST_SHOWN] = [50, 200]
const EXPORTED = 1_000
const text = v.pipe(v.string(), v.maxLength(200, 'at most 200 characters'))
const AuditQuery = v.object({
  sale: v.optional(SaleId),
  operator: v.optional(text),
  action: v.optional(text),
  format: v.optional(v.picklist(['json', 'csv', 'ndjson'], 'json, csv or ndjson is required')),
  after: v.optional(v.pipe(v.string(), v.regex(/^\d{1,15}$/, 'the entry that the page before ended with is required'))),
  limit: v.optional(pageLimit(MOST_SHOWN), String(SHOWN)),
})
type Query = v.InferOutput<typeof AuditQuery>

/** Entries come with the newest first; `next` is the `after` of the following page, null on the last one. */
export function auditRoutes(sql: Sql) {
  const app = new Hono()
  app.get('/audit', query(AuditQuery), (c, next) => {
    const wanted = c.req.valid('query')
    const format = wanted.format ?? accepted(c)
    return format === 'json' ? next() : Promise.resolve(exportAudit(sql, wanted, format))
  })
  return app.get('/audit', query(AuditQuery), async (c) => {
    const wanted = c.req.valid('query')
    const entries = await readAudit(sql, wanted)
    const last = entries.length === wanted.limit ? entries.at(-1) : undefined
    return c.json({ entries, next: last?.entry ?? null })
  })
}

function accepted(c: Context): 'json' | 'csv' | 'ndjson' {
  const type = preferred(c.req.header('accept'), ['application/json', 'text/csv', 'application/x-ndjson'])
  return type === 'text/csv' ? 'csv' : type === 'application/x-ndjson' ? 'ndjson' : 'json'
}

type Entry = Awaited<ReturnType<typeof readAudit>>[number]
const COLUMNS = [
  ...['entry', 'at', 'operator', 'action', 'sale', 'product_id', 'order_id', 'before', 'after'],
] as readonly (keyof Entry)[]
/** CSV has one text per field, so an object becomes JSON. */
const fieldOf = (entry: Entry, name: keyof Entry) => {
  const value: unknown = entry[name]
  return value !== null && typeof value === 'object' && !(value instanceof Date) ? JSON.stringify(value) : value
}

function exportAudit(sql: Sql, query: Query, format: TableFormat): Response {
  const pages = entryPages(sql, query)
  return sendTable(
    {
      columns: COLUMNS,
      ids: ['sale', 'product_id', 'order_id'],
      pages,
      field: fieldOf,
      object: (entry) => entry,
      name: 'audit',
    },
    format,
  )
}

async function* entryPages(sql: Sql, query: Query): AsyncGenerator<Entry[], void> {
  let { after } = query
  for (;;) {
    const entries = await readAudit(sql, { ...query, after, limit: EXPORTED })
    yield entries
    if (entries.length < EXPORTED) return
    after = entries.at(-1)?.entry
  }
}
