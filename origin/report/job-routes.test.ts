import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { QueueState } from '../../shared/api/operators/answers.ts'
import type { Level, LiveReading } from '../../shared/api/operators/live.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { QUEUES } from '../jobs/queues.ts'

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

test('an unknown queue has no jobs', async () => {
  expect(await origin.admin('GET', '/queues/nothing/dead')).toMatchObject({ status: 404 })
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
