/** Seats that operators hold back until a time, and whose price and category they set; and what a seat went through. */
import { expect, test } from 'vitest'
import { eventually } from '../../test/lib/eventually.ts'
import { ADMIN_TOKEN, useOrigin } from '../../test/lib/origin-process.ts'

const origin = useOrigin()
const HEADER = 'seat_id,row,number,place,x,y,category,kind,price_minor'
const SEATS = Array.from({ length: 6 }, (_, i) => `A-${i + 1},A,${i + 1},${i},${i},0,front,standard,2000`)

async function openHall(): Promise<string> {
  const sale = await origin.sale({ limit_per_visitor: 6 })
  const section = { name: 'Stalls', type: 'reserved', price_minor: 2000, currency: 'EUR' }
  await origin.admin('PUT', `/sales/${sale}/sections/stalls`, section)
  const { status } = await origin.call('PUT', `/admin/sales/${sale}/sections/stalls/seats`, {
    token: ADMIN_TOKEN,
    headers: { 'content-type': 'text/csv' },
    body: [HEADER, ...SEATS].join('\n'),
  })
  expect(status).toBe(200)
  return sale
}

const seats = (...ids: string[]) => ({ section_id: 'stalls', seats: ids })
const buy = (sale: string, ...ids: string[]) => origin.checkout(sale, { body: { lines: [seats(...ids)] } })
const ownerOf = async (sale: string, seat: string) =>
  (await origin.admin('GET', `/sales/${sale}/hall/seats/stalls/${seat}`)).body
const historyOf = async (sale: string, seat: string) =>
  (await ownerOf(sale, seat)).history as unknown as readonly {
    readonly what: string
  }[]

test('seats held back until a time are sold to nobody before it, and for sale by themselves after it', async () => {
  const sale = await openHall()
  const past = new Date(Date.now() - 1_000).toISOString()
  const hold = (until: string, ...ids: string[]) =>
    origin.admin('POST', `/sales/${sale}/seats/block`, { ...seats(...ids), reason: 'for guests', until })
  expect(await hold(past, 'A-1')).toMatchObject({ status: 422, body: { errors: [{ field: 'until' }] } })
  const until = new Date(Date.now() + 3_600_000).toISOString()
  expect(await hold(until, 'A-1', 'A-2')).toMatchObject({ status: 200, body: { blocked: 2 } })
  expect(await ownerOf(sale, 'A-1')).toMatchObject({ state: 'blocked', reason: 'for guests', until })
  expect((await origin.admin('GET', `/sales/${sale}/hall`)).body.blocks).toMatchObject([{ until }, { until }])
  expect(await buy(sale, 'A-1')).toMatchObject({ status: 409 })
  // The time of one of them comes.
  await origin.sql()`
    update seat_claims c set until = clock_timestamp() from seats s
    where s.sale_id = ${sale} and s.seat_id = 'A-1' and (s.sale_id, s.seat_index) = (c.sale_id, c.seat_index)`
  await eventually(
    () => ownerOf(sale, 'A-1'),
    ({ state }) => state === 'available',
  )
  expect(
    await eventually(
      () => buy(sale, 'A-1'),
      ({ status }) => status === 201,
    ),
  ).toMatchObject({ status: 201 })
  expect(await ownerOf(sale, 'A-2')).toMatchObject({ state: 'blocked' })
  const { body } = await origin.admin('GET', `/audit?sale=${sale}`)
  expect(body.entries).toContainEqual(
    expect.objectContaining({
      operator: 'the clock',
      action: 'seats released',
      after: { seats: 1, named: ['A-1'], reason: 'for guests: its time is over' },
    }),
  )
  const reconciled = (await origin.admin('POST', `/sales/${sale}/reconcile`)).body
  expect(reconciled.findings).toEqual([
    expect.objectContaining({ found: 'ok' }),
    expect.objectContaining({ found: 'ok' }),
  ])
})

test('chosen seats get a price and a category, and what is in carts keeps its own', async () => {
  const sale = await openHall()
  const inCart = await buy(sale, 'A-1')
  expect(inCart).toMatchObject({ status: 201, body: { total_minor: 2000 } })
  const { version } = (await origin.admin('GET', `/sales/${sale}/hall`)).body as unknown as { version: number }
  const set = (body: object) => origin.admin('PATCH', `/sales/${sale}/seats`, body)
  expect(await set(seats('A-1'))).toMatchObject({ status: 422, body: { errors: [{ field: 'price_minor' }] } })
  expect(await set({ ...seats('A-9'), price_minor: 1 })).toMatchObject({ status: 422 })
  const changed = await set({ ...seats('A-1', 'A-2', 'A-3'), price_minor: 3500, category: 'best' })
  expect(changed).toMatchObject({ status: 200, body: { changed: 2, unchanged: 1 } })
  const chart = (await origin.admin('GET', `/sales/${sale}/chart`)).body
  expect(chart).toMatchObject({ version: version + 1 })
  expect(await buy(sale, 'A-2')).toMatchObject({ status: 201, body: { total_minor: 3500 } })
  const id = String(inCart.body.order_id)
  expect((await origin.admin('GET', `/orders/${id}`)).body).toMatchObject({ total_minor: 2000 })
  expect((await origin.admin('GET', `/audit?sale=${sale}`)).body).toMatchObject({
    entries: expect.arrayContaining([
      expect.objectContaining({
        action: 'seats priced',
        before: { price_minor: [2000], category: ['front'] },
        after: { seats: 2, named: ['A-2', 'A-3'], price_minor: 3500, category: 'best' },
      }),
    ]),
  })
  // The same again changes nothing, and no buyer has to read a new chart.
  expect(await set({ ...seats('A-3'), price_minor: 3500 })).toMatchObject({ body: { changed: 0, unchanged: 1 } })
  expect((await origin.admin('GET', `/sales/${sale}/chart`)).body).toMatchObject({ version: version + 1 })
})

test('a seat tells what it went through, the newest first', async () => {
  const sale = await openHall()
  await origin.admin('PATCH', `/sales/${sale}/seats`, { ...seats('A-4'), price_minor: 2500 })
  await origin.admin('POST', `/sales/${sale}/seats/block`, { ...seats('A-4', 'A-5'), reason: 'for the camera' })
  await origin.admin('POST', `/sales/${sale}/seats/release`, seats('A-4'))
  const { body } = await buy(sale, 'A-4', 'A-6')
  expect(await historyOf(sale, 'A-4')).toMatchObject([
    { what: 'reserved', order: body.order_id, price_minor: 2500 },
    { what: 'released', by: 'admin' },
    { what: 'blocked', by: 'admin', reason: 'for the camera' },
    { what: 'priced', by: 'admin', price_minor: 2500 },
  ])
  await origin.admin('POST', `/orders/${body.order_id}/cancel`, {})
  const [latest] = await eventually(
    () => historyOf(sale, 'A-4'),
    ([event]) => event?.what === 'returned',
  )
  expect(latest).toMatchObject({ what: 'returned', order: body.order_id, reason: 'cancelled' })
  expect(await historyOf(sale, 'A-1')).toEqual([])
  expect(await origin.admin('GET', `/sales/${sale}/hall/seats/stalls/A-9`)).toMatchObject({ status: 404 })
})
