/** The fast gate of one product: reserving, ending holds, rebuilding and reading its intents, on a real Redis. */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { freePort, LOOPBACK } from '../../../dev/lib/processes.ts'
import { reservationOf } from '../../../test/lib/samples.ts'
import { useRedis } from '../../../test/lib/servers.ts'
import { defineScripts, type Store } from '../scripts.ts'
import { Gate } from './gate.ts'
import type { HoldEnd } from './hold-ends.ts'

const server = useRedis()
let redis: Store
beforeAll(() => {
  redis = defineScripts(new Redis(server.url))
})
afterAll(() => redis.disconnect())

const TERMS = { holdMs: 60_000, limit: 10, demand: [] }
let sale = ''
let sales = 0
let gate: Gate

/** Replaces `gate` by the open gate of a new sale. */
async function openGate(available: number, more: Readonly<Record<string, number>> = {}): Promise<void> {
  sale = `sale-${++sales}`
  gate = new Gate(redis, sale)
  const counts = Object.entries({ one: available, ...more })
  await (await gate.fence()).open(counts.map(([product, available]) => ({ product, available, held: 0 })))
}
beforeEach(() => openGate(10))

function buyer(visitor: string = randomUUIDv7(), quantity = 1, key?: string) {
  const r = reservationOf('s')
  return { ...r, visitor, quantity, key: key ?? r.order }
}
type Call = ReturnType<typeof buyer>
const holdEndsAtMs = Date.now() + 3_600_000
const live = (call: Call) => ({ ...call, holdEndsAtMs })
const adopt = (call: Call) => gate.adopt(call, holdEndsAtMs)
const stock = async (product = 'one') => (await gate.stock())?.get(product)

test('names the holds that are over, and when the next one ends', async () => {
  expect(await gate.due(10)).toEqual({ orders: [], nextInMs: null })
  const [over, later] = [buyer(), buyer()]
  await gate.adopt(over, Date.now() - 60_000)
  expect(await gate.due(10)).toEqual({ orders: [over.order], nextInMs: null })
  await adopt(later)
  const { orders, nextInMs } = await gate.due(10)
  expect(orders).toEqual([over.order])
  expect(nextInMs).toBeGreaterThan(3_000_000)
  expect(nextInMs).toBeLessThanOrEqual(3_600_000)
})

describe('after orders that failed', () => {
  const reserve = (visitor: string, ...demand: number[]) => gate.reserve(buyer(visitor), { ...TERMS, demand })
  /** An order of the visitor's that fails. */
  const churn = async (visitor: string, how: HoldEnd['how'] = 'unpaid') => {
    const call = buyer(visitor)
    expect(await gate.reserve(call, TERMS)).toMatchObject({ verdict: 'reserved' })
    // A repeated settlement counts once.
    for (let again = 0; again < 2; again++) await gate.settle([{ ...call, how }])
  }

  test('others come first who wait and have fewer, unless there is enough for them', async () => {
    await churn('ann')
    for (let times = 0; times < 3; times++) await churn('bob')
    await churn('cid', 'release')
    // The first decline is no squatter's order.
    await churn('cid', 'declined')
    expect(await reserve('ann', 10, 10)).toEqual({ verdict: 'unpaid', unpaid: 1, available: 10, held: 0 })
    // A visitor with more unpaid orders than the list has entries gets the last entry.
    for (const demand of [[0, 10], [10]])
      expect(await reserve('bob', ...demand)).toMatchObject({ verdict: 'unpaid', unpaid: 3 })
    expect(await reserve('ann', 9, 10)).toMatchObject({ verdict: 'reserved', available: 9 })
    expect(await reserve('cid', 10, 10)).toMatchObject({ verdict: 'reserved', available: 8 })
    await churn('cid', 'declined')
    expect(await reserve('cid', 10, 10)).toMatchObject({ verdict: 'unpaid', unpaid: 1 })
  })

  test('says so where nothing is left, and learns it from the ledger, also for a rebuilt gate', async () => {
    await openGate(1)
    await churn('ann')
    await gate.learnUnpaid('cid', 2)
    await (await gate.fence()).open([{ product: 'one', available: 1, held: 0 }])
    for (const visitor of ['ann', 'cid']) expect(await reserve(visitor, 1)).toMatchObject({ verdict: 'unpaid' })
    await reserve('bob', 1)
    expect(await Promise.all(['ann', 'dan', 'cid'].map((visitor) => reserve(visitor, 1)))).toEqual([
      { verdict: 'none', unpaid: 1, available: 0, held: 1 },
      { verdict: 'none', available: 0, held: 1 },
      { verdict: 'none', unpaid: 2, available: 0, held: 1 },
    ])
  })
})

test('bounds what each of several networks holds unpaid, and lets one without holds take any quantity', async () => {
  await openGate(30, { two: 20 })
  const from = (networks: string, quantity: number) => ({ ...buyer(undefined, quantity), networks })
  const cart = (networks: string) => ({ ...from(networks, 2), cart: [{ product: 'two', quantity: 2 }] })
  const verdicts = async (...calls: Call[]) =>
    (await Promise.all(calls.map((call) => gate.reserve(call, TERMS)))).map(({ verdict }) => verdict)
  const [a, b, c] = [from('a=4 wide=8', 4), from('b=4 wide=8', 3), from('c=4 wide=8', 2)]
  expect(await verdicts(a, from('a=4 wide=8', 1), b, c, buyer())).toEqual([
    'reserved',
    'network_full',
    'reserved',
    'network_full',
    'reserved',
  ])
  expect(await verdicts(from('d=4', 9), cart('d=4'))).toEqual(['reserved', 'network_full'])
  // What is paid, given back or refused is no longer held; each once.
  await gate.settle([{ ...a, how: 'sell' }])
  await gate.settle([{ ...a, how: 'unpaid' }])
  const again = cart('a=4 wide=8')
  expect(await verdicts(again, from('a=4 wide=8', 2), c)).toEqual(['reserved', 'reserved', 'network_full'])
  await gate.settle([{ ...again, how: 'refuse' }])
  expect(await verdicts(c)).toEqual(['reserved'])
  // A rebuild forgets them.
  await (await gate.fence()).open([{ product: 'one', available: 30, held: 0 }])
  expect(await verdicts(from('a=4 wide=8', 4))).toEqual(['reserved'])
})

test('decides for several products in one script call, with one limit for all of them', async () => {
  await openGate(1, { two: 2 })
  await redis.config('RESETSTAT')
  const products = ['one', 'two', 'one', 'two', 'two', 'new']
  const calls = products.map((product, i) => ({ ...buyer(i === 3 ? 'v0' : `v${i}`), product }))
  const terms = { ...TERMS, limit: 1 }
  expect(await Promise.all(calls.map((call) => gate.reserve(call, terms)))).toEqual([
    { verdict: 'reserved', available: 0, held: 1 },
    { verdict: 'reserved', available: 0, held: 2 },
    { verdict: 'none', available: 0, held: 1 },
    { verdict: 'limit', units: 1, order: calls[0]?.order, available: 0, held: 2 },
    { verdict: 'reserved', available: 0, held: 2 },
    // A product that was added since the gate was loaded.
    { verdict: 'fenced' },
  ])
  expect(await redis.info('commandstats')).toMatch(/cmdstat_evalsha:calls=1,/)
  expect([await gate.isOpen(['one', 'two']), await gate.isOpen(['one', 'new'])]).toEqual([true, false])
  const [one, two] = calls as [(typeof calls)[0], (typeof calls)[0]]
  await gate.settle([
    { ...one, how: 'release' },
    { ...two, how: 'sell' },
  ])
  expect([await stock('one'), await stock('two')]).toEqual([
    { available: 1, held: 0 },
    { available: 0, held: 1 },
  ])
})

test('gives each caller of a batch the verdict that a plain model gives one after the other', async () => {
  const few = (count: number) => fc.integer({ min: 1, max: count })
  const call = fc.record({ visitor: few(4), key: few(5), quantity: few(3) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(call, { minLength: 1, maxLength: 12 }), { maxLength: 6 }),
      few(4),
      async (batches, limit) => {
        await openGate(9)
        let available = 9
        const orders = new Map<string, string>()
        const latest = new Map<string, { units: number; order: string }>()
        const intents: string[] = []
        for (const batch of batches) {
          const calls = batch.map(({ visitor, key, quantity }) => buyer(`v${visitor}`, quantity, `k${key}`))
          const expected = calls.map(({ order, visitor, key, quantity }) => {
            const known = orders.get(`${visitor}|${key}`)
            if (known) return { verdict: 'replay', order: known }
            const has = latest.get(visitor)
            if ((has?.units ?? 0) + quantity > limit)
              return { verdict: 'limit', units: has?.units ?? 0, order: has?.order ?? '' }
            if (available < quantity) return { verdict: 'none' }
            available -= quantity
            orders.set(`${visitor}|${key}`, order)
            latest.set(visitor, { units: (has?.units ?? 0) + quantity, order })
            intents.push(order)
            return { verdict: 'reserved' }
          })
          const verdicts = await Promise.all(calls.map((one) => gate.reserve(one, { ...TERMS, limit })))
          expect(verdicts).toMatchObject(expected)
        }
        expect(await stock()).toEqual({ available, held: 9 - available })
        expect((await gate.intents.read(100)).map(({ order }) => order).sort()).toEqual(intents.sort())
      },
    ),
    { numRuns: 30 },
  )
})

test('remembers a bounded number of keys per visitor, and never replaces a key with an order of its own', async () => {
  const remember = (call: Call) => gate.rememberKey(call, 'the-order')
  const own = buyer('ann', 1, 'own')
  await gate.reserve(own, TERMS)
  await remember(own)
  for (let i = 0; i < 25; i++) await remember(buyer('ann', 1, `k${i}`))
  await remember(buyer('bob', 1, 'k'))
  const replay = { verdict: 'replay', order: 'the-order', hash: 'h' }
  expect(await gate.reserve(own, TERMS)).toMatchObject({ verdict: 'replay', order: own.order })
  const calls = [buyer('ann', 1, 'k0'), buyer('ann', 1, 'k19'), buyer('ann', 1, 'k20'), buyer('bob', 1, 'k')]
  const verdicts = [replay, replay, { verdict: 'reserved' }, replay]
  expect(await Promise.all(calls.map((call) => gate.reserve(call, TERMS)))).toMatchObject(verdicts)
})

test('keeps keys and limits through a rebuild', async () => {
  const calls = [buyer('ann'), buyer('ann')] as const
  for (const call of calls) await gate.reserve(call, TERMS)
  const rebuild = await gate.fence()
  expect(await gate.reserve(buyer('ann'), TERMS)).toEqual({ verdict: 'fenced' })
  await rebuild.restore(calls.map(live))
  expect(await rebuild.open([{ product: 'one', available: 8, held: 2 }])).toBe(true)
  expect(await stock()).toEqual({ available: 8, held: 2 })
  expect(await gate.reserve(calls[0], TERMS)).toMatchObject({ verdict: 'replay', order: calls[0].order })
  expect(await gate.reserve(buyer('ann'), { ...TERMS, limit: 2 })).toMatchObject({ verdict: 'limit' })
})

test('ignores a rebuild that was overtaken by another', async () => {
  const call = buyer()
  const abandoned = await gate.fence()
  const rebuild = await gate.fence()
  await abandoned.restore([live(call)])
  await rebuild.restore([live(call)])
  await abandoned.restore([live(call)])
  expect(await abandoned.open([{ product: 'one', available: 10, held: 0 }])).toBe(false)
  expect(await rebuild.open([{ product: 'one', available: 9, held: 1 }])).toBe(true)
  await abandoned.restore([live(call)])
  const { verdict } = await gate.reserve(buyer(call.visitor), { ...TERMS, limit: 2 })
  expect(verdict).toBe('reserved')
})

test.each(['sell', 'release'] as const)('counts orders that end (%s) during a rebuild exactly once', async (how) => {
  const calls = Array.from({ length: 8 }, () => buyer())
  const ends = calls.map((call) => ({ ...call, how }))
  const rebuild = await gate.fence()
  // Two ended before the ledger was read, two end before they are restored, two after, one after the rebuild.
  await gate.settle(ends.slice(0, 4))
  await rebuild.restore(calls.slice(2).map(live))
  await gate.settle(ends.slice(4, 6))
  const back = (ended: number) => (how === 'release' ? ended : 0)
  expect(await rebuild.open([{ product: 'one', available: 2 + back(2), held: 6 }])).toBe(true)
  expect(await stock()).toEqual({ available: 2 + back(6), held: 2 })
  expect(await gate.settle(ends.slice(0, 7))).toBe(1)
  expect(await stock()).toEqual({ available: 2 + back(7), held: 1 })
})

test.each([
  ['sell', { verdict: 'limit', units: 1 }],
  ['release', { verdict: 'reserved' }],
] as const)('counts the end (%s) of an order that is restored only after it was counted as held', async (how, next) => {
  const calls = [buyer(), buyer()] as const
  const ends = calls.map((call) => ({ ...call, how }))
  const rebuild = await gate.fence()
  await rebuild.restore([live(calls[0])])
  // The other is recorded without the gate; then the counts are read, and both orders are read as begun.
  await adopt(calls[1])
  await gate.settle(ends)
  await rebuild.restore(calls.map(live))
  expect(await rebuild.open([{ product: 'one', available: 8, held: 2 }])).toBe(true)
  expect(await stock()).toEqual({ available: how === 'release' ? 10 : 8, held: 0 })
  expect(await gate.settle(ends)).toBe(0)
  for (const { visitor } of calls)
    expect(await gate.reserve(buyer(visitor), { ...TERMS, limit: 1 })).toMatchObject(next)
})

test('counts once an order that was recorded without the gate and sold before it is restored', async () => {
  const call = buyer()
  const rebuild = await gate.fence()
  await adopt(call)
  await gate.settle([{ ...call, how: 'sell' }])
  await rebuild.restore([{ ...call, holdEndsAtMs: null }])
  expect(await rebuild.open([{ product: 'one', available: 9, held: 0 }])).toBe(true)
  expect(await stock()).toEqual({ available: 9, held: 0 })
  const limit = { verdict: 'limit', units: 1 }
  expect(await gate.reserve(buyer(call.visitor), { ...TERMS, limit: 1 })).toMatchObject(limit)
})

test('counts once each order recorded without the gate during a rebuild, whenever it is adopted', async () => {
  await openGate(20)
  const calls = Array.from({ length: 9 }, () => buyer())
  const restorable = calls.map(live)
  const adoptSome = (from: number, to: number) => Promise.all(calls.slice(from, to).map(adopt))
  const ends = calls.map((call) => ({ ...call, how: 'release' as const }))
  const rebuild = await gate.fence()
  await adoptSome(0, 1)
  const sold = buyer()
  await adopt(sold)
  await rebuild.restore([...restorable.slice(0, 2), { ...sold, holdEndsAtMs: null }])
  await gate.settle([{ ...sold, how: 'sell' }])
  // The counts include the first five and not the others; two that they include have ended by then.
  await adoptSome(1, 4)
  await adoptSome(5, 7)
  await rebuild.restore(restorable.slice(0, 3))
  await rebuild.restore(restorable.slice(4, 5))
  await gate.settle(ends.slice(3, 4))
  await gate.settle(ends.slice(5, 6))
  expect(await rebuild.open([{ product: 'one', available: 15, held: 4 }])).toBe(true)
  expect(await stock()).toEqual({ available: 14, held: 5 })
  await adoptSome(0, 3)
  await adoptSome(4, 5)
  await adoptSome(6, 9)
  expect(await stock()).toEqual({ available: 12, held: 7 })
  const again = calls[8] as Call
  expect(await gate.reserve(again, TERMS)).toMatchObject({ verdict: 'replay', order: again.order })
  expect(await gate.settle(ends)).toBe(7)
  expect(await stock()).toEqual({ available: 19, held: 0 })
})

test('reads, finds, counts and removes the intents that a plain model has', async () => {
  const index = fc.nat(30)
  const visitor = fc.string({ minLength: 1, maxLength: 20, unit: 'grapheme' })
  const step = fc.oneof(
    fc.record({ do: fc.constant('reserve' as const), visitors: fc.array(visitor, { minLength: 1, maxLength: 8 }) }),
    fc.record({
      do: fc.constantFrom('recorded', 'refused', 'released', 'fenced'),
      which: fc.array(index, { maxLength: 4 }),
    }),
  )
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      await openGate(1_000)
      const model = new Map<string, Call>()
      const all: Call[] = []
      for (const one of steps) {
        if ('visitors' in one) {
          const of = (i: number) => ({ sale, method: i % 2 ? 'pm_ok' : null, number: i })
          const calls = one.visitors.map((name, i) => ({ ...buyer(name, 1 + (i % 3)), ...of(i) }))
          await Promise.all(calls.map((call) => gate.reserve(call, { ...TERMS, limit: 1_000 })))
          for (const call of calls) model.set(call.order, call)
          all.push(...calls)
          continue
        }
        if (one.do === 'fenced') await (await gate.fence()).open([{ product: 'one', available: 1_000, held: 0 }])
        const chosen = one.which.flatMap((i) => all[i] ?? [])
        for (const call of chosen) {
          if (one.do === 'refused') await gate.settle([{ ...call, how: 'refuse' }])
          if (one.do === 'released') await gate.settle([{ ...call, how: 'release' }])
          if (one.do === 'recorded') await redis.hdel(`{${sale}}:unrecorded`, call.order)
          if (one.do === 'recorded' || one.do === 'refused') model.delete(call.order)
        }
      }
      const sorted = (calls: Iterable<Call | null>) =>
        [...calls].sort((a, b) => ((a?.order ?? '') < (b?.order ?? '') ? -1 : 1))
      expect(sorted((await gate.intents.read(1_000)).map(({ reservation }) => reservation))).toEqual(
        sorted(model.values()),
      )
      expect(await gate.intents.count()).toBe(model.size)
      expect(await Promise.all(all.map(({ order }) => gate.intents.find(order)))).toEqual(
        all.map(({ order }) => model.get(order)),
      )
    }),
    { numRuns: 30 },
  )
})

test('reads the oldest intents first, and all of them in several reads', async () => {
  await openGate(1_000)
  const calls: string[] = []
  for (let i = 0; i < 10; i++) {
    const batch = Array.from({ length: 100 }, () => buyer())
    await Promise.all(batch.map((call) => gate.reserve(call, TERMS)))
    calls.push(...batch.map(({ order }) => order).sort())
    const clock = () => redis.clockMs(`{${sale}}:stock`)
    await expect.poll(clock, { interval: 1 }).toBeGreaterThan(await clock())
  }
  expect((await gate.intents.read(1_000)).map(({ order }) => order)).toEqual(calls)
  const seen: string[] = []
  while (seen.length < calls.length) {
    const some = await gate.intents.read(300)
    expect(some).not.toEqual([])
    await gate.intents.remove(some)
    seen.push(...some.map(({ order }) => order))
  }
  expect(seen.sort()).toEqual(calls.toSorted())
  expect(await gate.intents.read(300)).toEqual([])
})

test("skips young intents, but not those that lie ahead of Redis's clock after it was put back", async () => {
  const [before, after] = [buyer(), buyer()]
  await gate.reserve(before, TERMS)
  const there = `{${sale}}:unrecorded`
  const stored = (await redis.hget(there, before.order)) ?? ''
  // This is the time of a server whose clock was an hour ahead.
  await redis.hset(there, after.order, stored.replace(/^\d+/, String(Date.now() + 3_600_000)))
  const found = await gate.intents.read(10, 600_000)
  expect(found.map(({ order }) => order)).toEqual([after.order])
  expect(await gate.intents.read(10)).toHaveLength(2)
})

test('keeps visitors and keys apart, whatever characters they contain', async () => {
  for (const [visitor, key] of [
    ['user:auth0|7', 'k'],
    ['user:auth0', '7|k'],
    ['ann lee', 'k'],
    ['ann', 'lee|k'],
  ] as const)
    expect(await gate.reserve(buyer(visitor, 1, key), TERMS)).toMatchObject({ verdict: 'reserved' })
})

test('does not trust a master that was replaced and is master again, though it ran all the time', async () => {
  const server = redis as Redis
  // The address has no master, so the data stays as it is.
  await server.replicaof(LOOPBACK, await freePort())
  await server.replicaof('NO', 'ONE')
  expect(await gate.isOpen(['one'])).toBe(false)
  expect(await gate.stock()).toBeNull()
  expect(await gate.reserve(buyer(), TERMS)).toEqual({ verdict: 'fenced' })
  await (await gate.fence()).open([{ product: 'one', available: 7, held: 3 }])
  expect(await stock()).toEqual({ available: 7, held: 3 })
})

test('expires a day after it was last looked after: the counter first, and no intent', async () => {
  await gate.reserve(buyer(), TERMS)
  await gate.extendExpiry()
  const hours = async (key: string) => Math.max(0, Math.round((await redis.pttl(`{${sale}}:${key}`)) / 3_600_000))
  const keys = ['stock', 'holds', 'keys', 'visitors', 'unrecorded']
  expect(await Promise.all(keys.map(hours))).toEqual([24, 48, 48, 48, 0])
})

test('the data of many orders is freed aside, before a rebuild and at the end, which leaves the intents', async () => {
  const freed = async () => Number(/^lazyfreed_objects:(\d+)/m.exec(await redis.info('memory'))?.[1])
  const restored = async () => {
    const rebuild = await gate.fence()
    await rebuild.restore(Array.from({ length: 1_000 }, () => live(buyer())))
    await rebuild.open([{ product: 'one', available: 10, held: 1_000 }])
  }
  await restored()
  const before = await freed()
  await restored()
  await expect.poll(freed).toBeGreaterThanOrEqual(before + 3)
  expect(await gate.reserve(buyer(), TERMS)).toMatchObject({ verdict: 'reserved' })
  const rebuilt = await freed()
  await gate.remove()
  await expect.poll(freed).toBeGreaterThanOrEqual(rebuilt + 3)
  expect(await redis.keys(`{${sale}}:*`)).toEqual([`{${sale}}:unrecorded`])
})
