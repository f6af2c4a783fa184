import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { connect, type Sql } from './connection.ts'
import { WarmConnections } from './warm-connections.ts'

const database = useDatabase()
let pool: Sql
let warm: WarmConnections
beforeAll(() => {
  pool = connect(database.url)
  warm = new WarmConnections(pool, () => connect(database.url, 1))
})
afterAll(async () => {
  await warm.end()
  await pool.end()
})

const processOf = async (sql: Sql) => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid
const several = (count: number) =>
  Promise.all(Array.from({ length: count }, () => warm.use((sql) => processOf(sql))))

test('one statement after the other is answered by the same process, also after a busier time', async () => {
  await several(3)
  const processes = new Set<unknown>()
  for (let i = 0; i < 20; i++) processes.add(await warm.use(processOf))
  expect(processes.size).toBe(1)
})

test('more statements at once than there are warm connections are answered all the same', async () => {
  expect((await several(30)).every((pid) => pid !== undefined)).toBe(true)
  const [{ connections } = { connections: 0 }] = await pool<{ connections: number }[]>`
    select count(*)::int as connections from pg_stat_activity where datname = current_database()
      and pid <> pg_backend_pid()`
  expect(connections).toBeLessThanOrEqual(4 + 10)
})

test('a statement that fails leaves its connection to the next', async () => {
  const pid = await warm.use(processOf)
  await expect(warm.use((sql) => sql`select 1 / 0`)).rejects.toThrow('division by zero')
  expect(await warm.use(processOf)).toBe(pid)
})
