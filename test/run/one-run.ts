/**
 * The parts that the test files of a run share: a Postgres, an origin, a whole system, a browser. Each starts when a
 * file first requests it (`sharedPart`), so that a run of few files starts only what they use, and stops after the
 * last test.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { TestProject } from 'vitest/node'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import { ensureVarnish } from '../../dev/servers/cdn.ts'
import { ensureChromium } from '../../dev/servers/chromium.ts'
import { ensureRedis } from '../../dev/servers/redis.ts'
import { buildConsole } from '../../origin/operators/console-build.ts'
// The servers of a run belong to the runner itself.
import './leave-with-the-runner.ts'
import { startBrowser } from './one-browser.ts'
import { startOrigin } from './one-origin.ts'
import { startRunPostgres } from './one-postgres.ts'
import { startRunSystem } from './one-system.ts'
import type { Part, SharedParts } from './shared-part.ts'

type Parts = { [Name in keyof SharedParts]: () => Promise<Part<SharedParts[Name]>> }

interface Run {
  readonly url: string
  stop(): Promise<void>
}

/** Several projects use this setup, each with its own copy of this module. */
const ofRun = globalThis as typeof globalThis & { testRun?: { run: Promise<Run>; users: number } }

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  ofRun.testRun ??= { run: startRun(), users: 0 }
  const shared = ofRun.testRun
  shared.users += 1
  project.provide('sharedParts', (await shared.run).url)
  return async () => {
    shared.users -= 1
    if (shared.users > 0) return
    delete ofRun.testRun
    await (await shared.run).stop()
  }
}

async function startRun(): Promise<Run> {
  const started = new Map<string, Promise<Part<unknown>>>()
  /** The latest part stops first, because a part may use those that were started before it. */
  const stops: (() => Promise<void>)[] = []
  const once = <Address>(name: string, start: () => Promise<Part<Address>>) => {
    const starting = started.get(name) ?? start()
    if (!started.has(name))
      void starting.then(
        ({ stop }) => stops.unshift(stop),
        () => {},
      )
    started.set(name, starting)
    return starting as Promise<Part<Address>>
  }
  const postgresUrl = async () => (await once('postgres', startRunPostgres)).address
  const parts: Parts = {
    programs: async () => {
      await Promise.all([buildConsole(), ensurePrograms()])
      return { address: null, stop: async () => {} }
    },
    postgres: startRunPostgres,
    origin: async () => startOrigin(await postgresUrl()),
    system: async () => startRunSystem(await postgresUrl()),
    browser: startBrowser,
  }
  void once('programs', parts.programs)
  const server = createServer((request, response) => {
    const name = (request.url ?? '').slice(1) as keyof SharedParts
    once<unknown>(name, parts[name]).then(
      ({ address }) => response.end(JSON.stringify(address)),
      (error: unknown) => response.writeHead(500).end(String(error)),
    )
  })
  await new Promise<void>((resolve) => server.listen(0, LOOPBACK, resolve))
  return {
    url: `http://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
    async stop() {
      server.close()
      await Promise.allSettled(started.values())
      for (const stop of stops) await stop()
    },
  }
}

/**
 * Test files run concurrently, and two installations would collide, so missing programs are installed here one by
 * one.
 */
async function ensurePrograms(): Promise<void> {
  const say = (line: string) => console.log(line)
  const skipped = (tests: string) => (error: Error) => say(`Tests ${tests} are skipped: ${error.message}`)
  await ensureRedis(say)
  await ensureVarnish(say).catch(skipped('of the cache'))
  await ensureChromium(say).catch(skipped('in a browser'))
}
