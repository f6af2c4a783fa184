/**
 * Sixty ticket shards, of two hubs and more, in one workerd: what the waiting room hears of them, and that their
 * numbers are unique.
 */
import { expect, it, onTestFinished, vi } from 'vitest'
import { knownCookie, TestSale } from '../../testing/visitors.ts'
import type { LeaseRequest, SnapshotRequest } from '../rpc.ts'
import { MIRROR_MS } from '../timeline.ts'
import { WaitingRoom } from '../waiting-room.ts'
import { HUB_LEASE_MS, LEASE_MS } from './lease.ts'
import { hubsOf, mirrorName, mirrorsOf, objectNames, shardName, upstreamName } from './tree.ts'

it('gives each object another name, and each shard of a hub that hub', () => {
  for (const shards of [1, 24, 25, 200, 2_000]) {
    const names = objectNames('drop', shards)
    const mirrors = Array.from({ length: mirrorsOf(shards) }, (_, i) => mirrorName('drop', i, shards))
    expect(new Set(names).size).toBe(shards + hubsOf(shards) + (hubsOf(shards) > 0 ? mirrors.length : 0))
    for (const mirror of mirrors) expect(names).toContain(mirror)
    for (let i = 0; i < shards; i++) {
      const upstream = upstreamName(shardName('drop', i, shards))
      expect(upstream === 'drop' ? hubsOf(shards) === 0 : names.includes(upstream)).toBe(true)
    }
  }
})

it('calls the waiting room as often as there are hubs and mirrors, however many ticket shards there are', async () => {
  const shards = 60
  const sale = await new TestSale().publish({ ticket_shards: shards })
  await sale.until((schedule) => schedule.phase === 'open')
  // The spies are on the prototype, because another object can be called only through methods of its class.
  const [lease, poll] = [vi.spyOn(WaitingRoom.prototype, 'lease'), vi.spyOn(WaitingRoom.prototype, 'poll')]
  onTestFinished(() => void vi.restoreAllMocks())
  const ofSale = <Request extends { queue: string }>({ mock }: { mock: { calls: Request[][] } }) =>
    mock.calls.flat().filter(({ queue }) => queue === sale.name)
  const began = performance.now()
  const joins = Array.from({ length: 120 }, (_, i) =>
    sale.joined({ cookie: knownCookie(`one-of-a-crowd-under-hubs-${i}`) }),
  )
  const numbers = (await Promise.all(joins)).map(({ number }) => number)
  const tookMs = performance.now() - began
  expect(new Set(numbers).size).toBe(numbers.length)
  const leases = ofSale<LeaseRequest>(lease)
  const polls = ofSale<SnapshotRequest>(poll).length
  for (const { for_ms } of leases) expect(for_ms).toBe(HUB_LEASE_MS)
  // A block of a hub that lasts too short is followed by another at once, until the demand is known.
  expect(leases.length).toBeLessThanOrEqual(hubsOf(shards) * (10 + (2 * tookMs) / LEASE_MS))
  expect(polls).toBeLessThanOrEqual(mirrorsOf(shards) * (1 + tookMs / MIRROR_MS))
  expect(leases.length + polls).toBeGreaterThan(0)
})
