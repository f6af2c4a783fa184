/** Parses input by a valibot schema. Parsing happens once, at the http edge; behind it the types are true. */
import * as v from 'valibot'
import { type FieldError, type Problem, ProblemError, problem } from './problem.ts'

/** Longest body of a request, in bytes, where nothing else is said. */
export const MAX_BODY_BYTES = 64 * 1024

/** In one problem. */
const MAX_ERRORS = 20

/** The value as the schema reads it. Throws a ProblemError, `invalid-fields` (422), whose `errors` name each wrong field. */
export function parse<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (result.success) return result.output
  const errors = result.issues
    .slice(0, MAX_ERRORS)
    .map((issue) => ({ field: v.getDotPath(issue) ?? 'body', detail: issue.message }))
  throw new ProblemError(problem('invalid-fields', listed(errors)))
}

/** The first of what is wrong, as a problem says it. */
export function listed(all: readonly FieldError[]): {
  readonly detail: string
  readonly errors: readonly FieldError[]
} {
  const errors = all.slice(0, MAX_ERRORS)
  return { detail: errors.map(({ field, detail }) => `${field}: ${detail}`).join('; '), errors }
}

/** The same, but undefined where the value does not fit: for callers that decide something else then. */
export function tryParse<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T | undefined {
  const result = v.safeParse(schema, value)
  return result.success ? result.output : undefined
}

/** The JSON body as it is. Throws `invalid-request` (400). */
export function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw malformed('The body is not JSON.')
  }
}

/**
 * The JSON body as the schema reads it. Throws a ProblemError: `invalid-request` (400) if it is not JSON or not an
 * object, `invalid-fields` (422) if fields are wrong.
 */
export function parseJson<T>(schema: v.GenericSchema<unknown, T>, body: string): T {
  const value = jsonIn(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('The body must be a JSON object.')
  return parse(schema, value)
}

/** The same, but undefined where the text is not JSON or does not fit. */
export function tryParseJson<T>(schema: v.GenericSchema<unknown, T>, body: string): T | undefined {
  try {
    return parseJson(schema, body)
  } catch (error) {
    if (error instanceof ProblemError) return undefined
    throw error
  }
}

export function bodyTooLarge(maxBytes = MAX_BODY_BYTES): Problem {
  const detail = `at most ${maxBytes} bytes`
  return problem('body-too-large', { detail, errors: [{ field: 'body', detail }] })
}

function malformed(detail: string): ProblemError {
  return new ProblemError(problem('invalid-request', { detail, errors: [{ field: 'body', detail }] }))
}
