/** Sends one message to an endpoint: a shop's system, or a push service. It says how it went. Redirects are not followed: the next host was not checked. */
import { Agent as HttpAgent, type IncomingMessage, type RequestOptions, request as requestHttp } from 'node:http'
import { Agent as HttpsAgent, request as requestHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import { urlToHttpOptions } from 'node:url'
import { TimeoutError } from '../lib/with-timeout.ts'
import { isPublic, literalIn, publicLookup, type Resolve, refused } from './network-guard.ts'

/** Time for an endpoint to answer, including the look-up of its name. */
export const ANSWER_TIMEOUT_MS = 15_000
/** The beginning of a response that the log shows as the reason of a failure. */
const SHOWN_CHARACTERS = 200
/** A longer answer ends the connection. */
const MAX_ANSWER_BYTES = 64 * 1024
/** Connections to one endpoint, which is also how many messages are on their way to it. */
export const CONNECTIONS = 32
const IDLE_CONNECTION_MS = 20_000
/** URLs remembered; there are fewer endpoints. */
const MAX_ENDPOINTS = 100

export interface Sent {
  readonly status: number | null
  /** Null: the endpoint has it. */
  readonly error: string | null
  /** The header, where it came. */
  readonly retryAfter?: string | undefined
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
    // No limit of sockets: it would be one for all endpoints of a host, and the deliverer has one for each of them.
    const agent = { keepAlive: true, maxFreeSockets: CONNECTIONS, timeout: IDLE_CONNECTION_MS }
    this.#agents = { 'http:': new HttpAgent(agent), 'https:': new HttpsAgent(agent) }
  }

  /** Why the URL can never be reached; null if it may be. */
  refusal(url: URL): string | null {
    const { allowPrivate, allowHttp } = this.#options
    if (url.protocol === 'http:' && !allowHttp) return 'https is required'
    const literal = literalIn(url)
    if (!allowPrivate && literal !== undefined && !isPublic(literal)) return refused(literal).message
    return null
  }

  async send(to: string, headers: Record<string, string>, body: string | Uint8Array): Promise<Sent> {
    const endpoint = this.#endpointOf(to)
    if ('refusal' in endpoint) return { status: null, error: endpoint.refusal }
    try {
      const { status, text, retryAfter } = await this.#post(endpoint, headers, body)
      return { status, error: status >= 200 && status < 300 ? null : `${status} ${text}`.trim(), retryAfter }
    } catch (error) {
      return { status: null, error: described(error as Error) }
    }
  }

  /** How the endpoint is reached, found out once for many messages: the address of a name is looked up for each connection. */
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

  #post(
    { options }: Reachable,
    headers: Record<string, string>,
    body: string | Uint8Array,
  ): Promise<{ status: number; text: string; retryAfter: string | undefined }> {
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
      // Half as much processor time as a signal and a stream's iterator take.
      const timer = setTimeout(
        () => request.destroy(new TimeoutError(`no answer within ${this.#timeoutMs / 1000} s`)),
        this.#timeoutMs,
      )
      request.once('close', () => clearTimeout(timer))
      request.on('error', reject)
      request.once('response', (response) =>
        readStart(response, (text) =>
          resolve({ status: response.statusCode ?? 0, text, retryAfter: response.headers['retry-after'] }),
        ),
      )
      request.end(body)
    })
  }

  close(): void {
    for (const agent of Object.values(this.#agents)) agent.destroy()
  }
}

/** The beginning of an answer. All of it is read, within a bound, so that the connection can be used again. */
function readStart(response: IncomingMessage, done: (text: string) => void): void {
  let text = ''
  let bytes = 0
  response.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (text.length < SHOWN_CHARACTERS) text += String(chunk)
    if (bytes > MAX_ANSWER_BYTES) response.destroy()
  })
  // An answer that breaks off still counts by its status, which has come.
  response.on('error', () => {})
  response.once('close', () => done(text.slice(0, SHOWN_CHARACTERS).replaceAll('\0', '')))
}

function described(error: Error & { code?: string }): string {
  return (error.message || error.code || error.name).slice(0, SHOWN_CHARACTERS)
}
