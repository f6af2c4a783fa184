import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { QueueState } from '../../../shared/api/operators/answers.ts'
import type { Level, LiveReading } from '../../../shared/api/operators/live.ts'
import { eventually } from '../../../test/lib/eventually.ts'
import { useOrigin } from '../../../test/lib/origin-process.ts'
import { QUEUES } from '../../jobs/queues.ts'

const origin = useOrigin()
type Queue = QueueState & { readonly level: Level }
const stateOf = async (name: string) =>
  ((await origin.admin('GET', '/queues')).body.queues as Queue[]).find(({ queue }) => queue === name)

test('a job that was given up is shown, and is tried again when an operator says so', async () => {
  const order = randomUUID()
  // The worker that took the last attempt died long ago.
  await origin.sql()`
    insert into jobs (queue, data, attempts, leased, run_at)
    values ('capture', ${origin.sql().json({ charge: 'ch_1', order })},
      ${QUEUES.capture.attempts}, true, now() - interval '1 hour')`
  await expect.poll(() => stateOf('capture')).toMatchObject({ dead: 1 })
  const metrics = async () => (await origin.ops('/metrics')).body.text
  await expect.poll(metrics).toContain('queue_jobs{queue="capture",state="dead"} 1')
  expect(await metrics()).toMatch(/queue_oldest_seconds\{queue="charge"\} 0/)
  const { body } = await origin.admin('GET', '/queues/capture/dead')
  const [dead] = body.jobs as { job: string }[]
  expect(dead).toMatchObject({ data: { charge: 'ch_1', order }, error: 'its worker ended during the last attempt' })
  const retry = `/queues/capture/dead/${dead?.job}/retry`
  expect(await origin.admin('POST', retry)).toMatchObject({ status: 202 })
  expect(await origin.admin('POST', retry)).toMatchObject({ status: 404 })
  // The charge has no open refund or capture, so the job ends without an error.
  await expect.poll(() => origin.sql()`select from jobs where data ->> 'order' = ${order}`).toEqual([])
  expect(await stateOf('capture')).toMatchObject({ dead: 0 })
  expect((await origin.admin('GET', '/audit?action=job tried again')).body.entries).toHaveLength(1)
})

test('given-up jobs are tried again together by kind, reason and time, in their order', async () => {
  const sql = origin.sql()
  // No worker takes the jobs of this group, because it has no endpoint.
  const fail = (type: string, error: string, ago: string, state = 'dead', count = 2) => sql`
    insert into jobs (queue, group_id, lane, data, state, attempts, error, run_at, finished_at)
    select 'webhook', 'nobody', 'lane', jsonb_build_object('type', ${type}::text, 'n', n), ${state}, 3,
      ${error}::text || case n when 1 then ' of 10.0.0.1:54321' else ' of 10.0.0.1:61234' end, now() + interval '1 day',
      case when ${state} = 'dead' then now() - ${ago}::interval end
    from generate_series(1, ${count}::int) n`
  await fail('order.confirmed', 'refused', '3 hours')
  await fail('order.confirmed', 'refused', '1 minute')
  await fail('order.confirmed', 'refused', '0', 'pending', 1)
  await fail('order.expired', 'refused', '1 minute')
  await fail('order.expired', 'status 404', '1 minute')
  const failing = async () => (await origin.admin('GET', '/queues/webhook/failing')).body.failing as { kind: string }[]
  const refused = { reason: 'refused of 10.0.0.1:*', retrying: 0 }
  expect(await failing()).toMatchObject([
    { kind: 'order.confirmed', ...refused, dead: 4, retrying: 1, first_at: expect.any(String) },
    { kind: 'order.expired', ...refused, dead: 2 },
    { kind: 'order.expired', reason: 'status 404 of 10.0.0.1:*', dead: 2 },
  ])
  const retry = (body: object) => origin.admin('POST', '/queues/webhook/retry', body)
  const from = new Date(Date.now() - 3_600_000).toISOString()
  const answer = { status: 202, body: { queue: 'webhook', retried: 2, more: false } }
  expect(await retry({ kind: 'order.confirmed', from })).toMatchObject(answer)
  expect(await retry({ reason: refused.reason, from })).toMatchObject(answer)
  expect(await retry({ kind: 'order.confirmed', from })).toMatchObject({ status: 202, body: { retried: 0 } })
  const open = await sql<{ type: string; n: number; attempts: number }[]>`
    select data ->> 'type' as type, (data -> 'n')::int as n, attempts from jobs
    where group_id = 'nobody' and state = 'pending' and attempts = 0 order by job_id`
  expect(open).toEqual(
    ['order.confirmed', 'order.expired'].flatMap((type) => [1, 2].map((n) => ({ type, n, attempts: 0 }))),
  )
  expect(await retry({ to: from })).toMatchObject(answer)
  expect(await retry({})).toMatchObject(answer)
  expect((await failing()).map(({ kind }) => kind)).toEqual(['order.confirmed'])
  const { entries } = (await origin.admin('GET', '/audit?action=jobs tried again')).body as { entries: object[] }
  expect(entries.at(-1)).toMatchObject({ after: { queue: 'webhook', kind: 'order.confirmed', from, retried: 2 } })
  expect(await retry({ until: from })).toMatchObject({ status: 422 })
  expect(await origin.admin('POST', '/queues/nothing/retry', {})).toMatchObject({ status: 404 })
  await sql`delete from jobs where group_id = 'nobody'`
})

test('a queue tells what became of its attempts by the minute', async () => {
  const order = randomUUID()
  await origin.sql()`
    insert into jobs (queue, data) values ('capture', ${origin.sql().json({ charge: 'ch_2', order })})`
  type History = readonly Readonly<Record<'done' | 'failed' | 'dead', number>>[]
  const historyOf = async () =>
    ((await stateOf('capture')) as unknown as { history: History }).history.reduce((sum, { done }) => sum + done, 0)
  await expect.poll(historyOf).toBeGreaterThanOrEqual(1)
  await origin.sql()`
    insert into queue_minutes (queue, minute, done, failed, dead)
    select 'refund', date_trunc('minute', now()) - n * interval '1 minute', 30, 10, 1 from generate_series(1, 90) n
    on conflict (queue, minute) do update set done = 30, failed = 10, dead = 1`
  const read = async (query: string) => {
    const { queues } = (await origin.admin('GET', `/queues${query}`)).body as unknown as {
      queues: { queue: string; throughput: Record<'done_per_minute', number>; history: History }[]
    }
    return queues.find(({ queue }) => queue === 'refund')
  }
  // The ledger is shared with other tests, whose few refunds may be counted beside these.
  const hour = await read('')
  expect(hour?.throughput).toEqual({ done_per_minute: expect.closeTo(30, 0), failed_per_minute: expect.closeTo(10, 0) })
  expect(hour?.history.length).toBeLessThanOrEqual(60)
  expect((await read('?minutes=1'))?.throughput.done_per_minute).toBeGreaterThanOrEqual(30)
  expect((await read('?minutes=1440'))?.history.filter(({ dead }) => dead === 1)).toHaveLength(90)
  expect(await origin.admin('GET', '/queues?minutes=1441')).toMatchObject({ status: 422 })
})

test('an unknown queue has no jobs', async () => {
  expect(await origin.admin('GET', '/queues/nothing/dead')).toMatchObject({ status: 404 })
  expect(await origin.admin('GET', '/queues/nothing/failing')).toMatchObject({ status: 404 })
  expect(await origin.admin('POST', `/queues/capture/dead/x/retry`)).toMatchObject({ status: 404 })
})

test('what waits for another attempt is shown as the live page counts it, with its age and tries', async () => {
  const sale = await origin.sale()
  const backlogs = async () => (await origin.admin('GET', `/sales/${sale}/live`)).body as never as LiveReading
  // The endpoint does not respond, so the message would be tried again only in an hour.
  await origin.sql()`
    insert into jobs (queue, group_id, data, attempts, run_at, created_at)
    values ('webhook', 'nobody', '{}', 4, now() + interval '1 hour', now() - interval '218 seconds')`
  const { open, level } = (await stateOf('webhook')) ?? {}
  expect([open?.tries, level]).toEqual([4, 'watch'])
  expect(open?.oldest_seconds).toBeGreaterThanOrEqual(218)
  const { summary } = await eventually(backlogs, (now) => now.summary.level !== 'good')
  expect(summary.parts).toContainEqual(expect.objectContaining({ name: 'Webhooks', level: 'watch' }))
  expect(summary.needs).toContainEqual(
    expect.objectContaining({ part: 'Webhooks', place: { text: 'Open Queues', href: '/console/queues#webhook' } }),
  )
  await origin.sql()`delete from jobs where group_id = 'nobody'`
})
