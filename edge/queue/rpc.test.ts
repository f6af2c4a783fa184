/** Calls to objects: every response is disposed of, and a failed call is retried. */
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import { PUBLIC_LINE } from '../../shared/api/access.ts'
import type { Env } from '../http/config.ts'
import { edgeEnv } from '../testing/origin.ts'
import { TestSale } from '../testing/visitors.ts'
import { TicketShard } from './numbers/ticket-shard.ts'

/** Settings in which calls to a sale's waiting room go through `respond`. */
function withRoom(sale: TestSale, respond: (method: string, request: string) => Promise<object>): Env {
  const methods = ['poll', 'lease', 'takeBack', 'refresh'].map((method) => [
    method,
    (request: string) => respond(method, request),
  ])
  const getByName = (name: string) => (name === sale.name ? Object.fromEntries(methods) : null)
  return { ...edgeEnv, WAITING_ROOM: { getByName } } as unknown as Env
}

it('disposes of every response of the waiting room, whoever called', async () => {
  const sale = await new TestSale().publish()
  const [called, disposed]: [string[], string[]] = [[], []]
  const env = withRoom(sale, async (method, request) => {
    called.push(method)
    const answer: object = await Reflect.apply(Reflect.get(sale.room, method), sale.room, [request])
    return { ...answer, [Symbol.dispose]: () => disposed.push(method) }
  })
  await runInDurableObject(sale.shard(0), async (_, state) => {
    const shard = new TicketShard(state, env)
    await shard.poll({ queue: sale.name })
    await shard.poll({ queue: sale.name, wait_ms: 1, newer_than: 1 })
    expect(await shard.take({ queue: sale.name, count: 1 })).toMatchObject({ granted: true })
  })
  await sale.push(PUBLIC_LINE, env)
  expect(called).toEqual(['poll', 'poll', 'lease', 'refresh'])
  expect(disposed).toEqual(called)
})

it('retries when the waiting room fails once', async () => {
  const sale = await new TestSale().publish()
  let calls = 0
  const env = withRoom(sale, async (_, request) => {
    if (++calls === 1) throw new Error('in trouble')
    return sale.room.refresh(request)
  })
  const response = await sale.push(PUBLIC_LINE, env)
  expect([response.status, calls]).toEqual([204, 2])
})

it.each([
  ['goes on failing', () => Promise.reject(new Error('in trouble')), 503],
  ['cannot read the sale', async () => ({ known: false, reason: 'unavailable' }), 503],
  ['knows no such sale', async () => ({ known: false, reason: 'unknown-sale' }), 404],
] as const)('responds with a problem when the waiting room %s', async (_, respond, status) => {
  const sale = await new TestSale().publish()
  expect((await sale.push(PUBLIC_LINE, withRoom(sale, respond))).status).toBe(status)
})
