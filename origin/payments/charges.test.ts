import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test, vi } from 'vitest'
import { reservationOf, saleOf } from '../../test/origin.ts'
import { useDatabase } from '../../test/servers.ts'
import { startStripe } from '../../test/stripe.ts'
import { findOrder, record, writeSale } from '../ledger/ledger.ts'
import { connect, prepare, type Sql } from '../ledger/postgres.ts'
import { createMetrics } from '../metrics.ts'
import { Orders } from '../orders.ts'
import { Charges } from './charges.ts'
import { Due } from './due.ts'
import { CHARGE_ATTEMPTS, PaymentJobs } from './jobs.ts'
import type { PaymentProvider } from './provider.ts'
import { stripeProvider } from './stripe.ts'

const secrets = { secretKey: 'sk_test_played_by_a_local_server', webhookSecret: 'whsec_played' }
const log = pino({ level: 'silent' })
const database = useDatabase()
const stripe = await startStripe(secrets)
const provider = stripeProvider({ ...secrets, apiUrl: stripe.url, nowMs: Date.now })
const metrics = createMetrics()
let sql: Sql
let jobs: PaymentJobs
let orders: Orders
beforeAll(async () => {
  await prepare(database.url)
  sql = connect(database.url, 4)
  jobs = new PaymentJobs(database.url, log, false)
  await jobs.start()
  // What the gate would hear of it is not looked at here.
  const checkout = { gate: () => ({ settle: async () => {} }) } as never
  orders = new Orders({ sql, checkout, charges: jobs, metrics, log })
})
/** What a test before left for later is none of the next one's. */
beforeEach(() => sql`delete from pgboss.job`)
afterEach(() => vi.useRealTimers())
afterAll(async () => {
  await jobs.stop()
  await sql.end({ timeout: 1 })
  await stripe.stop()
})

function chargesBy(from: PaymentProvider, log = pino({ level: 'silent' })): Charges {
  const deps = { sql, sales: { nowMs: Date.now } as never, orders, metrics, log }
  const captures = new Due('capture', deps, jobs, (due) => from.capture(due))
  const refunds = new Due('refund', deps, jobs, async (due) => {
    await from.refund(due)
    return true
  })
  return new Charges(deps, jobs, { captures, refunds }, from)
}

async function payingWith(method: string): Promise<string> {
  const sale = `sale-${method}`
  await writeSale(sql, sale, saleOf(5, { limit_per_visitor: 5 }))
  const asked = { ...reservationOf(sale), key: crypto.randomUUID() }
  await record(sql, sale, [asked], false)
  await orders.pay(asked.order, method)
  return asked.order
}
/** Takes the charges there are, and waits for what comes of them. */
async function attempt(charges: Charges): Promise<void> {
  await sql`update pgboss.job set start_after = now() where name = 'charge' and state < 'active'`
  await charges.round()
  await charges.drain()
}
async function lastAttempt(charges: Charges): Promise<void> {
  await sql`update pgboss.job set retry_count = ${CHARGE_ATTEMPTS - 1} where name = 'charge'`
  await attempt(charges)
}
const intentOf = (order: string) => stripe.intents(order)[0]

test('a charge that has not happened by the last attempt is ended, and the order cancelled', async () => {
  const order = await payingWith('pm_card_processing')
  await lastAttempt(chargesBy(provider))
  expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'payment_timeout' })
  expect(intentOf(order)).toMatchObject({ status: 'canceled' })
})

test('one that is authorized just as it is given up keeps its money, and the order is confirmed', async () => {
  const order = await payingWith('pm_card_processing')
  const charges = chargesBy({
    ...provider,
    async find(of) {
      const found = await provider.find(of)
      stripe.authorize(found?.charge ?? '')
      const authorized = await provider.find(of)
      if (authorized) await charges.settle(authorized)
      return found
    },
  })
  await lastAttempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', charge_id: intentOf(order)?.id })
  expect(intentOf(order)).toMatchObject({ status: 'requires_capture' })
})

test('one that the provider turns away is tried again, more often than one that is not answered', async () => {
  const order = await payingWith('pm_card_visa')
  for (let times = 0; times <= CHARGE_ATTEMPTS; times++) {
    stripe.turnAway(1)
    await attempt(chargesBy(provider))
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
  }
  await attempt(chargesBy(provider))
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed' })
})

test('but not for ever', async () => {
  const order = await payingWith('pm_card_visa')
  stripe.turnAway(2)
  await attempt(chargesBy(provider))
  await sql`
    update pgboss.job set data = jsonb_set(data, '{turnedAwayAtMs}', to_jsonb(${Date.now() - 3_600_000}::bigint))
    where name = 'charge' and state < 'active'`
  await attempt(chargesBy(provider))
  expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'payment_timeout' })
})

test('and no others are taken for a moment', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const order = await payingWith('pm_card_visa')
  const charges = chargesBy(provider)
  stripe.turnAway(1)
  await attempt(charges)
  await attempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
  vi.advanceTimersByTime(1_000)
  await attempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed' })
})

test('what the provider says is wrong is logged, once for many charges', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const lines: string[] = []
  const charges = chargesBy(provider, pino({ level: 'warn' }, { write: (line) => lines.push(line) }))
  const refused = [await payingWith('pm_card_error_403'), await payingWith('pm_card_error_500')]
  const told = () => lines.map((line) => JSON.parse(line)).filter(({ reason }) => reason !== undefined)
  await attempt(charges)
  expect(told()).toHaveLength(1)
  expect(refused).toContain(told()[0].order)
  vi.advanceTimersByTime(10_000)
  await attempt(charges)
  expect(told()[1]).toMatchObject({
    reason: expect.stringMatching(/^Stripe\w+: It did not work/),
    charges: 2,
  })
})
