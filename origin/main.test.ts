/** How an origin starts and stops: it waits for Postgres, and exits only for faults that waiting cannot mend. */
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import postgres from 'postgres'
import { expect, test } from 'vitest'
import { newVapidKeys } from '../dev/lib/data-folder.ts'
import { freePort, startChild, untilReady } from '../dev/lib/processes.ts'
import { startPostgres } from '../dev/servers/postgres.ts'
import { useOwnOrigin } from '../test/lib/origin-process.ts'
import { emptyDatabase, useRedis, useReturning } from '../test/lib/servers.ts'
import { useReceiver } from '../test/stand-ins/receiver.ts'
import { isLedgerAway } from './ledger/connection.ts'
import { prepare } from './ledger/migrate.ts'

const ledger = await useReturning(startPostgres)
const redis = useRedis()
let databaseUrl = ledger.url
const receiver = useReceiver()
const vapid = newVapidKeys()
const env = {
  WEBHOOKS_ALLOW_PRIVATE: 'false',
  HOST: '0.0.0.0',
  VAPID_PUBLIC_KEY: vapid.public,
  VAPID_PRIVATE_KEY: vapid.private,
  VAPID_SUBJECT: 'mailto:shop@example.com',
  PUBLIC_URL: 'https://drop.example',
}
const origin = useOwnOrigin(() => ({ databaseUrl, redisUrl: redis.url }), env)

const comesAlive = () =>
  expect.poll(() => origin.call('GET', '/healthz').catch(() => null)).toMatchObject({ status: 200 })
/** The attempts at which the log says that it waits. */
const attempts = () =>
  [...origin.log().matchAll(/"failures":(\d+).*waiting for Postgres/g)].map(([, failures]) => Number(failures))

test('a starting origin waits for Postgres, alive but not ready, then serves, and stops on request', async () => {
  const sale = await origin.sale()
  await origin.stop()
  await ledger.kill()
  const ended = expect(origin.restart()).rejects.toThrow('exit code 0')
  await comesAlive()
  expect(await origin.ops('/readyz')).toMatchObject({ status: 503, body: { ledger: false } })
  for (const answer of [await origin.checkout(sale), await origin.admin('GET', `/sales/${sale}`)]) {
    expect(answer).toMatchObject({ status: 503, body: { type: '/problems/try-again' } })
    expect(Number(answer.headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  await expect.poll(() => attempts().slice(0, 3)).toEqual([1, 2, 4])
  await origin.stop()
  await ended
  await expect(fetch(origin.url())).rejects.toThrow('fetch failed')
  const started = origin.restart()
  await expect.poll(attempts).not.toEqual([])
  await ledger.start()
  await started
  expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
})

test('answers monitors on this machine alone, whatever HOST says', async () => {
  const elsewhere = (url: string) => fetch(`${url.replace('127.0.0.1', '127.0.0.2')}/healthz`)
  expect((await elsewhere(origin.url())).status).toBe(200)
  await expect(elsewhere(origin.opsUrl())).rejects.toThrow('fetch failed')
})

test('exits with the reason when waiting cannot help, and shows no password', async () => {
  const address = new URL(ledger.url)
  address.password = 'hunter2'
  databaseUrl = address.href
  const reason = '(exit code 1): cannot start: password authentication failed'
  await expect(origin.restart()).rejects.toThrow(reason)
  expect(origin.log()).not.toContain('hunter2')
})

const OF_ANOTHER =
  'DATABASE_URL holds the tables of another application or of an unreleased version: give the ledger a database of its own'

const MIGRATED = `
  create schema drizzle;
  create table drizzle.__drizzle_migrations (id serial, hash text not null, created_at bigint);
  insert into drizzle.__drizzle_migrations (hash, created_at) values ('theirs', 1500000000000)`
/** A function that is found first and lies about the version. */
const TOO_OLD = `
  create schema disguise;
  create function disguise.current_setting(text) returns text language sql return '14.20';
  do $$ begin
    execute format('alter database %I set search_path = disguise, pg_catalog, public', current_database()); end $$`

test.each([
  ['the server is too old', 'Postgres 15 or newer is required, and this one is 14.20', TOO_OLD],
  ['a migration fails', 'relation "sales" already exists', 'create table sales (sale_id text)'],
  ['there are tables of a shop', OF_ANOTHER, 'create table orders (id int)'],
  ['another application migrates itself as we do', OF_ANOTHER, MIGRATED],
])('does not wait for a ledger that waiting cannot mend: %s', async (_, why, statements) => {
  const database = await emptyDatabase()
  const sql = postgres(database.url, { max: 1 })
  await sql.unsafe(statements)
  await sql.end()
  await cannotMend(database.url, why)
})

test('does not wait for a database that does not exist', () =>
  cannotMend(`${ledger.url}_of_another_name`, 'database "flash_sale_of_another_name" does not exist'))

async function cannotMend(url: string, why: string): Promise<void> {
  const error: Error = await prepare(url).then(
    () => expect.unreachable(),
    (reason) => reason,
  )
  expect(error.message).toBe(why)
  expect(isLedgerAway(error)).toBe(false)
}

test('starts and serves without Redis, and warns of a ledger that may lose commits', async () => {
  databaseUrl = `${ledger.url}?synchronous_commit=off`
  await redis.kill()
  await origin.restart()
  expect(origin.log()).toContain('set synchronous_commit on')
  const ready = await origin.ops('/readyz')
  expect(ready).toMatchObject({ status: 200, body: { ledger: true, gate: false } })
  expect(await origin.checkout(await origin.sale())).toMatchObject({ status: 201 })
})

test('keeps webhooks, push and pictures from private networks: an address, and a name at the connection', async () => {
  const [url, events] = [receiver.url('/inside'), ['order.reserved']]
  expect(await origin.admin('POST', '/webhooks', { url, events })).toMatchObject({ status: 422 })
  const push = { endpoint: 'https://127.0.0.1/a', keys: { p256dh: vapid.public, auth: 'A'.repeat(22) } }
  const ask = { about: 'turn', push, language: 'en', line: 'public', visitor: 'v', number: 1 }
  const asks = `/internal/sales/${await origin.sale()}/push-asks`
  const refused = { status: 422, body: { errors: [{ field: 'push.endpoint' }] } }
  expect(await origin.call('POST', asks, { token: origin.edgeToken, body: ask })).toMatchObject(refused)
  const picture = await origin.admin('POST', '/images', { url })
  expect(picture).toMatchObject({ status: 422, body: { errors: [{ detail: 'not an address of the Internet' }] } })
  const named = { url: url.replace('127.0.0.1', 'localhost'), events }
  const { status, body } = await origin.admin('POST', '/webhooks', named)
  expect(status).toBe(201)
  expect(await origin.admin('PATCH', `/webhooks/${body.endpoint}`, { url })).toMatchObject({ status: 422 })
  await origin.checkout(await origin.sale())
  const deliveries = async () => (await origin.admin('GET', `/webhooks/${body.endpoint}/deliveries`)).body.deliveries
  const error = expect.stringContaining('not an address of the public')
  await expect.poll(deliveries).toMatchObject([{ state: 'pending', status: null, error }])
  expect(receiver.at('/inside')).toEqual([])
})

test.skipIf(!existsSync('/dev/full'))('serves and stops on a full disk, where it cannot log', async () => {
  const [port, opsPort, adminPort] = [await freePort(), await freePort(), await freePort()]
  const child = await startChild({
    name: 'an origin',
    command: process.execPath,
    args: [fileURLToPath(new URL('./main.ts', import.meta.url))],
    logFile: '/dev/full',
    env: {
      PATH: process.env.PATH ?? '',
      NODE_ENV: 'development',
      NODE_COMPILE_CACHE: process.env.NODE_COMPILE_CACHE,
      PORT: String(port),
      OPS_PORT: String(opsPort),
      ADMIN_PORT: String(adminPort),
      DATABASE_URL: ledger.url,
      REDIS_URL: redis.url,
      ADMISSION_KEYS: JSON.stringify(origin.keys),
    },
  })
  await untilReady(child, async () => (await fetch(`http://127.0.0.1:${opsPort}/readyz`)).ok)
  // What operators and the edge call is on its own port alone.
  const statusOf = async (at: number, path: string) => (await fetch(`http://127.0.0.1:${at}${path}`)).status
  for (const path of ['/admin/sales', '/internal/sales', '/console/']) {
    expect([path, await statusOf(port, path)]).toEqual([path, 404])
    expect([path, await statusOf(adminPort, path)]).not.toEqual([path, 404])
  }
  expect(await statusOf(adminPort, '/orders/none')).toBe(404)
  const described = await fetch(`http://127.0.0.1:${adminPort}/openapi.json`)
  expect(await described.json()).toMatchObject({ openapi: '3.1.1', webhooks: { 'order.confirmed': {} } })
  expect(await statusOf(port, '/openapi.json')).toBe(404)
  await child.stop()
  expect(await child.ended).toBe('exit code 0')
})
