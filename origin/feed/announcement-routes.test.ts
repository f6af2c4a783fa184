import { expect, test } from 'vitest'
import { counted, useOrigin } from '../../test/origin-process.ts'
import { PastAnnouncementPages } from './announcement-queries.ts'

const origin = useOrigin()
const toldToEdge = async (sale: string) =>
  (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.announcement

test('an announcement takes the place of the one before, and the edge is told', async () => {
  const sale = await origin.sale()
  expect(await toldToEdge(sale)).toBeNull()
  const put = (text: string, level = 'info') =>
    origin.admin('PUT', `/sales/${sale}/announcement`, { level, text: { en: text } })
  await put('More vinyl at three.')
  const { body } = await put('The card machine is slow.', 'warning')
  expect(await toldToEdge(sale)).toMatchObject({
    level: 'warning',
    text: { en: 'The card machine is slow.' },
    since: body.since,
  })
  expect(body).toMatchObject({ operator: 'admin', until: null })
  expect(await origin.admin('DELETE', `/sales/${sale}/announcement`)).toMatchObject({ status: 204 })
  expect(await toldToEdge(sale)).toBeNull()
  const listed = await origin.admin('GET', `/sales/${sale}/announcements`)
  const times = { since: expect.stringMatching(/Z$/), until: expect.stringMatching(/Z$/) }
  expect(listed.body.announcements).toMatchObject([
    { text: { en: 'The card machine is slow.' }, ...times },
    { text: { en: 'More vinyl at three.' }, ...times },
  ])
})

test('an announcement needs a text in a language that the pages speak', async () => {
  const sale = await origin.sale()
  for (const text of [{}, { en: ' ' }, { xx: 'Hello' }, { en: 'x'.repeat(501) }])
    expect(await origin.admin('PUT', `/sales/${sale}/announcement`, { text })).toMatchObject({ status: 422 })
})

test('a pause shows its reason until the sale goes on', async () => {
  const sale = await origin.sale()
  const reason = { en: 'We mend the payment.' }
  const told = async () =>
    (await origin.call('GET', `/internal/sales/${sale}`, { token: origin.edgeToken })).body.pause_reason
  expect(await origin.admin('POST', `/sales/${sale}/pause`, { reason })).toMatchObject({
    body: { pause_reason: reason },
  })
  expect(await told()).toEqual(reason)
  await origin.admin('POST', `/sales/${sale}/resume`)
  expect(await told()).toBeNull()
  expect(await origin.admin('POST', `/sales/${sale}/pause`)).toMatchObject({
    status: 200,
    body: { pause_reason: null },
  })
})

test('earlier announcements are listed as they were written, in pages from the oldest that never change', async () => {
  const sale = await origin.sale()
  const past = async (page?: number) =>
    origin.call('GET', `/internal/sales/${sale}/announcements${page === undefined ? '' : `?page=${page}`}`, {
      token: origin.edgeToken,
    })
  expect((await past()).body).toEqual({ page: 1, older: null, announcements: [] })
  const put = (text: string) => origin.admin('PUT', `/sales/${sale}/announcement`, { text: { en: text, de: 'Hallo' } })
  for (let i = 1; i <= 21; i++) await put(`Number ${i}`)
  // The last one is still shown.
  const oldest = await past()
  expect(oldest.body).toMatchObject({ page: 1, older: null })
  const listed = oldest.body.announcements as { text: { en: string } }[]
  expect(listed.map(({ text }) => text.en)).toEqual(Array.from({ length: 20 }, (_, i) => `Number ${20 - i}`))
  expect(listed[0]).toEqual({
    id: expect.any(String),
    level: 'info',
    text: { en: 'Number 20', de: 'Hallo' },
    since: expect.stringMatching(/Z$/),
    until: expect.stringMatching(/Z$/),
  })
  await origin.admin('DELETE', `/sales/${sale}/announcement`)
  expect((await past()).body).toMatchObject({ page: 2, older: 1, announcements: [{ text: { en: 'Number 21' } }] })
  expect((await past(1)).body).toEqual(oldest.body)
  for (const none of [0, 3, 1.5]) expect(await past(none)).toMatchObject({ status: 404 })
})

test('absent pages, however many, cost the ledger a query a second', async () => {
  const sale = await origin.sale()
  const { sql, statements } = counted(origin.sql())
  const pages = new PastAnnouncementPages(sql)
  const absent = Array.from({ length: 998 }, (_, i) => i + 2)
  const read = (nowMs: number) => Promise.all(absent.map((page) => pages.read(sale, page, nowMs)))
  for (const nowMs of [0, 999]) expect(await read(nowMs)).toEqual(absent.map(() => null))
  expect(statements()).toBe(1)
  await read(1_000)
  expect(statements()).toBe(2)
})
