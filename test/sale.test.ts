/**
 * A whole sale, through edge and origin, as a crowd plays it: everybody joins, the draw decides, turns are called at the
 * rate, carts are paid or lost, and at the end exactly the stock is sold and everybody knows where they stand.
 */
import { createHash, randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import type { Order, QueueAnswer } from '../shared/api/public.ts'
import { positionOf } from '../shared/draw.ts'
import type { Schedule } from '../shared/schedule.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'launch'
const EARLY = 40
const LATE = 20
const STOCK = { poster: 9, vinyl: 5 }
const PRICE = { unit_price_minor: 2500, currency: 'EUR' }
const RATE_PER_SECOND = 25
const WITHIN_MS = 60_000
/** A client learns of its turn by asking; it asks this often, whatever the response says, so that the test is quick. */
const ASK_EVERY_MS = 100

const system = await sharedPart('system')
let ledger: postgres.Sql

beforeAll(() => {
  ledger = postgres(system.databaseUrl, { max: 2, onnotice: () => {} })
})
afterAll(() => ledger?.end())

describe('a sale from its announcement to its end', () => {
  const crowd: Visitor[] = []
  let announced: Schedule
  let reserved: { visitor: Visitor; order: Order }[]

  test('it is announced, and its page and schedule are there', async () => {
    const created = await admin('PUT', '', {
      name: 'Launch “📀”',
      opens_at: new Date(Date.now() + 600_000).toISOString(),
      hold_seconds: 300,
      limit_per_visitor: 1,
      products: [
        { ...PRICE, product_id: 'poster', name: 'Poster', total: STOCK.poster },
        { ...PRICE, product_id: 'vinyl', name: 'Vinyl', total: STOCK.vinyl },
      ],
      admission: { rate_per_second: RATE_PER_SECOND },
    })
    expect(created.status).toBe(201)
    await becomesTrue(async () => (await fetch(at(''))).status === 200)
    announced = await schedule()
    expect(announced).toMatchObject({ sale: SALE, phase: 'pre_queue', draw_seed: null })
  })

  test('early visitors get numbers, all different, and no position before the draw', async () => {
    crowd.push(...(await Promise.all(Array.from({ length: EARLY }, () => Visitor.join()))))
    const numbers = crowd.map((visitor) => visitor.joined.number)
    expect(new Set(numbers).size).toBe(EARLY)
    for (const visitor of crowd) {
      expect(visitor.joined).toMatchObject({ status: 'pre_queue', position_in_queue: null })
      expect(visitor.joined.admission_token).toBeUndefined()
    }
  })

  test('joining again as the same visitor gives the same number', async () => {
    const [visitor] = crowd
    if (visitor === undefined) throw new Error('Nobody joined.')
    const again = await fetch(at('/queue'), { method: 'POST', headers: { cookie: visitor.cookies } })
    expect(again.status).toBe(200)
    expect(((await again.json()) as QueueAnswer).number).toBe(visitor.joined.number)
  })

  test('nobody checks out without an admission', async () => {
    const answer = await fetch(at('/checkout'), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'idempotency-key': randomUUID() },
      body: '{"product_id":"poster"}',
    })
    expect(answer.status).toBe(429)
    expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    expect(await answer.json()).toMatchObject({ type: '/problems/not-admitted', queue: expect.any(String) })
  })

  test('at the opening the seed is revealed, and turns come in the drawn order, no faster than the rate', async () => {
    const openedAtMs = Date.now()
    expect((await admin('POST', '/open')).status).toBe(200)
    await becomesTrue(async () => (await schedule()).draw_seed !== null)
    const late = Promise.all(Array.from({ length: LATE }, () => Visitor.join()))
    const open = await schedule()
    expect(open.phase).toBe('open')
    const seed = open.draw_seed ?? ''
    expect(createHash('sha256').update(Buffer.from(seed, 'hex')).digest('hex')).toBe(announced.draw_commitment)
    crowd.push(...(await late))

    reserved = []
    const called: { position: number; atMs: number }[] = []
    await Promise.all(
      crowd.map(async (visitor) => {
        const { answer: ready, servedBefore } = await visitor.untilCalled()
        const atMs = Date.now()
        const position = positionOf(
          { seed, size: open.pre_queue_size, beacon: open.draw_beacon },
          visitor.joined.number,
        )
        if (ready.status !== 'ready') return
        called.push({ position, atMs })
        expect(servedBefore).toBeLessThan(position)
        expect(ready.now_serving).toBeGreaterThanOrEqual(position)
        // Whoever comes too late for the vinyl takes a poster.
        const order = (await visitor.checkOut('vinyl')) ?? (await visitor.checkOut('poster'))
        if (order !== undefined) reserved.push({ visitor, order })
      }),
    )
    // Counted from before the opening: whoever hears of their turn late makes the line no faster. It may start a little ahead.
    for (const [i, { atMs }] of called.toSorted((a, b) => a.atMs - b.atMs).entries())
      expect(i + 1).toBeLessThanOrEqual(RATE_PER_SECOND * ((atMs - openedAtMs) / 1000 + 1.5))
  })

  test('every unit is in somebody’s cart, none in two, and the rest were refused', async () => {
    expect(reserved).toHaveLength(STOCK.poster + STOCK.vinyl)
    expect(new Set(reserved.map(({ order }) => order.order_id)).size).toBe(reserved.length)
    const rows = await ledger`select order_id, status from orders where sale_id = ${SALE}`
    expect(rows.map((row) => row.order_id).toSorted()).toEqual(reserved.map(({ order }) => order.order_id).toSorted())
    for (const { refusal } of crowd)
      if (refusal !== undefined) expect(refusal).toMatch(/^\/problems\/(all-in-carts|sold-out)$/)
    await becomesTrue(async () => (await schedule()).phase === 'all_in_carts')
  })

  test('the third declined card gives the unit back, once, and the next visitor gets it', async () => {
    const loser = reserved.shift()
    if (loser === undefined) throw new Error('Nobody has a cart.')
    for (const attempts_left of [2, 1, 0]) {
      await loser.visitor.pay(loser.order, 'pm_declined')
      await becomesTrue(async () => {
        const { payment } = await loser.visitor.read(loser.order)
        return payment?.status === 'declined' && payment.attempts_left === attempts_left
      })
    }
    expect(await loser.visitor.settled(loser.order)).toBe('cancelled')
    const winner = await firstCalled(crowd, loser.order.product_id)
    expect(winner.order.status).toBe('reserved')
    reserved.push(winner)
  })

  test('all pay, and the sale is sold out to the unit', async () => {
    const outcomes = await Promise.all(
      reserved.map(async ({ visitor, order }) => {
        await visitor.pay(order, 'pm_ok')
        return visitor.settled(order)
      }),
    )
    expect(new Set(outcomes)).toEqual(new Set(['confirmed']))
    const { poster, vinyl } = STOCK
    expect(await (await admin('GET', '')).json()).toMatchObject({
      products: [
        { product_id: 'poster', total: poster, available: 0, held: 0, sold: poster },
        { product_id: 'vinyl', total: vinyl, available: 0, held: 0, sold: vinyl },
      ],
    })
    await becomesTrue(async () => (await schedule()).phase === 'sold_out')
  })

  test('the sold-out page is cacheable, sets no cookie, and says so to all who still wait', async () => {
    const page = await fetch(at(''), { headers: { accept: 'text/html' } })
    expect(page.status).toBe(200)
    expect(page.headers.get('cache-control')).toMatch(/public, max-age=\d+/)
    expect(page.headers.getSetCookie()).toEqual([])
    const document_ = await fetch(at(''), { headers: { accept: 'application/json' } })
    expect(await document_.json()).toMatchObject({ phase: 'sold_out' })
    const latecomer = await fetch(at('/queue'), { method: 'POST' })
    expect(latecomer.status).toBe(410)
    expect(await latecomer.json()).toMatchObject({ type: '/problems/sold-out' })
    for (const visitor of crowd.filter((one) => one.stillWaits)) {
      expect((await visitor.ask()).status).toBe('sold_out')
    }
  })

  test('a restock brings it back to life', async () => {
    const restocked = await admin('POST', '/products/vinyl/restock', { quantity: 3 })
    expect(restocked.status).toBe(200)
    await becomesTrue(async () => (await schedule()).phase === 'open')
    const winner = await firstCalled(crowd, 'vinyl')
    expect(winner.order).toMatchObject({ status: 'reserved', product_id: 'vinyl' })
  })

  test('the operator ends it, and it is over for everyone', async () => {
    expect((await admin('POST', '/end')).status).toBe(200)
    await becomesTrue(async () => (await schedule()).phase === 'ended')
    const latecomer = await fetch(at('/queue'), { method: 'POST' })
    expect(latecomer.status).toBe(410)
    expect(await latecomer.json()).toMatchObject({ type: '/problems/ended' })
  })
})

// -- Who plays -------------------------------------------------------------------------------------------------------

/** A client that keeps no cookies but its visitor's identity, holds its own tokens, and asks through the edge only. */
class Visitor {
  readonly joined: QueueAnswer
  /** The type of the problem that its last checkout ended with. */
  refusal: string | undefined
  /** Its turn has not come yet; nor, perhaps, the end. */
  stillWaits = true
  readonly cookies: string
  private admission = ''

  private constructor(joined: QueueAnswer, cookies: string) {
    this.joined = joined
    this.cookies = cookies
  }

  static async join(): Promise<Visitor> {
    const response = await fetch(at('/queue'), { method: 'POST' })
    expect(response.status).toBe(201)
    const cookies = response.headers.getSetCookie().map((cookie) => cookie.split(';')[0])
    return new Visitor((await response.json()) as QueueAnswer, cookies.join('; '))
  }

  /** Waits for its turn, or for the end of the waiting: all in carts, sold out. With it, how far the line was before. */
  async untilCalled(): Promise<{ answer: QueueAnswer; servedBefore: number }> {
    const deadline = Date.now() + WITHIN_MS
    let servedBefore = 0
    while (Date.now() < deadline) {
      const answer = await this.ask()
      if (!['pre_queue', 'waiting', 'paused'].includes(answer.status)) return { answer, servedBefore }
      servedBefore = answer.now_serving
      await sleep(ASK_EVERY_MS)
    }
    throw new Error(`Number ${this.joined.number} was not called within ${WITHIN_MS} ms`)
  }

  async ask(): Promise<QueueAnswer> {
    const response = await fetch(at('/queue/status'), {
      headers: { authorization: `Bearer ${this.joined.queue_token}` },
    })
    expect(response.status).toBe(200)
    const answer = (await response.json()) as QueueAnswer
    expect(answer.number).toBe(this.joined.number)
    if (answer.status === 'ready') this.admission = answer.admission_token ?? ''
    if (answer.status === 'ready' || answer.status === 'missed_turn') this.stillWaits = false
    return answer
  }

  /** The order, or nothing if there is none to be had any more. */
  async checkOut(product: string): Promise<Order | undefined> {
    const key = randomUUID()
    const send = () =>
      fetch(at('/checkout'), {
        method: 'POST',
        headers: { ...this.admitted(), 'idempotency-key': key },
        body: JSON.stringify({ product_id: product }),
      })
    const response = await send()
    const body = (await response.json()) as Order & { type?: string }
    if (response.status === 409 || response.status === 410) {
      this.refusal = body.type
      return undefined
    }
    expect([response.status, body.status]).toEqual([201, 'reserved'])
    this.refusal = undefined
    // A double click changes nothing.
    const again = await send()
    expect([again.status, again.headers.get('idempotency-replayed')]).toEqual([201, 'true'])
    expect(((await again.json()) as Order).order_id).toBe(body.order_id)
    return body
  }

  async pay(order: Order, method: string): Promise<void> {
    const response = await fetch(`${system.edgeUrl}/orders/${order.order_id}/payment`, {
      method: 'POST',
      headers: this.admitted(),
      body: JSON.stringify({ payment_method: method }),
    })
    expect(response.status).toBe(202)
    expect(await response.json()).toMatchObject({ status: 'paying' })
  }

  /** How the order ended, once it has. */
  async settled(order: Order): Promise<string> {
    let status = ''
    await becomesTrue(async () => {
      status = (await this.read(order)).status
      return !['reserved', 'paying'].includes(status)
    })
    return status
  }

  async read(order: Order): Promise<Order> {
    const response = await fetch(`${system.edgeUrl}/orders/${order.order_id}`, {
      headers: { authorization: `Bearer ${order.order_token}` },
    })
    expect(response.status).toBe(200)
    return (await response.json()) as Order
  }

  private admitted(): Record<string, string> {
    return { authorization: `Bearer ${this.admission}`, 'content-type': 'application/json' }
  }
}

/** Of those who wait, or were called and refused, the first who gets the product. A number that nobody holds may be called before. */
async function firstCalled(visitors: readonly Visitor[], product: string) {
  const deadline = Date.now() + WITHIN_MS
  // On a slow machine everybody was called before all was in carts.
  const called = new Set(visitors.filter(({ refusal }) => refusal !== undefined))
  while (Date.now() < deadline) {
    for (const visitor of visitors)
      if (visitor.stillWaits && (await visitor.ask()).status === 'ready') called.add(visitor)
    // Who hears that all is in carts tries again.
    for (const visitor of called) {
      const order = await visitor.checkOut(product)
      if (order !== undefined) return { visitor, order }
    }
    await sleep(ASK_EVERY_MS)
  }
  throw new Error(`None of ${visitors.length} was called within ${WITHIN_MS} ms`)
}

const at = (path: string) => `${system.edgeUrl}/sales/${SALE}${path}`

async function schedule(): Promise<Schedule> {
  return (await (await fetch(at('/schedule'))).json()) as Schedule
}

function admin(method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${system.originUrl}/admin/sales/${SALE}${path}`, {
    method,
    headers: { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
}

const becomesTrue = (holds: () => Promise<boolean>) => vi.waitUntil(holds, { timeout: WITHIN_MS, interval: 50 })
