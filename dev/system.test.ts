/** On a machine with other programs, the system does not take one of them for a part of its own. */
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { ledgerDatabase } from '../test/lib/servers.ts'
import { LOOPBACK } from './processes.ts'
import { startSystem } from './system.ts'

describe('another program that takes the port during the start does not pass for', () => {
  let other: Server | undefined
  afterEach(() => other?.close())

  // Below the ephemeral range, and below the ports that other tests take.
  const first = 5_100 + ((process.pid * 2) % 4_000)
  test.each([
    ['the origin', first],
    ['the edge', first + 1],
  ])(
    '%s',
    async (part, port) => {
      other = createServer((_, response) => response.end('I am somebody else'))
      const { url: databaseUrl } = await ledgerDatabase()
      const started = startSystem({
        databaseUrl,
        [part === 'the origin' ? 'port' : 'edgePort']: port,
        progress: {
          begin: (begun) => void (begun === part && other?.listen(port, LOOPBACK)),
          ready() {},
          say() {},
        },
      })
      await expect(started).rejects.toThrow(new RegExp(`^${part} ended at once .*address already in use`, 'i'))
    },
    60_000,
  )
})
