/** Whoever polls the feed sees each change once, in order of commit, however the transactions overlap. */
import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, reservationOf, useOwnOrigin } from '../../test/origin-process.ts'
import { useDatabase, useRedis } from '../../test/servers.ts'
import { connect } from '../ledger/connection.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'

// Its own: another file's changes would come between two that must be put in order.
const [database, redis] = [useDatabase(), useRedis()]
const origin = useOwnOrigin(() => ({ databaseUrl: database.url, redisUrl: redis.url }))

interface Change {
  readonly cursor: string
  readonly type: string
  readonly timestamp: string
  readonly data: { readonly order_id: string; readonly status: string; readonly sale: string }
}

async function page(query: Record<string, string>): Promise<{ changes: Change[]; next: string }> {
  const { status, body } = await origin.admin('GET', `/orders?${new URLSearchParams(query)}`)
  expect(status).toBe(200)
  return body as unknown as { changes: Change[]; next: string }
}

/** The cursor after all that is there now, of whichever sale. */
async function end(): Promise<string> {
  for (let after = ''; ; ) {
    const { next } = await page({ limit: '1000', ...(after !== '' && { after }) })
    if (next === after) return after
    after = next
  }
}

/** From a cursor, until it is over and nothing more comes for a while; for half a minute at most. */
async function poll(
  { limit = '7', after, ...query }: Record<string, string> & { after: string },
  isOver: (seen: readonly Change[]) => boolean,
): Promise<Change[]> {
  const seen: Change[] = []
  const until = Date.now() + 30_000
  for (let quiet = 0; quiet < 20 && Date.now() < until; ) {
    const { changes, next } = await page({ limit, after, ...query })
    seen.push(...changes)
    if (after === next && isOver(seen)) quiet++
    else quiet = 0
    if (after === next) await sleep(20)
    after = next
  }
  return seen
}

test('a reader who polls while many write sees each change once, in the order of each order', async () => {
  const after = await end()
  const sale = await origin.sale({ total: 1_000, limit_per_visitor: 1 })
  const sql = connect(database.url, 20)
  const [WRITERS, ORDERS] = [8, 12]
  // What is committed is shown once no transaction that began earlier runs, of whichever test.
  const reading = poll({ sale, after }, (seen) => seen.length >= WRITERS * ORDERS * 3)
  const steps: Record<string, string[]> = {}
  const writer = async () => {
    for (let i = 0; i < ORDERS / 3; i++) {
      const batch = Array.from({ length: 3 }, () => ({
        ...reservationOf(sale),
        visitor: randomUUID(),
        key: randomUUID(),
      }))
      await record(sql, sale, batch, false)
      for (const { order } of batch) steps[order] = ['order.reserved']
      for (const { order } of batch) {
        // Numbered first, and committed later than others that begin after it.
        await sql.begin(async (tx) => {
          await tx`select pg_current_xact_id()`
          await sleep(Math.random() * 30)
          await moveOrders(tx, [order], { from: ['reserved'], to: 'paying' })
          await sleep(Math.random() * 30)
        })
        await moveOrders(sql, [order], { from: ['paying'], to: 'confirmed' })
        steps[order]?.push('order.paying', 'order.confirmed')
      }
    }
  }
  await Promise.all(Array.from({ length: WRITERS }, writer))
  const seen = await reading
  await sql.end({ timeout: 1 })
  const got = Map.groupBy(seen, ({ data }) => data.order_id)
  expect(Object.fromEntries([...got].map(([order, its]) => [order, its.map(({ type }) => type)]))).toEqual(steps)
  expect(new Set(seen.map(({ cursor }) => cursor)).size).toBe(seen.length)
  // From any change on, the rest comes.
  const middle = seen[Math.floor(seen.length / 2)]
  const rest = await poll({ sale, after: middle?.cursor ?? '', limit: '1000' }, () => true)
  expect(rest).toEqual(seen.slice(Math.floor(seen.length / 2) + 1))
})

test('transactions that take an order in the order in which they were not numbered are told in the order in which they did', async () => {
  const after = await end()
  const sale = await origin.sale()
  const { body } = await origin.checkout(sale)
  const order = String(body.order_id)
  const [reserved] = await poll({ sale, after }, (seen) => seen.length === 1)
  const next = reserved?.cursor ?? ''
  const sql = connect(database.url, 2)
  const { promise: isNumbered, resolve: numbered } = Promise.withResolvers<void>()
  const { promise: mayGoOn, resolve: goOn } = Promise.withResolvers<void>()
  const first = sql.begin(async (tx) => {
    await tx`select pg_current_xact_id()`
    numbered()
    await mayGoOn
    await moveOrders(tx, [order], { from: ['paying'], to: 'confirmed' })
  })
  await isNumbered
  await moveOrders(sql, [order], { from: ['reserved'], to: 'paying' })
  expect((await page({ after: next, sale })).changes).toEqual([])
  goOn()
  await first
  await sql.end({ timeout: 1 })
  // Also where a page ends between the two.
  const changes = await poll({ after: next, sale, limit: '1' }, (seen) => seen.length >= 2)
  expect(changes.map(({ type, data }) => [type, data.status])).toEqual([
    ['order.paying', 'paying'],
    ['order.confirmed', 'confirmed'],
  ])
})

test('is NDJSON where it is asked for, and refuses what is no cursor', async () => {
  const after = await end()
  const sale = await origin.sale()
  await origin.checkout(sale)
  await expect.poll(async () => (await page({ sale, after })).changes.length).toBe(1)
  const { status, headers, body } = await origin.call('GET', `/admin/orders?sale=${sale}&after=${after}`, {
    token: ADMIN_TOKEN,
    headers: { accept: 'application/x-ndjson' },
  })
  expect(status).toBe(200)
  const { changes, next } = await page({ sale, after })
  expect(headers.get('next-cursor')).toBe(next)
  expect(JSON.parse(String(body.text))).toEqual(changes[0])
  for (const wrong of ['after=x', 'limit=0', 'limit=1001', 'sale=%00'])
    expect(await origin.admin('GET', `/orders?${wrong}`)).toMatchObject({ status: 422 })
})
