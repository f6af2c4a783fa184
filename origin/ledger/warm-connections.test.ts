import { afterAll, expect, test } from 'vitest'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { connect, type Sql } from './connection.ts'
import { WarmConnections } from './warm-connections.ts'

const { url, drop } = await ledgerDatabase()
const pool = connect(url)
const warm = new WarmConnections(pool, () => connect(url, 1))
afterAll(async () => {
  await Promise.all([warm.end(), pool.end()])
  await drop()
})

const processOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
const concurrently = (count: number) =>
  Promise.all(Array.from({ length: count }, () => warm.use((sql) => processOf(sql))))

test('consecutive statements run in the same server process, also after a burst', async () => {
  await concurrently(3)
  const processes = new Set<unknown>()
  for (let i = 0; i < 20; i++) processes.add(await warm.use(processOf))
  expect(processes.size).toBe(1)
})

test('more concurrent statements than warm connections use the pool', async () => {
  expect((await concurrently(30)).every((pid) => pid !== undefined)).toBe(true)
  const [{ connections } = { connections: 0 }] = await pool<{ connections: number }[]>`
    select count(*)::int as connections from pg_stat_activity where datname = current_database()
      and pid <> pg_backend_pid()`
  expect(connections).toBeLessThanOrEqual(4 + 10)
})

test('a failed statement returns its connection', async () => {
  const pid = await warm.use(processOf)
  await expect(warm.use((sql) => sql`select 1 / 0`)).rejects.toThrow('division by zero')
  expect(await warm.use(processOf)).toBe(pid)
})
