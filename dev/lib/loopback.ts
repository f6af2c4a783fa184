/** An HTTP server of this process on loopback, on a port that the system selects. */
import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'

/** The loopback address, which is reachable only from this machine. */
export const LOOPBACK = '127.0.0.1'

export interface Loopback {
  readonly url: string
  /** Stops the server and closes all of its connections. */
  stop(): void
}

export async function serveOnLoopback(listener: RequestListener): Promise<Loopback> {
  const server = createServer(listener)
  await once(server.listen(0, LOOPBACK), 'listening')
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    stop() {
      server.closeAllConnections()
      server.close()
    },
  }
}
