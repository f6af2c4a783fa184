/** Final answers: sold out and ended, told from memory to any number of visitors. */
import { expect, it } from 'vitest'
import type { Env } from './config.ts'
import { asked, call, edgeEnv, product, TestSale } from './testing/edge.ts'

const HTML = { accept: 'text/html' }

/** The Worker's settings, counting each call to an object. */
function counted(): { env: Env; calls: () => number } {
  let calls = 0
  const counting = <N extends object>(namespace: N): N =>
    new Proxy(namespace, {
      get(target, name) {
        const value: unknown = Reflect.get(target, name)
        if (typeof value !== 'function') return value
        return (...args: unknown[]) => {
          calls++
          return Reflect.apply(value, target, args)
        }
      },
    })
  const env = {
    ...edgeEnv,
    WAITING_ROOM: counting(edgeEnv.WAITING_ROOM),
    TICKET_SHARD: counting(edgeEnv.TICKET_SHARD),
  }
  return { env, calls: () => calls }
}

it('tells ten thousand visitors that it is sold out without a call to an object or the origin', async () => {
  const sale = await new TestSale().tell()
  const { queue_token } = await sale.joined()
  const place = { headers: { authorization: `Bearer ${queue_token}` } }
  await sale.tell({ phase: 'sold_out', products: [product(0, 0, 10_000)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'sold_out')

  const page = await call(`/sales/${sale.name}`, { headers: HTML })
  expect(page.headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
  expect(page.headers.getSetCookie()).toEqual([])
  const etag = page.headers.get('etag') ?? ''
  // Told anew, it is still the same answer.
  await sale.push()
  const { env, calls } = counted()
  const before = await asked(`/internal/sales/${sale.name}`)
  for (let i = 0; i < 10_000; i += 5) {
    const answers = await Promise.all([
      call(`/sales/${sale.name}`, { headers: HTML }, env),
      call(`/sales/${sale.name}`, { headers: { ...HTML, 'if-none-match': etag } }, env),
      call(`/sales/${sale.name}/schedule`, {}, env),
      call(`/sales/${sale.name}/queue/status`, place, env),
      call(`/sales/${sale.name}/queue`, { method: 'POST' }, env),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([200, 304, 200, 200, 410])
  }
  expect(calls()).toBe(0)
  // What is left is the waiting room's own look once a second, however many ask.
  const { calls: looks } = await asked(`/internal/sales/${sale.name}`)
  expect(looks - before.calls).toBeLessThanOrEqual(10)

  const since = performance.now()
  await sale.tell({ phase: 'open', products: [product(5, 0, 10_000)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'open', 2_000)
  expect(performance.now() - since).toBeLessThan(2_000)
  expect((await call(`/sales/${sale.name}`, { headers: HTML })).headers.get('cache-control')).toBe('no-store')
}, 60_000)

it.concurrent('is live again within two seconds of a restock that nobody told it of', async () => {
  const sale = await new TestSale().tell({ phase: 'sold_out', products: [product(0, 0, 5)] })
  await sale.until((schedule) => schedule.phase === 'sold_out')
  // One visitor now and then, so that nobody's request keeps the news coming.
  await scheduler.wait(1_500)
  await call(`/sales/${sale.name}`)
  await sale.tell({ phase: 'open', products: [product(5, 0, 5)] })
  await sale.until((schedule) => schedule.phase === 'open', 2_000)
})

it.concurrent('says the same to everyone once the sale has ended', async () => {
  const sale = await new TestSale().tell()
  const place = await sale.joined()
  await sale.tell({ phase: 'ended' })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'ended')
  expect(await sale.statusOf(place.queue_token)).toMatchObject({ status: 'ended', number: place.number })
  const join = await sale.join()
  expect(join.status).toBe(410)
  expect(await join.json()).toMatchObject({ type: '/problems/ended' })
  const page = await call(`/sales/${sale.name}`, { headers: { ...HTML, cookie: `queue-${sale.name}=x` } })
  expect(page.headers.get('cache-control')).toContain('public')
  const json = await call(`/sales/${sale.name}`, { headers: { accept: 'application/json' } })
  expect(await json.json()).toMatchObject({ sale: sale.name, phase: 'ended' })
})
