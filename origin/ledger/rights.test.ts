/** An origin serves with a role that may change rows alone, on a ledger that another role has migrated. */
import { randomBytes } from 'node:crypto'
import { execa } from 'execa'
import { beforeAll, expect, test } from 'vitest'
import { newKeySet } from '../../shared/keys.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { emptyDatabase, useRedis } from '../../test/lib/servers.ts'
import { connect } from './connection.ts'
import { migrate } from './migrate.ts'

const suffix = randomBytes(6).toString('hex')
const [OWNER, SERVER] = [`owner_${suffix}`, `server_${suffix}`]
let [url, urlBesideStripe] = ['', '']
const as = (role: string, at = url) => Object.assign(new URL(at), { username: role, password: 'secret' }).href

/** A ledger that the owner has migrated, with the printed rights of the role that serves. */
async function ledger(...flags: string[]): Promise<string> {
  const at = (await emptyDatabase()).url
  const root = connect(at, 1)
  await root.unsafe(`alter database ${new URL(at).pathname.slice(1)} owner to ${OWNER}`)
  await root.end({ timeout: 1 })
  await migrate(as(OWNER, at))
  const { stdout } = await execa('node', ['origin/migrate.ts', '--rights', SERVER, ...flags])
  const owner = connect(as(OWNER, at), 1)
  await owner.unsafe(stdout)
  await owner.end({ timeout: 1 })
  return at
}

beforeAll(async () => {
  const root = connect((await emptyDatabase()).url, 1)
  for (const role of [OWNER, SERVER]) await root.unsafe(`create role ${role} login password 'secret'`)
  await root.end({ timeout: 1 })
  url = await ledger('--sandbox')
  urlBesideStripe = await ledger()
})

const [redis, redisBesideStripe] = [useRedis(), useRedis()]
const production = { NODE_ENV: 'production', DRAIN_SECONDS: '0', WEBHOOK_KEYS: JSON.stringify(newKeySet()) }
const origin = useOwnOrigin(() => ({ databaseUrl: as(SERVER), redisUrl: redis.url }), {
  ...production,
  PAYMENT_PROVIDER: 'sandbox',
  ALLOW_TEST_PAYMENTS: 'true',
})
const besideStripe = useOwnOrigin(
  () => ({ databaseUrl: as(SERVER, urlBesideStripe), redisUrl: redisBesideStripe.url }),
  {
    ...production,
    PAYMENT_PROVIDER: 'stripe',
    STRIPE_SECRET_KEY: 'sk_live_of_a_local_server',
    STRIPE_WEBHOOK_SECRET: 'whsec_of_a_local_server_0123456789',
    STRIPE_API_URL: 'http://127.0.0.1:9',
    PUBLIC_URL: 'https://queue.shop.example',
  },
)

test('it sells, is paid, and keeps the log of views', async () => {
  const sale = await origin.sale()
  const { status, body } = await origin.checkout(sale)
  expect(status).toBe(201)
  const token = String(body.order_token)
  const pay = { token, body: { payment_method: 'pm_ok' } }
  expect(await origin.call('POST', `/orders/${body.order_id}/payment`, pay)).toMatchObject({ status: 202 })
  const read = async () => (await origin.call('GET', `/orders/${body.order_id}`, { token })).body.status
  await expect.poll(read).toBe('confirmed')
  const server = connect(as(SERVER), 1)
  expect(await server`select first_seq from begin_view_batch(1)`).toHaveLength(1)
  expect(await server`select drop_view_hours()`).toHaveLength(1)
  await server.end({ timeout: 1 })
  expect(origin.log()).not.toMatch(/permission denied|must be owner/)
})

test('beside Stripe it sells without a schema of the sandbox, and without a right to make one', async () => {
  const sale = await besideStripe.sale()
  expect((await besideStripe.checkout(sale)).status).toBe(201)
  expect(await besideStripe.sql()`select to_regnamespace('sandbox') as schema`).toEqual([{ schema: null }])
  expect(besideStripe.log()).not.toMatch(/permission denied|must be owner/)
})

test.each([
  'create table public.mine ()',
  'create schema mine',
  'alter table orders add column mine int',
  'drop table orders',
  'create or replace function record_reservations() returns void language sql as $$ $$',
  'delete from drizzle.__drizzle_migrations',
])('it may not %s', async (statement) => {
  const server = connect(as(SERVER), 1)
  await expect(server.unsafe(statement)).rejects.toThrow(/permission denied|must be owner/)
  await server.end({ timeout: 1 })
})
