/**
 * A small HTTP/1.1 client for load tests: keep-alive connections, one request at a time on each. A request costs
 * about half of undici's (14 us instead of 25 us here). On a machine shared with the servers under test, that decides
 * whether the measurement shows the servers or the client.
 */
import { connect, type Socket } from 'node:net'

export interface Answer {
  /** The status; 0 without a response, and `failure` gives the reason. */
  readonly status: number
  /** Status line and headers, unparsed. */
  readonly head: string
  readonly body: string
  /** The times at which the request was written and the response complete, by performance.now(). */
  readonly sentMs: number
  readonly answeredMs: number
  readonly failure: string | null
}

type Answered = (answer: Answer) => void

interface ClientOptions {
  readonly url: string
  readonly connections: number
  /** The longest silence during a request. */
  readonly timeoutMs?: number
}

const TIMEOUT_MS = 30_000
const MAX_ANSWER_BYTES = 4 * 1024 * 1024
const HEAD_END = Buffer.from('\r\n\r\n')

interface Waiting {
  readonly text: string
  readonly answered: Answered
  next?: Waiting
}

export class HttpClient {
  /** The value of the `host` header. */
  readonly host: string
  readonly #options: ClientOptions
  readonly #url: URL
  readonly #idle: Connection[] = []
  readonly #open = new Set<Connection>()
  /** The requests that wait for a connection, as a linked list, because there may be a million. */
  #first: Waiting | undefined
  #last: Waiting | undefined
  #closed = false

  constructor(options: ClientOptions) {
    this.#url = new URL(options.url)
    if (this.#url.protocol !== 'http:') throw new Error(`${options.url}: only http:// is supported`)
    this.#options = options
    this.host = this.#url.host
  }

  /** Sends a request (its complete text, see `requestText`). `answered` is called exactly once. */
  send(text: string, answered: Answered) {
    if (this.#closed) return answered(failed('the client is closed', performance.now()))
    const connection = this.#idle.pop() ?? this.#another()
    if (connection) return connection.send(text, answered)
    const waiting: Waiting = { text, answered }
    if (this.#last) this.#last.next = waiting
    else this.#first = waiting
    this.#last = waiting
  }

  /** Sends a request and returns a promise, for rare requests. */
  request(text: string): Promise<Answer> {
    return new Promise((resolve) => this.send(text, resolve))
  }

  close(): void {
    this.#closed = true
    for (let waiting = this.#take(); waiting; waiting = this.#take())
      waiting.answered(failed('the client was closed', performance.now()))
    for (const connection of [...this.#open]) connection.end('the client was closed')
  }

  #another(): Connection | undefined {
    const { connections, timeoutMs = TIMEOUT_MS } = this.#options
    if (this.#open.size >= connections) return undefined
    const host = this.#url.hostname.replace(/^\[|\]$/g, '')
    const connection: Connection = new Connection(
      connect({ host, port: Number(this.#url.port || 80), noDelay: true, timeout: timeoutMs }),
      () => this.#next(connection),
      () => {
        this.#open.delete(connection)
        const at = this.#idle.indexOf(connection)
        if (at >= 0) this.#idle.splice(at, 1)
        const fresh = this.#first && this.#another()
        if (fresh) this.#next(fresh)
      },
    )
    this.#open.add(connection)
    return connection
  }

  /** Gives a free connection to the request that has waited longest. */
  #next(connection: Connection): void {
    const waiting = this.#take()
    if (waiting) connection.send(waiting.text, waiting.answered)
    else this.#idle.push(connection)
  }

  #take(): Waiting | undefined {
    const waiting = this.#first
    this.#first = waiting?.next
    if (!this.#first) this.#last = undefined
    return waiting
  }
}

class Connection {
  /** The time at which the current request was written. */
  #sentMs = 0
  readonly #socket: Socket
  readonly #free: () => void
  readonly #gone: () => void
  #answered: Answered | null = null
  #chunks: Buffer[] = []
  #bytes = 0
  /** The response cannot be complete with fewer bytes. */
  #wanted = 0
  #ended = false

  constructor(socket: Socket, free: () => void, gone: () => void) {
    this.#socket = socket
    this.#free = free
    this.#gone = gone
    socket.on('data', (chunk) => this.#take(chunk))
    socket.on('timeout', () => this.#answered && this.end('timed out'))
    socket.on('error', (error: NodeJS.ErrnoException) => this.end(error.code ?? error.message))
    socket.on('close', () => this.end('the connection was closed'))
  }

  send(text: string, answered: Answered): void {
    this.#answered = answered
    this.#sentMs = performance.now()
    this.#socket.write(text, 'latin1')
  }

  /** Sends the rest of a request that was sent in part. */
  sendRest(text: string): void {
    this.#socket.write(text, 'latin1')
  }

  end(why: string): void {
    if (this.#ended) return
    this.#close()
    this.#answer(failed(why, this.#sentMs))
  }

  #close(): void {
    this.#ended = true
    this.#socket.destroy()
    this.#gone()
  }

  #answer(answer: Answer): void {
    const answered = this.#answered
    this.#answered = null
    answered?.(answer)
  }

  #take(chunk: Buffer) {
    if (!this.#answered) return this.end('unexpected data')
    this.#bytes += chunk.length
    if (this.#bytes > MAX_ANSWER_BYTES) return this.end('the response is too large')
    this.#chunks.push(chunk)
    if (this.#bytes < this.#wanted) return
    const bytes = this.#chunks.length === 1 ? chunk : Buffer.concat(this.#chunks)
    const read = readAnswer(bytes)
    if (typeof read === 'number') {
      this.#wanted = read
      this.#chunks = [bytes]
      return
    }
    this.#chunks = []
    this.#bytes = 0
    this.#wanted = 0
    const { keep, ...response } = read
    if (!keep) this.#close()
    this.#answer({ ...response, sentMs: this.#sentMs, answeredMs: performance.now(), failure: null })
    if (!this.#ended && !this.#answered) this.#free()
  }
}

/** Sends a request whose last bytes follow after a pause, on its own connection. */
export function requestSlowly(host: string, text: string, lastBytes: number, pause: Promise<void>): Promise<Answer> {
  const { hostname, port } = new URL(`http://${host}`)
  const socket = connect({ host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 80), timeout: TIMEOUT_MS })
  return new Promise((resolve) => {
    const end = () => connection.end('the answer has come')
    const connection = new Connection(socket, end, () => {})
    connection.send(text.slice(0, -lastBytes), resolve)
    void pause.then(() => connection.sendRest(text.slice(-lastBytes)))
  })
}

function failed(why: string, sentMs: number): Answer {
  return { status: 0, head: '', body: '', sentMs, answeredMs: performance.now(), failure: why }
}

type Read = Pick<Answer, 'status' | 'head' | 'body'> & { readonly keep: boolean }

/** Parses one response. If it is incomplete, it returns the minimum number of bytes that it needs. */
export function readAnswer(bytes: Buffer): Read | number {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd < 0) return bytes.length + 1
  const head = bytes.toString('latin1', 0, headEnd)
  const status = Number(head.slice(9, 12))
  const from = headEnd + 4
  if (status < 200) {
    const rest = readAnswer(bytes.subarray(from))
    return typeof rest === 'number' ? from + rest : rest
  }
  const keep = !/\r\nconnection: *close/i.test(head)
  const length = /\r\ncontent-length: *(\d+)/i.exec(head)?.[1]
  if (length !== undefined && status !== 304) {
    const end = from + Number(length)
    if (bytes.length < end) return end
    return { status, head, body: bytes.toString('utf8', from, end), keep }
  }
  if (!/\r\ntransfer-encoding: *chunked/i.test(head)) return { status, head, body: '', keep }
  const parts: Buffer[] = []
  for (let at = from; ; ) {
    const lineEnd = bytes.indexOf('\r\n', at)
    if (lineEnd < 0) return bytes.length + 1
    const size = Number.parseInt(bytes.toString('latin1', at, lineEnd), 16)
    if (!(size >= 0)) return { status: 0, head, body: '', keep: false }
    const end = lineEnd + 2 + size + 2
    if (bytes.length < end) return end
    if (size === 0) return { status, head, body: Buffer.concat(parts).toString('utf8'), keep }
    parts.push(bytes.subarray(lineEnd + 2, lineEnd + 2 + size))
    at = end
  }
}

/** The value of a header, '' if absent; `name` in lower case. */
export function headerOf(answer: Answer, name: string): string {
  const at = answer.head.toLowerCase().indexOf(`\r\n${name}:`)
  if (at < 0) return ''
  const from = at + name.length + 3
  const end = answer.head.indexOf('\r\n', from)
  return answer.head.slice(from, end < 0 ? undefined : end).trim()
}

/** The content type of a page's form. */
export const FORM_TYPE = 'application/x-www-form-urlencoded'

/** The text of a request, all ASCII; headers are complete lines. */
export function requestText(
  method: string,
  path: string,
  host: string,
  headers: readonly string[] = [],
  body?: string,
  type = 'application/json',
): string {
  const lines = headers.length > 0 ? `${headers.join('\r\n')}\r\n` : ''
  const start = `${method} ${path} HTTP/1.1\r\nhost: ${host}\r\n${lines}`
  if (body !== undefined) return `${start}content-type: ${type}\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  return method === 'GET' ? `${start}\r\n` : `${start}content-length: 0\r\n\r\n`
}
