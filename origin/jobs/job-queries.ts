/** The job queues as pg-boss keeps them in its own tables: what waits in each, and what was given up. */
import type { DeadJob, QueueState } from '../../shared/api/operator.ts'
import type { Queryable, Sql } from '../ledger/connection.ts'

/** `dead`: the queue where the given up jobs of each queue are. */
export const readQueues = (sql: Sql, queues: readonly { readonly queue: string; readonly dead: string }[]) => sql<
  QueueState[]
>`
  select q.queue, j.waiting, j.later, j.retrying, j.oldest_seconds,
    coalesce((select active_count from pgboss.queue b where b.name = q.queue), 0)::int as active,
    (select count(*)::int from pgboss.job d where d.name = q.dead and d.state < 'active') as dead
  from unnest(${queues.map((q) => q.queue)}::text[], ${queues.map((q) => q.dead)}::text[]) as q (queue, dead),
  lateral (
    select count(*) filter (where start_after <= now())::int as waiting,
      count(*) filter (where start_after > now())::int as later,
      count(*) filter (where state = 'retry')::int as retrying,
      extract(epoch from now() - min(start_after) filter (where start_after <= now()))::float8 as oldest_seconds
    from pgboss.job j where j.name = q.queue and j.state < 'active') j`

/** The latest of a queue's dead jobs. */
export const readDead = (sql: Sql, dead: string, limit: number) => sql<DeadJob[]>`
  select id as job, data, created_on as died_at, source_output as error
  from pgboss.job where name = ${dead} and state < 'active' order by created_on desc, id limit ${limit}`

/** Takes a dead job out of its queue; undefined if it is not there any more. */
export async function takeDead(tx: Queryable, dead: string, job: string): Promise<object | undefined> {
  const [row] = await tx<{ data: object }[]>`
    delete from pgboss.job where name = ${dead} and id = ${job} and state < 'active' returning data`
  return row?.data
}
