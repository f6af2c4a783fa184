/** What several callers searched for and did not find is told to operators; what one did is stored nowhere as text. */
import { expect, test } from 'vitest'
import { useOrigin } from '../../test/lib/origin-process.ts'
import { deleteMisses } from './search-misses.ts'

const origin = useOrigin()
const callers = ['a', 'b', 'c'].map((letter) => letter.repeat(16))

const tell = async (...misses: { query: string; caller: string; count: number }[]) => {
  const body = { misses }
  const told = await origin.call('POST', '/internal/search/misses', { token: origin.edgeToken, body })
  expect(told.status).toBe(204)
}
const list = async (query: string, from = '') => {
  const { body } = await origin.admin('GET', `/search/misses${from}`)
  return (body as { misses: { query: string }[] }).misses.filter((one) => one.query === query)
}

test('tells a search once three callers made it, and counts it from the first', async () => {
  const [one = '', two = '', three = ''] = callers
  const query = 'zeppelin'
  await tell({ query, caller: one, count: 5 }, { query, caller: two, count: 1 })
  await tell({ query, caller: two, count: 1 }, { query: 'my secret', caller: one, count: 90 })
  expect(await list(query)).toEqual([])
  await tell({ query, caller: three, count: 1 })
  const today = new Date().toISOString().slice(0, 10)
  expect(await list(query)).toEqual([{ query, searches: 8, callers: 3, last_day: today }])
  await tell({ query, caller: one, count: 2 })
  expect(await list(query)).toMatchObject([{ searches: 10, callers: 3 }])
  expect(await list('my secret')).toEqual([])
  expect(await origin.sql()`select from search_misses where query = 'my secret'`).toHaveLength(0)
})

test('adds up the days since a time, and forgets old ones', async () => {
  const sql = origin.sql()
  const day = (ago: number) => new Date(Date.now() - ago * 86_400_000).toISOString().slice(0, 10)
  for (const [ago, searches] of [
    [1, 4],
    [3, 5],
    [500, 7],
  ] as const)
    await sql`insert into search_misses values (${day(ago)}, 'airship', ${searches}, 3)`
  expect(await list('airship')).toEqual([{ query: 'airship', searches: 9, callers: 3, last_day: day(1) }])
  expect(await list('airship', `?from=${day(2)}T00:00:00Z`)).toMatchObject([{ searches: 4 }])
  expect((await origin.admin('GET', '/search/misses?from=yesterday')).status).toBe(422)
  expect(await deleteMisses(sql, 400, 10)).toBe(1)
})
