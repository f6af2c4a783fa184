import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { usePayments } from '../../test/lib/payments.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { NO_SALE, readFindings } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { QUEUES } from '../jobs/queues.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Outbox } from './outbox.ts'
import { confirmPaid } from './payment-queries.ts'
import type { ChargeOf } from './providers/provider.ts'

const { stripe, runJobs, ...deps } = await usePayments()
const { provider, sql, jobs, metrics } = deps
beforeEach(async () => {
  await sql`truncate captures, refunds, findings`
  metrics.registry.resetMetrics()
})
afterEach(() => vi.restoreAllMocks())

const capturesBy = (capture: typeof provider.capture) =>
  new Outbox('capture', { ...deps, provider: { ...provider, capture } })
const run = (outbox: Outbox) => runJobs(outbox, { atOnce: true })
const captures = new Outbox('capture', deps)
const refunds = new Outbox('refund', deps)
/** Owes captures, as the confirmation of their orders does. */
async function addCaptures(...owed: ChargeOf[]): Promise<void> {
  const captures = owed.map(({ charge, order }) => ({ charge, order }))
  for (const { charge, order } of captures)
    await sql`insert into captures (charge_id, order_id) values (${charge}, ${order})`
  await addJobs(
    sql,
    'capture',
    captures.map((data) => ({ data })),
  )
}
/** A charge at Stripe, for an order that is not in the ledger. */
function newCharge() {
  const order = randomUUID()
  const intent = stripe.add({ order }, 1_000, 'eur')
  return { order, intent, charge: intent.id }
}
/** An authorized charge, and its capture in the queue. */
async function newCapture() {
  const charge = newCharge()
  stripe.authorize(charge.charge)
  await addCaptures(charge)
  return charge
}
/** Orders that are paid, and whose captures are in the queue. */
async function paidOrders(count: number) {
  const sale = `sale-${randomUUID()}`
  await writeSale(sql, sale, saleOf(count))
  const reservations = Array.from({ length: count }, () => reservationOf(sale))
  await record(sql, sale, reservations, false)
  const orders = reservations.map(({ order }) => order)
  await confirmPaid(
    sql,
    orders.map((order) => ({ order, charge: `pi_${order}` })),
  )
  return { sale, orders }
}
const lastAttempt = (kind: 'capture' | 'refund') =>
  sql`update jobs set attempts = ${QUEUES[kind].attempts - 1}, run_at = now() where queue = ${kind}`
const due = async (queue: 'capture' | 'refund') =>
  (await sql`select data from jobs where queue = ${queue} and not leased`).map(({ data }) => data)
const findings = async () => (await readFindings(sql, NO_SALE)).findings
const capturedAt = async (charge: string) =>
  (await sql<{ captured_at: Date | null }[]>`select captured_at from captures where charge_id = ${charge}`)[0]
    ?.captured_at
const counted = async (name: 'captures' | 'refunds' | 'payments') =>
  (await metrics[name].get()).values.map(({ labels, value }) => ({ ...labels, value }))

test('opens a finding for a refund that failed its last attempt, and closes it on success', async () => {
  const { order, charge } = newCharge()
  stripe.succeed(charge)
  stripe.settings.refundStatus = 'failed'
  await jobs.addRefunds(sql, [{ charge, order, reason: 'paid when cancelled' }])
  await lastAttempt('refund')
  await run(refunds)
  const open = { kind: 'refund_failed', subject: charge, closed_at: null }
  expect(await findings()).toMatchObject([open])
  const metric = await metrics.registry.getSingleMetricAsString('findings_total')
  expect(metric).toMatch(/\nfindings_total\{sale="",kind="refund_failed"\} 1$/)
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])

  stripe.settings.refundStatus = 'succeeded'
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  await refunds.resume()
  await run(refunds)
  expect(await findings()).toMatchObject([
    { kind: 'refund_failed', closed_at: expect.any(Date), outcome: 'refunded after all' },
  ])
  expect(await counted('refunds')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await counted('payments')).toEqual([])
})

test('retries a failed capture, and opens a finding after the last attempt', async () => {
  const { order, charge } = newCharge()
  await addCaptures({ charge, order })
  await run(captures)
  expect(await findings()).toEqual([])
  expect(await counted('captures')).toEqual([{ outcome: 'failed', value: 1 }])
  await lastAttempt('capture')
  await run(captures)
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])

  stripe.authorize(charge)
  await sql`update captures set asked_at = asked_at - interval '13 hours'`
  await captures.resume()
  await run(captures)
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await counted('captures')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await findings()).toMatchObject([
    { kind: 'capture_failed', closed_at: expect.any(Date), outcome: 'captured after all' },
  ])
})

test('takes more captures at a time while all succeed, and few again after a failure', async () => {
  // Nobody waits for the rest between two batches.
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  let fails = false
  const outbox = capturesBy((charge) => (fails ? Promise.reject(new Error('too many')) : provider.capture(charge)))
  const batch = async (of: number) => {
    for (let i = 0; i < of; i++) await newCapture()
    await runJobs(outbox)
    expect(await outbox.room(0)).toBe(0)
    nowMs += 10_000
    return outbox.room(0)
  }
  const few = await outbox.room(0)
  expect(await batch(few)).toBe(2 * few)
  expect(await batch(1)).toBe(2 * few)
  expect(await batch(2 * few)).toBe(4 * few)
  fails = true
  expect(await batch(1)).toBe(few)
})

test('leaves captures that a slow provider would outlast their lease with to the next batch', async () => {
  let nowMs = 0
  vi.spyOn(performance, 'now').mockImplementation(() => nowMs)
  for (let i = 0; i < 200; i++) await newCapture()
  const outbox = capturesBy((charge) => {
    nowMs += 100
    return provider.capture(charge)
  })
  await run(outbox)
  const [left] =
    await sql`select count(*)::int as count from jobs where queue = 'capture' and attempts = 0 and not leased`
  const [made] = await sql`select count(*)::int as count from captures where captured_at is not null`
  expect(left?.count).toBeGreaterThan(0)
  expect(left?.count + made?.count).toBe(200)
  await run(captures)
  expect(await sql`select from captures where captured_at is null`).toEqual([])
  expect(await counted('captures')).toEqual([{ outcome: 'succeeded', value: 200 }])
})

test('notes the cards of all that it captured together', async () => {
  const { sale, orders } = await paidOrders(3)
  const outbox = capturesBy(async ({ order }) => ({ card: { brand: 'Visa', last4: `424${orders.indexOf(order)}` } }))
  await run(outbox)
  const rows = await sql<
    { order_id: string; card: object }[]
  >`select order_id, card from orders where sale_id = ${sale}`
  for (const { order_id, card } of rows)
    expect(card).toEqual({ brand: 'Visa', last4: `424${orders.indexOf(order_id)}` })
})

test('opens a finding at once for a capture that is not authorized any more, and does not retry it', async () => {
  const { charge } = await newCapture()
  stripe.cancel(charge)
  await run(captures)
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])
  expect(await counted('captures')).toEqual([{ outcome: 'gone', value: 1 }])
  expect(await due('capture')).toEqual([])
  await captures.resume()
  expect(await due('capture')).toEqual([])
})

test('does not capture a charge that is to be refunded', async () => {
  const { order, charge, intent } = await newCapture()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await run(captures)
  expect(intent.status).toBe('requires_capture')
  await run(refunds)
  expect(intent.status).toBe('canceled')
  expect(await due('capture')).toEqual([])
  expect(await findings()).toEqual([])
})

test('voids a charge whose refund overtakes its capture, without a finding', async () => {
  const { intent } = await newCapture()
  await run(
    capturesBy(async (charge) => {
      await jobs.addRefunds(sql, [{ ...charge, reason: 'oversold' }])
      await run(refunds)
      return provider.capture(charge)
    }),
  )
  expect(intent.status).toBe('canceled')
  expect(await findings()).toEqual([])
})

test('refunds a charge whose capture was in progress', async () => {
  const { intent } = await newCapture()
  await run(
    capturesBy(async (charge) => {
      const done = await provider.capture(charge)
      await jobs.addRefunds(sql, [{ ...charge, reason: 'oversold' }])
      return done
    }),
  )
  await run(refunds)
  expect(intent).toMatchObject({ status: 'succeeded', refunded: true })
  expect(await findings()).toEqual([])
})

test('closes the finding of a capture done by hand, or to be refunded', async () => {
  const [byHand, refunded] = [newCharge(), newCharge()]
  await addCaptures(byHand, refunded)
  await lastAttempt('capture')
  await run(captures)
  expect(await findings()).toHaveLength(2)
  await captures.markDone([byHand.charge])
  await jobs.addRefunds(sql, [{ ...refunded, reason: 'oversold' }])
  expect((await findings()).map((f) => [f.subject, f.outcome]).sort()).toEqual(
    [
      [byHand.charge, 'captured after all'],
      [refunded.charge, 'to be given back'],
    ].sort(),
  )
})

test('does not ask the provider again for a refund that is done', async () => {
  const done = newCharge()
  stripe.succeed(done.charge)
  await jobs.addRefunds(sql, [{ ...done, reason: 'oversold' }])
  await run(refunds)
  metrics.registry.resetMetrics()
  await refunds.recheck([done.charge])
  await run(refunds)
  expect(await counted('refunds')).toEqual([])
})

test('queues a refund that lost its job again, once, unless it is done', async () => {
  const [open, done] = [newCharge(), newCharge()]
  for (const one of [open, done]) await jobs.addRefunds(sql, [{ ...one, reason: 'oversold' }])
  await sql`update refunds set refunded_at = now() where charge_id = ${done.charge}`
  await sql`delete from jobs`
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (let times = 0; times < 3; times++) await refunds.resume()
  expect(await due('refund')).toMatchObject([{ charge: open.charge }])
})

test('keeps a capture that is done when it is reported gone or is to be refunded', async () => {
  const { order, charge } = newCharge()
  await addCaptures({ charge, order })
  await run(
    capturesBy(async () => {
      await captures.markDone([charge])
      return null
    }),
  )
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await findings()).toEqual([])
})

test('takes the money before it gives back a part of it', async () => {
  const { order, charge } = await newCapture()
  const [part] = await sql<{ refund: string }[]>`
    insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 300)
    returning refund_id as refund`
  await addJobs(sql, 'refund', [{ data: { charge, order, refund: part?.refund ?? '' } }])
  await run(refunds)
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await sql`select 1 from refunds where charge_id = ${charge} and refunded_at is null`).toEqual([])
})

test('refunds what remains after the parts that were requested before', async () => {
  const { order, charge } = newCharge()
  stripe.succeed(charge)
  await sql`insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 300)`
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await run(refunds)
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (const _ of [1, 2]) {
    await sql`update jobs set run_at = now()`
    await refunds.resume()
    await run(refunds)
  }
  expect(await sql`select 1 from refunds where charge_id = ${charge} and refunded_at is null`).toEqual([])
})

test('does not reopen a refund that is not done', async () => {
  const { order, charge } = newCharge()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await refunds.reopen({ charge, order })
  expect(await findings()).toEqual([])
})
