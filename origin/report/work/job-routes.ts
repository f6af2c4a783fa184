/** The operators' calls for the job queues: their state and history, what fails, and the jobs that were given up. */
import { Hono } from 'hono'
import * as v from 'valibot'
import { pageLimit } from '../../../shared/api/fields.ts'
import { RetryRequest } from '../../../shared/api/operators/requests.ts'
import { problem } from '../../../shared/problem.ts'
import { MAX_RETRIED, readDead, readFailing, readQueues, retryDead, retryFailed } from '../../jobs/job-queries.ts'
import { HISTORY_MINUTES, readHistory, throughputOf } from '../../jobs/queue-history.ts'
import { isQueue } from '../../jobs/queues.ts'
import { ALL_SALES, audit } from '../../ledger/audit.ts'
import type { Sql } from '../../ledger/connection.ts'
import { jsonBody, query, refuse } from '../../lib/http/request.ts'
import { operatorOf } from '../../operators/operator-auth.ts'
import { levelOf } from '../health/sale-health.ts'

const LISTED = 200

/** The history that is read, in minutes; the throughput needs the last six. */
const SHORTEST_MINUTES = 6
const QueuesQuery = v.object({ minutes: v.optional(pageLimit(HISTORY_MINUTES), '60') })

export function queueRoutes(sql: Sql, paymentsPerSecond: number | null) {
  const knownQueue = (queue: string) =>
    isQueue(queue) ? queue : refuse(problem('not-found', { detail: 'There is no such queue.' }))

  return (
    new Hono()
      .get('/queues', query(QueuesQuery), async (c) => {
        const [queues, histories] = await Promise.all([
          readQueues(sql),
          readHistory(sql, Math.max(SHORTEST_MINUTES, c.req.valid('query').minutes)),
        ])
        const historyOf = (queue: string) => {
          const history = histories.get(queue) ?? []
          return { throughput: throughputOf(history, Date.now()), history }
        }
        // The level is the same as on the live page.
        return c.json({
          queues: queues.map((queue) => ({
            ...queue,
            ...historyOf(queue.queue),
            level: levelOf(queue.queue, queue.open, paymentsPerSecond),
          })),
        })
      })

      .get('/queues/:queue/failing', async (c) => {
        const failing = await readFailing(sql, knownQueue(c.req.param('queue')))
        const timeOf = (at: Date | null) => at?.toISOString() ?? null
        return c.json({
          failing: failing.map((jobs) => ({ ...jobs, first_at: timeOf(jobs.first_at), last_at: timeOf(jobs.last_at) })),
        })
      })

      // A second call tries the rest again, if there are more than MAX_RETRIED.
      .post('/queues/:queue/retry', jsonBody(RetryRequest), async (c) => {
        const queue = knownQueue(c.req.param('queue'))
        const wanted = c.req.valid('json')
        const retried = await sql.begin(async (tx) => {
          const retried = await retryFailed(tx, queue, wanted)
          const after = { queue, ...wanted, retried }
          if (retried > 0)
            await audit(tx, [{ actor: operatorOf(c), action: 'jobs tried again', sale: ALL_SALES, after }])
          return retried
        })
        return c.json({ queue, retried, more: retried === MAX_RETRIED }, 202)
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
  )
}
