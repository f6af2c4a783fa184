/** Migrations as a command of a release, and the check of processes that only serve. */
import { execa } from 'execa'
import type postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { emptyDatabase } from '../../test/lib/servers.ts'
import { connect } from './connection.ts'
import { isBeyond, isOlder, migrate, RELEASE, requireMigrated } from './migrate.ts'

async function database() {
  const { url } = await emptyDatabase()
  const sql = connect(url, 1)
  onTestFinished(() => sql.end({ timeout: 1 }))
  return { url, sql }
}
const bodyOf = async (sql: postgres.Sql) =>
  (await sql`select prosrc from pg_proc where proname = 'begin_view_batch'`)[0]?.prosrc as string

test('releases are compared by their numbers', () => {
  expect(['0.3.0', '0.10.0', '1.0.0'].map((other) => isOlder('0.2.9', other))).toEqual([true, true, true])
  expect(['0.2.9', '0.2.8', '0.1.10'].map((other) => isOlder('0.2.9', other))).toEqual([false, false, false])
  expect(['0.2.9', '0.3.4', '0.4.0', '1.0.0'].map((release) => isBeyond(release, '0.2.0'))).toEqual([
    ...[false, false, true, true],
  ])
})

test('a process that serves refuses a ledger that is not migrated, and changes nothing in it', async () => {
  const { url, sql } = await database()
  await expect(requireMigrated(url)).rejects.toThrow('run "npm run migrate" first')
  expect(await sql`select 1 from pg_tables where schemaname = 'public'`).toHaveLength(0)
})

test('the command migrates, has nothing to do the second time, and leaves functions of a newer release', async () => {
  const { url, sql } = await database()
  const run = async (address: string) => {
    const env = { DATABASE_URL: address }
    const { exitCode, stdout, stderr } = await execa('node', ['origin/migrate.ts'], { env, reject: false })
    return [exitCode, stdout || stderr]
  }
  const [, first] = await run(url)
  expect(first).toMatch(new RegExp(`^The ledger serves release ${RELEASE}: [1-9]\\d* migrations applied.$`))
  await requireMigrated(url)
  expect(await run(url)).toEqual([0, `The ledger serves release ${RELEASE}: 0 migrations applied.`])

  const original = await bodyOf(sql)
  const [major = 0, minor = 0] = RELEASE.split('.').map(Number)
  const changeBody = () =>
    sql.unsafe(
      'create or replace function begin_view_batch(p_rows integer, out first_seq bigint, out written_at timestamptz) language sql as $$ select 1::bigint, now() $$',
    )
  const release = (newest: string) => sql`update ledger_release set release = ${newest}`
  await changeBody()
  await release(`${major}.${minor + 1}.0`)
  expect((await run(url))[1]).toContain(`the functions of the newer release ${major}.${minor + 1}.0 stay`)
  expect(await bodyOf(sql)).not.toBe(original)
  await requireMigrated(url)
  await release(`${major}.${minor + 2}.0`)
  await expect(requireMigrated(url)).rejects.toThrow(`which ${RELEASE} cannot serve`)
  await release(`${major}.${minor}.0`)
  await migrate(url)
  expect(await bodyOf(sql)).toBe(original)
  expect(await run('nonsense')).toEqual([1, 'DATABASE_URL: a postgres:// URL is required'])
})

test('a migration waits shortly for what somebody else has locked, and tries again', async () => {
  const { url, sql } = await database()
  const other = connect(url, 1)
  onTestFinished(() => other.end({ timeout: 1 }))
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const { promise: isLocked, resolve: locked } = Promise.withResolvers<void>()
  const holding = other
    .begin(async (tx) => {
      // The first migration makes this table, so it waits for whoever else does.
      await tx`create table blocks ()`
      locked()
      await released
      throw new Error('rolled back')
    })
    .catch((error) => error)
  await isLocked
  const migrated = migrate(url)
  const waits = async () => {
    const [row] = await sql`select count(*)::int as waits from pg_stat_activity
      where application_name = 'flash-sale-migrations' and wait_event_type = 'Lock' and datname = current_database()`
    return row?.waits
  }
  await expect.poll(waits).toBe(1)
  await expect.poll(waits).toBe(0)
  release()
  await holding
  expect((await migrated).migrations).toBeGreaterThan(0)
})
