/** The operators' calls for the job queues: their state, and the jobs that were given up. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { problem } from '../../shared/problem.ts'
import type { Sql } from '../ledger/connection.ts'
import { operatorOf, refuse } from '../lib/request.ts'
import { ALL_SALES, audit } from '../operators/audit.ts'
import { readDead, readQueues, takeDead } from './job-queries.ts'
import { DEAD_QUEUES, deadQueue, isQueue, type PaymentJobs } from './payment-jobs.ts'

const LISTED = 200

interface QueueDeps {
  readonly sql: Sql
  readonly jobs: Pick<PaymentJobs, 'addAgain'>
}

export function queueRoutes({ sql, jobs }: QueueDeps) {
  const knownQueue = (queue: string) =>
    isQueue(queue) ? queue : refuse(problem('not-found', { detail: 'There is no such queue.' }))

  return new Hono()
    .get('/queues', async (c) => c.json({ queues: await readQueues(sql, DEAD_QUEUES) }))

    .get('/queues/:queue/dead', async (c) => {
      const dead = await readDead(sql, deadQueue(knownQueue(c.req.param('queue'))), LISTED)
      return c.json({ jobs: dead.map((job) => ({ ...job, died_at: job.died_at.toISOString() })) })
    })

    .post('/queues/:queue/dead/:job/retry', async (c) => {
      const { queue: name, job } = c.req.param()
      const queue = knownQueue(name)
      const none = () =>
        refuse(problem('not-found', { detail: 'There is no such dead job: it was tried again, or is gone.' }))
      if (!v.is(v.pipe(v.string(), v.uuid()), job)) return none()
      await sql.begin(async (tx) => {
        const data = (await takeDead(tx, deadQueue(queue), job)) ?? none()
        await jobs.addAgain(tx, queue, data)
        await audit(tx, [
          { actor: operatorOf(c), action: 'job tried again', sale: ALL_SALES, after: { queue, job, data } },
        ])
      })
      return c.json({ queue, job }, 202)
    })
}
