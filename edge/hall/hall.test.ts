/** The edge serves a hall: public data from memory, and the data for visitors whose turn it is from the origin. */
import { expect, it, vi } from 'vitest'
import type { AvailabilityDocument, SectionsDocument } from '../../shared/api/hall.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { stopClock } from '../testing/clocks.ts'
import { requestsTo, stub } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { admission, call, TestSale } from '../testing/visitors.ts'

const section = (id: string, type: 'reserved' | 'general_admission', available: number) => ({
  ...product(available, 1, 2),
  product_id: id,
  name: `The ${id}`,
  section_type: type,
})
const HALL = {
  chart_version: 3,
  products: [section('stalls', 'reserved', 97), section('floor', 'general_admission', 40), product(5)],
}

it('serves the sections of a hall from the snapshot of the sale, with an ETag while nothing changes', async () => {
  const sale = await new TestSale().publish(HALL)
  const path = `/sales/${sale.name}/sections`
  const response = await call(path)
  expect(Object.fromEntries(response.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.current))
  const { as_of, ...document } = await response.json<SectionsDocument>()
  const price = { price_minor: 100, currency: 'EUR' }
  expect(document).toEqual({
    sale: sale.name,
    version: 3,
    sections: [
      { section_id: 'stalls', name: 'The stalls', type: 'reserved', total_seats: 100, available_seats: 97, ...price },
      {
        section_id: 'floor',
        name: 'The floor',
        type: 'general_admission',
        total_seats: 43,
        available_seats: 40,
        ...price,
      },
    ],
  })
  expect(Math.abs(Date.parse(as_of) - Date.now())).toBeLessThan(60_000)
  const headers = { 'if-none-match': response.headers.get('etag') ?? '' }
  await sale.untilAskedAgain()
  expect((await call(path, { headers })).status).toBe(304)
  await sale.publish({ products: [section('stalls', 'reserved', 96)] })
  await sale.push()
  const changed = await call(path, { headers })
  expect((await changed.json<SectionsDocument>()).sections).toMatchObject([{ available_seats: 96 }])
  const origin = await requestsTo(`/internal/sales/${sale.name}/availability`)
  expect(origin.calls).toBe(0)
})

it('says in the public document at which version the chart is', async () => {
  const sale = await new TestSale().publish(HALL)
  const publicSale = async () => (await call(`/sales/${sale.name}`, { headers: { accept: 'application/json' } })).json()
  expect(await publicSale()).toMatchObject({ chart_version: 3, products: [{ section_type: 'reserved' }, {}, {}] })
})

it('serves the chart of the current version for good, and leads there from any other address', async () => {
  const sale = await new TestSale().publish(HALL)
  const path = `/sales/${sale.name}/chart`
  await stub(`/internal${path}`, 200, { version: 3, sections: [] })
  for (const wrong of ['', '?v=2', '?v=03', '?v=']) {
    const redirect = await call(path + wrong)
    expect([redirect.status, redirect.headers.get('location')]).toEqual([302, `${path}?v=3`])
    expect(redirect.headers.get('cache-control')).toBe('public, max-age=1')
  }
  const many = await Promise.all(Array.from({ length: 20 }, () => call(`${path}?v=3`)))
  for (const one of many) expect(await one.json()).toEqual({ version: 3, sections: [] })
  const [first] = many as [Response]
  expect(first.headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
  const headers = { 'if-none-match': first.headers.get('etag') ?? '' }
  expect((await call(`${path}?v=3`, { headers })).status).toBe(304)
  const { calls, requests } = await requestsTo(`/internal${path}`)
  expect([calls, requests[0]?.query]).toEqual([1, 'v=3'])
})

it('has no chart for a sale without a hall', async () => {
  const sale = await new TestSale().publish()
  expect((await call(`/sales/${sale.name}/chart`)).status).toBe(404)
  expect((await call(`/sales/${sale.name}/sections/lamp/availability`)).status).toBe(404)
  expect(await (await call(`/sales/${sale.name}/sections`)).json()).toMatchObject({ version: null, sections: [] })
})

it('serves the seats of all sections from one call of the origin a second', async () => {
  const sale = await new TestSale().publish(HALL)
  const source = `/internal/sales/${sale.name}/availability`
  await stub(source, 200, { version: 3, sections: { stalls: 'GA==', floor: '' } })
  const path = (name: string) => `/sales/${sale.name}/sections/${name}/availability`
  await sale.schedule()
  stopClock()
  const ask = (name: string) => call(path(name))
  const many = await Promise.all(Array.from({ length: 20 }, (_, i) => ask(i % 2 === 0 ? 'stalls' : 'floor')))
  const [stalls, floor] = many as [Response, Response]
  expect(await stalls.json()).toEqual({
    section_id: 'stalls',
    version: 3,
    seats: 'GA==',
  } satisfies AvailabilityDocument)
  expect(await floor.json()).toMatchObject({ section_id: 'floor', seats: '' })
  expect(Object.fromEntries(stalls.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.current))
  const headers = { 'if-none-match': stalls.headers.get('etag') ?? '' }
  expect((await call(path('stalls'), { headers })).status).toBe(304)
  expect([(await ask('balcony')).status, (await ask('lamp')).status]).toEqual([404, 404])
  expect((await requestsTo(source)).calls).toBe(1)
  vi.setSystemTime(Date.now() + 1_100)
  await ask('stalls')
  expect((await requestsTo(source)).calls).toBe(2)
})

it('asks an origin in trouble once for a crowd, and again after a moment', async () => {
  const sale = await new TestSale().publish(HALL)
  const source = `/internal/sales/${sale.name}/availability`
  await stub(source, 500, {})
  const path = `/sales/${sale.name}/sections/stalls/availability`
  await sale.schedule()
  stopClock()
  for (let times = 0; times < 5; times++) expect((await call(path)).status).toBe(503)
  expect((await requestsTo(source)).calls).toBe(1)
  await stub(source, 200, { version: 3, sections: { stalls: 'GA==' } })
  vi.setSystemTime(Date.now() + 1_100)
  expect((await call(path)).status).toBe(200)
})

it('serves the last states of the seats with their time while the origin is away', async () => {
  const sale = await new TestSale().publish(HALL)
  const source = `/internal/sales/${sale.name}/availability`
  await stub(source, 200, { version: 3, sections: { stalls: 'GA==' } })
  const path = `/sales/${sale.name}/sections/stalls/availability`
  await sale.schedule()
  stopClock()
  await call(path)
  const as_of = new Date().toISOString()
  await stub(source, 503, {})
  vi.setSystemTime(Date.now() + 5_000)
  const old = await call(path)
  expect(await old.json()).toEqual({ section_id: 'stalls', version: 3, seats: 'GA==', as_of })
  expect(Object.fromEntries(old.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.current))
  await stub(source, 200, { version: 3, sections: { stalls: 'AA==' } })
  vi.setSystemTime(Date.now() + 1_100)
  expect(await (await call(path)).json()).toEqual({ section_id: 'stalls', version: 3, seats: 'AA==' })
})

it('passes on who was admitted to the seats and to the stream of a hall, and nobody else', async () => {
  const sale = await new TestSale().publish(HALL)
  const [seats, updates] = [`/sales/${sale.name}/sections/stalls/seats`, `/sales/${sale.name}/sections/updates`]
  for (const path of [seats, updates]) expect((await call(path)).status).toBe(429)
  const headers = { authorization: `Bearer ${await admission(sale.name)}` }
  await stub(seats, 200, { section_id: 'stalls', seats: [] })
  expect(await (await call(`${seats}?page=2&page_size=50`, { headers })).json()).toMatchObject({ seats: [] })
  const [asked] = (await requestsTo(seats)).requests
  expect(asked).toMatchObject({ query: 'page=2&page_size=50', headers })

  await stub(updates, 200, 'id: x.1\ndata: {}\n\n', 0, { 'content-type': 'text/event-stream' })
  const stream = await call(updates, { headers: { ...headers, 'last-event-id': 'x.1' } })
  expect([stream.headers.get('content-type'), stream.headers.get('cache-control')]).toEqual([
    'text/event-stream',
    'no-store',
  ])
  expect(await stream.text()).toContain('data: {}')
  const [followed] = (await requestsTo(updates)).requests
  expect(followed?.headers).toMatchObject({ accept: 'text/event-stream', 'last-event-id': 'x.1' })
})
