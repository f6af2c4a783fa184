/**
 * One Postgres for a whole test run, started before the first test that may need it and stopped after the last. Test
 * files make a database each in it (servers.ts), which takes milliseconds where a server takes most of a second.
 */
import type { TestProject } from 'vitest/node'
import { startPostgres } from '../dev/postgres.ts'
import type { Server } from '../dev/processes.ts'
import { ensureRedis } from '../dev/redis.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the run's Postgres. */
    postgresUrl: string
  }
}

/** Several projects use it, each with its own copy of this module. */
const shared = globalThis as typeof globalThis & {
  onePostgres?: { server: Promise<Server>; users: number }
}

export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  shared.onePostgres ??= { server: startPostgres(), users: 0 }
  // Test files start a Redis each, at the same time. If none is installed, it is installed once, here.
  await ensureRedis((line) => console.log(line))
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
