/** The rim: how requests are read and errors leave, the same for every route. */
import { STATUS_CODES } from 'node:http'
import type { Duplex } from 'node:stream'
import { RequestError } from '@hono/node-server'
import type { Context, MiddlewareHandler } from 'hono'
import { timingSafeEqual } from 'hono/utils/buffer'
import type { GenericSchema } from 'valibot'
import { IdempotencyKey } from '../../shared/api/public.ts'
import { bodyTooLarge, MAX_BODY_BYTES, parseJson, tryParse } from '../../shared/parse.ts'
import {
  type Problem,
  ProblemError,
  type ProblemType,
  problem,
  problemResponse,
} from '../../shared/problem.ts'

export function sendProblem(p: Problem): Response {
  const { status, headers, body } = problemResponse(p)
  // The rest of a body that is too large is not read, so nothing more can come over its connection.
  if (p.type === '/problems/body-too-large') headers.connection = 'close'
  return new Response(body, { status, headers })
}

const UNREADABLE: Record<string, ProblemType> = {
  HPE_HEADER_OVERFLOW: 'headers-too-large',
  ERR_HTTP_REQUEST_TIMEOUT: 'request-timeout',
}

/** Answers on a connection what is no request that Node can read, and ends it. */
export function answerUnreadable(error: NodeJS.ErrnoException, socket: Duplex): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy()
  const type = UNREADABLE[error.code ?? ''] ?? 'invalid-request'
  const { status, headers, body } = problemResponse(problem(type))
  const lines = Object.entries({ ...headers, 'content-length': Buffer.byteLength(body), connection: 'close' })
  socket.end(
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n${lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')}\r\n${body}`,
  )
}

/** Answers what Node could read, and no request can be made of; the app answers for all else that fails. */
export function answerInvalid(error: unknown): Response {
  return sendProblem(problem(error instanceof RequestError ? 'invalid-request' : 'internal-error'))
}

/** As Hono's `c.json`, without a `Headers` object on the way, which the server would take apart again. */
export function sendJson(body: object, status: number, headers: Readonly<Record<string, string>>): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  })
}

/** Ends the request with a problem. */
export function refuse(p: Problem): never {
  throw new ProblemError(p)
}

/**
 * The body, unless it is too large: no body is read but through here. Its length is believed where it is given, since
 * Node reads no further than that; a body without one is counted as it comes.
 */
export function readText(c: Context): Promise<string> {
  const length = c.req.header('content-length')
  if (length === undefined || c.req.header('transfer-encoding') !== undefined) return countedText(c)
  return Number(length) <= MAX_BODY_BYTES ? c.req.text() : refuse(bodyTooLarge())
}

async function countedText(c: Context): Promise<string> {
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of c.req.raw.body ?? []) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) refuse(bodyTooLarge())
    chunks.push(chunk)
  }
  // As `text()` does: the mark some put before UTF-8 is none of it.
  return new TextDecoder().decode(Buffer.concat(chunks))
}

/** The JSON body by its schema; an empty one counts as `{}` where every field has a default. */
export async function readBody<T>(c: Context, schema: GenericSchema<unknown, T>): Promise<T> {
  return parseBody(c, schema, await readText(c))
}

/** The same of a body that has been read. */
export function parseBody<T>(c: Context, schema: GenericSchema<unknown, T>, text: string): T {
  const type = c.req.header('content-type')
  if (text !== '' && type && !/^application\/([\w.-]+\+)?json\b/i.test(type))
    return refuse(problem('unsupported-media-type'))
  return parseJson(schema, text === '' ? '{}' : text)
}

export function keyOf(c: Context): string {
  const key = tryParse(IdempotencyKey, c.req.header('idempotency-key'))
  if (key !== undefined) return key
  const required = problem('idempotency-key-required')
  return refuse({ ...required, errors: [{ field: 'Idempotency-Key', detail: required.detail }] })
}

export function bearer(c: Context): string | undefined {
  return /^Bearer +([^\s]+)$/i.exec(c.req.header('authorization') ?? '')?.[1]
}

/** Lets through who presents the secret; compared in constant time. */
export function requireSecret(secret: string): MiddlewareHandler {
  return async (c, next) =>
    (await timingSafeEqual(bearer(c) ?? '', secret)) ? next() : sendProblem(problem('unauthorized'))
}
