/**
 * Halls as operators make and change them, on a real origin: imports, blocks, moves and the box office, and both
 * gates agree.
 */
import { randomUUID } from 'node:crypto'
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()
const HEADER = 'seat_id,row,number,place,x,y,category,kind,price_minor'

/** Rows of six seats each, .. B-1, .. */
const rows = (...names: string[]) =>
  names.flatMap((row, y) =>
    Array.from({ length: 6 }, (_, i) => `${row}-${i + 1},${row},${i + 1},${i},${i},${y},front,standard,${2000 + i}`),
  )
const csv = (...lines: string[]) => [HEADER, ...lines].join('\n')

function upload(sale: string, body: string, { section = 'stalls', query = '', type = 'text/csv' } = {}) {
  const headers = { 'content-type': type }
  const path = `/admin/sales/${sale}/sections/${section}/seats${query}`
  return origin.call('PUT', path, { token: ADMIN_TOKEN, headers, body })
}

const section = (sale: string, id: string, body: object) => origin.admin('PUT', `/sales/${sale}/sections/${id}`, body)
const STALLS = { name: 'Stalls', type: 'reserved', price_minor: 2000, currency: 'EUR' }
const FLOOR = { name: 'Floor', type: 'general_admission', total: 5, price_minor: 1500, currency: 'EUR' }

/** A sale of ten units, two rows of six seats and a standing section. */
async function openHall(options: object = {}): Promise<string> {
  const sale = await origin.sale({ limit_per_visitor: 6, ...options })
  expect(await section(sale, 'stalls', STALLS)).toMatchObject({ status: 201 })
  expect(await section(sale, 'floor', FLOOR)).toMatchObject({ status: 201 })
  expect(await upload(sale, csv(...rows('A', 'B')))).toMatchObject({ status: 200, body: { added: 12 } })
  return sale
}

const seatsOf = (section_id: string, ...seats: string[]) => ({ section_id, seats })
const buy = (sale: string, ...lines: object[]) => origin.checkout(sale, { body: { lines } })

async function buyPaid(sale: string, ...lines: object[]): Promise<string> {
  const { status, body } = await origin.checkout(sale, { body: { lines, payment_method: 'pm_ok' } })
  expect(status).toBe(201)
  const read = async () => (await origin.admin('GET', `/orders/${body.order_id}`)).body.status
  expect(await eventually(read, (now) => now === 'confirmed')).toBe('confirmed')
  return String(body.order_id)
}

interface Section extends Readonly<Record<'total' | 'available' | 'held' | 'sold' | 'blocked', number>> {
  readonly section_id: string
}
interface Hall {
  readonly version: number
  readonly sections: readonly Section[]
  readonly seats: string
  readonly blocks: readonly object[]
}
const hallOf = async (sale: string) => (await origin.admin('GET', `/sales/${sale}/hall`)).body as unknown as Hall

/** A digit a seat, as the section's seats come in the chart. */
async function states(sale: string): Promise<string> {
  const { seats, sections } = await hallOf(sale)
  const bytes = [...Buffer.from(seats, 'base64')]
  const digits = bytes.flatMap((byte) => [byte >> 6, (byte >> 4) & 3, (byte >> 2) & 3, byte & 3]).join('')
  return digits.slice(0, sections.find(({ section_id }) => section_id === 'stalls')?.total)
}

/** Gate, ledger and orders say the same, count by count and seat by seat. */
async function expectAgreement(sale: string): Promise<void> {
  const { body } = await origin.admin('POST', `/sales/${sale}/reconcile`)
  const findings = body.findings as readonly { product_id: string; found: string; recount: { found: string } }[]
  expect(findings.map((f) => [f.product_id, f.found, f.recount.found])).toEqual(
    findings.map((f) => [f.product_id, 'ok', 'ok']),
  )
  const { sections } = await hallOf(sale)
  for (const { total, available, held, sold, blocked } of sections)
    expect(available).toBe(total - held - sold - blocked)
}

test('a section is created, changed and removed, and keeps what is sold of it', async () => {
  const sale = await openHall()
  expect(await section(sale, 'one', FLOOR)).toMatchObject({ status: 409 })
  for (const wrong of [
    { ...STALLS, total: 5 },
    { ...FLOOR, total: undefined },
    { ...FLOOR, type: 'sofa' },
    { ...FLOOR, outline: [[0, 0]] },
  ])
    expect(await section(sale, 'box', wrong)).toMatchObject({ status: 422 })
  const outline = [
    [0, 0],
    [9, 0],
    [9, 9],
  ]
  const pit = { section_id: 'floor', name: 'Pit', type: 'general_admission', total: 7, price_minor: 1500 }
  const changed = await section(sale, 'floor', { ...FLOOR, name: 'Pit', total: 7, order: 0, outline })
  expect(changed).toMatchObject({ status: 200, body: { ...pit, available: 7 } })
  const { version } = await hallOf(sale)
  outline.push([0, 9])
  await section(sale, 'floor', { ...FLOOR, name: 'Pit', total: 7, order: 0, outline })
  expect(await hallOf(sale)).toMatchObject({ version: version + 1 })
  expect((await origin.admin('GET', `/sales/${sale}/chart`)).body).toMatchObject({
    sections: [
      { section_id: 'floor', name: 'Pit', outline },
      { section_id: 'stalls', seats: { length: 12 } },
    ],
  })
  const bought = await buy(sale, { section_id: 'floor', quantity: 3 })
  expect(bought).toMatchObject({ status: 201, body: { total_minor: 4500 } })
  expect(await section(sale, 'floor', { ...FLOOR, total: 2 })).toMatchObject({ status: 409 })
  expect(await section(sale, 'floor', { ...STALLS })).toMatchObject({ status: 409 })
  expect(await origin.admin('DELETE', `/sales/${sale}/sections/floor`)).toMatchObject({ status: 409 })
  const restock = (id: string) => origin.admin('POST', `/sales/${sale}/products/${id}/restock`, { quantity: 1 })
  expect(await restock('stalls')).toMatchObject({ status: 409 })
  expect(await restock('floor')).toMatchObject({ status: 200 })
  expect(await origin.admin('DELETE', `/sales/${sale}/sections/stalls`)).toMatchObject({ status: 204 })
  expect(await origin.admin('DELETE', `/sales/${sale}/sections/stalls`)).toMatchObject({ status: 404 })
  expect((await hallOf(sale)).sections).toMatchObject([{ section_id: 'floor', total: 8, held: 3, available: 5 }])
  await expectAgreement(sale)
})

test('an import is whole or nothing, and names the line of each error', async () => {
  const sale = await openHall()
  const before = await hallOf(sale)
  const lines = [...rows('C'), 'D-1,D,1,1,0,0,front,sofa,12.50', '', 'E 1,E,1,1,0,0,front,standard,1']
  const wrong = await upload(sale, csv(...lines))
  expect(wrong).toMatchObject({ status: 422, body: { type: '/problems/invalid-fields', error_count: 3 } })
  const fields = wrong.body.errors?.map(({ field }) => field).toSorted()
  expect(fields).toEqual(['line 10: seat_id', 'line 8: kind', 'line 8: price_minor'])
  const columns = await upload(sale, 'seat_id,row,colour\nA-1,A,red')
  expect(columns.body.errors).toContainEqual({ field: 'line 1: colour', detail: 'there is no such column' })
  const asJson = (list: unknown) => upload(sale, JSON.stringify(list), { type: 'application/json' })
  const place = { row: 'A', number: '1', place: 1, x: 0, y: 0 }
  const seat = { seat_id: 'A-1', ...place, category: 'a', kind: 'standard', price_minor: 100 }
  expect(await asJson([seat, { ...seat, colour: 'red' }, 7])).toMatchObject({
    status: 422,
    body: { errors: [{ field: 'seat 2: colour' }, { field: 'seat 3' }], error_count: 2 },
  })
  for (const [body, type, status] of [
    ['"open quote', 'text/csv', 400],
    ['', 'text/csv', 422],
    ['{}', 'application/json', 400],
    ['x', 'text/plain', 415],
  ] as const)
    expect(await upload(sale, body, { type })).toMatchObject({ status })
  expect(await upload(sale, csv(), { section: 'floor' })).toMatchObject({ status: 409 })
  expect(await upload(sale, csv(), { section: 'nowhere' })).toMatchObject({ status: 404 })
  expect(await upload('no-such-sale', csv())).toMatchObject({ status: 404 })
  expect(await hallOf(sale)).toEqual(before)
  expect(await asJson([seat])).toMatchObject({ status: 200, body: { added: 0, changed: 1, removed: 11, unchanged: 0 } })
  expect(await hallOf(sale)).toMatchObject({ version: before.version + 1, sections: [{ total: 1, available: 1 }, {}] })
  await expectAgreement(sale)
})

test('a preview says what an import would change, and which lines are wrong, and changes nothing', async () => {
  const sale = await openHall()
  const before = await hallOf(sale)
  await buy(sale, seatsOf('stalls', 'B-3'))
  const dearer = rows('A').map((line) => line.replace('2000', '9000'))
  const lines = csv(...dearer, ...rows('C'), 'B-1,B,1,1,0,0,front,sofa,1')
  const { status, body } = await upload(sale, lines, { query: '?preview=true' })
  const changes = { added: 6, changed: 1, unchanged: 5, removed: 5, seats: ['B-3'], seat_count: 1 }
  expect({ status, body }).toMatchObject({ status: 200, body: { ...changes, error_count: 1 } })
  expect(body.errors).toMatchObject([{ field: 'line 14: kind' }])
  expect(await hallOf(sale)).toMatchObject({ version: before.version, sections: [{ total: 12 }, {}] })
})

test('a seat that is held, sold or blocked never vanishes, and is reprinted only if confirmed', async () => {
  const sale = await openHall()
  const held = await buy(sale, seatsOf('stalls', 'A-1'))
  expect(held.status).toBe(201)
  await buyPaid(sale, seatsOf('stalls', 'B-6'))
  await origin.admin('POST', `/sales/${sale}/seats/block`, { seats: ['B-1'], reason: 'for the press' })
  const conflict = { type: '/problems/conflict', seats: ['A-1', 'B-1', 'B-6'], seat_count: 3 }
  expect(await upload(sale, csv(...rows('C')))).toMatchObject({ status: 409, body: conflict })
  expect(await states(sale)).toBe('100000300002')
  // Nor by the ledger's own hand.
  const direct = origin.sql()`delete from seats where sale_id = ${sale} and seat_id = 'B-6'`
  await expect(direct).rejects.toMatchObject({ code: '23503', constraint_name: 'claims_of_seat' })
  // They stay with another geometry and another price, between new seats.
  const kept = rows('A', 'B').filter((line) => /^(A-1|B-1|B-6),/.test(line))
  const moved = kept.map((line) => line.replace(/,(\d+),(\d+),front/, ',70,80,balcony'))
  const reprinted = { reprinted: ['A-1', 'B-6'], reprinted_count: 2 }
  const changes = { added: 6, changed: 3, removed: 9, unchanged: 0, ...reprinted }
  const list = csv(...rows('C'), ...moved)
  expect(await upload(sale, list, { query: '?preview=true' })).toMatchObject({ status: 200, body: changes })
  expect(await upload(sale, list)).toMatchObject({ status: 409, body: { type: '/problems/conflict', ...reprinted } })
  expect(await states(sale)).toBe('100000300002')
  expect(await upload(sale, list, { query: '?confirm=true' })).toMatchObject({ status: 200, body: changes })
  expect(await states(sale)).toBe('132000000')
  const order = await origin.admin('GET', `/orders/${held.body.order_id}`)
  expect(order.body).toMatchObject({ status: 'reserved', total_minor: 2000, lines: [{ seat_id: 'A-1' }] })
  expect(await buy(sale, seatsOf('stalls', 'C-1', 'C-6'))).toMatchObject({ status: 201 })
  await expectAgreement(sale)
})

test('the place of a removed seat in the bitmap is not given again', async () => {
  const sale = await openHall()
  const indexes = () => origin.sql()<{ seat_index: number }[]>`
    select seat_index from seats where sale_id = ${sale} order by seat_index`
  await upload(sale, csv())
  await upload(sale, csv(...rows('C')))
  expect((await indexes()).map(({ seat_index }) => seat_index)).toEqual([12, 13, 14, 15, 16, 17])
  expect(await buy(sale, seatsOf('stalls', 'A-1'))).toMatchObject({ status: 422 })
  expect(await buy(sale, { section_id: 'stalls', quantity: 6 })).toMatchObject({ status: 201 })
  await expectAgreement(sale)
})

test('an import larger than one statement gives each seat its own index, in the order of the lines', async () => {
  const sale = await openHall()
  const lines = Array.from({ length: 10_050 }, (_, i) => `N-${i},N,${i},${i},${i},9,back,standard,100`)
  expect(await upload(sale, csv(...rows('A', 'B'), ...lines))).toMatchObject({ body: { added: 10_050, unchanged: 12 } })
  const [found] = await origin.sql()`
    select count(*)::int as count, count(distinct seat_index)::int as indexes,
      bool_and(seat_index = 12 + substr(seat_id, 3)::int) as in_order
    from seats where sale_id = ${sale} and row = 'N'`
  expect(found).toEqual({ count: 10_050, indexes: 10_050, in_order: true })
})

test('the best seats are near the focal point: the top centre of all seats, unless an operator set it', async () => {
  const sale = await openHall()
  const focalPoint = async () => (await origin.admin('GET', `/sales/${sale}/chart`)).body.focal_point
  expect(await focalPoint()).toEqual({ x: 2.5, y: 0 })
  expect(await buy(sale, { quantity: 2 })).toMatchObject({ body: { lines: [{ seat_id: 'A-3' }, { seat_id: 'A-4' }] } })
  const set = await origin.admin('PUT', `/sales/${sale}/chart`, { focal_point: { x: 5, y: 9 } })
  expect(set.status).toBe(200)
  await upload(sale, csv(...rows('A', 'B', 'C')))
  expect(await focalPoint()).toEqual({ x: 5, y: 9 })
  expect(await buy(sale, { quantity: 1 })).toMatchObject({ body: { lines: [{ seat_id: 'C-6' }] } })
})

test('blocked seats are sold to nobody until they are released', async () => {
  const sale = await openHall()
  const change = (how: 'block' | 'release', body: object) => origin.admin('POST', `/sales/${sale}/seats/${how}`, body)
  await buy(sale, seatsOf('stalls', 'A-1'))
  const reason = 'for the press'
  const held = { status: 409, body: { seats: ['A-1'] } }
  expect(await change('block', { seats: ['A-1', 'A-2'], reason })).toMatchObject(held)
  const unknown = { status: 422, body: { errors: [{ field: 'seats.1', detail: 'there is no seat Z-9' }] } }
  expect(await change('block', { seats: ['A-2', 'Z-9'], reason })).toMatchObject(unknown)
  expect(await states(sale)).toBe('100000000000')
  expect(await change('block', { seats: ['A-2', 'A-3'], reason })).toMatchObject({ body: { blocked: 2, unchanged: 0 } })
  expect(await change('block', seatsOf('stalls', 'A-3'))).toMatchObject({ status: 422 })
  expect(await change('block', { seats: ['A-3', 'A-4'], reason })).toMatchObject({ body: { blocked: 1, unchanged: 1 } })
  await expectAgreement(sale)
  const taken = { status: 409, body: { type: '/problems/seat-taken' } }
  expect(await buy(sale, seatsOf('stalls', 'A-3'))).toMatchObject(taken)
  expect(await hallOf(sale)).toMatchObject({
    sections: [{ total: 12, available: 8, held: 1, sold: 0, blocked: 3 }, {}],
    blocks: [
      { seat_id: 'A-4' },
      { seat_id: 'A-2' },
      { section_id: 'stalls', seat_id: 'A-3', reason, operator: 'admin' },
    ],
  })
  const stateOf = async (seat: string) => (await origin.admin('GET', `/sales/${sale}/hall/seats/stalls/${seat}`)).body
  expect([await stateOf('A-3'), await stateOf('A-5')]).toMatchObject([
    { state: 'blocked', reason },
    { state: 'available' },
  ])
  const released = await change('release', { seats: ['A-1', 'A-3', 'A-6'] })
  expect(released).toMatchObject({ body: { released: 1, unchanged: 2 } })
  expect(await states(sale)).toBe('130300000000')
  expect(await buy(sale, seatsOf('stalls', 'A-3'))).toMatchObject({ status: 201 })
  await expectAgreement(sale)
  const audit = await origin.admin('GET', `/audit?sale=${sale}&action=seats%20blocked`)
  expect(audit.body.entries).toMatchObject([
    { after: { seats: 1 } },
    { after: { seats: 2, named: ['A-2', 'A-3'], reason } },
  ])
})

test('an id that two sections have needs its section', async () => {
  const sale = await openHall()
  await section(sale, 'circle', { ...STALLS, name: 'Circle' })
  await upload(sale, csv(...rows('A')), { section: 'circle' })
  const block = (body: object) => origin.admin('POST', `/sales/${sale}/seats/block`, { reason: 'x', ...body })
  expect(await block({ seats: ['A-1'] })).toMatchObject({ status: 422, body: { errors: [{ field: 'seats.0' }] } })
  expect(await block(seatsOf('circle', 'A-1'))).toMatchObject({ status: 200 })
  await expectAgreement(sale)
})

test('a held or sold seat becomes another free one, at the price that was paid', async () => {
  const sale = await openHall()
  await section(sale, 'circle', { ...STALLS, name: 'Circle' })
  await upload(sale, csv(...rows('K').map((line) => line.replace(/\d+$/, '9000'))), { section: 'circle' })
  const held = String((await buy(sale, seatsOf('stalls', 'A-1', 'A-2'))).body.order_id)
  const sold = await buyPaid(sale, { product_id: 'one' }, seatsOf('stalls', 'B-1'))
  const move = (order: string, body: object) => origin.admin('POST', `/orders/${order}/move`, body)
  const taken = { status: 409, body: { type: '/problems/seat-taken', seats: ['B-1'] } }
  expect(await move(held, { line: 1, seat_id: 'B-1' })).toMatchObject(taken)
  expect(await move(held, { line: 1, seat_id: 'Z-1' })).toMatchObject({ status: 422 })
  expect(await move(sold, { line: 1, seat_id: 'A-4' })).toMatchObject({ status: 422 })
  expect(await move(held, { line: 1, seat_id: 'A-6' })).toMatchObject({
    status: 200,
    body: { status: 'reserved', total_minor: 4001, lines: [{ seat_id: 'A-6', number: '6' }, { seat_id: 'A-2' }] },
  })
  expect(await move(held, { line: 1, seat_id: 'A-6' })).toMatchObject({ status: 200 })
  await expectAgreement(sale)
  const moved = { section_id: 'circle', seat_id: 'K-1', name: 'Circle', unit_price_minor: 2000 }
  expect(await move(sold, { line: 2, seat_id: 'K-1', section_id: 'circle' })).toMatchObject({
    body: { status: 'confirmed', lines: [{}, moved] },
  })
  expect(await move(held, { line: 2, seat_id: 'K-2', section_id: 'circle' })).toMatchObject({ status: 200 })
  await expectAgreement(sale)
  const { body: seat } = await origin.admin('GET', `/sales/${sale}/hall/seats/circle/K-1`)
  expect(seat).toMatchObject({ state: 'sold', order: sold, status: 'confirmed' })
  const { body } = await origin.admin('GET', `/orders/${sold}`)
  const history = body.history as readonly { what: string }[]
  expect(history.filter(({ what }) => what === 'order.moved')).toHaveLength(1)
  // What it had is for sale again, and what it has comes back with it.
  expect(await buy(sale, seatsOf('stalls', 'A-1', 'B-1', 'A-2'))).toMatchObject({ status: 201 })
  expect(await origin.admin('POST', `/orders/${held}/cancel`, {})).toMatchObject({ status: 200 })
  await expectAgreement(sale)
  expect(await move(held, { line: 1, seat_id: 'A-5' })).toMatchObject({ status: 409 })
  expect(await buy(sale, seatsOf('stalls', 'A-6'), seatsOf('circle', 'K-2'))).toMatchObject({ status: 201 })
  await expectAgreement(sale)
})

test('the box office sells at once, before the opening, while paused, beyond limits, and once per key', async () => {
  const opens_at = new Date(Date.now() + 3_600_000).toISOString()
  const sale = await openHall({ opens_at, limit_per_visitor: 1, limit_per_order: 1, contact: { email: 'required' } })
  const sell = (key: string, body: object) => {
    const call = { token: ADMIN_TOKEN, headers: { 'idempotency-key': key }, body }
    return origin.call('POST', `/admin/sales/${sale}/box-office`, call)
  }
  const [first, contact] = [randomUUID(), { email: 'ann@example.com' }]
  const lines = [seatsOf('stalls', 'A-1', 'A-2'), { section_id: 'floor', quantity: 3 }]
  const wanted = { lines, note: 'paid in cash' }
  const answer = await sell(first, { ...wanted, contact })
  const paid = { status: 'confirmed', total_minor: 8501, payment: { status: 'succeeded' } }
  expect(answer).toMatchObject({ status: 201, body: { ...paid, lines: [{ status: 'sold' }, {}, {}] } })
  await expectAgreement(sale)
  const again = await sell(first, { ...wanted, contact })
  expect([again.status, again.body.order_id]).toEqual([200, answer.body.order_id])
  expect(await sell(first, { lines: [{ section_id: 'floor', quantity: 1 }] })).toMatchObject({ status: 422 })
  expect(await sell(randomUUID(), wanted)).toMatchObject({ status: 409, body: { type: '/problems/seat-taken' } })
  const { body: order } = await origin.admin('GET', `/orders/${answer.body.order_id}`)
  const sold = { visitor: 'box office:admin', payment_method: 'box_office', charge_id: null }
  expect(order).toMatchObject({ ...sold, contact })
  expect(JSON.stringify(order.history)).toContain('paid in cash')
  await origin.admin('POST', `/sales/${sale}/open`)
  await origin.admin('POST', `/sales/${sale}/pause`, {})
  expect(await sell(randomUUID(), { lines: [{ quantity: 4 }, { product_id: 'one', quantity: 5 }] })).toMatchObject({
    status: 201,
    body: { status: 'confirmed', total_minor: expect.any(Number), lines: { length: 5 } },
  })
  expect(await sell(randomUUID(), { lines: [{ section_id: 'floor', quantity: 3 }] })).toMatchObject({ status: 422 })
  await expectAgreement(sale)
  await origin.admin('POST', `/sales/${sale}/end`)
  expect(await sell(randomUUID(), { lines: [{ quantity: 1 }] })).toMatchObject({ status: 410 })
  expect(await origin.admin('POST', `/sales/${sale}/box-office`, wanted)).toMatchObject({ status: 400 })
})

test('a hall may refuse choices that leave a single seat; a repeated key is answered all the same', async () => {
  const sale = await openHall()
  const set = await origin.admin('PUT', `/sales/${sale}/chart`, { refuse_single: true })
  expect(set).toMatchObject({ status: 200, body: { refuse_single: true } })
  expect(await buy(sale, seatsOf('stalls', 'A-2', 'A-3'))).toMatchObject({
    status: 422,
    body: { errors: [{ field: 'seats', detail: 'leave a single seat: A-1' }], single: ['A-1'] },
  })
  const body = { lines: [seatsOf('stalls', 'A-1', 'A-2')] }
  const call = { token: await origin.token(sale), key: randomUUID(), body }
  const first = await origin.checkout(sale, call)
  expect(first.status).toBe(201)
  expect(await origin.checkout(sale, call)).toMatchObject({ status: 201, body: { order_id: first.body.order_id } })
})
