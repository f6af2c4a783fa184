/**
 * Visitors who join, or whose turn comes, at the same moment share calls to their shard, and each gets an answer of
 * their own.
 */
import { expect, it, onTestFinished, vi } from 'vitest'
import { placeOf } from '../../../shared/schedule.ts'
import { stopClock } from '../../testing/clocks.ts'
import { edgeEnv } from '../../testing/origin.ts'
import { knownCookie, TestSale, withShards } from '../../testing/visitors.ts'
import type { JoinRequest } from '../rpc.ts'

const CROWD = 50
const cookieOf = (visitor: number) => ({ cookie: knownCookie(`together-visitor-${visitor}`) })

/** Settings in which each `joinAll` goes through `respond`; the other calls go to the shards. */
function withJoins(respond: (requests: JoinRequest[], name: string) => Promise<object>) {
  return withShards((name) => {
    const shard = edgeEnv.TICKET_SHARD.getByName(name)
    const joinAll = (requests: JoinRequest[]) => respond(requests, name)
    return new Proxy(shard, { get: (_, method) => (method === 'joinAll' ? joinAll : Reflect.get(shard, method)) })
  })
}

async function crowdJoins(sale: TestSale, env = edgeEnv): Promise<number[]> {
  const joined = await Promise.all(Array.from({ length: CROWD }, (_, i) => sale.joined(cookieOf(i), env)))
  return joined.map(({ number }) => number)
}

/**
 * Has the whole crowd come while one batch gathers, however slow the machine is, up to a call of the function
 * returned.
 */
function gatherAll(): () => void {
  stopClock()
  const wait = scheduler.wait.bind(scheduler)
  const mock = vi.spyOn(scheduler, 'wait').mockImplementation((ms) => wait(ms === 1 ? 3_000 : ms))
  onTestFinished(() => mock.mockRestore())
  return () => mock.mockRestore()
}

it('joins a crowd with few calls, and everyone keeps a number of their own', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  const calls: number[] = []
  const env = withJoins(async (requests, name) => {
    calls.push(requests.length)
    await scheduler.wait(20)
    return (edgeEnv.TICKET_SHARD.getByName(name) as ReturnType<TestSale['shard']>).joinAll(requests)
  })
  const release = gatherAll()
  const numbers = await crowdJoins(sale, env)
  release()
  expect(new Set(numbers).size).toBe(CROWD)
  expect(calls.reduce((sum, size) => sum + size, 0)).toBe(CROWD)
  // The first goes at once, and the others meanwhile.
  expect(calls.length).toBeLessThanOrEqual(3)
  expect(await crowdJoins(sale, env)).toEqual(numbers)
})

it('asks about the places of a crowd with few calls, and refuses only those that were given up', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  const joined = await Promise.all(Array.from({ length: CROWD }, (_, i) => sale.joined(cookieOf(i))))
  const [left] = joined
  await sale.leave(left?.queue_token ?? '')
  const last = Math.max(...joined.map(({ number }) => number))
  await sale.until((schedule) => placeOf(schedule, last, Date.now()).status === 'ready')
  let calls = 0
  const env = withShards((name) => {
    const shard = edgeEnv.TICKET_SHARD.getByName(name) as ReturnType<TestSale['shard']>
    const haveLeft = async (numbers: number[]) => {
      calls++
      await scheduler.wait(20)
      return shard.haveLeft(numbers)
    }
    return new Proxy(shard, { get: (_, method) => (method === 'haveLeft' ? haveLeft : Reflect.get(shard, method)) })
  })
  gatherAll()
  const turns = await Promise.all(joined.map(({ queue_token }) => sale.status(queue_token, {}, env)))
  expect(turns.map(({ status }) => status)).toEqual(joined.map((one) => (one === left ? 401 : 200)))
  expect(calls).toBeLessThanOrEqual(3)
})

it('asks everyone of a batch to try again when the shard goes on failing', async () => {
  const sale = await new TestSale().publish()
  const env = withJoins(() => Promise.reject(new Error('in trouble')))
  const joined = await Promise.all(Array.from({ length: CROWD }, (_, i) => sale.join(cookieOf(i), env)))
  expect(new Set(joined.map(({ status }) => status))).toEqual(new Set([503]))
})

it('does not wait for a call that never returns', async () => {
  const sale = await new TestSale().publish()
  let sent = 0
  const never = withJoins((requests) => {
    sent += requests.length
    return new Promise(() => {})
  })
  const visitors = [0, 1, 2]
  for (const i of visitors) sale.join(cookieOf(i), never).catch(() => {})
  while (sent < visitors.length) await scheduler.wait(5)
  const joined = await Promise.all(visitors.map((i) => sale.joined(cookieOf(i))))
  expect(new Set(joined.map(({ number }) => number)).size).toBe(visitors.length)
})
