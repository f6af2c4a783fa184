import { cpSync, readFileSync, writeFileSync } from 'node:fs'
import { connect as connectTo, createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { applyPatch, reversePatch } from 'diff'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from 'vitest'
import { freePort, LOOPBACK, temporaryFolder } from '../../dev/processes.ts'
import { useWay } from '../../test/flaky-proxy.ts'
import { useDatabase } from '../../test/servers.ts'
import { connect, type Sql } from './connection.ts'
import { changes, fileOf, mended } from './patch-driver.ts'

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

describe('a connection on which nothing comes', () => {
  const way = useWay(() => Number(new URL(database.url).port))
  let impatient: Sql
  beforeAll(() => {
    const options = { max: 1, connect_timeout: 2, response_timeout: 0.5, onnotice: () => {} }
    impatient = postgres(way.through(database.url), options) as Sql
  })
  afterAll(() => impatient.end({ timeout: 1 }))

  test('is given up, with all that was sent on it, and the next statement is answered on a new one', async () => {
    const pid = await pidOf(impatient)
    way.vanish()
    const lost = await Promise.allSettled(Array.from({ length: 3 }, () => impatient`select 1`))
    const closed = { status: 'rejected', reason: { code: 'CONNECTION_CLOSED' } }
    expect(lost).toMatchObject([closed, closed, closed])
    expect(await pidOf(impatient)).not.toBe(pid)
  })

  test('is given up in mid-transaction as well', async () => {
    const transaction = impatient.begin(async (tx) => {
      await tx`select 1`
      way.vanish()
      await tx`select 2`
    })
    await expect(transaction).rejects.toThrow('CONNECTION_CLOSED')
    expect(await impatient`select 3 as three`).toEqual([{ three: 3 }])
  })

  test('is kept where nothing is asked of it: idle, in a transaction, listening', async () => {
    const pid = await pidOf(impatient)
    await impatient.begin(async (tx) => {
      expect(await pidOf(tx)).toBe(pid)
      await sleep(700)
      expect(await pidOf(tx)).toBe(pid)
    })
    const heard = Promise.withResolvers<string>()
    let listened = 0
    await impatient.listen('news', heard.resolve, () => listened++)
    await sleep(700)
    await other`select pg_notify('news', 'good')`
    expect(await heard.promise).toBe('good')
    expect(listened).toBe(1)
    expect(await pidOf(impatient)).toBe(pid)
  })

  test('is kept while its reader takes its time, or this process stood still', async () => {
    const pid = await pidOf(impatient)
    let rows = 0
    for await (const some of impatient`select generate_series(1, 2)`.cursor(1)) {
      rows += some.length
      await sleep(700)
    }
    expect(rows).toBe(2)
    const asked = impatient`select pg_sleep(0.1)`.execute()
    await sleep(20)
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 800)
    await asked
    expect(await pidOf(impatient)).toBe(pid)
  })
})

test('a driver that an earlier patch has mended in part gets the rest, and one that is mended stays as it is', () => {
  for (const change of changes) {
    const source = readFileSync(fileOf(change), 'utf8')
    expect(mended(source, change)).toBe(source)
    for (const hunk of change.hunks) {
      const inPart = applyPatch(source, reversePatch({ ...change, hunks: [hunk] }))
      expect(inPart).not.toBe(false)
      expect(inPart).not.toBe(source)
      expect(mended(String(inPart), change)).toBe(source)
    }
  }
})

test('no ledger is connected to by a driver that is not mended', async () => {
  const { path, remove } = temporaryFolder('unmended')
  onTestFinished(() => {
    vi.doUnmock('postgres')
    remove()
  })
  cpSync(fileURLToPath(new URL('../', import.meta.resolve('postgres'))), path, { recursive: true })
  for (const change of changes) {
    const unmended = applyPatch(readFileSync(fileOf(change), 'utf8'), reversePatch(change))
    writeFileSync(join(path, change.oldFileName?.replace(/^a\//, '') ?? ''), String(unmended))
  }
  vi.resetModules()
  vi.doMock('postgres', () => import(pathToFileURL(join(path, 'src/index.js')).href))
  const asPublished = await import('./connection.ts')
  expect(() => asPublished.connect(database.url)).toThrow(/driver is not mended: run ".*patch-driver.ts"/)
  expect(() => connect(database.url)).not.toThrow()
})
