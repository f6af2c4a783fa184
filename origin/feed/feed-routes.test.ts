import sharp from 'sharp'
import { expect, test } from 'vitest'
import { ADMIN_TOKEN, counted, useOrigin } from '../../test/lib/origin-process.ts'
import { FeedPages } from './feed-pages.ts'

const origin = useOrigin()
const internal = (path: string) => origin.call('GET', `/internal/sales/${path}`, { token: origin.edgeToken })
const toldToEdge = async (sale: string) => (await internal(sale)).body.announcement
const feed = (sale: string, page?: number) => internal(`${sale}/feed${page === undefined ? '' : `?page=${page}`}`)

/** Uploads a small picture. */
async function upload() {
  const bytes = await sharp({ create: { width: 400, height: 200, channels: 3, background: '#00674b' } })
    .png()
    .toBuffer()
  const headers = { authorization: `Bearer ${ADMIN_TOKEN}`, 'content-type': 'image/png' }
  const response = await fetch(`${origin.url()}/admin/images`, { method: 'POST', headers, body: new Uint8Array(bytes) })
  return ((await response.json()) as { url: string }).url
}

test('an announcement takes the place of the one before, and the edge is told', async () => {
  const sale = await origin.sale()
  expect(await toldToEdge(sale)).toBeNull()
  const put = (text: string, level = 'info') =>
    origin.admin('PUT', `/sales/${sale}/announcement`, { level, text: { en: text } })
  await put('More vinyl at three.')
  const { body } = await put('The card machine is slow.', 'warning')
  const slow = { level: 'warning', text: { en: 'The card machine is slow.' } }
  expect(await toldToEdge(sale)).toMatchObject({ ...slow, since: body.since })
  expect(body).toMatchObject({ operator: 'admin', until: null })
  expect(await origin.admin('DELETE', `/sales/${sale}/announcement`)).toMatchObject({ status: 204 })
  expect(await toldToEdge(sale)).toBeNull()
  const listed = await origin.admin('GET', `/sales/${sale}/announcements`)
  const times = { since: expect.stringMatching(/Z$/), until: expect.stringMatching(/Z$/) }
  expect(listed.body.announcements).toMatchObject([
    { ...slow, ...times },
    { text: { en: 'More vinyl at three.' }, ...times },
  ])
  const { body: report } = await origin.admin('GET', `/sales/${sale}/report`)
  expect(report.announcements).toMatchObject([
    { text: { en: 'More vinyl at three.' }, ...times },
    { ...slow, ...times },
  ])
})

test('a pause shows its reason until the sale goes on', async () => {
  const sale = await origin.sale()
  const reason = { en: 'We mend the payment.' }
  const told = async () => (await internal(sale)).body.pause_reason
  const pause = (body?: object) => origin.admin('POST', `/sales/${sale}/pause`, body)
  expect(await pause({ reason })).toMatchObject({ body: { pause_reason: reason } })
  expect(await told()).toEqual(reason)
  await origin.admin('POST', `/sales/${sale}/resume`)
  expect(await told()).toBeNull()
  expect(await pause()).toMatchObject({ status: 200, body: { pause_reason: null } })
})

test('a post is in the feed with its picture and number; an urgent one is the announcement until the next', async () => {
  const sale = await origin.sale()
  const post = (body: object) => origin.admin('POST', `/sales/${sale}/feed`, body)
  const image = { url: await upload(), alt: 'A wave' }
  const text = { en: '<script>alert(1)</script>\nWe dye by hand.', de: 'Von Hand.' }
  const first = await post({ text, image })
  expect(first).toMatchObject({ status: 201, body: { n: 1, urgent: false, shown: false, operator: 'admin' } })
  expect(await toldToEdge(sale)).toBeNull()
  const urgent = await post({ text: { en: 'Only a few are left.' }, urgent: true })
  expect(urgent).toMatchObject({ body: { n: 2, shown: true } })
  expect(await toldToEdge(sale)).toMatchObject({ id: '2', level: 'warning', text: { en: 'Only a few are left.' } })
  await origin.admin('PUT', `/sales/${sale}/announcement`, { text: { en: 'More at three.' } })
  const at = expect.stringMatching(/Z$/)
  const picture = { ...image, width: 400, height: 200, widths: [320] }
  const newest = [
    { n: 3, at, urgent: true, text: { en: 'More at three.' } },
    { n: 2, at, urgent: true, text: { en: 'Only a few are left.' } },
    { n: 1, at, urgent: false, text, image: picture },
  ]
  await expect.poll(async () => (await feed(sale)).body).toEqual({ latest: 3, posts: newest })

  expect(await origin.admin('DELETE', `/sales/${sale}/feed/3`)).toMatchObject({ status: 204 })
  expect(await toldToEdge(sale)).toBeNull()
  await expect.poll(async () => (await feed(sale)).body).toEqual({ latest: 3, posts: newest.slice(1), retracted: [3] })
  for (const none of ['3', '4', '0', 'x', '9999999999'])
    expect(await origin.admin('DELETE', `/sales/${sale}/feed/${none}`)).toMatchObject({ status: 404 })
  expect((await origin.admin('GET', `/sales/${sale}/feed`)).body.posts).toMatchObject([
    { n: 3, removed_at: at },
    { n: 2, removed_at: null, shown: false },
    { n: 1 },
  ])
})

test('a post or an announcement without a text in a language of the pages, or with a picture that is none of ours, is refused', async () => {
  const sale = await origin.sale()
  const text = { en: 'Hello' }
  const none = { url: `/images/${'0'.repeat(32)}` }
  for (const wrong of [{}, { en: ' ' }, { xx: 'Hello' }, { en: 'x'.repeat(501) }])
    for (const [method, path] of [
      ['PUT', 'announcement'],
      ['POST', 'feed'],
    ] as const)
      expect(await origin.admin(method, `/sales/${sale}/${path}`, { text: wrong })).toMatchObject({ status: 422 })
  for (const body of [{}, { text, urgent: 'yes' }, { text, image: none }, { text, more: 1 }])
    expect(await origin.admin('POST', `/sales/${sale}/feed`, body)).toMatchObject({ status: 422 })
  for (const page of [undefined, 1]) expect((await feed(sale, page)).body).toEqual({ latest: 0, posts: [] })
})

test('a post is edited, put on top until a time, and taken from there', async () => {
  const sale = await origin.sale()
  const to = (n: number, change: object) => origin.admin('PATCH', `/sales/${sale}/feed/${n}`, change)
  const version = async () => Number((await internal(sale)).body.feed_version)
  await origin.admin('POST', `/sales/${sale}/feed`, { text: { en: 'The draw is at 11:00.' } })
  await origin.admin('PUT', `/sales/${sale}/announcement`, { text: { en: 'Size 44 is gone.' } })
  const before = await version()
  const edited_at = expect.stringMatching(/Z$/)
  const edited = await to(1, { text: { en: 'The draw is at 12:00.' } })
  expect(edited).toMatchObject({ status: 200, body: { n: 1, text: { en: 'The draw is at 12:00.' }, edited_at } })
  expect(await version()).toBe(before + 1)
  await expect
    .poll(async () => (await feed(sale)).body.posts)
    .toMatchObject([{ n: 2 }, { n: 1, text: { en: 'The draw is at 12:00.' }, edited_at }])
  // An edited announcement has another id, since pages show each once.
  await to(2, { text: { en: 'Size 44 is nearly gone.' } })
  expect(await toldToEdge(sale)).toMatchObject({ id: '2.1', level: 'info', text: { en: 'Size 44 is nearly gone.' } })

  const until = new Date(Date.now() + 600_000).toISOString()
  expect(await to(1, { urgent: true, until })).toMatchObject({ body: { shown: true, level: 'warning', until } })
  expect(await toldToEdge(sale)).toMatchObject({ id: '1.2', until })
  expect((await origin.admin('GET', `/sales/${sale}/feed`)).body.posts).toMatchObject([{ n: 2, shown: false }, {}])
  // The time comes.
  await origin.sql()`update posts set until = clock_timestamp() where sale_id = ${sale} and n = 1`
  await expect.poll(() => toldToEdge(sale)).toBeNull()
  await to(2, { urgent: true })
  expect(await toldToEdge(sale)).toMatchObject({ text: { en: 'Size 44 is nearly gone.' }, until: null })
  expect(await to(2, { urgent: false })).toMatchObject({ body: { shown: false, urgent: true } })
  expect(await toldToEdge(sale)).toBeNull()

  const past = new Date(Date.now() - 1_000).toISOString()
  for (const wrong of [{ until }, { urgent: false, until }, { urgent: true, until: past }, { text: {} }, { more: 1 }])
    expect(await to(1, wrong), JSON.stringify(wrong)).toMatchObject({ status: 422 })
  for (const body of [{ until }, { urgent: true, until: past }])
    expect(await origin.admin('POST', `/sales/${sale}/feed`, { text: { en: 'x' }, ...body })).toMatchObject({
      status: 422,
    })
  for (const none of [3, 0]) expect(await to(none, { urgent: true })).toMatchObject({ status: 404 })
  const { body } = await origin.admin('GET', `/audit?sale=${sale}`)
  expect((body.entries as { action: string }[]).filter(({ action }) => action === 'post edited')).toHaveLength(5)
})

test('a full page of the feed stays as it is, whatever is posted', async () => {
  const sale = await origin.sale()
  const put = (i: number) => origin.admin('POST', `/sales/${sale}/feed`, { text: { en: `Number ${i}` } })
  for (let i = 1; i <= 12; i++) await put(i)
  const numbers = async (page?: number) => ((await feed(sale, page)).body.posts as { n: number }[]).map(({ n }) => n)
  const full = [10, 9, 8, 7, 6, 5, 4, 3, 2, 1]
  await expect.poll(() => numbers()).toEqual([12, 11, ...full])
  await expect.poll(() => numbers(2)).toEqual([12, 11])
  const page = await feed(sale, 1)
  expect(await numbers(1)).toEqual(full)
  await origin.admin('DELETE', `/sales/${sale}/feed/12`)
  await put(13)
  await expect.poll(() => numbers(2)).toEqual([13, 11])
  await expect.poll(async () => (await feed(sale, 1)).body).toEqual({ ...page.body, latest: 13 })
  for (const none of [0, 3, 1.5]) expect(await feed(sale, none)).toMatchObject({ status: 404 })
})

test('pages of a feed, and absent ones, cost the ledger a query each half a second', async () => {
  const sale = await origin.sale()
  const { sql, statements } = counted(origin.sql())
  const pages = new FeedPages(sql)
  const absent = Array.from({ length: 400 }, (_, i) => i + 2)
  const read = (nowMs: number) => Promise.all([null, ...absent].map((page) => pages.read(sale, page, nowMs)))
  for (const nowMs of [1_000, 1_499])
    expect(await read(nowMs)).toEqual([{ latest: 0, posts: [] }, ...absent.map(() => null)])
  expect(statements()).toBe(1)
  await read(1_500)
  expect(statements()).toBe(2)
})
