import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { usePayments } from '../../test/lib/payments.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { NO_SALE, readFindings } from '../findings/finding-queries.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { QUEUES } from '../jobs/queues.ts'
import type { ChargeOf } from '../ledger/payment-statements.ts'
import { confirmPaid } from '../ledger/payment-statements.ts'
import { record } from '../ledger/record.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Outbox } from './outbox.ts'

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
  for (const { charge, order } of owed)
    await sql`insert into captures (charge_id, order_id) values (${charge}, ${order})`
  const jobsOf = owed.map(({ charge, order }) => ({ data: { charge, order } }))
  await addJobs(sql, 'capture', jobsOf)
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

test.each(['refund', 'capture'] as const)(
  'retries a failed %s, opens a finding after the last attempt, and closes it on success',
  async (kind) => {
    const { order, charge } = newCharge()
    const [outbox, outcome, counts] =
      kind === 'refund'
        ? ([refunds, 'refunded after all', 'refunds'] as const)
        : ([captures, 'captured after all', 'captures'] as const)
    if (kind === 'refund') {
      stripe.succeed(charge)
      stripe.settings.refundStatus = 'failed'
      await jobs.addRefunds(sql, [{ charge, order, reason: 'paid when cancelled' }])
    } else await addCaptures({ charge, order })
    await run(outbox)
    expect(await findings()).toEqual([])
    expect(await counted(counts)).toEqual([{ outcome: 'failed', value: 1 }])
    await lastAttempt(kind)
    await run(outbox)
    const finding = { kind: `${kind}_failed`, subject: charge }
    expect(await findings()).toMatchObject([{ ...finding, closed_at: null }])
    const metric = await metrics.registry.getSingleMetricAsString('findings_total')
    expect(metric).toContain(`\nfindings_total{sale="",kind="${kind}_failed"} 1`)

    if (kind === 'refund') stripe.settings.refundStatus = 'succeeded'
    else stripe.authorize(charge)
    await sql`update ${sql(counts)} set asked_at = asked_at - interval '13 hours'`
    await outbox.resume()
    await run(outbox)
    expect(await findings()).toMatchObject([{ ...finding, closed_at: expect.any(Date), outcome }])
    expect(await counted(counts)).toContainEqual({ outcome: 'succeeded', value: 1 })
    expect(await counted('payments')).toEqual([])
  },
)

test('takes more captures at a time while all succeed, and few again after a failure', async () => {
  // The test does not wait between two batches, so the clock is a variable.
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
  const sale = `sale-${randomUUID()}`
  await writeSale(sql, sale, saleOf(3))
  const reservations = Array.from({ length: 3 }, () => reservationOf(sale))
  await record(sql, sale, reservations, false)
  const orders = reservations.map(({ order }) => order)
  const paid = orders.map((order) => ({ order, charge: `pi_${order}` }))
  await confirmPaid(sql, paid)
  const cardOf = (order: string) => ({ brand: 'Visa', last4: `424${orders.indexOf(order)}` })
  await run(capturesBy(async ({ order }) => ({ card: cardOf(order) })))
  const rows = await sql<{ order: string }[]>`select order_id as order, card from orders where sale_id = ${sale}`
  expect([...rows]).toEqual(rows.map(({ order }) => ({ order, card: cardOf(order) })))
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

test.each(['before', 'during', 'after'] as const)(
  'gives back a charge whose refund is asked for %s its capture, without a finding',
  async (when) => {
    const { order, charge, intent } = await newCapture()
    const askRefund = () => jobs.addRefunds(sql, [{ charge, order, reason: 'oversold' }])
    if (when === 'before') await askRefund()
    await run(
      capturesBy(async (owed) => {
        expect(when).not.toBe('before')
        if (when === 'during') {
          await askRefund()
          await run(refunds)
        }
        const done = await provider.capture(owed)
        if (when === 'after') await askRefund()
        return done
      }),
    )
    await run(refunds)
    expect(intent).toMatchObject(when === 'after' ? { status: 'succeeded', refunded: true } : { status: 'canceled' })
    expect(await due('capture')).toEqual([])
    expect(await findings()).toEqual([])
  },
)

test('closes the finding of a capture done by hand, or to be refunded', async () => {
  const [byHand, refunded] = [newCharge(), newCharge()]
  await addCaptures(byHand, refunded)
  await lastAttempt('capture')
  await run(captures)
  expect(await findings()).toHaveLength(2)
  await captures.markDone([byHand.charge])
  await jobs.addRefunds(sql, [{ ...refunded, reason: 'oversold' }])
  expect(new Map((await findings()).map(({ subject, outcome }) => [subject, outcome]))).toEqual(
    new Map([
      [byHand.charge, 'captured after all'],
      [refunded.charge, 'to be given back'],
    ]),
  )
})

test('queues a refund that lost its job again, once, and asks the provider for none that is done', async () => {
  const [open, done] = [newCharge(), newCharge()]
  for (const one of [open, done]) await jobs.addRefunds(sql, [{ ...one, reason: 'oversold' }])
  await sql`update refunds set refunded_at = now() where charge_id = ${done.charge}`
  await sql`delete from jobs`
  await sql`update refunds set asked_at = asked_at - interval '13 hours'`
  for (let times = 0; times < 3; times++) await refunds.resume()
  expect(await due('refund')).toMatchObject([{ charge: open.charge }])
  await sql`delete from jobs`
  await refunds.recheck([done.charge])
  await run(refunds)
  expect(await counted('refunds')).toEqual([])
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

test('takes the money, and refunds what remains after the parts that were requested before', async () => {
  const { order, charge } = await newCapture()
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

describe('what the provider says was returned', () => {
  /** A captured charge of an order that is not in the ledger. */
  function taken() {
    const { order, charge } = newCharge()
    stripe.succeed(charge)
    return {
      order,
      charge,
      rowsOf: () => sql<{ reason: string; minor: number; done: boolean }[]>`
      select reason, amount_minor::int as minor, refunded_at is not null as done from refunds
        where charge_id = ${charge} order by asked_at`,
    }
  }
  async function ask({ charge, order }: ChargeOf, minor: number) {
    const [row] = await sql<{ refund: string }[]>`
      insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', ${minor})
      returning refund_id as refund`
    await addJobs(sql, 'refund', [{ data: { charge, order, refund: row?.refund ?? '' } }])
  }
  const returnedOf = (charge: string) =>
    stripe.refundsOf(charge).flatMap(({ status, amount }) => (status === 'failed' ? [] : amount))
  const tryLater = async () => {
    await sql`update refunds set asked_at = asked_at - interval '13 hours'`
    await refunds.resume()
    await run(refunds)
  }

  test.each([
    ['all of', 300, [300]],
    ['a part of', 200, [200, 100]],
  ])('counts before it is tried again: a person refunds %s it by hand after our last try', async (_, byHand, made) => {
    const { charge, order, rowsOf } = taken()
    await ask({ charge, order }, 300)
    await lastAttempt('refund')
    stripe.settings.refundStatus = 'failed'
    await run(refunds)
    stripe.settings.refundStatus = 'succeeded'
    stripe.refund(charge, {}, byHand)
    await tryLater()
    await tryLater()
    expect(returnedOf(charge)).toEqual(made)
    expect(await rowsOf()).toEqual([{ reason: 'torn', minor: 300, done: true }])
    expect(await findings()).toMatchObject([{ kind: 'refund_failed', outcome: 'refunded after all' }])
  })

  test('reopens the refund that failed, once, however often it is told', async () => {
    const { charge, order, rowsOf } = taken()
    await ask({ charge, order }, 300)
    await run(refunds)
    await ask({ charge, order }, 400)
    await run(refunds)
    const [first] = stripe.refundsOf(charge)
    stripe.sendRefundBack(charge, first?.id)
    const failed = { id: first?.id ?? '', key: first?.metadata?.refund ?? '', amountMinor: 300, isMade: false }
    for (let times = 0; times < 2; times++) await refunds.compare(charge, failed)
    const one = (minor: number, done: boolean) => ({ reason: 'torn', minor, done })
    expect(await rowsOf()).toEqual(expect.arrayContaining([one(300, false), one(400, true)]))
    await tryLater()
    await refunds.compare(charge, failed)
    expect(await rowsOf()).toEqual(expect.arrayContaining([one(300, true), one(400, true)]))
    expect(returnedOf(charge)).toEqual([400, 300])
    expect(await findings()).toMatchObject([{ kind: 'refund_failed', outcome: 'refunded after all' }])
  })

  test('of a charge that is none of ours is ignored', async () => {
    const calls = stripe.calls.length
    await refunds.compare('pi_of_another')
    expect(stripe.calls).toHaveLength(calls)
  })
})
