/**
 * JSON to and from one server that is called for every order, over connections that stay open. Node's own client,
 * since its `fetch` with a timeout costs four times as much (250 us against 69 us here), which was a third of all
 * that a paid order cost.
 */
import { Agent, type IncomingMessage, request as plain, type RequestOptions } from 'node:http'
import { Agent as EncryptedAgent, request as encrypted } from 'node:https'
import { TimeoutError } from '../with-timeout.ts'

/** A page of a provider's changes has a quarter of this. */
const MAX_RESPONSE_BYTES = 4 * 1024 * 1024

/** The server sends more than a caller reads. */
export class ResponseTooLarge extends Error {
  override readonly name = 'ResponseTooLarge'
}

interface ClientOptions {
  readonly url: string
  /** For a call as a whole: the wait for a connection, the request and all of the response. */
  readonly timeoutMs: number
  /** Calls beyond it wait for one of them. */
  readonly connections: number
  /** How long a response may be. */
  readonly maxBytes?: number
}

export interface JsonCall {
  readonly body?: object
  readonly headers?: Readonly<Record<string, string>>
}

export interface JsonResponse {
  readonly status: number
  readonly text: string
}

/** Calls a path: with a body it is a POST. Rejects if no whole response came in time. */
export function jsonClient({ url, timeoutMs, connections, maxBytes = MAX_RESPONSE_BYTES }: ClientOptions) {
  const { protocol, hostname, port } = new URL(url)
  const isEncrypted = protocol === 'https:'
  const agent = new (isEncrypted ? EncryptedAgent : Agent)({ keepAlive: true, maxSockets: connections })
  const send = isEncrypted ? encrypted : plain
  // Node takes an address of IPv6 without its brackets.
  const to: RequestOptions = { agent, host: hostname.replace(/^\[|\]$/g, ''), ...(port && { port }) }

  return (path: string, { body, headers = {} }: JsonCall = {}): Promise<JsonResponse> =>
    new Promise((resolve, reject) => {
      const text = body && JSON.stringify(body)
      const sent = text === undefined ? headers : { 'content-type': 'application/json', ...headers }
      const fail = (error: Error) => {
        clearTimeout(timer)
        reject(error)
      }
      const done = (status: number, text: string) => {
        clearTimeout(timer)
        resolve({ status, text })
      }
      const call = send({ ...to, method: text === undefined ? 'GET' : 'POST', path, headers: sent }, (response) => {
        // A response that ends too early is an error, too.
        response.on('error', fail)
        readAll(response, maxBytes, (whole) => done(response.statusCode ?? 0, whole))
      })
      const timer = setTimeout(() => {
        // Where the call still waits for a connection, its end is reported only when it has one.
        fail(new TimeoutError(`no response within ${timeoutMs} ms`))
        call.destroy()
      }, timeoutMs)
      call.on('error', fail)
      call.end(text)
    })
}

function readAll(response: IncomingMessage, maxBytes: number, done: (text: string) => void): void {
  let text = ''
  response.setEncoding('utf8')
  response.on('data', (chunk: string) => {
    text += chunk
    if (text.length > maxBytes) response.destroy(new ResponseTooLarge('the response is too large'))
  })
  response.on('end', () => done(text))
}
