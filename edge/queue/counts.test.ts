/**
 * What is counted of those who join reaches the waiting room's storage, and the origin, though nobody asks for the
 * sale afterwards.
 */
import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { expect, it } from 'vitest'
import type { JoinCounts } from '../../shared/api/internal.ts'
import { edgeEnv, requestsTo } from '../testing/origin.ts'
import { knownCookie, TestSale } from '../testing/visitors.ts'
import { CountSum } from './counts.ts'

const CROWD = 30

it('the origin learns of all joins of a burst before a quiet lobby, even if objects are evicted', async () => {
  const sale = await new TestSale(3_600_000).publish()
  const cookieOf = (i: number) => (i % 2 === 0 ? {} : { cookie: knownCookie(`one-of-a-burst-${i}`) })
  await Promise.all(Array.from({ length: CROWD }, (_, i) => sale.joined(cookieOf(i))))
  const stored = () =>
    runInDurableObject(sale.room, (_, { storage }) => storage.kv.get<{ joined: number }>('counts')?.joined)
  await expect.poll(stored).toBe(CROWD)
  await abortAllDurableObjects()
  await sale.push()
  const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
  const queries = requests.map(({ query }) => new URLSearchParams(query))
  expect(queries.at(-1)?.get('joined')).toBe(`${CROWD}`)
  const counted = queries.map((query): Partial<JoinCounts> => JSON.parse(query.get('counts') ?? '{}'))
  expect(counted.reduce((sum, { joins = 0 }) => sum + joins, 0)).toBe(CROWD)
})

it('what nobody answered is counted, and sent again', async () => {
  const counts = new CountSum()
  counts.add({ joins: 2, refusals: { blocked: 1 } })
  await expect(counts.send(() => Promise.reject(new Error('away')))).rejects.toThrow('away')
  counts.add({ joins: 3 })
  const sent = await counts.send(async (sum) => sum)
  expect(sent).toMatchObject({ joins: 5, refusals: { blocked: 1 } })
  expect(counts.isEmpty()).toBe(true)
})

it('of many sources the frequent ones are counted by name, and each join once', () => {
  const counts = new CountSum()
  for (let i = 0; i < 300; i++) counts.add({ joins: 1, sources: { [`made-up-${i}`]: 1 } })
  for (let i = 0; i < 9; i++) counts.add({ joins: 1, sources: { newsletter: 1 } })
  const { joins, sources } = counts.sum()
  expect(sources.newsletter).toBe(9)
  expect(Object.keys(sources).length).toBeLessThanOrEqual(41)
  expect(Object.values(sources).reduce((all, many) => all + many)).toBe(joins)
})

it('joins are counted by the number of their network, and the rarest networks are left out', async () => {
  const sale = await new TestSale().publish()
  const env = { ...edgeEnv, ASN_HEADER: 'x-asn' }
  for (const asn of ['AS64500', '64500', 'none']) await sale.joined({ 'x-asn': asn }, env)
  const sent = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const counts = requests.map(({ query }) => JSON.parse(new URLSearchParams(query).get('counts') ?? '{}'))
    return counts.reduce((sum, { networks = {} }) => sum + (networks['64500']?.[0] ?? 0), 0)
  }
  await expect.poll(sent).toBe(2)
  const counts = new CountSum()
  counts.add({ networks: { '1': [9, 0], '2': [0, 9] } })
  for (let i = 10; i < 300; i++) counts.add({ networks: { [i]: [1, 0] } })
  const { networks } = counts.sum()
  expect([networks['1'], networks['2'], Object.keys(networks).length]).toEqual([[9, 0], [0, 9], 60])
})

it('of a session the latest news counts, and what does not fit is sent with the next sum', async () => {
  const counts = new CountSum()
  counts.add({ sessions: { '1': 300, '2~vip': 300 } })
  await expect(
    counts.send(() => {
      counts.add({ sessions: { '1': 0 } })
      return Promise.reject(new Error('away'))
    }),
  ).rejects.toThrow('away')
  expect(counts.sum().sessions).toEqual({ '1': 0, '2~vip': 300 })
  const names = Array.from({ length: 450 }, (_, i) => String(10 + i))
  for (const name of names) counts.add({ sessions: { [name]: 300 } })
  const sent: string[] = []
  while (!counts.isEmpty()) {
    const { sessions = {} } = counts.drain() ?? {}
    expect(Object.keys(sessions).length).toBeLessThanOrEqual(200)
    sent.push(...Object.keys(sessions))
  }
  expect(sent.sort()).toEqual(['1', '2~vip', ...names].sort())
})
