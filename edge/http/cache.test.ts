/** The cache before the Worker: what is kept is purged when it changes. */
import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { describe, expect, it, vi } from 'vitest'
import { CachePurges } from '../queue/cache-purges.ts'
import { eventually } from '../testing/clocks.ts'
import { edgeEnv, requestsTo } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { call, TestSale } from '../testing/visitors.ts'
import { CACHE_TTL, cacheHeaders, purgeSale, tagOf, withCacheRule } from './cache.ts'
import type { Call } from './call.ts'

/** When the sale was purged at CACHE_PURGE_URL. */
async function purgesOf(sale: TestSale): Promise<number[]> {
  const { requests } = await requestsTo('/cache')
  const ofSale = ({ method, headers }: (typeof requests)[number]) =>
    method === 'PURGE' &&
    headers['cache-tag'] === tagOf(sale.name) &&
    headers.authorization === `Bearer ${edgeEnv.CACHE_PURGE_TOKEN}`
  return requests.filter(ofSale).map(({ atMs }) => atMs)
}

describe('whatever a handler forgets', () => {
  const ruled = (headers: Record<string, string>, setCookies: string[] = []) =>
    Object.fromEntries(withCacheRule(new Response('x', { headers }), { setCookies } as unknown as Call).headers)

  it('keeps nothing that does not say that it may be kept', () => {
    expect(ruled({ vary: 'accept' })).toMatchObject({ vary: 'accept', 'cache-control': 'no-store' })
    expect(ruled({ 'cdn-cache-control': 'max-age=60' })).toMatchObject({ 'cache-control': 'no-store' })
    expect(ruled({ 'cdn-cache-control': 'max-age=60' })).not.toHaveProperty('cdn-cache-control')
  })

  it('keeps nothing with a cookie', () => {
    const kept = cacheHeaders('one', CACHE_TTL.final)
    expect(ruled(kept)).toMatchObject(kept)
    const own = ruled(kept, ['place=mine'])
    expect(own['cache-control']).toBe('no-store')
    for (const name of ['cdn-cache-control', 'cache-tag']) expect(own).not.toHaveProperty(name)
  })
})

it('purges what is kept of a sale when it is sold out, and when it lives again', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  expect(await purgesOf(sale)).toEqual([])
  for (const [phase, products] of [
    ['sold_out', [product(0, 0, 5)]],
    ['open', [product(5, 0, 5)]],
  ] as const) {
    const before = await purgesOf(sale)
    await sale.publish({ phase, products: [...products] })
    await sale.push()
    const { timeline } = await eventually(async () => {
      const snapshot = await sale.room.poll({ queue: sale.name })
      return snapshot.known && snapshot.snapshot.timeline.at(-1)?.schedule.phase === phase && snapshot.snapshot
    })
    const since = async () => (await purgesOf(sale)).slice(before.length)
    await expect.poll(since).not.toEqual([])
    // The purge comes after the schedule takes effect: a purge before that could store the old response again.
    const [purgedAtMs] = await since()
    expect(purgedAtMs).toBeGreaterThan(timeline.find(({ schedule }) => schedule.phase === phase)?.from_ms ?? Number.NaN)
  }
})

it('purges what is kept of a sale when an operator changes it, and not for its stock', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  await sale.publish({ products: [product(9_990, 5, 5)] })
  await sale.push()
  await sale.until(({ products }) => products[0]?.available === 9_900)
  await sale.untilAskedAgain()
  expect(await purgesOf(sale)).toEqual([])
  const page = async () => (await sale.page()).text()
  await sale.publish({ name: 'Another name' })
  await sale.push()
  await expect.poll(async () => (await purgesOf(sale)).length).toBeGreaterThan(0)
  await expect.poll(page).toContain('Another name')
  const before = await purgesOf(sale)
  const announcement = {
    id: 'one',
    level: 'info',
    text: { en: 'More at three' },
    since: '2026-11-21T12:00:00.000Z',
  } as const
  await sale.publish({ announcement })
  await sale.push()
  await expect.poll(async () => (await purgesOf(sale)).length).toBeGreaterThan(before.length)
  await expect.poll(page).toContain('More at three')
})

it('repeats a purge that failed, or that ended with its object, and tells the origin', async () => {
  const sale = await new TestSale().publish()
  await sale.joined()
  const stored = { atMs: [Date.now() - 1], failures: 1 }
  await runInDurableObject(sale.room, (_, { storage }) => storage.kv.put('purges', stored))
  await abortAllDurableObjects()
  await sale.push()
  await expect.poll(async () => (await purgesOf(sale)).length).toBe(1)
  const toldFailures = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const told = requests.map(({ query }) => new URLSearchParams(query).get('purge_failures'))
    return [...new Set(told.slice(told.indexOf('1')))]
  }
  await expect.poll(toldFailures).toEqual(['1', '0', null])
})

it('is due again until it is done, and what changes meanwhile has purges of its own', () =>
  runInDurableObject(new TestSale().room, async (_, { storage }) => {
    const purges = new CachePurges(storage)
    purges.add(Date.now() - 1_000)
    expect(await purges.makeDue(async () => false)).toBe(true)
    expect(purges.failures).toBe(1)
    // The next instance reads what is stored.
    const again = new CachePurges(storage)
    expect(again.failures).toBe(1)
    expect(again.nextAtMs).toBeGreaterThan(Date.now())
    expect(await again.makeDue(async () => true)).toBe(false)
    const changedAtMs = Date.now()
    again.add(changedAtMs - 500)
    expect(
      await again.makeDue(async () => {
        again.add(changedAtMs + 60_000)
        return true
      }),
    ).toBe(true)
    expect([again.failures, again.nextAtMs]).toEqual([0, changedAtMs + 60_500])
    await storage.deleteAll()
  }))

it('purges Workers Cache by the entrypoint that it stands before', async () => {
  const purged: object[] = []
  let success = true
  const cache = {
    purge: async (options: object) => {
      purged.push(options)
      return { success, errors: [] }
    },
  }
  const headers = { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}` }
  const purge = (sent: object) =>
    call('/internal/sales/one/purge', { method: 'POST', headers: { ...sent } }, edgeEnv, { cache })
  expect([(await purge({})).status, (await purge(headers)).status]).toEqual([401, 204])
  expect(purged).toEqual([{ tags: ['sale-one'] }])
  success = false
  expect((await purge(headers)).status).toBe(503)
  // The purge runs inside an object here, because this runtime has no such cache.
  const settings = { cachePurgeUrl: null, cachePurgeToken: undefined, edgeToken: edgeEnv.EDGE_TOKEN }
  const byObject = (token: string) =>
    runInDurableObject(new TestSale().room, (_, state) =>
      purgeSale('one', { ...settings, edgeToken: token }, state.exports),
    )
  expect(await byObject(settings.edgeToken)).toBe(true)
  vi.spyOn(scheduler, 'wait').mockResolvedValue()
  expect(await byObject('another')).toBe(false)
})
