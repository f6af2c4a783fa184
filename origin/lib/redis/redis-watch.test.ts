/** What the watch of Redis finds out, and does about it. */
import { once } from 'node:events'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { useFlakyProxy } from '../../../test/lib/flaky-proxy.ts'
import { useRedis } from '../../../test/lib/servers.ts'
import { createMetrics } from '../../base/metrics.ts'
import { Writes } from '../writes.ts'
import { connectRedis } from './redis.ts'
import { RedisWatch } from './redis-watch.ts'

const first = useRedis()
const second = useRedis()
let target: () => number = () => first.port
const way = useFlakyProxy(() => target())
const lines: { msg: string; policy?: string }[] = []
const log = pino({ level: 'warn' }, { write: (line) => void lines.push(JSON.parse(line)) })
const writes = new Writes()
let redis: ReturnType<typeof connectRedis>
let watch: RedisWatch
let there: Redis
beforeAll(async () => {
  redis = connectRedis(way.through(first.url), log, writes)
  there = new Redis(first.url)
  watch = new RedisWatch({ redis, writes, metrics: createMetrics(), log })
  await once(redis, 'ready')
})
afterAll(() => {
  redis.disconnect()
  there.disconnect()
})

test('hears that Redis is full from whoever writes, and that it is not any more', async () => {
  await there.config('SET', 'maxmemory', '1')
  await watch.round()
  expect(watch.refusal).toBe(null)
  await expect(redis.set('{a}:b', 1)).rejects.toThrow('OOM')
  expect(String(watch.refusal)).toContain('OOM')
  await expect(watch.round()).rejects.toThrow('OOM')
  expect(await redis.ping()).toBe('PONG')
  await there.config('SET', 'maxmemory', '0')
  await watch.round()
  expect(watch.refusal).toBe(null)
})

test('says that a changed setting may evict keys, and counts those that are gone', async () => {
  onTestFinished(() => void there.config('SET', 'maxmemory', '0'))
  await watch.round()
  expect(watch.evicting).toBe(null)
  await redis.mset('a', 1, 'b', 1)
  await there.config('SET', 'maxmemory-policy', 'allkeys-lru')
  await watch.round()
  expect(watch.evicting).toEqual({ policy: 'allkeys-lru', keys: 0 })
  await there.config('SET', 'maxmemory', '1')
  await there.set('c', 1).catch(() => {})
  await watch.round()
  expect(watch.evicting?.keys).toBeGreaterThanOrEqual(2)
  expect(lines.filter(({ policy }) => policy === 'allkeys-lru')).toHaveLength(1)
  await there.config('SET', 'maxmemory-policy', 'noeviction')
  await watch.round()
  expect(watch.evicting).toBe(null)
})

test.each(['a look', 'a refused write'])(
  'leaves a server that became a replica on %s, which closed no connection',
  async (how) => {
    target = () => first.port
    way.cut()
    await there.replicaof('NO', 'ONE')
    await expect.poll(() => redis.set('before', 1).catch(String)).toBe('OK')
    await there.replicaof('127.0.0.1', second.port)
    target = () => second.port
    if (how === 'a look') await watch.round()
    else await expect(redis.set('after', 1)).rejects.toThrow('READONLY')
    await expect.poll(() => redis.set('after', 1).catch(String)).toBe('OK')
    expect(await redis.config('GET', 'port')).toEqual(['port', String(second.port)])
  },
)

test('uses no replica, also where the address still leads to one', async () => {
  target = () => first.port
  await there.replicaof('127.0.0.1', second.port)
  way.cut()
  await expect.poll(() => lines.some(({ msg }) => msg === 'Redis is away')).toBe(true)
  expect(redis.status).not.toBe('ready')
  await there.replicaof('NO', 'ONE')
  await expect.poll(() => redis.set('again', 1).catch(String)).toBe('OK')
})
