/**
 * A cache in front of the Worker serves stored responses to everybody. So every response, of every route, in every
 * phase, with and without cookies, must have cache headers, and a cached response is the same for all, has its tag,
 * and sets no cookie.
 */
import { expect, it, vi } from 'vitest'
import type { SaleState } from '../../shared/api/internal.ts'
import type { Schedule } from '../../shared/schedule.ts'
import { ADMISSION, QUEUE, signToken } from '../../shared/tokens.ts'
import { tagOf } from '../http/cache.ts'
import { type Env, readConfig } from '../http/config.ts'
import { proofScript, proofStyle, proofWorker, pushWorker, script, style } from '../pages/assets.ts'
import { slowTimers, stopClock } from '../testing/clocks.ts'
import { before, edgeEnv, ORDER_TOKEN, orderOf, stub } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { call, cookiesOf, TestSale } from '../testing/visitors.ts'

const ORDER = crypto.randomUUID()
const SALE_ROUTES = [
  '',
  ...(
    '/line /schedule /opening.ics /feed /feed/1 /posts /posts/1 /mail /queue /queue/status /leave /checkout ' +
    '/challenge /wanted'
  ).split(' '),
  ...`/buy /orders /preview /order/x /nothing /order/${ORDER}`.split(' '),
  ...['payment', 'cancel', 'receipt', 'pay'].map((of) => `/order/${ORDER}/${of}`),
]
const OTHER_ROUTES = [
  style.path,
  ...(
    '/ /search?q=a /search/suggest?q=a /search/index /me/searches /nothing /healthz /.well-known/jwks.json ' +
    '/assets/nothing.css /orders/x'
  ).split(' '),
  ...['', '/events', '/payment'].map((of) => `/orders/${ORDER}${of}`),
  ...['refresh', 'purge'].map((of) => `/internal/sales/x/${of}`),
]
const METHODS = ['GET', 'HEAD', 'POST', 'DELETE', 'PATCH']
const ACCEPTS = ['text/html,*/*;q=0.8', 'application/json', '*/*']
/** The response is cached for at most a second. */
const SCHEDULE = ['public, max-age=1', 'public, max-age=1, stale-while-revalidate=0']
/** The response is cached for a second, and may be stale for two more while it is refreshed. */
const A_SECOND = ['public, max-age=1', 'public, max-age=1, stale-while-revalidate=2']
const LANDING = ['public, max-age=1', 'public, max-age=5, stale-while-revalidate=25']
/** The headers of the newest posts. */
const FEED = ['public, max-age=1', 'public, max-age=2, stale-while-revalidate=0']
const SEARCHED = ['public, max-age=10', 'public, max-age=30, stale-while-revalidate=60']
const FINAL = ['public, max-age=1', 'public, max-age=300, stale-while-revalidate=3600']

/** The shop front without sales. */
const NO_SALES = { version: 'none', catalogue: { sales: [], synonyms: [] }, states: {} }

/**
 * The responses that a cache may store: GET and HEAD of these, with the values of `Cache-Control` and
 * `CDN-Cache-Control`.
 */
function cachedAs(path: string, accept: string, phase: string): (string | null)[] | null {
  if (path === style.path) return ['public, max-age=31536000, immutable', null]
  if (path === '/') return LANDING
  if (/^\/search.*q=/.test(path)) return SEARCHED
  if (path === '/search/index') return SCHEDULE
  if (path === '/.well-known/jwks.json') return ['public, max-age=300', null]
  const page = /^\/sales\/[^/]+(\/schedule|\/opening\.ics|\/feed|\/posts|\/mail)?(\/1)?$/.exec(path)
  if (!page || phase === 'unknown') return null
  if (page[1] === '/feed') return FEED
  if (page[1]) return page[1] === '/schedule' ? SCHEDULE : LANDING
  if (phase === 'sold_out' || phase === 'ended') return FINAL
  return accept === 'application/json' ? A_SECOND : LANDING
}

/** The cookies of a visitor with a place, an admission and an order. */
async function cookiesIn(sale: string): Promise<string> {
  const { keys } = await readConfig(edgeEnv)
  const iat = Math.floor(Date.now() / 1000)
  const claims = { sub: 'somebody', sale, num: 1, iat, exp: iat + 300 }
  const place = await signToken(QUEUE, keys.queue, claims)
  const admission = await signToken(ADMISSION, keys.admission, { ...claims, jti: crypto.randomUUID() })
  return `queue-${sale}=${place}; admission-${sale}=${admission}; order-${ORDER}=${ORDER_TOKEN}; visitor-secret=${sale}`
}

/** The body without values that change from moment to moment. */
const steady = (body: string) => body.replace(/\d+/g, '#')

const SOON = { opensInMs: 600_000 }
const PHASES: readonly (readonly [string, Partial<SaleState> & { opensInMs?: number }])[] = [
  ['unknown', {}],
  ['upcoming', { ...SOON, pre_queue_opens_in_ms: 300_000 }],
  ['pre_queue', SOON],
  ['open', {}],
  ['paused', { phase: 'paused' }],
  ['all_in_carts', { phase: 'all_in_carts', products: [product(0, 5, 0)] }],
  ['sold_out', { phase: 'sold_out', products: [product(0, 0, 5)] }],
  ['ended', { phase: 'ended' }],
]

/** The phases in which a site behind the edge is held back, open to all, or not known yet. */
const BEFORE_A_SITE = new Set(['unknown', 'open', 'sold_out', 'ended'])
const BOTH = PHASES.flatMap(([phase, state]) => [
  [phase, 'alone', state] as const,
  ...(BEFORE_A_SITE.has(phase) ? [[phase, 'before a site', state] as const] : []),
])

it('names the address that is set in all that it shows, whatever host a caller names', async () => {
  const sale = await new TestSale().publish()
  const settings = { ...edgeEnv, PUBLIC_URL: 'https://queue.shop.test' }
  for (const path of ['', '/opening.ics']) {
    const response = await call(`/sales/${sale.name}${path}`, { headers: { accept: 'text/html' } }, settings)
    const text = await response.text()
    expect(text).toContain(`https://queue.shop.test/sales/${sale.name}`)
    expect(text).not.toContain('edge.test')
  }
})

it.each(BOTH)('says of each response what a cache may keep while a sale is %s, %s', async (phase, where, state) => {
  const sale = new TestSale()
  const alone = where === 'alone' ? edgeEnv : before({ sale: sale.name, paths: '/*' })
  const env: Env = { ...alone, POW_DIFFICULTY: phase === 'open' ? '10' : '0' }
  if (phase === 'unknown') await stub(`/internal/sales/${sale.name}`, 404, {})
  else {
    await sale.publish(state)
    await sale.until((schedule) => schedule.phase === phase)
  }
  const order = orderOf(sale.name, ORDER)
  // The origin sends no cache headers, as if they had been forgotten.
  for (const path of [`/orders/${ORDER}`, `/orders/${ORDER}/payment`]) await stub(path, 200, order)
  await stub(`/orders/${ORDER}/events`, 200, 'data: {}\n\n', 0, { 'content-type': 'text/event-stream' })
  await stub(`/sales/${sale.name}/checkout`, 201, order)
  await stub(`/sales/${sale.name}/orders`, 200, { orders: [order] })
  await stub(`/internal/sales/${sale.name}/feed`, 200, { latest: 0, posts: [] })
  await stub('/internal/catalogue', 200, NO_SALES)
  await expect
    .poll(async () => (await call('/', { headers: { accept: 'application/json' } })).json())
    .toEqual({ sales: [] })
  const cookie = await cookiesIn(sale.name)
  const paths = [...SALE_ROUTES.map((path) => `/sales/${sale.name}${path}`), ...OTHER_ROUTES]
  for (const path of paths)
    for (const method of METHODS)
      for (const accept of method === 'GET' ? ACCEPTS : ACCEPTS.slice(0, 1)) {
        const bodies: string[] = []
        for (const cookies of [{}, { cookie, 'sec-fetch-site': 'same-origin' }]) {
          const response = await call(path, { method, headers: { accept, ...cookies } }, env)
          const { headers } = response
          const about = `${phase} ${method} ${path} ${accept} ${Object.keys(cookies)}: ${response.status}`
          // A protected site has its own front page.
          const isOff = where !== 'alone' && /^\/(search.*)?$/.test(path)
          const cached = /GET|HEAD/.test(method) && !isOff ? cachedAs(path, accept, phase) : null
          const said = [headers.get('cache-control'), headers.get('cdn-cache-control')]
          // The response comes from the site, which sent no cache headers.
          if (headers.get('cloudflare-cdn-cache-control') === 'no-store' || said[0]?.startsWith('private')) {
            expect(where, about).toBe('before a site')
            await response.body?.cancel()
            continue
          }
          expect(said, about).toEqual(cached ?? ['no-store', null])
          const isOfSale = path.startsWith('/sales/')
          expect(headers.get('cache-tag'), about).toBe(cached && isOfSale ? tagOf(sale.name) : null)
          if (!cached) {
            await response.body?.cancel()
            continue
          }
          expect(response.status, about).toBe(path === '/search/index' ? 302 : 200)
          expect(headers.getSetCookie(), about).toEqual([])
          // All variants of an address have the same headers, because nothing else may change the response.
          const isNegotiated = isOfSale ? !/\/(schedule|feed|feed\/1)$/.test(path) : /^\/(search.*q=.*)?$/.test(path)
          expect(headers.get('vary'), about).toBe(isNegotiated ? 'accept, accept-language' : null)
          bodies.push(steady(await response.text()))
        }
        expect(bodies[1], `${phase} ${path}`).toBe(bodies[0])
      }
})

it('keeps nothing of a site’s open paths before the Worker, whatever the site says', async () => {
  const sale = await new TestSale().publish()
  const env = before({ sale: sale.name, paths: `/${sale.name}/held` })
  for (const said of [{}, { 'cache-control': 'public, max-age=60', 'cdn-cache-control': 'max-age=60' }]) {
    const path = `/${sale.name}/open-to-all`
    await stub(path, 200, 'the site', 0, said)
    const response = await call(path, { headers: { accept: 'text/html' } }, env)
    expect(await response.text()).toBe('the site')
    expect(response.headers.get('cloudflare-cdn-cache-control')).toBe('no-store')
  }
  // A new visitor who is sent to the queue gets the page that all see, and a visitor with a place gets their own.
  const newcomer = await call(`/${sale.name}/held`, { headers: { accept: 'text/html' } }, env)
  expect(newcomer.headers.get('location')).toBe(`/sales/${sale.name}`)
  const lobby = await new TestSale(60_000).publish()
  const place = cookiesOf(await lobby.join({ 'sec-fetch-site': 'same-origin' }))
  const headers = { accept: 'text/html', cookie: place }
  const waiting = await call('/held', { headers }, before({ sale: lobby.name, paths: '/*' }))
  expect(waiting.headers.get('location')).toBe(`/sales/${lobby.name}/line`)
})

it('lets no cache keep the responses to scripts, to forms, and while the settings are wrong', async () => {
  const sale = await new TestSale().publish()
  const form = { accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded', 'content-length': '15' }
  const cookie = await cookiesIn(sale.name)
  await stub(`/sales/${sale.name}/checkout`, 201, orderOf(sale.name, ORDER))
  const path = `/sales/${sale.name}`
  const requests: [status: number, path: string, init: RequestInit, env?: Env][] = [
    [201, `${path}/queue`, { method: 'POST', headers: { accept: 'text/html', 'sec-fetch-dest': 'empty' } }],
    [303, `${path}/buy`, { method: 'POST', headers: { ...form, cookie }, body: 'product_id=lamp' }],
    [429, `${path}/buy`, { method: 'POST', headers: form, body: 'product_id=lamp' }],
    [201, `${path}/checkout`, { method: 'POST', headers: { cookie, 'sec-fetch-site': 'same-origin' } }],
    [204, `/internal${path}/refresh`, { method: 'POST', headers: { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}` } }],
    [503, '/healthz', {}, { ...edgeEnv, QUEUE_KEYS: 'short' }],
  ]
  for (const [status, to, init, env] of requests) {
    const response = await call(to, init, env)
    expect([response.status, response.headers.get('cache-control')], to).toEqual([status, 'no-store'])
  }
})

it('gives a revalidating cache no old server time', async () => {
  const sale = await new TestSale().publish({ phase: 'paused' })
  const path = `/sales/${sale.name}/schedule`
  const { version } = await sale.until(({ phase }) => phase === 'paused')
  // The test controls the clock, so every response arrives at once.
  slowTimers()
  stopClock()
  let copy = await call(path)
  const body = async () => copy.clone().json<Schedule>()
  for (let times = 0; times < 3; times++) {
    // The clock moves past the time for which the response may be cached.
    vi.setSystemTime(Date.now() + 1_020)
    // On a busy machine an earlier refresh may still be in progress.
    await expect.poll(async () => (await sale.schedule()).server_time_ms).toBe(Date.now())
    const etag = copy.headers.get('etag') ?? ''
    const askedAtMs = Date.now()
    const answer = await call(path, { headers: { 'if-none-match': etag } })
    if (answer.status !== 304) copy = answer
    expect(askedAtMs - (await body()).server_time_ms).toBeLessThan(1_000)
  }
  expect((await body()).version).toBe(version)
})

it('sends its own asset for one of another version, uncached', async () => {
  const env: Env = { ...edgeEnv, BRAND_NAME: 'A shop', BRAND_ACCENT: '#0b6450' }
  const page = await (
    await call(`/sales/${(await new TestSale().publish()).name}`, { headers: { accept: 'text/html' } }, env)
  ).text()
  const [brand = ''] = /\/assets\/[a-z-]+brand[^"]+/.exec(page) ?? []
  for (const path of [
    style.path,
    script.path,
    proofStyle.path,
    proofScript.path,
    proofWorker.path,
    pushWorker.path,
    brand,
  ]) {
    const own = await call(path, {}, env)
    expect(own.headers.get('cache-control'), path).toContain('immutable')
    const other = await call(path.replace(/[0-9a-f]{16}/, '0123456789abcdef'), {}, env)
    expect([other.status, other.headers.get('cache-control')], path).toEqual([200, 'no-store'])
    expect(other.headers.get('content-type')).toBe(own.headers.get('content-type'))
    expect(await other.text()).toBe(await own.text())
  }
  expect((await call(pushWorker.path)).headers.get('content-security-policy')).toBe("default-src 'none'")
  for (const path of [
    style.path.replace('style', 'other'),
    style.path.replace('css', 'js'),
    '/assets/0123456789abcdef.css',
  ])
    expect((await call(path, {}, env)).status, path).toBe(404)
})
