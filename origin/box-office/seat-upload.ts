/** Reads an uploaded table of seats, CSV or JSON, with a limit on its bytes and its rows. */
import type { Context } from 'hono'
import { MAX_SEATS } from '../../shared/api/operators/hall-admin.ts'
import { jsonIn } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import { csvRows, headerErrors } from '../lib/http/csv-upload.ts'
import { chunksOf, headerOf, readText, refuse } from '../lib/http/request.ts'
import { COLUMNS, SeatTable } from './seat-table.ts'

/** The largest hall as JSON has some 30 MB. */
const MAX_IMPORT_BYTES = 40 * 1024 * 1024
/** Longest line of a CSV, in characters. */
const MAX_LINE = 1_000

/** The rows of the body. Throws where it is no table at all, is too large, or has too many rows. */
export async function readSeatTable(c: Context): Promise<SeatTable> {
  const type = headerOf(c, 'content-type') ?? ''
  const table = new SeatTable()
  if (/^text\/csv\b/i.test(type)) await readCsv(c, table)
  else if (/^application\/json\b/i.test(type)) readJson(await readText(c, MAX_IMPORT_BYTES), table)
  else refuse(problem('unsupported-media-type', { detail: 'Send text/csv or application/json.' }))
  return table
}

async function readCsv(c: Context, table: SeatTable): Promise<void> {
  const rows = csvRows(
    chunksOf(c, MAX_IMPORT_BYTES),
    { columns: COLUMNS, required: COLUMNS, maxRow: MAX_LINE },
    (error) => table.addError(error),
  )
  for await (const { line, fields } of rows) {
    if (table.isFull) refuseFurther()
    table.add(`line ${line}`, fields)
  }
}

function readJson(text: string, table: SeatTable): void {
  const rows = jsonIn(text)
  if (!Array.isArray(rows)) refuse(problem('invalid-request', { detail: 'The body must be a list of seats.' }))
  for (const [i, row] of rows.entries()) {
    const line = `seat ${i + 1}`
    if (table.isFull) refuseFurther()
    if (typeof row !== 'object' || row === null || Array.isArray(row)) {
      table.addError({ field: line, detail: 'an object is required' })
      continue
    }
    const errors = headerErrors(Object.keys(row), { columns: COLUMNS, required: COLUMNS })
    for (const { field, detail } of errors) table.addError({ field: `${line}${field}`, detail })
    if (errors.length === 0) table.add(line, row)
  }
}

const refuseFurther = () => refuse(problem('body-too-large', { detail: `A sale has at most ${MAX_SEATS} seats.` }))
