/** Parses promo codes that an operator sends as CSV or JSON. All lines are read, and every error names its line. */
import * as v from 'valibot'
import { MAX_PROMO_CODES, PromoCode } from '../../shared/api/goods.ts'
import { jsonIn } from '../../shared/parse.ts'
import { type FieldError, problem } from '../../shared/problem.ts'
import { csvRows } from '../lib/http/csv-upload.ts'
import { refuse } from '../lib/http/request.ts'

const NUMBERS = ['percent', 'amount_minor', 'price_minor', 'uses', 'uses_per_visitor', 'units_per_use'] as const
const COLUMNS = ['code', ...NUMBERS, 'from', 'until', 'products', 'combined', 'used'] as const
type Column = (typeof COLUMNS)[number]
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
export async function codesInCsv(bytes: AsyncIterable<Uint8Array>): Promise<PromoCode[]> {
  const errors: FieldError[] = []
  const form = { columns: COLUMNS, required: ['code'] as const, maxRow: MAX_LINE }
  const rows: Row[] = []
  for await (const { line, fields } of csvRows(bytes, form, (error) => errors.push(error)))
    rows.push({ field: `line ${line}`, value: codeOf(fields) })
  return codesOf(rows, errors)
}

/** The codes of a list, or of `{ codes: [..] }`. */
export function codesInJson(text: string): PromoCode[] {
  const body = jsonIn(text)
  const codes = Array.isArray(body) ? body : Object(body).codes
  if (!Array.isArray(codes)) return refuse(problem('invalid-request', { detail: 'The body must be a list of codes.' }))
  return codesOf(codes.map((value, i) => ({ field: `codes.${i}`, value })))
}

function codesOf(rows: readonly Row[], errors: FieldError[] = []): PromoCode[] {
  if (rows.length > MAX_PROMO_CODES)
    refuse(problem('body-too-large', { detail: `A sale has at most ${MAX_PROMO_CODES} promo codes.` }))
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

/** The value of a row of a CSV. Text that should be a number stays text, which is later reported as an error. */
function codeOf(fields: Readonly<Partial<Record<Column, string>>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, text]) => {
      if (name === 'products') return [name, text.split(/[\s;]+/).filter((id) => id !== '')]
      if (name === 'combined')
        return [name, { true: true, yes: true, false: false, no: false }[text.toLowerCase()] ?? text]
      const isNumber = NUMBERS.some((number) => number === name) && Number.isFinite(Number(text))
      return [name, isNumber ? Number(text) : text]
    }),
  )
}
