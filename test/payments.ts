/** Payments without the rest of the origin: a ledger, its job queue, and the Stripe that tests play. */
import { pino } from 'pino'
import { afterAll, beforeEach } from 'vitest'
import { connect, prepare, type Sql } from '../origin/ledger/connection.ts'
import { PaymentJobs } from '../origin/payments/jobs.ts'
import { stripeProvider } from '../origin/payments/stripe.ts'
import { useDatabase } from './servers.ts'
import { startStripe } from './stripe.ts'

const secrets = { secretKey: 'sk_test_played_by_a_local_server', webhookSecret: 'whsec_played' }

/** For the tests of one file; `open`, in their `beforeAll`, gives the ledger and the queue. */
export async function usePayments() {
  const database = useDatabase()
  const stripe = await startStripe(secrets)
  const log = pino({ level: 'silent' })
  let sql: Sql
  let jobs: PaymentJobs
  /** What a test before left for later is none of the next one's. */
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
