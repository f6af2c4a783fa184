/** Every client that polls the feed sees each change once, in order of commit, however the transactions overlap. */
import { randomUUID } from 'node:crypto'
import { setImmediate } from 'node:timers/promises'
import { Hono } from 'hono'
import type { TransactionSql } from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import type { ProblemError } from '../../shared/problem.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { sendProblem } from '../lib/http/request.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { feed } from './change-feed.ts'

// This file has its own ledger, because changes of another file would come between two that must be put in order.
const sql = await useLedger(20)
const app = new Hono().get('/orders', (c) => feed(sql, c))
app.onError((error) => sendProblem((error as ProblemError).problem))

interface Change extends Readonly<Record<'cursor' | 'type' | 'timestamp', string>> {
  readonly data: Readonly<Record<'order_id' | 'status' | 'sale', string>>
}
interface Page {
  readonly changes: Change[]
  readonly next: string
}

const ask = async (query: Record<string, string>, headers = {}) =>
  app.request(`/orders?${new URLSearchParams(query)}`, { headers })

async function page(query: Record<string, string>): Promise<Page> {
  const response = await ask(query)
  expect(response.status).toBe(200)
  return (await response.json()) as Page
}

/** Polls from a cursor until `isOver` holds and the feed has nothing more. */
async function poll(
  { limit = '7', after, ...query }: Record<string, string> & { after: string },
  isOver: (seen: readonly Change[]) => boolean,
): Promise<Change[]> {
  const seen: Change[] = []
  for (let place = after, isLast = false; !isLast; ) {
    const { changes, next } = await page({ limit, ...(place && { after: place }), ...query })
    seen.push(...changes)
    isLast = next === place && isOver(seen)
    place = next
  }
  return seen
}

async function newSale(): Promise<string> {
  const sale = randomUUID()
  await writeSale(sql, sale, saleOf(1_000))
  return sale
}
const reservations = (sale: string, count: number) =>
  Array.from({ length: count }, () => ({ ...reservationOf(sale), visitor: randomUUID() }))
/** Lets other transactions begin and commit meanwhile. */
const yieldToOthers = async () => {
  for (let turns = Math.floor(Math.random() * 20); turns > 0; turns--) await setImmediate()
}

test('a reader who polls while many write sees each change once, in the order of each order', async () => {
  const sale = await newSale()
  const [WRITERS, BATCHES, BATCH] = [8, 3, 3]
  // What is committed is shown once no transaction that began earlier runs, of whichever test.
  const reading = poll({ sale, after: '' }, (seen) => seen.length >= WRITERS * BATCHES * BATCH * 3)
  const steps: Record<string, string[]> = {}
  const writer = async () => {
    for (let i = 0; i < BATCHES; i++) {
      const batch = reservations(sale, BATCH)
      await record(sql, sale, batch, false)
      for (const { order } of batch) {
        // Numbered first, and committed later than others that begin after it.
        await sql.begin(async (tx) => {
          await tx`select pg_current_xact_id()`
          await yieldToOthers()
          await moveOrders(tx, [order], { from: ['reserved'], to: 'paying' })
          await yieldToOthers()
        })
        await moveOrders(sql, [order], { from: ['paying'], to: 'confirmed' })
        steps[order] = ['order.reserved', 'order.paying', 'order.confirmed']
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  const seen = await reading
  const got = Map.groupBy(seen, ({ data }) => data.order_id)
  const types = (changes: readonly Change[]) => changes.map(({ type }) => type)
  expect(Object.fromEntries([...got].map(([order, changes]) => [order, types(changes)]))).toEqual(steps)
  expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(seen.length)
  // A client that starts at any change reads all later ones.
  const middle = Math.floor(seen.length / 2)
  const rest = await poll({ sale, after: seen[middle]?.cursor ?? '', limit: '1000' }, () => true)
  expect(rest).toEqual(seen.slice(middle + 1))
})

/** Begins a transaction that has its id. The function that it returns does the work in it and commits. */
async function numbered(work: (tx: TransactionSql) => Promise<unknown>) {
  const { promise: isNumbered, resolve: began } = Promise.withResolvers<void>()
  const { promise: mayEnd, resolve: end } = Promise.withResolvers<void>()
  const ended = sql.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    began()
    await mayEnd
    await work(tx)
  })
  onTestFinished(() => end())
  await isNumbered
  return () => {
    end()
    return ended
  }
}

test('changes of one order come in the order in which they took it, not in that of their transactions', async () => {
  const sale = await newSale()
  const batch = reservations(sale, 1)
  const order = batch[0]?.order ?? ''
  await record(sql, sale, batch, false)
  const [reserved] = await poll({ sale, after: '' }, (seen) => seen.length === 1)
  const after = reserved?.cursor ?? ''
  const endFirst = await numbered((tx) => moveOrders(tx, [order], { from: ['paying'], to: 'confirmed' }))
  const endBetween = await numbered(async () => {})
  await moveOrders(sql, [order], { from: ['reserved'], to: 'paying' })
  expect((await page({ after, sale })).changes).toEqual([])
  await endFirst()
  // What runs between the two hides the change of the second, and so that of the first.
  expect((await page({ after, sale })).changes).toEqual([])
  await endBetween()
  const changes = await poll({ after, sale, limit: '1' }, (seen) => seen.length >= 2)
  expect(changes.map(({ type, data }) => [type, data.status])).toEqual([
    ['order.paying', 'paying'],
    ['order.confirmed', 'confirmed'],
  ])
})

test('is NDJSON where it is asked for, and refuses what is no cursor', async () => {
  const sale = await newSale()
  await record(sql, sale, reservations(sale, 1), false)
  await expect.poll(async () => (await page({ sale })).changes.length).toBe(1)
  const response = await ask({ sale }, { accept: 'application/x-ndjson' })
  expect(response.status).toBe(200)
  const { changes, next } = await page({ sale })
  expect(response.headers.get('next-cursor')).toBe(next)
  expect(await response.json()).toEqual(changes[0])
  for (const wrong of [{ after: 'x' }, { limit: '0' }, { limit: '1001' }, { sale: '\0' }])
    expect((await ask(wrong)).status).toBe(422)
})
