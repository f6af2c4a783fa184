/**
 * One Postgres for a whole test run, started before the first test that may need it and stopped after the last. Test
 * files make a database each in it (servers.ts), which takes milliseconds where a server takes most of a second.
 */
import type { TestProject } from 'vitest/node'
import type { Server } from '../dev/processes.ts'
import { ensureVarnish } from '../dev/servers/cdn.ts'
import { ensureChromium } from '../dev/servers/chromium.ts'
import { createDatabase, startPostgres } from '../dev/servers/postgres.ts'
import { ensureRedis } from '../dev/servers/redis.ts'
import { buildConsole } from '../origin/console/build.ts'
import { prepare } from '../origin/ledger/connection.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the run's Postgres. */
    postgresUrl: string
  }
}

/** The database that test files copy (`create database .. template`): the ledger's schema, migrated once for all. */
export const LEDGER_TEMPLATE = 'ledger_template'

/** Several projects and setups use it, each with its own copy of this module. */
const shared = globalThis as typeof globalThis & {
  onePostgres?: { server: Promise<Server>; users: number }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.onePostgres ??= { server: startWithTemplate(), users: 0 }
  await buildConsole()
  await ensurePrograms()
  const one = shared.onePostgres
  one.users += 1
  project.provide('postgresUrl', (await one.server).url)
  return async () => {
    one.users -= 1
    if (one.users > 0) return
    delete shared.onePostgres
    await (await one.server).stop()
  }
}

/** For setups of the run that come after this one: a database in it, with the ledger's schema. */
export async function runDatabase(name: string): Promise<string> {
  if (shared.onePostgres === undefined) throw new Error('The setup of the run’s Postgres comes first.')
  return createDatabase((await shared.onePostgres.server).url, name, LEDGER_TEMPLATE)
}

/** Test files run at the same time, where two installations would collide: what is missing is installed here, one by one. */
async function ensurePrograms(): Promise<void> {
  const say = (line: string) => console.log(line)
  const skipped = (tests: string) => (error: Error) => say(`Tests ${tests} are skipped: ${error.message}`)
  await ensureRedis(say)
  await ensureVarnish(say).catch(skipped('of the cache'))
  await ensureChromium(say).catch(skipped('in a browser'))
}

async function startWithTemplate(): Promise<Server> {
  const server = await startPostgres()
  await prepare(await createDatabase(server.url, LEDGER_TEMPLATE))
  return server
}
