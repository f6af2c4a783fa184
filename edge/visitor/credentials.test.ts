/** Places and admissions: their keys and cookies, what is refused, and how long they last. */
import {
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
} from 'jose'
import { expect, it } from 'vitest'
import { importSecrets, newKeySet } from '../../shared/keys.ts'
import { ADMISSION, EDGE_ISSUER, QUEUE, type QueueClaims, signToken } from '../../shared/tokens.ts'
import { type Env, readConfig } from '../http/config.ts'
import { waitUntil } from '../testing/background.ts'
import { eventually } from '../testing/clocks.ts'
import { edgeEnv, stub } from '../testing/origin.ts'
import { keySet } from '../testing/settings.ts'
import { call, cookiesOf, knownCookie, TestSale } from '../testing/visitors.ts'
import worker from '../worker.ts'

it.concurrent('publishes the public halves of Ed25519 keys, by which anyone can check an admission', async () => {
  const { privateKey } = await generateKeyPair('Ed25519', { extractable: true })
  const { kty, crv, x, d } = await exportJWK(privateKey)
  const jwks = async (env: Env) => (await call('/.well-known/jwks.json', {}, env)).json<JSONWebKeySet>()
  expect(await jwks(edgeEnv)).toEqual({ keys: [] })
  const env = { ...edgeEnv, ADMISSION_KEYS: JSON.stringify({ keys: [{ kty, crv, x, d, kid: 'e' }] }) }
  const published = await jwks(env)
  expect(published).toEqual({ keys: [{ kty, crv, x, kid: 'e', alg: 'EdDSA', use: 'sig' }] })
  const sale = await new TestSale().publish()
  const { queue_token, number } = await sale.ready()
  const { admission_token = '' } = await sale.statusOf(queue_token, env)
  const { payload } = await jwtVerify(admission_token, createLocalJWKSet(published), {
    issuer: EDGE_ISSUER,
    audience: 'checkout',
  })
  expect(payload).toMatchObject({ sale: sale.name, num: number })
})

it.concurrent('keeps every place and turn while keys are rotated', async () => {
  const sale = await new TestSale().publish()
  const withKeys = (...kids: string[]): Env => ({
    ...edgeEnv,
    QUEUE_KEYS: keySet(...kids),
    ADMISSION_KEYS: keySet(...kids),
  })
  const [before, during, after] = [withKeys('old'), withKeys('new', 'old'), withKeys('new')]
  const path = `/sales/${sale.name}`
  const cookie = knownCookie('somebody-who-is-known', before)
  const first = await sale.joined({ cookie }, before)
  // While both keys are configured, the edge accepts the place that the old key signed, and the visitor by their
  // cookie alone.
  expect(await sale.statusOf(first.queue_token, during)).toMatchObject({ number: first.number })
  const again = await sale.joined({ cookie }, during)
  expect(again.number).toBe(first.number)
  expect(decodeProtectedHeader(again.queue_token).kid).toBe('new')
  await stub(`${path}/checkout`, 201, {})
  const checkout = async (env: Env, token = '') =>
    (await call(`${path}/checkout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }, env)).status
  const turn = await eventually(async () => {
    const now = await sale.statusOf(first.queue_token, before)
    return now.status === 'ready' && now
  })
  expect(await checkout(during, turn.admission_token)).toBe(201)
  const { admission_token } = await sale.statusOf(again.queue_token, during)
  expect(await checkout(after, admission_token)).toBe(201)
  expect(await sale.statusOf(again.queue_token, after)).toMatchObject({ number: first.number })
  expect(await checkout(after, turn.admission_token)).toBe(429)
})

it('gives no new place to a caller with an unreadable one', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  for (const authorization of ['Bearer', `Bearer ${queue_token} x`, `Bearer ${queue_token}, Bearer ${queue_token}`])
    expect((await sale.join({ authorization })).status, authorization).toBe(401)
  expect((await sale.join({ authorization: 'Basic YTpi' })).status).toBe(201)
})

it('refuses bad, expired, foreign and changed tokens, and never responds with a token', async () => {
  const sale = await new TestSale().publish()
  const other = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const { keys } = await readConfig(edgeEnv)
  const claims = decodeJwt(queue_token) as unknown as QueueClaims
  const changed = queue_token.replace(/.(.{10})$/, (end, kept) => (end[0] === 'A' ? 'B' : 'A') + kept)
  const bad = {
    junk: 'junk',
    'huge junk': 'x'.repeat(100_000),
    'another sale': (await other.joined()).queue_token,
    'another kind': await signToken(ADMISSION, keys.admission, { ...claims, jti: 'one' }),
    'another key': signToken(QUEUE, importSecrets(newKeySet()), claims),
    expired: await signToken(QUEUE, keys.queue, { ...claims, exp: claims.iat - 6 }),
    'a changed signature': changed,
  }
  for (const [what, token] of Object.entries(bad)) {
    const requests = [
      () => sale.status(token),
      () => sale.join({ authorization: `Bearer ${token}` }),
      () => sale.leave(token),
      () => sale.join({ cookie: `queue-${sale.name}=${token}` }),
    ]
    for (const request of requests) {
      const response = await request()
      expect(response.status, what).toBe(401)
      expect(cookiesOf(response), what).toBe('')
      const body = await response.json<{ type: string }>()
      expect(body.type).toBe('/problems/invalid-token')
      expect(JSON.stringify(body)).not.toMatch(/token":|eyJ/)
    }
  }
  expect((await sale.status(null)).status).toBe(401)
})

it('extends a place when the opening is put off', async () => {
  const sale = await new TestSale(600_000).publish()
  const { queue_token } = await sale.joined()
  await sale.publish({ opensInMs: 3 * 86_400_000 })
  await sale.push()
  const { opens_at } = await sale.until((schedule) => Date.parse(schedule.opens_at) - Date.now() > 86_400_000)
  const again = await sale.joined({ authorization: `Bearer ${queue_token}` })
  expect(decodeJwt(again.queue_token).exp).toBeGreaterThan(Date.parse(opens_at) / 1000)
  const cookie = `queue-${sale.name}=${queue_token}`
  const page = await sale.line({ cookie })
  const kept = cookiesOf(page).split('=')[1] ?? ''
  expect(decodeJwt(kept).exp).toBeGreaterThan(Date.parse(opens_at) / 1000)
})

it('extends the place of a waiting visitor, and signs it only now and then', async () => {
  const sale = await new TestSale().publish()
  const { queue_token, number } = await sale.joined()
  expect(await sale.statusOf(queue_token)).not.toHaveProperty('queue_token')
  const { keys } = await readConfig(edgeEnv)
  const seconds = Math.floor(Date.now() / 1000)
  const waited = { sub: 'somebody-who-waits', sale: sale.name, num: number, iat: seconds - 72_000 }
  const old = await signToken(QUEUE, keys.queue, { ...waited, exp: seconds + 3_600 })
  const answer = await sale.statusOf(old)
  expect(answer).toMatchObject({ number, queue_token: expect.any(String) })
  const renewed = answer.queue_token ?? ''
  expect(decodeJwt(renewed)).toMatchObject(waited)
  expect(decodeJwt(renewed).exp).toBeGreaterThan(seconds + 72_000)
  expect(await sale.statusOf(renewed)).not.toHaveProperty('queue_token')
  const cookie = `queue-${sale.name}=${old}`
  const browser = await sale.status(null, { cookie, 'sec-fetch-site': 'same-origin' })
  expect(await browser.json()).not.toHaveProperty('queue_token')
  const kept = /queue-[^=]*=([^;]*)/.exec(cookiesOf(browser))?.[1] ?? ''
  expect(decodeJwt(kept).exp).toBeGreaterThan(seconds + 72_000)
})

it.concurrent('keeps a browser’s tokens in cookies, out of reach of page script', async () => {
  const sale = await new TestSale().publish()
  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' })
  expect(await joined.json()).not.toHaveProperty('queue_token')
  for (const cookie of joined.headers.getSetCookie()) expect(cookie).toMatch(/; HttpOnly; SameSite=Lax$/)
  const headers = { cookie: cookiesOf(joined), 'sec-fetch-site': 'same-origin' }
  const ready = await eventually(async () => {
    const response = await sale.status(null, headers)
    const body = await response.json<{ status: string }>()
    return body.status === 'ready' && { body, cookies: cookiesOf(response) }
  })
  expect(ready.body).toHaveProperty('admission_expires_at')
  expect(ready.body).not.toHaveProperty('admission_token')
  expect(ready.cookies).toContain(`admission-${sale.name}=`)
})

it('marks cookies as secure and of this host alone over https, and always in production', async () => {
  const sale = await new TestSale().publish()
  // The Worker knows the sale from here on.
  await sale.schedule()
  // The address is in a network from which no other test joins too often.
  const headers = { 'cf-connecting-ip': '198.18.7.1' }
  const context = { waitUntil } as unknown as ExecutionContext
  for (const [scheme, ENVIRONMENT] of [
    ['https', 'development'],
    ['http', 'production'],
  ] as const) {
    const request = new Request(`${scheme}://edge.test/sales/${sale.name}/queue`, { method: 'POST', headers })
    const response = await worker.fetch(request as never, { ...edgeEnv, ENVIRONMENT }, context)
    const isProduction = ENVIRONMENT === 'production'
    expect(response.headers.get('strict-transport-security')).toBe(isProduction ? 'max-age=31536000' : null)
    const cookies = response.headers.getSetCookie()
    expect(cookies.length).toBeGreaterThan(1)
    for (const cookie of cookies) expect(cookie).toMatch(/^__Host-.*; Path=\/; HttpOnly; Secure; SameSite=Lax$/)
  }
})

it('explains to a browser that refuses cookies what is missing, but not to one that was sent the address', async () => {
  const sale = await new TestSale().publish()
  const form = { accept: 'text/html', 'sec-fetch-site': 'same-origin' }
  const joined = await sale.join(form)
  const location = joined.headers.get('location') ?? ''
  const page = async (headers: Record<string, string>) => (await call(location, { headers })).text()
  expect(await page(form)).toContain('This needs cookies')
  expect(await page(form)).not.toContain('<form')
  expect(await page({ ...form, 'sec-fetch-site': 'none' })).toContain('Join the line')
  // After leaving in another tab, a browser still has its other cookies.
  const others = cookiesOf(joined).replace(/(queue|admission)-[^;]*/g, '')
  expect(await page({ ...form, cookie: others })).toContain('Join the line')
  // A page's script cannot read the other cookies, so the response to its join has one more.
  const byScript = await sale.join({ ...form, 'sec-fetch-dest': 'empty' })
  const readable = byScript.headers.getSetCookie().filter((cookie) => !cookie.includes('HttpOnly'))
  expect(readable).toEqual(['joined=1; Max-Age=3600; Path=/; SameSite=Lax'])
  // The page of a place is loaded again from the same address, and then explains that its cookies were deleted.
  expect(await page({ ...form, cookie: cookiesOf(joined) })).toContain(`data-path="${location}"`)
})

it('leads pages at localhost to the address of the other parts during development, and only there', async () => {
  const to = async (url: string, ENVIRONMENT = 'development', accept = 'text/html') => {
    const context = { waitUntil } as unknown as ExecutionContext
    const request = new Request(url, { headers: { accept }, redirect: 'manual' })
    return (await worker.fetch(request as never, { ...edgeEnv, ENVIRONMENT }, context)).headers.get('location')
  }
  const own = 'http://localhost:8787/sales/x?lang=de'
  expect(await to(own)).toBe('http://127.0.0.1:8787/sales/x?lang=de')
  expect(await to(own, 'production')).toBeNull()
  expect(await to(own, 'development', 'application/json')).toBeNull()
  expect(await to('http://localhost.test/sales/x')).toBeNull()
})
