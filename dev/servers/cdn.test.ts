/** The rules of the cache, tested in front of an HTTP server that counts the requests that reach it. */
import type { IncomingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { HttpClient, requestText } from '../../bench/lib/http.ts'
import { type Loopback, serveOnLoopback } from '../lib/loopback.ts'
import { freePort, LOOPBACK } from '../lib/processes.ts'
import { type Cdn, purge, startCdn } from './cdn.ts'
import { findOnPath } from './install.ts'

/** The edge's next response, to every path. */
let status = 200
let headers: Record<string, string> = {}
let inFlight = 0
/** The edge responds to no request before this promise resolves. */
let released = Promise.resolve()
const hold = () => {
  const { promise, resolve } = Promise.withResolvers<void>()
  released = promise
  return resolve
}
const seen: { method: string; url: string; headers: IncomingHttpHeaders }[] = []

const PURGE_TOKEN = 'the-secret'

let edge: Loopback
let cdn: Cdn
let proxyPort: number
let paths = 0

describe.skipIf(!findOnPath('varnishd'))('the cache before the edge', () => {
  beforeAll(async () => {
    edge = await serveOnLoopback(async (request, response) => {
      const n = seen.push({ method: request.method ?? '', url: request.url ?? '', headers: request.headers })
      inFlight++
      await released
      inFlight--
      response.writeHead(status, headers).end(`response ${n}`)
    })
    proxyPort = await freePort()
    cdn = await startCdn({ edgeUrl: edge.url, proxyPort, purgeToken: PURGE_TOKEN })
  })
  afterAll(async () => {
    await cdn?.stop()
    edge.stop()
  })
  beforeEach(() => {
    seen.length = 0
    status = 200
    headers = { 'cache-control': 'public, max-age=60' }
    released = Promise.resolve()
    paths++
  })

  /** A path that only this test uses. */
  const path = (rest = '') => `/${paths}${rest}`
  async function ask(to = path(), init: RequestInit = {}) {
    const response = await fetch(`${cdn.url}${to}`, init)
    return { status: response.status, headers: response.headers, text: await response.text() }
  }

  test('keeps a response by path and query, whoever asks', async () => {
    await ask()
    await ask(path(), { headers: { cookie: 'queue=somebody', 'user-agent': 'another' } })
    const kept = await ask()
    expect(kept.headers.get('cf-cache-status')).toBe('HIT')
    expect(Number(kept.headers.get('age'))).toBeGreaterThanOrEqual(0)
    expect(seen.length).toBe(1)
    await ask(path('?page=2'))
    expect(seen.map(({ url }) => url)).toEqual([path(), path('?page=2')])
  })

  test('sends nobody what was made for another host', async () => {
    const client = new HttpClient({ url: cdn.url, connections: 1 })
    const foreign = () => client.request(requestText('GET', path(), 'another.test'))
    expect((await foreign()).body).toBe('response 1')
    expect(seen.map(({ headers }) => headers.host)).toEqual(['another.test'])
    expect((await ask()).text).toBe('response 2')
    expect((await foreign()).body).toBe('response 1')
    client.close()
  })

  test('keeps one response for each value of the headers that it varies by', async () => {
    headers.vary = 'accept, accept-language'
    for (const language of ['de', 'en', 'de', 'en']) await ask(path(), { headers: { 'accept-language': language } })
    expect(seen.map(({ headers }) => headers['accept-language'])).toEqual(['de', 'en'])
  })

  test.each<[string, Record<string, string>, RequestInit]>([
    ['no-store', { 'cache-control': 'no-store' }, {}],
    ['private', { 'cache-control': 'private, max-age=60' }, {}],
    ['no-store for the cache alone', { 'cloudflare-cdn-cache-control': 'no-store' }, {}],
    ['no-cache', { 'cache-control': 'no-cache' }, {}],
    ['a cookie that is set', { 'set-cookie': 'a=b' }, {}],
    ['a POST', {}, { method: 'POST', body: 'x' }],
    ['a caller with a token', {}, { headers: { authorization: 'Bearer t' } }],
  ])('passes on %s each time', async (_, more, init) => {
    headers = { ...headers, ...more }
    for (let n = 1; n <= 3; n++) expect((await ask(path(), init)).text).toBe(`response ${n}`)
  })

  test.each<[string, Record<string, string>]>([
    ['what does not say, as Cloudflare does', {}],
    [
      'for as long as the response says to caches, and not what it says to browsers',
      { 'cache-control': 'public, max-age=1', 'cdn-cache-control': 'public, max-age=60', age: '30' },
    ],
  ])('keeps %s', async (_, said) => {
    headers = said
    await ask()
    const kept = await ask()
    expect([kept.text, kept.headers.get('cache-control')]).toEqual(['response 1', said['cache-control'] ?? null])
  })

  test('those who get a page of their own do not wait for one another', async () => {
    headers = { 'cache-control': 'no-store' }
    await ask()
    const release = hold()
    const all = Promise.all(Array.from({ length: 50 }, () => ask()))
    await expect.poll(() => inFlight).toBe(50)
    release()
    await all
    expect(seen.length).toBe(51)
  })

  test('many who ask at once for what is not kept cost one request', async () => {
    const release = hold()
    const asked = Promise.all(Array.from({ length: 100 }, () => ask()))
    await expect.poll(() => inFlight).toBe(1)
    release()
    const all = await asked
    expect(new Set(all.map(({ text }) => text))).toEqual(new Set(['response 1']))
    expect(seen.length).toBe(1)
  })

  /** The response is stale when it arrives, as if another cache had stored it, so that no test has to wait. */
  const staleFor = (seconds: number) => ({
    'cache-control': 'public, max-age=60, stale-while-revalidate=60',
    age: String(60 + seconds),
  })

  test('serves what is stale while one request refreshes it', async () => {
    headers = staleFor(30)
    await ask()
    const release = hold()
    const stale = await Promise.all(Array.from({ length: 20 }, () => ask()))
    expect(new Set(stale.map(({ text }) => text))).toEqual(new Set(['response 1']))
    headers = { 'cache-control': 'public, max-age=60' }
    release()
    await expect.poll(async () => (await ask()).text).toBe('response 2')
    expect(seen.length).toBe(2)
  })

  test('serves nothing that has been stale for longer than allowed', async () => {
    headers = staleFor(70)
    await ask()
    expect((await ask()).text).toBe('response 2')
  })

  test('a failed refresh leaves what is stale', async () => {
    headers = staleFor(30)
    await ask()
    status = 500
    await ask()
    await expect.poll(() => seen.length).toBe(2)
    expect(await ask()).toMatchObject({ status: 200, text: 'response 1' })
  })

  test('takes back by tag, every variant, and nothing else', async () => {
    const tags = { [path('/a')]: 'sale-a, all', [path('/b')]: 'sale-b,all', [path('/ab')]: 'sale-ab' }
    const from = async (to: string, language: string) => {
      headers = { ...headers, 'cache-tag': tags[to] ?? '', vary: 'accept-language' }
      const response = await ask(to, { headers: { 'accept-language': language } })
      expect(response.headers.get('cache-tag')).toBeNull()
      return response.headers.get('cf-cache-status')
    }
    for (const to of Object.keys(tags)) for (const language of ['de', 'en']) await from(to, language)
    const { status } = await purge(cdn.url, 'sale-a,sale-x', PURGE_TOKEN)
    expect(status).toBe(200)
    expect([await from(path('/a'), 'de'), await from(path('/a'), 'en')]).toEqual(['MISS', 'MISS'])
    expect([await from(path('/b'), 'de'), await from(path('/ab'), 'en')]).toEqual(['HIT', 'HIT'])
    await purge(cdn.url, 'ALL', PURGE_TOKEN)
    expect([await from(path('/a'), 'de'), await from(path('/b'), 'en')]).toEqual(['MISS', 'MISS'])
    expect(await from(path('/ab'), 'en')).toBe('HIT')
  })

  test.each(['', '.*', 'a b', 'a)|(b', '"'])('purges nothing by the tag «%s»', async (tags) => {
    await ask()
    expect((await purge(cdn.url, tags, PURGE_TOKEN)).status).toBe(400)
    expect((await ask()).headers.get('cf-cache-status')).toBe('HIT')
  })

  test.each([undefined, '', 'Bearer', 'Bearer another', PURGE_TOKEN])(
    'purges nothing for the authorization «%s»',
    async (authorization) => {
      headers['cache-tag'] = 'sale-c'
      await ask()
      const sent = { 'cache-tag': 'sale-c', ...(authorization !== undefined && { authorization }) }
      expect((await fetch(cdn.url, { method: 'PURGE', headers: sent })).status).toBe(403)
      expect((await ask()).headers.get('cf-cache-status')).toBe('HIT')
    },
  )

  test("tells the edge the caller's address, whatever the caller says of it", async () => {
    await ask(path(), { method: 'POST', headers: { 'cf-connecting-ip': '192.0.2.1' } })
    expect(seen[0]?.headers['cf-connecting-ip']).toBe(LOOPBACK)
  })

  test('knows the caller of what ends https before it by the PROXY protocol, and by no header', async () => {
    const socket = connect(proxyPort, LOOPBACK)
    const forged = 'cf-connecting-ip: 192.0.2.1\r\nx-forwarded-for: 192.0.2.2\r\n'
    const said = 'PROXY TCP4 203.0.113.7 198.51.100.1 50000 443\r\n'
    socket.end(`${said}POST ${path()} HTTP/1.1\r\nhost: shop.test\r\nconnection: close\r\n${forged}\r\n`)
    expect(await text(socket)).toContain('response 1')
    expect(seen[0]?.headers['cf-connecting-ip']).toBe('203.0.113.7')
  })

  test('writes down what reached it of some paths, and when something was taken back', async () => {
    await ask(path('/a?q=%20b'))
    const stop = await cdn.record(`^${path('/a')}`)
    const beganMs = Date.now()
    for (let n = 0; n < 3; n++) for (const rest of ['/a?q=%20b', '/a?q=c', '/b']) await ask(path(rest))
    headers['cache-tag'] = 'recorded'
    await ask(path('/a'))
    await purge(cdn.url, 'recorded', PURGE_TOKEN)
    await ask(path('/a'))
    const { fetches, purgesMs, isWhole } = await stop()
    expect(fetches.map((fetched) => fetched.path)).toEqual(['/a?q=c', '/a', '/a'].map(path))
    expect(purgesMs).toHaveLength(1)
    const [, before = 0, after = 0] = fetches.map(({ atMs }) => atMs - (purgesMs[0] ?? 0))
    expect([before <= 0, after >= 0, (fetches[0]?.atMs ?? 0) >= beganMs - 1, isWhole]).toEqual([true, true, true, true])
  })

  test('counts what it served and what it asked for', async () => {
    const before = await cdn.counts()
    for (let n = 0; n < 10; n++) await ask()
    await ask(path(), { method: 'POST' })
    const since = async () => {
      const { requests, toEdge, hits } = await cdn.counts()
      return [requests - before.requests, toEdge - before.toEdge, hits - before.hits]
    }
    await expect.poll(since).toEqual([11, 2, 9])
  })
})
