/** Sends inputs of the fuzz within a time limit, and reads as much of the response as the check needs. */
import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { FuzzBytes, FuzzRequest, Input, Server } from './inputs.ts'

export interface Answer {
  /** The status; 0 for a connection that ended without a response. */
  readonly status: number
  readonly headers: Readonly<Record<string, unknown>>
  readonly body: string
}

/** No response of either half may take longer. The longest time limit is the edge's for the origin. */
const HANG_MS = 20_000
/** A stream or an export is read up to this size. */
const MAX_BODY = 128 * 1024

/** After this silence, a client that sends bytes closes its half of the connection. */
const SILENCE_MS = 300

class Hang extends Error {}

export function sender(urls: Readonly<Record<Server, string>>) {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 })
  const ports = Object.fromEntries(Object.entries(urls).map(([server, url]) => [server, Number(new URL(url).port)]))
  return {
    /** Returns the responses: one for a request, and any number for bytes. */
    async send(input: Input): Promise<Answer[]> {
      const port = ports[input.to] ?? 0
      if ('bytes' in input) return sendBytes(input, port)
      return (await sendRequest(input, port, agent)) ?? sendBytes(asBytes(input), port, HANG_MS / 2)
    },
    close: () => agent.destroy(),
  }
}

/** Returns null for a request that Node's client refuses to send. */
function sendRequest({ method, path, headers, body }: FuzzRequest, port: number, agent: Agent) {
  const { promise, resolve, reject } = Promise.withResolvers<Answer[] | null>()
  let sent: ReturnType<typeof request>
  try {
    const length = body !== null && { 'content-length': Buffer.byteLength(body) }
    sent = request({ host: '127.0.0.1', port, method, path, headers: { ...headers, ...length }, agent })
  } catch {
    return null
  }
  const timer = setTimeout(() => sent.destroy(new Hang(`no response within ${HANG_MS} ms`)), HANG_MS)
  let done: (() => void) | undefined
  sent.on('response', (response) => {
    const chunks: Buffer[] = []
    const { statusCode: status = 0, headers } = response
    done = () => resolve([{ status, headers, body: Buffer.concat(chunks).toString() }])
    const leave = () => {
      done?.()
      response.destroy()
    }
    let bytes = 0
    response.on('data', (chunk: Buffer) => {
      chunks.push(chunk)
      bytes += chunk.length
      if (bytes > MAX_BODY) leave()
    })
    response.on('end', done)
    response.on('error', reject)
    if (headers['content-type']?.includes('event-stream')) leave()
  })
  // An unreadable request gets a response with a body, even if it is HEAD.
  sent.on('error', (error) => (done ? done() : reject(error)))
  sent.on('close', () => clearTimeout(timer))
  sent.end(body ?? undefined)
  return promise
}

function asBytes({ to, method, path, headers, body }: FuzzRequest): FuzzBytes {
  const all = { host: 'fuzz.test', connection: 'close', ...headers, 'content-length': Buffer.byteLength(body ?? '') }
  const lines = Object.entries(all).map(([name, value]) => `${name}: ${value}\r\n`)
  return { to, bytes: `${method} ${path} HTTP/1.1\r\n${lines.join('')}\r\n${body ?? ''}` }
}

/**
 * The server must respond or close the connection once no more data arrive. The client does not close its half at
 * once, because Node drops the requests of a client that does.
 */
function sendBytes({ bytes }: FuzzBytes, port: number, silenceMs = SILENCE_MS): Promise<Answer[]> {
  const { promise, resolve, reject } = Promise.withResolvers<Answer[]>()
  const socket = connect(port, '127.0.0.1')
  const chunks: Buffer[] = []
  let silence = setTimeout(() => socket.end(), silenceMs)
  const timer = setTimeout(() => {
    reject(new Hang(`open after ${HANG_MS} ms, with ${Buffer.concat(chunks).toString().slice(0, 200)}`))
    socket.destroy()
  }, HANG_MS)
  socket.on('data', (chunk: Buffer) => {
    chunks.push(chunk)
    clearTimeout(silence)
    silence = setTimeout(() => socket.end(), SILENCE_MS)
    if (chunk.includes('text/event-stream')) socket.destroy()
  })
  // A server may close a connection while data are still arriving, so a reset counts as an end.
  socket.on('error', () => {})
  socket.on('close', () => {
    clearTimeout(timer)
    clearTimeout(silence)
    resolve(answersIn(Buffer.concat(chunks).toString('latin1')))
  })
  socket.write(bytes, /[^\0-\xff]/.test(bytes) ? 'utf8' : 'latin1')
  return promise
}

function answersIn(text: string): Answer[] {
  const heads = [...text.matchAll(/^HTTP\/1\.[01] (\d{3})[^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/gm)]
  return heads.map(({ 1: status, 2: lines = '' }) => {
    const headers = lines.split('\r\n').map((line) => line.split(/: */, 2) as [string, string])
    return {
      status: Number(status),
      headers: Object.fromEntries(headers.map(([k, v]) => [k.toLowerCase(), v])),
      body: text,
    }
  })
}
