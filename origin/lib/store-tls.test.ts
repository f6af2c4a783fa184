/** Encrypted connections to stores: what a URL means, and real servers whose authority is known, another, or none. */
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { pino } from 'pino'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { freePort, LOOPBACK, type Server } from '../../dev/lib/processes.ts'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { connect, ping } from '../ledger/connection.ts'
import { prepare } from '../ledger/migrate.ts'
import { connectRedis, requireTrusted } from './redis/redis.ts'
import { postgresAddress, redisAddress } from './store-tls.ts'

/** Certificates of a test authority, valid for a hundred years: for localhost and the addresses of this machine. */
const pki = (name: string) => fileURLToPath(new URL(`../../test/lib/pki/${name}`, import.meta.url))
const [CA, OTHER] = [pki('ca.pem'), pki('other.pem')]

test.each([
  ['postgres://u:p@127.0.0.1:5432/shop', false],
  ['postgres://u:p@localhost/shop', false],
  ['postgres:///shop?host=/run/postgresql', false],
  ['postgres://u:p@db.example/shop', {}],
  ['postgres://u:p@db.example/shop?sslmode=disable', false],
  ['postgres://u:p@db.example/shop?sslmode=require', {}],
  ['postgres://u:p@db.example/shop?sslmode=verify-full&sslrootcert=system', {}],
  ['postgres://u:p@127.0.0.1/shop?sslrootcert=system', {}],
  ['postgres://u:p@db.example/shop?sslmode=verify-ca', { checkServerIdentity: expect.any(Function) }],
])('%s means what it says', (url, ssl) => {
  const meant = postgresAddress(url)
  expect(meant.options).toEqual({ ssl })
  expect(meant.url).not.toContain('ssl')
})

test('what leaves encryption to the server, or names no authority, is refused', () => {
  expect(() => postgresAddress('postgres://db.example/shop?sslmode=prefer')).toThrow('lets the server decide')
  expect(() => postgresAddress('postgres://db.example/shop?sslrootcert=/nowhere.pem')).toThrow(
    'cannot be read (ENOENT)',
  )
  expect(() => postgresAddress(`postgres://db.example/shop?sslrootcert=${pki('server.key')}`)).toThrow('no certificate')
  expect(() => redisAddress(`redis://cache.example?cafile=${CA}`)).toThrow('needs rediss')
  expect(redisAddress('rediss+cluster://one,two')).toEqual({
    url: 'redis+cluster://one,two',
    tls: {},
    password: undefined,
  })
})

describe('a Redis', () => {
  let server: Server
  let port: number
  beforeAll(async () => {
    port = await freePort()
    const files = ['--tls-cert-file', pki('server.pem'), '--tls-key-file', pki('server.key'), '--tls-ca-cert-file', CA]
    server = await startRedis({ args: ['--tls-port', String(port), '--tls-auth-clients', 'no', ...files] })
  })
  afterAll(() => server.stop())

  test('is used by TLS under its authority', async () => {
    const url = `rediss://localhost:${port}?cafile=${CA}`
    await requireTrusted(url)
    const redis = connectRedis(url, pino({ level: 'silent' }))
    onTestFinished(() => redis.disconnect())
    await expect.poll(() => redis.ping().catch(() => 'away')).toBe('PONG')
  })

  test.each([
    ['under another authority', () => `rediss://localhost:${port}?cafile=${OTHER}`, 'is not trusted'],
    ['under an unknown one', () => `rediss://localhost:${port}`, 'is not trusted'],
  ])('is refused in a sentence %s', async (_, url, why) => {
    await expect(requireTrusted(url())).rejects.toThrow(why)
  })

  test('that is away is no fault of its address', async () => {
    await requireTrusted(`rediss://${LOOPBACK}:${await freePort()}?cafile=${CA}`)
  })
})

describe('a Postgres', () => {
  let server: Server
  let address: URL
  beforeAll(async () => {
    server = await startPostgres({})
    address = new URL(server.url)
    address.hostname = 'localhost'
    await expect(prepare(withMode('sslmode=require'))).rejects.toThrow('does not speak TLS')
    const sql = postgres(server.url, { max: 1 })
    const [{ folder = '' } = {}] = await sql<{ folder: string }[]>`select current_setting('data_directory') as folder`
    const { uid, gid } = statSync(folder)
    for (const [name, own] of [
      ['server.pem', 'server.crt'],
      ['server.key', 'server.key'],
    ] as const) {
      const copy = join(folder, own)
      copyFileSync(pki(name), copy)
      chmodSync(copy, 0o600)
      chownSync(copy, uid, gid)
    }
    await sql`alter system set ssl = on`
    await sql`select pg_reload_conf()`
    await sql.end()
  })
  afterAll(() => server.stop())
  const withMode = (query: string) => `${address.href}?${query}`

  test('is used by TLS under its authority, and prepared', async () => {
    const url = withMode(`sslmode=verify-full&sslrootcert=${CA}`)
    await prepare(url)
    const sql = connect(url, 1)
    onTestFinished(() => sql.end({ timeout: 1 }))
    await ping(sql)
    const [{ ssl } = {}] = await sql`select ssl from pg_stat_ssl where pid = pg_backend_pid()`
    expect(ssl).toBe(true)
  })

  test.each([
    [`sslmode=require`, 'is not trusted'],
    [`sslmode=verify-full&sslrootcert=${OTHER}`, 'is not trusted'],
    [`sslmode=verify-ca&sslrootcert=${OTHER}`, 'is not trusted'],
  ])('is refused in a sentence with %s', async (query, why) => {
    await expect(prepare(withMode(query))).rejects.toThrow(why)
  })
})
