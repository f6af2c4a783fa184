/** Each reader of the log gets every event once, in order of commit. */
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import type { EventRow } from '../ledger/schema/events.ts'
import { readEvents } from './reader.ts'
import { watchEvents } from './watch.ts'

const sql = await useLedger()
const write = (type: string, on = sql) => on`insert into events (xid, type) values (event_xid(), ${type})`

beforeEach(async () => {
  await sql`truncate events, readers`
})

/**
 * An event becomes readable only when older transactions have ended, including those of other test files' databases
 * on this server.
 */
const isReadable = () =>
  expect
    .poll(() => sql`select from events where xid >= pg_snapshot_xmin(pg_current_snapshot())`, { interval: 10 })
    .toEqual([])

async function read(reader = 'one', limit?: number): Promise<string[]> {
  const types: string[] = []
  await readEvents(sql, reader, async (_, events) => types.push(...events.map(({ type }) => type)), limit)
  return types
}

test('reads page after page, and each reader reads all of them', async () => {
  for (const type of ['a', 'b', 'c']) await write(type)
  await isReadable()
  expect([await read('one', 2), await read('one', 2), await read('one', 2)]).toEqual([['a', 'b'], ['c'], []])
  expect(await read('two')).toEqual(['a', 'b', 'c'])
})

test('waits for an event whose transaction is older and not committed', async () => {
  const { promise: mayCommit, resolve: commit } = Promise.withResolvers<void>()
  const { promise: isWritten, resolve: written } = Promise.withResolvers<void>()
  const slow = sql.begin(async (tx) => {
    await tx`insert into events (xid, type) values (event_xid(), 'early')`
    written()
    await mayCommit
  })
  await isWritten
  await write('late')
  expect(await read()).toEqual([])
  commit()
  await slow
  await isReadable()
  expect(await read()).toEqual(['early', 'late'])
})

test('keeps its place if what was made of the events is rolled back', async () => {
  await write('a')
  await isReadable()
  const failing = readEvents(sql, 'one', async (tx) => {
    await tx`insert into events (xid, type) values (event_xid(), 'never')`
    throw new Error('the worker died')
  })
  await expect(failing).rejects.toThrow('the worker died')
  expect(await read()).toEqual(['a'])
})

test('leaves a reader to the worker that is busy with it', async () => {
  await write('a')
  await isReadable()
  let other: string[] | undefined
  await readEvents(sql, 'one', async () => {
    other = await read()
  })
  expect(other).toEqual([])
})

test('passes over what is not needed, whose batch stays in the ledger', async () => {
  const order = '018f0000-0000-7000-8000-000000000001'
  await sql`insert into events (xid, type, order_ids)
    select event_xid(), * from (
      values ('a', array[${order}::uuid]), ('b', array[${order}::uuid]), ('a', null)) e`
  await isReadable()
  const got: EventRow[] = []
  const needed = sql`e.type = 'b'`
  const handle = async (_: unknown, events: readonly EventRow[]) => got.push(...events)
  expect(await readEvents(sql, 'one', handle, 200, needed)).toBe(false)
  expect(got).toMatchObject([{ type: 'b', order_ids: [order] }])
  expect(await read()).toEqual([])
})

test('a reader that is far ahead of an empty log, as of another server, goes on', async () => {
  await sql`insert into events (xid, type) select event_xid(), 'early' from generate_series(1, 9)`
  await sql`insert into readers (reader, xid, seq) select 'one', '9000000000', max(seq) - 2 from events`
  await isReadable()
  expect(await read()).toEqual([])
  await watchEvents({ sql, metrics: createMetrics(), log: pino({ level: 'silent' }) })
  await write('late')
  // The reader starts again at its stored position, because the events before it belong to the old server.
  const types: string[] = []
  const reading = async () => {
    types.push(...(await read()))
    return types
  }
  await expect.poll(reading).toEqual(['early', 'early', 'late'])
})
