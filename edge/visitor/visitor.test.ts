/** Visitors are signed in with the shop, or recognised by a cookie. */
import { runInDurableObject } from 'cloudflare:test'
import { decodeJwt, exportJWK, generateKeyPair } from 'jose'
import { expect, it, vi } from 'vitest'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { QUEUE, signToken } from '../../shared/tokens.ts'
import type { Call } from '../http/call.ts'
import { type Env, readConfig } from '../http/config.ts'
import { eventually } from '../testing/clocks.ts'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { keySet } from '../testing/settings.ts'
import {
  SHOP_KEYS,
  type ShopSession,
  shopSession as session,
  shopEnv,
  shopHas,
  shopKeys,
  signedIn,
} from '../testing/shop.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { call, cookiesOf, type Joined, knownCookie, TestSale } from '../testing/visitors.ts'
import { authenticate, visitorOf } from './visitor.ts'

const env = shopEnv

const signInFor = ({ name }: TestSale) =>
  `https://shop.test/sign-in?to=${encodeURIComponent(`http://edge.test/sales/${name}/line`)}`

const join = (sale: TestSale, headers: Record<string, string>, settings = env) => sale.joined(headers, settings)

it('lists an account’s orders on each of its devices, and on none where it has signed out', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/orders`
  await stub(path, 200, { orders: [] })
  const device = await sale.join({ 'sec-fetch-site': 'same-origin', ...(await signedIn('ada')) }, env)
  const cookie = cookiesOf(device)
  for (const headers of [await signedIn('ada'), { cookie, ...(await signedIn('ada')) }, { cookie }])
    expect((await call(path, { headers }, env)).status).toBe(200)
  const { calls, requests } = await requestsTo(path)
  expect(calls).toBe(2)
  for (const { headers } of requests) expect(decodeURIComponent(headers['edge-visitor'] ?? '')).toMatch(/\bada$/)
})

it('refuses a place or admission that was copied or sold, and sends whoever is signed out to sign in', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await join(sale, await signedIn('ada'))
  const status = (headers: Record<string, string>) => sale.status(queue_token, headers, env)
  expect([(await status({})).status, (await status(await signedIn('mallory'))).status]).toEqual([401, 401])
  const adas = await signedIn('ada')
  const ready = await eventually(async () => {
    const now = await (await status(adas)).json<QueueAnswer>()
    return now.status === 'ready' && now
  })

  const order = `/orders/${crypto.randomUUID()}`
  const sign_in_url = signInFor(sale)
  for (const [method, path] of [
    ['POST', `/sales/${sale.name}/checkout`],
    ['GET', order],
    ['DELETE', order],
  ] as const) {
    await stub(path, 200, { fine: true })
    const admitted = async (headers: Record<string, string>) => {
      const authorization = `Bearer ${ready.admission_token}`
      const response = await call(path, { method, headers: { authorization, ...headers } }, env)
      const { type, sign_in_url } = await response.json<{ type?: string; sign_in_url?: string }>()
      return [response.status, type, sign_in_url]
    }
    expect(await admitted(await signedIn('mallory')), method).toEqual([429, '/problems/not-admitted', undefined])
    expect(await admitted({}), method).toEqual([401, '/problems/signed-out', sign_in_url])
    expect(await admitted(await signedIn('ada')), method).toEqual([200, undefined, undefined])
  }
  const cookie = `admission-${sale.name}=${ready.admission_token}`
  for (const form of ['buy', `order/${crypto.randomUUID()}/payment`]) {
    const headers = { cookie, accept: 'text/html', 'content-type': 'application/x-www-form-urlencoded' }
    const init = { method: 'POST', headers, body: 'product_id=one' }
    const page = await call(`/sales/${sale.name}/${form}`, init, env)
    expect(page.status).toBe(401)
    expect(await page.text()).toContain(`class="button" href="${sign_in_url}"`)
  }
})

it('keeps the place of an account whose session has expired, and offers no other', async () => {
  const sale = await new TestSale().publish()
  const { number, queue_token } = await join(sale, await signedIn('ada'))
  const cookie = `queue-${sale.name}=${queue_token}`
  const sign_in_url = signInFor(sale)
  const way = (path: string, init: RequestInit = {}, headers: Record<string, string> = {}) =>
    call(`/sales/${sale.name}${path}`, { ...init, headers: { cookie, ...headers } }, env)
  for (const [path, method] of [
    ['/queue/status', 'GET'],
    ['/queue', 'POST'],
    ['/queue', 'DELETE'],
  ] as const) {
    const response = await way(path, { method })
    expect([response.status, await response.json()]).toMatchObject([401, { type: '/problems/signed-out', sign_in_url }])
    expect(response.headers.getSetCookie()).toEqual([])
  }
  const page = await way('/line')
  // The page's script shows the response as the current page.
  expect([page.status, page.headers.getSetCookie()]).toEqual([200, []])
  const text = await page.text()
  expect(text).toContain(`class="button" href="${sign_in_url}"`)
  expect(text).toContain('your place is kept')
  expect(text).not.toContain('<form')
  expect(await (await way('/queue', { method: 'POST' }, await signedIn('ada'))).json()).toMatchObject({ number })
  // The session belongs to another account, because the device has changed hands. The first account finds its number
  // on another device.
  const other = await way('/line', {}, await signedIn('grace'))
  expect(await other.text()).toContain('<form')
  expect(cookiesOf(other)).toBe('')
  expect(other.headers.getSetCookie().length).toBeGreaterThan(0)
  expect((await join(sale, await signedIn('ada'))).number).toBe(number)
})

it('has one place for an account that brings many places, taken without a session and given up', async () => {
  const sale = await new TestSale().publish()
  const taken = await Promise.all([1, 2, 3].map(() => join(sale, {})))
  const [line] = OPEN_TO_ALL.lines
  if (!line) throw new Error('no line')
  const lines = [{ ...line, access: { ...line.access, sign_in: 'required' as const } }]
  await sale.publish({ policy: { ...OPEN_TO_ALL, version: 'accounts', lines } })
  await sale.push()
  const account = await signedIn('ada')
  const again: Joined[] = []
  for (const { queue_token } of taken) {
    expect((await sale.leave(queue_token, env)).status).toBe(204)
    again.push(await join(sale, { authorization: `Bearer ${queue_token}`, ...account }))
  }
  again.push(await join(sale, account))
  expect(new Set(again.map(({ number }) => number)).size).toBe(1)
  expect(new Set(again.map(({ queue_token }) => decodeJwt(queue_token).sub))).toEqual(new Set(['user:ada']))
})

it('shows an account its place on a second device, which has no script', async () => {
  const sale = await new TestSale().publish()
  const ada = await signedIn('ada')
  const { number } = await join(sale, ada)
  const joined = await sale.form('/queue', {}, ada, env)
  expect([joined.status, joined.headers.get('location')]).toEqual([303, `/sales/${sale.name}/line?joined`])
  const page = await sale.line({ cookie: cookiesOf(joined), ...ada }, env)
  expect(await page.text()).toContain(`data-number="${number}"`)
})

it('ignores a session that is not valid', async () => {
  const sale = await new TestSale().publish()
  const stranger = await generateKeyPair('ES256')
  const sessions = [
    await session('ada', { key: stranger.privateKey }),
    await session('ada', { issuer: 'another shop of the same provider' }),
    await session('ada', { audience: 'another shop' }),
    await session('ada', { expires: '-1m' }),
    await session('ada', { expires: '-2s' }),
    await session('ada', { expires: null }),
    'junk',
  ]
  const ada = await join(sale, await signedIn('ada'))
  for (const bad of sessions) {
    const place = await join(sale, { cookie: `shop_session=${bad}` })
    expect(place.number).not.toBe(ada.number)
  }
})

it('ignores a session whose subject is not plain text or too long for a token', async () => {
  const sale = await new TestSale().publish()
  const nameAs = async (subject: string) => decodeJwt((await join(sale, await signedIn(subject))).queue_token).sub
  for (const subject of ['a\0b', 'a\nb', 'a\ud800b', '\u0085', 'x'.repeat(191)])
    expect(await nameAs(subject), JSON.stringify(subject)).not.toMatch(/^user:/)
  for (const subject of ['ada', 'Ädä 🎟', 'idp|123', 'x'.repeat(190)])
    expect(await nameAs(subject)).toBe(`user:${subject}`)
})

it('records nobody for a cookie that the edge has not given out', async () => {
  const sale = await new TestSale().publish({ ticket_shards: 1 })
  const [secret = '', tag = ''] = knownCookie('a-made-up-secret').replace('visitor-secret=', '').split('.')
  const otherTag = `${tag.startsWith('A') ? 'B' : 'A'}${tag.slice(1)}`
  const recorded = () =>
    runInDurableObject(sale.shard(0), (_, { storage }) => {
      const hasTable = storage.sql.exec("select 1 from sqlite_master where name = 'visitors'").toArray().length > 0
      return hasTable ? storage.sql.exec('select count(*) as many from visitors').one().many : 0
    })
  const names = ['user:ada', 'a-name-that-was-exported']
  const made = [secret, `${secret}.${otherTag}`, `${secret}.`, `${secret}.${tag}x`, 'short', 'x'.repeat(65), ...names]
  for (const value of made) {
    const cookie = `visitor-secret=${value}`
    const [first, second] = [await sale.joined({ cookie }), await sale.joined({ cookie })]
    expect(second.number, value).not.toBe(first.number)
    expect(decodeJwt(first.queue_token).sub, value).not.toBe(value)
    expect(await recorded(), value).toBe(0)
  }
  const { number } = await sale.joined({ cookie: knownCookie('a-made-up-secret') })
  expect(await recorded()).toBe(1)
  expect((await sale.joined({ cookie: knownCookie('a-made-up-secret') })).number).toBe(number)
})

it('knows a visitor by a secret, from which nobody can derive or choose the name', async () => {
  const sale = await new TestSale().publish()
  const joined = async (cookie: string) => {
    const response = await sale.join({ cookie })
    const { queue_token } = await response.json<{ queue_token: string }>()
    return { name: decodeJwt(queue_token).sub, secret: /visitor-secret=([^;]+)/.exec(cookiesOf(response))?.[1] }
  }
  const { name, secret } = await joined('')
  expect(secret).not.toBe(name)
  expect(await joined(`visitor-secret=${secret}`)).toEqual({ name, secret })
  expect((await joined(`visitor-secret=${name}`)).name).not.toBe(name)
})

it('fetches the shop’s new key when it is first used', async () => {
  const sale = await new TestSale().publish()
  const fresh = await generateKeyPair('ES256')
  const jwks = [
    { ...(await exportJWK(shopKeys.publicKey)), kid: 'one', alg: 'ES256' },
    { ...(await exportJWK(fresh.publicKey)), kid: 'two', alg: 'ES256' },
  ]
  await stub('/other-shop/jwks', 200, { keys: jwks })
  const other = { ...env, SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/other-shop/jwks` }
  const token = await session('ada', { key: fresh.privateKey, kid: 'two' })
  const headers = { 'x-shop-authorization': `Bearer ${token}` }
  const { number } = await join(sale, headers, other)
  expect(await join(sale, headers, other)).toMatchObject({ number })
})

it('reads a known place only until it expires, and only with the key that signed it', async () => {
  const config = await readConfig(edgeEnv)
  const nowMs = Date.now()
  const iat = Math.floor(nowMs / 1000)
  const claims = { sub: 'somebody', sale: 'drop', num: 7, iat, exp: iat + 60 }
  const token = await signToken(QUEUE, config.keys.queue, claims)
  const request = new Request('https://edge/', { headers: { authorization: `Bearer ${token}` } })
  const ctx = {} as ExecutionContext
  const shown: Call = {
    request,
    env: edgeEnv,
    ctx,
    config,
    secure: true,
    nowMs,
    requestId: 'test',
    setCookies: [],
    pageParts: [],
    onwards: [],
  }
  const holder = { sale: 'drop', place: { token, claims }, refusal: null }
  for (let times = 0; times < 2; times++) expect(await authenticate('drop', shown)).toEqual(holder)
  const bad = { sale: 'drop', place: null, refusal: 'invalid-token' }
  expect(await authenticate('another-drop', shown)).toEqual({ ...bad, sale: 'another-drop' })
  expect(await authenticate('drop', { ...shown, nowMs: nowMs + 66_000 })).toEqual(bad)
  const rotated = await readConfig({ ...edgeEnv, QUEUE_KEYS: keySet('another') })
  expect(await authenticate('drop', { ...shown, config: rotated })).toEqual(bad)
  expect(await authenticate('drop', shown)).toEqual(holder)
})

it('keeps a signed-in visitor’s place while the shop’s keys cannot be fetched', async () => {
  const sale = await new TestSale().publish()
  const browser = { 'sec-fetch-site': 'same-origin', cookie: `shop_session=${await session('ada')}` }
  const first = await sale.join(browser, env)
  const { number } = await first.json<{ number: number }>()
  const returning = { ...browser, cookie: `${browser.cookie}; ${cookiesOf(first)}` }
  await stub('/shop/away', 503, {})
  const away: Env = { ...env, SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}/shop/away` }
  for (const [method, path] of [
    ['GET', 'queue/status'],
    ['POST', 'queue'],
    ['POST', 'checkout'],
  ] as const) {
    const response = await call(`/sales/${sale.name}/${path}`, { method, headers: returning }, away)
    if (path !== 'checkout') expect([path, response.status]).toEqual([path, 503])
    expect(response.headers.getSetCookie()).toEqual([])
  }
  expect(await join(sale, returning)).toMatchObject({ number })
})

/** A signed-in visitor of a shop whose keys are at this path, at a given time. */
async function signedInAt(path: string, kid = 'one', changed: Partial<ShopSession> = {}) {
  const config = await readConfig({ ...env, SHOP_JWKS_URL: `${edgeEnv.ORIGIN_URL}${path}` })
  const token = await session('ada', { expires: '2h', kid, ...changed })
  const request = new Request('https://edge/', { headers: { 'x-shop-authorization': `Bearer ${token}` } })
  const ctx = { waitUntil: () => {} } as unknown as ExecutionContext
  return (nowMs: number) =>
    visitorOf(null, {
      request,
      env,
      ctx,
      config,
      secure: true,
      nowMs,
      requestId: 'test',
      setCookies: [],
      pageParts: [],
      onwards: [],
    })
}

const keysAsked = async (path: string) => (await requestsTo(path)).calls
const crowd = 50

it('refreshes the shop’s keys after the responses, once for all requests, and uses old ones meanwhile', async () => {
  const path = '/hanging/jwks'
  await shopHas(path, 'one')
  const visitor = await signedInAt(path)
  const ada = { name: 'user:ada', cookie: null, known: true }
  const nowMs = Date.now()
  expect(await visitor(nowMs)).toEqual(ada)
  await stub(path, 503, {})
  const { promise: isAnswered, resolve: answer } = Promise.withResolvers<void>()
  const realFetch = fetch
  const hanging = vi.spyOn(globalThis, 'fetch').mockImplementation(async (...request) => {
    await isAnswered
    return realFetch(...request)
  })
  for (const laterMs of [300_001, 300_002, 310_000]) {
    const all = await Promise.all(Array.from({ length: crowd }, () => visitor(nowMs + laterMs)))
    expect(all).toEqual(all.map(() => ada))
  }
  hanging.mockRestore()
  answer()
  await expect.poll(() => keysAsked(path)).toBe(2)
  // The fetch failed, so the next one waits.
  await visitor(nowMs + 320_000)
  expect(await keysAsked(path)).toBe(2)
  const later = async () => {
    await visitor(nowMs + 331_000)
    return keysAsked(path)
  }
  await expect.poll(later).toBe(3)
})

it('fetches missing or new keys once for all requests, and responds 503 until they are there', async () => {
  const path = '/new/jwks'
  const nowMs = Date.now()
  const comes = async (kid: string, laterMs: number) => {
    const visitor = await signedInAt(path, kid)
    const all = Array.from({ length: crowd }, () =>
      visitor(nowMs + laterMs).then(
        ({ name }) => name,
        (error) => error.problem.status,
      ),
    )
    return [...new Set(await Promise.all(all))]
  }
  await stub(path, 503, {}, 100)
  expect(await comes('one', 0)).toEqual([503])
  expect(await comes('one', 1_000)).toEqual([503])
  expect(await keysAsked(path)).toBe(1)
  await shopHas(path, 'one')
  expect(await comes('one', 2_000)).toEqual(['user:ada'])
  await stub(path, 503, {}, 100)
  expect(await comes('two', 60_000)).toEqual([503])
  expect(await keysAsked(path)).toBe(3)
  await shopHas(path, 'two')
  expect(await comes('two', 90_000)).toEqual(['user:ada'])
  expect(await keysAsked(path)).toBe(4)
})

it('responds 503 to a key that the shop may just have added, and ignores one that it does not have', async () => {
  const path = '/added/jwks'
  await shopHas(path, 'one')
  const nowMs = Date.now()
  const comes = async (laterMs: number, kid: string, issuedMs?: number) => {
    const issued = issuedMs === undefined ? {} : { issued: new Date(nowMs + issuedMs) }
    const visitor = await signedInAt(path, kid, issued)
    return visitor(nowMs + laterMs).then(
      ({ name, known }) => known && name,
      (error) => [error.problem.status, error.problem.retry_after_seconds],
    )
  }
  expect(await comes(0, 'one')).toBe('user:ada')
  await shopHas(path, 'one', 'two')
  expect(await comes(6_000, 'two', 5_000)).toEqual([503, 24])
  expect(await comes(6_000, 'two')).toEqual([503, 24])
  // A session from long before the keys were fetched was signed by a key that the shop has removed.
  expect(await comes(6_000, 'dropped', -3_600_000)).toBe(false)
  expect(await comes(30_000, 'two', 5_000)).toBe('user:ada')
  expect(await comes(60_000, 'junk', 60_000)).toBe(false)
})

it('takes a session from a shop whose clock is up to half a minute ahead', async () => {
  const nowMs = Date.now()
  const aheadBy = async (seconds: number) => {
    const at = new Date(nowMs + seconds * 1000)
    return (await (await signedInAt(SHOP_KEYS, 'one', { from: at, issued: at }))(nowMs)).known
  }
  expect([await aheadBy(2), await aheadBy(29), await aheadBy(40)]).toEqual([true, true, false])
})

it('checks a session’s expiry by the time of the request', async () => {
  const visitor = await signedInAt(SHOP_KEYS)
  const inHours = async (hours: number) => (await visitor(Date.now() + hours * 3_600_000)).name
  expect(await inHours(1)).toBe('user:ada')
  expect(await inHours(3)).not.toMatch(/^user:/)
})

it('verifies a session once, until the shop drops its key', async () => {
  const path = '/remembered/jwks'
  await shopHas(path, 'one')
  const visitor = await signedInAt(path)
  const verify = vi.spyOn(crypto.subtle, 'verify')
  const nowMs = Date.now()
  const ada = { name: 'user:ada', cookie: null, known: true }
  for (const laterMs of [0, 1_000, 2_000, 60_000]) expect(await visitor(nowMs + laterMs)).toEqual(ada)
  expect(verify).toHaveBeenCalledTimes(1)
  verify.mockRestore()
  // The keys are old by then, and are fetched behind the response.
  await shopHas(path, 'another')
  expect(await visitor(nowMs + 6 * 60_000)).toEqual(ada)
  await expect.poll(() => keysAsked(path)).toBe(2)
  await expect.poll(async () => (await visitor(nowMs + 7 * 60_000)).known).toBe(false)
})

it('prefers the place in the header to that in the cookie, unless the header has other credentials', async () => {
  const sale = await new TestSale().publish()
  const [sent, kept] = [await sale.joined(), await sale.joined()]
  const cookie = `queue-${sale.name}=${kept.queue_token}`
  const numberWith = async (authorization: string) =>
    (await sale.status('', { cookie, authorization })).json<{ number: number }>()
  expect(await numberWith(`Bearer ${sent.queue_token}`)).toMatchObject({ number: sent.number })
  expect(await numberWith('Basic abc')).toMatchObject({ number: kept.number })
})
