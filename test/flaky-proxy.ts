/** A proxy to a server on this machine that fails as networks do, for tests. */
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { freePort, LOOPBACK } from '../dev/processes.ts'

/** Opens the proxy before the tests of a file, and closes it after them. */
export function useFlakyProxy(portOfServer: () => number) {
  const ends = new Set<Socket>()
  let port = 0
  const proxy = createServer((client) => {
    const server = connect(portOfServer(), LOOPBACK)
    const both = [client, server]
    for (const end of both) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        // A connection that vanished does not even close.
        if (end.listenerCount('data') > 0) for (const other of both) other.destroy()
      })
    }
    client.pipe(server).pipe(client)
  })
  const cut = () => {
    for (const end of ends) end.destroy()
  }
  beforeAll(async () => {
    port = await freePort()
    await new Promise<void>((resolve) => proxy.listen(port, LOOPBACK, resolve))
  })
  afterAll(() => {
    cut()
    proxy.close()
  })
  return {
    /** The address of the server through the proxy. */
    through(url: string): string {
      return Object.assign(new URL(url), { port: String(port) }).href
    },
    /** Breaks every connection. */
    cut,
    /** Lets every connection hang silently; later connections are served. */
    vanish() {
      for (const end of ends) end.unpipe().resume()
    },
  }
}
