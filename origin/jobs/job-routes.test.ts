import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/origin-process.ts'

const origin = useOrigin()
interface Queue {
  readonly queue: string
  readonly dead: number
}
const stateOf = async (name: string) =>
  ((await origin.admin('GET', '/queues')).body.queues as Queue[]).find(({ queue }) => queue === name)

test('a job that was given up is shown, and is tried again when an operator says so', async () => {
  const [charge, order] = [randomUUID(), randomUUID()]
  // Its last attempt was handed out to a worker that died long ago.
  await origin.sql()`
    insert into pgboss.job (name, data, state, started_on, retry_limit, retry_count, dead_letter, expire_seconds)
    values ('capture', ${origin.sql().json({ charge, order })}, 'active', now() - interval '1 hour', 0, 0, 'capture-dead', 1)`
  await expect.poll(() => stateOf('capture')).toMatchObject({ dead: 1 })
  const metrics = async () => (await origin.ops('/metrics')).body.text
  await expect.poll(metrics).toContain('queue_jobs{queue="capture",state="dead"} 1')
  expect(await metrics()).toMatch(/queue_oldest_seconds\{queue="charge"\} 0/)
  const { body } = await origin.admin('GET', '/queues/capture/dead')
  const [dead] = body.jobs as { job: string }[]
  expect(dead).toMatchObject({ data: { charge, order } })
  const retry = `/queues/capture/dead/${dead?.job}/retry`
  expect(await origin.admin('POST', retry)).toMatchObject({ status: 202 })
  expect(await origin.admin('POST', retry)).toMatchObject({ status: 404 })
  // Nothing is open about the charge, so the job ends quietly.
  const done = () => origin.sql()`select state from pgboss.job where name = 'capture' and state = 'completed'`
  await expect.poll(done).toHaveLength(1)
  expect(await stateOf('capture')).toMatchObject({ dead: 0 })
  expect((await origin.admin('GET', '/audit?action=job tried again')).body.entries).toHaveLength(1)
})

test('an unknown queue has no jobs', async () => {
  expect(await origin.admin('GET', '/queues/nothing/dead')).toMatchObject({ status: 404 })
  expect(await origin.admin('POST', `/queues/capture/dead/x/retry`)).toMatchObject({ status: 404 })
})
