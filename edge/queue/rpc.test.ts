/** How objects are asked: every answer is released, and a call that failed is made again. */
import { runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { Env } from '../config.ts'
import { call, edgeEnv, TestSale } from '../testing/visitors.ts'
import { TicketShard } from './ticket-shard.ts'

/** Settings in which a sale's waiting room is asked through `ask`. */
function withRoom(sale: TestSale, ask: (method: string, request: object) => Promise<object>): Env {
  const methods = ['look', 'lease', 'takeBack', 'refresh'].map((method) => [
    method,
    (request: object) => ask(method, request),
  ])
  const getByName = (name: string) => (name === sale.name ? Object.fromEntries(methods) : null)
  return { ...edgeEnv, WAITING_ROOM: { getByName } } as unknown as Env
}

/** The origin says that something has changed. */
function refresh(sale: TestSale, env: Env): Promise<Response> {
  const headers = { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}` }
  return call(`/internal/sales/${sale.name}/refresh`, { method: 'POST', headers }, env)
}

it('releases every answer of the waiting room, whoever asked', async () => {
  const sale = await new TestSale().tell()
  const [asked, released]: [string[], string[]] = [[], []]
  const env = withRoom(sale, async (method, request) => {
    asked.push(method)
    const answer: object = await Reflect.apply(Reflect.get(sale.room, method), sale.room, [request])
    return { ...answer, [Symbol.dispose]: () => released.push(method) }
  })
  await runInDurableObject(sale.shard(0), async (_, state) => {
    const shard = new TicketShard(state, env)
    await shard.look({ sale: sale.name })
    await shard.look({ sale: sale.name, wait_ms: 1, newer_than: 1 })
    expect(await shard.take({ sale: sale.name, count: 1 })).toMatchObject({ granted: true })
  })
  await refresh(sale, env)
  expect(asked).toEqual(['look', 'look', 'lease', 'refresh'])
  expect(released).toEqual(asked)
})

it('asks once more when the waiting room fails while an operator’s change is told', async () => {
  const sale = await new TestSale().tell()
  let calls = 0
  const env = withRoom(sale, async (_, request) => {
    if (++calls === 1) throw new Error('in trouble')
    return sale.room.refresh(request as { sale: string })
  })
  const told = await refresh(sale, env)
  expect([told.status, calls]).toEqual([204, 2])
})

it('asks to come again when the waiting room goes on failing', async () => {
  const sale = await new TestSale().tell()
  const env = withRoom(sale, () => Promise.reject(new Error('in trouble')))
  const told = await refresh(sale, env)
  expect(told.status).toBe(503)
})

it('asks to come again while the waiting room knows nothing of the sale yet, and says so when there is none', async () => {
  const sale = new TestSale()
  const told = (reason: string) =>
    refresh(
      sale,
      withRoom(sale, async () => ({ known: false, reason })),
    )
  expect((await told('unavailable')).status).toBe(503)
  expect((await told('unknown-sale')).status).toBe(404)
})
