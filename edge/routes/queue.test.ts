import { runInDurableObject } from 'cloudflare:test'
import {
  base64url,
  createLocalJWKSet,
  decodeJwt,
  decodeProtectedHeader,
  exportJWK,
  generateKeyPair,
  type JSONWebKeySet,
  jwtVerify,
  SignJWT,
  UnsecuredJWT,
} from 'jose'
import { expect, it, onTestFinished, vi } from 'vitest'
import type { QueueAnswer } from '../../shared/api/public.ts'
import { positionOf } from '../../shared/draw.ts'
import { ADMISSION, EDGE_ISSUER, QUEUE, readToken, signToken } from '../../shared/tokens.ts'
import { type Env, readConfig } from '../config.ts'
import type { TicketShard } from '../queue/ticket-shard.ts'
import { call, cookiesOf, edgeEnv, keySet, product, stub, TestSale, withShards } from '../testing/visitors.ts'

const [{ kid, k }] = JSON.parse(edgeEnv.QUEUE_KEYS).keys
const secret = base64url.decode(k)

async function problemOf(response: Response) {
  expect(response.headers.get('content-type')).toBe('application/problem+json')
  return response.json<{ type: string; status: number }>()
}

it('gives each newcomer the next number, and the same visitor the same number again', async () => {
  const sale = await new TestSale().publish()
  const first = await sale.join()
  expect(first.status).toBe(201)
  const place = await first.json<{ number: number; queue_token: string }>()
  expect((await sale.joined()).number).toBe(place.number + 1)
  for (const headers of [{ authorization: `Bearer ${place.queue_token}` }, { cookie: cookiesOf(first) }]) {
    const again = await sale.join(headers)
    expect(again.status).toBe(200)
    expect(await again.json()).toMatchObject({ number: place.number, queue_token: place.queue_token })
  }
})

it.concurrent('gives one visitor one number, however many tabs join at once', async () => {
  const sale = await new TestSale().publish()
  const cookie = 'visitor-secret=someone-with-many-tabs'
  const places = await Promise.all(Array.from({ length: 20 }, () => sale.joined({ cookie })))
  expect(new Set(places.map((place) => place.number)).size).toBe(1)
})

it.concurrent('calls visitors in their order at the configured rate, each with a token that anyone can check', async () => {
  const sale = await new TestSale().publish({ admission: { rate_per_second: 20, max_inside: null } })
  const places = []
  for (let i = 0; i < 30; i++) places.push(await sale.joined())
  const began = performance.now()
  const called: number[] = []
  while (called.length < places.length && performance.now() - began < 10_000) {
    for (const { queue_token, number } of places.slice(called.length)) {
      const place = await sale.statusOf(queue_token)
      if (place.status !== 'ready') {
        expect(place).toMatchObject({ status: 'waiting', position_in_queue: number - place.now_serving })
        break
      }
      called.push(number)
      expect(place.position_in_queue).toBe(0)
      const { keys } = await readConfig(edgeEnv)
      const verified = await readToken(ADMISSION, keys.admission, place.admission_token ?? '', Date.now())
      expect(verified).toMatchObject({ ok: true, claims: { sale: sale.name, num: number } })
    }
    await scheduler.wait(10)
  }
  const seconds = (performance.now() - began) / 1000
  expect(called).toEqual(places.map((place) => place.number))
  expect(seconds).toBeGreaterThan(0.9)
  expect(seconds).toBeLessThan(8)
})

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
  const place = { headers: { authorization: `Bearer ${queue_token}` } }
  const { admission_token = '' } = await (
    await call(`/sales/${sale.name}/queue/status`, place, env)
  ).json<QueueAnswer>()
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
  const cookie = 'visitor-secret=somebody-who-is-known'
  const join = async (env: Env, headers: Record<string, string>) =>
    (await call(`${path}/queue`, { method: 'POST', headers }, env)).json<QueueAnswer>()
  const first = await join(before, { cookie })
  const statusOf = async (env: Env, token = '') => {
    const headers = { authorization: `Bearer ${token}` }
    return (await call(`${path}/queue/status`, { headers }, env)).json<QueueAnswer>()
  }
  // The place that the old key signed, and the visitor by their cookie alone, are known while both keys are there.
  expect(await statusOf(during, first.queue_token)).toMatchObject({ number: first.number })
  const again = await join(during, { cookie })
  expect(again.number).toBe(first.number)
  expect(decodeProtectedHeader(again.queue_token ?? '').kid).toBe('new')
  await stub(`${path}/checkout`, 201, {})
  const checkout = async (env: Env, token = '') =>
    (await call(`${path}/checkout`, { method: 'POST', headers: { authorization: `Bearer ${token}` } }, env))
      .status
  let turn = await statusOf(before, first.queue_token)
  for (; turn.status !== 'ready'; turn = await statusOf(before, first.queue_token)) await scheduler.wait(20)
  expect(await checkout(during, turn.admission_token)).toBe(201)
  const { admission_token } = await statusOf(during, again.queue_token)
  expect(await checkout(after, admission_token)).toBe(201)
  expect(await statusOf(after, again.queue_token)).toMatchObject({ number: first.number })
  expect(await checkout(after, turn.admission_token)).toBe(429)
})

it.concurrent('draws the order of those who came before the opening, as anyone can recompute', async () => {
  const sale = await new TestSale(1_500).publish({ admission: { rate_per_second: 1, max_inside: null } })
  const before = []
  for (let i = 0; i < 20; i++) before.push(await sale.joined())
  for (const place of before) expect(place).toMatchObject({ status: 'pre_queue', position_in_queue: null })
  const { draw_commitment, draw_seed } = await sale.schedule()
  expect(draw_seed).toBeNull()
  await sale.publish({ opensInMs: 0 })
  await scheduler.wait(1_500)
  await sale.push()
  const after = await sale.joined()
  const schedule = await sale.until((s) => s.draw_seed !== null)
  const seed = schedule.draw_seed ?? ''
  const digest = await crypto.subtle.digest(
    'SHA-256',
    Uint8Array.from(seed.match(/../g) ?? [], (b) => Number.parseInt(b, 16)),
  )
  expect([...new Uint8Array(digest)].map((b) => b.toString(16).padStart(2, '0')).join('')).toBe(
    draw_commitment,
  )
  expect(after.number).toBeGreaterThan(schedule.pre_queue_size)
  const positions = new Set<number>()
  for (const { queue_token, number } of before) {
    const place = await sale.statusOf(queue_token)
    const position = positionOf({ seed, size: schedule.pre_queue_size }, number)
    positions.add(position)
    expect(place.position_in_queue).toBe(Math.max(0, position - place.now_serving))
  }
  expect(positions.size).toBe(20)
})

it.concurrent('tells a visitor whose turn has passed, and gives them one new number at the end', async () => {
  const sale = await new TestSale().publish()
  const place = await sale.ready()
  await sale.until((schedule) => schedule.missed_through >= place.number, 8_000)
  expect(await sale.statusOf(place.queue_token)).toMatchObject({
    status: 'missed_turn',
    number: place.number,
  })
  const headers = { authorization: `Bearer ${place.queue_token}` }
  const [first, second] = await Promise.all([sale.join(headers), sale.join(headers)])
  expect([first.status, second.status].sort()).toEqual([200, 201])
  const number = (await first.json<{ number: number }>()).number
  expect(number).toBeGreaterThan(place.number)
  expect(await second.json()).toMatchObject({ number })
})

it.concurrent('lets no newcomer miss a turn that was called before they came', async () => {
  const sale = await new TestSale().publish({ admission: { rate_per_second: 1000, max_inside: null } })
  let last = 0
  for (let i = 0; i < 60; i++) last = (await sale.joined()).number
  // Everybody is called, and has missed their turn; the line has stood ready for the next one ever since.
  await sale.until((schedule) => schedule.missed_through >= last, 8_000)
  const newcomer = await sale.joined()
  expect(newcomer.number).toBeGreaterThan(last)
  expect(newcomer.status).not.toBe('missed_turn')
})

it('says when it is too early to join', async () => {
  const sale = await new TestSale(60_000).publish({
    pre_queue_opens_at: new Date(Date.now() + 30_000).toISOString(),
    pre_queue_opens_in_ms: 30_000,
  })
  const response = await sale.join()
  expect(response.status).toBe(425)
  expect(await problemOf(response)).toMatchObject({
    type: '/problems/not-open',
    opens_at: expect.any(String),
  })
})

it('lets a visitor leave, and join again at the end', async () => {
  const sale = await new TestSale().publish()
  const cookie = 'visitor-secret=someone-who-changes-mind'
  const place = await sale.joined({ cookie })
  const left = await sale.leave(place.queue_token)
  expect(left.status).toBe(204)
  expect(cookiesOf(left)).toBe('')
  const again = await sale.joined({ cookie })
  expect(again.number).toBeGreaterThan(place.number)
})

it('keeps the lot of a visitor who leaves the lobby and joins again', async () => {
  const sale = await new TestSale().publish({ opensInMs: 60_000 })
  const cookie = 'visitor-secret=someone-who-wants-many-lots'
  const place = await sale.joined({ cookie })
  await sale.leave(place.queue_token)
  expect((await sale.joined({ cookie })).number).toBe(place.number)
})

it('keeps the lot of one whom nobody knew until they left', async () => {
  const sale = await new TestSale().publish({ opensInMs: 60_000 })
  const first = await sale.join()
  const { number, queue_token } = await first.json<{ number: number; queue_token: string }>()
  const left = await sale.leave(queue_token)
  const cookie = cookiesOf(first)
    .split('; ')
    .find((pair) => pair.startsWith('visitor-secret='))
  expect(left.status).toBe(204)
  expect((await sale.joined({ cookie: cookie ?? '' })).number).toBe(number)
})

it('gives nobody a new place who shows one that cannot be read', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  for (const authorization of [
    'Bearer',
    `Bearer ${queue_token} x`,
    `Bearer ${queue_token}, Bearer ${queue_token}`,
  ])
    expect((await sale.join({ authorization })).status, authorization).toBe(401)
  expect((await sale.join({ authorization: 'Basic YTpi' })).status).toBe(201)
})

it('refuses bad, expired, foreign, flipped and unsigned tokens, and never answers one with a token', async () => {
  const sale = await new TestSale().publish()
  const other = await new TestSale().publish()
  const { queue_token, number } = await sale.joined()
  const seconds = Math.floor(Date.now() / 1000)
  const claims = {
    sub: 'a-visitor-of-ours',
    sale: sale.name,
    num: number,
    iat: seconds - 60,
    exp: seconds + 60,
  }
  const signed = (changed: object, key: Uint8Array = secret) =>
    new SignJWT({ ...claims, iss: EDGE_ISSUER, aud: 'queue', ...changed })
      .setProtectedHeader({ alg: 'HS256', typ: 'JWT', kid })
      .sign(key)
  const parts = queue_token.split('.')
  const flip = (text: string, at: number) =>
    text.slice(0, at) + (text[at] === 'A' ? 'B' : 'A') + text.slice(at + 1)
  const bad = {
    junk: 'junk',
    'foreign sale': (await other.joined()).queue_token,
    expired: await signed({ exp: seconds - 1 }),
    'another key': await signed({}, new Uint8Array(32).fill(7)),
    'another audience': await signed({ aud: 'checkout' }),
    'another issuer': await signed({ iss: 'somebody' }),
    'a negative number': await signed({ num: -1 }),
    'alg none': new UnsecuredJWT({ ...claims, iss: EDGE_ISSUER, aud: 'queue' }).encode(),
    'no signature': `${parts[0]}.${parts[1]}.`,
    'a flipped payload': [parts[0], flip(parts[1] ?? '', 20), parts[2]].join('.'),
    'a flipped signature': [parts[0], parts[1], flip(parts[2] ?? '', 10)].join('.'),
    'a flipped last letter': flip(queue_token, queue_token.length - 1),
    'huge junk': 'x'.repeat(100_000),
  }
  expect((await sale.status(await signed({}))).status).toBe(200)
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
      const body = await problemOf(response)
      expect(body.type).toBe('/problems/invalid-token')
      expect(JSON.stringify(body)).not.toMatch(/token":|eyJ/)
    }
  }
  expect((await call(`/sales/${sale.name}/queue/status`)).status).toBe(401)
})

it('serves a crowd that meets an isolate before it knows of the sale', async () => {
  const sale = await new TestSale().publish({ delayMs: 400 })
  const joins = await Promise.all(Array.from({ length: 300 }, () => sale.join()))
  expect(new Set(joins.map((join) => join.status))).toEqual(new Set([201]))
  const unknown = await Promise.all(
    Array.from({ length: 300 }, () => call('/sales/nobody-knows-it/queue', { method: 'POST' })),
  )
  expect(new Set(unknown.map((answer) => answer.status))).toEqual(new Set([404]))
})

it('answers unknown sales, unknown paths and wrong methods as the contract says', async () => {
  for (const [method, path, status, type] of [
    ['POST', '/sales/no-such-sale/queue', 404, 'unknown-sale'],
    ['GET', '/sales/no-such-sale', 404, 'unknown-sale'],
    ['GET', '/sales/no-such-sale/schedule', 404, 'unknown-sale'],
    ['GET', '/sales/%F0%9F%98%80/schedule', 404, 'unknown-sale'],
    ['GET', '/sales/..%2fadmin/schedule', 404, 'unknown-sale'],
    ['GET', '/nothing/here', 404, 'not-found'],
    ['GET', '/', 404, 'not-found'],
    ['GET', '/sales', 404, 'unknown-sale'],
    ['GET', '/internal/sales/x', 404, 'not-found'],
    ['POST', '/internal/sales/x/refresh', 401, 'unauthorized'],
    ['GET', '/orders/junk', 404, 'unknown-order'],
    ['PUT', '/healthz', 405, 'method-not-allowed'],
    ['PATCH', '/sales/x/queue', 405, 'method-not-allowed'],
  ] as const) {
    const response = await call(path, { method })
    expect(response.status, `${method} ${path}`).toBe(status)
    expect((await problemOf(response)).type, `${method} ${path}`).toBe(`/problems/${type}`)
  }
})

it('shows a page to a browser that goes astray, with the status of the problem', async () => {
  for (const path of ['/nothing/here', '/sales/no-such-sale', '/orders/junk']) {
    const response = await call(path, { headers: { accept: 'text/html,*/*' } })
    expect(response.status).toBe(404)
    expect(response.headers.get('content-type')).toContain('text/html')
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'")
    expect(await response.text()).toContain('<h1 ')
  }
})

it('looks up only so many made-up names in a second', async () => {
  // However long it takes to ask, it is the same second.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  const statuses = await Promise.all(
    Array.from({ length: 120 }, async (_, i) => (await call(`/sales/made-up-${i}/schedule`)).status),
  )
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(30)
  const response = await call('/sales/made-up-again/schedule')
  if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1')
  await scheduler.wait(1_000)
})

it('answers a browser without scripts by sending it back to the page', async () => {
  const sale = await new TestSale().publish()
  const form = { accept: 'text/html,*/*', 'sec-fetch-site': 'same-origin' }
  const joined = await sale.join(form)
  expect(joined.status).toBe(303)
  const location = joined.headers.get('location') ?? ''
  expect(location).toBe(`/sales/${sale.name}?joined`)
  const cookie = cookiesOf(joined)
  expect(cookie).toContain(`queue-${sale.name}=`)
  const page = await call(location, { headers: { ...form, cookie } })
  expect(await page.text()).toMatch(/id="(line|turn)"/)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'")
  const foreign = await sale.join({ 'sec-fetch-site': 'cross-site' })
  expect(foreign.status).toBe(403)
})

it('leads from the address of a form, opened as a page, to the page that it stands on', async () => {
  const page = '/sales/x'
  const order = `${page}/order/${crypto.randomUUID()}`
  const forms = [
    ...['queue', 'leave', 'buy'].map((form) => [`${page}/${form}`, page] as const),
    ...['payment', 'cancel'].map((form) => [`${order}/${form}`, order] as const),
  ]
  for (const [path, wanted] of forms) {
    const opened = await call(path, { headers: { accept: 'text/html' } })
    expect([opened.status, opened.headers.get('location')], path).toEqual([303, wanted])
    expect((await call(path)).status).toBe(405)
  }
})

it('makes a place last when the opening is put off', async () => {
  const sale = await new TestSale(600_000).publish()
  const { queue_token } = await sale.joined()
  await sale.publish({ opensInMs: 3 * 86_400_000 })
  await sale.push()
  const { opens_at } = await sale.until((schedule) => Date.parse(schedule.opens_at) - Date.now() > 86_400_000)
  const again = await sale.joined({ authorization: `Bearer ${queue_token}` })
  expect(decodeJwt(again.queue_token).exp).toBeGreaterThan(Date.parse(opens_at) / 1000)
  const cookie = `queue-${sale.name}=${queue_token}`
  const page = await call(`/sales/${sale.name}`, { headers: { accept: 'text/html', cookie } })
  const kept = cookiesOf(page).split('=')[1] ?? ''
  expect(decodeJwt(kept).exp).toBeGreaterThan(Date.parse(opens_at) / 1000)
})

it('makes the place of whoever asks where they stand last for as long as they wait, and signs it now and then', async () => {
  const sale = await new TestSale().publish()
  const { queue_token, number } = await sale.joined()
  expect(await sale.statusOf(queue_token)).not.toHaveProperty('queue_token')
  const { keys } = await readConfig(edgeEnv)
  const seconds = Math.floor(Date.now() / 1000)
  const waited = { sub: 'somebody-who-waits', sale: sale.name, num: number, iat: seconds - 72_000 }
  const old = await signToken(QUEUE, keys.queue, { ...waited, exp: seconds + 3_600 })
  const told = await sale.statusOf(old)
  expect(told).toMatchObject({ number, queue_token: expect.any(String) })
  const renewed = told.queue_token ?? ''
  expect(decodeJwt(renewed)).toMatchObject(waited)
  expect(decodeJwt(renewed).exp).toBeGreaterThan(seconds + 72_000)
  expect(await sale.statusOf(renewed)).not.toHaveProperty('queue_token')
  const cookie = `queue-${sale.name}=${old}`
  const browser = await call(`/sales/${sale.name}/queue/status`, {
    headers: { cookie, 'sec-fetch-site': 'same-origin' },
  })
  expect(await browser.json()).not.toHaveProperty('queue_token')
  const kept = /queue-[^=]*=([^;]*)/.exec(cookiesOf(browser))?.[1] ?? ''
  expect(decodeJwt(kept).exp).toBeGreaterThan(seconds + 72_000)
})

it('asks nobody when somebody leaves a sale that is sold out', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  await sale.publish({ phase: 'sold_out', products: [product(0, 0, 10_000)] })
  await sale.push()
  await sale.until((schedule) => schedule.phase === 'sold_out')
  await call(`/sales/${sale.name}`)
  let asked = 0
  const counting = withShards(() => {
    asked++
    return sale.shard(0)
  })
  const headers = { authorization: `Bearer ${queue_token}` }
  expect((await call(`/sales/${sale.name}/queue`, { method: 'DELETE', headers }, counting)).status).toBe(204)
  expect(asked).toBe(0)
})

it('lets no neighbouring host act in a visitor’s name', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const headers = { 'sec-fetch-site': 'same-site', cookie: `queue-${sale.name}=${queue_token}` }
  expect((await call(`/sales/${sale.name}/leave`, { method: 'POST', headers })).status).toBe(403)
})

it('leaves nothing behind of a sale that is none', async () => {
  const name = `made-up-${Date.now()}`
  await stub(`/internal/sales/${name}`, 404, {})
  expect((await call(`/sales/${name}`)).status).toBe(404)
  const shard = edgeEnv.TICKET_SHARD.getByName(`${name}/0`) as DurableObjectStub<TicketShard>
  const tables = (_: TicketShard, state: DurableObjectState) =>
    state.storage.sql.exec('select name from sqlite_master').toArray()
  expect(await runInDurableObject(shard, tables)).toEqual([])
})

it('shows the turn for as long as the admission is good, also when the time to come for it is over', async () => {
  const sale = await new TestSale().publish()
  const { queue_token, admission_token, number } = await sale.ready()
  const place = `queue-${sale.name}=${queue_token}`
  await sale.until((schedule) => schedule.missed_through >= number, 8_000)
  const shown = async (cookie: string) => {
    const response = await call(`/sales/${sale.name}`, { headers: { accept: 'text/html', cookie } })
    return [(await response.text()).includes('id="turn"'), cookiesOf(response).includes('admission-')]
  }
  expect(await shown(place)).toEqual([false, false])
  expect(await shown(`${place}; admission-${sale.name}=${admission_token}`)).toEqual([true, false])
}, 12_000)

it('speaks the language that the browser likes best', async () => {
  const sale = await new TestSale(60_000).publish()
  const spoken = async (wanted: string) => {
    const headers = { accept: 'text/html', 'accept-language': wanted }
    return /<html lang="(..)"/.exec(await (await call(`/sales/${sale.name}`, { headers })).text())?.[1]
  }
  expect(await spoken('de-DE,de;q=0.9,en;q=0.8')).toBe('de')
  expect(await spoken('en;q=0.1, de')).toBe('de')
  expect(await spoken('de;q=0, en')).toBe('en')
  expect(await spoken('fr, nonsense;q=x')).toBe('en')
  // Slave, which is spoken in Canada: a code that begins alike is another language's.
  expect(await spoken('den')).toBe('en')
})
