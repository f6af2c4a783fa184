/** Parses promo codes that an operator sends as CSV or JSON. All lines are read, and every error names its line. */
import { CsvError, parse as parseCsv } from 'csv-parse/sync'
import * as v from 'valibot'
import { MAX_PROMO_CODES, PromoCode } from '../../shared/api/goods.ts'
import { jsonIn } from '../../shared/parse.ts'
import { type FieldError, problem } from '../../shared/problem.ts'
import { refuse } from '../lib/request.ts'

const NUMBERS = ['percent', 'amount_minor', 'price_minor', 'uses', 'uses_per_visitor', 'units_per_use'] as const
const COLUMNS = ['code', ...NUMBERS, 'from', 'until', 'products', 'combined', 'used']
/** The longest line of a CSV, in characters. */
const MAX_LINE = 10_000
/** At most this many errors are listed; the others are counted. */
const MAX_ERRORS = 100

interface Row {
  /** The place of an error: `line 2` of a CSV, or `codes.0`. */
  readonly field: string
  readonly value: unknown
}

/** The codes of a CSV. Throws `invalid-fields`, naming the lines, or `invalid-request` if it is not a CSV. */
export const codesInCsv = (text: string): PromoCode[] => codesOf(csvRows(text))

/** The codes of a list, or of `{ codes: [..] }`. */
export function codesInJson(text: string): PromoCode[] {
  const body = jsonIn(text)
  const codes = Array.isArray(body) ? body : Object(body).codes
  if (!Array.isArray(codes)) return refuse(problem('invalid-request', { detail: 'The body must be a list of codes.' }))
  return codesOf(codes.map((value, i) => ({ field: `codes.${i}`, value })))
}

function codesOf(rows: readonly Row[]): PromoCode[] {
  if (rows.length > MAX_PROMO_CODES)
    refuse(problem('body-too-large', { detail: `A sale has at most ${MAX_PROMO_CODES} promo codes.` }))
  const errors: FieldError[] = []
  const codes = new Map<string, PromoCode>()
  for (const { field, value } of rows) {
    const read = v.safeParse(PromoCode, value, { abortPipeEarly: true })
    if (!read.success)
      errors.push(...read.issues.map((issue) => ({ field: pathOf(field, v.getDotPath(issue)), detail: issue.message })))
    else if (codes.has(read.output.code)) errors.push({ field: pathOf(field, 'code'), detail: 'comes twice' })
    else codes.set(read.output.code, read.output)
  }
  if (errors.length > 0) {
    const [first] = errors
    const detail = `${errors.length} errors, and nothing was imported. The first: ${first?.field}: ${first?.detail}`
    refuse(problem('invalid-fields', { detail, errors: errors.slice(0, MAX_ERRORS), error_count: errors.length }))
  }
  return [...codes.values()]
}

const pathOf = (row: string, field: string | null) => (field === null ? row : `${row}.${field}`)

function csvRows(text: string): Row[] {
  let records: { record: string[]; info: { lines: number } }[]
  try {
    const options = {
      bom: true,
      trim: true,
      skipEmptyLines: true,
      relaxColumnCount: true,
      maxRecordSize: MAX_LINE,
      info: true,
    }
    records = parseCsv(text, options) as never
  } catch (error) {
    if (error instanceof CsvError) return refuse(problem('invalid-request', { detail: error.message }))
    throw error
  }
  const [header, ...rows] = records
  const names = header?.record.map((name) => name.toLowerCase()) ?? []
  const unknown = names.find((name) => !COLUMNS.includes(name))
  if (!names.includes('code') || unknown !== undefined)
    return refuse(
      problem('invalid-fields', {
        detail: `line 1: ${unknown === undefined ? 'the column code is required' : `${unknown} is no column`}`,
        errors: [{ field: 'line 1', detail: `columns are ${COLUMNS.join(', ')}` }],
      }),
    )
  return rows.map(({ record, info }) => ({ field: `line ${info.lines}`, value: fieldsOf(names, record) }))
}

/** Empty fields are omitted. A value that is not a number stays text, which is later reported as an error. */
function fieldsOf(names: readonly string[], record: readonly string[]): Record<string, unknown> {
  const value: Record<string, unknown> = {}
  for (const [i, name] of names.entries()) {
    const text = record[i] ?? ''
    if (text === '') continue
    if (name === 'products') value[name] = text.split(/[\s;]+/).filter((id) => id !== '')
    else if (name === 'combined')
      value[name] = { true: true, yes: true, false: false, no: false }[text.toLowerCase()] ?? text
    else value[name] = NUMBERS.some((number) => number === name) && Number.isFinite(Number(text)) ? Number(text) : text
  }
  return value
}
