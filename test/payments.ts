/** Payments without the rest of the origin: a ledger, the job queue, and a local Stripe. */
import { pino } from 'pino'
import { afterAll, beforeEach } from 'vitest'
import { connect, prepare, type Sql } from '../origin/ledger/connection.ts'
import { PaymentJobs } from '../origin/payments/jobs.ts'
import { stripeProvider } from '../origin/payments/stripe.ts'
import { useDatabase } from './servers.ts'
import { startStripe } from './stripe.ts'

const secrets = { secretKey: 'sk_test_of_a_local_server', webhookSecret: 'whsec_local' }

/** For the tests of one file. Their `beforeAll` calls `open`, which returns the ledger and the queue. */
export async function usePayments() {
  const database = useDatabase()
  const stripe = await startStripe(secrets)
  const log = pino({ level: 'silent' })
  let sql: Sql
  let jobs: PaymentJobs
  beforeEach(() => sql`delete from pgboss.job`)
  afterAll(async () => {
    await jobs.stop()
    await sql.end({ timeout: 1 })
    await stripe.stop()
  })
  return {
    stripe,
    log,
    provider: stripeProvider({ ...secrets, apiUrl: stripe.url, nowMs: Date.now }),
    async open() {
      await prepare(database.url)
      sql = connect(database.url, 4)
      jobs = new PaymentJobs(database.url, log, false)
      await jobs.start()
      return { sql, jobs }
    },
  }
}
