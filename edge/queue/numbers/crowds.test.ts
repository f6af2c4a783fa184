/** A crowd without cookies gets its numbers with few leases, however busy the machine is. */
import { expect, it, vi } from 'vitest'
import { stopClock } from '../../testing/clocks.ts'
import { edgeEnv } from '../../testing/origin.ts'
import { TestSale, withShards } from '../../testing/visitors.ts'
import { ISOLATE_LEASE_MS } from './lease.ts'

const CROWD = 40

/**
 * The caller that takes a lease can still use it. A caller that looks for it one turn of the event loop later finds
 * it ended.
 */
async function endBlock() {
  for (let microtasks = 0; microtasks < 100; microtasks++) await null
  vi.setSystemTime(Date.now() + ISOLATE_LEASE_MS)
}

it('hands a block out as it comes in, before it ends', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  stopClock()
  let leases = 0
  const env = withShards((name) => {
    const shard = edgeEnv.TICKET_SHARD.getByName(name) as ReturnType<TestSale['shard']>
    const take = async (request: Parameters<typeof shard.take>[0]) => {
      leases++
      const response = await shard.take(request)
      void endBlock()
      return response
    }
    return new Proxy(shard, { get: (_, method) => (method === 'take' ? take : Reflect.get(shard, method)) })
  })
  const joined = await Promise.all(Array.from({ length: CROWD }, () => sale.joined({}, env)))
  expect(new Set(joined.map(({ number }) => number)).size).toBe(CROWD)
  expect(leases).toBeLessThanOrEqual(CROWD / 4)
})
