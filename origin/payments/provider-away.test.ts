/** A provider that answers nobody: it is away, which declines no card. */
import { setImmediate } from 'node:timers/promises'
import { expect, onTestFinished, test, vi } from 'vitest'
import { usePayments } from '../../test/lib/payments.ts'
import { reservationOf, saleOf } from '../../test/lib/samples.ts'
import { findOrder } from '../ledger/order-statements.ts'
import { record } from '../ledger/record.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { Orders } from '../orders/orders.ts'
import type { PaymentProvider } from '../providers/provider.ts'
import { PaymentRoom } from '../queue/payment-room.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { CHARGE_ATTEMPTS, Charges } from './charges.ts'
import { Outbox } from './outbox.ts'
import { ProviderWatch } from './provider-watch.ts'

const { stripe, runJobs, ...deps } = await usePayments()
const { provider, sql, jobs } = deps
const gates = { of: () => ({ settle: async () => {} }) } as never
const orders = new Orders({ ...deps, gates, changes: { publish: () => {} }, charges: jobs, actionSeconds: 300 })
const [captures, refunds] = [new Outbox('capture', deps), new Outbox('refund', deps)]
const returnUrl = () => 'http://shop.test/order'
let isAway = true
const orFail = <Result>(answer: () => Promise<Result>) =>
  isAway ? Promise.reject(new Error('the provider responded 500')) : answer()
const failing: PaymentProvider = {
  ...provider,
  authorize: (charge) =>
    orFail(() => provider.authorize(charge)).catch((error) => ({ result: 'unknown', reason: String(error) })),
  find: (order) => orFail(() => provider.find(order)),
}
const charges = new Charges({
  ...deps,
  ...{ provider: failing, sources: [failing], returnUrl, orders, captures, refunds, nowMs: Date.now },
})
/** Makes more attempts than a charge without an answer has at least. */
async function attemptOften(): Promise<void> {
  for (let times = 0; times <= CHARGE_ATTEMPTS; times++) {
    await sql`update jobs set run_at = now() where queue = 'charge'`
    await runJobs(charges)
  }
}

test.each([
  ['is back before the hold ends', false, { status: 'confirmed' }],
  ['is away until the hold has ended, and made no charge', true, { status: 'cancelled', reason: 'payment_timeout' }],
])('keeps the order of a buyer whose provider %s', async (_, outlastsHold, ended) => {
  isAway = true
  const sale = crypto.randomUUID()
  await writeSale(sql, sale, saleOf(1))
  const reservation = reservationOf(sale)
  await record(sql, sale, [reservation], false)
  await orders.pay(sale, reservation.order, 'pm_card_visa')
  await attemptOften()
  expect(await findOrder(sql, reservation.order)).toMatchObject({ status: 'paying' })
  if (outlastsHold) {
    await sql`update orders set reserved_until = now() where order_id = ${reservation.order}`
    await attemptOften()
    expect(await findOrder(sql, reservation.order)).toMatchObject({ status: 'paying' })
  }
  isAway = false
  await attemptOften()
  expect(await findOrder(sql, reservation.order)).toMatchObject(ended)
  expect(stripe.intents(reservation.order)).toHaveLength(outlastsHold ? 0 : 1)
})

test('is away when neither charges nor reads are answered, and is tried with few charges then', async () => {
  onTestFinished(() => void vi.useRealTimers())
  vi.useFakeTimers({ toFake: ['performance'] })
  const watchOf = async (find: PaymentProvider['find']) => {
    const watch = new ProviderWatch({ provider: { find }, calls: deps.calls, nowMs: Date.now })
    for (let times = 0; times < 2; times++) {
      watch.heardNothing('order')
      await setImmediate()
      vi.advanceTimersByTime(1_000)
    }
    return watch.isAway
  }
  expect(await watchOf(() => Promise.reject(new Error('500')))).toBe(true)
  expect(await watchOf(async () => undefined)).toBe(false)
  charges.watch.answered()
  expect(await charges.room(0)).toMatchObject([{ limit: 256 }, { limit: 256 }])
  for (let times = 0; times < 2; times++) charges.watch.failed()
  expect(await charges.room(0)).toMatchObject([{ limit: 8 }, { limit: 256 }])
})

test('calls fewer people while nobody could pay, and not fewer for what is free', async () => {
  const room = (isProviderAway: () => Promise<boolean>) =>
    new PaymentRoom({ perSecond: null, account: 'sandbox', redis: {} as never, gates, isProviderAway })
  const sold = (unit_price_minor: number) => ({ products: [{ unit_price_minor }] }) as unknown as SaleRow
  expect(await room(async () => true).isClosed(sold(100))).toBe(true)
  expect(await room(async () => true).isClosed(sold(0))).toBe(false)
  expect(await room(() => Promise.reject(new Error('Redis is away'))).isClosed(sold(100))).toBe(false)
})
