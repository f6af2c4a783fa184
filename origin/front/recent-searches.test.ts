/** The edge reads and changes the latest searches of signed-in visitors. */
import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'
import type { Store } from '../stock/scripts.ts'
import { deleteSearches, RecentSearches } from './recent-searches.ts'

const origin = useOrigin()
const visitorNamed = () => `account:${randomUUID()} ü`
const ask = (method: string, visitor: string, query = '', body?: object) =>
  origin.call(method, `/internal/searches${query}`, {
    token: origin.edgeToken,
    headers: { 'edge-visitor': encodeURIComponent(visitor) },
    ...(body && { body }),
  })
const read = async (visitor: string) => (await ask('GET', visitor)).body.searches
const add = (visitor: string, q: string) => ask('POST', visitor, '', { q })

test('keeps the latest ten, the newest first, one each whatever the case or spaces', async () => {
  const visitor = visitorNamed()
  expect(await read(visitor)).toEqual([])
  for (let n = 1; n <= 11; n++) await add(visitor, `search ${n}`)
  expect(await add(visitor, '  SEARCH   5 ')).toMatchObject({ status: 200 })
  const kept = ['SEARCH 5', ...[11, 10, 9, 8, 7, 6, 4, 3, 2].map((n) => `search ${n}`)]
  expect(await read(visitor)).toEqual(kept)
  expect(await read(visitorNamed())).toEqual([])
})

test('deletes one, or all, and forgets them with the visitor', async () => {
  const visitor = visitorNamed()
  for (const q of ['a', 'b', 'c']) await add(visitor, q)
  expect((await ask('DELETE', visitor, '?q=B')).body.searches).toEqual(['c', 'a'])
  await ask('DELETE', visitor)
  expect(await read(visitor)).toEqual([])
  await add(visitor, 'again')
  await origin.admin('DELETE', `/visitors/${encodeURIComponent(visitor)}`)
  expect(await read(visitor)).toEqual([])
  expect(await origin.sql()`select from recent_searches where visitor = ${visitor}`).toHaveLength(0)
})

test('deletes them for good, also where Redis did not answer then', async () => {
  const visitor = visitorNamed()
  await add(visitor, 'a secret')
  expect(await read(visitor)).toEqual(['a secret'])
  const away = new Proxy({} as Store, { get: () => () => Promise.reject(new Error('away')) })
  const searches = new RecentSearches({ sql: origin.sql(), redis: away, log: pino({ level: 'silent' }) })
  expect(await searches.remove(visitor, undefined)).toEqual([])
  await expect.poll(() => read(visitor)).toEqual([])
  await expect.poll(() => origin.sql()`select from stale_search_lists where visitor = ${visitor}`).toEqual([])
})

test('keeps none for longer than 30 days', async () => {
  const visitor = visitorNamed()
  await origin.sql()`
    insert into recent_searches (visitor, words, q, at) values
      (${visitor}, 'old', 'old', now() - interval '31 days'), (${visitor}, 'new', 'new', now() - interval '29 days')`
  expect(await read(visitor)).toEqual(['new'])
  await deleteSearches(origin.sql(), 500)
  expect(await origin.sql()`select q from recent_searches where visitor = ${visitor}`).toMatchObject([{ q: 'new' }])
})

test('refuses what is no search, and who is not the edge', async () => {
  const visitor = visitorNamed()
  for (const q of ['', '  ', 'a'.repeat(201), '\0', 7]) expect((await add(visitor, q as string)).status).toBe(422)
  expect((await origin.call('GET', '/internal/searches', { token: origin.edgeToken })).status).toBe(401)
  expect((await origin.call('GET', '/internal/searches', { headers: { 'edge-visitor': visitor } })).status).toBe(401)
})

test('what many write at once is a list of ten, the same in every store', async () => {
  const visitor = visitorNamed()
  await Promise.all(Array.from({ length: 20 }, (_, n) => add(visitor, `at once ${n}`)))
  const listed = (await read(visitor)) as string[]
  expect(new Set(listed).size).toBe(10)
  const rows = await origin.sql()`select q from recent_searches where visitor = ${visitor} order by at desc, words`
  expect(rows.map(({ q }) => q)).toEqual(listed)
})
