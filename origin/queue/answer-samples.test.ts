import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ONE_LINE } from '../../shared/api/access.ts'
import { NO_DELIVERY } from '../../shared/api/goods.ts'
import { NO_CONTACT } from '../../shared/api/operators/sale-config.ts'
import { problem, problemIn } from '../../shared/problem.ts'
import { reservationOf } from '../../test/lib/samples.ts'
import { createMetrics } from '../base/metrics.ts'
import { checkoutRoutes } from '../checkout/checkout-routes.ts'
import { CheckoutTraffic } from '../checkout/checkout-traffic.ts'
import { LoadShedder } from '../checkout/load-shedder.ts'
import { orderFrom, refusal } from '../checkout/outcome.ts'
import { ownOrderRoutes } from '../checkout/own-order-routes.ts'
import { sendProblem } from '../lib/http/request.ts'
import { AnswerSamples, robustOf } from './answer-samples.ts'

const millis = fc.double({ min: 0, max: 60_000, noNaN: true })

test('a tenth of liars, whatever they send, moves the estimate no further than the others are apart', () => {
  const samples = fc
    .array(millis, { minLength: 5, maxLength: 300 })
    .chain((honest) =>
      fc.tuple(fc.constant(honest), fc.array(millis, { maxLength: Math.floor(honest.length / 9) }), fc.nat()),
    )
  fc.assert(
    fc.property(samples, ([honest, lies, at]) => {
      const cut = at % (honest.length + 1)
      const estimate = robustOf([...honest.slice(0, cut), ...lies, ...honest.slice(cut)])
      const sorted = honest.toSorted((a, b) => a - b)
      const quantile = (share: number) => sorted[Math.floor(share * (honest.length - 1))] ?? 0
      expect(estimate).toBeGreaterThanOrEqual(quantile(0.6))
      expect(estimate).toBeLessThanOrEqual(quantile(0.9))
    }),
  )
})

test('a visitor is one sample a second, however many calls they make and whoever makes room', () => {
  const samples = new AnswerSamples()
  for (let visitor = 0; visitor < 9; visitor++) samples.add(`honest ${visitor}`, 20, 0)
  for (let i = 0; i < 10_000; i++) samples.add('eve', 60_000, i / 10_000)
  expect(samples.note(500)).toBe(20)
  for (let i = 0; i < 10_000; i++) samples.add('eve', 60_000, 900)
  expect([samples.note(1_000), samples.note(1_500)]).toEqual([null, null])
  expect(samples.isEmpty()).toBe(true)
})

test('few samples wait for more until the second note, and no longer', () => {
  const samples = new AnswerSamples()
  const add = (visitors: string, nowMs: number) => {
    for (const visitor of visitors) samples.add(visitor, 700, nowMs)
    return samples.note(nowMs + 499)
  }
  expect([add('abc', 0), add('de', 500)]).toEqual([null, 700])
  expect([add('fgh', 3_000), add('', 3_500), add('ij', 4_000)]).toEqual([null, null, null])
})

// -- What counts ---------------------------------------------------------------------------------------------------

/** A body that its sender holds back: `send` ends it, and returns when. */
function slowBody(text: string) {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const send = async () => {
    await writer.write(new TextEncoder().encode(text))
    const sentMs = performance.now()
    await writer.close()
    return sentMs
  }
  return { body: readable, send }
}

const RESERVED = { kind: 'recorded', replayed: false, remaining: 1 }

/** Both rooms of buyers' calls, over stores that hold one order, and where a checkout ends so. */
function buyersCalls(status: string, outcome: object = RESERVED) {
  const sampled: { visitor: string; beganMs: number }[] = []
  const answered = (_sale: string, visitor: string, beganMs: number) => void sampled.push({ visitor, beganMs })
  const row = { sale_id: 'hot', lines: [...ONE_LINE], contact: NO_CONTACT, delivery: NO_DELIVERY, products: [] }
  const [now, prices] = [new Date(), { one: { name: 'One', unit_price_minor: 1000, currency: 'EUR' } }]
  const reservation = reservationOf('hot')
  const numbers = { [reservation.order]: 1 }
  const recorded = { verdict: 'recorded', createdAt: now, reservedUntil: now, prices, numbers } as const
  const order = { ...orderFrom(reservation, recorded), visitor: 'ann', status, payment_method: 'pm_ok' }
  const deps = {
    buyers: {
      throughEdge: (_: unknown, next: () => Promise<void>) => next(),
      readAdmission() {},
      enterAdmitted: () => ({ sub: 'ann', num: 1 }),
      rightOf: async () => ({ sale: 'hot', order: ORDER }),
      refuseBlocked() {},
      orderToken: () => 'token',
      waitedMs: () => 0,
      networksOf() {},
      asnOf() {},
      enter() {},
      leave() {},
    },
    sales: { get: () => row, find: async () => row, nowMs: () => 0 },
    checkout: { checkout: () => ({ order, ...outcome }), existing: { byId: async () => order } },
    orders: {
      pay: async () => (status === 'reserved' ? { ...order, status: 'paying' } : undefined),
      cancel: async () => (status === 'reserved' ? { ...order, status: 'cancelled' } : undefined),
      find: async () => order,
      beginPayment() {},
    },
    traffic: new CheckoutTraffic({
      loadShedder: new LoadShedder(),
      arrivals: { arrived() {}, waitsForStock() {}, askAgainSeconds: () => 5 },
      responseTimes: { answered },
      saleCounts: { count() {} },
      metrics: createMetrics(),
    } as never),
    responseTimes: { answered },
    events: {},
  } as never
  const call = async (path: string, method: string, body?: ReturnType<typeof slowBody>) => {
    const app = path.startsWith('/orders') ? ownOrderRoutes(deps) : checkoutRoutes(deps)
    app.onError((error) => sendProblem(problemIn(error)))
    const headers = { 'content-type': 'application/json', 'idempotency-key': 'k' }
    const answer = app.request(path, { method, headers, ...(body && { body: body.body, duplex: 'half' }) } as never)
    const sentMs = (await body?.send()) ?? 0
    return { status: (await answer).status, sentMs }
  }
  return { sampled, call }
}

const ORDER = '01890a5d-ac96-774b-bcce-b302099a8057'
const payment = () => slowBody('{"payment_method":"pm_ok"}')

test.each([
  ['a payment', `/orders/${ORDER}/payment`, payment],
  ['a checkout', '/sales/hot/checkout', () => slowBody('{}')],
])('%s counts from its last byte on, by its visitor', async (_what, path, body) => {
  const { sampled, call } = buyersCalls('reserved')
  const { sentMs } = await call(path, 'POST', body())
  expect(sampled).toEqual([{ visitor: 'ann', beganMs: expect.any(Number) }])
  expect(sampled[0]?.beganMs).toBeGreaterThanOrEqual(sentMs)
})

test.each([
  ['a payment of a cancelled order', 'cancelled', `/orders/${ORDER}/payment`, 'POST', 409],
  ['a second payment', 'paying', `/orders/${ORDER}/payment`, 'POST', 202],
  ['a cancelled order given back again', 'cancelled', `/orders/${ORDER}`, 'DELETE', 200],
  ['a look at a settled order', 'confirmed', `/orders/${ORDER}`, 'GET', 200],
  ['a refused checkout', 'reserved', '/sales/hot/checkout', 'POST', 410, refusal(problem('ended'))],
  ['a repeated checkout', 'reserved', '/sales/hot/checkout', 'POST', 201, { ...RESERVED, replayed: true }],
  ['a checkout beyond the limit', 'reserved', '/sales/hot/checkout', 'POST', 200, { ...RESERVED, kind: 'live' }],
])('%s steers no line', async (_what, status, path, method, answered, outcome?: object) => {
  const { sampled, call } = buyersCalls(status, outcome)
  expect((await call(path, method, method === 'POST' ? payment() : undefined)).status).toBe(answered)
  expect(sampled).toEqual([])
})
