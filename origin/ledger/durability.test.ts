import { pino } from 'pino'
import { afterAll, expect, test } from 'vitest'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { useReturning } from '../../test/lib/servers.ts'
import { connect } from './connection.ts'
import { warnOfLostCommits } from './durability.ts'

const postgres = await useReturning(() => startPostgres({ settings: ['fsync=off'] }))
const sql = connect(postgres.url, 1)
afterAll(() => sql.end({ timeout: 1 }))

test('warns of settings with which Postgres may lose a commit, and of no other', async () => {
  const warnings = async () => {
    const lines: string[] = []
    await warnOfLostCommits(sql, pino({ level: 'warn' }, { write: (line) => lines.push(JSON.parse(line).setting) }))
    return lines
  }
  expect(await warnings()).toEqual(['fsync off'])
  await sql`set synchronous_commit = off`
  expect(await warnings()).toEqual(['fsync off', 'synchronous_commit off'])
  await sql`set synchronous_commit = local`
  expect(await warnings()).toEqual(['fsync off'])
})
