/** An order's token reads for a day, and acts only while its order can still change. */
import { expect, it, vi } from 'vitest'
import { reservationOf } from '../../test/lib/samples.ts'
import type { Buyers } from '../access/buyer-access.ts'
import { orderFrom } from '../checkout/outcome.ts'
import { ownOrderRoutes } from '../checkout/own-order-routes.ts'
import type { Sales } from '../sales/sales.ts'

const now = new Date()
const reservation = reservationOf('drop')
const prices = { one: { name: 'One', unit_price_minor: 1000, currency: 'EUR' } }
const numbers = { [reservation.order]: 1 }
const recorded = { verdict: 'recorded', createdAt: now, reservedUntil: now, prices, numbers } as const

function routesTo(status: 'reserved' | 'cancelled' | 'expired' | 'refunded') {
  const order = { ...orderFrom(reservation, recorded), status }
  const orders = { find: async () => order, ofVisitor: vi.fn(), pay: vi.fn(), giveBack: vi.fn() }
  const buyers = {
    throughEdge: (_, next) => next(),
    rightOf: async () => ({ sale: 'drop', order: reservation.order }),
    enter: () => {},
    leave: () => {},
    waitedMs: () => 0,
    refuseBlocked: () => {},
  } satisfies Partial<Buyers> as unknown as Buyers
  const sales = { get: () => undefined, find: async () => undefined, nowMs: () => now.getTime() } as unknown as Sales
  const existing = { byId: async () => order }
  const responseTimes = { answered: vi.fn() }
  const app = ownOrderRoutes({
    sales,
    buyers,
    checkout: { existing },
    orders,
    events: { stream: vi.fn() },
    responseTimes,
  })
  app.onError((error, c) => c.json(Object(error).problem, 409))
  return { app, orders, path: `/orders/${order.order_id}` }
}

const payment = {
  method: 'POST',
  headers: { 'content-type': 'application/json' },
  body: JSON.stringify({ payment_method: 'pm_ok' }),
}

it.each(['cancelled', 'expired', 'refunded'] as const)(
  'reads a %s order, and asks the ledger to change nothing',
  async (status) => {
    const { app, orders, path } = routesTo(status)
    expect(await (await app.request(path)).json()).toMatchObject({ status })
    await app.request(`${path}/payment`, payment)
    await app.request(path, { method: 'DELETE' })
    expect([orders.pay.mock.calls, orders.giveBack.mock.calls]).toEqual([[], []])
  },
)

it('pays a reserved one, and gives it back', async () => {
  const { app, orders, path } = routesTo('reserved')
  await app.request(`${path}/payment`, payment)
  await app.request(path, { method: 'DELETE' })
  expect(orders.pay.mock.calls).toEqual([[reservation.sale, reservation.order, 'pm_ok']])
  expect(orders.giveBack.mock.calls).toEqual([[reservation.order]])
})
