/** Reads an uploaded table of seats, CSV or JSON, with a limit on its bytes and its rows. */
import { pipeline, Readable } from 'node:stream'
import { CsvError, parse as parseCsv } from 'csv-parse'
import type { Context } from 'hono'
import { MAX_SEATS } from '../../shared/api/operators/hall-admin.ts'
import { bodyTooLarge, jsonIn } from '../../shared/parse.ts'
import { problem } from '../../shared/problem.ts'
import { headerOf, readText, refuse } from '../lib/request.ts'
import { COLUMNS, headerErrors, SeatTable } from './seat-table.ts'

/** The largest hall as JSON has some 30 MB. */
const MAX_IMPORT_BYTES = 40 * 1024 * 1024
/** Longest line of a CSV, in characters. */
const MAX_LINE = 1_000

/** The rows of the body. Throws where it is no table at all, is too large, or has too many rows. */
export async function readSeatTable(c: Context): Promise<SeatTable> {
  const type = headerOf(c, 'content-type') ?? ''
  const table = new SeatTable()
  if (/^text\/csv\b/i.test(type)) await readCsv(chunksOf(c), table)
  else if (/^application\/json\b/i.test(type)) readJson(await readText(c, MAX_IMPORT_BYTES), table)
  else refuse(problem('unsupported-media-type', { detail: 'Send text/csv or application/json.' }))
  return table
}

/** The body is read in chunks, so that a large CSV is parsed while it arrives. */
async function* chunksOf(c: Context): AsyncGenerator<Uint8Array> {
  let bytes = 0
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_IMPORT_BYTES) refuse(bodyTooLarge(MAX_IMPORT_BYTES))
    yield chunk
  }
}

async function readCsv(chunks: AsyncGenerator<Uint8Array>, table: SeatTable): Promise<void> {
  // Empty lines are records too, since they count as lines.
  const options = { bom: true, trim: true, relaxColumnCount: true, maxRecordSize: MAX_LINE }
  // The loop below handles failures.
  const parser = pipeline(Readable.from(chunks), parseCsv(options), () => {})
  let header: readonly string[] | undefined
  let number = 0
  try {
    for await (const record of parser as AsyncIterable<readonly string[]>) {
      number++
      // A field in quotes may have several lines.
      for (const field of record) if (field.includes('\n')) number += field.split('\n').length - 1
      if (record.length === 1 && record[0] === '') continue
      const line = `line ${number}`
      if (!header) {
        header = record
        const errors = headerErrors(header, line)
        for (const error of errors) table.addError(error)
        // No line can be read if required columns are missing.
        if (errors.length > 0) return
      } else if (table.isFull) refuseFurther()
      else if (record.length > header.length) table.addError({ field: line, detail: 'more fields than columns' })
      else table.add(line, fieldsOf(header, record))
    }
  } catch (error) {
    if (error instanceof CsvError) refuse(problem('invalid-request', { detail: error.message }))
    throw error
  }
  if (!header) table.addError({ field: 'line 1', detail: `the columns are required: ${COLUMNS.join(',')}` })
}

/** Assigns the fields of a record to the columns of a header that has been checked. */
function fieldsOf(header: readonly string[], record: readonly string[]): Record<string, unknown> {
  const fields: Record<string, unknown> = {}
  for (const [i, column] of header.entries()) fields[column] = record[i]
  return fields
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
    const errors = headerErrors(Object.keys(row), line)
    for (const error of errors) table.addError(error)
    if (errors.length === 0) table.add(line, row)
  }
}

const refuseFurther = () => refuse(problem('body-too-large', { detail: `A sale has at most ${MAX_SEATS} seats.` }))
