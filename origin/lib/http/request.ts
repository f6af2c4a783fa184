/** How requests are read and responses and problems are written, the same for every route. */

import { randomUUID, timingSafeEqual } from 'node:crypto'
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { type HttpBindings, RequestError } from '@hono/node-server'
import type { Context, Env, MiddlewareHandler } from 'hono'
import type { GenericSchema, InferInput, InferOutput } from 'valibot'
import { IdempotencyKey } from '../../../shared/api/fields.ts'
import {
  bodyTooLarge,
  compressedBody,
  isJsonType,
  MAX_BODY_BYTES,
  parse,
  parseJson,
  tryParse,
} from '../../../shared/parse.ts'
import {
  invalidField,
  type Problem,
  ProblemError,
  type ProblemType,
  problem,
  problemResponse,
  REQUEST_ID_HEADER,
} from '../../../shared/problem.ts'
import { requestId } from './request-id.ts'

/** For JSON about one buyer. */
export const NO_STORE = { 'content-type': 'application/json', 'cache-control': 'no-store' }

export function sendProblem(p: Problem): Response {
  const { status, headers, body } = problemResponse(p, requestId())
  return new Response(body, { status, headers })
}

const UNREADABLE: Record<string, ProblemType> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** Answers bytes that Node cannot parse as a request, and ends the connection. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const type = UNREADABLE[error.code ?? ''] ?? 'invalid-request'
  const id = randomUUID()
  const { status, headers, body } = problemResponse(problem(type), id)
  const all = { ...headers, [REQUEST_ID_HEADER]: id, 'content-length': Buffer.byteLength(body), connection: 'close' }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.join('')}\r\n${body}`)
}

/** Answers a parsed request of which no `Request` can be made; the app handles every other error. */
export function answerInvalid(error: unknown): Response {
  return sendProblem(problem(error instanceof RequestError ? 'invalid-request' : 'internal-error'))
}

/** Hono's `c.json` without the `Headers` object, which the server would take apart again. */
export function sendJson(body: object, status: number, headers: Readonly<Record<string, string>> = NO_STORE): Response {
  return new Response(JSON.stringify(body), { status, headers })
}

/** Ends the request with a problem; app.onError sends it. */
export function refuse(p: Problem): never {
  throw new ProblemError(p)
}

/** Refuses a time of a body that is over. */
export function requireFuture(field: string, time: string | null | undefined, nowMs: number): void {
  if (time && Date.parse(time) <= nowMs) refuse(invalidField(field, 'must be in the future'))
}

/**
 * A header as Node has it: a `Headers` object, which Hono would make of all of them, costs as much as checking a
 * token.
 */
export function headerOf(c: Context, name: Lowercase<string>): string | undefined {
  const { incoming } = Object(c.env) as Partial<HttpBindings>
  if (!incoming) return c.req.header(name)
  const sent = incoming.headers[name]
  return Array.isArray(sent) ? sent.join(', ') : sent
}

function requireUncompressed(c: Context): void {
  if ((headerOf(c, 'content-encoding') ?? 'identity') !== 'identity') refuse(compressedBody())
}

/** The body, unless it is too large. A given length is trusted, since Node reads no further; else bytes are counted. */
export async function readBytes(c: Context, maxBytes = MAX_BODY_BYTES): Promise<Uint8Array<ArrayBuffer>> {
  requireUncompressed(c)
  const length = headerOf(c, 'content-length')
  if (length === undefined || headerOf(c, 'transfer-encoding') !== undefined) return countedBytes(c, maxBytes)
  return Number(length) <= maxBytes ? new Uint8Array(await c.req.arrayBuffer()) : refuse(bodyTooLarge(maxBytes))
}

/** The same as text. */
export async function readText(c: Context, maxBytes = MAX_BODY_BYTES): Promise<string> {
  requireUncompressed(c)
  const length = headerOf(c, 'content-length')
  if (length !== undefined && headerOf(c, 'transfer-encoding') === undefined && Number(length) <= maxBytes)
    return c.req.text()
  // Drops a byte order mark, as `text()` does.
  return new TextDecoder().decode(await readBytes(c, maxBytes))
}

async function countedBytes(c: Context, maxBytes: number): Promise<Uint8Array<ArrayBuffer>> {
  const chunks: Uint8Array[] = []
  for await (const chunk of chunksOf(c, maxBytes)) chunks.push(chunk)
  return Buffer.concat(chunks)
}

/** The body as it arrives. Refuses one that is too large, and one that is compressed. */
export async function* chunksOf(c: Context, maxBytes = Number.POSITIVE_INFINITY): AsyncGenerator<Uint8Array> {
  requireUncompressed(c)
  let bytes = 0
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.length
    if (bytes > maxBytes) refuse(bodyTooLarge(maxBytes))
    yield chunk
  }
}

/** The JSON body, parsed; an empty one counts as `{}`. */
export async function readBody<T>(c: Context, schema: GenericSchema<unknown, T>, maxBytes?: number): Promise<T> {
  return parseBody(c, schema, await readText(c, maxBytes))
}

/** The same for a body that was read before. */
export function parseBody<T>(c: Context, schema: GenericSchema<unknown, T>, text: string): T {
  const type = headerOf(c, 'content-type')
  if (text !== '' && type && !isJsonType(type)) return refuse(problem('unsupported-media-type'))
  return parseJson(schema, text === '' ? '{}' : text)
}

type Validated<Target extends 'json' | 'query', S extends GenericSchema> = MiddlewareHandler<
  Env,
  string,
  { in: Record<Target, InferInput<S>>; out: Record<Target, InferOutput<S>> }
>

/** What a middleware asks of each call of its route, from which dev/openapi makes the document of the API. */
export interface Declared {
  readonly json?: GenericSchema
  readonly query?: GenericSchema
  /** The role that an operator needs. */
  readonly role?: string
}

const declarations = new WeakMap<object, Declared>()
export const declaredBy = (middleware: object): Declared => declarations.get(middleware) ?? {}
export function declare<Middleware extends object>(declared: Declared, middleware: Middleware): Middleware {
  declarations.set(middleware, declared)
  return middleware
}

/** Reads the JSON body, for `c.req.valid('json')`; the console's client knows from it what to send. */
export const jsonBody = <const S extends GenericSchema<unknown, object>>(schema: S, maxBytes?: number) =>
  declare<Validated<'json', S>>({ json: schema }, async (c, next) => {
    c.req.addValidatedData('json', await readBody(c, schema, maxBytes))
    return next()
  })

/** The same for the query. */
export const query = <const S extends GenericSchema<unknown, object>>(schema: S) =>
  declare<Validated<'query', S>>({ query: schema }, (c, next) => {
    c.req.addValidatedData('query', parse(schema, c.req.query()))
    return next()
  })

/** The Idempotency-Key of a call that needs one. */
export function idempotencyKey(c: Context): string {
  const key = tryParse(IdempotencyKey, headerOf(c, 'idempotency-key'))
  if (key !== undefined) return key
  const required = problem('idempotency-key-required')
  return refuse({ ...required, errors: [{ field: 'Idempotency-Key', detail: required.detail }] })
}

/** The same where it is optional: a client that got no response then looks before it sends the call again. */
export const optionalIdempotencyKey = (c: Context): string | null =>
  headerOf(c, 'idempotency-key') === undefined ? null : idempotencyKey(c)

/** The version that a call was made for (If-Match, RFC 9110); null: it does not say. */
export function versionFor(c: Context): string | null {
  const sent = headerOf(c, 'if-match')
  return sent === undefined ? null : (sent.split('"')[1] ?? sent)
}

/** The ETag of a version. */
export const etagOf = (version: string) => `"${version}"`

export function bearer(c: Context): string | undefined {
  const sent = headerOf(c, 'authorization')
  // The form that nearly all clients send.
  if (sent?.startsWith('Bearer ') && sent[7] !== ' ') return sent.slice(7)
  return /^Bearer +([^\s]+)$/i.exec(sent ?? '')?.[1]
}

/** Admits only callers with one of the secrets, compared in constant time. */
export function requireSecret(...secrets: readonly string[]): MiddlewareHandler {
  const isSecret = comparesTo(...secrets)
  return (c, next) => (isSecret(bearer(c)) ? next() : refuse(problem('unauthorized')))
}

/** Compares what was sent to secrets, in constant time for each. */
export function comparesTo(...secrets: readonly string[]): (sent?: string) => boolean {
  const expected = secrets.map((secret) => Buffer.from(secret))
  return (sent = '') => {
    const bytes = Buffer.from(sent)
    return expected.some((secret) => bytes.length === secret.length && timingSafeEqual(bytes, secret))
  }
}

export const tryAgain = (detail: string) => problem('try-again', { detail, retry_after_seconds: 2 + Math.random() * 3 })
