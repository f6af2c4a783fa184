/** An isolate whose ticket shards do not respond: few calls to them, and a response for everyone. */
import { expect, it, vi } from 'vitest'
import type { Schedule } from '../../shared/schedule.ts'
import type { Call } from '../http/call.ts'
import { type Env, readConfig } from '../http/config.ts'
import { stopClock } from '../testing/clocks.ts'
import { edgeEnv } from '../testing/origin.ts'
import { OPEN_TO_ALL, product } from '../testing/simulation.ts'
import { call, TestSale, withShards } from '../testing/visitors.ts'
import { objectOf, RESPONSE_MS, type SnapshotRequest } from './rpc.ts'
import { storeSnapshot } from './sale-cache.ts'
import { publicNow } from './sale-now.ts'
import { ANNOUNCE_MS, FRESH_MS, type SaleSnapshot } from './timeline.ts'

/** Settings of an isolate whose shards respond by `look`, with a count of the calls. */
function counted(poll: (request: SnapshotRequest) => Promise<unknown>): { env: Env; calls: () => number } {
  let calls = 0
  const counting = (request: SnapshotRequest) => {
    calls++
    return poll(request)
  }
  return { env: withShards(() => ({ poll: counting })), calls: () => calls }
}

const failing = (error: object) => async () => {
  await scheduler.wait(5)
  throw Object.assign(new Error('in trouble'), error)
}

const TROUBLES = [
  ['are overloaded', failing({ overloaded: true })],
  ['fail', failing({})],
  ['never respond', () => new Promise<never>(() => {})],
] as const

/**
 * A request every 20 ms; returns the responses, and how many waited for the shards to the end. That is told by the
 * order of two timers, since on a busy machine both are late.
 */
async function crowdAt(path: string, init: RequestInit, env: Env, forMs: number) {
  const began = performance.now()
  let waitedToTheEnd = 0
  const answers: Promise<Response>[] = []
  while (performance.now() - began < forMs) {
    const end = setTimeout(() => waitedToTheEnd++, RESPONSE_MS)
    answers.push(call(path, init, env).finally(() => clearTimeout(end)))
    await scheduler.wait(20)
  }
  return { answers: await Promise.all(answers), waitedToTheEnd }
}

it.concurrent.each(TROUBLES)('answers a crowd from its copy when the shards %s', async (_, look) => {
  const sale = await new TestSale().publish()
  const { queue_token, number } = await sale.joined()
  const { env, calls } = counted(look)
  const init = { headers: { authorization: `Bearer ${queue_token}` } }
  const { answers, waitedToTheEnd } = await crowdAt(`/sales/${sale.name}/queue/status`, init, env, 2_000)
  // A handful of refreshes in these seconds, of three tries each.
  expect(calls()).toBeLessThanOrEqual(20)
  expect(waitedToTheEnd).toBe(0)
  expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([200]))
  const last = await answers.at(-1)?.json()
  expect(last).toMatchObject({ number, status: expect.stringMatching(/^(ready|paused)$/) })
  // And when the shards respond again, so does this isolate.
  await sale.until((schedule) => schedule.phase === 'open')
})

it.concurrent.each(TROUBLES)('answers what it can of the schedule when the shards %s', async (_, look) => {
  const soldOut = await new TestSale().publish({ phase: 'sold_out', products: [product(0, 0, 1)] })
  await soldOut.until(({ phase }) => phase === 'sold_out')
  const crowds = [
    [soldOut, 200, { phase: 'sold_out' }],
    // This isolate has no copy of the second sale.
    [new TestSale(), 503, { type: '/problems/try-again' }],
  ] as const
  const answer = async ([sale, status, body]: (typeof crowds)[number]) => {
    const { env, calls } = counted(look)
    const { answers, waitedToTheEnd } = await crowdAt(`/sales/${sale.name}/schedule`, {}, env, 1_500)
    expect(calls()).toBeLessThanOrEqual(20)
    expect(waitedToTheEnd).toBe(0)
    expect(new Set(answers.map((answer) => answer.status))).toEqual(new Set([status]))
    expect(await answers.at(-1)?.json()).toMatchObject(body)
  }
  await Promise.all(crowds.map(answer))
})

it.concurrent('keeps the line moving where every response of the shards is late', async ({ expect }) => {
  const sale = await new TestSale().publish()
  await sale.until((schedule) => schedule.phase === 'open')
  const late = (name: string) => ({
    poll: async (request: SnapshotRequest) => {
      const response = await objectOf(name, edgeEnv).poll(request)
      await scheduler.wait(2_000)
      return response
    },
  })
  const env = withShards(late)
  await crowdAt(`/sales/${sale.name}/schedule`, {}, env, 4_000)
  // The first copy is too old by now.
  const phase = async () => (await (await call(`/sales/${sale.name}/schedule`, {}, env)).json<Schedule>()).phase
  await expect.poll(phase).toBe('open')
})

it('has a new policy soon, and keeps it while the origin does not send it again', async () => {
  const rule = { rule: '1', when: { country: 'DE' }, action: 'refuse' as const }
  const policy = { ...OPEN_TO_ALL, version: 'v2', rules: [rule] }
  const sale = await new TestSale().publish()
  await sale.schedule()
  const context = { waitUntil() {} } as unknown as ExecutionContext
  const config = await readConfig(edgeEnv)
  const request = new Request('https://edge.test')
  const policyNow = async () => {
    const asked = {
      request,
      env: edgeEnv,
      ctx: context,
      config,
      secure: true,
      nowMs: Date.now(),
      requestId: 'test',
      setCookies: [],
      pageParts: [],
      onwards: [],
    }
    return (await publicNow(sale.name, asked as unknown as Call)).policy
  }
  expect(await policyNow()).toEqual(OPEN_TO_ALL)
  await sale.publish({ policy })
  await sale.push()
  await expect.poll(policyNow).toEqual(policy)
  await sale.publish({ policy: null })
  await sale.push()
  // Each time the copy is old enough to be refreshed.
  stopClock()
  for (let times = 0; times < 3; times++) {
    vi.setSystemTime(Date.now() + FRESH_MS + 1)
    expect(await policyNow()).toEqual(policy)
    await sale.schedule()
  }
})

it('is where the waiting room is, though its own poll is answered late and after a fresh copy', async () => {
  const sale = await new TestSale().publish()
  const response = await sale.room.refresh(sale.name)
  if (!response.known) throw new Error('the sale is not known')
  const snapshot = response.snapshot as SaleSnapshot
  stopClock()
  const nowMs = Date.now() + 1_000
  vi.setSystemTime(nowMs)
  storeSnapshot(sale.name, { ...snapshot, age_ms: 0, at_ms: nowMs }, nowMs)
  storeSnapshot(sale.name, { ...snapshot, age_ms: 0, at_ms: nowMs }, nowMs - 7_500)
  expect((await sale.schedule()).server_time_ms).toBe(nowMs)
  // An isolate whose clock is ahead knows no more than others: it does not go beyond what is announced.
  vi.setSystemTime(nowMs + ANNOUNCE_MS + 50)
  const silent = withShards(() => ({ poll: () => new Promise<never>(() => {}) }))
  const { server_time_ms } = await (await call(`/sales/${sale.name}/schedule`, {}, silent)).json<Schedule>()
  expect(server_time_ms).toBe(nowMs + ANNOUNCE_MS)
  // A clock that is put back moves nobody back.
  vi.setSystemTime(nowMs + 300)
  expect((await sale.schedule()).server_time_ms).toBeGreaterThanOrEqual(server_time_ms)
})

it('keeps its copy when an older response comes after it', async () => {
  const sale = await new TestSale().publish()
  const older = await sale.room.refresh(sale.name)
  if (!older.known) throw new Error('the sale is not known')
  await sale.publish({ announcement: { id: 'a', level: 'info', text: { en: 'Soon' }, since: '2026-11-27T12:00:00Z' } })
  await sale.push()
  const { version } = await sale.until(({ announcement }) => announcement !== null)
  // The copy stays fresh.
  stopClock()
  storeSnapshot(sale.name, older.snapshot as SaleSnapshot, Date.now())
  expect((await sale.schedule()).version).toBeGreaterThanOrEqual(version)
})
