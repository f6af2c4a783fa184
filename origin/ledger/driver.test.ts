import { connect as connectTo, createServer } from 'node:net'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { freePort, LOOPBACK } from '../local/children.ts'
import type { Sql } from './ledger.ts'

const database = useDatabase()
/** One connection, so that what comes next gets the one that broke off. */
let sql: Sql
let other: Sql
beforeAll(async () => {
  const options = { max: 1, connect_timeout: 2, onnotice: () => {} }
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
const cut = (pid: number) => other`select pg_terminate_backend(${pid}, 2000)`

describe('when a connection breaks off', () => {
  test('in mid-statement, the next statement is answered on a new one', async () => {
    const pid = await pidOf(sql)
    const sleeping = expect(sql`select pg_sleep(10)`).rejects.toThrow()
    await cut(pid)
    await sleeping
    expect(await pidOf(sql)).not.toBe(pid)
  })

  test('in mid-transaction, the transaction fails and the next statement is answered on a new one', async () => {
    const { promise: pid, resolve } = Promise.withResolvers<number>()
    const transaction = expect(
      sql.begin(async (tx) => {
        resolve(await pidOf(tx))
        await tx`select pg_sleep(10)`
      }),
    ).rejects.toThrow()
    await cut(await pid)
    await transaction
    expect(await pidOf(sql)).not.toBe(await pid)
  })

  test('under a transaction that is busy elsewhere, that transaction writes nothing into the next one', async () => {
    const begun = Promise.withResolvers<number>()
    const goOn = Promise.withResolvers<void>()
    const written = Promise.withResolvers<PromiseSettledResult<unknown>[]>()
    const first = expect(
      sql.begin(async (tx) => {
        begun.resolve(await pidOf(tx))
        await goOn.promise
        written.resolve(await Promise.allSettled([tx`insert into notes values ('from the dead')`]))
      }),
    ).rejects.toThrow()
    await cut(await begun.promise)
    await first
    await sql.begin(async (tx) => {
      await tx`insert into notes values ('from the living')`
      goOn.resolve()
      expect(await written.promise).toMatchObject([{ status: 'rejected' }])
    })
    expect(await sql`select note from notes`).toEqual([{ note: 'from the living' }])
  })

  test('while it begins, the statement that wanted it fails and nothing else', async () => {
    const url = new URL(database.url)
    const port = Number(url.port)
    const way = createServer((client) => {
      const server = connectTo(port, LOOPBACK)
      for (const socket of [client, server]) socket.on('error', () => {})
      client.pipe(server).pipe(client)
      // Before its first statement the driver asks for the types of arrays.
      client.on('data', (sent) => {
        if (!sent.includes('typarray')) return
        client.destroy()
        server.destroy()
      })
    })
    url.port = String(await freePort())
    await new Promise<void>((resolve) => way.listen(Number(url.port), LOOPBACK, resolve))
    const through = postgres(url.href, { max: 1, connect_timeout: 2 })
    await expect(through`select 1`).rejects.toThrow('CONNECTION_CLOSED')
    await through.end({ timeout: 1 })
    way.close()
  })

  test('as soon as it is accepted, as by a proxy with nothing behind it, the statement fails', async () => {
    let calls = 0
    const way = createServer((client) => {
      calls++
      client.on('error', () => {}).end()
    })
    const port = await freePort()
    await new Promise<void>((resolve) => way.listen(port, LOOPBACK, resolve))
    const through = postgres(`postgres://somebody:secret@${LOOPBACK}:${port}/somewhere`, { max: 1 })
    await expect(through`select 1`).rejects.toThrow('CONNECTION_CLOSED')
    expect(calls).toBe(1)
    await through.end({ timeout: 1 })
    way.close()
  })
})
