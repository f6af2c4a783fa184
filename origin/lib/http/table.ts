/**
 * A table to download as CSV (RFC 4180) or NDJSON, streamed page by page, so that a slow reader holds no transaction.
 * If a page fails, the connection ends before the body does.
 */
import { stringify } from 'csv-stringify/sync'

export type TableFormat = 'csv' | 'ndjson'

interface Table<Row, Column extends string> {
  /** The columns of the CSV. */
  readonly columns: readonly Column[]
  /** The columns that hold ids, which stay as they are, also where they begin with a minus sign. */
  readonly ids: readonly Column[]
  readonly pages: AsyncGenerator<readonly Row[], void>
  /** One field of the CSV. */
  readonly field: (row: Row, column: Column) => unknown
  /** One line of the NDJSON. */
  readonly object: (row: Row) => object
  /** The name of the file, without its ending. */
  readonly name: string
}

const ID = /^[\w.:-]*$/

const TYPES = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const

export function sendTable<Row, Column extends string>(table: Table<Row, Column>, format: TableFormat): Response {
  const { columns, ids, pages, field, object, name } = table
  const cell = (row: Row, column: Column) => {
    const value = field(row, column)
    return typeof value === 'string' && !(ids.includes(column) && ID.test(value)) ? withoutFormulas(value) : value
  }
  const textOf = (rows: readonly Row[]) =>
    format === 'csv'
      ? csvOf(rows.map((row) => columns.map((column) => cell(row, column))))
      : rows.map((row) => `${JSON.stringify(object(row))}\n`).join('')
  const encoder = new TextEncoder()
  // Excel reads a file that has no byte order mark in its own encoding.
  let header = format === 'csv' ? `\ufeff${csvOf([columns])}` : ''
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const { value, done } = await pages.next()
      const text = header + textOf(value ?? [])
      header = ''
      if (text !== '') controller.enqueue(encoder.encode(text))
      if (done) controller.close()
    },
    async cancel() {
      await pages.return()
    },
  })
  return new Response(body, {
    headers: {
      'content-type': TYPES[format],
      'content-disposition': `attachment; filename="${name}.${format}"`,
      'cache-control': 'no-store',
    },
  })
}

/**
 * A spreadsheet evaluates a cell that begins like a formula; a quote makes it text. Where a spreadsheet separates cells
 * by semicolons or tabs, a new cell also begins after one of these, and after a line break
 * (https://owasp.org/www-community/attacks/CSV_Injection).
 */
export const withoutFormulas = (text: string) => text.replace(/(?<=^|[;\t\r\n])(?=[ ]*[=+\-@\t\r])/g, "'")

const csvOf = (rows: readonly (readonly unknown[])[]) =>
  stringify(rows as unknown[][], {
    record_delimiter: 'windows',
    // The library would quote only the line breaks that end a record in this file.
    quoted_match: /[\r\n]/,
    cast: { date: (date) => date.toISOString(), boolean: String },
  })
