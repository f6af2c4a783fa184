import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, onTestFinished, test } from 'vitest'
import { useDatabase } from '../../test/servers.ts'
import { connect } from '../ledger/connection.ts'
import { PaymentJobs } from './payment-jobs.ts'

const database = useDatabase()
const log = pino({ level: 'silent' })

async function started(supervise: boolean): Promise<PaymentJobs> {
  const jobs = new PaymentJobs(database.url, log, supervise)
  onTestFinished(() => jobs.stop())
  await jobs.start()
  return jobs
}

test('deletes completed jobs after minutes, and keeps waiting ones', async () => {
  const sql = connect(database.url, 1)
  onTestFinished(() => sql.end({ timeout: 1 }))
  const jobs = await started(false)
  await jobs.addCharges(sql, [randomUUID(), randomUUID()])
  await jobs.done('charge', await jobs.take('charge', 1))
  const minutesAgo = sql`now() - interval '3 minutes'`
  await sql`update pgboss.job set completed_on = ${minutesAgo} where state = 'completed'`
  await sql`update pgboss.queue set maintain_on = ${minutesAgo}`
  await started(true)
  await expect.poll(() => sql`select state from pgboss.job`).toEqual([{ state: 'created' }])
})
