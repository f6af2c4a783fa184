import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventually } from '../../test/origin.ts'
import { useRedis } from '../../test/servers.ts'
import { useWay } from '../../test/way.ts'
import { isAway } from '../app.ts'
import { freePort, LOOPBACK } from '../local/children.ts'
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

test('whatever it is that fails a command while Redis is away, a caller is told to try again', async () => {
  const failed: Error[] = []
  const fails = (asked: Promise<unknown>) =>
    asked.then(
      () => failed.push(new Error('was answered')),
      (error) => failed.push(error),
    )
  way.vanish()
  const underWay = fails(redis.ping())
  await sleep(50)
  way.cut()
  await underWay
  await fails(redis.ping())
  const nowhere = connectRedis(`redis+cluster://${LOOPBACK}:${await freePort()}`, pino({ level: 'silent' }))
  await fails(nowhere.ping())
  nowhere.disconnect()
  expect(failed.filter((error) => !isAway(error))).toEqual([])
})
