/**
 * A hall through edge and origin: the public data, and the data for visitors whose turn it is, while a place is sold.
 */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../bench/lib/event-stream.ts'
import { addHall } from '../origin/seats/testing.ts'
import type { AvailabilityDocument, ChartDocument, SectionsDocument, SectionUpdate } from '../shared/api/hall.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { admitted, call, visitorsOf } from './lib/visitor.ts'
import { sharedPart } from './run/shared-part.ts'

const SALE = 'with-a-hall'
const system = await sharedPart('system')
const sql = postgres(system.databaseUrl, { max: 1, onnotice: () => {} })
const stops: (() => void)[] = []

beforeAll(async () => {
  await createSale(system, SALE, saleOf(5, { limit_per_visitor: 2 }))
  await addHall(sql, SALE)
})
afterAll(async () => {
  for (const stop of stops) stop()
  await sql.end({ timeout: 2 })
})

const { at, checkout } = visitorsOf(system.edgeUrl, SALE)
const read = async <T>(path: string, token?: string) => (await call<T>('GET', at(path), { token })).body

test('a place that is taken is gone for all who look on', async () => {
  const left = async () => {
    const { sections } = await read<SectionsDocument>('/sections')
    return sections.map(({ section_id, available_seats }) => [section_id, available_seats])
  }
  await expect.poll(left).toEqual([
    ['stalls', 12],
    ['floor-1', 5],
  ])
  // The edge has it once it has read it from the origin, for which a call does not wait long.
  const chart = () => read<Partial<ChartDocument>>('/chart')
  await expect.poll(async () => (await chart()).sections?.[0]?.seats.length).toBe(12)
  expect(await chart()).toMatchObject({ version: 1 })

  const token = await admitted(system.edgeUrl, SALE)
  const updates = new Map<string, number>()
  const received = (data: string) => {
    const { section_id, available_seats } = JSON.parse(data) as SectionUpdate
    updates.set(section_id, available_seats)
  }
  stops.push(
    listen(at('/sections/updates'), { authorization: `Bearer ${token}` }, { answered() {}, received, ended() {} }),
  )
  await expect.poll(() => [...updates]).toEqual(await left())

  const lines = [{ section_id: 'stalls', seats: ['S1'] }]
  expect(await checkout(token, { lines })).toMatchObject({ status: 201 })
  await expect.poll(() => updates.get('stalls')).toBe(11)
  await expect.poll(left).toContainEqual(['stalls', 11])
  const packed = async () => (await read<AvailabilityDocument>('/sections/stalls/availability')).seats
  await expect.poll(packed).toBe(Buffer.from([0b00_01_00_00, 0, 0]).toString('base64'))
  const page = await read<{ seats: { status: string }[] }>('/sections/stalls/seats?page=1&page_size=2', token)
  expect(page.seats.map(({ status }) => status)).toEqual(['available', 'held'])
})
