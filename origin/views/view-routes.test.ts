/** What operators see of views, and the rules that they set. */
import { expect, test } from 'vitest'
import type { ViewEvent } from '../../shared/api/views/view-events.ts'
import { useOwnOrigin } from '../../test/lib/origin-process.ts'
import { viewOf } from './testing.ts'

const origin = useOwnOrigin()

const send = async (...events: ViewEvent[]) => {
  const sent = await origin.call('POST', '/internal/views', { token: origin.edgeToken, body: { dropped: 0, events } })
  expect(sent.status).toBe(204)
}
const views = async (sale: string, query = '') => (await origin.admin('GET', `/sales/${sale}/views${query}`)).body
const counted = (sale: string, n: number) =>
  expect
    .poll(async () => {
      const { counted, dropped } = await views(sale)
      return Number(counted) + Number(dropped)
    })
    .toBe(n)
const rulesNow = async () => (await origin.admin('GET', '/view-rules')).body.rules as Record<string, unknown>[]
const putRules = (rules: object[]) => origin.admin('PUT', '/view-rules', { rules })

test('views are counted within seconds: by what is asked, with visitors, rules and examples', async () => {
  const sale = await origin.sale()
  const phone = viewOf({ sale, source: 'newsletter', country: 'DE', asn: 3320, language: 'de' })
  const stays = { ...phone, seen_seconds: 15 }
  await send(phone, stays, viewOf({ sale, page: 'line' }), viewOf({ sale, device: 'bot' }))
  await counted(sale, 3)
  expect(await views(sale)).toMatchObject({
    ...{ counted: 2, dropped: 1, uniques: 2, mean_seconds: 7.5, by_rule: [{ rule: 'bots', dropped: 1 }] },
    ...{ rows: [{ key: expect.stringMatching(/^\d{4}-.*:\d\dZ$/), counted: 2, dropped: 1, uniques: null }] },
    ...{ as_of: expect.stringMatching(/Z$/), behind_seconds: expect.any(Number) },
  })
  const by = async (key: string) => (await views(sale, `?by=${key}`)).rows
  const [one, typed] = [
    { counted: 1, uniques: 1 },
    { key: 'typed', counted: 1, dropped: 1 },
  ]
  expect(await by('source')).toMatchObject([typed, { key: 'newsletter', ...one }])
  expect(await by('page')).toMatchObject([
    { key: 'sale', counted: 1, dropped: 1 },
    { key: 'line', ...one },
  ])
  expect(await by('network')).toMatchObject([{ key: '203.0.113.0/24' }, { key: 'AS3320', ...one }])
  expect(await by('country')).toMatchObject([{ key: 'unknown' }, { key: 'DE', ...one }])
  expect((await origin.admin('GET', `/sales/${sale}/views?by=visitor`)).status).toBe(422)
  const { rows } = (await origin.admin('GET', `/sales/${sale}/funnel?by=source`)).body
  expect(rows).toMatchObject(expect.arrayContaining([expect.objectContaining({ key: 'newsletter', views: 1 })]))
  const bots = (await rulesNow()).find(({ kind }) => kind === 'bots')
  expect(bots).toMatchObject({ rule: 'bots', on: true, dropped: 1, examples: [{ sale, device: 'bot', page: 'sale' }] })
  expect(JSON.stringify(bots)).not.toContain(phone.pseudonym)
})

test('rules are tried first, then in force, and what was counted before is counted again by them', async () => {
  const sale = await origin.sale()
  const events = [viewOf({ sale, asn: 64500, source: 'forum' }), viewOf({ sale })]
  await send(...events)
  await counted(sale, 2)
  const before = await rulesNow()
  const rules = [...before, { kind: 'networks', asns: [64500], note: 'the forum’s crawler' }]
  const tried = await origin.admin('POST', '/view-rules/try', { rules, sale, hours: 1 })
  expect(tried.body).toEqual({
    ...{ counted: 1, dropped: 1, by_rule: [{ rule: 'networks', dropped: 1 }] },
    more_dropped: [{ key: 'forum', views: 1 }],
  })
  expect((await rulesNow()).map(({ rule }) => rule)).toEqual(before.map(({ rule }) => rule))

  expect((await putRules(rules)).body.rules).toHaveLength(before.length + 1)
  const audited = (await origin.admin('GET', '/audit?action=view%20rules%20changed')).body
  expect(audited.entries).toMatchObject([{ operator: 'admin', after: { rules: expect.any(Array) } }])
  const minute = new Date(Math.floor((events[0]?.at_ms ?? 0) / 60_000) * 60_000)
  const from = minute.toISOString()
  const recount = async () => {
    const to = new Date(Math.floor(Date.now() / 60_000) * 60_000).toISOString()
    return origin.admin('POST', `/sales/${sale}/views/recount`, { from, to })
  }
  // The minute of the views has to be over.
  await origin.sql()`update view_log set at = at - interval '1 minute' where sale_id = ${sale}`
  await origin.sql()`update view_counts set minute = minute - interval '1 minute' where sale_id = ${sale}`
  const again = { from: new Date(minute.getTime() - 60_000).toISOString(), to: from }
  const first = await origin.admin('POST', `/sales/${sale}/views/recount`, again)
  expect(first.body).toEqual({ counted: 1, dropped: 1, before: { counted: 2, dropped: 0 } })
  const second = await origin.admin('POST', `/sales/${sale}/views/recount`, again)
  expect(second.body).toEqual({ counted: 1, dropped: 1, before: { counted: 1, dropped: 1 } })
  expect(await views(sale)).toMatchObject({ counted: 1, dropped: 1, by_rule: [{ rule: 'networks', dropped: 1 }] })
  expect((await origin.admin('POST', `/sales/${sale}/views/recount`, { from: again.to, to: again.from })).status).toBe(
    422,
  )
  expect((await recount()).status).toBeOneOf([200, 422])

  // The worker has the rules soon.
  await expect
    .poll(async () => {
      await send(viewOf({ sale, asn: 64500 }))
      return (await views(sale)).dropped
    })
    .toBeGreaterThan(1)
  await putRules(before)
})

test.each([
  [[{ kind: 'repeat', minutes: 0 }], 'rules.0.minutes'],
  [[{ kind: 'bots' }, { kind: 'staff', addresses: ['203.0.113.0/25'] }], 'rules.1.addresses.0'],
  [[{ kind: 'addresses', list: ['somewhere'] }], 'rules.0.list.0'],
  [[{ kind: 'owls' }], 'rules.0'],
  [
    [
      { kind: 'bots', rule: 'one' },
      { kind: 'data_centres', rule: 'one' },
    ],
    'rules',
  ],
])('names the wrong rule of %j', async (rules, field) => {
  const { status, body } = await putRules(rules)
  expect([status, body.errors]).toMatchObject([422, [{ field: expect.stringContaining(field) }]])
})

test('a warehouse reads counted views by cursor, each once', async () => {
  const sale = await origin.sale()
  const all = Array.from({ length: 5 }, () => viewOf({ sale, source: 'feed' }))
  const read = async (after: string) => {
    const { body } = await origin.admin('GET', `/sales/${sale}/views/export?after=${after}`)
    return String(body.text ?? '')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, string>)
  }
  await send(...all.slice(0, 3), viewOf({ sale, device: 'bot' }))
  await counted(sale, 4)
  const lines = await read('0')
  expect(lines.map(({ view }) => view)).toEqual([...all.slice(0, 3).map(({ view }) => view), undefined])
  await send(
    { ...viewOf({ sale }), pseudonym: all[0]?.pseudonym ?? '', address: all[0]?.address ?? '' },
    ...all.slice(3),
  )
  await counted(sale, 7)
  const later = await read(lines.at(-1)?.cursor ?? '')
  expect(later.slice(0, -1)).toMatchObject(all.slice(3).map(({ view }) => ({ view, source: 'feed', page: 'sale' })))
  expect(later.at(-1)).toEqual({ cursor: expect.any(String), more: false })
})
