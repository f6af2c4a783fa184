/**
 * One Postgres for a whole test run. Each test file creates its own database in it (servers.ts), which takes
 * milliseconds, while a server takes nearly a second.
 */
import { startPostgres } from '../../dev/servers/postgres.ts'
import { prepare } from '../../origin/ledger/migrate.ts'
import { createDatabase } from './databases.ts'
import type { Part } from './shared-part.ts'

/**
 * The database that test files copy (`create database .. template`). It has the ledger's schema, which is migrated
 * once for all.
 */
export const LEDGER_TEMPLATE = 'ledger_template'

/**
 * No test kills this server, so nothing it has written must reach the disk. Its tables live for seconds, so cleaning
 * them would only take time from the tests.
 */
const FOR_TESTS = ['fsync=off', 'full_page_writes=off', 'autovacuum=off']

export async function startRunPostgres(): Promise<Part<string>> {
  const server = await startPostgres({ settings: FOR_TESTS })
  await prepare(await createDatabase(server.url, LEDGER_TEMPLATE))
  return { address: server.url, stop: () => server.stop() }
}
