import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { startStripe } from '../../test/stripe.ts'
import { NO_SALE, readFindings } from '../findings.ts'
import { connect, prepare, type Sql } from '../ledger/ledger.ts'
import { createMetrics } from '../metrics.ts'
import { PaymentJobs, REFUND_ATTEMPTS } from './jobs.ts'
import { Refunds } from './refunds.ts'
import { stripeProvider } from './stripe.ts'

const secrets = { secretKey: 'sk_test_played_by_a_local_server', webhookSecret: 'whsec_played' }
const log = pino({ level: 'silent' })
const database = useDatabase()
const stripe = await startStripe(secrets)
const provider = stripeProvider({ ...secrets, apiUrl: stripe.url, nowMs: Date.now })
const metrics = createMetrics()
let sql: Sql
let jobs: PaymentJobs
beforeAll(async () => {
  await prepare(database.url)
  sql = connect(database.url, 2)
  jobs = new PaymentJobs(database.url, log, false)
  await jobs.start()
})
afterAll(async () => {
  await jobs.stop()
  await sql.end({ timeout: 1 })
  await stripe.stop()
})

const counted = async (name: 'refunds' | 'payments' | 'findings') =>
  (await metrics[name].get()).values.map(({ labels, value }) => ({ ...labels, value }))

test('a refund that failed to the last is told to a person until it has succeeded after all', async () => {
  const refunds = new Refunds({ sql, metrics, log }, jobs, provider)
  const order = randomUUID()
  const { id: charge } = stripe.add({ order }, 1_000, 'eur')
  await refunds.ask(sql, [{ charge, order, reason: 'paid when cancelled' }])
  await sql`update pgboss.job set retry_count = ${REFUND_ATTEMPTS - 1} where name = 'refund'`
  await refunds.round()
  const open = { kind: 'refund_failed', subject: charge, closed_at: null }
  expect((await readFindings(sql, NO_SALE)).findings).toMatchObject([open])
  expect(await counted('findings')).toEqual([{ sale: NO_SALE, kind: 'refund_failed', value: 1 }])
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])

  stripe.succeed(charge)
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  await refunds.resume()
  await refunds.round()
  expect((await readFindings(sql, NO_SALE)).findings).toMatchObject([
    { kind: 'refund_failed', closed_at: expect.any(Date), outcome: 'refunded after all' },
  ])
  expect(await counted('refunds')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await counted('payments')).toEqual([])
})
