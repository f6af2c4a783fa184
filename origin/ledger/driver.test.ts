/** What the driver does about broken and silent connections, which the published one does not (vendor/postgres). */
import { once } from 'node:events'
import { type AddressInfo, connect as connectTo, createServer, type Socket } from 'node:net'
import { setTimeout as nextTimer, setImmediate } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { untilLocked, useDatabase } from '../../test/lib/servers.ts'
import type { Sql } from './connection.ts'

const database = useDatabase()
/** One connection, so that the next statement gets the broken one. */
let sql: Sql
let other: Sql
beforeAll(async () => {
  const options = { max: 1, connect_timeout: 20, onnotice: () => {} }
  sql = postgres(database.url, options) as Sql
  other = postgres(database.url, options) as Sql
  await sql`create table notes (note text)`
})
afterAll(async () => {
  await Promise.all([sql.end({ timeout: 1 }), other.end({ timeout: 1 })])
})

const pidOf = async (queryable: postgres.Sql | postgres.TransactionSql): Promise<number> => {
  const [row] = await queryable`select pg_backend_pid() as pid`
  return row?.pid
}
const terminate = (pid: number) => other`select pg_terminate_backend(${pid}, 2000)`

/** A server on a free port until the test ends. */
async function listenOnce(onClient: (client: Socket) => void): Promise<number> {
  const server = createServer((client) => onClient(client.on('error', () => {})))
  onTestFinished(() => void server.close())
  await once(server.listen(0, LOOPBACK), 'listening')
  return (server.address() as AddressInfo).port
}

test('a statement waits for a free connection, and not behind one that is blocked', async () => {
  const pool = postgres(database.url, { max: 2, onnotice: () => {} })
  onTestFinished(() => pool.end({ timeout: 1 }))
  await sql`insert into notes values ('locked')`
  await Promise.all([pool`select 1`, pool`select 1`])
  const ended = vi.fn()
  await sql
    .begin(async (tx) => {
      await tx`select from notes where note = 'locked' for update`
      const blocked = pool`update notes set note = 'free' where note = 'locked'`.then(ended)
      await untilLocked(other)
      // The pool is used up by the time that these come.
      const others = await Promise.all(Array.from({ length: 5 }, (_, n) => pool`select ${n}::int as n`))
      expect(others.map(([row]) => row?.n)).toEqual([0, 1, 2, 3, 4])
      expect(ended).not.toHaveBeenCalled()
      return { blocked }
    })
    .then(({ blocked }) => blocked)
  await sql`truncate notes`
})

describe('a broken connection', () => {
  test('during a statement: the next statement runs on a new one', async () => {
    const pid = await pidOf(sql)
    const sleeping = expect(sql`select pg_sleep(10)`).rejects.toThrow()
    await terminate(pid)
    await sleeping
    expect(await pidOf(sql)).not.toBe(pid)
  })

  test('during a transaction: it fails, and the next statement runs on a new one', async () => {
    const { promise: pid, resolve } = Promise.withResolvers<number>()
    const transaction = expect(
      sql.begin(async (tx) => {
        resolve(await pidOf(tx))
        await tx`select pg_sleep(10)`
      }),
    ).rejects.toThrow()
    await terminate(await pid)
    await transaction
    expect(await pidOf(sql)).not.toBe(await pid)
  })

  test('under a transaction that awaits something else: it writes nothing into the next transaction', async () => {
    const started = Promise.withResolvers<number>()
    const resume = Promise.withResolvers<void>()
    const results = Promise.withResolvers<PromiseSettledResult<unknown>[]>()
    const first = expect(
      sql.begin(async (tx) => {
        started.resolve(await pidOf(tx))
        await resume.promise
        results.resolve(await Promise.allSettled([tx`insert into notes values ('from the first')`]))
      }),
    ).rejects.toThrow()
    await terminate(await started.promise)
    await first
    await sql.begin(async (tx) => {
      await tx`insert into notes values ('from the second')`
      resume.resolve()
      expect(await results.promise).toMatchObject([{ status: 'rejected' }])
    })
    expect(await sql`select note from notes`).toEqual([{ note: 'from the second' }])
  })

  test('while it opens: only the statement that needed it fails', async () => {
    const url = new URL(database.url)
    const port = Number(url.port)
    const proxy = await listenOnce((client) => {
      const server = connectTo(port, LOOPBACK).on('error', () => {})
      client.pipe(server).pipe(client)
      // The driver queries the array types before its first statement.
      client.on('data', (sent) => {
        if (!sent.includes('typarray')) return
        client.destroy()
        server.destroy()
      })
    })
    url.port = String(proxy)
    const through = postgres(url.href, { max: 1, connect_timeout: 20 })
    await expect(through`select 1`).rejects.toThrow('CONNECTION_CLOSED')
    await through.end({ timeout: 1 })
  })

  test('on accept, as by a proxy without a server: the statement fails', async () => {
    let calls = 0
    const port = await listenOnce((client) => {
      calls++
      client.end()
    })
    const through = postgres(`postgres://somebody:secret@${LOOPBACK}:${port}/somewhere`, { max: 1 })
    await expect(through`select 1`).rejects.toThrow('CONNECTION_CLOSED')
    expect(calls).toBe(1)
    await through.end({ timeout: 1 })
  })
})

describe('a connection without a response', () => {
  const TIMEOUT_SECONDS = 60
  const way = useFlakyProxy(() => Number(new URL(database.url).port))
  const options = { max: 1, connect_timeout: 20, response_timeout: TIMEOUT_SECONDS, onnotice: () => {} }
  let withTimeout: Sql
  beforeAll(() => {
    // The clock runs on, and tests move it past the timeout.
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'], shouldAdvanceTime: true })
    withTimeout = postgres(way.through(database.url), options) as Sql
  })
  afterAll(async () => {
    await withTimeout.end({ timeout: 1 })
    vi.useRealTimers()
  })

  /** The time of a statement that has no response passes. */
  const pass = () => vi.advanceTimersByTime(2 * TIMEOUT_SECONDS * 1000)
  const whenSent = () => setImmediate()
  const closed = { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } }

  test('is closed, fails the statement sent on it, and those that wait run on a new connection', async () => {
    const pid = await pidOf(withTimeout)
    way.vanish()
    const results = Promise.allSettled(Array.from({ length: 3 }, () => withTimeout`select 1`))
    await whenSent()
    pass()
    expect(await results).toMatchObject([closed, { status: 'fulfilled' }, { status: 'fulfilled' }])
    expect(await pidOf(withTimeout)).not.toBe(pid)
  })

  test('is closed during a transaction as well', async () => {
    const transaction = withTimeout.begin(async (tx) => {
      await tx`select 1`
      way.vanish()
      const [lost] = await Promise.all([Promise.allSettled([tx`select 2`]), whenSent().then(pass)])
      return lost
    })
    expect(await Promise.allSettled([transaction])).toMatchObject([closed])
    expect(await withTimeout`select 3 as three`).toEqual([{ three: 3 }])
  })

  test('stays open if no statement waits: idle, in a transaction, listening, or during a slow cursor', async () => {
    const pid = await pidOf(withTimeout)
    pass()
    await withTimeout.begin(async (tx) => {
      expect(await pidOf(tx)).toBe(pid)
      pass()
      expect(await pidOf(tx)).toBe(pid)
    })
    const received = Promise.withResolvers<string>()
    let listened = 0
    await withTimeout.listen('test_channel', received.resolve, () => listened++)
    pass()
    await other`select pg_notify('test_channel', 'payload')`
    expect(await received.promise).toBe('payload')
    expect(listened).toBe(1)
    let rows = 0
    for await (const some of withTimeout`select generate_series(1, 2)`.cursor(1)) {
      rows += some.length
      pass()
    }
    expect(rows).toBe(2)
    expect(await pidOf(withTimeout)).toBe(pid)
  })

  test('stays open if this process was blocked, and its response waits to be read', async () => {
    // This connection bypasses the proxy, which runs in the blocked process too.
    const direct = postgres(database.url, options)
    const pid = await pidOf(direct)
    const pending = direct`select 1`.execute()
    // In the phase of the event loop in which timers fire.
    await nextTimer()
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1_000)
    pass()
    await pending
    expect(await pidOf(direct)).toBe(pid)
    await direct.end({ timeout: 1 })
  })
})
