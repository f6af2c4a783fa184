import { once } from 'node:events'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { useFlakyProxy } from '../../test/lib/flaky-proxy.ts'
import { useRedis } from '../../test/lib/servers.ts'
import { connectRedis } from '../lib/redis/redis.ts'
import { OrderChanges } from './order-changes.ts'

const server = useRedis()
const way = useFlakyProxy(() => server.port)
const log = pino({ level: 'silent' })
const messages: (readonly string[])[] = []
let changes: OrderChanges
let redis: ReturnType<typeof connectRedis>
let stop: () => void

beforeAll(async () => {
  redis = connectRedis(way.through(server.url), log)
  await once(redis, 'ready')
  changes = new OrderChanges(redis, log)
  changes.onChange((ids) => messages.push(ids))
  stop = changes.start()
})
afterAll(() => {
  stop()
  redis.disconnect()
})

/** Until what is published is heard. */
async function untilHeard(id: string) {
  await expect
    .poll(() => {
      changes.publish([id])
      return messages.flat()
    })
    .toContain(id)
}

test('the changes of many orders travel in few messages, in order', async () => {
  await untilHeard('first')
  messages.length = 0
  const ids = Array.from({ length: 250 }, (_, i) => `order-${i}`)
  for (const id of ids) changes.publish([id])
  await expect.poll(() => messages.flat().filter((id) => id !== 'first')).toEqual(ids)
  expect(messages.length).toBeLessThan(10)
})

test('are heard again after the connection of the listener was lost', async () => {
  await untilHeard('before')
  expect(await redis.call('client', 'kill', 'type', 'pubsub')).toBe(1)
  await untilHeard('after')
})

test('are heard again after the network forgot the connection of the listener', async () => {
  await untilHeard('known')
  way.vanish()
  await untilHeard('forgotten')
})

test('no process ends when the new connection breaks before its subscription is answered', async () => {
  const unhandled: unknown[] = []
  const note = (reason: unknown) => void unhandled.push(reason)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  await untilHeard('whole')
  way.resetAt('subscribe')
  way.cut()
  await expect.poll(way.hasReset).toBe(true)
  await untilHeard('mended')
  expect(unhandled).toEqual([])
})
