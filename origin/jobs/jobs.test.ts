/** One mechanism runs all jobs. No job is lost, run twice, or delayed by others. */
import { pino } from 'pino'
import { beforeEach, expect, test } from 'vitest'
import { useLedger } from '../../test/lib/servers.ts'
import { createMetrics } from '../base/metrics.ts'
import { machine } from '../lib/runtime.ts'
import { addJobs, endJobs, takeJobs } from './job-queries.ts'
import { type Consumer, JobRunner } from './job-runner.ts'
import { type Job, type Outcome, QUEUES, type QueueName } from './queues.ts'

const sql = await useLedger()
beforeEach(() => sql`truncate jobs`)

const log = pino({ level: 'silent' })
const orderOf = ({ data }: Job) => ('order' in data ? data.order : '')
const addCharges = (...orders: string[]) => {
  const jobs = orders.map((order) => ({ data: { order } }))
  return addJobs(sql, 'charge', jobs)
}
const addMessages = (group: string, lane: string | null, ...messages: string[]) => {
  const jobs = messages.map((message) => ({ group, lane, data: { message, type: '', body: '{}' } }))
  return addJobs(sql, 'webhook', jobs)
}
const takeCharges = (limit = 100) => takeJobs(sql, [{ queue: 'charge', group: '', limit }])
const takeMessages = async (limit: number, ...groups: string[]) => {
  const wanted = groups.map((group) => ({ queue: 'webhook', group, limit }) as const)
  return (await takeJobs(sql, wanted)) as Job<'webhook'>[]
}
const messages = (jobs: readonly Job<'webhook'>[]) => jobs.map(({ data }) => data.message)
const endLeases = () => sql`update jobs set run_at = now() where leased`
const done = { end: 'done' } as const
/** Ends these attempts with one outcome, or each with its own. */
const end = <Name extends QueueName>(jobs: readonly Job<Name>[], outcome: Outcome | ((job: Job<Name>) => Outcome)) => {
  const ended = jobs.map((job) => ({ job, outcome: typeof outcome === 'function' ? outcome(job) : outcome }))
  return endJobs(sql, ended)
}
const failed = { end: 'failed', error: 'not now' } as const

test('a job of a transaction that rolls back does not exist', async () => {
  await sql
    .begin(async (tx) => {
      await addJobs(tx, 'charge', [{ data: { order: 'one' } }])
      throw new Error('rolled back')
    })
    .catch(() => {})
  expect(await takeCharges()).toEqual([])
})

test('a job is due as soon as it is added', async () => {
  for (let times = 0; times < 20; times++) {
    // The database's time does not advance within a transaction.
    const taken = await sql.begin(async (tx) => {
      await addJobs(tx, 'charge', [{ data: { order: `order ${times}` } }])
      return takeJobs(tx as never, [{ queue: 'charge', group: '', limit: 1 }])
    })
    expect(taken.map(orderOf)).toEqual([`order ${times}`])
  }
})

test('of many workers at once each takes other jobs, and what they have done is gone', async () => {
  const orders = Array.from({ length: 200 }, (_, i) => `order ${i}`)
  await addCharges(...orders)
  const taken = (await Promise.all(Array.from({ length: 8 }, () => takeCharges(40)))).flat()
  expect(new Set(taken.map(orderOf)).size).toBe(taken.length)
  const left = await takeCharges(200)
  expect([...taken, ...left].map(orderOf).sort()).toEqual(orders.sort())
  await end([...taken, ...left], done)
  expect(await sql`select from jobs`).toEqual([])
})

test('a job is not taken twice while its lease holds, and is taken again once it has ended', async () => {
  await addCharges('one')
  const [lost] = await takeCharges()
  expect(await takeCharges()).toEqual([])
  await endLeases()
  const [again] = await takeCharges()
  expect([lost?.attempt, again?.attempt]).toEqual([1, 2])
  // The first worker was only slow, and its outcome no longer counts.
  await end(lost ? [lost] : [], done)
  expect(await sql`select attempts, leased from jobs`).toEqual([{ attempts: 2, leased: true }])
})

test('jobs of a lane are taken one after the other, also while the first fails', async () => {
  await addMessages('shop', 'an order', '1', '2', '3')
  await addMessages('shop', 'another order', '4')
  const first = await takeMessages(10, 'shop')
  expect(messages(first)).toEqual(['1', '4'])
  await end(first, ({ data }) => (data.message === '1' ? failed : done))
  expect(await takeMessages(10, 'shop')).toEqual([])
  for (const next of ['1', '2', '3']) {
    await sql`update jobs set run_at = now() where state = 'pending'`
    const taken = await takeMessages(10, 'shop')
    expect(messages(taken)).toEqual([next])
    await end(taken, done)
  }
})

test('a group gets its share however much waits for another, and jobs without a lane wait for none', async () => {
  await addMessages('flooded', null, ...Array.from({ length: 2_000 }, (_, i) => `flood ${i}`))
  await addMessages('quiet', null, 'a', 'b')
  const taken = await takeMessages(5, 'flooded', 'quiet')
  expect(messages(taken)).toEqual(['flood 0', 'flood 1', 'flood 2', 'flood 3', 'flood 4', 'a', 'b'])
})

test('what is returned is due again and has not been tried, what is not due yet is left', async () => {
  await addCharges('one')
  await addJobs(sql, 'charge', [{ data: { order: 'later' }, runAt: new Date(Date.now() + 60_000) }])
  for (let times = 0; times < 2; times++) {
    const taken = await takeCharges()
    expect(taken).toMatchObject([{ attempt: 1, data: { order: 'one' } }])
    await end(taken, { end: 'returned', note: { turnedAwayAtMs: 5 } })
  }
  expect(await sql`select data from jobs where attempts = 0 and data ? 'turnedAwayAtMs'`).toHaveLength(1)
})

test('jobs that fail, or kill their workers, stop no others, and die after their last attempt', async () => {
  await addCharges('poison', 'killer', 'good')
  await sql`update jobs set attempts = ${QUEUES.charge.attempts} where data ->> 'order' = 'killer'`
  await sql`update jobs set attempts = ${QUEUES.charge.attempts - 1} where data ->> 'order' = 'poison'`
  await sql`update jobs set run_at = run_at - interval '1 hour' where data ->> 'order' = 'good'`
  const [ran, gaveUp]: [string[], string[]] = [[], []]
  const consumer: Consumer<'charge'> = {
    queue: 'charge',
    room: (busy) => 10 - busy,
    run: (jobs, end) =>
      Promise.all(
        jobs.map((job) => {
          ran.push(job.data.order)
          return end(job, job.data.order === 'poison' ? failed : done)
        }),
      ),
    gaveUp: async (_, dead) => void gaveUp.push(...dead.map(({ job }) => job.data.order)),
  }
  const metrics = createMetrics()
  const runner = new JobRunner({ sql, log, metrics }, [consumer])
  await runner.round()
  await runner.drain()
  const { values } = await metrics.jobAttempts.get()
  expect(values.map(({ labels, value }) => [labels.queue, labels.outcome, value]).sort()).toEqual([
    ['charge', 'dead', 1],
    ['charge', 'done', 1],
    ['charge', 'failed', 1],
  ])
  const text = await metrics.registry.metrics()
  const figure = (name: string) =>
    Number(
      text
        .split('\n')
        .find((line) => line.startsWith(`${name} `))
        ?.split(' ')[1],
    )
  expect(figure('job_wait_seconds_bucket{le="300",queue="charge"}')).toBe(2)
  expect(figure('job_wait_seconds_sum{queue="charge"}')).toBeGreaterThanOrEqual(3_600)
  for (const outcome of ['done', 'failed', 'dead'])
    expect(figure(`job_seconds_count{queue="charge",outcome="${outcome}"}`)).toBe(1)
  expect(ran).toEqual(['poison', 'good'])
  expect(gaveUp.sort()).toEqual(['killer', 'poison'])
  expect(await sql`select state, error from jobs order by job_id`).toEqual([
    { state: 'dead', error: 'not now' },
    { state: 'dead', error: 'its worker ended during the last attempt' },
  ])
})

test('a consumer that breaks leaves its jobs to their leases, and has room for others', async () => {
  await addCharges('one')
  const rooms: number[] = []
  const broken: Consumer<'charge'> = {
    queue: 'charge',
    room(busy) {
      rooms.push(busy)
      return 10 - busy
    },
    run: () => Promise.reject(new Error('broken')),
  }
  const runner = new JobRunner({ sql, log }, [broken])
  for (let times = 0; times < 2; times++) {
    await runner.round()
    await runner.drain()
  }
  expect(rooms).toEqual([0, 0])
  await endLeases()
  expect(await takeCharges()).toMatchObject([{ attempt: 2 }])
})

test('the lease of a mail in progress is renewed, and ends within a minute of its worker', async () => {
  await addJobs(sql, 'mail', [{ data: { ask: 'one', kind: 'sold_out', seconds: null } }])
  const { promise: sent, resolve: send } = Promise.withResolvers<void>()
  const consumer: Consumer<'mail'> = {
    queue: 'mail',
    room: (busy) => 1 - busy,
    run: async (jobs, end) => {
      await sent
      for (const job of jobs) await end(job, done)
    },
  }
  let nowMs = 0
  const runner = new JobRunner({ sql, log, runtime: { ...machine, monotonicMs: () => nowMs } }, [consumer])
  const secondsLeft = async () => {
    await runner.round()
    const [job] = await sql`select extract(epoch from run_at - clock_timestamp())::float8 as seconds from jobs`
    return job?.seconds
  }
  expect(await secondsLeft()).toBeLessThanOrEqual(45)
  await endLeases()
  nowMs = 15_000
  expect(await secondsLeft()).toBeGreaterThan(0)
  send()
  await runner.drain()
  expect(await sql`select state, attempts from jobs`).toEqual([{ state: 'done', attempts: 1 }])
})

test('rounds follow each other while jobs are in progress', async () => {
  const { promise: ended, resolve: endJob } = Promise.withResolvers<void>()
  const consumer: Consumer<'charge'> = {
    queue: 'charge',
    room: () => 10,
    run: async (jobs, end) => {
      await ended
      for (const job of jobs) await end(job, done)
    },
  }
  const runner = new JobRunner({ sql, log }, [consumer])
  expect(await runner.round()).toBe(false)
  await addCharges('one')
  expect([await runner.round(), await runner.round()]).toEqual([true, true])
  endJob()
  await runner.drain()
  expect(await runner.round()).toBe(false)
})
