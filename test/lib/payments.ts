/**
 * Payments without the rest of the origin: a ledger, the jobs, and a local Stripe. It also sends webhooks of the
 * sandbox for a whole origin.
 */
import { pino } from 'pino'
import { afterAll, beforeEach } from 'vitest'
import { createMetrics } from '../../origin/base/metrics.ts'
import { type Consumer, JobRunner } from '../../origin/jobs/job-runner.ts'
import type { QueueName } from '../../origin/jobs/queues.ts'
import { connect } from '../../origin/ledger/connection.ts'
import type { Tracer } from '../../origin/lib/tracing.ts'
import { UNLIMITED } from '../../origin/payments/call-budget.ts'
import { PaymentJobs } from '../../origin/payments/payment-jobs.ts'
import { signWebhook } from '../../origin/providers/sandbox.ts'
import { stripeProvider } from '../../origin/providers/stripe.ts'
import { POLL_WITHIN_MS } from '../run/patience.ts'
import { startStripe } from '../stand-ins/stripe.ts'
import type { TestOrigin } from './origin-process.ts'
import { ledgerDatabase } from './servers.ts'

const secrets = { secretKey: 'sk_test_of_a_local_server', webhookSecret: 'whsec_local' }

/**
 * For the tests of one file, each of which starts without jobs. Stripe has time to answer a hundred calls at once on a
 * busy machine.
 */
export async function usePayments() {
  const [database, stripe] = await Promise.all([ledgerDatabase(), startStripe(secrets)])
  const log = pino({ level: 'silent' })
  const sql = connect(database.url, 4)
  beforeEach(() => sql`delete from jobs`)
  afterAll(() => Promise.all([sql.end({ timeout: 1 }), stripe.stop()]))
  const provider = stripeProvider({ ...secrets, apiUrl: stripe.url, nowMs: Date.now, timeoutMs: POLL_WITHIN_MS })
  /** Runs the due jobs until their attempts end, at the consumer's rate or at once. */
  const runJobs = async <Name extends QueueName>(consumer: Consumer<Name>, { atOnce = false } = {}) => {
    const { queue } = consumer
    const paced: Consumer<Name> = {
      queue,
      room: (busy) => (atOnce ? 200 : consumer.room(busy)),
      run: (jobs, end) => consumer.run(jobs, end),
      gaveUp: async (tx, dead) => consumer.gaveUp?.(tx, dead),
    }
    const runner = new JobRunner({ sql, log }, [paced])
    await runner.round()
    await runner.drain()
  }
  const payments = { stripe, provider, calls: UNLIMITED, sql, jobs: new PaymentJobs(log), resume: untraced }
  return { ...payments, runJobs, metrics: createMetrics(), log }
}

/** Does the work of a job whose call was not traced. */
export const untraced: Tracer['resume'] = (_noted, _name, work) => work()

/** Reports a charge to an origin as its sandbox does. */
export function sandboxWebhook(
  origin: Pick<TestOrigin, 'call'>,
  charge: object | string,
  secret = 'test-webhook-secret-of-at-least-32-chars',
) {
  const preset = { attempt: 1, refunded_minor: 0, amount_minor: 1_000, currency: 'EUR' }
  const body = typeof charge === 'string' ? charge : JSON.stringify({ ...preset, ...charge })
  const signature = signWebhook(secret, body, Math.floor(Date.now() / 1000))
  return origin.call('POST', '/webhooks/sandbox', { body, headers: { 'sandbox-signature': signature } })
}
