/** Carts and seats as buyers order them: what a checkout of several lines answers. */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import type { SeatOffer } from '../../shared/api/hall.ts'
import type { Problem } from '../../shared/problem.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()
const PRICE = { price_minor: 2000, currency: 'EUR' }

/**
 * Ten units of `one`, five places of `floor` and two rows of four seats, of which B-4 is accessible and B-3 for a
 * companion.
 */
async function openHall(options: object = {}): Promise<string> {
  const sale = await origin.sale({ limit_per_visitor: 6, ...options })
  const put = (path: string, body: object) => origin.admin('PUT', `/sales/${sale}/sections/${path}`, body)
  const sections = {
    stalls: { name: 'Stalls', type: 'reserved', ...PRICE },
    floor: { name: 'Floor', type: 'general_admission', total: 5, ...PRICE, price_minor: 1500 },
  }
  for (const [id, section] of Object.entries(sections)) expect((await put(id, section)).status).toBe(201)
  const kinds: Readonly<Record<string, string>> = { 'B-4': 'accessible', 'B-3': 'companion' }
  const rows = ['A', 'B'].flatMap((row, y) =>
    [1, 2, 3, 4].map((n) => {
      const seat = `${row}-${n}`
      return [seat, row, n, n, n, y, 'front', kinds[seat] ?? 'standard', 2000 + n].join()
    }),
  )
  const upload = await origin.call('PUT', `/admin/sales/${sale}/sections/stalls/seats`, {
    token: ADMIN_TOKEN,
    headers: { 'content-type': 'text/csv' },
    body: ['seat_id,row,number,place,x,y,category,kind,price_minor', ...rows].join('\n'),
  })
  expect(upload.status).toBe(200)
  return sale
}

const buy = async (sale: string, lines: object[], extra: object = {}) =>
  origin.checkout(sale, { body: { lines, ...extra } })
const seats = (...names: string[]) => ({ section_id: 'stalls', seats: names })

test('an order has its lines, one for each seat, and one sum', async () => {
  const sale = await openHall()
  const { status, body } = await buy(sale, [
    { product_id: 'one', quantity: 2 },
    { section_id: 'floor', quantity: 1 },
    seats('A-2', 'A-3'),
  ])
  expect(status).toBe(201)
  expect(body).toMatchObject({
    product_id: 'one',
    quantity: 2,
    unit_price_minor: 1000,
    total_minor: 2 * 1000 + 1500 + 2002 + 2003,
    lines: [
      { line: 1, product_id: 'one', name: 'One', quantity: 2, unit_price_minor: 1000, status: 'held' },
      { line: 2, section_id: 'floor', name: 'Floor', quantity: 1, unit_price_minor: 1500, status: 'held' },
      { line: 3, section_id: 'stalls', seat_id: 'A-2', row: 'A', number: '2', quantity: 1, unit_price_minor: 2002 },
      { line: 4, section_id: 'stalls', seat_id: 'A-3', row: 'A', number: '3', quantity: 1, unit_price_minor: 2003 },
    ],
  })
})

test('a taken seat is named, with the nearest of its kind as an offer; nothing of the cart is taken', async () => {
  const sale = await openHall()
  expect((await buy(sale, [seats('A-2')])).status).toBe(201)
  const refused = await buy(sale, [{ product_id: 'one', quantity: 1 }, seats('A-1', 'A-2')])
  expect(refused).toMatchObject({
    status: 409,
    body: { type: '/problems/seat-taken', seats: ['A-2'], offer: [{ section_id: 'stalls', seats: ['B-1', 'B-2'] }] },
  })
  expect((await buy(sale, [seats('A-1')])).status).toBe(201)
})

test('the best seats: neighbours for a pair, accessible ones only for who asks', async () => {
  const sale = await openHall()
  const names = async (line: object) => {
    const { status, body } = await buy(sale, [line])
    return status === 201 ? (body.lines as { seat_id: string }[]).map(({ seat_id }) => seat_id).sort() : status
  }
  expect(await names({ quantity: 2 })).toEqual([expect.stringMatching(/^A-/), expect.stringMatching(/^A-/)])
  expect(await names({ quantity: 2, accessible: true })).toEqual(['B-3', 'B-4'])
  expect(await names({ section_id: 'stalls', category: 'front', quantity: 4 })).toHaveLength(4)
  expect(await names({ quantity: 1 })).toBe(409)
})

test('the best seats have a price once they are chosen, with fees and a promo code', async () => {
  const sale = await openHall({ fees: [{ name: 'Booking', amount_minor: 100, per: 'order' }] })
  const codes = [{ code: 'HALF', percent: 50, products: ['stalls'], uses: 1 }]
  expect((await origin.admin('PUT', `/sales/${sale}/promo-codes`, codes)).status).toBe(200)
  const ask = (total_minor?: number) =>
    buy(sale, [{ section_id: 'stalls', quantity: 1 }], { promo_code: 'HALF', ...(total_minor && { total_minor }) })
  const shown = await origin.call('POST', `/sales/${sale}/totals`, {
    token: await origin.token(sale),
    body: { lines: [{ section_id: 'stalls', quantity: 1 }], promo_code: 'HALF' },
  })
  const { total_minor = 0, subtotal_minor = 0, discount_minor } = shown.body
  expect([shown.status, discount_minor]).toEqual([200, Math.round(subtotal_minor / 2)])
  expect(await ask(1)).toMatchObject({ status: 409, body: { type: '/problems/price-changed', total_minor } })
  expect(await ask(total_minor)).toMatchObject({
    status: 201,
    body: { total_minor, subtotal_minor, lines: [{ seat_id: expect.any(String), unit_price_minor: subtotal_minor }] },
  })
  expect(await ask()).toMatchObject({ status: 409, body: { type: '/problems/promo-code-used-up' } })
})

test('an offer names the seats that the best would be now, with their price, and holds none', async () => {
  const sale = await openHall()
  const offer = async (body: object) => {
    const { status, body: answer } = await origin.call('POST', `/sales/${sale}/seats/offer`, {
      token: await origin.token(sale),
      body,
    })
    const { seats = [], totals } = answer as Partial<SeatOffer>
    const { type, errors } = answer as Partial<Problem>
    return status === 200 ? [...seats].sort().concat(String(totals?.total_minor)) : [status, errors?.[0]?.field ?? type]
  }
  const first = await offer({ quantity: 2 })
  expect(await offer({ quantity: 2 })).toEqual(first)
  for (const [body, answer] of [
    [{ quantity: 2, not: ['A-1', 'A-2', 'A-3', 'A-4'] }, ['B-1', 'B-2', '4003']],
    [{ quantity: 2, kind: 'accessible' }, ['B-3', 'B-4', '4007']],
    [{ quantity: 1, kind: 'companion', section_id: 'stalls', category: 'front' }, ['B-3', '2003']],
    [{ quantity: 1, kind: 'restricted_view' }, [409, '/problems/all-in-carts']],
    [{ quantity: 1, section_id: 'floor' }, [422, 'section_id']],
    [{ quantity: 1, category: 'balcony' }, [422, 'category']],
    [{ quantity: 7 }, [422, 'quantity']],
  ] as const)
    expect(await offer(body), JSON.stringify(body)).toEqual(answer)
  expect((await buy(sale, [seats('B-3', 'B-4')])).status).toBe(201)
  expect(await offer({ quantity: 2, kind: 'accessible' })).toEqual([409, '/problems/all-in-carts'])
})

test('when nothing fits any more: in carts, and sold out once all is paid', async () => {
  const sale = await openHall()
  const all = [seats('A-1', 'A-2', 'A-3', 'A-4'), seats('B-1', 'B-2')]
  expect((await buy(sale, all)).status).toBe(201)
  expect(await buy(sale, [{ section_id: 'stalls', quantity: 3 }])).toMatchObject({
    status: 409,
    body: { type: '/problems/all-in-carts', section_id: 'stalls', remaining: 2 },
  })
  expect(await buy(sale, [{ section_id: 'floor', quantity: 6 }])).toMatchObject({
    status: 422,
    body: { section_id: 'floor', remaining: 5 },
  })
})

test('what is wrong with a cart is a 422 that names its field', async () => {
  const sale = await openHall()
  for (const [lines, field, beside = {}] of [
    [[{ product_id: 'none' }], 'lines.0.product_id'],
    [[{ section_id: 'none', quantity: 1 }], 'lines.0.section_id'],
    [[seats('A-1', 'Z-9')], 'lines.0.seats.1'],
    [[{ section_id: 'floor', seats: ['A-1'] }], 'lines.0.section_id'],
    [[seats('A-1'), seats('A-1')], 'lines.1.seats.0'],
    [[{ product_id: 'one', colour: 'red' }], 'lines.0.colour'],
    [Array.from({ length: 21 }, () => ({ product_id: 'one' })), 'lines'],
    [[], 'lines'],
    [[seats('A-1', 'A-2', 'A-3', 'A-4'), { product_id: 'one', quantity: 3 }], 'quantity'],
    [[{ product_id: 'one' }], 'quantity', { quantity: 2 }],
    [[{ product_id: 'one' }], 'gift', { gift: true }],
  ] as readonly [object[], string, object?][]) {
    const { status, body } = await buy(sale, lines, beside)
    expect([status, body.errors?.[0]?.field]).toEqual([422, field])
  }
})

test('the limit of a product is for all its variants together', async () => {
  const variants = ['41', '42'].map((size) => ({ variant_id: size, options: { size }, total: 5 }))
  const shoe = { product_id: 'shoe', name: 'Shoe', unit_price_minor: 1000, currency: 'EUR', total: 0, limit: 1 }
  const options = [{ name: 'size', values: ['41', '42'] }]
  const sale = await origin.sale({ limit_per_visitor: 3, products: [{ ...shoe, options, variants }] })
  const token = await origin.token(sale)
  const buy = (size: string) =>
    origin.checkout(sale, { token, key: randomUUID(), body: { lines: [{ product_id: size, quantity: 1 }] } })
  expect((await buy('41')).status).toBe(201)
  const detail = 'at most 1 per visitor of Shoe'
  expect(await buy('42')).toMatchObject({ status: 422, body: { product_id: '42', errors: [{ detail }] } })
})

test('limits of an order, of a product and of the sale are exact', async () => {
  const products = [{ product_id: 'one', name: 'One', unit_price_minor: 1000, currency: 'EUR', total: 10, limit: 2 }]
  const sale = await openHall({ products, limit_per_order: 3 })
  const token = await origin.token(sale)
  const ask = (lines: object[]) => origin.checkout(sale, { token, key: randomUUID(), body: { lines } })
  expect(await ask([{ section_id: 'floor', quantity: 4 }])).toMatchObject({ status: 422 })
  expect((await ask([{ product_id: 'one', quantity: 2 }])).status).toBe(201)
  expect(await ask([{ product_id: 'one', quantity: 1 }])).toMatchObject({ status: 422, body: { product_id: 'one' } })
  expect((await ask([{ section_id: 'floor', quantity: 3 }])).status).toBe(201)
  expect(await ask([{ section_id: 'floor', quantity: 2 }])).toMatchObject({ status: 422 })
  expect((await ask([seats('A-1')])).status).toBe(201)
})
