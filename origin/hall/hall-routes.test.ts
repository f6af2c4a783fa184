/** What everyone sees of a hall, at a real origin: its chart, the state of its seats, and the seats page by page. */

import { expect, onTestFinished, test } from 'vitest'
import type { SectionUpdate } from '../../shared/api/hall.ts'
import { unpackStates } from '../../shared/hall/hall-model.ts'
import { listen } from '../../test/lib/event-stream.ts'
import { eventually } from '../../test/lib/eventually.ts'
import { counted, useOrigin } from '../../test/lib/origin-process.ts'
import { saleOf } from '../../test/lib/samples.ts'
import { useLedger } from '../../test/lib/servers.ts'
import { SaleMemory } from '../sales/sale-memory.ts'
import { writeSale } from '../sales/sale-queries.ts'
import { Halls } from '../seats/halls.ts'
import { SeatStates } from '../seats/seat-states.ts'
import { addHall } from '../seats/testing.ts'

const origin = useOrigin()
const sql = await useLedger()

const internal = (path: string) => origin.call('GET', `/internal${path}`, { token: origin.edgeToken })

/** A sale with a hall, which the origin knows and the gate is ready for. */
async function hallSale(): Promise<string> {
  const sale = await origin.sale({ limit_per_visitor: 10 })
  await addHall(origin.sql(), sale)
  const known = () => internal(`/sales/${sale}`)
  await eventually(known, ({ body }) => body.chart_version === 1)
  await origin.admin('POST', `/sales/${sale}/reconcile`)
  return sale
}

test('the edge gets the chart of the version that it asks for', async () => {
  const sale = await hallSale()
  const { status, body } = await internal(`/sales/${sale}/chart?v=1`)
  expect([status, body]).toMatchObject([200, { version: 1, focal_point: { x: 2.5, y: 0 } }])
  expect(body.sections).toMatchObject([
    { section_id: 'stalls', type: 'reserved', outline: [[-1, -1], {}, {}], seats: { length: 12 } },
    { section_id: 'floor-1', type: 'general_admission', seats: [] },
  ])
  for (const version of ['2', '0', 'x', ''])
    expect((await internal(`/sales/${sale}/chart?v=${version}`)).status).toBe(404)
  await origin.sql()`update charts set version = 2 where sale_id = ${sale}`
  expect((await internal(`/sales/${sale}/chart?v=2`)).body.version).toBe(2)
  const without = await origin.sale()
  expect((await internal(`/sales/${without}/chart?v=1`)).status).toBe(404)
  expect((await internal(`/sales/${without}/availability`)).status).toBe(404)
})

test('shows held, sold and blocked seats to everyone, and on the pages of those whose turn it is', async () => {
  const sale = await hallSale()
  const buy = async (seat: string, payment = {}) => {
    const body = { lines: [{ section_id: 'stalls', seats: [seat] }], ...payment }
    expect((await origin.checkoutDecided(sale, { body })).status).toBe(201)
  }
  await buy('S1')
  await buy('S2', { payment_method: 'pm_ok' })
  await origin.sql()`
    insert into seat_claims (sale_id, seat_index, reason, operator) values (${sale}, 3, 'camera', 'ada')`
  const wanted = [0, 1, 2, 3, ...Array(8).fill(0)]
  const states = async () => {
    const { body } = await internal(`/sales/${sale}/availability`)
    return [...unpackStates((body.sections as Record<string, string>).stalls ?? '', 12)]
  }
  expect(await eventually(states, (now) => now.join() === wanted.join())).toEqual(wanted)

  const token = await origin.token(sale)
  const page = (query: string) => origin.call('GET', `/sales/${sale}/sections/stalls/seats${query}`, { token })
  expect((await page('')).body).toMatchObject({ section_id: 'stalls', total_seats: 12, page: 1, page_size: 200 })
  const { body } = await page('?page=1&page_size=5')
  expect(body.seats).toMatchObject([
    {
      seat_id: 'S0',
      row: '0',
      number: '0',
      category: 'front',
      kind: 'standard',
      price_minor: 2000,
      status: 'available',
    },
    { seat_id: 'S1', status: 'held' },
    { seat_id: 'S2', status: 'sold' },
    { seat_id: 'S3', status: 'blocked' },
    { seat_id: 'S4', status: 'available' },
  ])
  expect((await page('?page=3&page_size=5')).body.seats).toMatchObject([{ seat_id: 'S10' }, { seat_id: 'S11' }])
  for (const wrong of ['page=4&page_size=5', 'page=0', 'page=x', 'page_size=0', 'page_size=501', 'page_size=-1'])
    expect((await page(`?${wrong}`)).status, wrong).toBe(422)
  const floor = await origin.call('GET', `/sales/${sale}/sections/floor-1/seats`, { token })
  expect(floor.body).toMatchObject({ total_seats: 5, seats: [] })
  const other = (path: string, token?: string) =>
    origin.call('GET', `/sales/${sale}/sections${path}`, { ...(token && { token }) })
  expect((await other('/one/seats', token)).status).toBe(404)
  expect((await other('/stalls/seats')).status).toBe(429)
  expect((await other('/updates')).status).toBe(429)
})

test('the ledger is read once for all who ask within a second', async () => {
  const sale = 'hall-of-many'
  await writeSale(sql, sale, saleOf(1))
  await addHall(sql, sale)
  const connections = counted(sql)
  const states = new SeatStates(connections.sql, new Halls(sql, new SaleMemory()))
  await Promise.all(Array.from({ length: 1_000 }, () => states.of(sale)))
  expect(connections.statements()).toBe(1)
})

test('streams what is left in each section to those whose turn it is, and each change of it', async () => {
  const sale = await hallSale()
  const url = `${origin.url()}/sales/${sale}/sections/updates`
  const { seen, leave } = listen<SectionUpdate>(url, { authorization: `Bearer ${await origin.token(sale)}` })
  onTestFinished(leave)
  const left = () => Object.fromEntries(seen.map(({ data }) => [data.section_id, data.available_seats]))
  await expect.poll(left).toEqual({ stalls: 12, 'floor-1': 5 })
  await origin.checkoutDecided(sale, { body: { lines: [{ section_id: 'floor-1', quantity: 2 }] } })
  await expect.poll(left).toEqual({ stalls: 12, 'floor-1': 3 })
})
