/**
 * Reads an uploaded CSV (RFC 4180) row by row, while it arrives. Spreadsheets also save other separators and other
 * encodings, of which a lenient reader would make wrong data, so that each of them is refused by its name.
 */
import { pipeline, Readable } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { type FieldError, problem } from '../../../shared/problem.ts'
import { refuse } from './request.ts'

interface CsvForm<Column extends string> {
  readonly columns: readonly Column[]
  readonly required: readonly Column[]
  /** True if the first row may be data already. */
  readonly headerIsOptional?: boolean
  /** The longest row, in characters. */
  readonly maxRow: number
}

interface CsvRow<Column extends string> {
  /** The number of the line in which the row begins, from 1. */
  readonly line: number
  /** The fields that are not empty. */
  readonly fields: Readonly<Partial<Record<Column, string>>>
}

/** What separates columns in files that are not comma-separated. */
const OTHER_SEPARATORS = { ';': '";"', '\t': 'tabs', '|': '"|"' }

/**
 * Yields the rows of a file without its header and without blank rows. `wrong` is called for each error of the header,
 * after which no row follows, and for each row that has too many fields. Throws `invalid-fields` for another encoding
 * and `invalid-request` for quotes that do not match.
 */
export async function* csvRows<Column extends string>(
  bytes: AsyncIterable<Uint8Array>,
  form: CsvForm<Column>,
  wrong: (error: FieldError) => void,
): AsyncGenerator<CsvRow<Column>> {
  const { columns, maxRow, headerIsOptional = false } = form
  const options = {
    trim: true,
    info: true,
    relaxColumnCount: true,
    skipRecordsWithEmptyValues: true,
    maxRecordSize: maxRow,
  }
  // The loop below handles failures.
  const parser = pipeline(Readable.from(decoded(bytes)), parse(options), () => {})
  let names: readonly string[] | undefined
  try {
    for await (const { record, info } of parser as AsyncIterable<{ record: string[]; info: { lines: number } }>) {
      const line = info.lines - record.reduce((sum, field) => sum + (field.match(/\r\n|\r|\n/g)?.length ?? 0), 0)
      if (names === undefined) {
        const separator = separatorError(record)
        const header = record.map((name) => name.toLowerCase())
        const isHeader = !headerIsOptional || form.required.some((column) => header.includes(column))
        const errors = separator !== undefined ? [separator] : isHeader ? headerErrors(header, form) : []
        for (const { field, detail } of errors) wrong({ field: `line ${line}${field}`, detail })
        if (errors.length > 0) return
        names = isHeader ? header : columns
        if (isHeader) continue
      }
      if (record.length > names.length) wrong({ field: `line ${line}`, detail: 'more fields than columns' })
      else yield { line, fields: fieldsOf(names, record) }
    }
  } catch (error) {
    if (error instanceof CsvError) refuse(problem('invalid-request', { detail: error.message }))
    throw error
  }
  if (names === undefined && !headerIsOptional)
    wrong({ field: 'line 1', detail: `the columns are required: ${columns.join(',')}` })
}

function separatorError(record: readonly string[]): FieldError | undefined {
  const [first = ''] = record
  if (/^sep=/i.test(first)) return { field: '', detail: `remove "${first}": commas separate columns` }
  const separator = record.length === 1 ? /[;\t|]/.exec(first)?.[0] : undefined
  if (separator === undefined) return undefined
  const name = OTHER_SEPARATORS[separator as keyof typeof OTHER_SEPARATORS]
  return { field: '', detail: `separated by ${name}: save the file with commas` }
}

/** Which columns a header lacks, has twice, or should not have. */
export function headerErrors(
  header: readonly string[],
  { columns, required }: { columns: readonly string[]; required: readonly string[] },
): FieldError[] {
  const missing = required.filter((column) => !header.includes(column))
  return [
    ...missing.map((column) => ({ field: `: ${column}`, detail: 'the column is missing' })),
    ...header.flatMap((column, i) => {
      const isTwice = header.indexOf(column) < i
      if (!isTwice && columns.includes(column)) return []
      const detail = isTwice ? 'the column is there twice' : 'there is no such column'
      return [{ field: `: ${printable(column)}`, detail }]
    }),
  ]
}

/** Returns a name from the table in the form in which an answer quotes it. */
const printable = (text: string) => text.toWellFormed().replace(/\p{C}/gu, '?').slice(0, 64)

/** Assigns the fields of a record to the columns of a header that has been checked. */
function fieldsOf<Column extends string>(names: readonly string[], record: readonly string[]) {
  const fields: Record<string, string> = {}
  for (const [i, name] of names.entries()) {
    const field = record[i] ?? ''
    if (field !== '') fields[name] = field
  }
  return fields as Partial<Record<Column, string>>
}

/** Decodes UTF-8, or UTF-16 that begins with its byte order mark. Throws `invalid-fields` for another encoding. */
export async function* decoded(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  let decoder: InstanceType<typeof TextDecoder> | undefined
  let start: Uint8Array = new Uint8Array()
  const decode = (bytes?: Uint8Array) => {
    try {
      decoder ??= new TextDecoder(encodingOf(start), { fatal: true })
      return decoder.decode(bytes, { stream: bytes !== undefined })
    } catch {
      return refuse(
        problem('invalid-fields', {
          detail: 'The file is not UTF-8: save it as "CSV UTF-8". Nothing was imported.',
          errors: [{ field: 'body', detail: 'is not UTF-8' }],
        }),
      )
    }
  }
  for await (const chunk of chunks) {
    if (decoder) {
      yield decode(chunk)
      continue
    }
    // The byte order mark may arrive in two chunks.
    start = Buffer.concat([start, chunk])
    if (start.length >= 2) yield decode(start)
  }
  if (decoder) yield decode()
  else yield decode(start) + decode()
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le'
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8'
}
