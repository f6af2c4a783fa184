/**
 * A person asks what is kept of them, and to be forgotten. The drill plants one everywhere, exports them by one call,
 * deletes them by another, and then looks for their name and address in every store.
 */
import { Redis } from 'ioredis'
import postgres from 'postgres'
import { expect, onTestFinished, test } from 'vitest'
import { startDemoShop } from '../dev/servers/demo-shop.ts'
import { startSystem } from '../dev/system.ts'
import { eventually } from './lib/eventually.ts'
import { admin } from './lib/operator.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { ledgerDatabase } from './lib/servers.ts'
import { signedIn } from './lib/shop-session.ts'
import { call, visitorsOf } from './lib/visitor.ts'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from './run/patience.ts'
import { startSmtp } from './stand-ins/smtp.ts'

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
  const [shop, smtp] = [await startDemoShop(), await startSmtp()]
  const system = await startSystem({
    databaseUrl: (await ledgerDatabase()).url,
    originEnv: { SMTP_URL: `smtp://127.0.0.1:${smtp.port}`, MAIL_FROM: 'orders@shop.example' },
    edgeVars: shop.vars,
  })
  const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
  const redis = new Redis(system.redisUrl)
  onTestFinished(async () => {
    redis.disconnect()
    await sql.end({ timeout: 1 })
    await system.stop()
    await Promise.all([shop.stop(), smtp.stop()])
  })
  const sale = `person-${crypto.randomUUID().slice(0, 8)}`
  const delivery = { kind: 'address', countries: ['DE'] } as const
  const contact = { email: 'required', address: true, retention_days: 30 } as const
  await createSale(system, sale, { ...saleOf(10), contact, delivery, access: { sign_in: 'required' } } as never)

  // Planted: a view, a place in line and a wish for mails about it, an order with its address and its mail, a note, a
  // search, a block.
  const headers = await signedIn(ACCOUNT, {}, shop.signInUrl)
  const view = { view: 'v'.repeat(22), page: 'sale', seen_seconds: 0 }
  const seen = {
    method: 'POST',
    body: JSON.stringify(view),
    headers: { ...headers, 'user-agent': `Phone of ${ACCOUNT}` },
  }
  expect((await fetch(`${system.edgeUrl}/sales/${sale}/views`, seen)).status).toBe(202)
  const visitors = visitorsOf(system.edgeUrl, sale)
  const joined = await eventually(
    () => visitors.join({ headers }),
    ({ status }) => status === 201,
  )
  const asked = await fetch(visitors.at('/mail'), {
    method: 'POST',
    headers: { ...headers, authorization: `Bearer ${joined.body.queue_token}` },
    body: new URLSearchParams({ email: EMAIL }),
    redirect: 'manual',
  })
  expect(asked.status).toBe(303)
  const { admission_token } = await visitors.called(joined.body, headers)
  const address = { name: 'Ada', street: STREET, postcode: '10115', city: 'Berlin', country: 'DE' }
  const body = { contact: { email: EMAIL }, delivery: address, payment_method: 'pm_ok' }
  const bought = await visitors.checkout(admission_token, body, headers)
  expect(bought, JSON.stringify(bought.body)).toMatchObject({ status: 201 })
  const order = bought.body.order_id
  await expect
    .poll(() => sql`select status from orders where order_id = ${order}`)
    .toMatchObject([{ status: 'confirmed' }])
  await expect.poll(() => smtp.mails.map(({ to }) => to)).toContainEqual([EMAIL])
  const mailed = () => sql`select state from jobs where queue = 'mail' and lane = ${String(order)}`
  await expect.poll(mailed).toMatchObject([{ state: 'done' }])
  await expect.poll(() => sql`select page from view_log where view = ${view.view}`).toMatchObject([{ page: 'sale' }])
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
      messages: [{ state: 'done', data: { order } }],
      mail_asks: [{ email: EMAIL, visitor, number: joined.body.number }],
      order_notes: [{ text: `${ACCOUNT} called` }],
      recent_searches: [{ q: `gift for ${ACCOUNT}` }],
      blocks: [{ account: ACCOUNT }],
    },
    redis: [{ sale, units: 1 }],
    places: [{ sale, line: 'public', number: joined.body.number }],
  })
  // A message names its order alone, and a view nobody. Whatever else names the person is the copy that finds orders.
  const exported = Object.entries(kept.ledger).flatMap(([name, rows]) =>
    rows.length > 0 && name !== 'messages' ? [name] : [],
  )
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
  expect(await mailed()).toEqual([])
  await expect.poll(() => keysWithTraces(redis)).toEqual([])
  const after = await admin<typeof kept>(system, 'GET', `/visitors/${encodeURIComponent(visitor)}`)
  expect([Object.values(after.ledger).flat(), after.redis, after.places]).toEqual([[], [], []])
})
