import { afterAll, describe, expect, test } from 'vitest'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { ledgerDatabase } from '../../test/lib/servers.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { connect, mayHaveCommitted, NotSent, type Queryable, type Sql } from './connection.ts'
import { record } from './record.ts'
import { WarmConnections } from './warm-connections.ts'

const { url } = await ledgerDatabase()
const pool = connect(url)
const warm = new WarmConnections(pool, () => connect(url, 1))
afterAll(() => Promise.all([warm.end(), pool.end()]))

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

test('says how many connections are in use, and how many statements wait for one', async () => {
  const narrow = connect(url, 1)
  const few = new WarmConnections(narrow, () => connect(url, 1))
  const { promise: held, resolve: release } = Promise.withResolvers<void>()
  const holding = Array.from({ length: 6 }, () => few.use((sql) => sql.begin(() => held)))
  await expect
    .poll(() => [few.load(), narrow.load()])
    .toEqual([
      { used: 4, waiting: 0, max: 4 },
      { used: 1, waiting: 1, max: 1 },
    ])
  release()
  await Promise.all(holding)
  expect([few.load().used, narrow.load()]).toEqual([0, { used: 0, waiting: 0, max: 1 }])
  await Promise.all([few.end(), narrow.end()])
})

test('a failed statement returns its connection', async () => {
  const pid = await warm.use(processOf)
  await expect(warm.use((sql) => sql`select 1 / 0`)).rejects.toThrow('division by zero')
  expect(await warm.use(processOf)).toBe(pid)
})

describe('a connection that the network has forgotten', () => {
  const way = useFlakyProxy(() => Number(new URL(url).port))

  test('delays its work by a moment, which is done again on another one, and is closed', async () => {
    const forgetful = new WarmConnections(pool, () => connect(way.through(url), 1))
    const forgotten = await forgetful.use(processOf)
    way.vanish()
    const doneBy = await forgetful.use(processOf, { work: processOf, isFinal: () => true })
    expect(doneBy).not.toBe(forgotten)
    expect(await forgetful.use(processOf)).toBe(doneBy)
    await forgetful.end()
  })

  test('may have done its work, where the other one fails', async () => {
    const forgetful = new WarmConnections(pool, () => connect(way.through(url), 1))
    await forgetful.use(processOf)
    const failing = forgetful.use((sql) => sql`select pg_sleep(30)`, {
      work: () => Promise.reject(new NotSent(new Error('refused'))),
      isFinal: () => true,
    })
    const failure = await failing.catch((error: Error) => error)
    expect(failure).toMatchObject({ message: 'refused' })
    expect(mayHaveCommitted(failure as Error)).toBe(true)
    await forgetful.end()
  })

  test('makes no second order of a batch, whichever attempt comes first, and no refused order', async () => {
    const sale = crypto.randomUUID()
    await writeSale(pool, sale, saleOf(2))
    const buyer = (name: string) => ({ ...reservationOf(sale), visitor: name, key: name })
    const batch = ['ann', 'bob', 'cid'].map(buyer)
    const first = (sql: Queryable) => record(sql, sale, batch, false)
    const second = (sql: Queryable) => record(sql, sale, batch, true)
    const [[ann, bob], ofSecond] = [batch, await second(pool)]
    expect(ofSecond).toMatchObject([{ verdict: 'recorded' }, { verdict: 'recorded' }, { verdict: 'no_stock' }])
    await pool`update products set total = 3 where sale_id = ${sale}`
    const late = [
      { verdict: 'replay', order: ann?.order },
      { verdict: 'replay', order: bob?.order },
      { verdict: 'no_stock' },
    ]
    expect(await first(pool)).toMatchObject(late)
    const next = [buyer('dan')]
    const both = await Promise.all([false, true].map((notes) => record(pool, sale, next, notes)))
    expect(
      both
        .flat()
        .map(({ verdict }) => verdict)
        .sort(),
    ).toEqual(['recorded', 'replay'])
    const [{ held, live } = expect.unreachable()] = await pool`
      select held, (select count(*)::int from orders where sale_id = ${sale} and status = 'reserved') as live
      from products where sale_id = ${sale}`
    expect([held, live]).toEqual([3, 3])
  })
})
