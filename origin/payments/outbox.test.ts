import { randomUUID } from 'node:crypto'
import { beforeEach, expect, test } from 'vitest'
import { usePayments } from '../../test/payments.ts'
import { NO_SALE, readFindings } from '../findings/finding-queries.ts'
import { OUTBOX_ATTEMPTS, OUTBOX_QUEUES } from '../jobs/payment-jobs.ts'
import { Outbox } from './outbox.ts'

const { stripe, ...deps } = await usePayments()
const { provider, sql, jobs, metrics } = deps
beforeEach(async () => {
  await sql`truncate captures, refunds, findings`
  metrics.registry.resetMetrics()
})

const capturesBy = (capture: typeof provider.capture) =>
  new Outbox('capture', { ...deps, provider: { ...provider, capture } })
const captures = new Outbox('capture', deps)
const refunds = new Outbox('refund', deps)
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
  await jobs.addCaptures(sql, [charge])
  return charge
}
const lastAttempt = (kind: 'capture' | 'refund') =>
  sql`update pgboss.job set retry_count = ${OUTBOX_ATTEMPTS - 1}, start_after = now() where name = ${OUTBOX_QUEUES[kind][0]}`
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
  await refunds.round()
  const open = { kind: 'refund_failed', subject: charge, closed_at: null }
  expect(await findings()).toMatchObject([open])
  const metric = await metrics.registry.getSingleMetricAsString('findings_total')
  expect(metric).toMatch(/\nfindings_total\{sale="",kind="refund_failed"\} 1$/)
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])

  stripe.settings.refundStatus = 'succeeded'
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  await refunds.resume()
  await refunds.round()
  expect(await findings()).toMatchObject([
    { kind: 'refund_failed', closed_at: expect.any(Date), outcome: 'refunded after all' },
  ])
  expect(await counted('refunds')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await counted('payments')).toEqual([])
})

test('retries a failed capture, and opens a finding after the last attempt', async () => {
  const { order, charge } = newCharge()
  await jobs.addCaptures(sql, [{ charge, order }])
  await captures.round()
  expect(await findings()).toEqual([])
  expect(await counted('captures')).toEqual([{ outcome: 'failed', value: 1 }])
  await lastAttempt('capture')
  await captures.round()
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])

  stripe.authorize(charge)
  await sql`update captures set asked_at = asked_at - interval '13 hours'`
  await captures.resume()
  await captures.round()
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await counted('captures')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await findings()).toMatchObject([
    { kind: 'capture_failed', closed_at: expect.any(Date), outcome: 'captured after all' },
  ])
})

test('opens a finding at once for a capture that is not authorized any more, and does not retry it', async () => {
  const { charge } = await newCapture()
  stripe.cancel(charge)
  await captures.round()
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])
  expect(await counted('captures')).toEqual([{ outcome: 'gone', value: 1 }])
  expect(await jobs.take('capture', 10)).toEqual([])
  await captures.resume()
  expect(await jobs.take('capture', 10)).toEqual([])
})

test('does not capture a charge that is to be refunded', async () => {
  const { order, charge, intent } = await newCapture()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await captures.round()
  expect(intent.status).toBe('requires_capture')
  await refunds.round()
  expect(intent.status).toBe('canceled')
  expect(await jobs.take('capture', 10)).toEqual([])
  expect(await findings()).toEqual([])
})

test('voids a charge whose refund overtakes its capture, without a finding', async () => {
  const { intent } = await newCapture()
  await capturesBy(async (charge) => {
    await jobs.addRefunds(sql, [{ ...charge, reason: 'oversold' }])
    await refunds.round()
    return provider.capture(charge)
  }).round()
  expect(intent.status).toBe('canceled')
  expect(await findings()).toEqual([])
})

test('refunds a charge whose capture was in progress', async () => {
  const { intent } = await newCapture()
  await capturesBy(async (charge) => {
    const done = await provider.capture(charge)
    await jobs.addRefunds(sql, [{ ...charge, reason: 'oversold' }])
    return done
  }).round()
  await refunds.round()
  expect(intent).toMatchObject({ status: 'succeeded', refunded: true })
  expect(await findings()).toEqual([])
})

test('closes the finding of a capture done by hand, or to be refunded', async () => {
  const [byHand, refunded] = [newCharge(), newCharge()]
  await jobs.addCaptures(sql, [byHand, refunded])
  await lastAttempt('capture')
  await captures.round()
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
  await refunds.round()
  metrics.registry.resetMetrics()
  await jobs.add(sql, 'refund', [done])
  await refunds.recheck([done.charge])
  await refunds.round()
  expect(await counted('refunds')).toEqual([])
})

test('queues a refund that lost its job again, once, unless it is done', async () => {
  const [open, done] = [newCharge(), newCharge()]
  for (const one of [open, done]) await jobs.addRefunds(sql, [{ ...one, reason: 'oversold' }])
  await sql`update refunds set refunded_at = now() where charge_id = ${done.charge}`
  await sql`delete from pgboss.job`
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (let times = 0; times < 3; times++) await refunds.resume()
  expect(await jobs.take('refund-by-id', 10)).toMatchObject([{ charge: open.charge }])
})

test('keeps a capture that is done when it is reported gone or is to be refunded', async () => {
  const { order, charge } = newCharge()
  await jobs.addCaptures(sql, [{ charge, order }])
  await capturesBy(async () => {
    await captures.markDone([charge])
    return false
  }).round()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await findings()).toEqual([])
})

test('serves a job of the version before, and leaves parts to their own jobs', async () => {
  const { order, charge, intent } = newCharge()
  stripe.succeed(charge)
  const [part] = await sql<{ refund: string }[]>`
    insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 300)
    returning refund_id as refund`
  await jobs.add(sql, 'refund', [{ charge, order }])
  await refunds.round()
  const open = () => sql`select 1 from refunds where charge_id = ${charge} and refunded_at is null`
  expect(await open()).toHaveLength(1)
  expect(intent).not.toMatchObject({ refunded: true })
  await jobs.addRefundJobs(sql, [{ charge, order, refund: part?.refund ?? '' }])
  await refunds.round()
  expect(await open()).toEqual([])
  await sql`insert into refunds (charge_id, order_id, reason) values (${charge}, ${order}, 'oversold')`
  await jobs.add(sql, 'refund', [{ charge, order }])
  await refunds.round()
  expect(await open()).toEqual([])
  expect(intent).toMatchObject({ refunded: true })
})

test('takes the money before it gives back a part of it', async () => {
  const { order, charge } = await newCapture()
  const [part] = await sql<{ refund: string }[]>`
    insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 300)
    returning refund_id as refund`
  await jobs.addRefundJobs(sql, [{ charge, order, refund: part?.refund ?? '' }])
  await refunds.round()
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await sql`select 1 from refunds where charge_id = ${charge} and refunded_at is null`).toEqual([])
})

test('gives back the rest after the parts that were asked for before', async () => {
  const { order, charge } = newCharge()
  stripe.succeed(charge)
  await sql`insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 300)`
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await refunds.round()
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (const _ of [1, 2]) {
    await sql`update pgboss.job set start_after = now()`
    await refunds.resume()
    await refunds.round()
  }
  expect(await sql`select 1 from refunds where charge_id = ${charge} and refunded_at is null`).toEqual([])
})

test('does not reopen a refund that is not done', async () => {
  const { order, charge } = newCharge()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await refunds.reopen({ charge, order })
  expect(await findings()).toEqual([])
})
