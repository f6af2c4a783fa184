/**
 * Measures the console with five hundred sales and a hundred thousand orders: the median time counts in which
 * a real browser loads a page and paints its rows. Afterwards it names the slowest statement with its plan.
 */
import { randomUUID } from 'node:crypto'
import type { Page } from 'playwright-core'
import unbounded from 'postgres'
import { paint } from '../../../dev/lib/command.ts'
import { launchChromium } from '../../../dev/servers/chromium.ts'
import { startPostgres } from '../../../dev/servers/postgres.ts'
import { type System, startSystem } from '../../../dev/system.ts'
import type { Sql } from '../../../origin/ledger/connection.ts'
import { n } from '../../lib/figures.ts'
import { Histogram } from '../../lib/histogram.ts'
import { flat, nowMeasuring } from '../load.ts'
import { type Row, row, type Table } from '../rows.ts'
import type { Bench } from '../table.ts'

const SALES = 500
/** The sales that run, and those that are to come; the others are over. */
const [RUNNING, COMING] = [5, 45]
const ORDERS = 100_000
/** The first loads fill caches of the browser, the origin and Postgres, and do not count. */
const [WARM_UP, LOADS] = [3, 20]
const SHOWN_WITHIN_MS = 30_000
const AIM = { p50Ms: 300 }
const WITH_STATEMENTS = ['shared_preload_libraries=pg_stat_statements', 'pg_stat_statements.track=top']

export async function* consolePages(_bench: Bench): AsyncGenerator<Table> {
  const postgres = await startPostgres({ settings: WITH_STATEMENTS })
  const system = await startSystem({ databaseUrl: postgres.url, originEnv: { LOG_LEVEL: 'error' } })
  // An origin's own connection ends a statement after ten seconds.
  const sql = unbounded(postgres.url, { max: 1, onnotice: () => {} })
  const browser = await launchChromium()
  try {
    nowMeasuring(`  filling a ledger with ${n(SALES)} sales and ${n(ORDERS)} orders`)
    await sql`create extension pg_stat_statements`
    const [order = '', mail = ''] = await fill(sql)
    const page = await browser.newPage({ baseURL: system.originUrl, viewport: { width: 1_280, height: 800 } })
    await signIn(page, system)
    const rows: Row[] = []
    await sql`select pg_stat_statements_reset()`
    for (const [what, [path, shown]] of Object.entries(pagesOf(order, mail))) {
      nowMeasuring(`  ${what}`)
      rows.push(await loads(page, what, path, shown))
    }
    yield { title: `The console with ${n(SALES)} sales and ${n(ORDERS)} orders`, against: '', rows }
    await tellSlowest(sql)
  } finally {
    await browser.close()
    await sql.end({ timeout: 1 })
    await system.stop()
    await postgres.stop()
  }
}

/** The address of each page, and what is in it once all of it is shown. */
const pagesOf = (order: string, mail: string) =>
  ({
    'all sales': ['', '.cards .card, .fold tbody tr'],
    'all orders': ['/orders', '.orders tbody tr:nth-child(50)'],
    'orders of a status': ['/orders?status=refunded', '.orders tbody tr:nth-child(50)'],
    'orders of a sale': ['/orders?sale=sale-0', '.orders tbody tr:nth-child(50)'],
    'orders of a week': ['/orders?made=7d', '.orders tbody tr:nth-child(50)'],
    'orders found by a mail': [`/orders?q=${mail}`, '.orders tbody tr'],
    'an order': [`/orders/${order}`, '.story li'],
  }) as const satisfies Record<string, readonly [path: string, shown: string]>

async function loads(page: Page, what: string, path: string, shown: string): Promise<Row> {
  const histogram = new Histogram()
  for (let load = 0; load < WARM_UP + LOADS; load++) {
    await page.goto(`/console${path}`, { waitUntil: 'commit' })
    await page.waitForSelector(shown, { state: 'attached', timeout: SHOWN_WITHIN_MS })
    // The time since the browser asked for the page, at the frame after the last row.
    const ms = Number(
      await page.evaluate('new Promise((painted) => requestAnimationFrame(() => painted(performance.now())))'),
    )
    if (load >= WARM_UP) histogram.add(ms)
  }
  const ms = histogram.summary()
  return row(what, { ...flat(1000 / ms.p50), ms }, null, AIM)
}

async function signIn(page: Page, { adminToken }: System): Promise<void> {
  await page.goto('/console')
  await page.getByLabel('Your key').fill(adminToken)
  await page.keyboard.press('Enter')
  await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor({ timeout: SHOWN_WITHIN_MS })
}

// -- The ledger -----------------------------------------------------------------------------------------------------

const PIXEL = 'data:image/gif;base64,R0lGODlhAQABAAAAACwAAAAAAQABAAA='
/** The goods of a sale as most have them: a description, a few pictures and sizes. */
const GOODS = {
  unit: {
    description: {
      en: 'A light running shoe for long evenings. '.repeat(12),
      de: 'Ein leichter Laufschuh. '.repeat(12),
    },
    // A picture at another host would be refused or unreachable, and the page would draw it again without.
    images: Array.from({ length: 3 }, () => ({ url: PIXEL, alt: 'The shoe' })),
    tags: ['running', 'shoe'],
  },
}
const STATUSES = `(case when i % 100 = 7 then 'refunded' when i % 20 < 15 then 'confirmed'
  when i % 20 < 17 then 'fulfilled'
  when i % 20 < 19 then 'expired' else 'cancelled' end)`

/** Returns the id and the mail of an order. The orders were made within the last month, the newest last. */
async function fill(sql: Sql): Promise<readonly string[]> {
  await sql`
    insert into sales (sale_id, name, opens_at, ends_at, hold_seconds, limit_per_visitor, rate_per_second,
      oversell_policy)
    select 'sale-' || i, 'Friday drop ' || i,
      now() + case when i < ${RUNNING} then -interval '1 hour' when i < ${RUNNING + COMING} then i * interval '1 hour'
        else -interval '2 days' end,
      case when i >= ${RUNNING + COMING} then now() - interval '1 day' end, 90, 1, 10, 'alarm'
    from generate_series(0, ${SALES - 1}::int) i`
  await sql`
    insert into products (sale_id, product_id, place, name, unit_price_minor, currency, total)
    select sale_id, p, i, 'Runner ' || p, 18900, 'EUR', ${ORDERS} from sales,
      unnest(array['unit', 'other']) with ordinality as u(p, i)`
  await sql`insert into goods (sale_id, products) select sale_id, ${sql.json(GOODS)} from sales`
  const made = `now() - (${ORDERS} - i) * interval '26 seconds'`
  await sql.unsafe(`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
      currency, status, idempotency_key, request_hash, reserved_until, charge_id, payment_method, attempts, created_at)
    select (lpad(to_hex((extract(epoch from ${made}) * 1000)::bigint), 12, '0') || '7000'
      || '8' || substr(md5(i::text), 1, 15))::uuid,
      number, 'sale-' || case when i % 2 = 0 then i % ${RUNNING}
        else ${RUNNING + COMING} + i % ${SALES - RUNNING - COMING} end,
      case when i % 3 = 0 then 'other' else 'unit' end, md5(i::text), i, 1, 18900, 'EUR', ${STATUSES}, 'key', 'hash',
      ${made} + interval '90 seconds', case when i % 20 < 17 then 'ch_' || md5(i || 'c') end,
      case when i % 20 < 17 then 'pm_ok' end, 1, ${made}
    from unnest(next_order_numbers(${ORDERS})) with ordinality n (number, i)`)
  await sql`
    insert into contacts (order_id, sale_id, email, delete_after)
    select order_id, sale_id, 'buyer' || ticket_number || '@example.org', now() + interval '60 days' from orders`
  // The counters of the products are the sums of the orders.
  await sql`
    update products p set sold = o.sold from (
      select sale_id, product_id, count(*) filter (where status in ('confirmed', 'fulfilled', 'refunded')) as sold
      from orders group by 1, 2) o
    where o.sale_id = p.sale_id and o.product_id = p.product_id`
  await copyAll(sql)
  const [one] = await sql<{ order_id: string; email: string }[]>`
    select order_id, email from contacts join orders using (order_id) where status = 'confirmed' limit 1`
  return one ? [one.order_id, one.email] : [randomUUID(), '']
}

/** Copies all orders to the search at once. Each text would otherwise count its words, and write to the index. */
async function copyAll(sql: Sql): Promise<void> {
  await sql`
    insert into order_search (order_id, sale_id, product_id, status)
    select order_id, sale_id, product_id, status from orders`
  const [index] = await sql<{ definition: string }[]>`
    select indexdef as definition from pg_indexes where indexname = 'searched_by_words'`
  await sql`drop index searched_by_words`
  await sql`alter table order_texts disable trigger words_counted`
  await sql`select copy_order_texts(array_agg(order_id)) from orders`
  await sql`alter table order_texts enable trigger words_counted`
  await sql.unsafe(index?.definition ?? '')
  for (const table of ['orders', 'order_search', 'order_texts', 'products', 'goods', 'contacts'])
    await sql.unsafe(`vacuum analyze ${table}`)
}

// -- The slowest statement ------------------------------------------------------------------------------------------

/** A statement of a page runs at each of its loads; one of a background loop that ran less is left out. */
async function tellSlowest(sql: Sql): Promise<void> {
  const rows = await sql<{ query: string; calls: number; mean: number; max: number }[]>`
    select query, calls::int, mean_exec_time::float8 as mean, max_exec_time::float8 as max
    from pg_stat_statements where calls >= ${LOADS} and query ~* '^\\s*(select|with|insert|update|\\()'
    order by mean_exec_time desc limit 3`
  for (const [i, { query, calls, mean, max }] of rows.entries()) {
    const text = query.replaceAll(/\s+/g, ' ')
    console.log(`\n${paint('bold', i === 0 ? 'The slowest statement' : 'Next')}: ${mean.toFixed(1)} ms on average of`)
    console.log(`${n(calls)} calls, ${max.toFixed(1)} ms at most\n  ${paint('dim', text.slice(0, 1_000))}`)
    if (i > 0) continue
    const plan = await sql.unsafe(`explain (generic_plan) ${query}`).catch((error: Error) => [{ plan: error.message }])
    for (const line of plan) console.log(`  ${Object.values(line).join('')}`)
  }
}
