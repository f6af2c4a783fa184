/** Work to be done: charges, captures, refunds, scheduled actions, webhooks and mails. */
import { sql } from 'drizzle-orm'
import { bigserial, boolean, index, integer, jsonb, pgTable, primaryKey, text } from 'drizzle-orm/pg-core'
import { instant } from './columns.ts'

/**
 * One job, written in the transaction that makes it necessary. Jobs that are done are deleted, unless their queue
 * keeps them.
 */
export const jobs = pgTable(
  'jobs',
  {
    job_id: bigserial({ mode: 'number' }).primaryKey(),
    /** A key of QUEUES (origin/jobs/queues.ts). */
    queue: text().notNull(),
    /** Each group of a queue is taken from by itself: a webhook's endpoint. Empty where a queue has no groups. */
    group_id: text().notNull().default(''),
    /**
     * Jobs of one lane of a group (an order's webhooks) are taken one after the other. Null: it waits for no other
     * job.
     */
    lane: text(),
    data: jsonb().notNull(),
    state: text().$type<'pending' | 'done' | 'dead'>().notNull().default('pending'),
    /** Attempts begun. Each attempt is a lease of its own: the outcome of an earlier one does not count. */
    attempts: integer().notNull().default(0),
    /**
     * When it may be taken: at its time, after the pause of a failure, or when the lease of the worker that has it
     * ends.
     */
    run_at: instant().notNull().defaultNow(),
    /** A worker has it until `run_at`. */
    leased: boolean().notNull().default(false),
    /** The error of the last attempt. */
    error: text(),
    created_at: instant().notNull().defaultNow(),
    finished_at: instant(),
  },
  (t) => [
    index('jobs_due').on(t.queue, t.group_id, t.run_at, t.job_id).where(sql`state = 'pending'`),
    index('jobs_first_in_lane')
      .on(t.queue, t.group_id, t.lane, t.job_id)
      .where(sql`state = 'pending' and lane is not null`),
    index('jobs_dead').on(t.queue, t.job_id).where(sql`state = 'dead'`),
    index('jobs_of_group').on(t.group_id, t.job_id).where(sql`group_id <> ''`),
    index('jobs_of_lane').on(t.lane).where(sql`lane is not null`),
  ],
)

/** What became of a queue's attempts, by the minute, for a day. A worker that dies loses its last seconds. */
export const queueMinutes = pgTable(
  'queue_minutes',
  {
    queue: text().notNull(),
    minute: instant().notNull(),
    done: integer().notNull(),
    /** The attempts that failed, including those after which a job was given up. */
    failed: integer().notNull(),
    dead: integer().notNull(),
  },
  (t) => [primaryKey({ columns: [t.queue, t.minute] })],
)
