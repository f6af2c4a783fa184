import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, expect, test } from 'vitest'
import { usePayments } from '../../test/payments.ts'
import type { Sql } from '../ledger/connection.ts'
import { NO_SALE, readFindings } from '../ledger/findings.ts'
import { createMetrics } from '../lib/metrics.ts'
import { DUE_ATTEMPTS, type PaymentJobs } from './jobs.ts'
import { Due } from './outbox.ts'

const { stripe, provider, log, open } = await usePayments()
const metrics = createMetrics()
let sql: Sql
let jobs: PaymentJobs
beforeAll(async () => {
  ;({ sql, jobs } = await open())
})
beforeEach(async () => {
  await sql`truncate captures, refunds, findings`
  metrics.registry.resetMetrics()
})

const captures = () => new Due('capture', { sql, metrics, log }, jobs, (due) => provider.capture(due))
const refunds = () =>
  new Due('refund', { sql, metrics, log }, jobs, async (due) => {
    await provider.refund(due)
    return true
  })
/** A charge as Stripe has it, for an order that the ledger need not have. */
function newCharge() {
  const order = randomUUID()
  const intent = stripe.add({ order }, 1_000, 'eur')
  return { order, intent, charge: intent.id }
}
const lastAttempt = (kind: 'capture' | 'refund') =>
  sql`update pgboss.job set retry_count = ${DUE_ATTEMPTS - 1}, start_after = now() where name = ${kind}`
const findings = async () => (await readFindings(sql, NO_SALE)).findings
const capturedAt = async (charge: string) =>
  (await sql<{ captured_at: Date | null }[]>`select captured_at from captures where charge_id = ${charge}`)[0]
    ?.captured_at
const counted = async (name: 'captures' | 'refunds' | 'payments') =>
  (await metrics[name].get()).values.map(({ labels, value }) => ({ ...labels, value }))

test('a refund that failed to the last is told to a person until it has succeeded after all', async () => {
  const { order, charge } = newCharge()
  stripe.succeed(charge)
  stripe.refundsAre('failed')
  await jobs.addRefunds(sql, [{ charge, order, reason: 'paid when cancelled' }])
  await lastAttempt('refund')
  await refunds().round()
  const open = { kind: 'refund_failed', subject: charge, closed_at: null }
  expect(await findings()).toMatchObject([open])
  const told = await metrics.registry.getSingleMetricAsString('findings_total')
  expect(told).toMatch(/\nfindings_total\{sale="",kind="refund_failed"\} 1$/)
  expect(await counted('refunds')).toEqual([{ outcome: 'failed', value: 1 }])

  stripe.refundsAre('succeeded')
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  await refunds().resume()
  await refunds().round()
  expect(await findings()).toMatchObject([
    { kind: 'refund_failed', closed_at: expect.any(Date), outcome: 'refunded after all' },
  ])
  expect(await counted('refunds')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await counted('payments')).toEqual([])
})

test('a capture that fails is tried again, and told to a person once it has failed to the last', async () => {
  const { order, charge } = newCharge()
  await jobs.addCaptures(sql, [{ charge, order }])
  await captures().round()
  expect(await findings()).toEqual([])
  expect(await counted('captures')).toEqual([{ outcome: 'failed', value: 1 }])
  await lastAttempt('capture')
  await captures().round()
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])

  stripe.authorize(charge)
  await sql`update captures set asked_at = asked_at - interval '13 hours'`
  await captures().resume()
  await captures().round()
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await counted('captures')).toContainEqual({ outcome: 'succeeded', value: 1 })
  expect(await findings()).toMatchObject([
    { kind: 'capture_failed', closed_at: expect.any(Date), outcome: 'captured after all' },
  ])
})

test('a capture for which nothing is authorized any more is told to a person at once, and not tried again', async () => {
  const { order, charge } = newCharge()
  stripe.authorize(charge)
  await jobs.addCaptures(sql, [{ charge, order }])
  stripe.cancel(charge)
  await captures().round()
  expect(await findings()).toMatchObject([{ kind: 'capture_failed', subject: charge, closed_at: null }])
  expect(await counted('captures')).toEqual([{ outcome: 'gone', value: 1 }])
  expect(await jobs.take('capture', 10)).toEqual([])
  await captures().resume()
  expect(await jobs.take('capture', 10)).toEqual([])
})

test('a charge that is to be given back is not captured any more, and nobody is told', async () => {
  const { order, charge, intent } = newCharge()
  stripe.authorize(charge)
  await jobs.addCaptures(sql, [{ charge, order }])
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await captures().round()
  expect(intent.status).toBe('requires_capture')
  await refunds().round()
  expect(intent.status).toBe('canceled')
  expect(await jobs.take('capture', 10)).toEqual([])
  expect(await findings()).toEqual([])
})

test('a refund that overtakes a capture under way voids the charge, and nobody is told', async () => {
  const { order, charge, intent } = newCharge()
  stripe.authorize(charge)
  await jobs.addCaptures(sql, [{ charge, order }])
  const overtaken = new Due('capture', { sql, metrics, log }, jobs, async (due) => {
    await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
    await refunds().round()
    return provider.capture(due)
  })
  await overtaken.round()
  expect(intent.status).toBe('canceled')
  expect(await findings()).toEqual([])
})

test('a refund that comes after a capture under way gives back what it took', async () => {
  const { order, charge, intent } = newCharge()
  stripe.authorize(charge)
  await jobs.addCaptures(sql, [{ charge, order }])
  const first = new Due('capture', { sql, metrics, log }, jobs, async (due) => {
    const done = await provider.capture(due)
    await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
    return done
  })
  await first.round()
  await refunds().round()
  expect(intent).toMatchObject({ status: 'succeeded', refunded: true })
  expect(await findings()).toEqual([])
})

test('what a person was told of is closed when it is captured by hand, or given back', async () => {
  const [byHand, back] = [newCharge(), newCharge()]
  await jobs.addCaptures(sql, [byHand, back])
  await lastAttempt('capture')
  await captures().round()
  expect(await findings()).toHaveLength(2)
  await captures().happened([byHand.charge])
  await jobs.addRefunds(sql, [{ ...back, reason: 'oversold' }])
  expect((await findings()).map((f) => [f.subject, f.outcome]).sort()).toEqual(
    [
      [byHand.charge, 'captured after all'],
      [back.charge, 'to be given back'],
    ].sort(),
  )
})

test('what has happened is not asked of the provider again, though its job is still there', async () => {
  const { order, charge } = newCharge()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await refunds().happened([charge])
  await refunds().round()
  expect(await counted('refunds')).toEqual([])
})

test('what lost its job is asked for again, not in every round, and not if it has happened', async () => {
  const [open, over] = [newCharge(), newCharge()]
  await jobs.addRefunds(
    sql,
    [open, over].map((one) => ({ ...one, reason: 'oversold' })),
  )
  await refunds().happened([over.charge])
  await sql`delete from pgboss.job`
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (let times = 0; times < 3; times++) await refunds().resume()
  expect(await jobs.take('refund', 10)).toMatchObject([{ charge: open.charge }])
})

test('what was captured stays so, though nothing is left to capture, and though it is to be given back', async () => {
  const { order, charge } = newCharge()
  await jobs.addCaptures(sql, [{ charge, order }])
  const late = new Due('capture', { sql, metrics, log }, jobs, async () => {
    await captures().happened([charge])
    return false
  })
  await late.round()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  expect(await capturedAt(charge)).toBeInstanceOf(Date)
  expect(await findings()).toEqual([])
})

test('a refund that has not happened cannot be undone', async () => {
  const { order, charge } = newCharge()
  await jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
  await refunds().undone({ charge, order })
  expect(await findings()).toEqual([])
})
