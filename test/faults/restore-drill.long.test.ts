/**
 * The restore drill. In the middle of a sale the ledger's disk is lost, or an operator must go back to a moment, and
 * Redis is lost apart or with it. Each case prints how long it took and what it lost; nothing is oversold, and who was
 * promised what is lost is listed. docs/restore.md has the same steps for people, and the figures.
 */
import { randomUUID } from 'node:crypto'
import { chmodSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { parse } from 'csv-parse/sync'
import { execa } from 'execa'
import postgres from 'postgres'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, type Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { startPostgres } from '../../dev/servers/postgres.ts'
import { startRedis } from '../../dev/servers/redis.ts'
import { startEdge } from '../../dev/servers/workerd.ts'
import { startSandbox } from '../../origin/providers/sandbox.ts'
import { newKeySet } from '../../shared/keys.ts'
import { eventually } from '../lib/eventually.ts'
import { useOwnOrigin } from '../lib/origin-process.ts'
import { hasPostgresTools, postgresBinaries, postgresTool } from '../lib/postgres-tools.ts'
import { useDatabase, useRedis } from '../lib/servers.ts'
import { visitorsOf } from '../lib/visitor.ts'
import { POLL_WITHIN_MS, TEST_WITHIN_MS } from '../run/patience.ts'
import { useReceiver } from '../stand-ins/receiver.ts'

interface Case {
  readonly lost: string
  /** What the ledger is made of again: streamed WAL to its end or to a moment, a dump; or it stays. */
  readonly ledger: 'wal' | 'moment' | 'dump' | 'stays'
  readonly redis: 'stays' | 'lost'
}

const CASES: readonly Case[] = [
  { lost: 'Redis', ledger: 'stays', redis: 'lost' },
  { lost: 'Postgres, streamed WAL', ledger: 'wal', redis: 'stays' },
  { lost: 'both, streamed WAL', ledger: 'wal', redis: 'lost' },
  { lost: 'Postgres, to a moment before', ledger: 'moment', redis: 'stays' },
  { lost: 'Postgres, dump', ledger: 'dump', redis: 'stays' },
  { lost: 'both, dump', ledger: 'dump', redis: 'lost' },
]

const TOTAL = 600
const BUYERS = 6
/** Orders that are told before the backup is taken, and after it until the loss. */
const TOLD_BEFORE = 30
const TOLD_AFTER = 60
/** How far the moment lies before the loss. */
const BACK_MS = 2_000
/** The user as whom `startPostgres` runs a server where the tests run as root. */
const NOBODY = '65534:65534'

interface Told {
  readonly order: string
  readonly visitor: string
  readonly atMs: number
}

const [first, firstRedis] = [useDatabase(), useRedis()]
let stores: { databaseUrl: string; redisUrl: string } | null = null
const receiver = useReceiver()
const SECRET = 'webhook-secret-between-sandbox-and-origin'
/** The provider of payments has its records elsewhere, so they are never lost. */
let sandbox: Awaited<ReturnType<typeof startSandbox>> | undefined
let bank: postgres.Sql
const origin = useOwnOrigin(
  () => stores ?? { databaseUrl: first.url, redisUrl: firstRedis.url },
  () => ({ WEBHOOK_SECRET: SECRET, ...(sandbox && { SANDBOX_URL: sandbox.url }) }),
)
const queueKeys = newKeySet()
const edgeFolder = temporaryFolder('drill-edge')
let edge: Server
beforeAll(async () => {
  const webhookUrl = `${origin.url()}/webhooks/sandbox`
  sandbox = await startSandbox({ databaseUrl: first.url, webhookUrl, secret: SECRET })
  bank = postgres(first.url, { max: 1, onnotice: () => {} })
  edge = await startEdge({
    port: await freePort(),
    originUrl: origin.url(),
    dataDir: edgeFolder.path,
    vars: {
      EDGE_TOKEN: origin.edgeToken,
      QUEUE_KEYS: JSON.stringify(queueKeys),
      ADMISSION_KEYS: JSON.stringify(origin.keys),
      ENVIRONMENT: 'development',
    },
  })
})
afterAll(async () => {
  await edge?.stop()
  await sandbox?.stop()
  await bank?.end({ timeout: 1 })
  edgeFolder.remove()
})

// -- The crowd ------------------------------------------------------------------------------------------------------

/** Buyers who come one after the other until they are stopped; most of them pay. */
function crowd(sale: string) {
  const told: Told[] = []
  let isOver = false
  const buy = async () => {
    while (!isOver) {
      const visitor = `user:${randomUUID()}`
      const body = told.length % 3 === 0 ? {} : { payment_method: 'pm_ok' }
      const token = await origin.token(sale, visitor)
      const answer = await origin.checkout(sale, { token, body }).catch(() => null)
      if (answer?.status === 201) told.push({ order: answer.body.order_id ?? '', visitor, atMs: Date.now() })
      await sleep(50)
    }
  }
  const all = Promise.all(Array.from({ length: BUYERS }, buy))
  return {
    told,
    until: (count: number) => expect.poll(() => told.length).toBeGreaterThanOrEqual(count),
    async stop() {
      isOver = true
      await all
    },
  }
}

/** Buys until nothing is left. */
async function sellOut(sale: string): Promise<void> {
  await eventually(
    async () =>
      (await Promise.all(Array.from({ length: 20 }, () => origin.checkout(sale)))).map(({ status }) => status),
    (statuses) => statuses.every((status) => status === 409 || status === 410),
    3 * POLL_WITHIN_MS,
  )
}

// -- The ledger and its backups ---------------------------------------------------------------------------------------

async function startLedger(dataDir: string, settings: readonly string[] = []): Promise<Server> {
  const server = await startPostgres({ dataDir, binaries: postgresBinaries, settings })
  onTestFinished(() => server.stop())
  return server
}

/** A primary whose WAL is streamed into a folder, as it is written. */
async function startPrimary(folder: string) {
  const server = await startLedger(join(folder, 'primary'))
  const wal = join(folder, 'wal')
  mkdirSync(wal)
  const stream = execa(postgresTool('pg_receivewal'), ['-D', wal, '--no-loop', '--synchronous', '-d', server.url], {
    reject: false,
  })
  onTestFinished(() => void stream.kill())
  return {
    server,
    baseBackup: () =>
      execa(postgresTool('pg_basebackup'), [
        ...['-D', join(folder, 'base'), '-X', 'none', '--checkpoint=fast', '--no-manifest', '-d', server.url],
      ]),
    dump: () => execa(postgresTool('pg_dump'), ['-Fc', '-f', join(folder, 'dump'), server.url]),
    /** The disk is lost: nothing of the server is left but what was streamed. */
    async lose() {
      await server.kill()
      await stream
    },
  }
}

async function restore(folder: string, { ledger }: Case, moment: Date): Promise<string> {
  const restored = join(folder, 'restored')
  if (ledger === 'dump') {
    const server = await startLedger(restored)
    await execa(postgresTool('pg_restore'), ['--exit-on-error', '--no-owner', `-d${server.url}`, join(folder, 'dump')])
    return server.url
  }
  const wal = join(folder, 'wal')
  mkdirSync(restored)
  cpSync(join(folder, 'base'), join(restored, 'data'), { recursive: true })
  cpSync(join(folder, 'primary/password'), join(restored, 'password'))
  writeFileSync(join(restored, 'data/recovery.signal'), '')
  chmodSync(join(restored, 'data'), 0o700)
  if (process.getuid?.() === 0) await execa('chown', ['-R', NOBODY, restored, wal])
  // The segment that was being written when the stream ended has another name.
  const command = `restore_command=cp ${wal}/%f %p || cp ${wal}/%f.partial %p`
  const target =
    ledger === 'moment' ? [`recovery_target_time=${moment.toISOString().replace('T', ' ').replace('Z', '+00')}`] : []
  const server = await startLedger(restored, [command, 'recovery_target_action=promote', ...target])
  const sql = postgres(server.url, { max: 1 })
  const isReady = async () => (await sql`select not pg_is_in_recovery() as ready`)[0]?.ready
  await expect.poll(isReady).toBe(true)
  await sql.end()
  return server.url
}

/** What the command for operators prints. */
async function listLost(env: { DATABASE_URL: string; REDIS_URL: string }): Promise<Record<string, string>[]> {
  const { stdout } = await execa('node', ['origin/command.ts', 'lost-orders'], { env })
  return parse(stdout, { columns: true })
}

// -- The drill --------------------------------------------------------------------------------------------------------

const rows: string[][] = []
const seconds = (ms: number) => `${(ms / 1000).toFixed(1)} s`
afterAll(() => {
  const head = ['lost', 'orders back', 'line back', 'messages back', 'orders lost of', 'back to', 'by Redis', 'by shop']
  const table = [head, ...rows].map((cells) => cells.map((cell, i) => cell.padEnd(i === 0 ? 32 : 14)).join(''))
  process.stdout.write(`\n${table.join('\n')}\n`)
})

test.skipIf(!hasPostgresTools).each(CASES)(
  'restores what is lost: $lost',
  { timeout: 3 * TEST_WITHIN_MS },
  async (one) => {
    const { path: folder, remove } = temporaryFolder('drill')
    onTestFinished(remove)
    const [primary, redis] = [await startPrimary(folder), await startRedis({ dataDir: join(folder, 'redis') })]
    onTestFinished(() => redis.stop())
    stores = { databaseUrl: primary.server.url, redisUrl: redis.url }
    await origin.restart()
    const sale = await origin.sale({ total: TOTAL, hold_seconds: 3_600 })
    const path = `/${randomUUID()}`
    const endpoint = { url: receiver.url(path), events: ['order.reserved', 'order.confirmed'] }
    expect((await origin.admin('POST', '/webhooks', endpoint)).status).toBe(201)
    const wasReserved = (order: string) => receiver.at(path).some(({ data }) => data.order_id === order)
    const visitors = visitorsOf(edge.url, sale)
    const place = (
      await eventually(
        () => visitors.join(),
        ({ status }) => status === 201,
      )
    ).body

    const buyers = crowd(sale)
    await buyers.until(TOLD_BEFORE)
    if (one.ledger === 'dump') await primary.dump()
    else await primary.baseBackup()
    await buyers.until(buyers.told.length + TOLD_AFTER)
    const moment = new Date()
    if (one.ledger === 'moment') await sleep(BACK_MS)

    const lostAtMs = Date.now()
    if (one.redis === 'lost') await redis.kill()
    if (one.ledger === 'stays') await buyers.until(buyers.told.length + TOLD_AFTER)
    else await Promise.all([origin.kill(), primary.lose()])
    await buyers.stop()

    const beganMs = Date.now()
    const databaseUrl = one.ledger === 'stays' ? primary.server.url : await restore(folder, one, moment)
    if (one.redis === 'lost') {
      rmSync(join(folder, 'redis'), { recursive: true })
      mkdirSync(join(folder, 'redis'))
      await redis.start()
    }
    stores = { databaseUrl, redisUrl: redis.url }
    const listed = one.redis === 'lost' ? [] : await listLost({ DATABASE_URL: databaseUrl, REDIS_URL: redis.url })
    if (one.ledger !== 'stays') await origin.restart()
    const anew = await eventually(
      () => origin.checkout(sale),
      ({ status }) => status === 201,
    )
    expect(anew.status).toBe(201)
    const ordersBackMs = Date.now() - beganMs
    await expect.poll(async () => (await visitors.schedule()).phase).toBe('open')
    const lineBackMs = Date.now() - beganMs
    await expect.poll(() => wasReserved(anew.body.order_id ?? '')).toBe(true)
    const messagesBackMs = Date.now() - beganMs
    expect(await visitors.status(place.queue_token ?? '')).toMatchObject({ number: place.number })

    const sql = postgres(databaseUrl, { max: 2, onnotice: () => {} })
    onTestFinished(() => sql.end({ timeout: 1 }))
    const ids = buyers.told.map(({ order }) => order)
    const kept = await sql<{ order_id: string }[]>`select order_id from orders where order_id = any(${ids}::uuid[])`
    const has = new Set(kept.map(({ order_id }) => order_id))
    const lost = buyers.told.filter(({ order }) => !has.has(order))

    // Redis lists whom it knows, with the name by which the shop finds their address.
    if (one.redis === 'stays')
      expect(listed).toEqual(
        expect.arrayContaining(lost.map(({ order, visitor }) => expect.objectContaining({ order_id: order, visitor }))),
      )
    expect(listed.filter(({ order_id = '' }) => has.has(order_id))).toEqual([])
    // What was paid is a finding, also without Redis.
    const atProvider = await bank<{ order_id: string }[]>`
    select order_id::text from sandbox.charges where status in ('authorized', 'captured')`
    const charged = new Set(atProvider.map(({ order_id }) => order_id))
    const paid = lost.map(({ order }) => order).filter((order) => charged.has(order))
    const found = async () =>
      (await sql`select detail ->> 'order' as order from findings where kind = 'unknown_charge'`).map(
        ({ order }) => order,
      )
    await expect.poll(found).toEqual(expect.arrayContaining(paid))
    // No order that the ledger kept is missing at the shop.
    await expect.poll(() => ids.filter((id) => has.has(id) && !wasReserved(id))).toEqual([])

    await sellOut(sale)
    const [counts] = await sql`
    select held + sold as taken, (select sum(quantity)::int from orders where sale_id = ${sale}
      and status in ('reserved', 'paying', 'confirmed', 'fulfilled')) as live from products where sale_id = ${sale}`
    expect(counts).toEqual({ taken: TOTAL, live: TOTAL })

    const backMs = lost.length === 0 ? 0 : lostAtMs - Math.min(...lost.map(({ atMs }) => atMs))
    const atShop = lost.filter(({ order }) => paid.includes(order) || wasReserved(order)).length
    rows.push([
      ...[one.lost, seconds(ordersBackMs), seconds(lineBackMs), seconds(messagesBackMs)],
      ...[
        `${lost.length} of ${ids.length}`,
        seconds(backMs),
        one.redis === 'stays' ? `${lost.length}` : '-',
        `${atShop}`,
      ],
    ])
    // An order that the backup has is not lost.
    if (one.ledger === 'stays') expect(lost).toEqual([])
  },
)
