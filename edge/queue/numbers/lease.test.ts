import fc from 'fast-check'
import { expect, it } from 'vitest'
import { Block, Grants, ISOLATE_LEASE_MS, IsolateDemand, LEASE_MS, type Lease, type UnusedRange } from './lease.ts'

it('hands out no number twice, whatever unused ranges come back, in whatever order', () => {
  // A room that leases, blocks that hand out and sublease, and unused ranges that arrive late, twice or never.
  const step = fc.record({
    what: fc.constantFrom(
      ...['lease', 'take', 'take', 'take', 'sublease'],
      ...['giveBack', 'deliver', 'deliverTwice', 'lose'],
    ),
    which: fc.nat(20),
    count: fc.integer({ min: 1, max: 12 }),
  })
  // `size` is required: without it an array has at most ten items, whatever its `maxLength`.
  fc.assert(
    fc.property(fc.array(step, { maxLength: 200, size: 'max' }), (steps) => {
      const grants = new Grants()
      let next = 1
      const given = new Set<number>()
      const blocks: { block: Block; parent: Block | null }[] = []
      const travelling: { rest: UnusedRange; to: Block | null }[] = []
      const lease = (first: number, count: number, id: number): Lease => ({
        id,
        first,
        count,
        lives_ms: 1_000,
        lapses_in_ms: null,
      })
      const deliver = ({ rest, to }: { rest: UnusedRange; to: Block | null }) => {
        if (to) to.takeBack(rest)
        else next = grants.takeBack(rest, next)
      }
      for (const { what, which, count } of steps) {
        const chosen = blocks[which % Math.max(1, blocks.length)]
        const parcel = travelling[which % Math.max(1, travelling.length)]
        if (what === 'lease') {
          blocks.push({ block: new Block(lease(next, count, grants.grant(next, count)), 0, 0), parent: null })
          next += count
        } else if (what === 'take') {
          const number = chosen?.block.take(1)
          if (number) {
            expect(given.has(number), `number ${number} was given twice`).toBe(false)
            expect(number).toBeLessThan(next)
            given.add(number)
          }
        } else if (what === 'sublease') {
          const sub = chosen?.block.sublease(count, 80, 1)
          if (chosen && sub) blocks.push({ block: new Block(sub, 1, 1), parent: chosen.block })
        } else if (what === 'giveBack') {
          const rest = chosen?.block.giveBack()
          if (chosen && rest) travelling.push({ rest, to: chosen.parent })
        } else if (parcel) {
          if (what !== 'lose') deliver(parcel)
          if (what !== 'deliverTwice') travelling.splice(travelling.indexOf(parcel), 1)
        }
      }
    }),
    { numRuns: 150 },
  )
})

it('takes back an unused range once, so that it is no gap', () => {
  const grants = new Grants()
  const id = grants.grant(1, 100)
  const shard = new Block({ id, first: 1, count: 100, lives_ms: 250, lapses_in_ms: null }, 0, 0)
  const sub = shard.sublease(50, 80, 1)
  if (!sub) throw new Error('no lease')
  const isolate = new Block(sub, 1, 1)
  for (let i = 0; i < 10; i++) isolate.take(2)
  const unused = isolate.giveBack()
  if (!unused) throw new Error('nothing left')
  expect(isolate.take(3)).toBeNull()
  shard.takeBack(unused)
  const rest = shard.giveBack()
  expect(rest).toEqual({ lease: id, first: 11, count: 90 })
  if (rest) expect(grants.takeBack(rest, 101)).toBe(11)
  if (rest) expect(grants.takeBack(rest, 101)).toBe(101)
})

it('ignores a range that comes back again when its numbers are on lease again', () => {
  // Found by the explorer: the isolate's call arrived twice, and in between the block and its numbers had gone back.
  const lease = { id: 1, first: 15, count: 1, lives_ms: 250, lapses_in_ms: null }
  const subleased = (block: Block, atMs: number) => {
    const sub = block.sublease(1, 80, atMs)
    if (!sub) throw new Error('no lease')
    return new Block(sub, atMs, atMs)
  }
  const unused = subleased(new Block(lease, 0, 0), 1).giveBack()
  const next = new Block(lease, 400, 400)
  expect(subleased(next, 401).take(401)).toBe(15)
  if (unused) next.takeBack(unused)
  expect(next.take(402)).toBeNull()
})

it('hands out no number of the pre-queue after its end, however slow the calls', () => {
  const ms = fc.integer({ min: 0, max: 600 })
  fc.assert(
    fc.property(ms, ms, ms, ms, fc.integer({ min: 1, max: 450 }), ms, (ask, reply, hold, trip, lapses, wait) => {
      // Granted at 0 by a clock that the others cannot see; each counts from its own request.
      const lease = { id: 1, first: 1, count: 100, lives_ms: 250, lapses_in_ms: lapses }
      const shard = new Block(lease, -ask, reply)
      const leasedOnAt = reply + hold
      expect(shard.left(leasedOnAt) === 0 || leasedOnAt <= lapses).toBe(true)
      const sub = shard.sublease(10, 80, leasedOnAt)
      if (!sub) return
      const isolate = new Block(sub, leasedOnAt - ask, leasedOnAt + trip)
      const at = leasedOnAt + trip + wait
      expect(isolate.take(at) === null || at <= lapses).toBe(true)
    }),
    { numRuns: 500 },
  )
})

it('a lease ends when the clock is put back, since its age is not known', () => {
  const block = new Block({ id: 1, first: 1, count: 10, lives_ms: 250, lapses_in_ms: null }, 1_000, 1_010)
  expect(block.take(1_100)).toBe(1)
  expect(block.take(900)).toBeNull()
})

it('asks for those who wait, and in a crowd whose leases are long on their way for those who come after it too', () => {
  const after = (everyMs: number) => {
    const demand = new IsolateDemand()
    for (let atMs = 0; atMs < 1_000; atMs += everyMs) demand.add(1, atMs)
    return demand
  }
  const [few, many, tripMs] = [after(10), after(2), ISOLATE_LEASE_MS + 1]
  // The lease holds the expected joins of its lifetime, less a margin for chance.
  const inLife = expect.closeTo(ISOLATE_LEASE_MS / 2 - 6, -0.5)
  expect(many.lease(3, ISOLATE_LEASE_MS, 1_000)).toEqual({ for_ms: ISOLATE_LEASE_MS, count: inLife })
  expect(many.lease(200, ISOLATE_LEASE_MS, 1_000)).toEqual({ for_ms: ISOLATE_LEASE_MS, count: 200 })
  expect(few.lease(40, tripMs, 1_000)).toEqual({ for_ms: ISOLATE_LEASE_MS, count: 40 })
  const { for_ms, count } = many.lease(200, tripMs, 1_000)
  expect([for_ms, count]).toEqual([LEASE_MS, expect.closeTo(200 + LEASE_MS / 2 - 11, -1)])
})
