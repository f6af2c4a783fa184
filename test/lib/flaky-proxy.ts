/** A proxy to a server on this machine that fails in the ways that networks do, for tests. */
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { LOOPBACK } from '../../dev/lib/processes.ts'

function flakyProxy(portOfServer: () => number) {
  const ends = new Set<Socket>()
  let lost: 'nothing' | 'answers' | 'all' = 'nothing'
  let resetAt: string | undefined
  const proxy = createServer((client) => {
    const server = connect(portOfServer(), LOOPBACK)
    const both = [client, server]
    for (const end of both) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        // A connection that vanished is not even closed.
        if (end.listenerCount('data') > 0) for (const other of both) other.destroy()
      })
    }
    client.on('data', (sent) => {
      if (resetAt !== undefined && sent.includes(resetAt)) {
        resetAt = undefined
        client.resetAndDestroy()
      } else if (lost !== 'all') server.write(sent)
    })
    server.on('data', (answer) => lost !== 'nothing' || client.write(answer))
  })
  const cut = () => {
    for (const end of ends) end.destroy()
  }
  return {
    listen: () => once(proxy.listen(0, LOOPBACK), 'listening'),
    close() {
      cut()
      proxy.close()
    },
    /** Returns the address of the server through the proxy. */
    through(url: string): string {
      return Object.assign(new URL(url), { port: String((proxy.address() as AddressInfo).port) }).href
    },
    /** Breaks every connection. */
    cut,
    /** Makes every connection hang silently. Later connections work. */
    vanish() {
      for (const end of ends) end.removeAllListeners('data').resume()
    },
    /** Resets the connection on which this text is sent next, instead of passing it on. */
    resetAt(text: string) {
      resetAt = text
    },
    /** True once such a connection was reset. */
    hasReset: () => resetAt === undefined,
    /** Drops all replies, or all traffic, until `back` is called. */
    lose(what: 'answers' | 'all') {
      lost = what
    },
    back() {
      lost = 'nothing'
      cut()
    },
  }
}

/** Opens the proxy before the tests of a file, and closes it after them. */
export function useFlakyProxy(portOfServer: () => number) {
  const proxy = flakyProxy(portOfServer)
  beforeAll(proxy.listen)
  afterAll(proxy.close)
  return proxy
}

/** Opens a proxy to the server of this address at once. The caller closes it. */
export async function openFlakyProxy(url: string) {
  const proxy = flakyProxy(() => Number(new URL(url).port))
  await proxy.listen()
  return { ...proxy, url: proxy.through(url) }
}
