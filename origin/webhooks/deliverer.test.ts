/** Any number of workers deliver webhooks. If one dies, the others deliver its messages. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { newKeySet } from '../../shared/keys.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { type Received, useReceiver } from '../../test/stand-ins/receiver.ts'
import { createMetrics } from '../base/metrics.ts'
import { note } from '../findings/finding-queries.ts'
import { addJobs, takeJobs } from '../jobs/job-queries.ts'
import { JobRunner } from '../jobs/job-runner.ts'
import { WebhookCounts } from './counts.ts'
import { Deliverer } from './deliverer.ts'
import { fanOut } from './fan-out.ts'
import type { Load } from './pace.ts'
import { type Endpoint, SecretSealer } from './sealing.ts'
import { CONNECTIONS, Sender } from './sender.ts'
import { newSecret } from './signing.ts'
import { addEndpoint } from './webhook-queries.ts'

const sql = await useLedger()
const receiver = useReceiver()
const sealer = new SecretSealer(newKeySet())
let endpoint: Endpoint
let path: string
let workers: { stop(): Promise<void> }[] = []

const add = (at: string) => {
  const about = { url: receiver.url(at), events: ['*'], state: 'active', note: '' } as const
  const made = { ...about, events: ['*'], secrets: [{ secret: newSecret() }], endpoint_id: randomUUID() }
  return addEndpoint(sql, sealer, made, 'test')
}
beforeEach(async () => {
  await sql`truncate webhook_endpoints, jobs, events, readers, findings`
  path = `/${randomUUID()}`
  endpoint = await add(path)
})
afterEach(async () => {
  receiver.answers(undefined)
  await Promise.all(workers.map((worker) => worker.stop()))
  workers = []
})

function start(load: () => Load = () => 'light') {
  const sender = new Sender({ allowPrivate: true, allowHttp: true })
  const log = pino({ level: 'silent' })
  const deliverer = new Deliverer({
    sql,
    sealer,
    sender,
    metrics: createMetrics(),
    log,
    load,
    counts: new WebhookCounts(),
    trace: (_name, _attributes, work) => work(),
  })
  const runner = new JobRunner({ sql, log }, [deliverer])
  const worker = {
    round: () => runner.round(),
    drain: () => runner.drain(),
    async stop() {
      deliverer.stop()
      await runner.drain()
      deliverer.close()
    },
  }
  workers.push(worker)
  return worker
}
const waiting = async () => (await sql`select from jobs where state = 'pending'`).length
const take = (limit: number) => takeJobs(sql, [{ queue: 'webhook', group: endpoint.endpoint_id, limit }])

/** Writes `each` messages in each of the lanes of an endpoint. */
async function write(lanes: number, each: number, to = endpoint): Promise<void> {
  const made = Array.from({ length: lanes * each }, (_, n) => ({ lane: `lane ${n % lanes}`, i: Math.floor(n / lanes) }))
  const jobs = made.map(({ lane, i }) => {
    const body = JSON.stringify({ type: 'order.paying', timestamp: '', data: { lane, i } })
    return { group: to.endpoint_id, lane, data: { message: `${lane} ${i}`, type: 'order.paying', body } }
  })
  await addJobs(sql, 'webhook', jobs)
}

test('two workers send each message once, those of a lane in order', async () => {
  await write(40, 5)
  const [one, two] = [start(), start()]
  await expect
    .poll(async () => {
      await Promise.all([one.round(), two.round()])
      return waiting()
    })
    .toBe(0)
  const came = receiver.at(path)
  expect(came).toHaveLength(200)
  const byLane = Map.groupBy(came, ({ data }: Received) => data.lane)
  for (const inLane of byLane.values()) expect(inLane.map(({ data }) => data.i)).toEqual([0, 1, 2, 3, 4])
})

test('what a worker that died had taken is sent by another, and not before its lease ends', async () => {
  await write(1, 2)
  expect(await take(10)).toMatchObject([{ data: { message: 'lane 0 0' } }])
  const other = start()
  await other.round()
  expect(receiver.at(path)).toEqual([])
  // The update has the same effect as an expired lease.
  await sql`update jobs set run_at = now() where leased`
  const rounds = async () => {
    await other.round()
    return receiver.at(path).map(({ id }) => id)
  }
  await expect.poll(rounds).toEqual(['lane 0 0', 'lane 0 1'])
})

test('what failed is sent again after a pause, which is the longer the more often it failed', async () => {
  await write(2, 1)
  await sql`update jobs set attempts = 10 where lane = 'lane 1'`
  receiver.answers((_, response) => response.writeHead(500).end())
  await start().round()
  const pauses = () => sql<{ attempts: number; seconds: number }[]>`
    select attempts, extract(epoch from run_at - clock_timestamp())::float8 as seconds
    from jobs where error is not null order by attempts`
  await expect.poll(async () => (await pauses()).map(({ attempts }) => attempts)).toEqual([1, 11])
  const [first, eleventh] = await pauses()
  // The pauses are one second and 1,024 seconds, each varied by a quarter.
  expect(first?.seconds).toBeLessThan(1.3)
  expect(eleventh?.seconds).toBeGreaterThan(600)
  expect(eleventh?.seconds).toBeLessThan(1_300)
})

test('a worker that stops ends what it sends, and returns the other messages', async () => {
  await write(100, 1)
  const answer = Promise.withResolvers<void>()
  receiver.answers(() => answer.promise)
  const worker = start()
  await worker.round()
  await expect.poll(() => receiver.at(path).length).toBe(CONNECTIONS)
  const stopped = worker.stop()
  answer.resolve()
  await stopped
  expect(receiver.at(path)).toHaveLength(CONNECTIONS)
  expect(await waiting()).toBe(100 - CONNECTIONS)
  expect(await take(200)).toHaveLength(100 - CONNECTIONS)
})

test('an endpoint that does not answer holds up no other', async () => {
  const quickly = `/${randomUUID()}`
  await write(CONNECTIONS + 9, 1)
  await write(40, 1, await add(quickly))
  const answer = Promise.withResolvers<void>()
  receiver.answers((message) => (message.path === path ? answer.promise : undefined))
  const worker = start()
  const rounds = async () => {
    await worker.round()
    return [receiver.at(path).length, receiver.at(quickly).length]
  }
  await expect.poll(rounds).toEqual([CONNECTIONS, 40])
  answer.resolve()
})

test('tries one message at a time while an endpoint fails, and all once it answers again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  await write(60, 1)
  receiver.answers((_, response) => void response.writeHead(503).end())
  const worker = start()
  const sentByRound = async () => {
    const before = receiver.at(path).length
    await sql`update jobs set run_at = now() where state = 'pending'`
    vi.advanceTimersByTime(90_000)
    await worker.round()
    await worker.drain()
    return receiver.at(path).length - before
  }
  // The endpoint counts as failing at its eighth failure, and each of the seven before it let another message be
  // sent.
  expect(await sentByRound()).toBe(CONNECTIONS + 7)
  for (let times = 0; times < 3; times++) expect(await sentByRound()).toBe(1)
  receiver.answers(undefined)
  expect(await sentByRound()).toBe(1)
  expect(await sentByRound()).toBe(59)
  vi.useRealTimers()
})

test('an endpoint that has moved is a finding after a minute, with its new address, until it accepts again', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  await write(1, 1)
  receiver.answers((_, response) => void response.writeHead(308, { location: 'https://new.example/' }).end())
  const worker = start()
  const findingsAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms)
    await sql`update jobs set run_at = now() where state = 'pending'`
    await worker.round()
    await worker.drain()
    return sql`select kind, detail ->> 'error' as error, outcome from findings where subject = ${endpoint.endpoint_id}`
  }
  expect([await findingsAfter(0), await findingsAfter(59_000)]).toEqual([[], []])
  const finding = { kind: 'webhook_failed', error: '308 redirect to https://new.example/', outcome: null }
  expect(await findingsAfter(1_000)).toEqual([finding])
  receiver.answers(undefined)
  expect(await findingsAfter(1_000)).toEqual([{ ...finding, outcome: 'it answers again' }])
  vi.useRealTimers()
})

test('an endpoint gets no message while it asks for a rest, and its message waits as long', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  await write(1, 1)
  receiver.answers((_, response) => void response.writeHead(429, { 'retry-after': '600' }).end())
  const worker = start()
  await worker.round()
  await worker.drain()
  const [wait] = await sql`select extract(epoch from run_at - clock_timestamp())::float8 as seconds from jobs`
  expect(wait?.seconds).toBeGreaterThan(500)
  receiver.answers(undefined)
  // The message of another lane is due at once.
  await write(2, 1)
  const sentAfter = async (ms: number) => {
    vi.advanceTimersByTime(ms)
    await worker.round()
    await worker.drain()
    return receiver.at(path).length
  }
  expect([await sentAfter(599_000), await sentAfter(1_000)]).toEqual([1, 2])
  vi.useRealTimers()
})

test('a finding is sent once, when it opens', async () => {
  const finding = { sale: 'drop', product: 'one', kind: 'drift', units: 3 } as const
  await note(sql, finding)
  await note(sql, finding)
  const one = start()
  const rounds = async () => {
    await fanOut(sql)
    await one.round()
    return receiver.at(path)
  }
  await expect.poll(rounds).toMatchObject([{ type: 'finding.opened', data: { sale: 'drop', kind: 'drift', units: 3 } }])
  expect(await sql`select from events`).toHaveLength(1)
})

test('that an order got another seat is sent to nobody, not even to those who ask for all', async () => {
  const order = randomUUID()
  for (const type of ['order.confirmed', 'order.moved', 'order.fulfilled'])
    await sql`insert into events (xid, type, order_id, status) values (event_xid(), ${type}, ${order}, 'confirmed')`
  const sent = async () => {
    await fanOut(sql)
    const jobs = await sql`select data ->> 'type' as type from jobs where lane = ${order} order by job_id`
    return jobs.map(({ type }) => type)
  }
  await expect.poll(sent).toEqual(['order.confirmed', 'order.fulfilled'])
})

test('while buyers need its time, a worker takes a part of a backlog at once', async () => {
  await write(128, 1)
  // Finished jobs may be deleted already, so the remaining ones say how many were taken.
  const claimed = async () => 128 - (await sql`select from jobs where not leased and state <> 'done'`).length
  vi.useFakeTimers({ toFake: ['performance'] })
  const one = start(() => 'busy')
  vi.advanceTimersByTime(100)
  await one.round()
  vi.useRealTimers()
  // The rate is 600 messages a second.
  expect(await claimed()).toBe(60)
  const other = start()
  const rounds = async () => {
    await other.round()
    return waiting()
  }
  await expect.poll(rounds).toBe(0)
})
