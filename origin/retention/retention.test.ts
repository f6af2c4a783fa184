/** Data past their retention are deleted or made anonymous, and the data that a sale in use needs stay. */
import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { Images } from '../images/images.ts'
import { moveOrders } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Retention } from './retention.ts'
import { forgetVisitor } from './retention-queries.ts'

const sql = await useLedger()
const config = {
  RETENTION_ORDERS_DAYS: 400,
  RETENTION_EVENTS_DAYS: 400,
  RETENTION_PICTURES_DAYS: 30,
  RETENTION_FINDINGS_DAYS: 400,
  RETENTION_DELIVERIES_DAYS: 30,
  RETENTION_AUDIT_DAYS: 3650,
}
const metrics = createMetrics()
const files = new Map<string, Uint8Array>()
const images = new Images(
  {
    put: async (name, bytes) => void files.set(name, bytes),
    get: async (name) => files.get(name) ?? null,
    delete: async (name) => void files.delete(name),
  },
  sql,
)

/** Runs one complete pass, as happens each hour. */
async function pass() {
  const retention = new Retention({ config, sql, images, metrics }, 0)
  while (await retention.round());
}

/** Creates a sale that ended this many days ago; null means that it is in use. */
async function sale(endedDaysAgo: number | null, retention_days = 30) {
  const name = randomUUID()
  const contact = { email: 'optional', address: false, retention_days } as const
  await writeSale(sql, name, saleOf(1_000, { contact, limit_per_visitor: 9 }))
  return { name, end: () => end(name, endedDaysAgo) }
}

const end = async (name: string, daysAgo: number | null) =>
  daysAgo !== null &&
  (await sql`update sales set ended_at = now() - ${daysAgo} * interval '1 day' where sale_id = ${name}`)

async function order(name: string, visitor: string, { sold = true } = {}) {
  const contact = { email: `${visitor}@example.com`, address: null, language: 'en' }
  const r = { ...reservationOf(name), order: randomUUID(), key: randomUUID(), visitor, contact }
  expect(await record(sql, name, [r], false)).toMatchObject([{ verdict: 'recorded' }])
  if (sold) {
    await moveOrders(sql, [r.order], { from: ['reserved'], to: 'confirmed' })
    await sql`update orders set charge_id = ${`ch_${r.order}`}, payment_method = 'pm_ok',
      card = '{"brand":"Visa","last4":"4242"}' where order_id = ${r.order}`
  }
  await sql`insert into jobs (queue, lane, data) values ('mail', ${r.order}, '{}')`
  await sql`insert into order_notes (order_id, operator, text) values (${r.order}, 'eve', ${`called ${visitor}`})`
  await sql`insert into invitations (sale_id, code_hash, uses) values (${name}, 'h', 9) on conflict do nothing`
  await sql`insert into invited_visitors (sale_id, code_hash, visitor)
    values (${name}, 'h', ${visitor}) on conflict do nothing`
  return r.order
}

const row = async (id: string) =>
  (
    await sql`
    select visitor, idempotency_key, request_hash, payment_method, card, charge_id, status
    from orders where order_id = ${id}`
  )[0]
const many = async (table: string, id: string) =>
  (await sql<{ n: number }[]>`select count(*)::int as n from ${sql(table)} where order_id = ${id}`)[0]?.n
const mails = async (id: string) => (await sql`select from jobs where queue = 'mail' and lane = ${id}`).length

beforeEach(async () => {
  await sql`truncate sales, products, orders, contacts, jobs, events, findings, webhook_endpoints, audit_log,
    order_notes,
    invitations, invited_visitors, forgotten_visitors, sale_minutes, sale_sources, posts, pictures cascade`
})

test("deletes contacts and their mails after the sale's days, wherever its end has moved", async () => {
  const [over, fresh, endless] = [await sale(31), await sale(29), await sale(null)]
  const [expired, retained] = [await order(over.name, 'ann'), await order(fresh.name, 'ann')]
  const [old, running] = [await order(endless.name, 'bob'), await order(endless.name, 'ann')]
  await sql`update contacts set delete_after = now() - interval '1 hour' where order_id in (${old}, ${retained})`
  for (const one of [over, fresh, endless]) await one.end()
  await pass()
  for (const [id, left] of Object.entries({ [expired]: 0, [retained]: 1, [old]: 0, [running]: 1 }))
    expect([await many('contacts', id), await mails(id)]).toEqual([left, left])
})

test('makes orders anonymous in time, and keeps what was paid', async () => {
  const [over, fresh] = [await sale(401), await sale(399)]
  const ids = await Promise.all(Array.from({ length: 3 }, () => order(over.name, 'ann')))
  // The names sort before and after the name that anonymous visitors get.
  ids.push(await order(over.name, 'zoe'))
  const retained = await order(fresh.name, 'ann')
  for (const one of [over, fresh]) await one.end()
  await pass()
  for (const id of ids) {
    const anonymous = { visitor: 'forgotten', idempotency_key: id, request_hash: '', payment_method: null, card: null }
    expect(await row(id)).toEqual({ ...anonymous, charge_id: `ch_${id}`, status: 'confirmed' })
    expect(await many('order_notes', id)).toBe(0)
  }
  expect(await row(retained)).toMatchObject({ visitor: 'ann', payment_method: 'pm_ok' })
  expect(await sql`select sale_id from invited_visitors`).toEqual([{ sale_id: fresh.name }])
})

test('leaves a sale alone whose units are held', async () => {
  const stuck = await sale(500)
  const id = await order(stuck.name, 'ann', { sold: false })
  await stuck.end()
  await pass()
  expect(await row(id)).toMatchObject({ visitor: 'ann' })
  expect(await many('contacts', id)).toBe(1)
})

test('ends events, closed findings, deliveries, dead jobs and the audit log in time', async () => {
  await sql`insert into events (xid, type, at) select event_xid(), 'sale.opened', now() - days * interval '1 day'
    from unnest(array[401, 399]) days`
  await sql`insert into findings (sale_id, product_id, kind, subject, closed_at) select '', '', 'drift', days::text,
    now() - days * interval '1 day'
    from unnest(array[401, 399]) days`
  await sql`insert into findings (sale_id, product_id, kind, subject, first_seen_at)
    values ('', '', 'drift', 'open', now() - interval '999 days')`
  const endpoint = randomUUID()
  await sql`insert into webhook_endpoints (endpoint_id, url, events, sealed_secrets) values (${endpoint}, 'https://shop.example', '{}', '[]')`
  await sql`insert into jobs (queue, group_id, data, state, created_at, finished_at)
    select queue, case queue when 'webhook' then
      ${endpoint} else '' end, to_jsonb(days), state, now() - days * interval '1 day',
      now() - days * interval '1 day'
    from (values ('webhook', 31, 'done'), ('webhook', 31, 'pending'), ('webhook', 29, 'dead'), ('capture', 31, 'dead'),
      ('capture', 29, 'dead')) as d (queue, days, state)`
  await sql`insert into audit_log (actor, action, sale_id, at) select 'eve', days::text, '',
    now() - days * interval '1 day' from unnest(array[3651, 3649]) days`
  await pass()
  expect(await sql`select 1 from events`).toHaveLength(1)
  expect((await sql`select subject from findings order by subject`).map(({ subject }) => subject)).toEqual([
    '399',
    'open',
  ])
  expect(await sql`select queue, data as days, state from jobs order by job_id`).toEqual([
    { queue: 'webhook', days: 31, state: 'pending' },
    { queue: 'webhook', days: 29, state: 'dead' },
    { queue: 'capture', days: 29, state: 'dead' },
  ])
  expect((await sql`select action from audit_log`).map(({ action }) => action)).toEqual(['3649'])
})

test('ends minutes, sources and posts of a sale in time, counted from its end', async () => {
  const sales = [await sale(401), await sale(399), await sale(null)]
  for (const { name, end } of sales) {
    await sql`insert into sale_minutes (sale_id, minute, counts, gauges)
      values (${name}, now() - interval '500 days', '{}', '{}')`
    await sql`insert into sale_sources (sale_id, source) values (${name}, 'ads')`
    await sql`insert into posts (sale_id, n, text, operator) values (${name}, 1, '{}', 'eve')`
    await end()
  }
  await pass()
  const later = sales.slice(1).map(({ name }) => name)
  for (const table of ['sale_minutes', 'sale_sources', 'posts']) {
    const rows = await sql`select sale_id from ${sql(table)}`
    expect(rows.map(({ sale_id }) => sale_id).sort()).toEqual(later.sort())
  }
})

test('deletes pictures that nothing names, a while after they were used last', async () => {
  const { name } = await sale(null)
  const hashOf = (letter: string) => letter.repeat(32)
  const urlOf = (letter: string) => `/images/${hashOf(letter)}`
  // The pictures are on a product, in a post, used recently, named again just before, and unused.
  const days = { a: 99, b: 99, c: 29, d: 99, e: 31 }
  for (const [letter, ago] of Object.entries(days)) {
    await sql`insert into pictures values (${hashOf(letter)}, now() - ${ago} * interval '1 day')`
    for (const file of ['200.jpg', '200.webp']) files.set(`${hashOf(letter)}/${file}`, new Uint8Array())
    files.set(`${hashOf(letter)}/size.json`, Buffer.from(JSON.stringify({ width: 200, height: 9, widths: [200] })))
  }
  const products = { one: { images: [{ url: urlOf('a'), alt: '' }] } }
  await sql`insert into goods (sale_id, products) values (${name}, ${sql.json(products)})`
  const image = sql.json({ url: urlOf('b'), alt: '' })
  await sql`insert into posts (sale_id, n, text, image, operator) values (${name}, 1, '{}', ${image}, 'eve')`
  expect(await images.use(urlOf('d'))).toMatchObject({ width: 200 })
  await pass()
  const left = new Set([...files.keys()].map((file) => file.charAt(0)))
  expect(left).toEqual(new Set(['a', 'b', 'c', 'd']))
  expect(await images.use(urlOf('e'))).toBeNull()
})

test('ends the runs of scheduled actions in time', async () => {
  const { name } = await sale(null)
  const [action_id, operator] = [randomUUID(), 'eve']
  await sql`insert into scheduled_actions
    ${sql({ action_id, sale_id: name, effect: { action: 'resume' }, operator } as never)}`
  for (const days of [401, 399])
    await sql`insert into scheduled_runs (action_id, due_at, late)
      values (${action_id}, now() - ${days} * interval '1 day', false)`
  await pass()
  expect(await sql`select from scheduled_runs where action_id = ${action_id}`).toHaveLength(1)
})

test('goes through more than a batch, and leaves the rest to who is at it', async () => {
  await sql`insert into events (xid, type, at) select event_xid(), 'sale.opened', now() - interval '500 days'
    from generate_series(1, 1200)`
  await sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(hashtext('retention'))`
    await pass()
  })
  expect(await sql`select 1 from events`).toHaveLength(1200)
  await pass()
  expect(await sql`select 1 from events`).toHaveLength(0)
  expect(await metrics.registry.metrics()).toMatch(/retention_rows_total\{kind="events"\} 120\d/)
})

test('forgets a visitor at once, and in a running sale when it is over', async () => {
  const [over, running] = [await sale(2), await sale(null)]
  const past = await order(over.name, 'ann')
  const [present, other] = [await order(running.name, 'ann'), await order(running.name, 'bob')]
  await over.end()
  expect(await forgetVisitor(sql, 'ann', 'eve')).toEqual({ contacts: 2, notes: 2, orders: 1, orders_later: 1 })
  expect(await row(past)).toMatchObject({ visitor: 'forgotten' })
  expect(await row(present)).toMatchObject({ visitor: 'ann' })
  const contacts = await Promise.all([past, present, other].map((id) => many('contacts', id)))
  expect(contacts).toEqual([0, 0, 1])
  expect([await mails(present), await many('order_notes', present)]).toEqual([0, 0])
  const entries = await sql`select actor, action, after from audit_log where action = 'visitor_forgotten'`
  expect(entries).toMatchObject([{ actor: 'eve', action: 'visitor_forgotten', after: { orders_later: 1 } }])
  expect(JSON.stringify(entries)).not.toContain('ann')

  await pass()
  expect(await row(present)).toMatchObject({ visitor: 'ann' })
  await end(running.name, 2)
  await pass()
  expect(await row(present)).toMatchObject({ visitor: 'forgotten' })
  expect(await row(other)).toMatchObject({ visitor: 'bob' })
  expect(await sql`select visitor from invited_visitors`).toEqual([{ visitor: 'bob' }])
  expect(await sql`select 1 from forgotten_visitors`).toHaveLength(0)
})
