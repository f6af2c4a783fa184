import { expect, it, vi } from 'vitest'
import type { Feed, Post } from '../../shared/api/public.ts'
import { NEWEST_POSTS } from '../../shared/feed.ts'
import { CACHE_TTL, cacheHeaders } from '../http/cache.ts'
import { stopClock } from '../testing/clocks.ts'
import { requestsTo, stub } from '../testing/origin.ts'
import { call, TestSale } from '../testing/visitors.ts'

const post = (n: number): Post => ({ n, at: '2026-11-21T12:00:00.000Z', urgent: false, text: { en: `Number ${n}` } })
/** Posts with the latest first. */
const posts = (latest: number, oldest: number) =>
  Array.from({ length: latest - oldest + 1 }, (_, i) => post(latest - i))

async function saleWith(latest: number) {
  const sale = await new TestSale().publish()
  const oldest = Math.max(1, latest - NEWEST_POSTS + 1)
  await stub(`/internal/sales/${sale.name}/feed`, 200, { latest, posts: latest === 0 ? [] : posts(latest, oldest) })
  await sale.schedule()
  return { sale, path: `/sales/${sale.name}/feed` }
}
const numbersIn = async (response: Response) => (await response.json<{ posts: Post[] }>()).posts.map(({ n }) => n)

it('serves the newest posts from memory for seconds, with an ETag, and those since a number', async () => {
  const { sale, path } = await saleWith(12)
  // The clock is stopped, so that all calls are at one moment.
  stopClock()
  const many = await Promise.all(Array.from({ length: 20 }, () => call(path)))
  vi.useRealTimers()
  const [newest] = many as [Response]
  expect(Object.fromEntries(newest.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.feed))
  expect(newest.headers.get('vary')).toBeNull()
  expect(await newest.clone().json()).toEqual({ posts: posts(12, 1), next_poll_ms: expect.any(Number) })
  const { calls, requests } = await requestsTo(`/internal${path}`)
  expect([calls, requests[0]?.query]).toEqual([1, ''])
  const etag = newest.headers.get('etag') ?? ''
  expect((await call(path, { headers: { 'if-none-match': etag } })).status).toBe(304)
  expect(await numbersIn(await call(`${path}?since=10`))).toEqual([12, 11])
  expect(await numbersIn(await call(`${path}?since=12`))).toEqual([])
  for (const wrong of ['-1', 'x', '1.5', '', '9'.repeat(10_000)])
    expect(await call(`${path}?since=${wrong}`), wrong).toMatchObject({ status: 422 })
})

it('lets caches keep a page for a minute once it is full, and answers for pages that there are not', async () => {
  const { sale, path } = await saleWith(12)
  await call(path)
  await stub(`/internal${path}`, 200, { latest: 12, posts: posts(10, 1) })
  const full = await call(`${path}/1`)
  const long = { ...cacheHeaders(sale.name, CACHE_TTL.fullPage), 'cache-control': 'public, max-age=60' }
  expect(Object.fromEntries(full.headers)).toMatchObject(long)
  expect(await full.json()).toEqual({ posts: posts(10, 1) })
  await stub(`/internal${path}`, 200, { latest: 12, posts: posts(12, 11) })
  const growing = await call(`${path}/2`)
  expect(Object.fromEntries(growing.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.feed))
  const { calls } = await requestsTo(`/internal${path}`)
  for (const none of ['3', '999999', '0', 'x', '01'])
    expect(await call(`${path}/${none}`)).toMatchObject({ status: 404 })
  expect((await requestsTo(`/internal${path}`)).calls - calls).toBeLessThanOrEqual(1)
})

it('says which posts a reader has that were edited or taken away', async () => {
  const sale = await new TestSale().publish()
  const edited = { ...post(4), edited_at: '2026-11-21T12:01:00.000Z' }
  const page = { latest: 6, posts: [post(6), edited, post(2)], retracted: [5, 3] }
  await stub(`/internal/sales/${sale.name}/feed`, 200, page)
  await sale.schedule()
  const read = async (query: string) => (await call(`/sales/${sale.name}/feed${query}`)).json<Feed>()
  expect(await read('')).not.toHaveProperty('changed')
  expect((await read('')).posts).toEqual(page.posts)
  expect(await read('?since=4')).toMatchObject({
    posts: [post(6)],
    changed: [
      { n: 4, text: edited.text, edited_at: edited.edited_at },
      { n: 3, retracted: true },
    ],
  })
  const html = await (await call(`/sales/${sale.name}/posts`, { headers: { accept: 'text/html' } })).text()
  expect(html.match(/<span class="small quiet">edited<\/span>/g)).toHaveLength(1)
})

it('says on which page the posts go on for a reader who misses more than the newest', async () => {
  const { path } = await saleWith(75)
  const read = async (query: string) => (await call(path + query)).json<Feed>()
  expect(await read('')).toMatchObject({ posts: posts(75, 46), older: 5 })
  expect(await read('?since=44')).toMatchObject({ posts: posts(75, 46), older: 5 })
  expect(await read('?since=45')).not.toHaveProperty('older')
})

it('serves old posts with their time while the origin is away, and new ones once it is back', async () => {
  const { sale, path } = await saleWith(12)
  await stub(`/internal${path}`, 200, { latest: 12, posts: posts(12, 1) })
  stopClock()
  await call(path)
  await call(`${path}/1`)
  const as_of = new Date().toISOString()
  await stub(`/internal${path}`, 503, {})
  for (const seconds of [2, 600]) {
    vi.setSystemTime(Date.now() + 1_000 * seconds)
    expect(await (await call(path)).json()).toMatchObject({ posts: posts(12, 1), as_of })
    const page = await call(`${path}/1`)
    expect(Object.fromEntries(page.headers)).toMatchObject(cacheHeaders(sale.name, CACHE_TTL.feed))
    expect(await page.json()).toEqual({ posts: posts(12, 1), as_of })
    expect((await call(`/sales/${sale.name}/posts`, { headers: { accept: 'text/html' } })).status).toBe(200)
  }
  await stub(`/internal${path}`, 200, { latest: 13, posts: posts(13, 1) })
  vi.setSystemTime(Date.now() + 2_000)
  const back = await (await call(path)).json<Feed>()
  expect([back.posts.length, back.as_of]).toEqual([13, undefined])
  // After an hour the posts say nothing about the sale any more.
  await stub(`/internal${path}`, 503, {})
  vi.setSystemTime(Date.now() + 2 * 3_600_000)
  expect((await call(path)).status).toBe(503)
})

it('has an empty feed, and none while the origin is away', async () => {
  const { path } = await saleWith(0)
  expect(await (await call(path)).json()).toMatchObject({ posts: [] })
  expect(await (await call(`${path}/1`)).json()).toEqual({ posts: [] })
  const away = await new TestSale().publish()
  await stub(`/internal/sales/${away.name}/feed`, 0, {})
  await away.schedule()
  expect((await call(`/sales/${away.name}/feed`)).status).toBe(503)
  // The page of the sale is shown without posts.
  expect(await (await away.page()).text()).toContain('id="posts"')
})

it('shows posts on a page of their own, in the visitor’s language, as text', async () => {
  const sale = await new TestSale().publish()
  const script = { ...post(11), text: { de: '<script>alert(1)</script>' } }
  await stub(`/internal/sales/${sale.name}/feed`, 200, { latest: 11, posts: [script] })
  const headers = { accept: 'text/html', 'accept-language': 'de' }
  for (const path of ['', '/posts']) {
    const html = await (await call(`/sales/${sale.name}${path}`, { headers })).text()
    expect(html).toContain('<p dir="auto" lang="de">&lt;script&gt;alert(1)&lt;/script&gt;</p>')
    expect(html).toMatch(/href="\/sales\/[^"]+\/posts\/1">Ältere Beiträge</)
    if (path !== '')
      expect(html).toMatch(/<link rel="canonical" href="[^"]+\/posts">\s*<meta name="description" content=".*&lt;s/)
  }
})
