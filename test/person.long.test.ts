/**
 * A person asks what is kept of them, and to be forgotten. The drill plants one everywhere, exports them by one call,
 * deletes them by another, and then looks for their name and address in every store.
 */
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { eventually } from './lib/eventually.ts'
import { admin } from './lib/operator.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { signedIn } from './lib/shop-session.ts'
import { call, visitorsOf } from './lib/visitor.ts'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './run/patience.ts'
import { sharedPart } from './run/shared-part.ts'

const ACCOUNT = 'ada.drill.4711'
const EMAIL = 'ada.drill.4711@example.org'
const STREET = 'Lindenweg 4711'
const visitor = `user:${ACCOUNT}`
const TRACES = new RegExp([ACCOUNT, STREET].join('|').replaceAll('.', '\\.'))

/** The tables that have a text of the person. */
async function tablesWithTraces(sql: postgres.Sql): Promise<string[]> {
  const tables = await sql<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`
  const found: string[] = []
  for (const { name } of tables) {
    const [row] = await sql`select 1 from ${sql(name)} t where t::text ~ ${TRACES.source} limit 1`
    if (row) found.push(name)
  }
  return found.toSorted()
}

/** The keys of Redis that have a text of the person, in their name or their value. */
async function keysWithTraces(redis: Redis): Promise<string[]> {
  const found: string[] = []
  for await (const keys of redis.scanStream({ count: 1_000 }) as AsyncIterable<string[]>)
    for (const key of keys) {
      // The text of a list or hash is in its serialized value, unless it is compressed, which short ones are not.
      const value = await redis.dumpBuffer(key)
      if (TRACES.test(key) || (value !== null && TRACES.test(value.toString('latin1')))) found.push(key)
    }
  return found.toSorted()
}

test('a person is exported by one call and deleted by another, from every store', {
  timeout: 3 * TEST_WITHIN_MS,
}, async () => {
  const system = await sharedPart('system')
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  const redis = new Redis(system.redisUrl)
  onTestFinished(async () => {
    redis.disconnect()
    await sql.end({ timeout: 1 })
  })
  const sale = `person-${crypto.randomUUID().slice(0, 8)}`
  const delivery = { kind: 'address', countries: ['DE'] } as const
  const contact = { email: 'required', address: true, retention_days: 30 } as const
  await createSale(system, sale, { ...saleOf(10), contact, delivery, access: { sign_in: 'required' } } as never)

  // Planted: a place in line, an order with its address and mails, a note, a search, a block.
  const headers = await signedIn(ACCOUNT)
  const visitors = visitorsOf(system.edgeUrl, sale)
  const joined = await eventually(
    () => visitors.join({ headers }),
    ({ status }) => status === 201,
  )
  const { admission_token } = await visitors.called(joined.body, headers)
  const address = { name: 'Ada', street: STREET, postcode: '10115', city: 'Berlin', country: 'DE' }
  const body = { contact: { email: EMAIL }, delivery: address, payment_method: 'pm_ok' }
  const bought = await visitors.checkout(admission_token, body, headers)
  expect(bought, JSON.stringify(bought.body)).toMatchObject({ status: 201 })
  const order = bought.body.order_id
  await expect
    .poll(() => sql`select status from orders where order_id = ${order}`)
    .toMatchObject([{ status: 'confirmed' }])
  await admin(system, 'POST', `/orders/${order}/notes`, { text: `${ACCOUNT} called` })
  const searched = await call('POST', `${system.edgeUrl}/me/searches`, { headers, body: { q: `gift for ${ACCOUNT}` } })
  expect(searched.status).toBe(200)
  const { block } = await admin<{ block: number }>(system, 'POST', '/blocks', { account: ACCOUNT, note: '' })

  const kept = await admin<{ ledger: Record<string, object[]>; redis: object[]; places: object[] }>(
    system,
    'GET',
    `/visitors/${encodeURIComponent(visitor)}`,
  )
  expect(kept).toMatchObject({
    visitor,
    ledger: {
      orders: [{ order_id: order }],
      contacts: [{ email: EMAIL, delivery: { street: STREET } }],
      order_notes: [{ text: `${ACCOUNT} called` }],
      recent_searches: [{ q: `gift for ${ACCOUNT}` }],
      blocks: [{ account: ACCOUNT }],
    },
    redis: [{ sale, units: 1 }],
    places: [{ sale, line: 'public', number: joined.body.number }],
  })
  // Whatever else names the person is the copy that finds orders, which follows them.
  const exported = Object.entries(kept.ledger).flatMap(([name, rows]) => (rows.length > 0 ? [name] : []))
  expect(await tablesWithTraces(sql)).toEqual([...exported, 'order_texts', 'search_words'].toSorted())
  expect(await keysWithTraces(redis)).toEqual([`{${sale}}:keys`, `{${sale}}:visitors`])

  // The sale is over for a day, and the operator has lifted the block.
  await admin(system, 'DELETE', `/blocks/${block}`)
  await admin(system, 'POST', `/sales/${sale}/end`)
  await sql`update sales set ended_at = now() - interval '2 days' where sale_id = ${sale}`
  // A worker looks for such sales now and then.
  const isOver = async () => (await sql`select long_over from sales where sale_id = ${sale}`)[0]?.long_over === true
  expect(await eventually(isOver, Boolean, 4 * POLL_WITHIN_MS)).toBe(true)
  const forgotten = await admin(system, 'DELETE', `/visitors/${encodeURIComponent(visitor)}`)
  expect(forgotten).toMatchObject({ contacts: 1, notes: 1, orders: 1, orders_later: 0, sales_unreached: 0 })

  await expect.poll(() => tablesWithTraces(sql)).toEqual([])
  await expect.poll(() => keysWithTraces(redis)).toEqual([])
  const after = await admin<typeof kept>(system, 'GET', `/visitors/${encodeURIComponent(visitor)}`)
  expect([Object.values(after.ledger).flat(), after.redis, after.places]).toEqual([[], [], []])
})
