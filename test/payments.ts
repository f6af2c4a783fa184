/** Payments without the rest of the origin: a ledger, the job queue, and a local Stripe. */
import { pino } from 'pino'
import { afterAll, beforeEach } from 'vitest'
import { PaymentJobs } from '../origin/jobs/payment-jobs.ts'
import { connect } from '../origin/ledger/connection.ts'
import { createMetrics } from '../origin/lib/metrics.ts'
import { stripeProvider } from '../origin/payments/stripe.ts'
import { ledgerDatabase } from './servers.ts'
import { startStripe } from './stand-ins/stripe.ts'

const secrets = { secretKey: 'sk_test_of_a_local_server', webhookSecret: 'whsec_local' }

/** For the tests of one file. Each begins with an empty queue. */
export async function usePayments() {
  const [database, stripe] = await Promise.all([ledgerDatabase(), startStripe(secrets)])
  const log = pino({ level: 'silent' })
  const sql = connect(database.url, 4)
  const jobs = new PaymentJobs(database.url, log, false)
  await jobs.start()
  beforeEach(() => sql`delete from pgboss.job`)
  afterAll(async () => {
    await Promise.all([jobs.stop(), sql.end({ timeout: 1 }), stripe.stop()])
    await database.drop()
  })
  const provider = stripeProvider({ ...secrets, apiUrl: stripe.url, nowMs: Date.now })
  return { stripe, provider, sql, jobs, metrics: createMetrics(), log }
}
