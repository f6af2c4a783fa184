/** The buyers' routes: who may call them, what they accept, and an order on its way. */
import { beforeAll, describe, expect, test } from 'vitest'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import { ADMISSION, QUEUE, signToken } from '../../shared/tokens.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { moveOrders } from '../ledger/order-statements.ts'

const origin = useOrigin()

describe('an admission', () => {
  test('is required and must be valid', async () => {
    const sale = await origin.sale()
    const iat = Math.floor(Date.now() / 1000)
    const claims = { sub: 'eve', sale, num: 1, jti: 'x', iat, exp: iat + 60 }
    const bad = [
      undefined,
      'junk',
      signToken(ADMISSION, importSecrets(newKeySet()), claims),
      signToken(QUEUE, importSecrets(origin.keys()), claims),
      await origin.token(sale, 'eve', { exp: iat - 10 }),
    ]
    for (const token of bad) {
      const options = { body: {}, headers: { 'idempotency-key': 'k' }, ...(token !== undefined && { token }) }
      const answer = await origin.call('POST', `/sales/${sale}/checkout`, options)
      expect(answer).toMatchObject({
        status: 429,
        body: { type: '/problems/not-admitted', queue: `/sales/${sale}/queue` },
      })
      expect(answer.headers.get('retry-after')).toMatch(/^\d+$/)
    }
    expect(await origin.stock(sale)).toMatchObject({ held: 0 })
  })

  test('for another sale is refused', async () => {
    const [one, two] = [await origin.sale(), await origin.sale()]
    const answer = await origin.checkout(one, { token: await origin.token(two) })
    expect(answer).toMatchObject({ status: 403, body: { type: '/problems/wrong-sale' } })
  })
})

describe('bad input', () => {
  let sale: string
  beforeAll(async () => {
    sale = await origin.sale()
  })
  test.each([
    ['malformed JSON', '{"quantity":', 400, 'body'],
    ['more than the limit', { quantity: 2 }, 422, 'quantity'],
    ['an unknown product', { product_id: 'nine' }, 404, 'product_id'],
    ['a product with quotes', { product_id: `'; drop table orders; --` }, 422, 'product_id'],
    ['an invalid payment method', { payment_method: '💳' }, 422, 'payment_method'],
  ])('%s is refused with the field named', async (_what, body, status, field) => {
    const answer = await origin.checkout(sale, { body })
    expect(answer).toMatchObject({ status, body: { errors: [{ field }] } })
    expect(answer.headers.get('content-type')).toBe('application/problem+json')
    expect(await origin.stock(sale)).toMatchObject({ held: 0 })
  })

  test('a body that is too large is refused, with a length or chunked', async () => {
    const tooLarge = { type: '/problems/body-too-large', status: 413 }
    // The body exceeds the limit by little, so that it is sent completely before the connection closes.
    const padded = JSON.stringify({ quantity: 1, padding: 'x'.repeat(70_000) })
    for (const body of [padded, new Blob([padded]).stream()])
      expect((await origin.checkout(sale, { body })).body).toMatchObject(tooLarge)
  })

  test('another content type is refused', async () => {
    const answer = await origin.call('POST', `/sales/${sale}/checkout`, {
      token: await origin.token(sale),
      body: 'quantity=1',
      headers: { 'idempotency-key': 'k', 'content-type': 'application/x-www-form-urlencoded' },
    })
    expect(answer.status).toBe(415)
  })

  test('a missing or malformed Idempotency-Key is refused', async () => {
    const token = await origin.token(sale)
    const required = { status: 400, body: { type: '/problems/idempotency-key-required' } }
    expect(await origin.call('POST', `/sales/${sale}/checkout`, { token, body: {} })).toMatchObject(required)
    for (const key of ['', 'two words', 'x'.repeat(300)])
      expect(await origin.checkout(sale, { token, key })).toMatchObject(required)
  })

  test('unknown paths, methods, sales and orders are problems too', async () => {
    const token = await origin.token(sale)
    for (const [method, path, status] of [
      ['GET', '/nowhere', 404],
      ['GET', '/orders/not-an-order', 404],
      ['GET', '/orders/01a1fcb1-824e-74eb-bb3e-e54755d9709e', 404],
      ['POST', '/sales/..%2f..%2fetc/checkout', 403],
    ] as const) {
      const answer = await origin.call(method, path, { token, ...(method === 'POST' ? { body: {} } : {}) })
      expect(answer.status, `${method} ${path}`).toBe(status)
      expect(answer.headers.get('content-type')).toBe('application/problem+json')
    }
  })
})

describe('an order', () => {
  test('is shown to its owner only', async () => {
    const sale = await origin.sale()
    const mine = await origin.checkout(sale)
    const theirs = await origin.checkout(sale)
    const path = `/orders/${mine.body.order_id}`
    const token = theirs.body.order_token ?? ''
    expect(await origin.call('GET', path, { token: await origin.token(sale) })).toMatchObject({ status: 404 })
    expect(await origin.call('GET', path, { token })).toMatchObject({ status: 404 })
    expect(await origin.call('GET', `${path}/events`, { token })).toMatchObject({ status: 404 })
    for (const read of [path, `${path}/events`]) expect(await origin.call('GET', read)).toMatchObject({ status: 429 })
    expect(await origin.call('DELETE', path, { token })).toMatchObject({ status: 404 })
    const late = await origin.token(sale, 'eve', { exp: Math.floor(Date.now() / 1000) - 10 })
    expect(await origin.call('GET', path, { token: late })).toMatchObject({
      status: 429,
      body: { type: '/problems/not-admitted', queue: `/sales/${sale}/queue` },
    })
  })

  test('that is given back returns its unit once, and the visitor may buy again', async () => {
    const sale = await origin.sale({ total: 1 })
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    const answers = await Promise.all(
      Array.from({ length: 10 }, () => origin.call('DELETE', `/orders/${body.order_id}`, { token })),
    )
    expect(answers.every((a) => a.status === 200 && a.body.status === 'cancelled')).toBe(true)
    expect(await origin.stock(sale)).toMatchObject({ available: 1, held: 0 })
    expect(await origin.checkout(sale, { token })).toMatchObject({ status: 201 })
    expect(await origin.checkout(sale)).toMatchObject({ status: 409 })
  })

  test('that is not paid in time expires and returns its unit', async () => {
    const sale = await origin.sale({ total: 2 })
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    await origin.sql()`update orders set reserved_until = now() - interval '2 seconds' where sale_id = ${sale}`
    const order = async () => (await origin.call('GET', `/orders/${body.order_id}`, { token })).body
    const expired = { status: 'expired', expires_in_seconds: 0 }
    await expect.poll(order).toMatchObject(expired)
    expect(await origin.stock(sale)).toMatchObject({ available: 2, held: 0, sold: 0 })
    // The gate hears of it a moment after the ledger.
    let sold = 0
    const sell = async () => {
      const answers = await Promise.all(Array.from({ length: 5 }, () => origin.checkout(sale)))
      sold += answers.filter(({ status }) => status === 201).length
      return sold
    }
    await expect.poll(sell).toBe(2)
  })

  test('cannot be given back while it is being paid', async () => {
    const sale = await origin.sale()
    const token = await origin.token(sale)
    const { body } = await origin.checkout(sale, { token })
    await moveOrders(origin.sql(), [body.order_id ?? ''], { from: ['reserved'], to: 'paying' })
    const path = `/orders/${body.order_id}`
    const refused = await origin.call('DELETE', path, { token })
    expect(refused).toMatchObject({ status: 409, body: { type: '/problems/conflict' } })
    expect(await origin.call('GET', path, { token })).toMatchObject({ body: { status: 'paying' } })
  })
})

test('the tax that plain prices include is said, wherever an order is read', async () => {
  const sale = await origin.sale({ tax: { name: 'VAT', percent: 19 } })
  const token = await origin.token(sale)
  const { body } = await origin.checkoutDecided(sale, { token })
  const totals = { subtotal_minor: 1_000, tax_minor: 160, total_minor: 1_000 }
  expect(body).toMatchObject(totals)
  expect((await origin.call('GET', `/orders/${body.order_id}`, { token })).body).toMatchObject(totals)
  expect((await origin.admin('GET', `/orders/${body.order_id}`)).body).toMatchObject(totals)
})
