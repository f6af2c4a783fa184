/** What sales leave in the memory of an origin's process once they are over and old: nothing. */

import { randomUUID } from 'node:crypto'
import { queryObjects } from 'node:v8'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from 'vitest'
import { temporaryFolder } from '../dev/lib/processes.ts'
import { importSecrets, newKeySet } from '../shared/keys.ts'
import { ADMISSION, signToken } from '../shared/tokens.ts'
import { eventually } from '../test/lib/eventually.ts'
import { addHall } from '../test/lib/hall.ts'
import { joinCounts, saleOf } from '../test/lib/samples.ts'
import { useDatabase, useRedis } from '../test/lib/servers.ts'
import { readConfig } from './base/config.ts'
import { compose, FORGET_MS, type Origin, type Stop } from './compose.ts'
import { connect, type Sql } from './ledger/connection.ts'
import { writeSale } from './sales/sale-queries.ts'

const SALES = 16
/** The units of so many are bought, seats of half of them. */
const PLAYED = 6
const DAY_MS = 24 * 3_600_000
/** No other text has it. */
const PREFIX = 'gone-by'
const nameOf = (n: number) => `${PREFIX}-${n}`
const ADMIN_TOKEN = 'test-admin-token-of-at-least-32-characters'
const EDGE_TOKEN = 'test-edge-token-of-at-least-32-characters'

const [database, redis] = [useDatabase(), useRedis()]
const folder = temporaryFolder('compose-test')
const keys = newKeySet()
const stops: Stop[] = []
let sql: Sql
let origin: Origin
beforeAll(async () => {
  sql = connect(database.url)
  const config = readConfig({
    NODE_ENV: 'development',
    DATABASE_URL: database.url,
    REDIS_URL: redis.url,
    ADMIN_TOKEN,
    EDGE_TOKEN,
    ADMISSION_KEYS: JSON.stringify(keys),
    ALLOW_DIRECT: 'true',
    IMAGES_DIR: folder.path,
  })
  origin = await compose(config, pino({ level: 'silent' }), stops)
})
afterAll(async () => {
  for (const [, stop] of stops.reverse()) await stop()
  await sql.end({ timeout: 1 })
  folder.remove()
})

async function call(path: string, token: string, { method = 'GET', body = undefined as object | undefined } = {}) {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json', 'idempotency-key': 'k' }
  const response = await origin.app.request(path, { method, headers, body: body ? JSON.stringify(body) : null })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

const iat = Math.floor(Date.now() / 1000)
/** A checkout, made again until it is decided: stores may be late for some of a crowd. */
async function checkout(sale: string, num: number, body: object) {
  const claims = { sub: randomUUID(), sale, num, jti: randomUUID(), iat, exp: iat + 300 }
  const token = signToken(ADMISSION, importSecrets(keys), claims)
  return eventually(
    () => call(`/sales/${sale}/checkout`, token, { method: 'POST', body }),
    ({ status }) => status !== 202 && status !== 503,
  )
}

const isPlayed = (n: number) => n < PLAYED
const hasHall = (n: number) => n < PLAYED / 2

/** Writes one sale, and copies it. */
async function createAll(): Promise<void> {
  await writeSale(sql, nameOf(0), saleOf(1, { limit_per_visitor: 9 }))
  for (const table of ['sales', 'products'])
    await sql`
      insert into ${sql(table)}
      select (jsonb_populate_record(row, jsonb_build_object('sale_id', ${`${PREFIX}-`}::text || n))).*
      from ${sql(table)} row, generate_series(1, ${SALES - 1}::int) n`
  for (let n = 0; hasHall(n); n++) await addHall(sql, nameOf(n))
}

/** The edge reports a sale. */
async function report(n: number): Promise<void> {
  const figures = { numbers_given: 9, called: 5, waiting: 4, coming_units: 1, coming_people: 1, likely_people: 4 }
  const rates = { may_come: 1, called_per_second: 1, boost: 1, throttle: 1, clock_ms: 1 }
  const counts = joinCounts({ joins: 9, proofs: 1, refusals: { blocked: 1 } })
  const fields = Object.entries({ ...figures, ...rates, counts })
  const query = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, `${value}`]))
  await call(`/internal/sales/${nameOf(n)}?${query}`, EDGE_TOKEN)
}

/** All units are bought, others come too late, and an operator looks on. */
async function play(n: number): Promise<void> {
  const sale = nameOf(n)
  const paid = { payment_method: 'pm_ok' }
  if (hasHall(n)) {
    const seats = { lines: [{ section_id: 'stalls', seats: ['S1', 'S2'] }] }
    expect(await checkout(sale, 1, { ...paid, ...seats })).toMatchObject({ status: 201 })
    expect(await checkout(sale, 2, seats)).toMatchObject({ body: { type: '/problems/seat-taken' } })
  } else expect(await checkout(sale, 1, paid)).toMatchObject({ status: 201 })
  await call(`/internal/sales/${sale}/goods`, EDGE_TOKEN)
  await call(`/admin/sales/${sale}/live`, ADMIN_TOKEN)
}

/** Each map or set of this process that has such a sale, whoever made it. */
function stillKnown(): string[] {
  const texts = [...queryObjects(Map, { format: 'summary' }), ...queryObjects(Set, { format: 'summary' })]
  return texts.filter((text) => text.includes(PREFIX))
}

test('sales that are over and old leave nothing in any map of the process', async () => {
  const all = Array.from({ length: SALES }, (_, n) => n)
  await createAll()
  const lastHall = `/internal/sales/${nameOf(all.findLastIndex(hasHall))}`
  await expect.poll(async () => (await call(lastHall, EDGE_TOKEN)).body.chart_version).toBe(1)
  await Promise.all(all.map(report))
  await Promise.all(all.filter(isPlayed).map(play))
  const open = () => sql`select from orders where status in ('reserved', 'paying')`
  await expect.poll(async () => (await open()).length).toBe(0)
  await Promise.all(all.filter((n) => isPlayed(n) && !hasHall(n)).map((n) => checkout(nameOf(n), 3, {})))
  await expect.poll(() => origin.memory.sizes()).toMatchObject({ gates: SALES, arrivals: SALES })
  // The worker's rounds pass through sales that end meanwhile.
  const worker = stops.findIndex(([what]) => what === 'worker')
  for (const [, stop] of stops.splice(worker, 1)) await stop()

  const now = performance.now.bind(performance)
  let days = 0
  const clock = vi.spyOn(performance, 'now').mockImplementation(() => now() + days * DAY_MS)
  onTestFinished(() => clock.mockRestore())
  days = 2
  await sql`update sales set ended_at = now() - interval '2 days'`
  await expect.poll(() => Object.values(origin.memory.sizes()).reduce((sum, size) => sum + size, 0)).toBe(0)
  // What is measured of them in a last round is shown for a day.
  const stillKnownLater = () => {
    days += 2
    return stillKnown()
  }
  await expect.poll(stillKnownLater, { interval: FORGET_MS }).toEqual([])
})
