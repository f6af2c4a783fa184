import { expect, it, vi } from 'vitest'
import { CACHE_TTL, cacheHeaders } from '../cache.ts'
import { call, requestsTo, stopClock, stub, TestSale } from '../testing/visitors.ts'

const past = (id: string) => ({
  id,
  level: 'info',
  text: { en: `Number ${id}` },
  since: '2026-11-21T12:00:00.000Z',
  until: '2026-11-21T12:05:00.000Z',
})

it('serves earlier announcements from memory, a full page for long, with an ETag', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/announcements`
  await stub(`/internal${path}`, 200, { page: 2, older: 1, announcements: [past('21')] })
  await sale.schedule()
  // However long the calls take, they are of one moment.
  stopClock()
  const many = await Promise.all(Array.from({ length: 20 }, () => call(path)))
  vi.useRealTimers()
  const newest = many[0] as Response
  expect(Object.fromEntries(newest.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.landing))
  expect(await newest.json()).toMatchObject({ page: 2, older: 1, announcements: [{ text: { en: 'Number 21' } }] })
  const { calls, requests } = await requestsTo(`/internal${path}`)
  expect(calls).toBe(1)
  expect(requests[0]?.query).toBe('')

  const full = Array.from({ length: 20 }, (_, i) => past(String(20 - i)))
  await stub(`/internal${path}`, 200, { page: 1, older: null, announcements: full })
  const first = await call(`${path}?page=1`)
  expect(Object.fromEntries(first.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.past))
  const etag = first.headers.get('etag') ?? ''
  expect((await call(`${path}?page=1`, { headers: { 'if-none-match': etag } })).status).toBe(304)
  for (const wrong of ['0', '-1', 'x', '1000', '']) expect((await call(`${path}?page=${wrong}`)).status).toBe(404)
})

it('answers pages that a sale has not without asking for them, and keeps the answer', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/announcements`
  await stub(`/internal${path}`, 200, { page: 2, older: 1, announcements: [past('21')] })
  await sale.schedule()
  stopClock()
  for (let page = 2; page < 40; page++) expect((await call(`${path}?page=${page}`)).status).toBe(page === 2 ? 200 : 404)
  const absent = await call(`${path}?page=3`)
  expect(Object.fromEntries(absent.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.landing))
  expect((await requestsTo(`/internal${path}`)).calls).toBe(1)
  await stub(`/internal${path}`, 0, {})
  expect((await call(`${path}?page=1`)).status).toBe(503)
})
