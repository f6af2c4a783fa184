/** The passwords of stores change while connections are in use: each new connection has the one that is in the file. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { temporaryFolder } from '../../dev/lib/processes.ts'
import { emptyDatabase, useRedis } from '../../test/lib/servers.ts'
import { connect, isLedgerAway } from '../ledger/connection.ts'
import { anotherConnection, connectRedis } from './redis/redis.ts'
import { postgresAddress, redisAddress } from './store-tls.ts'

const server = useRedis()

function passwordFile(): { readonly file: string; readonly change: (password: string) => void } {
  const folder = temporaryFolder('password')
  onTestFinished(folder.remove)
  const file = join(folder.path, 'password')
  const change = (password: string) => writeFileSync(file, `${password}\n`)
  change('first')
  return { file, change }
}

test('Postgres', async () => {
  const { file, change } = passwordFile()
  const { url } = await emptyDatabase()
  const root = connect(url, 1)
  const role = `rotated_${randomBytes(6).toString('hex')}`
  await root.unsafe(`create role ${role} login password 'first'`)
  const address = Object.assign(new URL(url), { username: role, password: '' })
  address.searchParams.set('passwordfile', file)
  const sql = connect(address.href, 1)
  onTestFinished(async () => {
    await Promise.all([sql.end({ timeout: 1 }), root.end({ timeout: 1 })])
  })
  const pid = async () => (await sql<{ pid: number }[]>`select pg_backend_pid() as pid`)[0]?.pid ?? 0
  const before = await pid()
  await root.unsafe(`alter role ${role} password 'second'`)
  expect(await pid()).toBe(before)
  await root`select pg_terminate_backend(${before})`
  // Until the file has it, the ledger is away, which callers are told to wait for.
  await expect.poll(() => pid().catch((error) => [error.code, isLedgerAway(error)])).toEqual(['28P01', true])
  change('second')
  await expect.poll(() => pid().catch(() => 0)).toBeGreaterThan(0)
})

test('Redis, and a second connection of the same client', async () => {
  const { file, change } = passwordFile()
  const root = new Redis(server.url)
  await root.call('ACL', 'SETUSER', 'rotated', 'on', '>first', '~*', '&*', '+@all')
  const address = Object.assign(new URL(server.url), { username: 'rotated' })
  const redis = connectRedis(`${address.href}?passwordfile=${encodeURIComponent(file)}`, pino({ level: 'silent' }))
  const other = anotherConnection(redis)
  onTestFinished(() => {
    for (const client of [redis, other, root]) client.disconnect()
  })
  const pings = () => Promise.all([redis, other].map((client) => client.ping().catch(() => 'away')))
  await expect.poll(pings).toEqual(['PONG', 'PONG'])
  await root.call('ACL', 'SETUSER', 'rotated', 'resetpass', '>second')
  expect(await pings()).toEqual(['PONG', 'PONG'])
  change('second')
  await root.client('KILL', 'USER', 'rotated')
  await expect.poll(pings).toEqual(['PONG', 'PONG'])
})

test('a file that is not there is said at once', () => {
  const missing = 'the passwordfile of DATABASE_URL, cannot be read (ENOENT)'
  expect(() => postgresAddress('postgres://db.example/shop?passwordfile=/nowhere')).toThrow(missing)
  expect(() => redisAddress('redis://cache.example?passwordfile=/nowhere')).toThrow('passwordfile of REDIS_URL')
})
