/** A request on its way through the Worker, and the responses that handlers share. */

import { bytesToHex } from '@noble/hashes/utils.js'
import type * as v from 'valibot'
import { preferred } from '../../shared/lib/accept.ts'
import { forwardedAddress } from '../../shared/lib/address.ts'
import { bodyTooLarge, compressedBody, type Fields, MAX_BODY_BYTES, parseJson } from '../../shared/parse.ts'
import {
  type Problem,
  ProblemError,
  type ProblemFields,
  type ProblemType,
  problem,
  problemResponse,
} from '../../shared/problem.ts'
import type { AdmissionClaims } from '../../shared/tokens.ts'
import type { Span, TraceContext } from '../../shared/trace.ts'
import type { Section, Shows } from '../pages/view.ts'
import type { Config, Env } from './config.ts'

export interface Trace {
  readonly context: TraceContext
  /** The trace that the caller named. */
  readonly link: TraceContext | null
  /** The calls to the origin. */
  readonly spans: Span[]
}

export interface Call {
  readonly request: Request
  /** The request's name in its response, in its problem and in the logs of both halves. */
  readonly requestId: string
  readonly env: Env
  readonly ctx: ExecutionContext
  readonly config: Config
  /** True over https, which production always is, if only in front of this Worker. */
  readonly secure: boolean
  readonly nowMs: number
  /** The cookies of the request, parsed at the first read because a page reads five or six. */
  cookies?: Readonly<Record<string, string>>
  /** `Set-Cookie` values for whatever response is sent. Handlers add them when they succeed. */
  readonly setCookies: string[]
  /** Null for a call that is not traced. */
  readonly trace?: Trace | null
  readonly pageParts: readonly PagePart[]
  readonly onwards: readonly Onwards[]
}

/** The section that a feature adds to a page of a sale, if it adds one. */
export type PagePart = (sale: string, shows: Shows, call: Call) => Section | undefined | Promise<Section | undefined>

/** The site of others to which a feature leads the admitted visitors of a sale. */
export interface Onwards {
  /** The schemes and hosts to which the response to a form of the sale may redirect. */
  readonly origins: (sale: string, call: Call) => readonly string[]
  /** The address to which an admitted visitor goes on; null if they stay. */
  readonly addressFor: (claims: AdmissionClaims, call: Call) => Promise<string | null>
  /** The address to which everybody goes on once the sale has ended; null before, and if they stay. */
  readonly addressAfter: (sale: string, call: Call) => Promise<string | null>
}

/** Cloudflare's name of a request, which its own logs have, with or without the data centre. */
const RAY = /^[0-9a-f]{16}(-[A-Z]{3})?$/

/**
 * The name of a request: its ray where Cloudflare has received it, and else a new one. No other caller can name one,
 * since only Cloudflare sets `cf`.
 */
export function requestIdOf({ headers, cf }: Request): string {
  const ray = cf === undefined ? null : headers.get('cf-ray')
  return ray !== null && RAY.test(ray) ? ray : crypto.randomUUID()
}

/** Writes a line to the log that names the request. */
export function warn(msg: string, fields: object, { requestId }: Pick<Call, 'requestId'>): void {
  console.warn(JSON.stringify({ msg, request: requestId, ...fields }))
}

/** The caller's address, from the header that the proxy in front writes; null if there is none in it. */
export function addressOf({ request, config }: Call): string | null {
  const header = request.headers.get(config.ADDRESS_HEADER)
  return header === null ? null : (forwardedAddress(header) ?? null)
}

/** Ends the request with a problem; the Worker's top sends it. */
export function refuse(type: ProblemType, fields?: ProblemFields): never {
  throw new ProblemError(problem(type, fields))
}

/** Made once: the runtime takes a `Headers` as it is, and an object apart each time. */
export const NO_STORE = 'no-store'

const UNCACHED_JSON = new Headers({ 'content-type': 'application/json', 'cache-control': NO_STORE })

export function sendJson(body: object, status = 200): Response {
  return new Response(JSON.stringify(body), { status, headers: UNCACHED_JSON })
}

export function sendNothing(): Response {
  return new Response(null, { status: 204, headers: { 'cache-control': NO_STORE } })
}

export function sendProblem(problem: Problem, { requestId }: Pick<Call, 'requestId'>): Response {
  const { status, headers, body } = problemResponse(problem, requestId)
  return new Response(body, { status, headers })
}

export function seeOther(location: string): Response {
  return new Response(null, { status: 303, headers: { location, 'cache-control': NO_STORE } })
}

/** The line named in the query of a request (`?line=members`). */
export function lineParameter({ request: { url } }: Pick<Call, 'request'>): string | undefined {
  return url.includes('?') ? (new URL(url).searchParams.get('line') ?? undefined) : undefined
}

/** True if the address of a request has a parameter of this name. */
export function hasParameter(name: string, { request: { url } }: Pick<Call, 'request'>): boolean {
  return url.includes(name) && new URL(url).searchParams.has(name)
}

/** True for a browser: it sends this header with every request, and page script cannot forge it. */
export function isBrowser(request: Request): boolean {
  return request.headers.has('sec-fetch-site')
}

/** True for a request by a page's script; not for all, since older browsers do not say so. */
export function isScript(request: Request): boolean {
  return request.headers.get('sec-fetch-dest') === 'empty'
}

/**
 * The scheme and host that visitors use, for every absolute address: a proxy before this Worker may have ended their
 * https.
 */
export function hostOf({ request: { url }, secure, config }: Pick<Call, 'request' | 'secure' | 'config'>): string {
  if (config.PUBLIC_URL !== undefined) return config.PUBLIC_URL
  const from = url.indexOf('://') + 3
  const to = url.indexOf('/', from)
  return `http${secure ? 's' : ''}://${to === -1 ? url.slice(from) : url.slice(from, to)}`
}

/** The path of a URL, without the cost of parsing the rest of it. */
export function pathOf(url: string): string {
  const from = url.indexOf('/', url.indexOf('://') + 3)
  if (from === -1) return '/'
  const query = url.indexOf('?', from)
  return query === -1 ? url.slice(from) : url.slice(from, query)
}

const FORMS = ['text/html', 'application/json'] as const

export function wantsHtml(request: Request): boolean {
  return preferred(request.headers.get('accept'), FORMS) === 'text/html'
}

/** The page is for everyone who does not ask for JSON. */
export function wantsJson(request: Request): boolean {
  return preferred(request.headers.get('accept'), FORMS) === 'application/json'
}

/** A tag of the content: the same in every isolate and every data centre. */
export async function etagOf(body: Uint8Array): Promise<string> {
  const digest = await crypto.subtle.digest('SHA-256', body)
  return `"${bytesToHex(new Uint8Array(digest)).slice(0, 32)}"`
}

/** True if the caller has what this tag names (If-None-Match, RFC 9110, 13.1.2: weak comparison). */
export function isCached(request: Request, etag: string): boolean {
  const cached = request.headers.get('if-none-match')
  if (cached === null || cached === etag) return cached !== null
  const opaque = (tag: string) => tag.trim().replace(/^W\//, '')
  return cached.split(',').some((tag) => tag.trim() === '*' || opaque(tag) === opaque(etag))
}

/** What `make` writes, or a 304 to a caller who has what the tag in these headers names. */
export const sendTagged = (
  request: Request,
  headers: Readonly<Record<'etag', string>>,
  make: () => BodyInit,
): Response =>
  isCached(request, headers.etag) ? new Response(null, { status: 304, headers }) : new Response(make(), { headers })

/**
 * The JSON of a request as the schema reads it. Throws `invalid-request`, `invalid-fields`, `body-too-large` or
 * `unsupported-media-type`.
 */
export async function readJson<T>(schema: v.GenericSchema<unknown, T>, request: Request): Promise<T> {
  return parseJson(schema, await readText(request))
}

/** The body as text. Throws `invalid-request`, `body-too-large` or `unsupported-media-type`. */
export async function readText(request: Request): Promise<string> {
  const body = await boundedBody(request)
  return body.text().catch(() => refuse('invalid-request', { detail: 'The body is cut off.' }))
}

/**
 * Throws `unsupported-media-type` for a compressed body, and `body-too-large` for a stated length that is too large.
 */
export function checkBody({ headers }: Request): void {
  if ((headers.get('content-encoding') ?? 'identity') !== 'identity') throw new ProblemError(compressedBody())
  if (Number(headers.get('content-length') ?? 0) > MAX_BODY_BYTES) throw new ProblemError(bodyTooLarge())
}

/** The request itself where it states the length of its body; else its body, read and counted. */
async function boundedBody(request: Request): Promise<Request | Response> {
  checkBody(request)
  const { headers, body } = request
  if (headers.has('content-length') || body === null) return request
  const chunks: Uint8Array[] = []
  let bytes = 0
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    bytes += chunk.length
    if (bytes > MAX_BODY_BYTES) throw new ProblemError(bodyTooLarge())
    chunks.push(chunk)
  }
  return new Response(new Blob(chunks), { headers: { 'content-type': headers.get('content-type') ?? '' } })
}

const decoder = new TextDecoder()

/** How long each request's body was waited for. */
const bodyMs = new WeakMap<Request, number>()
/** The time in which a request's body came, which is up to its sender. */
export const bodyMsOf = (request: Request): number => bodyMs.get(request) ?? 0

/** Longest name and value of a field, in characters: a proof is the longest value that a page of ours sends. */
const MAX_NAME = 200
const MAX_VALUE = 4_096

/**
 * The fields of a form; null if the body is none, or a field is too large. Throws `body-too-large` or
 * `unsupported-media-type`.
 */
export async function formFields(request: Request): Promise<Fields | null> {
  const fromMs = Date.now()
  try {
    const body = await boundedBody(request)
    // What pages send. Of this type the runtime's `text()` warns.
    const isPlain = request.headers.get('content-type')?.startsWith('application/x-www-form-urlencoded')
    if (isPlain) return withinBounds(plainFields(decoder.decode(await body.arrayBuffer())))
    const fields = [...(await body.formData())]
    return withinBounds(
      Object.fromEntries(fields.filter((field): field is [string, string] => typeof field[1] === 'string')),
    )
  } catch (error) {
    if (error instanceof ProblemError) throw error
    return null
  } finally {
    bodyMs.set(request, Date.now() - fromMs)
  }
}

function withinBounds(fields: Fields): Fields | null {
  for (const name in fields) if (name.length > MAX_NAME || (fields[name] ?? '').length > MAX_VALUE) return null
  return fields
}

/** Read by hand: each field of the runtime's own parsers is a call into it, a twelfth of a checkout's time in all. */
function plainFields(text: string): Fields {
  const decoded = (part: string) => (/[+%]/.test(part) ? decodeURIComponent(part.replaceAll('+', ' ')) : part)
  try {
    const pairs = text.split('&').filter((pair) => pair !== '')
    return Object.fromEntries(
      pairs.map((pair) => {
        const [name = '', ...value] = pair.split('=')
        return [decoded(name), decoded(value.join('='))]
      }),
    )
  } catch {
    // An escape of no character, which stays as it is. The first question mark is not part of the text.
    return Object.fromEntries(new URLSearchParams(`?${text}`))
  }
}
