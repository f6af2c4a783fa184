/**
 * The ledger moves to another server by pg_dump and pg_restore. Every reader and the feed continue, and miss nothing.
 */
import { execFileSync } from 'node:child_process'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { hasPostgresTools, postgresBinaries, postgresTool } from '../../test/lib/postgres-tools.ts'
import { createMetrics } from '../base/metrics.ts'
import { connect, type Sql } from '../ledger/connection.ts'
import { prepare } from '../ledger/migrate.ts'
import { readEvents } from './reader.ts'
import { watchEvents } from './watch.ts'

async function startLedger(): Promise<{ url: string; sql: Sql }> {
  const server = await startPostgres({ binaries: postgresBinaries })
  const sql = connect(server.url, 4)
  onTestFinished(async () => {
    await sql.end({ timeout: 1 })
    await server.stop()
  })
  return { url: server.url, sql }
}

const write = (sql: Sql, ...types: string[]) =>
  sql`insert into events (xid, type) select event_xid(), unnest(${types}::text[])`

async function read(sql: Sql, reader: string): Promise<string[]> {
  const types: string[] = []
  while (await readEvents(sql, reader, async (_, events) => types.push(...events.map(({ type }) => type))));
  return types
}

test.skipIf(!hasPostgresTools)(
  'the log goes on after pg_restore, also with what was written before anybody noticed',
  async () => {
    const [from, to] = await Promise.all([startLedger(), startLedger()])
    await prepare(from.url)
    // An older server has far higher transaction ids than a new one.
    for (let i = 0; i < 300; i++) await from.sql.begin((tx) => tx`select pg_current_xact_id()`)
    await write(from.sql, 'a', 'b')
    expect(await read(from.sql, 'one')).toEqual(['a', 'b'])
    await write(from.sql, 'c')

    const dump = execFileSync(postgresTool('pg_dump'), ['--format=custom', from.url], { maxBuffer: 1e9 })
    execFileSync(postgresTool('pg_restore'), ['--exit-on-error', '--no-owner', `--dbname=${to.url}`], { input: dump })
    const { sql } = to
    const metrics = createMetrics()
    const watch = () => watchEvents({ sql, metrics, log: pino({ level: 'silent' }) })
    // An origin already sells on the new server.
    await write(sql, 'd')
    expect(await read(sql, 'one')).toEqual([])
    await watch()
    await write(sql, 'e')
    expect(await read(sql, 'one')).toEqual(['c', 'd', 'e'])
    expect(await read(sql, 'new')).toEqual(['a', 'b', 'c', 'd', 'e'])
    // A second run changes nothing.
    const [before] = await sql`select xids from event_offset`
    await watch()
    expect(await sql`select xids from event_offset`).toEqual([before])
    expect(Number(before?.xids)).toBeGreaterThan(0)
    await write(sql, 'f')
    expect(await read(sql, 'one')).toEqual(['f'])
  },
)
