import { randomUUID } from 'node:crypto'
import { Hono } from 'hono'
import { expect, test } from 'vitest'
import { addHall } from '../../test/lib/hall.ts'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { EXPORT_PAGE } from '../ledger/order-statements.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { exportOrders } from './export.ts'

const origin = useOrigin()
// This file has its own ledger because it deletes orders.
const sql = await useLedger(2)
const path = (sale: string, format: string) => `/sales/${sale}/orders?format=${format}`
async function exported(sale: string) {
  const { body } = await origin.admin('GET', path(sale, 'ndjson'))
  const rows = String(body.text).trim().split('\n')
  return rows.map((row) => JSON.parse(row))
}

test('an export quotes CSV fields, and disarms formulas', async () => {
  const sale = await origin.sale()
  const token = await origin.token(sale)
  const id = (await origin.checkout(sale, { token })).body.order_id ?? ''
  await origin.sql()`update orders set visitor = '=1+1', reason = 'said "no", twice' where order_id = ${id}`
  const { body, headers } = await origin.admin('GET', path(sale, 'csv'))
  expect(headers.get('content-type')).toContain('text/csv')
  expect(headers.get('content-disposition')).toContain(`${sale}-orders.csv`)
  const [header = '', row = '', end] = String(body.text).split('\r\n')
  expect(header.split(',').slice(0, 3)).toEqual(['order_id', 'product_id', 'visitor'])
  expect(row).toContain(`${id},one,'=1+1,`)
  expect(row).toContain(',"said ""no"", twice",')
  expect(end).toBe('')
  expect(await origin.call('GET', `/admin${path(sale, 'csv')}`, { token })).toMatchObject({ status: 401 })
  expect(await origin.admin('GET', path(sale, 'pdf'))).toMatchObject({ status: 422 })
  expect(await origin.admin('GET', `/sales/${randomUUID()}/orders`)).toMatchObject({ status: 404 })
})

test('an export shows when money was captured or refunded, and when an order was fulfilled', async () => {
  const sale = await origin.sale()
  await origin.checkout(sale)
  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  const read = async (status: string) => (await exported(sale)).find((order) => order.status === status)
  const becomes = (status: string, shown: object) => expect.poll(() => read(status)).toMatchObject(shown)
  const date = expect.stringMatching(/^\d{4}-\d\d-\d\dT/)
  await becomes('confirmed', { captured_at: date, refunded_at: null, refunded_minor: 0 })
  expect(await read('reserved')).toMatchObject({ captured_at: null, refunded_at: null })
  const { charge_id, order_id } = await read('confirmed')
  await origin.admin('POST', `/orders/${order_id}/cancel`)
  await becomes('cancelled', { charge_id, captured_at: date, refunded_at: date, refunded_minor: 1_000 })

  await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
  await becomes('confirmed', { fulfilled_at: null })
  await origin.admin('POST', `/orders/${(await read('confirmed')).order_id}/fulfil`)
  await becomes('fulfilled', { fulfilled_at: date })
})

test('what was paid keeps the product, tax and seller of that moment, in each reading', async () => {
  const seller = { name: 'Ann Lee' }
  const tax = { name: 'VAT', percent: 20 }
  const sale = await origin.sale({ seller, tax })
  const token = await origin.token(sale)
  const { body } = await origin.checkout(sale, { token, body: { payment_method: 'pm_ok' } })
  const read = async () => (await origin.call('GET', `/orders/${body.order_id}`, { token })).body
  await expect.poll(read).toMatchObject({ status: 'confirmed' })
  const products = saleOf(10).products.map((product) => ({ ...product, name: 'Another' }))
  const later = saleOf(10, { products, seller: { name: 'Bo Li' }, tax: { name: 'Levy', percent: 7 } })
  expect(await origin.admin('PUT', `/sales/${sale}`, later)).toMatchObject({ status: 200 })
  const then = { lines: [{ name: 'One' }], tax_minor: 167 }
  expect(await read()).toMatchObject({ ...then, receipt: { seller, tax } })
  expect((await origin.admin('GET', `/orders/${body.order_id}`)).body).toMatchObject({ ...then, product_name: 'One' })
  expect(await exported(sale)).toMatchObject([then])
  expect((await origin.checkout(sale)).body).toMatchObject({ lines: [{ name: 'Another' }], tax_minor: 65 })
})

test('an export has a row for each order, with its lines', async () => {
  const sale = await origin.sale({ limit_per_visitor: 5 })
  await addHall(origin.sql(), sale)
  await origin.admin('POST', `/sales/${sale}/reconcile`)
  const lines = [
    { product_id: 'one', quantity: 2 },
    { section_id: 'stalls', seats: ['S3'] },
  ]
  expect(await origin.checkoutDecided(sale, { body: { lines } })).toMatchObject({ status: 201 })
  expect(await origin.checkoutDecided(sale)).toMatchObject({ status: 201 })
  const orders = (await exported(sale)).sort((a, b) => a.total_minor - b.total_minor)
  const one = { line: 1, product_id: 'one', name: 'One', unit_price_minor: 1000, status: 'held' }
  const seat = { line: 2, section_id: 'stalls', seat_id: 'S3', row: '0', number: '3', unit_price_minor: 2003 }
  expect(orders).toMatchObject([
    { total_minor: 1_000, lines: [{ ...one, quantity: 1 }] },
    { total_minor: 4_003, quantity: 2, lines: [{ ...one, quantity: 2 }, seat] },
  ])
  const csv = String((await origin.admin('GET', path(sale, 'csv'))).body.text)
  expect(csv.split('\r\n')[0]).toContain(',total_minor,lines,short_number,discount_minor,')
  expect(csv).toContain('""seat_id"":""S3""')
})

test('an export says what an order costs beside its lines, and where it goes to', async () => {
  const sale = await origin.sale({
    limit_per_visitor: 2,
    tax: { name: 'VAT', percent: 19 },
    contact: { email: 'optional' },
    fees: [{ name: 'Wrap', amount_minor: 100, per: 'unit' }],
    delivery: { kind: 'address', prices: [{ amount_minor: 490 }], ask: { name: 'required' } },
  })
  const delivery = { name: 'Ann Lee', street: 'Quay 1', postcode: '10115', city: 'Berlin', country: 'DE' }
  const body = { product_id: 'one', quantity: 2, delivery, contact: { email: 'ann@example.com' } }
  const bought = await origin.checkoutDecided(sale, { body })
  expect(bought).toMatchObject({ status: 201, body: { total_minor: 2_690, short_number: expect.any(String) } })
  const [row] = await exported(sale)
  const costs = { discount_minor: 0, fees_minor: 200, shipping_minor: 490, tax_minor: 429, total_minor: 2_690 }
  const to = { delivery_name: 'Ann Lee', delivery_street: 'Quay 1', delivery_country: 'DE', delivery_phone: null }
  expect(row).toMatchObject({ short_number: bought.body.short_number, ...costs, ...to })
})

test('an export has every order once, and does not look complete if it fails', async () => {
  const app = new Hono().get('/:sale', (c) => exportOrders(sql, c, c.req.param('sale')))
  const ORDERS = 2.5 * EXPORT_PAGE
  await writeSale(sql, 'large', saleOf(1))
  await sql`
    insert into orders (order_id, number, sale_id, product_id, visitor, ticket_number, quantity, unit_price_minor,
      currency, status, idempotency_key, request_hash, reserved_until)
    select gen_random_uuid(), (next_order_numbers(1))[1], 'large', 'one', 'visitor ' || i, i, 1, 1000, 'EUR',
      'expired', 'k', 'h', now()
    from generate_series(1, ${ORDERS}) i`
  const lines = (await (await app.request('/large')).text()).trimEnd().split('\n')
  expect(lines).toHaveLength(ORDERS)
  expect(new Set(lines.map((line) => JSON.parse(line).order_id)).size).toBe(ORDERS)

  const reader = (await app.request('/large')).body?.getReader()
  await reader?.read()
  await sql`alter table orders rename to orders_away`
  const rest = async () => {
    while (!(await reader?.read())?.done);
  }
  await expect(rest()).rejects.toThrow('orders')
})
