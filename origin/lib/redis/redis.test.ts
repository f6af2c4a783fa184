import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Cluster, Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { freePort, LOOPBACK, startChild, temporaryFolder } from '../../../dev/lib/processes.ts'
import { ensureRedis, startRedis } from '../../../dev/servers/redis.ts'
import { useFlakyProxy } from '../../../test/lib/flaky-proxy.ts'
import { startRedisCluster } from '../../../test/lib/redis-cluster.ts'
import { useRedis } from '../../../test/lib/servers.ts'
import { isAway } from '../../app.ts'
import { createMetrics } from '../../base/metrics.ts'
import { withTimeout } from '../with-timeout.ts'
import { Writes } from '../writes.ts'
import { connectRedis, isRedisUrl } from './redis.ts'
import { RedisWatch } from './redis-watch.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
const log = pino({ level: 'silent' })
let redis: ReturnType<typeof connectRedis>
beforeAll(async () => {
  redis = connectRedis(way.through(server.url), log)
  await once(redis, 'ready')
})
afterAll(() => redis.disconnect())

test('accepts URLs of one server, of Sentinels and of a Cluster, and no others', () => {
  const good = ['redis://h:1', 'rediss://u:p@h', 'redis+cluster://a:1,b:2', 'redis+sentinel://u:p@a,b:1/name']
  const bad = ['http://h', 'redis+sentinel://a,b', 'redis+cluster://', 'a:1']
  expect(good.filter((url) => !isRedisUrl(url))).toEqual([])
  expect(bad.filter(isRedisUrl)).toEqual([])
})

test('keeps an idle connection', async () => {
  const id = await redis.client('ID')
  const observer = connectRedis(server.url, log)
  onTestFinished(() => observer.disconnect())
  const idleSeconds = async () =>
    Number(new RegExp(`^id=${id} .* idle=(\\d+) `, 'm').exec(String(await observer.client('LIST')))?.[1])
  await expect.poll(idleSeconds).toBeGreaterThanOrEqual(2)
  expect(await redis.client('ID')).toBe(id)
})

test('replaces a connection without replies', async () => {
  const id = await redis.client('ID')
  way.vanish()
  await expect(redis.ping()).rejects.toThrow()
  await expect.poll(() => redis.ping().catch(String)).toBe('PONG')
  expect(await redis.client('ID')).not.toBe(id)
})

test('recognizes every error of a Redis that is away or slow', async () => {
  const failed: Error[] = []
  const fails = (asked: Promise<unknown>) =>
    asked.then(
      () => failed.push(new Error('was answered')),
      (error) => failed.push(error),
    )
  way.vanish()
  const inProgress = fails(redis.ping())
  await new Promise(setImmediate)
  way.cut()
  await inProgress
  await fails(redis.ping())
  const nowhere = connectRedis(`redis+cluster://${LOOPBACK}:${await freePort()}`, log)
  await fails(nowhere.ping())
  nowhere.disconnect()
  await fails(withTimeout(new Promise(() => {}), 10))
  expect(failed.filter((error) => !isAway(error))).toEqual([])
})

test('sends no more commands to a live master that Sentinels replaced', async () => {
  const folder = temporaryFolder('sentinel')
  const master = await startRedis()
  const replica = await startRedis({ args: ['--replicaof', LOOPBACK, String(master.port)] })
  const port = await freePort()
  const settings = join(folder.path, 'sentinel.conf')
  const monitor = `sentinel monitor shop ${LOOPBACK} ${master.port} 1`
  writeFileSync(settings, `port ${port}\nbind ${LOOPBACK}\n${monitor}\n`)
  const sentinel = await startChild({
    name: 'the Sentinel',
    command: await ensureRedis(),
    args: [settings, '--sentinel'],
    logFile: join(folder.path, 'sentinel.log'),
    cwd: folder.path,
  })
  const asked = new Redis({ port, host: LOOPBACK })
  asked.on('error', () => {})
  const store = connectRedis(`redis+sentinel://${LOOPBACK}:${port}/shop`, log)
  onTestFinished(async () => {
    store.disconnect()
    asked.disconnect()
    for (const server of [sentinel, replica, master]) await server.stop()
    folder.remove()
  })
  const serving = () => store.config('GET', 'port').then(String, String)
  await expect.poll(serving).toBe(`port,${master.port}`)
  // At first the Sentinel knows no replica.
  const begin = () => asked.call('SENTINEL', 'FAILOVER', 'shop').catch(String)
  await expect.poll(begin).toBe('OK')
  await expect.poll(serving).toBe(`port,${replica.port}`)
})

/** The warnings of a new connection, by node. */
function warningsOf(url: string, level = 'warn') {
  const lines: { node: string; msg: string }[] = []
  const store = connectRedis(url, pino({ level }, { write: (line) => lines.push(JSON.parse(line)) }))
  onTestFinished(() => store.disconnect())
  return () => lines.map(({ node, msg }) => `${node} ${msg}`)
}

test('warns at the start of a Redis that may lose promised orders, and of no other', async () => {
  const [forgetful, late, silent] = await Promise.all([
    startRedis({ args: ['--appendonly', 'no'] }),
    startRedis({ args: ['--appendfsync', 'no'] }),
    startRedis({ args: ['--appendfsync', 'no', '--rename-command', 'CONFIG', ''] }),
  ])
  onTestFinished(() => Promise.all([forgetful, late, silent].map((redis) => redis.stop())).then(() => {}))
  const lost = 'this Redis may lose promised orders when'
  const cases = [
    [warningsOf(forgetful.url), forgetful, `${lost} it restarts: set appendonly yes`],
    [warningsOf(late.url), late, `${lost} its machine fails: set appendfsync everysec or always`],
    // It refuses to show its settings.
    [warningsOf(silent.url, 'debug'), silent, 'appendfsync cannot be read'],
  ] as const
  const none = warningsOf(server.url)
  for (const [warnings, { port }, ...expected] of cases)
    await expect.poll(warnings).toEqual(expected.map((warning) => `${LOOPBACK}:${port} ${warning}`))
  expect(none()).toEqual([])
})

test('warns of each node of a Cluster, measures its memory, and follows its failover', async () => {
  const cluster = await startRedisCluster()
  onTestFinished(() => cluster.stop())
  const nodes = cluster.url.replace('redis+cluster://', '').split(',')
  const forgetful = nodes[2] ?? ''
  const node = new Redis(`redis://${forgetful}`)
  await node.config('SET', 'appendonly', 'no')
  node.disconnect()
  const warnings = warningsOf(cluster.url)
  const warning = expect.stringMatching(`${forgetful} .*appendonly`)
  await expect.poll(warnings).toEqual([warning])
  const store = connectRedis(cluster.url, log) as Cluster
  onTestFinished(() => store.disconnect())
  await once(store, 'ready')
  const metrics = createMetrics(() => ({ redis: store.status === 'ready' }))
  const watch = new RedisWatch({ redis: store, writes: new Writes(), metrics, log })
  await watch.round()
  const seen = await metrics.registry.metrics()
  for (const node of nodes) {
    expect(seen).toMatch(new RegExp(`^redis_memory_used_bytes\\{node="${node}"\\} [1-9]\\d{5,}$`, 'm'))
    expect(seen).toContain(`redis_memory_max_bytes{node="${node}"} 0`)
  }
  expect(seen).toContain('store_up{store="redis"} 1')
  // The replica takes over while its master stays up. The test then writes a key of that third of the slots.
  const port = Number(/:(\d+)@\S* (?:\w+,)?slave/.exec(String(await store.cluster('NODES')))?.[1])
  const replica = new Redis({ port, host: LOOPBACK })
  onTestFinished(() => replica.disconnect())
  await replica.cluster('FAILOVER')
  const follows = async () => {
    await Promise.allSettled([store.set('bar', 1), watch.round()])
    return store.nodes('master').some(({ options }) => options.port === port)
  }
  await expect.poll(follows).toBe(true)
  await expect.poll(() => store.set('bar', 1).catch(String)).toBe('OK')
  const parts = store.nodes()
  await cluster.stop()
  // The client learns of a node that it has not used yet only by using it, as each round of the watch does.
  const watched = () =>
    watch.round().then(
      () => metrics.registry.metrics(),
      () => metrics.registry.metrics(),
    )
  await expect.poll(watched).toContain('store_up{store="redis"} 0')
  // The client sends it by itself, and its failure is nobody's: the command behind it fails too.
  expect(new Set(await Promise.all(parts.map((node) => node.asking())))).toEqual(new Set(['OK']))
})
