/** The operators' calls for the job queues: their state, and the jobs that were given up. */
import { Hono } from 'hono'
import { problem } from '../../shared/problem.ts'
import { readDead, readQueues, retryDead } from '../jobs/job-queries.ts'
import { isQueue } from '../jobs/queues.ts'
import { ALL_SALES, audit } from '../ledger/audit.ts'
import type { Sql } from '../ledger/connection.ts'
import { refuse } from '../lib/http/request.ts'
import { operatorOf } from '../operators/operator-auth.ts'
import { levelOf } from './sale-health.ts'

const LISTED = 200

export function queueRoutes(sql: Sql, paymentsPerSecond: number | null) {
  const knownQueue = (queue: string) =>
    isQueue(queue) ? queue : refuse(problem('not-found', { detail: 'There is no such queue.' }))

  return new Hono()
    .get('/queues', async (c) => {
      const queues = await readQueues(sql)
      // The level is the same as on the live page.
      return c.json({
        queues: queues.map((queue) => ({ ...queue, level: levelOf(queue.queue, queue.open, paymentsPerSecond) })),
      })
    })

    .get('/queues/:queue/dead', async (c) => {
      const dead = await readDead(sql, knownQueue(c.req.param('queue')), LISTED)
      return c.json({ jobs: dead.map((job) => ({ ...job, died_at: job.died_at.toISOString() })) })
    })

    .post('/queues/:queue/dead/:job/retry', async (c) => {
      const { queue: name, job } = c.req.param()
      const queue = knownQueue(name)
      const none = () =>
        refuse(problem('not-found', { detail: 'There is no such dead job: it was tried again, or is gone.' }))
      if (!/^\d{1,15}$/.test(job)) return none()
      await sql.begin(async (tx) => {
        const data = (await retryDead(tx, queue, Number(job))) ?? none()
        await audit(tx, [
          { actor: operatorOf(c), action: 'job tried again', sale: ALL_SALES, after: { queue, job, data } },
        ])
      })
      return c.json({ queue, job }, 202)
    })
}
