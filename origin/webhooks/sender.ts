/**
 * Sends one message to an endpoint, which is a shop's system or a push service, and returns the result. It does not
 * follow redirects, because the next host was not checked.
 */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { TimeoutError } from '../lib/with-timeout.ts'
import { isPublic, literalIn, publicLookup, type Resolve, refuseHost } from './network-guard.ts'

/** An endpoint has this long to respond, including the look-up of its name. */
export const ANSWER_TIMEOUT_MS = 15_000
/** The log shows this many characters of the response as the reason of a failure. */
const SHOWN_CHARACTERS = 200
/** The connection ends if a response is longer. */
const MAX_ANSWER_BYTES = 64 * 1024
/** The number of connections to one endpoint, and so of messages sent to it at once. */
export const CONNECTIONS = 32
const IDLE_CONNECTION_MS = 20_000
/** At most this many URLs are remembered; there are fewer endpoints. */
const MAX_ENDPOINTS = 100

export interface Sent {
  readonly status: number | null
  /** Null means that the endpoint has accepted the message. */
  readonly error: string | null
  /** The delay that the response requests before another attempt. */
  readonly retryAfterMs: number
}

interface Reachable {
  readonly options: RequestOptions
}
type Reach = Reachable | { readonly refusal: string }

interface SenderOptions {
  readonly allowPrivate: boolean
  readonly allowHttp: boolean
  readonly timeoutMs?: number
  /** Finds the addresses of a name. */
  readonly resolve?: Resolve
}

export class Sender {
  readonly #options: SenderOptions
  readonly #timeoutMs: number
  readonly #lookup: { readonly lookup?: LookupFunction }
  readonly #agents
  readonly #endpoints = new Map<string, Reach>()

  constructor(options: SenderOptions) {
    this.#options = options
    this.#timeoutMs = options.timeoutMs ?? ANSWER_TIMEOUT_MS
    this.#lookup = options.allowPrivate ? {} : { lookup: publicLookup(options.resolve) }
    // The agent does not limit sockets: its limit would hold for all endpoints of a host, while the deliverer limits
    // each endpoint.
    const agent = { keepAlive: true, maxFreeSockets: CONNECTIONS, timeout: IDLE_CONNECTION_MS }
    this.#agents = { 'http:': new HttpAgent(agent), 'https:': new HttpsAgent(agent) }
  }

  /** The reason why the URL can never be reached; null if it may be. */
  refusal(url: URL): string | null {
    const { allowPrivate, allowHttp } = this.#options
    if (url.protocol === 'http:' && !allowHttp) return 'https is required'
    const literal = literalIn(url)
    if (!allowPrivate && literal !== undefined && !isPublic(literal)) return refuseHost(literal).message
    return null
  }

  async send(to: string, headers: Record<string, string>, body: string | Uint8Array): Promise<Sent> {
    const endpoint = this.#endpointOf(to)
    if ('refusal' in endpoint) return { status: null, error: endpoint.refusal, retryAfterMs: 0 }
    try {
      return await this.#post(endpoint, headers, body)
    } catch (error) {
      return { status: null, error: describeError(error as Error), retryAfterMs: 0 }
    }
  }

  /**
   * Prepares the requests to an endpoint once for many messages. The address of a name is looked up for each
   * connection.
   */
  #endpointOf(to: string): Reach {
    const known = this.#endpoints.get(to)
    if (known) return known
    const url = new URL(to)
    const refusal = this.refusal(url)
    const agent = this.#agents[url.protocol === 'https:' ? 'https:' : 'http:']
    const options = { ...urlToHttpOptions(url), method: 'POST', agent, ...this.#lookup }
    const endpoint = refusal === null ? { options } : { refusal }
    if (this.#endpoints.size >= MAX_ENDPOINTS) this.#endpoints.clear()
    this.#endpoints.set(to, endpoint)
    return endpoint
  }

  #post({ options }: Reachable, headers: Record<string, string>, body: string | Uint8Array): Promise<Sent> {
    return new Promise((resolve, reject) => {
      const request = (options.protocol === 'https:' ? requestHttps : requestHttp)({
        ...options,
        headers: {
          'content-type': 'application/json',
          'user-agent': 'flash-sale-webhooks',
          ...headers,
          'content-length': Buffer.byteLength(body),
        },
      })
      // A timer takes half as much processor time as an abort signal and a stream's iterator.
      const timer = setTimeout(
        () => request.destroy(new TimeoutError(`no answer within ${this.#timeoutMs / 1000} s`)),
        this.#timeoutMs,
      )
      request.once('close', () => clearTimeout(timer))
      request.on('error', reject)
      request.once('response', (response) => readStart(response, (text) => resolve(resultOf(response, text))))
      request.end(body)
    })
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}

/** Reads the beginning of a response. The rest is read too, up to a limit, so that the connection can be reused. */
function readStart(response: IncomingMessage, done: (text: string) => void): void {
  let text = ''
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (text.length < SHOWN_CHARACTERS) text += String(chunk)
    if (bytes > MAX_ANSWER_BYTES) response.destroy()
  })
  // A response that breaks off still counts by its status, which has arrived.
  response.on('error', () => {})
  response.once('close', () => done(text.slice(0, SHOWN_CHARACTERS).replaceAll('\0', '')))
}

function resultOf({ statusCode: status = 0, headers }: IncomingMessage, text: string): Sent {
  const to = headers.location === undefined ? '' : `redirect to ${headers.location.slice(0, SHOWN_CHARACTERS)} `
  const error = status >= 200 && status < 300 ? null : `${status} ${to}${text}`.trim()
  return { status, error, retryAfterMs: delayOf(headers['retry-after'], Date.now()) }
}

/** The delay that Retry-After requests, as seconds or a date (RFC 9110, 10.2.3); 0 for anything else. */
export function delayOf(retryAfter: string | undefined, nowMs: number): number {
  const ms = /^\d+$/.test(retryAfter ?? '') ? Number(retryAfter) * 1000 : Date.parse(retryAfter ?? '') - nowMs
  return Math.max(0, ms || 0)
}

function describeError(error: Error & { code?: string }): string {
  return (error.message || error.code || error.name).slice(0, SHOWN_CHARACTERS)
}
