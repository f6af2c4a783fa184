/** Parses promo codes that an operator sends as CSV or JSON. All lines are read, and every error names its line. */
import * as v from 'valibot'
import { MAX_PROMO_CODES, PromoCode, type PromoCodesCheck } from '../../shared/api/goods.ts'
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
  /** The line of a CSV. */
  readonly line?: number
  readonly value: unknown
}

/** The codes of a CSV. Throws `invalid-fields`, naming the lines, or `invalid-request` if it is not a CSV. */
export async function codesInCsv(bytes: AsyncIterable<Uint8Array>): Promise<PromoCode[]> {
  const { rows, errors } = await rowsOf(bytes)
  return codesOf(rows, errors)
}

/** Reads a CSV without refusing it: what was understood of it, and each refused line with its reason. */
export async function checkCsv(bytes: AsyncIterable<Uint8Array>): Promise<PromoCodesCheck> {
  const { rows, errors } = await rowsOf(bytes)
  const { codes, errors: all } = judged(rows, errors)
  const byPlace = new Map(
    rows.map(({ field, line, value }) => [field, { line, code: String(Object(value).code ?? '') }]),
  )
  const refused = all.map(({ field, detail }) => {
    const [place = field, name] = field.split('.')
    const row = byPlace.get(place)
    return {
      line: row?.line ?? (Number(/^line (\d+)/.exec(field)?.[1]) || null),
      code: row?.code ?? '',
      field: name ?? null,
      why: detail,
    }
  })
  return {
    understood: [...codes.values()].map(({ row, code }) => ({ line: row.line ?? 0, code })),
    refused: refused.slice(0, MAX_ERRORS),
    refused_count: refused.length,
  }
}

async function rowsOf(bytes: AsyncIterable<Uint8Array>): Promise<{ rows: Row[]; errors: FieldError[] }> {
  const errors: FieldError[] = []
  const form = { columns: COLUMNS, required: ['code'] as const, maxRow: MAX_LINE }
  const rows: Row[] = []
  for await (const { line, fields } of csvRows(bytes, form, (error) => errors.push(error)))
    rows.push({ field: `line ${line}`, line, value: codeOf(fields) })
  return { rows, errors }
}

/** The codes of a list, or of `{ codes: [..] }`. */
export function codesInJson(text: string): PromoCode[] {
  const body = jsonIn(text)
  const codes = Array.isArray(body) ? body : Object(body).codes
  if (!Array.isArray(codes)) return refuse(problem('invalid-request', { detail: 'The body must be a list of codes.' }))
  return codesOf(codes.map((value, i) => ({ field: `codes.${i}`, value })))
}

/** The codes that are right, and the errors of all others in the order of their lines. */
function judged(rows: readonly Row[], earlier: readonly FieldError[]) {
  if (rows.length > MAX_PROMO_CODES)
    refuse(problem('body-too-large', { detail: `A sale has at most ${MAX_PROMO_CODES} promo codes.` }))
  const errors = [...earlier]
  const codes = new Map<string, { readonly row: Row; readonly code: PromoCode }>()
  for (const row of rows) {
    const { field, value } = row
    const read = v.safeParse(PromoCode, value, { abortPipeEarly: true })
    const first = read.success ? codes.get(read.output.code) : undefined
    if (!read.success)
      errors.push(...read.issues.map((issue) => ({ field: pathOf(field, v.getDotPath(issue)), detail: issue.message })))
    else if (first) errors.push({ field: pathOf(field, 'code'), detail: `comes twice, also in ${first.row.field}` })
    else codes.set(read.output.code, { row, code: read.output })
  }
  return { codes, errors }
}

function codesOf(rows: readonly Row[], earlier: readonly FieldError[] = []): PromoCode[] {
  const { codes, errors } = judged(rows, earlier)
  if (errors.length > 0) {
    const [first] = errors
    const detail = `${errors.length} errors, and nothing was imported. The first: ${first?.field}: ${first?.detail}`
    refuse(problem('invalid-fields', { detail, errors: errors.slice(0, MAX_ERRORS), error_count: errors.length }))
  }
  return [...codes.values()].map(({ code }) => code)
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
