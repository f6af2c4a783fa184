/**
 * Parses input by a valibot schema. Parsing happens once, at the http edge, so that later code can rely on the types.
 */
import * as v from 'valibot'
import { type FieldError, type Problem, ProblemError, problem } from './problem.ts'

/** The maximum size of a request's body in bytes, unless a route sets another. */
export const MAX_BODY_BYTES = 64 * 1024

/** One problem lists at most this many errors. */
const MAX_ERRORS = 20

/**
 * Parses a value by a schema. Throws a ProblemError, `invalid-fields` (422), whose `errors` name each wrong field.
 */
export function parse<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T {
  const result = v.safeParse(schema, value, { abortPipeEarly: true })
  if (result.success) return result.output
  const errors = result.issues
    .slice(0, MAX_ERRORS)
    .map((issue) => ({ field: v.getDotPath(issue) ?? 'body', detail: issue.message }))
  throw new ProblemError(problem('invalid-fields', listErrors(errors)))
}

/** The first errors, in the form of a problem. */
export function listErrors(all: readonly FieldError[]): {
  readonly detail: string
  readonly errors: readonly FieldError[]
} {
  const errors = all.slice(0, MAX_ERRORS)
  return { detail: errors.map(({ field, detail }) => `${field}: ${detail}`).join('; '), errors }
}

/** Parses a value, but returns undefined if it does not match, for callers that then decide themselves. */
export function tryParse<T>(schema: v.GenericSchema<unknown, T>, value: unknown): T | undefined {
  const result = v.safeParse(schema, value)
  return result.success ? result.output : undefined
}

/** Parses a JSON body. Throws `invalid-request` (400). */
export function jsonIn(body: string): unknown {
  try {
    return JSON.parse(body)
  } catch {
    throw malformed('The body is not JSON.')
  }
}

/**
 * Parses a JSON body by a schema. Throws a ProblemError: `invalid-request` (400) if it is not JSON or not an object,
 * `invalid-fields` (422) if fields are wrong.
 */
export function parseJson<T>(schema: v.GenericSchema<unknown, T>, body: string): T {
  const value = jsonIn(body)
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw malformed('The body must be a JSON object.')
  return parse(schema, value)
}

/** Parses a text, but returns undefined if it is not JSON or does not match. */
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

/** True for `application/json` and for types with the suffix `+json` (RFC 6839). */
export const isJsonType = (contentType: string): boolean => /^application\/([\w.-]+\+)?json\b/i.test(contentType)

/** No body is read compressed: a small one could hold a very large text. */
export const compressedBody = (): Problem =>
  problem('unsupported-media-type', { detail: 'Send the body uncompressed.' })

function malformed(detail: string): ProblemError {
  return new ProblemError(problem('invalid-request', { detail, errors: [{ field: 'body', detail }] }))
}

export type Fields = Readonly<Record<string, string>>
