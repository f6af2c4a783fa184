import { once } from 'node:events'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { startRedisCluster } from '../../test/lib/redis-cluster.ts'
import { connectRedis } from '../lib/redis.ts'
import { Replicas } from './replicas.ts'
import { defineScripts } from './scripts.ts'

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
