/**
 * The life of a sale through edge and origin by API, with three visitors for two units. The test checks every
 * response from the announcement to the end. The rehearsals in bench/rehearsal play it with many visitors.
 */
import { createHash, randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { Order, QueueAnswer } from '../shared/api/public.ts'
import type { Schedule } from '../shared/schedule.ts'
import { admin } from './lib/operator.ts'
import { call, visitorsOf } from './lib/visitor.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = `launch-${randomUUID().slice(0, 8)}`
const PRODUCT = { product_id: 'vinyl', name: 'Vinyl', unit_price_minor: 2500, currency: 'EUR', total: 2 }

const system = await sharedPart('system')
const visitors = visitorsOf(system.edgeUrl, SALE)
const { at, schedule } = visitors
const operator = (method: string, path: string, body?: object) => admin(system, method, `/sales/${SALE}${path}`, body)
const phase = async () => (await schedule()).phase

const crowd: { place: QueueAnswer; admission: string; order?: Order }[] = []
let announced: Schedule

/** Any waiting visitor may get the next order, because a number that nobody holds may be called first. */
async function nextBuyer() {
  const waiting = crowd.filter(({ order }) => order === undefined)
  for (const visitor of waiting) {
    visitor.admission = (await visitors.status(visitor.place.queue_token ?? '')).admission_token ?? visitor.admission
    if (visitor.admission === '') continue
    const { status, body } = await visitors.checkout(visitor.admission)
    if (status === 201) return Object.assign(visitor, { order: body })
    expect([status, body.type]).toEqual([409, '/problems/all-in-carts'])
  }
  return undefined
}

async function buyer() {
  let found: Awaited<ReturnType<typeof nextBuyer>>
  await expect.poll(async () => (found = await nextBuyer())).toBeDefined()
  if (found?.order === undefined) throw new Error('Nobody has bought.')
  return { ...found, order: found.order }
}

async function pay({ admission, order }: Awaited<ReturnType<typeof buyer>>, payment_method: string) {
  const url = `${system.edgeUrl}/orders/${order.order_id}/payment`
  const { status, body } = await call('POST', url, { token: admission, body: { payment_method } })
  expect([status, body.status]).toEqual([202, 'paying'])
}

test('an announced sale gives numbers, all different, and no position before the draw', async () => {
  await operator('PUT', '', {
    name: 'Launch “📀”',
    opens_at: new Date(Date.now() + 600_000).toISOString(),
    hold_seconds: 300,
    limit_per_visitor: 1,
    products: [PRODUCT],
    admission: { rate_per_second: 25 },
  })
  await expect.poll(phase).toBe('pre_queue')
  announced = await schedule()
  expect(announced).toMatchObject({ sale: SALE, draw_seed: null })
  let cookies: string[] = []
  for (let i = 0; i < 3; i++) {
    const { status, headers, body } = await visitors.join()
    expect(status).toBe(201)
    expect(body).toMatchObject({ status: 'pre_queue', position_in_queue: null })
    expect(body).not.toHaveProperty('admission_token')
    cookies = headers.getSetCookie().map((cookie) => cookie.split(';')[0] ?? '')
    crowd.push({ place: body, admission: '' })
  }
  expect(new Set(crowd.map(({ place }) => place.number)).size).toBe(3)
  const again = await visitors.join({ headers: { cookie: cookies.join('; ') } })
  expect([again.status, again.body.number]).toEqual([200, crowd.at(-1)?.place.number])
})

test('nobody checks out without an admission', async () => {
  const { status, headers, body } = await visitors.checkout(undefined, { product_id: 'vinyl' })
  expect([status, body.type]).toEqual([429, '/problems/not-admitted'])
  expect(headers.get('retry-after')).toMatch(/^\d+$/)
  expect(body).toMatchObject({ queue: expect.any(String) })
})

test('at the opening the seed is revealed, and a key makes one order, however often it is sent', async () => {
  await operator('POST', '/open')
  await expect.poll(phase).toBe('open')
  const seed = (await schedule()).draw_seed ?? ''
  expect(createHash('sha256').update(Buffer.from(seed, 'hex')).digest('hex')).toBe(announced.draw_commitment)
  const first = await buyer()
  const key = { 'idempotency-key': randomUUID() }
  // The visitor has reached the limit, so any other key gets the same order.
  const answers = [await visitors.checkout(first.admission, {}, key), await visitors.checkout(first.admission, {}, key)]
  expect(answers.map(({ status, body }) => [status, body.order_id])).toEqual(
    [1, 2].map(() => [200, first.order.order_id]),
  )
  expect(answers.map(({ headers }) => headers.get('idempotency-replayed'))).toEqual([null, 'true'])
  await buyer()
  await expect.poll(phase).toBe('all_in_carts')
})

test('the third declined card gives the unit back, and the next visitor gets it', async () => {
  const [loser] = crowd.filter(({ order }) => order !== undefined) as Awaited<ReturnType<typeof buyer>>[]
  if (loser === undefined) throw new Error('Nobody has a cart.')
  for (const attempts_left of [2, 1, 0]) {
    await pay(loser, 'pm_declined')
    await expect
      .poll(() => visitors.order(loser.order))
      .toMatchObject({ payment: { status: 'declined', attempts_left } })
  }
  await expect.poll(async () => (await visitors.order(loser.order)).status).toBe('cancelled')
  const winner = await buyer()
  expect(winner.place.number).not.toBe(loser.place.number)
})

test('all pay, the sale is sold out to the unit, and whoever comes is told so', async () => {
  for (const visitor of crowd as Awaited<ReturnType<typeof buyer>>[]) {
    if ((await visitors.order(visitor.order)).status === 'cancelled') continue
    await pay(visitor, 'pm_ok')
    await expect.poll(async () => (await visitors.order(visitor.order)).status).toBe('confirmed')
  }
  expect((await operator('GET', '')).products).toMatchObject([{ total: 2, available: 0, held: 0, sold: 2 }])
  await expect.poll(phase).toBe('sold_out')
  const page = await call('GET', at(), { headers: { accept: 'text/html' } })
  expect(page.headers.get('cache-control')).toMatch(/public, max-age=\d+/)
  expect(page.headers.getSetCookie()).toEqual([])
  expect(await visitors.join()).toMatchObject({ status: 410, body: { type: '/problems/sold-out' } })
})

test('a restock brings it back to life, and the operator ends it for everyone', async () => {
  await operator('POST', '/products/vinyl/restock', { quantity: 3 })
  await expect.poll(phase).toBe('open')
  const { body } = await visitors.join()
  const { admission_token } = await visitors.called(body)
  expect(await visitors.checkout(admission_token)).toMatchObject({ status: 201, body: { status: 'reserved' } })
  await operator('POST', '/end')
  await expect.poll(phase).toBe('ended')
  expect(await visitors.join()).toMatchObject({ status: 410, body: { type: '/problems/ended' } })
})
