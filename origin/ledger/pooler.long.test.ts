/** A real PgBouncer between an origin and its ledger, in the modes that operators choose. */
import { randomBytes } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { type PoolMode, startPgBouncer } from '../../test/lib/pgbouncer.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { requireMigrated } from './migrate.ts'

const sql = await useLedger()
const { host, port, database, user, pass } = sql.options
const url = `postgres://${user}:${pass ?? ''}@${host[0]}:${port[0]}/${database}`

test('a pooler is told what to change until each session is one of Postgres', async () => {
  const through = async (mode: PoolMode, ignored: readonly string[]) => {
    const pooler = await startPgBouncer(url, mode, ignored)
    onTestFinished(() => pooler.stop())
    return pooler.url
  }
  const names = ['statement_timeout', 'idle_in_transaction_session_timeout', 'enable_seqscan', 'jit']
  await expect(requireMigrated(await through('session', []))).rejects.toThrow(
    `PgBouncer must have ignore_startup_parameters = ${names.join(', ')}`,
  )
  await expect(requireMigrated(await through('transaction', names))).rejects.toThrow('must have pool_mode = session')
  const kept = await through('session', names)
  const refusal = await requireMigrated(kept).catch((error: Error) => error)
  const [, statements = ''] = /set it for the role that serves \((.*)\)$/.exec(String(refusal)) ?? []
  const role = `pooled_${randomBytes(6).toString('hex')}`
  await sql.unsafe(`create role ${role} login superuser password 'secret'; set role ${role}; ${statements} reset role`)
  const asRole = Object.assign(new URL(url), { username: role, password: 'secret' }).href
  const pooler = await startPgBouncer(asRole, 'session', names)
  onTestFinished(() => pooler.stop())
  await requireMigrated(pooler.url)
})
