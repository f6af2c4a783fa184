import { pino } from 'pino'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { usePayments } from '../../test/lib/payments.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { addJobs } from '../jobs/job-queries.ts'
import { QUEUES } from '../jobs/queues.ts'
import { findOrder } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import { TRANSITIONS } from '../ledger/transitions.ts'
import { Orders } from '../orders/orders.ts'
import type { PaymentProvider } from '../providers/provider.ts'
import { writeSale } from '../sales/sale-queries.ts'
import type { Calls } from './call-budget.ts'
import { CHARGE_ATTEMPTS, Charges } from './charges.ts'
import { Outbox } from './outbox.ts'

const { stripe, runJobs, ...deps } = await usePayments()
const { provider, sql, jobs, metrics } = deps
const gates = { of: () => ({ settle: async () => {} }) } as never
const orders = new Orders({ ...deps, gates, changes: { publish: () => {} }, charges: jobs, actionSeconds: 300 })
const captures = new Outbox('capture', deps)
const refunds = new Outbox('refund', deps)
const FREE = { product_id: 'one', name: 'One', unit_price_minor: 0, currency: 'EUR', total: 1, buffer: 0 }
const chargesBy = (changes: Partial<PaymentProvider> = {}, log = deps.log, calls: Calls = deps.calls) =>
  new Charges({
    ...deps,
    calls,
    log,
    provider: { ...provider, ...changes },
    sources: [{ ...provider, ...changes }],
    returnUrl: () => 'http://shop.test/order',
    orders,
    captures,
    refunds,
    nowMs: Date.now,
  })
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

async function payingWith(method: string, quantity = 1): Promise<string> {
  const sale = `sale-${method}`
  await writeSale(sql, sale, saleOf(100, { limit_per_visitor: 100 }))
  const reservation = { ...reservationOf(sale), visitor: crypto.randomUUID(), quantity, key: crypto.randomUUID() }
  await record(sql, sale, [reservation], false)
  await orders.pay(sale, reservation.order, method)
  return reservation.order
}
/** Runs the waiting charge jobs to their end. */
async function attempt(charges: Charges): Promise<void> {
  await sql`update jobs set run_at = now() where queue = 'charge'`
  await runJobs(charges)
}
async function lastAttempt(charges: Charges): Promise<void> {
  await sql`update jobs set attempts = ${CHARGE_ATTEMPTS - 1} where queue = 'charge'`
  await sql`update orders set reserved_until = now() where status = 'paying'`
  await attempt(charges)
}
/** Settles the charge of an order as the provider has it now. */
async function settleCurrent(charges: Charges, order: string): Promise<void> {
  const current = await provider.find(order)
  if (current) await charges.settle(current)
}
const findingsAbout = async (charge: string) =>
  sql`select sale_id, kind, closed_at is null as open, outcome, detail from findings where subject = ${charge}`
const intentOf = (order: string) => stripe.intents(order)[0]

test('cancels a charge that is pending after the last attempt, and the order', async () => {
  const order = await payingWith('pm_card_processing')
  await lastAttempt(chargesBy())
  expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'payment_timeout' })
  expect(intentOf(order)).toMatchObject({ status: 'canceled' })
})

test.each<[string, string, Partial<PaymentProvider>]>([
  [
    'the charge is authorized while it is given up',
    'pm_card_processing',
    {
      async find(order) {
        const found = await provider.find(order)
        stripe.authorize(found?.charge ?? '')
        await settleCurrent(chargesBy(), order)
        return found
      },
    },
  ],
  [
    'the last attempt was authorized and its response lost',
    'pm_card_visa',
    {
      async authorize(request) {
        await provider.authorize(request)
        return { result: 'unknown', reason: 'no response' }
      },
    },
  ],
])('confirms the order if %s', async (_, method, changes) => {
  const order = await payingWith(method)
  await lastAttempt(chargesBy(changes))
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', charge_id: intentOf(order)?.id })
  expect(intentOf(order)).toMatchObject({ status: 'requires_capture' })
})

test('captures a charge once that is reported again, and none of an order that has ended', async () => {
  const queued = async (order: string) =>
    (await sql`select from jobs where queue = 'capture' and data ->> 'order' = ${order}`).length
  const order = await payingWith('pm_card_visa')
  await attempt(chargesBy())
  expect(await queued(order)).toBe(1)
  // A report whose order was read before another one confirmed it.
  await orders.confirm([{ order, charge: intentOf(order)?.id ?? '' }])
  expect(await queued(order)).toBe(1)

  const ended = await payingWith('pm_card_visa')
  await orders.timeOut(ended)
  await orders.confirm([{ order: ended, charge: 'pi_late' }])
  expect(await queued(ended)).toBe(0)
})

test('does nothing for a webhook that repeats what a response says a moment later, and settles any other', async () => {
  const charges = chargesBy()
  vi.useFakeTimers({ toFake: ['setTimeout'] })
  const [confirm, markDone] = [vi.spyOn(orders, 'confirm'), vi.spyOn(captures, 'markDone')]
  const calls = () => [confirm.mock.calls.length, markDone.mock.calls.length]
  for (const isRepeated of [true, false]) {
    const order = await payingWith('pm_card_visa')
    const paid = { charge: `pi_${order}`, order, amountMinor: 1_000, currency: 'EUR' }
    const reported = async (status: 'authorized' | 'captured', response: () => Promise<unknown>) => {
      const report = charges.report({ ...paid, status })
      if (isRepeated) await response()
      await vi.advanceTimersByTimeAsync(1_000)
      await report
    }
    await reported('authorized', () => orders.confirm([paid]))
    expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', charge_id: paid.charge })
    await reported('captured', () => captures.markDone([paid.charge]))
    expect(await sql`select captured_at is not null as done from captures where order_id = ${order}`).toEqual([
      { done: true },
    ])
    expect(calls()).toEqual(isRepeated ? [1, 1] : [2, 2])
  }
})

test('refunds a charge that is captured while it is cancelled', async () => {
  const order = await payingWith('pm_card_processing')
  const charges = chargesBy({
    async cancel(charge) {
      stripe.succeed(charge)
      return provider.cancel(charge)
    },
  })
  await lastAttempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled' })
  await runJobs(refunds, { atOnce: true })
  expect(intentOf(order)).toMatchObject({ status: 'succeeded', refunded: true })
})

test.each(['lost', 'waiting'])(
  'queues a charge again that lost its job, once, and makes it once: its job is %s',
  async (job) => {
    const order = await payingWith('pm_card_visa', 3)
    if (job === 'lost') await sql`delete from jobs`
    await sql`update orders set updated_at = now() - interval '3 minutes' where order_id = ${order}`
    for (let times = 0; times < 3; times++) await chargesBy().resume()
    expect(await sql`select 1 from jobs where queue = 'charge'`).toHaveLength(1)
    await attempt(chargesBy())
    expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed' })
    expect(stripe.intents(order)).toMatchObject([{ amount: 3_000 }])
  },
)

test('leaves charges without calls to the provider pending, and makes those of nothing', async () => {
  await writeSale(sql, 'free', saleOf(1, { products: [FREE] }))
  const reservation = { ...reservationOf('free'), key: crypto.randomUUID() }
  await record(sql, 'free', [reservation], false)
  await orders.pay('free', reservation.order, 'pm_none')
  const paid = await payingWith('pm_card_visa')
  let granted = 0
  const charges = chargesBy({}, deps.log, { ...deps.calls, room: async () => granted })
  await attempt(charges)
  const statuses = async () => [(await findOrder(sql, reservation.order))?.status, (await findOrder(sql, paid))?.status]
  expect(await statuses()).toEqual(['confirmed', 'paying'])
  expect(await sql`select from jobs where queue = 'charge' and attempts = 0`).toHaveLength(1)
  granted = 1
  await attempt(charges)
  expect(await statuses()).toEqual(['confirmed', 'confirmed'])
})

test('retries a charge that the provider turns away more often than one without a response', async () => {
  const order = await payingWith('pm_card_visa')
  for (let times = 0; times <= CHARGE_ATTEMPTS; times++) {
    stripe.settings.turnAway = 1
    await attempt(chargesBy())
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
  }
  await attempt(chargesBy())
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed' })
})

test('gives up a charge that is turned away for too long', async () => {
  const order = await payingWith('pm_card_visa')
  stripe.settings.turnAway = 2
  await attempt(chargesBy())
  await sql`update jobs set data = data || jsonb_build_object('turnedAwayAtMs', ${Date.now() - 3_600_000}::bigint)`
  await attempt(chargesBy())
  expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'payment_timeout' })
})

test('opens one finding for what no card can pay, and neither declines nor repeats it', async () => {
  const refused = [await payingWith('pm_card_error_400'), await payingWith('pm_card_error_400')]
  await attempt(chargesBy())
  for (const order of refused) {
    const ended = { status: 'cancelled', reason: 'payment_timeout', attempts: 1, decline_code: null }
    expect(await findOrder(sql, order)).toMatchObject(ended)
  }
  const detail = { order: expect.any(String), amount_minor: 1_000, currency: 'EUR', error: expect.any(String) }
  expect(await findingsAbout('invalid_charge_amount')).toMatchObject([{ kind: 'charge_refused', open: true, detail }])
})

test('takes no other charge until the next second after one is turned away', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  vi.advanceTimersByTime(600)
  const order = await payingWith('pm_card_visa')
  const charges = chargesBy()
  stripe.settings.turnAway = 1
  await attempt(charges)
  vi.advanceTimersByTime(399)
  await attempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
  vi.advanceTimersByTime(1)
  await attempt(charges)
  expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed' })
})

test('logs the reason of failing charges, one line for many', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  const lines: string[] = []
  const charges = chargesBy({}, pino({ level: 'warn' }, { write: (line) => lines.push(line) }))
  const refused = [await payingWith('pm_card_error_403'), await payingWith('pm_card_error_500')]
  const logged = () => lines.map((line) => JSON.parse(line)).filter(({ reason }) => reason !== undefined)
  await attempt(charges)
  expect(logged()).toHaveLength(1)
  expect(refused).toContain(logged()[0].order)
  vi.advanceTimersByTime(10_000)
  await attempt(charges)
  expect(logged()[1]).toMatchObject({ reason: expect.stringMatching(/^Stripe\w+: It did not work/), charges: 2 })
})

describe('a charge that waits for its buyer', () => {
  /** Returns the charge of a new order after its first attempt. */
  async function waiting() {
    const charges = chargesBy()
    const order = await payingWith('pm_card_threeDSecure2Required')
    await attempt(charges)
    const charge = intentOf(order)?.id ?? ''
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying', action: { charge } })
    return { charges, order, charge }
  }
  /** Has the time of its buyer pass. */
  async function timeOut(order: string, charges = chargesBy(), secondsAgo = 1): Promise<void> {
    await sql`
      update orders set action_until = now() - make_interval(secs => ${secondsAgo}) where order_id = ${order}`
    await charges.endOverdueActions()
  }

  test('is cancelled when nobody comes, and then its order; a late success changes nothing', async () => {
    const { charges, order, charge } = await waiting()
    await charges.endOverdueActions()
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
    await timeOut(order, charges)
    expect(intentOf(order)).toMatchObject({ status: 'canceled' })
    const cancelled = { status: 'cancelled', reason: 'not_authenticated', action: null }
    expect(await findOrder(sql, order)).toMatchObject(cancelled)
    stripe.authenticate(charge, true)
    await settleCurrent(charges, order)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled' })
  })

  test('is left for a minute more while it is pending, and then cancelled with its order', async () => {
    const { order, charge } = await waiting()
    const charges = chargesBy({ read: async () => ({ charge, order, status: 'pending' }) })
    await timeOut(order, charges)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
    await timeOut(order, charges, 61)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'not_authenticated' })
    expect(intentOf(order)).toMatchObject({ status: 'canceled' })
  })

  test('confirms its order if the buyer came in time and no report arrived', async () => {
    const { charges, order, charge } = await waiting()
    stripe.authenticate(charge, true)
    await timeOut(order, charges)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', charge_id: charge })
    expect(intentOf(order)).toMatchObject({ status: 'requires_capture' })
  })

  test('is voided if it is authorized after its order has ended', async () => {
    const { order, charge } = await waiting()
    const charges = chargesBy({ cancel: async (cancelled) => ({ charge: cancelled, order: '', status: 'cancelled' }) })
    await timeOut(order, charges)
    stripe.authenticate(charge, true)
    await settleCurrent(charges, order)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'not_authenticated' })
    await runJobs(refunds, { atOnce: true })
    expect(intentOf(order)).toMatchObject({ status: 'canceled' })
    expect(await sql`select reason from refunds where order_id = ${order}`).toEqual([{ reason: 'paid when cancelled' }])
  })

  test('confirms no order after its cancel is decided, even if the buyer approves just before it', async () => {
    const { order, charge } = await waiting()
    const charges = chargesBy({
      async cancel(cancelled) {
        stripe.authenticate(charge, true)
        // Meanwhile another worker compares with the provider's records.
        await settleCurrent(chargesBy(), order)
        return provider.cancel(cancelled)
      },
    })
    await timeOut(order, charges)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'not_authenticated' })
    expect(intentOf(order)).toMatchObject({ status: 'canceled' })
    expect(await sql`select 1 from captures where order_id = ${order}`).toHaveLength(0)
  })

  test('keeps its order while the provider does not respond', async () => {
    const unreachable = () => Promise.reject(new Error('no response'))
    const { order } = await waiting()
    await timeOut(order, chargesBy({ cancel: unreachable }))
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying' })
    await timeOut(order)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled' })
  })

  test('waits no longer for being reported again', async () => {
    const { charges, order, charge } = await waiting()
    const until = (await findOrder(sql, order))?.action_until
    const action = { charge, url: 'http://elsewhere.test/' }
    await charges.settle({ charge, order, status: 'requires_action', attempt: 1, action })
    expect((await findOrder(sql, order))?.action_until).toEqual(until)
  })

  test('grants the time after the hold to one order of a visitor, and to none once one has failed', async () => {
    const afterHold = async (orders: readonly string[]) => {
      await attempt(chargesBy())
      const rows = await sql<{ seconds: number }[]>`
        select extract(epoch from action_until - reserved_until)::int as seconds from orders
        where order_id = any(${orders as string[]}::uuid[])`
      return rows.map(({ seconds }) => seconds).sort((a, b) => a - b)
    }
    const paying = async (changes: object) => {
      const order = await payingWith('pm_card_threeDSecure2Required')
      await sql`update orders set ${sql({ reserved_until: new Date(), ...changes })} where order_id = ${order}`
      return order
    }
    expect(await afterHold([await paying({ visitor: 'ann' }), await paying({ visitor: 'ann' })])).toEqual([0, 300])
    expect(await afterHold([await paying({ visitor: 'ann' })])).toEqual([0])
    const failed = await payingWith('pm_card_threeDSecure2Required')
    await sql`update orders set visitor = 'bob', status = 'cancelled', reason = 'declined' where order_id = ${failed}`
    expect(await afterHold([await paying({ visitor: 'bob' }), await paying({ visitor: 'cid' })])).toEqual([0, 300])
  })

  test('has one deadline for all attempts, however late one of them reached the bank', async () => {
    const order = await payingWith('pm_card_threeDSecure2Required')
    await sql`update orders set reserved_until = now() - interval '10 seconds' where order_id = ${order}`
    await attempt(chargesBy())
    const afterHold = sql`select extract(epoch from action_until - reserved_until)::int as seconds
      from orders where order_id = ${order}`
    expect(await afterHold).toEqual([{ seconds: 300 }])
    const { charge = '' } = (await findOrder(sql, order))?.action ?? {}
    stripe.authenticate(charge, false)
    await settleCurrent(chargesBy(), order)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'cancelled', reason: 'declined' })
  })

  test('declined by the bank leaves its order to be paid with another method, once for all reports', async () => {
    const { charges, order, charge } = await waiting()
    const sale = (await findOrder(sql, order))?.sale_id ?? ''
    stripe.authenticate(charge, false)
    await settleCurrent(charges, order)
    const declined = { status: 'reserved', decline_code: 'authentication_failed', action: null, payment_method: null }
    expect(await findOrder(sql, order)).toMatchObject(declined)
    await orders.pay(sale, order, 'pm_card_chargeDeclined')
    const report = { order, status: 'declined', code: 'declined' } as const
    await charges.settle({ ...report, charge, attempt: 1 })
    expect(await findOrder(sql, order)).toMatchObject({ status: 'paying', attempts: 2 })
    // One page of changes: the old one concerns an attempt that is over.
    await Promise.all([
      charges.settle({ ...report, charge, attempt: 1 }),
      charges.settle({ ...report, charge: 'pi_2', attempt: 2 }),
    ])
    expect(await findOrder(sql, order)).toMatchObject({ status: 'reserved', attempts: 2, decline_code: 'declined' })
    // No attempt begins after the end of the hold.
    await sql`update orders set reserved_until = now() where order_id = ${order}`
    expect(await orders.pay(sale, order, 'pm_card_visa')).toBeUndefined()
    expect(await findOrder(sql, order)).toMatchObject({ status: 'reserved', attempts: 2 })
  })
})

test.each([
  ['a lower amount', 999, 'eur'],
  ['a higher amount', 1_001, 'eur'],
  ['another currency', 1_000, 'usd'],
])('refunds a charge of %s, and does not confirm the order', async (_, amount, currency) => {
  const order = await payingWith('pm_card_unresponsive')
  const { id: charge } = stripe.add({ order }, amount, currency)
  stripe.authorize(charge)
  const charges = chargesBy()
  await Promise.all([settleCurrent(charges, order), settleCurrent(charges, order)])
  expect(await findOrder(sql, order)).toMatchObject({ status: 'paying', charge_id: null })
  expect(await findingsAbout(charge)).toMatchObject([{ kind: 'wrong_amount', open: true, detail: { order } }])
  await runJobs(refunds, { atOnce: true })
  expect(intentOf(order)).toMatchObject({ status: 'canceled' })
  await settleCurrent(charges, order)
  expect(await findingsAbout(charge)).toMatchObject([{ open: false, outcome: 'given back' }])
})

describe('a refund made by hand', () => {
  /** An order whose charge is authorized. */
  async function confirmed() {
    const order = await payingWith('pm_card_visa')
    const charges = chargesBy()
    await attempt(charges)
    return { order, charges, charge: intentOf(order)?.id ?? '' }
  }

  test('opens one finding for a sold order, which shows it and stays sold', async () => {
    const { order, charges, charge } = await confirmed()
    await provider.capture({ charge, order })
    stripe.refund(charge)
    const report = { charge, order, status: 'refunded' } as const
    await Promise.all([charges.settle(report), charges.settle(report)])
    await charges.settle(report)
    expect(await findOrder(sql, order)).toMatchObject({ status: 'refunded', refunded_minor: 1_000 })
    expect(await findingsAbout(charge)).toMatchObject([
      { sale_id: 'sale-pm_card_visa', kind: 'refunded_outside', open: true, detail: { order } },
    ])
    const refunded = await sql`select refunded_at is not null as done from refunds where charge_id = ${charge}`
    expect(refunded).toEqual([{ done: true }])
    expect(await sql`select from jobs where queue = 'refund'`).toEqual([])
  })

  test('opens no finding for a voided charge, a second charge, or an order that is not sold', async () => {
    const { order, charges, charge } = await confirmed()
    await charges.settle({ charge, order, status: 'cancelled' })
    await charges.settle({ charge: 'pi_second', order, status: 'refunded' })
    await orders.move([order], TRANSITIONS.cancelOversold)
    await charges.settle({ charge, order, status: 'refunded' })
    for (const none of [charge, 'pi_second']) expect(await findingsAbout(none)).toEqual([])
    expect(await sql`select 1 from refunds where order_id = ${order}`).toEqual([])
  })

  test('that the bank sends back has the order paid again, with a finding', async () => {
    const { order, charges, charge } = await confirmed()
    await provider.capture({ charge, order })
    await jobs.addRefunds(sql, [{ charge, order, reason: 'by the shop' }])
    await runJobs(refunds, { atOnce: true })
    expect(await findOrder(sql, order)).toMatchObject({ status: 'refunded', refunded_minor: 1_000 })
    stripe.sendRefundBack(charge)
    for (let times = 0; times < 2; times++) await charges.settle({ charge, order, status: 'refund_failed' })
    expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', refunded_minor: 0 })
    expect(await findingsAbout(charge)).toMatchObject([{ kind: 'refund_failed', open: true }])
    const types = await sql`select type from events where order_id = ${order} order by seq desc limit 1`
    expect(types).toEqual([{ type: 'order.refund_failed' }])
    const [product] = await sql`select sold from products where sale_id = 'sale-pm_card_visa'`
    const sold = await sql`
      select sum(quantity)::int as sold from orders where sale_id = 'sale-pm_card_visa'
        and status in ('confirmed', 'fulfilled', 'refunded')`
    expect(sold).toEqual([product])
  })

  test('that the bank sends back leaves the order paid, and what was refunded here as it is', async () => {
    const { order, charges, charge } = await confirmed()
    await provider.capture({ charge, order })
    const tell = async () => {
      for await (const { records } of provider.changes(null))
        for (const record of records) if (record.charge === charge) await charges.settle(record)
    }
    const refundedMinor = async () => (await findOrder(sql, order))?.refunded_minor
    const [row] = await sql<{ refund: string }[]>`
      insert into refunds (charge_id, order_id, reason, amount_minor) values (${charge}, ${order}, 'torn', 400)
      returning refund_id as refund`
    await addJobs(sql, 'refund', [{ data: { charge, order, refund: row?.refund ?? '' } }])
    await runJobs(refunds, { atOnce: true })
    stripe.refund(charge)
    await tell()
    expect(await findOrder(sql, order)).toMatchObject({ status: 'refunded', refunded_minor: 1_000 })
    stripe.sendRefundBack(charge)
    for (let times = 0; times < 2; times++) await tell()
    expect(await findOrder(sql, order)).toMatchObject({ status: 'confirmed', refunded_minor: 400 })
    expect(await findingsAbout(charge)).toMatchObject([
      { kind: 'refunded_outside' },
      { kind: 'refund_failed', open: true },
    ])
    stripe.refund(charge, {}, 600)
    await tell()
    expect(await refundedMinor()).toBe(1_000)
    expect(await findingsAbout(charge)).toContainEqual(expect.objectContaining({ kind: 'refund_failed', open: false }))
  })

  test('closes the finding of a failed refund', async () => {
    const { id: charge, metadata } = stripe.add({ order: crypto.randomUUID() }, 1_000, 'eur')
    const order = metadata.order ?? ''
    stripe.succeed(charge)
    await jobs.addRefunds(sql, [{ charge, order, reason: 'paid when cancelled' }])
    await sql`update jobs set attempts = ${QUEUES.refund.attempts - 1} where queue = 'refund'`
    stripe.settings.refundStatus = 'failed'
    await runJobs(refunds, { atOnce: true })
    stripe.settings.refundStatus = 'succeeded'
    expect(await findingsAbout(charge)).toMatchObject([{ kind: 'refund_failed', open: true }])
    stripe.refund(charge)
    await chargesBy().settle({ charge, order, status: 'refunded' })
    await runJobs(refunds, { atOnce: true })
    expect(await findingsAbout(charge)).toMatchObject([{ open: false, outcome: 'refunded after all' }])
  })

  test('closes the finding of a charge for an unknown order, which was counted', async () => {
    const order = crypto.randomUUID()
    const charges = chargesBy()
    const price = { amountMinor: 1_000, currency: 'EUR' }
    await charges.settle({ charge: 'pi_of_another', order, status: 'authorized', ...price })
    expect(await findingsAbout('pi_of_another')).toMatchObject([{ kind: 'unknown_charge', open: true }])
    const metric = await metrics.registry.getSingleMetricAsString('findings_total')
    expect(metric).toContain('findings_total{sale="",kind="unknown_charge"} 1')
    await charges.settle({ charge: 'pi_of_another', order, status: 'cancelled' })
    expect(await findingsAbout('pi_of_another')).toMatchObject([{ open: false, outcome: 'given back' }])
  })
})
