/** The final responses (sold out and ended) come from memory for any number of visitors. */
import { expect, it } from 'vitest'
import type { Schedule } from '../../shared/schedule.ts'
import type { Env } from '../http/config.ts'
import { slowClock } from '../testing/clocks.ts'
import { edgeEnv, requestsTo } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { call, TestSale } from '../testing/visitors.ts'

/** Settings that count calls to objects: those that listen for updates, and all others. */
function counted() {
  const calls = { others: 0, listening: 0, listened: 0 }
  const counting = (namespace: { getByName(name: string): object }) => ({
    getByName: (name: string) =>
      new Proxy(namespace.getByName(name), {
        get: (object, method) => async (request: object) => {
          const listens = 'wait_ms' in request
          if (listens) calls.listening++
          else calls.others++
          try {
            return await Reflect.apply(Reflect.get(object, method), object, [request])
          } finally {
            if (listens) {
              calls.listening--
              calls.listened++
            }
          }
        },
      }),
  })
  const { WAITING_ROOM, TICKET_SHARD } = edgeEnv
  const env = { ...edgeEnv, WAITING_ROOM: counting(WAITING_ROOM), TICKET_SHARD: counting(TICKET_SHARD) }
  return { env: env as unknown as Env, calls }
}

it('serves hundreds of visitors of a sold-out sale with one listening call to an object', async () => {
  slowClock()
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const { env, calls } = counted()
  const phase = async () => (await (await call(`/sales/${sale.name}/schedule`, {}, env)).json<Schedule>()).phase
  await sale.publish({ phase: 'sold_out', products: [product(0, 0, 10_000)] })
  await sale.push()
  while ((await phase()) !== 'sold_out') await scheduler.wait(20)
  await expect.poll(() => calls.listening).toBe(1)
  // Earlier requests may still be in progress, so the test waits until no more calls are made.
  const callsOfOne = async () => {
    const { others } = calls
    await phase()
    return calls.others - others
  }
  await expect.poll(callsOfOne).toBe(0)
  const { others, listened } = calls

  const page = await sale.page({}, env)
  // A cache in front keeps it, until the edge purges it, and a browser hardly at all.
  expect(page.headers.get('cache-control')).toBe('public, max-age=1')
  expect(page.headers.get('cdn-cache-control')).toMatch(/^public, max-age=300,/)
  expect(page.headers.getSetCookie()).toEqual([])
  const etag = page.headers.get('etag') ?? ''
  // The sale is published again, and the response stays the same.
  await sale.push()
  const [since, before] = [performance.now(), await requestsTo(`/internal/sales/${sale.name}`)]
  for (let i = 0; i < 500; i += 5) {
    const answers = await Promise.all([
      sale.page({}, env),
      sale.page({ 'if-none-match': etag }, env),
      call(`/sales/${sale.name}/schedule`, {}, env),
      sale.status(queue_token, {}, env),
      sale.join({}, env),
    ])
    expect(answers.map((answer) => answer.status)).toEqual([200, 304, 200, 200, 410])
  }
  // One call listens for ten seconds. On a busy machine the copy may need a refresh at its end before the next call
  // listens.
  const ended = calls.listened - listened
  expect(ended).toBeLessThanOrEqual(1 + (performance.now() - since) / 10_000)
  expect(calls.others - others).toBeLessThanOrEqual(ended)
  expect(calls.listening).toBeLessThanOrEqual(1)
  // While a client listens, the waiting room calls the origin once a second, for any number of visitors.
  const { calls: looks } = await requestsTo(`/internal/sales/${sale.name}`)
  expect(looks - before.calls).toBeLessThanOrEqual(2 + (performance.now() - since) / 1000)

  await sale.publish({ phase: 'open', products: [product(5, 0, 10_000)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'open')
  expect((await sale.page()).headers.get('cache-control')).toBe('public, max-age=1')
})

it.concurrent.each([
  ['a restock', 'sold_out'],
  ['a later end', 'ended'],
] as const)('is live again after %s without a notification', async (_, phase) => {
  const sale = await new TestSale().publish({ phase, products: [product(0, 0, 5)] })
  await sale.until((schedule) => schedule.phase === phase)
  // A single visitor now and then does not keep the updates running.
  await sale.untilAskedAgain()
  await call(`/sales/${sale.name}`)
  await sale.publish({ phase: 'open', products: [product(5, 0, 5)] })
  await sale.until((schedule) => schedule.phase === 'open')
})

it.concurrent('keeps a place’s number, as ended, once the sale has ended', async () => {
  const sale = await new TestSale().publish()
  const place = await sale.joined()
  await sale.publish({ phase: 'ended' })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'ended')
  expect(await sale.statusOf(place.queue_token)).toMatchObject({ status: 'ended', number: place.number })
})
