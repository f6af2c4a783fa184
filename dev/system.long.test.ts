/** A system whose edge is set wrongly, or whose ports are taken while it starts, says so in a sentence. */
import { createServer, type Server } from 'node:http'
import { afterEach, describe, expect, test } from 'vitest'
import { useFailures } from '../test/lib/failed-starts.ts'
import { LOOPBACK } from './lib/processes.ts'

const { failureOf } = useFailures()

test('the edge does not accept a setting', async () => {
  const failure = await failureOf({ edgeVars: { POW_DIFFICULTY: 'hard' } })
  expect(failure).toMatch(/^The edge does not accept its settings: POW_DIFFICULTY/)
})

describe('another program that takes the port during the start does not pass for', () => {
  let other: Server | undefined
  afterEach(() => other?.close())

  // The ports are below the ephemeral range, and below those that other tests take.
  const first = 5_100 + ((process.pid * 2) % 4_000)
  test.each([
    ['the origin', 'port', first],
    ['the edge', 'edgePort', first + 1],
  ])('%s', async (part, option, port) => {
    other = createServer((_, response) => response.end('I am somebody else'))
    const begin = (begun: string) => void (begun === part && other?.listen(port, LOOPBACK))
    const failure = await failureOf({ [option]: port, progress: { begin, ready() {}, say() {} } })
    expect(failure).toMatch(new RegExp(`^${part} ended at once .*address already in use`, 'i'))
  })
})
