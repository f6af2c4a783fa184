import { once } from 'node:events'
import { Redis } from 'ioredis'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { freePort, LOOPBACK } from '../../dev/lib/processes.ts'
import { startRedisCluster } from '../../test/lib/redis-cluster.ts'
import { useRedis } from '../../test/lib/servers.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { Replicas } from './replicas.ts'
import { defineScripts } from './scripts.ts'

const server = useRedis()

test('asks the node of the key, where Redis is a Cluster', async () => {
  const cluster = await startRedisCluster()
  onTestFinished(() => cluster.stop())
  const redis = defineScripts(connectRedis(cluster.url, pino({ level: 'silent' })))
  onTestFinished(() => redis.disconnect())
  await once(redis, 'ready')
  const replicas = new Replicas(redis)
  // One for each third of the slots. Only the first third has a replica, which is waited for behind a mark.
  const keys = ['bar', 'c', 'foo']
  await expect
    .poll(async () => {
      for (const key of keys) await replicas.caughtUp(key)
      return Promise.all(keys.map((key) => redis.exists(key)))
    })
    .toEqual([1, 0, 0])
})

test('promises nothing on a server that became a replica, and follows the address', async () => {
  const there = new Redis(server.url)
  onTestFinished(() => there.disconnect())
  const redis = defineScripts(connectRedis(server.url, pino({ level: 'silent' })))
  onTestFinished(() => redis.disconnect())
  await once(redis, 'ready')
  const replicas = new Replicas(redis)
  await replicas.caughtUp('a')
  await there.replicaof(LOOPBACK, await freePort())
  await expect(replicas.caughtUp('a')).rejects.toThrow('replica')
  await there.replicaof('NO', 'ONE')
  await expect.poll(() => replicas.caughtUp('a').then(() => 'caught up', String)).toBe('caught up')
})
