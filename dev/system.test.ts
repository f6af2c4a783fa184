/** On a machine with other programs, the system does not take one of them for a part of its own. */
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { freePort, LOOPBACK } from './processes.ts'
import { startSystem } from './system.ts'

describe('another program that takes the port during the start does not pass for', () => {
  let other: Server | undefined
  afterEach(() => other?.close())

  test.each(['the origin', 'the edge'])(
    '%s',
    async (part) => {
      const port = await freePort()
      other = createServer((_, response) => response.end('I am somebody else'))
      const started = startSystem({
        [part === 'the origin' ? 'port' : 'edgePort']: port,
        progress: {
          begin: (begun) => void (begun === part && other?.listen(port, LOOPBACK)),
          ready() {},
          say() {},
        },
      })
      await expect(started).rejects.toThrow(
        new RegExp(`^${part} ended at once .*address already in use`, 'i'),
      )
    },
    60_000,
  )
})
