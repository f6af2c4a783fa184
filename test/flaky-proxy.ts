/** A way to a server on this machine that fails as networks do, for tests. */
import { connect, createServer, type Socket } from 'node:net'
import { afterAll, beforeAll } from 'vitest'
import { freePort, LOOPBACK } from '../dev/processes.ts'

/** Opens a way before the tests of a file, and closes it after them. */
export function useWay(portOfServer: () => number) {
  const ends = new Set<Socket>()
  let port = 0
  const way = createServer((client) => {
    const server = connect(portOfServer(), LOOPBACK)
    const both = [client, server]
    for (const end of both) {
      ends.add(end)
      end.on('error', () => {})
      end.on('close', () => {
        ends.delete(end)
        // What has vanished says no more, not even that.
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
    await new Promise<void>((resolve) => way.listen(port, LOOPBACK, resolve))
  })
  afterAll(() => {
    cut()
    way.close()
  })
  return {
    /** The address of the server by this way. */
    through(url: string): string {
      const way = new URL(url)
      way.port = String(port)
      return way.href
    },
    /** Breaks off every connection. */
    cut,
    /** Lets every connection hang, without a word; who connects from now on is served. */
    vanish() {
      for (const end of ends) end.unpipe().resume()
    },
  }
}
