import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../test/origin-process.ts'
import { type RedisCluster, startRedisCluster } from '../../test/redis-cluster.ts'
import { createMetrics } from './metrics.ts'
import { connectRedis, watchMemory } from './redis.ts'

let cluster: RedisCluster
let redis: ReturnType<typeof connectRedis>
beforeAll(async () => {
  cluster = await startRedisCluster()
  redis = connectRedis(cluster.url, pino({ level: 'silent' }))
  await once(redis, 'ready')
})
afterAll(async () => {
  redis.disconnect()
  await cluster.stop()
})

test('the memory of every node of a Cluster is told, and that none of them is there', async () => {
  const metrics = createMetrics(() => ({ redis: redis.status === 'ready' }))
  await watchMemory(redis, metrics)
  const seen = await metrics.registry.metrics()
  const masters = cluster.url.replace('redis+cluster://', '').split(',')
  for (const node of masters) {
    expect(seen).toMatch(new RegExp(`^redis_memory_used_bytes\\{node="${node}"\\} [1-9]\\d{5,}$`, 'm'))
    expect(seen).toContain(`redis_memory_max_bytes{node="${node}"} 0`)
  }
  expect(seen).toContain('store_up{store="redis"} 1')
  await cluster.stop()
  const away = 'store_up{store="redis"} 0'
  const told = await eventually(
    () => metrics.registry.metrics(),
    (text) => text.includes(away),
  )
  expect(told).toContain(away)
})
