/** A product's stock in several buckets: as one, whoever asks, and however units move between them. */
import { randomUUIDv7 } from 'node:crypto'
import fc from 'fast-check'
import { Redis } from 'ioredis'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { freePort, LOOPBACK } from '../../dev/processes.ts'
import { useRedis } from '../../test/servers.ts'
import type { Store } from '../lib/redis.ts'
import type { Bucket, ReserveAnswer } from './bucket.ts'
import { Gate } from './gate.ts'
import { defineScripts } from './scripts.ts'

const server = useRedis()
let redis: Store
beforeAll(() => {
  redis = defineScripts(new Redis(server.url))
})
afterAll(() => redis.disconnect())

const BUCKETS = 5
let sales = 0

/** A gate with units spread over its buckets, as several origins see it. */
async function gates(available: number, origins = 1): Promise<Gate[]> {
  const sale = `sale-${++sales}`
  const all = Array.from({ length: origins }, () => new Gate(redis, sale, 'one', BUCKETS))
  await (await all[0]?.fence())?.open({ available, held: 0 })
  return all
}

const TERMS = { holdMs: 60_000, limit: 10 }

function buyer(visitor: string = randomUUIDv7(), quantity = 1, key?: string) {
  const order = randomUUIDv7()
  return {
    ...{ order, sale: 's', product: 'one', visitor, number: 1, key: key ?? order, hash: 'h', quantity },
    method: null,
  }
}

/** Visitors who all have the same bucket. */
function neighbours(gate: Gate, bucket: Bucket | undefined, count: number): string[] {
  const found: string[] = []
  while (found.length < count) {
    const visitor = randomUUIDv7()
    if (gate.bucketOf(visitor) === bucket) found.push(visitor)
  }
  return found
}

const reserved = (answers: readonly ReserveAnswer[]) => answers.filter((a) => a.verdict === 'reserved').length
const isSoldOut = (a: ReserveAnswer) => a.verdict === 'none' && a.available === 0 && a.held === 0

test('all units are sold, and no more, to visitors of one bucket as to those of all', async () => {
  const [gate] = (await gates(7)) as [Gate]
  const visitors = neighbours(gate, gate.buckets[2], 12)
  const answers = await Promise.all(visitors.map((visitor) => gate.reserve(buyer(visitor), TERMS)))
  expect(reserved(answers)).toBe(7)
  expect(await gate.stock()).toEqual({ available: 0, held: 7 })
})

test('a crowd at several origins takes every unit once', async () => {
  const all = await gates(100, 3)
  const answers = await Promise.all(
    Array.from({ length: 400 }, (_, i) => (all[i % 3] as Gate).reserve(buyer(), TERMS)),
  )
  expect(reserved(answers)).toBe(100)
  expect(answers.filter(isSoldOut)).toEqual([])
  expect(await all[0]?.stock()).toEqual({ available: 0, held: 100 })
})

test('two units at once are found where each bucket has only one', async () => {
  const [gate] = (await gates(BUCKETS)) as [Gate]
  expect(await gate.reserve(buyer(randomUUIDv7(), 2), TERMS)).toMatchObject({ verdict: 'reserved' })
  expect(await gate.reserve(buyer(randomUUIDv7(), 3), TERMS)).toMatchObject({ verdict: 'reserved' })
  expect(await gate.reserve(buyer(randomUUIDv7(), 1), TERMS)).toMatchObject({
    verdict: 'none',
    available: 0,
    held: 5,
  })
})

test('nobody hears "sold out" while the last unit goes from hand to hand', async () => {
  const all = await gates(1, 3)
  const until = performance.now() + 3_000
  const answers: ReserveAnswer[] = []
  await Promise.all(
    Array.from({ length: 12 }, async (_, i) => {
      const gate = all[i % 3] as Gate
      while (performance.now() < until) {
        const call = buyer()
        const answer = await gate.reserve(call, TERMS)
        answers.push(answer)
        if (answer.verdict === 'reserved') await gate.settle([{ ...call, how: 'release' }])
      }
    }),
  )
  expect(reserved(answers)).toBeGreaterThan(100)
  expect(answers.filter(isSoldOut)).toEqual([])
  expect(await all[0]?.stock()).toEqual({ available: 1, held: 0 })
  const last = buyer()
  await all[0]?.reserve(last, TERMS)
  await all[0]?.settle([{ ...last, how: 'sell' }])
  expect(isSoldOut((await all[1]?.reserve(buyer(), TERMS)) as ReserveAnswer)).toBe(true)
})

test('a bucket says to each of a group what a plain model of it says to one after the other', async () => {
  const few = (count: number) => fc.integer({ min: 1, max: count })
  const call = fc.record({ visitor: few(4), key: few(5), quantity: few(3) })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.array(call, { minLength: 1, maxLength: 12 }), { maxLength: 6 }),
      few(4),
      async (groups, limit) => {
        const sale = `sale-${++sales}`
        const gate = new Gate(redis, sale, 'one', 1)
        await (await gate.fence()).open({ available: 9, held: 0 })
        let available = 9
        const orders = new Map<string, string>()
        const standing = new Map<string, { units: number; order: string }>()
        const intents: string[] = []
        for (const group of groups) {
          const calls = group.map(({ visitor, key, quantity }) => buyer(`v${visitor}`, quantity, `k${key}`))
          const expected = calls.map(({ order, visitor, key, quantity }) => {
            const known = orders.get(`${visitor}|${key}`)
            if (known) return { verdict: 'replay', order: known }
            const has = standing.get(visitor)
            if ((has?.units ?? 0) + quantity > limit)
              return { verdict: 'limit', units: has?.units ?? 0, order: has?.order ?? '' }
            if (available < quantity) return { verdict: 'none' }
            available -= quantity
            orders.set(`${visitor}|${key}`, order)
            standing.set(visitor, { units: (has?.units ?? 0) + quantity, order })
            intents.push(order)
            return { verdict: 'reserved' }
          })
          const answers = await Promise.all(calls.map((one) => gate.reserve(one, { ...TERMS, limit })))
          expect(answers).toMatchObject(expected)
        }
        expect(await gate.stock()).toEqual({ available, held: 9 - available })
        expect((await gate.intents(100)).map(({ intent }) => intent?.order)).toEqual(intents)
      },
    ),
    { numRuns: 100 },
  )
})

test('of a visitor so many keys are remembered that heard of an order, and none that has one itself', async () => {
  const [gate] = (await gates(5)) as [Gate]
  const [ann, bob] = ['ann', 'bob'].map((visitor) => (key: string) => buyer(visitor, 1, key))
  if (!ann || !bob) throw new Error('nobody is there')
  const remember = (call: ReturnType<typeof buyer>) => gate.bucketOf(call.visitor).remember(call, 'the-order')
  const own = ann('own')
  await gate.reserve(own, TERMS)
  await remember(own)
  for (let i = 0; i < 25; i++) await remember(ann(`k${i}`))
  await remember(bob('k'))
  const replay = { verdict: 'replay', order: 'the-order', hash: 'h' }
  expect(await gate.reserve(ann('own'), TERMS)).toMatchObject({ verdict: 'replay', order: own.order })
  const answers = await Promise.all(
    [ann('k0'), ann('k19'), ann('k20'), bob('k')].map((call) => gate.reserve(call, TERMS)),
  )
  expect(answers).toMatchObject([replay, replay, { verdict: 'reserved' }, replay])
})

test('a key and a limit hold across buckets, and after a rebuild', async () => {
  const [gate] = (await gates(10)) as [Gate]
  const visitor = randomUUIDv7()
  const [first, second] = [buyer(visitor), buyer(visitor)]
  await gate.reserve(first, TERMS)
  await gate.reserve(second, TERMS)
  const rebuild = await gate.fence()
  expect(await gate.reserve(buyer(visitor), TERMS)).toEqual({ verdict: 'fenced' })
  const live = [first, second].map(({ order, key, hash, quantity }) => ({
    order,
    visitor,
    key,
    hash,
    quantity,
    holdEndsAtMs: Date.now() + 60_000,
  }))
  await rebuild.restore(live)
  expect(await rebuild.open({ available: 8, held: 2 })).toBe(true)
  expect(await gate.stock()).toEqual({ available: 8, held: 2 })
  expect(await gate.reserve(first, TERMS)).toMatchObject({ verdict: 'replay', order: first.order })
  expect(await gate.reserve(buyer(visitor), { ...TERMS, limit: 2 })).toMatchObject({
    verdict: 'limit',
  })
})

test('units that were on their way when the gate was rebuilt are not counted twice', async () => {
  const [gate] = (await gates(10)) as [Gate]
  const [from, to] = gate.buckets as [Bucket, Bucket]
  const lent = await from.lend(1)
  if (!lent) throw new Error('the gate is fenced')
  expect(await gate.stock()).toEqual({ available: 9, held: 1 })
  await (await gate.fence()).open({ available: 10, held: 0 })
  expect(await to.take(lent)).toBe(false)
  await from.arrived(lent)
  expect(await gate.stock()).toEqual({ available: 10, held: 0 })
})

test('what an abandoned rebuild still puts back does not land in the one that followed', async () => {
  const [gate] = (await gates(10)) as [Gate]
  const { order, visitor, key, hash, quantity } = buyer()
  const live = { order, visitor, key, hash, quantity, holdEndsAtMs: Date.now() + 60_000 }
  const abandoned = await gate.fence()
  const rebuild = await gate.fence()
  await abandoned.restore([live])
  await rebuild.restore([live])
  await abandoned.restore([live])
  expect(await rebuild.open({ available: 9, held: 1 })).toBe(true)
  await abandoned.restore([live])
  expect(await gate.reserve(buyer(visitor), { ...TERMS, limit: 2 })).toMatchObject({ verdict: 'reserved' })
})

test.each(['sell', 'release'] as const)(
  'orders that end (%s) while the gate is rebuilt are counted once',
  async (how) => {
    const [gate] = (await gates(10)) as [Gate]
    const calls = Array.from({ length: 8 }, () => buyer())
    const live = calls.map(({ order, visitor, key, hash, quantity }) => {
      return { order, visitor, key, hash, quantity, holdEndsAtMs: Date.now() + 60_000 }
    })
    const ends = calls.map((call) => ({ ...call, how }))
    const rebuild = await gate.fence()
    // Two before they are put back, two after, two that the ledger's counts do not know yet, and one when it is over.
    await gate.settle(ends.slice(0, 2))
    await rebuild.restore(live)
    await gate.settle(ends.slice(2, 6))
    await rebuild.settle(ends.slice(0, 4))
    const back = (ended: number) => (how === 'release' ? ended : 0)
    expect(await rebuild.open({ available: 2 + back(4), held: 4 })).toBe(true)
    expect(await gate.stock()).toEqual({ available: 2 + back(6), held: 2 })
    expect(await gate.settle(ends.slice(0, 7))).toBe(1)
    expect(await gate.stock()).toEqual({ available: 2 + back(7), held: 1 })
    const held = await Promise.all(gate.buckets.map(async (bucket) => (await bucket.stock())?.held))
    expect(held.sort()).toEqual([0, 0, 0, 0, 1])
  },
)

test.each([
  ['sell', { verdict: 'limit', units: 1 }],
  ['release', { verdict: 'reserved' }],
] as const)(
  'one that ends (%s) when it was counted as held, and is put back after that, has ended all the same',
  async (how, next) => {
    const [gate] = (await gates(10)) as [Gate]
    const calls = [buyer(), buyer()] as const
    const live = calls.map((call) => ({ ...call, holdEndsAtMs: Date.now() + 60_000 }))
    const ends = calls.map((call) => ({ ...call, how }))
    const rebuild = await gate.fence()
    await rebuild.restore(live.slice(0, 1))
    // The other one is recorded without the gate; then the counts are read, and with them both as what has begun.
    await gate.bucketOf(calls[1].visitor).adopt(calls[1], Date.now() + 60_000)
    await gate.settle(ends)
    await rebuild.restore(live)
    expect(await rebuild.open({ available: 8, held: 2 })).toBe(true)
    expect(await gate.stock()).toEqual({ available: how === 'release' ? 10 : 8, held: 0 })
    expect(await gate.settle(ends)).toBe(0)
    for (const { visitor } of calls)
      expect(await gate.reserve(buyer(visitor), { ...TERMS, limit: 1 })).toMatchObject(next)
  },
)

test('one that was recorded without the gate, and sold before the others are put back, is counted once', async () => {
  const [gate] = (await gates(10)) as [Gate]
  const call = buyer()
  const rebuild = await gate.fence()
  await gate.bucketOf(call.visitor).adopt(call, Date.now() + 60_000)
  await gate.settle([{ ...call, how: 'sell' }])
  await rebuild.restore([{ ...call, holdEndsAtMs: null }])
  expect(await rebuild.open({ available: 9, held: 0 })).toBe(true)
  expect(await gate.stock()).toEqual({ available: 9, held: 0 })
  const next = await gate.reserve(buyer(call.visitor), { ...TERMS, limit: 1 })
  expect(next).toMatchObject({ verdict: 'limit', units: 1 })
})

test('orders that were recorded without the gate while it was rebuilt are counted once, whenever it hears of them', async () => {
  const [gate] = (await gates(20)) as [Gate]
  const calls = Array.from({ length: 9 }, () => buyer())
  const live = calls.map(({ order, visitor, key, hash, quantity }) => {
    return { order, visitor, key, hash, quantity, holdEndsAtMs: Date.now() + 60_000 }
  })
  const adopt = (from: number, to: number) =>
    Promise.all(
      calls.slice(from, to).map((call) => gate.bucketOf(call.visitor).adopt(call, Date.now() + 60_000)),
    )
  const ends = calls.map((call) => ({ ...call, how: 'release' as const }))
  const rebuild = await gate.fence()
  await adopt(0, 1)
  const sold = buyer()
  await gate.bucketOf(sold.visitor).adopt(sold, Date.now() + 60_000)
  await rebuild.restore([...live.slice(0, 2), { ...sold, holdEndsAtMs: null }])
  await gate.settle([{ ...sold, how: 'sell' }])
  // The counts are read with the first five and without the others; two that they had have ended by then.
  await adopt(1, 4)
  await adopt(5, 7)
  await gate.settle(ends.slice(3, 4))
  await rebuild.restore(live.slice(0, 3))
  await rebuild.restore(live.slice(4, 5))
  await rebuild.settle([...ends.slice(3, 4)])
  await gate.settle(ends.slice(5, 6))
  expect(await rebuild.open({ available: 15, held: 4 })).toBe(true)
  expect(await gate.stock()).toEqual({ available: 14, held: 5 })
  await adopt(0, 3)
  await adopt(4, 5)
  await adopt(6, 9)
  expect(await gate.stock()).toEqual({ available: 12, held: 7 })
  const again = calls[8] as (typeof calls)[0]
  expect(await gate.reserve(again, TERMS)).toMatchObject({ verdict: 'replay', order: again.order })
  expect(await gate.settle(ends)).toBe(7)
  expect(await gate.stock()).toEqual({ available: 19, held: 0 })
})

test('an order that waits is found however many wait, and the stream is read once for all who ask', async () => {
  const [gate] = (await gates(25_000)) as [Gate]
  const calls = Array.from({ length: 21_000 }, () => buyer())
  for (let i = 0; i < calls.length; i += 1_000)
    await Promise.all(calls.slice(i, i + 1_000).map((call) => gate.reserve(call, TERMS)))
  await redis.config('RESETSTAT')
  const asked = [...calls.slice(-199), buyer()]
  const found = await Promise.all(asked.map(({ order }) => gate.waitingOf(order)))
  expect(found).toEqual([...asked.slice(0, -1), undefined])
  const [, reads] = /cmdstat_xrange:calls=(\d+)/.exec(await redis.info('commandstats')) ?? []
  expect(Number(reads)).toBeLessThanOrEqual(21 + 2 * BUCKETS)
})

test("intents that are on their way are left alone, but not those that a clock put back has left ahead of Redis's", async () => {
  const [gate] = (await gates(10)) as [Gate]
  const bucket = gate.buckets[0] as Bucket
  const [before, after] = [buyer(), buyer()]
  await bucket.reserve(before, TERMS)
  const stream = `{sale-${sales}:one:0}:intents`
  // The stream of a server whose clock was an hour ahead when it took the one that is recorded since.
  const ahead = (await redis.xadd(stream, Date.now() + 3_600_000, 'reservation', '')) ?? ''
  await redis.xdel(stream, ahead)
  await bucket.reserve(after, TERMS)
  const found = await bucket.intents(10, 600_000)
  expect(found.map(({ intent }) => intent?.order)).toEqual([after.order])
  expect(await bucket.intents(10)).toHaveLength(2)
})

test('a visitor and a key are told from others, whatever they are called', async () => {
  const [gate] = (await gates(4 * BUCKETS)) as [Gate]
  const bucket = gate.buckets[0]
  for (const [visitor, key] of [
    ['user:auth0|7', 'k'],
    ['user:auth0', '7|k'],
    ['ann lee', 'k'],
    ['ann', 'lee|k'],
  ] as const)
    expect(await bucket?.reserve(buyer(visitor, 1, key), TERMS)).toMatchObject({ verdict: 'reserved' })
})

test('a master that was replaced, and is master again, is not believed, though it has run all the time', async () => {
  const [gate] = (await gates(10)) as [Gate]
  const server = redis as Redis
  // There is nobody to follow: what it knows stays as it is.
  await server.replicaof(LOOPBACK, await freePort())
  await server.replicaof('NO', 'ONE')
  expect(await gate.isOpen()).toBe(false)
  expect(await gate.stock()).toBeNull()
  expect(await gate.reserve(buyer(), TERMS)).toEqual({ verdict: 'fenced' })
  await (await gate.fence()).open({ available: 7, held: 3 })
  expect(await gate.stock()).toEqual({ available: 7, held: 3 })
})

test('what is not looked after is forgotten after a day, the counter first, but no intent', async () => {
  const [gate] = await gates(200)
  await Promise.all(Array.from({ length: 100 }, () => gate?.reserve(buyer(), TERMS)))
  await gate?.keep()
  const ttls = new Map<string, number[]>()
  for (const key of await redis.keys(`{sale-${sales}:one:*`)) {
    const what = key.split('}:')[1] ?? ''
    ttls.set(what, [...(ttls.get(what) ?? []), Math.max(0, Math.round((await redis.pttl(key)) / 3_600_000))])
  }
  expect(Object.fromEntries(ttls)).toEqual({
    stock: Array(BUCKETS).fill(24),
    holds: Array(BUCKETS).fill(48),
    keys: Array(BUCKETS).fill(48),
    visitors: Array(BUCKETS).fill(48),
    intents: Array(BUCKETS).fill(0),
  })
})
