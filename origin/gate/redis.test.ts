import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../test/origin.ts'
import { useRedis } from '../../test/servers.ts'
import { useWay } from '../../test/way.ts'
import { connectRedis, type Store } from './redis.ts'

const server = useRedis()
const way = useWay(() => server.port)
let redis: Store
beforeAll(async () => {
  redis = connectRedis(way.through(server.url), pino({ level: 'silent' }))
  await once(redis, 'ready')
})
afterAll(() => redis.disconnect())

test('a connection that is idle is kept', async () => {
  const id = await redis.client('ID')
  await sleep(1_500)
  expect(await redis.client('ID')).toBe(id)
})

test('one on which nothing is answered is given up, and commands are answered on a new one', async () => {
  const id = await redis.client('ID')
  way.vanish()
  const asked = performance.now()
  await expect(redis.ping()).rejects.toThrow()
  expect(performance.now() - asked).toBeLessThan(1_500)
  expect(
    await eventually(
      () => redis.ping().catch(String),
      (answer) => answer === 'PONG',
      1_000,
    ),
  ).toBe('PONG')
  expect(await redis.client('ID')).not.toBe(id)
})
