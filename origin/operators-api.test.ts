import { randomUUID } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { eventually } from '../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../test/lib/origin-process.ts'
import { saleOf } from '../test/lib/samples.ts'
import { note } from './findings/finding-queries.ts'
import { writeSale } from './sales/sale-queries.ts'

const origin = useOrigin()

const INJECTION = `'; drop table sales; --`
const config = (changes: object = {}) => ({
  name: 'Trainers "Ünï" 👟 <script>',
  opens_at: new Date(Date.now() - 1000).toISOString(),
  products: [{ product_id: 'one', name: INJECTION, unit_price_minor: 1000, currency: 'EUR', total: 10 }],
  admission: { rate_per_second: 100 },
  ...changes,
})

const read = (sale: string) => origin.admin('GET', `/sales/${sale}`)
const put = (sale: string, body: unknown) => origin.admin('PUT', `/sales/${sale}`, body)
const post = (sale: string, path: string, body?: unknown) => origin.admin('POST', `/sales/${sale}/${path}`, body)

describe('an operator', () => {
  test('creates a sale (201), changes it (200), and sees it as it is', async () => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    expect(await put(sale, config())).toMatchObject({ status: 201 })
    expect(await put(sale, config({ hold_seconds: 30 }))).toMatchObject({ status: 200 })
    const { status, body } = await read(sale)
    const stock = { total: 10, available: 10, held: 0, sold: 0 }
    expect(status).toBe(200)
    expect(body).toMatchObject({ sale, phase: 'open', hold_seconds: 30, limit_per_visitor: 1, name: config().name })
    expect(body).toMatchObject({ products: [{ product_id: 'one', ...stock }], invariant: { ...stock, holds: true } })
    // What was read may be sent back, with one field changed.
    const changed = await put(sale, { ...body, name: 'Another name' })
    const { opens_at, products } = body
    expect(changed).toMatchObject({ status: 200, body: { name: 'Another name', opens_at, products } })
  })

  test('creates a sale only where there is none, if the call says so', async () => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    const call = { token: ADMIN_TOKEN, headers: { 'if-none-match': '*' } }
    const create = (name: string) => origin.call('PUT', `/admin/sales/${sale}`, { ...call, body: config({ name }) })
    const both = await Promise.all([create('one'), create('two')])
    expect(both.map(({ status }) => status).sort()).toEqual([201, 409])
    expect(await create('three')).toMatchObject({ status: 409, body: { errors: [{ field: 'sale' }] } })
    const created = both.find(({ status }) => status === 201)
    expect(await read(sale)).toMatchObject({ body: { name: created?.body.name } })
  })

  test('reads which fields are wrong', async () => {
    const sale = 'never'
    const invalid = (...fields: string[]) => ({ status: 422, body: { errors: fields.map((field) => ({ field })) } })
    const answer = await put(sale, config({ hold_seconds: -1, products: null }))
    expect(answer).toMatchObject(invalid('hold_seconds', 'products'))
    expect(await put(sale, '{')).toMatchObject({ status: 400 })
    expect(await read(sale)).toMatchObject({ status: 404, body: { type: '/problems/unknown-sale' } })
    const noName = { detail: expect.stringMatching(/^A sale's name has 1 to 64 letters/) }
    expect(await origin.admin('PUT', '/sales/..%2f', config())).toMatchObject({ status: 404, body: noName })
    const open = await origin.sale()
    expect(await post(open, 'reconcile?oversell=nope')).toMatchObject(invalid('oversell'))
    expect(await post(open, 'products/one/restock', { quantity: -2 })).toMatchObject(invalid('quantity'))
    const noRate = await origin.admin('PATCH', `/sales/${open}/admission`, { rate_per_second: 0 })
    expect(noRate).toMatchObject(invalid('rate_per_second'))
  })

  test('cannot lower a total below the units held and sold', async () => {
    const sale = await origin.sale({ total: 5 })
    for (const body of [{ payment_method: 'pm_ok' }, {}, {}]) await origin.checkout(sale, { body })
    await expect.poll(() => origin.stock(sale)).toMatchObject({ sold: 1 })
    const product = (total: number) => ({ ...config().products[0], total })
    const refused = await put(sale, config({ name: 'Other', products: [product(2)] }))
    expect(refused).toMatchObject({ status: 409, body: { type: '/problems/conflict' } })
    expect(await read(sale)).toMatchObject({ body: { name: 'Test', products: [{ total: 5 }] } })
    expect(await put(sale, config({ products: [product(3)] }))).toMatchObject({ status: 200 })
    expect(await origin.checkout(sale)).toMatchObject({ status: 409 })
    expect(await origin.stock(sale)).toMatchObject({ total: 3, available: 0, held: 2, sold: 1 })
  })

  test('withholds a buffer from sale', async () => {
    const product = (total: number, buffer: number) => ({ ...config().products[0], total, buffer })
    const sale = await origin.sale({ products: [product(3, 1)], limit_per_visitor: 3 })
    expect(await origin.stock(sale)).toMatchObject({ total: 3, buffer: 1, available: 2 })
    const seen = await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })
    expect(seen.body).toMatchObject({ products: [{ total: 2, available: 2 }] })
    expect(JSON.stringify(seen.body)).not.toContain('buffer')
    expect(await origin.checkout(sale, { body: { quantity: 3 } })).toMatchObject({ status: 422 })
    const bought = await origin.checkout(sale, { body: { quantity: 2, payment_method: 'pm_ok' } })
    expect(bought.status).toBe(201)
    await expect.poll(async () => (await read(sale)).body.phase).toBe('sold_out')
    // The gate hears of it a moment after the ledger.
    await expect.poll(() => origin.checkout(sale)).toMatchObject({ status: 410 })
    const puts = [
      [3, 2, 409],
      [2, 1, 409],
      [1, 2, 422],
      [3, 0, 200],
    ] as const
    for (const [total, buffer, status] of puts)
      expect(await put(sale, config({ products: [product(total, buffer)] }))).toMatchObject({ status })
    expect(await origin.checkout(sale)).toMatchObject({ status: 201 })
    expect(await origin.stock(sale)).toMatchObject({ total: 3, buffer: 0, available: 0 })
  })

  test('opens, pauses, resumes and ends a sale', async () => {
    const sale = await origin.sale({ opens_at: new Date(Date.now() + 3_600_000).toISOString() })
    const phase = async () => (await read(sale)).body.phase
    expect(await phase()).toBe('upcoming')
    const phases = { open: 'open', pause: 'paused', resume: 'open', end: 'ended' } as const
    for (const change of ['open', 'pause', 'resume', 'pause', 'open', 'end'] as const)
      expect(await post(sale, change)).toMatchObject({ status: 200, body: { phase: phases[change] } })
    const endedAt = () => origin.sql()`select ended_at from sales where sale_id = ${sale}`
    const ended = await endedAt()
    expect(await post(sale, 'end')).toMatchObject({ status: 200 })
    expect(await post(sale, 'open')).toMatchObject({ status: 409 })
    expect([await phase(), await endedAt()]).toEqual(['ended', ended])
  })

  test('extends a sale that ended by its time, but not one ended by an operator', async () => {
    const at = (ms: number) => new Date(Date.now() + ms).toISOString()
    const sale = await origin.sale({ opens_at: at(-10_000), ends_at: at(-1_000) })
    const refused = (detail: string) => ({ status: 409, body: { detail: expect.stringContaining(detail) } })
    expect(await post(sale, 'open')).toMatchObject(refused('PUT it with a later one'))
    const later = config({ ends_at: at(3_600_000) })
    expect(await put(sale, later)).toMatchObject({ body: { phase: 'open' } })
    await post(sale, 'end')
    for (const [method, path, body] of [
      ['POST', '/open'],
      ['PUT', '', later],
      ['POST', '/products/one/restock', { quantity: 1 }],
      ['PATCH', '/admission', { rate_per_second: 7 }],
    ] as const)
      expect(await origin.admin(method, `/sales/${sale}${path}`, body)).toMatchObject(refused('for good'))
    expect(await origin.stock(sale)).toMatchObject({ total: 10 })
  })

  test('cannot set a lobby after the opening, except of a sale that is open already', async () => {
    const at = (ms: number) => new Date(Date.now() + ms).toISOString()
    const times = { opens_at: at(3_600_000), pre_queue_opens_at: at(3_000_000) }
    const sale = await origin.sale(times)
    const late = config({ ...times, pre_queue_opens_at: at(27 * 3_600_000) })
    const errors = [{ field: 'pre_queue_opens_at', detail: 'must not be after opens_at' }]
    expect(await put(sale, late)).toMatchObject({ status: 422, body: { errors } })
    const { body } = await post(sale, 'open')
    expect(await put(sale, body)).toMatchObject({ status: 200, body: { phase: 'open' } })
  })

  test('restocks once per Idempotency-Key and product, even when the sale ended meanwhile', async () => {
    const [one] = config().products
    const products = ['one', 'two'].map((product_id) => ({ ...one, product_id, total: 1 }))
    const sale = await origin.sale({ products })
    const restock = (key: string, quantity = 2, product = 'one') =>
      origin.call('POST', `/admin/sales/${sale}/products/${product}/restock`, {
        token: ADMIN_TOKEN,
        body: { quantity },
        headers: { 'idempotency-key': key },
      })
    const total = async () => (await origin.stock(sale)).total
    const atOnce = await Promise.all(Array.from({ length: 5 }, () => restock('first')))
    expect(atOnce.map(({ status }) => status)).toEqual(Array(5).fill(200))
    const replayed = atOnce.filter(({ headers }) => headers.get('idempotency-replayed') === 'true')
    expect([replayed.length, await total()]).toEqual([4, 3])
    const reused = { status: 422, body: { type: '/problems/idempotency-key-reused' } }
    expect(await restock('first', 3)).toMatchObject(reused)
    const required = { status: 400, body: { type: '/problems/idempotency-key-required' } }
    for (const malformed of ['', 'two words']) expect(await restock(malformed)).toMatchObject(required)
    expect(await restock('first', 2, 'none')).toMatchObject({ status: 404 })
    expect(await total()).toBe(3)

    expect((await restock('second')).headers.get('idempotency-replayed')).toBeNull()
    const log = await origin.sql()`
      select actor, before, after, idempotency_key as key from audit_log
      where sale_id = ${sale} and action = 'restocked' order by entry_id`
    expect(log).toEqual([
      { actor: 'admin', key: 'first', before: { total: 1 }, after: { total: 3, quantity: 2 } },
      { actor: 'admin', key: 'second', before: { total: 3 }, after: { total: 5, quantity: 2 } },
    ])
    expect((await restock('first', 2, 'two')).headers.get('idempotency-replayed')).toBeNull()

    await post(sale, 'end')
    const afterTheEnd = await restock('first')
    expect([afterTheEnd.status, afterTheEnd.headers.get('idempotency-replayed')]).toEqual([200, 'true'])
    expect(await restock('first', 3)).toMatchObject({ status: 422 })
    expect(await restock('third')).toMatchObject({ status: 409 })
    expect(await total()).toBe(5)
    expect(await post(sale, 'reconcile')).toMatchObject({
      status: 200,
      body: { findings: products.map(({ product_id }) => ({ product_id, found: 'ok', drift: 0 })) },
    })
  })

  test('fulfils a paid order once, and no other', async () => {
    const sale = await origin.sale()
    const paid = await origin.checkout(sale, { body: { payment_method: 'pm_ok' } })
    const { order_id: id } = paid.body
    const fulfil = (order = id, of = sale) => origin.admin('POST', `/sales/${of}/orders/${order}/fulfil`)
    const answer = await eventually(fulfil, ({ status }) => status === 200)
    const { remaining: _, order_token: __, ...order } = paid.body
    const lines = (order.lines ?? []).map((line: object) => ({ ...line, status: 'sold' }))
    const done = { lines, status: 'fulfilled', expires_in_seconds: 0, payment: { status: 'succeeded' } }
    const fulfilled = { ...order, ...done }
    expect(answer).toMatchObject({ status: 200, body: fulfilled })
    expect(await fulfil()).toMatchObject({ status: 200, body: fulfilled })
    expect(await origin.stock(sale)).toMatchObject({ available: 9, held: 0, sold: 1 })
    const unpaid = await origin.checkout(sale)
    expect(await fulfil(unpaid.body.order_id)).toMatchObject({
      status: 409,
      body: { type: '/problems/conflict', detail: expect.stringContaining('reserved') },
    })
    const unknown = { status: 404, body: { type: '/problems/unknown-order' } }
    for (const none of ['none', randomUUID()]) expect(await fulfil(none)).toMatchObject(unknown)
    expect(await fulfil(id, await origin.sale())).toMatchObject(unknown)
    expect(await fulfil(id, 'none')).toMatchObject({ status: 404, body: { type: '/problems/unknown-sale' } })
  })

  test('reads the findings that belong to no sale', async () => {
    const finding = { kind: 'unknown_charge', subject: `ch_${randomUUID()}`, units: 0 } as const
    await note(origin.sql(), { ...finding, sale: '', product: '' })
    const { status, body } = await origin.admin('GET', '/findings')
    expect(status).toBe(200)
    expect(body).toMatchObject({ findings: expect.arrayContaining([expect.objectContaining(finding)]), changes: [] })
  })

  test.each([
    ['PATCH', '/admission', { rate_per_second: 7 }],
    ['POST', '/products/one/restock', { quantity: 1 }],
    ['POST', '/pause', undefined],
    ['GET', '/findings', undefined],
    ['GET', '/orders', undefined],
    ['GET', '', undefined],
  ])('can %s ...%s of a sale that another origin created a moment ago', async (method, path, body) => {
    const sale = `sale-${randomUUID().slice(0, 8)}`
    await writeSale(origin.sql(), sale, saleOf(10))
    expect(await origin.admin(method, `/sales/${sale}${path}`, body)).toMatchObject({ status: 200 })
  })
})
