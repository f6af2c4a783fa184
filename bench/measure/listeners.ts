/**
 * A process of listeners to the stream of a hall's sections, each on its own connection. It reports when all are
 * open, and at the end the time at which each had read which revision. All get the same text, so one is read
 * completely and the others by their last id, because the listeners must not take processor time from the measured
 * server.
 */
import { connect } from 'node:net'

export interface ListenersOrder {
  readonly host: string
  readonly port: number
  readonly path: string
  readonly headers: readonly string[]
  /** An admission for each. */
  readonly tokens: readonly string[]
}

/** The number of listeners that went from one revision to another in this number of milliseconds. */
export interface Step {
  readonly from: number
  readonly to: number
  readonly atMs: number
  readonly count: number
}

export interface ListenersReport {
  readonly steps: readonly Step[]
  /** The text that one listener has read. */
  readonly text: string
  readonly closed: number
}

export type ListenersMessage = { readonly open: number } | ListenersReport

/** The number of connections that are opened at a time. */
const OPENING = 100
const BIN_MS = 10

const steps = new Map<string, { from: number; to: number; atMs: number; count: number }>()
let text = ''
let closed = 0

function listen({ host, port, path, headers }: ListenersOrder, token: string, isWhole: boolean): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let revision = 0
  const socket = connect(port, host)
  const lines = [`GET ${path} HTTP/1.1`, `host: ${host}:${port}`, `authorization: Bearer ${token}`, ...headers]
  socket.write(`${lines.join('\r\n')}\r\n\r\n`)
  socket.on('data', (bytes) => {
    if (revision === 0 && !bytes.includes('HTTP/1.1 200'))
      return void socket.destroy(new Error(bytes.toString().slice(0, 200)))
    if (isWhole) text += bytes.toString()
    const at = bytes.lastIndexOf('id: ')
    const [, to] = (at >= 0 && /^id: \w+\.(\d+)\n/.exec(bytes.toString('latin1', at, at + 40))) || []
    if (to === undefined) return
    if (revision === 0) resolve()
    else note(revision, Number(to))
    revision = Number(to)
  })
  socket.on('error', reject)
  socket.on('close', () => {
    closed++
    reject(new Error('closed at once'))
  })
  return promise
}

function note(from: number, to: number): void {
  const atMs = Math.ceil(Date.now() / BIN_MS) * BIN_MS
  const key = `${from} ${to} ${atMs}`
  const known = steps.get(key)
  if (known) known.count++
  else steps.set(key, { from, to, atMs, count: 1 })
}

const send = (message: ListenersMessage) => process.send?.(message)

process.once('message', async (order: ListenersOrder) => {
  for (let at = 0; at < order.tokens.length; at += OPENING) {
    const some = order.tokens.slice(at, at + OPENING)
    await Promise.all(some.map((token, i) => listen(order, token, at + i === 0)))
  }
  send({ open: order.tokens.length })
  process.once('message', () => {
    process.send?.({ steps: [...steps.values()], text, closed } satisfies ListenersReport, () => process.exit(0))
  })
})
process.once('disconnect', () => process.exit(0))
