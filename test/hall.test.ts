/** A hall through edge and origin: what everyone reads, and what those see whose turn it is, as a place is sold. */
import postgres from 'postgres'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { listen } from '../bench/lib/event-stream.ts'
import { addHall } from '../origin/seats/testing.ts'
import type { AvailabilityDocument, ChartDocument, SectionsDocument, SectionUpdate } from '../shared/api/hall.ts'
import type { QueueAnswer } from '../shared/api/public.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
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

const at = (path: string) => `${system.edgeUrl}/sales/${SALE}${path}`
const read = async <T>(path: string, init: RequestInit = {}) => (await (await fetch(at(path), init)).json()) as T
const headersWith = (token = '') => ({ authorization: `Bearer ${token}` })

async function admitted(): Promise<string> {
  const { queue_token } = await read<QueueAnswer>('/queue', { method: 'POST' })
  let token: string | undefined
  const isCalled = async () => {
    token = (await read<QueueAnswer>('/queue/status', { headers: headersWith(queue_token) })).admission_token
    return token !== undefined
  }
  await expect.poll(isCalled).toBe(true)
  return token ?? ''
}

test('a place that is taken is gone for all who look on', async () => {
  const left = async () => {
    const { sections } = await read<SectionsDocument>('/sections')
    return sections.map(({ section_id, available_seats }) => [section_id, available_seats])
  }
  await expect.poll(left).toEqual([
    ['stalls', 12],
    ['floor-1', 5],
  ])
  const { version, sections } = await read<ChartDocument>('/chart')
  expect([version, sections[0]?.seats.length]).toEqual([1, 12])

  const headers = headersWith(await admitted())
  const updates = new Map<string, number>()
  const received = (data: string) => {
    const { section_id, available_seats } = JSON.parse(data) as SectionUpdate
    updates.set(section_id, available_seats)
  }
  stops.push(listen(at('/sections/updates'), headers, { answered() {}, received, ended() {} }))
  await expect.poll(() => [...updates]).toEqual(await left())

  const body = JSON.stringify({ lines: [{ section_id: 'stalls', seats: ['S1'] }] })
  const buy = async () => {
    const more = { 'content-type': 'application/json', 'idempotency-key': 'one' }
    return (await fetch(at('/checkout'), { method: 'POST', headers: { ...headers, ...more }, body })).status
  }
  await expect.poll(buy).toSatisfy((status) => status === 200 || status === 201)
  await expect.poll(() => updates.get('stalls')).toBe(11)
  await expect.poll(left).toContainEqual(['stalls', 11])
  const packed = async () => (await read<AvailabilityDocument>('/sections/stalls/availability')).seats
  await expect.poll(packed).toBe(Buffer.from([0b00_01_00_00, 0, 0]).toString('base64'))
  const page = await read<{ seats: { status: string }[] }>('/sections/stalls/seats?page=1&page_size=2', { headers })
  expect(page.seats.map(({ status }) => status)).toEqual(['available', 'held'])
})
