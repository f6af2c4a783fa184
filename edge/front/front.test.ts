import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { expect, it } from 'vitest'
import type { ListedSale, Listing, SearchMisses } from '../../shared/api/front.ts'
import { anySale } from '../../shared/testing/listed-sale.ts'
import { readConfig } from '../http/config.ts'
import { identityOf } from '../http/visitor-secret.ts'
import { before, edgeEnv, orderOf, requestsTo, stub } from '../testing/origin.ts'
import { call as callEdge, knownCookie } from '../testing/visitors.ts'
import { arrange } from './listing.ts'

/** The tests of other files use another shop front. */
const frontEnv = { ...edgeEnv, ORIGIN_URL: `${edgeEnv.ORIGIN_URL}/front` } as typeof edgeEnv
const call = (path: string, init: RequestInit = {}, env = frontEnv) => callEdge(path, init, env)
const HOUR_MS = 3_600_000
const at = (hours: number) => new Date(Date.now() + hours * HOUR_MS).toISOString()
const listed = (sale: string, name: string, more: Partial<ListedSale> = {}): ListedSale =>
  anySale(sale, name, { opens_at: at(1), pre_queue_opens_at: at(-1), image: { url: '/images/a', alt: '' }, ...more })

const SALES = [
  listed('next', 'Aurora One', { names: { de: 'Aurora Eins' } }),
  listed('later', 'Night Orchestra', { opens_at: at(30), pre_queue_opens_at: at(29), image: null }),
  listed('running', 'Slow Weather', { opens_at: at(-1) }),
  listed('gone', 'Aurora Zero', { opens_at: at(-9) }),
  listed('old', 'First Light', { opens_at: at(-99), ends_at: at(-90) }),
]
const STATES: Listing['states'] = {
  next: { phase: 'upcoming', left: 10, tells_restock: true },
  later: { phase: 'upcoming', left: 10, tells_restock: false },
  running: { phase: 'open', left: 3, tells_restock: false, waiting: 900, wait_seconds: 240 },
  gone: { phase: 'sold_out', left: 0, tells_restock: true },
}
let version = 0
const publish = (sales: readonly ListedSale[], states = STATES) =>
  stub('/front/internal/catalogue', 200, {
    version: `v${++version}`,
    catalogue: { sales, synonyms: [['shop', 'store']] },
    states,
  })
const page = { headers: { accept: 'text/html' } }
const json = { headers: { accept: 'application/json' } }
const read = async <T>(path: string) => (await call(path, json)).json<T>()
/** The isolate caches what it has read for some seconds. */
const until = (path: string, shown: object) => expect.poll(() => read(path)).toMatchObject(shown)

it('lists what runs, comes and is over, as the contract has it', async () => {
  await publish(SALES)
  await until('/', {
    sales: [{ sale: 'running' }, { sale: 'next' }, { sale: 'later' }, { sale: 'gone' }, { sale: 'old' }],
  })
  const { sales } = await read<{ sales: object[] }>('/')
  const price = { price_from_minor: 1_000, currency: 'EUR', prices_differ: false }
  const shown = { ...price, image: '/images/a' }
  expect(sales.slice(0, 3)).toEqual([
    { ...shown, sale: 'running', name: 'Slow Weather', phase: 'open', opens_at: SALES[2]?.opens_at, left: 3 },
    { ...shown, sale: 'next', name: 'Aurora One', phase: 'pre_queue', opens_at: SALES[0]?.opens_at, left: 10 },
    { ...price, sale: 'later', name: 'Night Orchestra', phase: 'upcoming', opens_at: SALES[1]?.opens_at, left: 10 },
  ])
  expect(sales.slice(3)).toMatchObject([{ phase: 'sold_out' }, { phase: 'ended', left: 0 }])
})

it('is one page for all, which caches keep through a rush', async () => {
  await publish(SALES)
  await until('/', { sales: [{ sale: 'running' }, {}, {}, {}, {}] })
  const response = await call('/', page)
  expect(response.headers.get('cache-control')).toBe('public, max-age=1')
  expect(response.headers.get('cdn-cache-control')).toMatch(/^max-age=5|public, max-age=5/)
  expect(response.headers.get('vary')).toBe('accept, accept-language')
  expect(response.headers.has('set-cookie')).toBe(false)
  const html = await response.text()
  expect(html).toMatch(
    /<h1><a href="\/sales\/next"><bdi>Aurora One<[\s\S]*role="timer"[\s\S]*In line: about 4 minutes[\s\S]*3 left/,
  )
  expect(html).toMatch(/href="\/sales\/gone#restock" aria-label="Tell me if Aurora Zero comes back">/)
  expect(html).toMatch(/href="\/sales\/old" aria-label="Look back at First Light">/)
  const etag = response.headers.get('etag') ?? ''
  const again = (headers: Record<string, string>) => call('/', { headers: { 'if-none-match': etag, ...headers } })
  await expect.poll(async () => (await again(page.headers)).status).toBe(304)
  const german = await again({ ...page.headers, 'accept-language': 'de' })
  expect(german.status).toBe(200)
  expect(await german.text()).toMatch(/<h1><a href="\/sales\/next"><bdi>Aurora Eins</)
  expect((await again(json.headers)).status).toBe(200)
})

it('keeps a language that was chosen, and takes an unknown one for none', async () => {
  await publish(SALES)
  const chosen = await call('/?lang=ar', page)
  expect(chosen.headers.get('cache-control')).toBe('no-store')
  expect(chosen.headers.get('set-cookie')).toMatch(/^page-language=ar/)
  expect(await chosen.text()).toMatch(/<html lang="ar" dir="rtl">[\s\S]*href="\/sales\/next\?lang=ar"/)
  expect(await (await call('/?lang=xx', page)).text()).toContain('<html lang="en"')
  expect(await (await call('/search?q=a&lang=xx', page)).text()).toContain('<html lang="en"')
})

it('shows what it knew while the origin is away', async () => {
  await publish([...SALES, listed('kept', 'Kept')])
  await expect.poll(async () => (await read<{ sales: unknown[] }>('/')).sales.length).toBe(6)
  await stub('/front/internal/catalogue', 503, {})
  const { calls } = await requestsTo('/front/internal/catalogue')
  const asked = async () => {
    await read('/')
    return (await requestsTo('/front/internal/catalogue')).calls
  }
  await expect.poll(asked).toBeGreaterThan(calls)
  expect((await read<{ sales: unknown[] }>('/')).sales.length).toBe(6)
})

it('searches for programs, with pages for people', async () => {
  await publish(SALES)
  await until('/search?q=first%20light', { results: [{ sale: 'old' }] })
  const [text, title] = [expect.any(String), expect.stringContaining('Aurora')]
  const told = { phase: text, opens_at: text, left: expect.any(Number), currency: 'EUR' }
  const price = { price_from_minor: 1_000, prices_differ: false }
  const result = { type: 'sale', sale: text, title, snippet: text, score: expect.any(Number), ...told, ...price }
  const corrected = { query: 'Aurorra', corrected: 'aurora', did_you_mean: 'aurora' }
  expect(await read('/search?q=Aurorra')).toEqual({ ...corrected, results: [result, result] })
  expect(await read('/search?q=aurora&limit=1')).toMatchObject({ results: [{}] })
  expect(await read('/search/suggest?q=auro')).toEqual({
    query: 'auro',
    completions: expect.arrayContaining(['aurora']),
  })
  const html = await (await call('/search?q=%3Cb%3Eaurorra', page)).text()
  expect(html).toMatch(
    /Did you mean <a href="\/search\?q=[^"]*"><b><bdi>&lt;b&gt;aurora<\/bdi>[\s\S]*<mark>Aurora<\/mark>/,
  )
  expect((await call('/search?q=aurora', json)).headers.get('cache-control')).toBe('public, max-age=10')
})

it('refuses a query that is too long, or a limit that is none, and says so', async () => {
  await publish(SALES)
  const long = await call(`/search?q=${'a'.repeat(10_000)}`, json)
  expect(long.status).toBe(422)
  expect(await long.json()).toMatchObject({ errors: [{ field: 'q', detail: 'at most 200 characters' }] })
  expect((await call(`/search/suggest?q=${'a'.repeat(10_000)}`, page)).status).toBe(422)
  for (const limit of ['0', '101', 'x']) expect((await call(`/search?q=a&limit=${limit}`, json)).status).toBe(422)
})

it('tells the origin what was not found, without addresses or texts that could name a person', async () => {
  await publish(SALES)
  await until('/search?q=first%20light', { results: [{ sale: 'old' }] })
  await stub('/front/internal/search/misses', 204, null)
  const from = (address: string) => ({ ...json, headers: { ...json.headers, 'cf-connecting-ip': address } })
  for (const [q, address] of [
    ['Zeppelin', '192.0.2.1'],
    ['zeppelin ', '192.0.2.1'],
    ['zeppelin', '192.0.2.2'],
    ['zoe.zz%40example.org', '192.0.2.1'],
    ['%2B49%20170%201234567', '192.0.2.1'],
    ['', '192.0.2.1'],
  ])
    expect((await call(`/search?q=${q}`, from(address ?? ''))).status).toBe(200)
  const told = async () => {
    const { requests } = await requestsTo('/front/internal/search/misses')
    return requests.flatMap(({ body }) => (JSON.parse(body) as SearchMisses).misses)
  }
  await expect.poll(told).toHaveLength(2)
  const misses = await told()
  expect(misses).toMatchObject([
    { query: 'zeppelin', count: 2 },
    { query: 'zeppelin', count: 1 },
  ])
  expect(misses[0]?.caller).not.toBe(misses[1]?.caller)
})

it('searches for an address so often, whatever else it has called', async () => {
  const limited = { ...frontEnv, SEARCHES_PER_ADDRESS: '2/600' }
  const statuses: number[] = []
  for (const path of ['/search?q=a', '/search/suggest?q=a', '/search?q=b'])
    statuses.push((await call(path, json, limited)).status)
  expect(statuses).toEqual([200, 200, 429])
})

it('gives a browser what it searches, for good under a version, unless that is too much', async () => {
  await publish(SALES)
  const path = async () => /data-index="([^"]+)"/.exec(await (await call('/', page)).text())?.[1]
  await expect.poll(path).toBe(`/search/index?v=v${version}`)
  const response = await call((await path()) ?? '')
  expect(response.headers.get('cache-control')).toContain('immutable')
  expect(await response.json()).toMatchObject({
    entries: [{ id: 0, sale: 'next' }, {}, {}, {}, {}],
    synonyms: [['shop', 'store']],
  })
  expect((await call('/search/index?v=other', { redirect: 'manual' })).status).toBe(302)
  await publish(Array.from({ length: 2_001 }, (_, i) => listed(`s${i}`, `Sale ${i}`)))
  await expect.poll(path).toBeUndefined()
  expect((await call('/search/index')).status).toBe(404)
})

it('stays off before another site', async () => {
  const env = before({ sale: 'next', paths: '/*', bypass: '*', upstream: `${edgeEnv.ORIGIN_URL}/site` })
  await stub('/site/search', 200, { of: 'the site' })
  expect(await (await call('/search', json, env)).json()).toEqual({ of: 'the site' })
})

it('passes on the searches of an account alone', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  await stub('/front/jwks', 200, { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'one' }] })
  const env = {
    ...frontEnv,
    SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/front/jwks`,
    SHOP_ISSUER: 'the shop',
    SHOP_AUDIENCE: 'the front',
  } as typeof edgeEnv
  const session = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: 'one' })
    .setSubject('ada ü')
    .setIssuer('the shop')
    .setAudience('the front')
    .setExpirationTime('5m')
    .sign(privateKey)
  const headers = { 'x-shop-authorization': `Bearer ${session}`, 'content-type': 'application/json' }
  await stub('/front/internal/searches', 200, { searches: ['slow weather'] })
  const post = (more: Record<string, string> = {}) =>
    call('/me/searches', { method: 'POST', headers: { ...headers, ...more }, body: '{"q":"slow weather"}' }, env)
  const response = await post()
  expect(await response.json()).toEqual({ searches: ['slow weather'] })
  expect(response.headers.get('cache-control')).toBe('no-store')
  const { requests } = await requestsTo('/front/internal/searches')
  expect(requests.at(-1)).toMatchObject({
    method: 'POST',
    body: '{"q":"slow weather"}',
    headers: { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}`, 'edge-visitor': encodeURIComponent('user:ada ü') },
  })
  expect((await post({ 'sec-fetch-site': 'cross-site' })).status).toBe(403)
  expect((await call('/me/searches', { headers: { accept: 'application/json' } }, env)).status).toBe(401)
  expect((await call('/me/searches')).status).toBe(401)
})

it('lists the orders of all sales, of visitors whom it knows alone', async () => {
  await publish(SALES)
  const orders = [{ ...orderOf('running', crypto.randomUUID()), created_at: '2026-11-27T12:00:00.000Z' }]
  await stub('/front/internal/orders', 200, { orders })
  expect(await (await call('/me/orders', page)).text()).toContain('No orders here')
  expect((await requestsTo('/front/internal/orders')).calls).toBe(0)
  const secret = 'A'.repeat(22)
  const known = { headers: { ...page.headers, cookie: knownCookie(secret) } }
  const response = await call('/me/orders?lang=de', known)
  expect(response.headers.get('cache-control')).toBe('no-store')
  expect(await response.text()).toMatch(
    new RegExp(`Deine Bestellungen[\\s\\S]*href="/sales/running/order/${orders[0]?.order_id}\\?lang=de"`),
  )
  const { requests } = await requestsTo('/front/internal/orders')
  expect(requests.at(-1)?.headers).toMatchObject({
    authorization: `Bearer ${edgeEnv.EDGE_TOKEN}`,
    'edge-visitor': identityOf(secret, (await readConfig(frontEnv)).keys.visitor).name,
  })
})

it('has the shop’s logo and legal pages', async () => {
  await publish([
    listed('next', 'Aurora One', { shop: 'Halfway', logo: { url: `/images/${'a'.repeat(32)}`, widths: [96, 320] } }),
  ])
  await until('/', { sales: [{ sale: 'next' }] })
  const env = { ...frontEnv, LEGAL_LINKS: '[{"name":{"en":"Imprint","de":"Impressum"},"url":"/imprint"}]' }
  const html = await (await call('/?lang=de', page, env)).text()
  expect(html).toContain(`<img src="/images/${'a'.repeat(32)}/96.webp" alt="Halfway">`)
  expect(html).toMatch(/<footer[\s\S]*<a href="\/imprint"><bdi>Impressum</)
})

it('tells scripts whether somebody is signed in, once it changes', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  await stub('/front/jwks', 200, { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'two' }] })
  const SHOP = { SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/front/jwks`, SHOP_ISSUER: 'the shop', SHOP_AUDIENCE: 'hints' }
  const env = { ...frontEnv, ...SHOP }
  const session = await new SignJWT()
    .setProtectedHeader({ alg: 'ES256', kid: 'two' })
    .setSubject('ada')
    .setIssuer('the shop')
    .setAudience('hints')
    .setExpirationTime('5m')
    .sign(privateKey)
  await stub('/front/internal/orders', 200, { orders: [] })
  const told = async (cookie: string) => {
    const headers = { ...json.headers, 'sec-fetch-site': 'same-origin', cookie }
    return (await call('/me/orders', { headers }, env)).headers.get('set-cookie')
  }
  expect(await told(`shop_session=${session}`)).toMatch(/^signed-in=1; Max-Age=\d+; Path=\/; SameSite=Lax$/)
  expect(await told(`shop_session=${session}; signed-in=1`)).toBeNull()
  expect(await told('signed-in=1')).toMatch(/^signed-in=; Max-Age=0/)
  expect(await told('other=1')).toBeNull()
})

it.each([
  ['upcoming', 'soon', 48, 's99'],
  ['open', 'now', 24, 's0'],
] as const)('shows no more that are %s than fit, those nearest in time', (phase, kind, most, first) => {
  const many = Array.from({ length: 100 }, (_, i) => listed(`s${i}`, 'S', { opens_at: at(100 - i) }))
  const states = Object.fromEntries(many.map(({ sale }) => [sale, { phase, left: 1, tells_restock: false } as const]))
  const shown = arrange({ catalogue: { sales: many, synonyms: [] }, states }, Date.now())[kind]
  expect(shown).toHaveLength(most)
  expect(shown[0]?.sale).toBe(first)
})

it('tells crawlers what to read: listed sales, and no page of one visitor', async () => {
  await publish(SALES)
  const api = await call('/openapi.json')
  expect(api.headers.get('access-control-allow-origin')).toBe('*')
  expect(await api.json()).toMatchObject({ openapi: '3.1.1', paths: { '/sales/{sale}/queue': {} } })
  const robots = await (await call('/robots.txt')).text()
  expect(robots).toMatch(
    /^User-agent: \*\nDisallow: \/sales\/\*\/line\n[\s\S]*\nSitemap: http:\/\/\S+\/sitemap\.xml\n$/,
  )
  await expect.poll(async () => (await call('/sitemap.xml')).text()).toMatch(/<loc>http:\/\/[^<]+\/sales\/next<\/loc>/)
  expect((await call('/favicon.ico')).headers.get('content-type')).toMatch(/^image\/svg\+xml/)
})

it('says whom to tell of a vulnerability, where that is configured', async () => {
  expect((await call('/.well-known/security.txt')).status).toBe(404)
  const env = { ...frontEnv, SECURITY_CONTACT: 'mailto:security@shop.example' }
  const text = await (await call('/.well-known/security.txt', {}, env)).text()
  const expires = Date.parse(/^Expires: (\S+)$/m.exec(text)?.[1] ?? '')
  expect(text).toMatch(/^Contact: mailto:security@shop\.example\nExpires: .*Z\nCanonical: http:\/\//)
  expect(expires).toBeGreaterThan(Date.now())
})

it('explains each type of problems', async () => {
  const response = await call('/problems/sold-out', page)
  expect([response.status, await response.text()]).toEqual([200, expect.stringContaining('All units are sold.')])
  expect(await read('/problems/sold-out')).toMatchObject({ type: '/problems/sold-out', status: 410 })
  expect((await call('/problems/toString')).status).toBe(404)
})
