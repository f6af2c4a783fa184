/** The waiting room in front of another site, which is a plain HTTP server here and does not know about it. */
import { decodeJwt } from 'jose'
import { expect, it } from 'vitest'
import { ADMISSION, ADMISSION_TTL_SECONDS, QUEUE, readToken, signToken } from '../../shared/tokens.ts'
import { type Env, readConfig } from '../http/config.ts'
import { eventually, stopClock } from '../testing/clocks.ts'
import { before, edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { OPEN_TO_ALL, product } from '../testing/simulation.ts'
import { call, cookiesOf, TestSale } from '../testing/visitors.ts'

const protecting = (sale: TestSale, more: object = {}): Env =>
  before({ sale: sale.name, paths: `/${sale.name}/*`, bypass: ['*.css', '*/open/*'], ...more })

const page = { accept: 'text/html' }

/** A sale before a site that has one page, which is protected. */
async function siteWith(under: string, env: Partial<Env> = {}, site: object = {}) {
  const sale = await new TestSale().publish()
  const path = `/${sale.name}${under}`
  await stub(path, 200, 'the site')
  return { sale, path, env: { ...protecting(sale, site), ...env } }
}

/** A visitor whose turn has come, with the cookies of their browser. */
async function ready(sale: TestSale) {
  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' })
  const cookies = cookiesOf(joined)
  const { queue_token, admission_token } = await sale.ready({ cookie: cookies })
  const secret = /visitor-secret=[^;]*/.exec(cookies)?.[0] ?? ''
  const place = `queue-${sale.name}=${queue_token}`
  const admission = `admission-${sale.name}=${admission_token}`
  return { secret, place, admission, cookie: `${secret}; ${place}; ${admission}` }
}

it('keeps who is blocked off the site, admitted or not', async () => {
  const { sale, env, path } = await siteWith('/lamp')
  const { secret, place, admission } = await ready(sale)
  const statuses = () =>
    Promise.all(
      [`${secret}; ${place}`, `${secret}; ${admission}`].map(
        async (cookie) =>
          (await call(path, { headers: { ...page, cookie, 'cf-connecting-ip': '192.0.2.7' } }, env)).status,
      ),
    )
  expect(await statuses()).toEqual([200, 200])
  await sale.publish({ policy: { ...OPEN_TO_ALL, version: 'v2', blocks: [{ address: '192.0.2.0/24' }] } })
  await sale.push()
  await expect.poll(statuses).toEqual([403, 403])
})

it('holds visitors of protected paths until their turn, and lets them through then', async () => {
  const { sale, env, path } = await siteWith('/lamp?colour=red')
  const held = await call(path, { headers: page }, env)
  expect(held.status).toBe(302)
  expect(held.headers.get('location')).toBe(`/sales/${sale.name}`)
  expect((await requestsTo(path)).calls).toBe(0)

  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' }, env)
  const cookie = `${cookiesOf(held)}; ${cookiesOf(joined)}`
  const turn = await eventually(async () => {
    const line = await sale.line({ cookie }, env)
    return line.status === 303 && line
  })
  expect(turn.headers.get('location')).toBe(path)

  const admitted = { ...page, cookie: `${cookie}; ${cookiesOf(turn)}; basket=1` }
  const shown = await call(path, { headers: admitted }, env)
  expect(await shown.text()).toBe('the site')
  const { requests } = await requestsTo(path)
  // The site receives its own cookies, none of the edge's, and an admission that it can verify.
  expect(requests[0]?.headers.cookie).toBe('basket=1')
  await call(path, { headers: { ...admitted, cookie: `${cookie}; ${cookiesOf(turn)}` } }, env)
  expect((await requestsTo(path)).requests.at(-1)?.headers).not.toHaveProperty('cookie')
  expect(requests[0]?.query).toBe('colour=red')
  const { keys } = await readConfig(edgeEnv)
  const token = requests[0]?.headers['x-admission-token'] ?? ''
  expect(await readToken(ADMISSION, keys.admission, token, Date.now())).toMatchObject({ ok: true })
  expect(requests[0]?.headers['x-forwarded-host']).toBe('edge.test')
  expect(requests[0]?.headers['x-forwarded-proto']).toBe('http')
})

it('reports https to the site in production, where a front terminates it', async () => {
  const { env, path } = await siteWith('/free', { ENVIRONMENT: 'production' }, { paths: '/checkout/*' })
  await call(path, { headers: { 'x-forwarded-for': '1.2.3.4' } }, env)
  const [request] = (await requestsTo(path)).requests
  expect(request?.headers['x-forwarded-proto']).toBe('https')
  // These headers come only from the visitor.
  expect(request?.headers['x-forwarded-for']).toBeUndefined()
})

it('reports a visitor’s address itself, and never what the visitor sent', async () => {
  const sale = await new TestSale().publish()
  const env: Env = { ...protecting(sale), ADDRESS_HEADER: 'X-Real-IP' }
  const theirs = [
    ...['forwarded', 'x-forwarded-port', 'x-original-forwarded-for', 'cf-connecting-ip', 'true-client-ip'],
    ...['x-client-ip', 'x_forwarded_for', 'x_real_ip', 'x_admission_token', 'x-admission-token'],
    // The headers would request another path from the site.
    ...['x-original-url', 'x-rewrite-url', 'x-override-url'],
    // The headers would make the site accept the visitor as somebody whom a proxy has signed in.
    ...[
      'remote-user',
      'x-remote-user',
      'x-authenticated-user',
      'x-ssl-client-verify',
      'x-client-cert',
      'ssl-client-s-dn',
    ],
  ]
  const headers = Object.fromEntries(theirs.map((name) => [name, '6.6.6.6']))
  await stub('/from', 200, 'x')
  await call('/from', { headers: { ...headers, 'x-real-ip': '1.2.3.4', 'x-basket': '1' } }, env)
  const [request] = (await requestsTo('/from')).requests
  for (const name of theirs) expect(request?.headers[name], name).toBeUndefined()
  expect(request?.headers).toMatchObject({ 'x-forwarded-for': '1.2.3.4', 'x-real-ip': '1.2.3.4', 'x-basket': '1' })
  await call('/from', { headers: { 'x-real-ip': '1.2.3.4' } }, protecting(sale))
  expect((await requestsTo('/from')).requests.at(-1)?.headers['x-real-ip']).toBeUndefined()
})

it('passes everything else as it is, with its body and its response', async () => {
  const sale = await new TestSale().publish()
  const env = protecting(sale)
  for (const path of ['/elsewhere', `/${sale.name}/site.css`, `/${sale.name}/open/to-all`, '/orders/of-the-shop']) {
    await stub(path, 418, 'as the site says', 0, { 'content-type': 'application/problem+json' })
    const body = 'posted'
    const response = await call(path, { method: 'POST', body, headers: { authorization: 'Basic abc' } }, env)
    expect(response.status).toBe(418)
    expect(await response.text()).toBe('as the site says')
    expect(response.headers.get('cache-control')).toBeNull()
    const { requests } = await requestsTo(path)
    expect(requests[0]).toMatchObject({ method: 'POST', body, headers: { authorization: 'Basic abc' } })
  }
})

it('responds to programs and forms that it is not their turn, and refuses a forged admission', async () => {
  const { sale, env, path } = await siteWith('/api')
  for (const headers of [
    {},
    { authorization: 'Bearer junk' },
    { cookie: `admission-${sale.name}=junk` },
    { 'x-admission-token': 'forged' },
  ] as Record<string, string>[]) {
    const response = await call(path, { method: 'POST', headers }, env)
    expect(response.status).toBe(429)
    expect(await response.json()).toMatchObject({ type: '/problems/not-admitted', queue: `/sales/${sale.name}/queue` })
  }
  // A redirect to the queue would lose a form's input.
  const form = { method: 'POST', body: 'x', headers: page }
  expect((await call(path, form, env)).status).toBe(429)
  expect((await requestsTo(path)).calls).toBe(0)
})

it('sends whoever is signed out of the shop to their place, which offers the way to sign in', async () => {
  const { sale, env, path } = await siteWith('/lamp')
  const { queue } = (await readConfig(env)).keys
  const iat = Math.floor(Date.now() / 1000)
  const token = await signToken(QUEUE, queue, { sub: 'user:ada', sale: sale.name, num: 1, iat, exp: iat + 600 })
  const cookie = `queue-${sale.name}=${token}`
  const sent = await call(path, { headers: { ...page, cookie } }, env)
  expect([sent.status, sent.headers.get('location')]).toEqual([302, `/sales/${sale.name}/line`])
  const form = await call(path, { method: 'POST', body: 'x', headers: { cookie } }, env)
  expect([form.status, await form.json()]).toMatchObject([401, { type: '/problems/signed-out' }])
})

it('lets in nobody else with an admission or a place, which could be handed to a hundred', async () => {
  const { sale, env, path } = await siteWith('/lamp')
  const own = await ready(sale)
  // A visitor is not redirected back and forth between the site and the queue either.
  const line = await sale.line({ cookie: `${own.place}; ${own.admission}` }, env)
  expect([line.status, await line.text()]).toEqual([200, expect.stringContaining('data-own')])
  expect(cookiesOf(line)).toBe('')
  const status = async (cookie: string) => (await call(path, { method: 'POST', headers: { cookie } }, env)).status
  expect(await status(own.cookie)).toBe(200)
  const other = await ready(sale)
  for (const token of [own.admission, own.place]) {
    expect([await status(token), await status(`${token}; ${other.secret}`)]).toEqual([429, 429])
    expect(await status(`${token}; ${own.secret}`)).toBe(200)
  }
})

it('has no checkout of its own before a site', async () => {
  const sale = await new TestSale().publish()
  const env = protecting(sale)
  const { cookie } = await ready(sale)
  const order = crypto.randomUUID()
  for (const path of ['checkout', 'buy', `order/${order}/payment`, `order/${order}/cancel`, `order/${order}`]) {
    const method = path.endsWith(order) ? 'GET' : 'POST'
    const response = await call(`/sales/${sale.name}/${path}`, { method, headers: { cookie } }, env)
    expect([path, response.status]).toEqual([path, 404])
  }
})

it('redirects nobody to another host', async () => {
  const sale = await new TestSale().publish()
  const env = protecting(sale)
  const own = await ready(sale)
  const elsewhere = ['//evil.example/', 'https://evil.example/', '/\\evil.example', '/\t/evil.example']
  for (const wanted of [...elsewhere.map(encodeURIComponent), '%']) {
    const cookie = `${own.secret}; ${own.place}; return-${sale.name}=${wanted}`
    expect((await sale.line({ cookie }, env)).headers.get('location')).toBe('/')
  }
})

it('holds visitors when sold out, and opens the site once the sale has ended', async () => {
  const soldOut = await new TestSale().publish({ phase: 'sold_out', products: [product(0, 0, 1)] })
  const ended = await new TestSale().publish({ phase: 'ended' })
  for (const [sale, status] of [
    [soldOut, 302],
    [ended, 200],
  ] as const) {
    await stub(`/${sale.name}/lamp`, 200, 'open to all again')
    expect((await call(`/${sale.name}/lamp`, { headers: page }, protecting(sale))).status).toBe(status)
  }
})

it('links those who waited until the end to the page they wanted', async () => {
  const sale = await new TestSale().publish()
  const env = protecting(sale)
  const path = `/${sale.name}/lamp?colour=red`
  const cookie = cookiesOf(await call(path, { headers: page }, env))
  await sale.publish({ phase: 'ended' })
  await sale.push()
  await sale.until(({ phase }) => phase === 'ended')
  const wanted = `/sales/${sale.name}/wanted`
  expect(await (await sale.page({}, env)).text()).toContain(`href="${wanted}"`)
  const onwards = await call(wanted, { headers: { ...page, cookie } }, env)
  expect([onwards.status, onwards.headers.get('location')]).toEqual([303, path])
  expect((await call(wanted, { headers: page })).status).toBe(404)
})

it('reloads a page of the site while the site is down, but not the response to a form', async () => {
  const sale = await new TestSale().publish()
  await stub('/away', 0, '')
  const away = async (init: RequestInit) => {
    const response = await call('/away', { ...init, headers: page }, protecting(sale))
    expect(response.status).toBe(503)
    return response.text()
  }
  expect(await away({})).toMatch(/<meta http-equiv="refresh" content="\d+">/)
  expect(await away({ method: 'POST', body: 'x' })).not.toContain('http-equiv="refresh"')
})

it('holds every spelling of a protected path', async () => {
  const sale = await new TestSale().publish()
  const env = protecting(sale)
  const rest = sale.name.slice(1)
  for (const path of [
    `/%73${rest}/lamp`,
    `/x/open/../../${sale.name}/lamp`,
    `/x/open/%2e%2e/%2e%2e/${sale.name}/lamp`,
    `/x%2fopen/${sale.name}`,
    `//${sale.name}/lamp`,
    `/${sale.name}/%ff`,
    `/${sale.name}/lamp%0A`,
    `/${sale.name}/lamp%0d`,
    `/${sale.name}/%E2%80%A8lamp`,
    `/${sale.name}/lamp%0A.css`,
    `/${sale.name}/lamp%E2%80%A9.css`,
    `/${sale.name.toUpperCase()}/lamp`,
    `/${sale.name};x/lamp`,
    `/${sale.name}%3Bx/lamp`,
    `/x/..;/${sale.name}/lamp`,
    `/%2573${rest}/lamp`,
    ...['%20', '.', '...', '%2e', '.%20', './x', '%20/x.css'].map((end) => `/${sale.name}/lamp${end}`),
    ...[';x', '%3bx', '%00', '%3f', '%23'].map((cut) => `/${sale.name}/lamp${cut}.css`),
  ]) {
    const response = await call(path, { headers: page }, env)
    expect([path, response.status]).toEqual([path, 302])
  }
})

it('knows a visitor whose requests carry the site’s credentials, and passes none of its own on', async () => {
  const { sale, env, path } = await siteWith('/api')
  const { secret, place, admission } = await ready(sale)
  for (const authorization of ['Bearer the-sites-own', 'Basic abc']) {
    const headers = { cookie: `${secret}; ${admission}`, authorization }
    expect((await call(path, { headers }, env)).status).toBe(200)
    expect((await requestsTo(path)).requests.at(-1)?.headers.authorization).toBe(authorization)
  }
  for (const token of [place, admission]) {
    await call(path, { headers: { authorization: `Bearer ${token.split('=')[1]}`, cookie: secret } }, env)
    expect((await requestsTo(path)).requests.at(-1)?.headers.authorization).toBeUndefined()
  }
  // An unreadable token may be the site's own, so it does not count as an invalid place.
  expect((await sale.join({ authorization: 'bearer' }, env)).status).toBe(201)
})

it('lets no shared cache keep what only admitted visitors see', async () => {
  const sale = await new TestSale().publish()
  const path = `/${sale.name}/lamp`
  const targeted = [
    'cdn-cache-control',
    'cloudflare-cdn-cache-control',
    'surrogate-control',
    'edge-control',
    'x-accel-expires',
  ]
  await stub(path, 200, 'the lamp', 0, {
    'cache-control': 'public, max-age=600, s-maxage=900',
    ...Object.fromEntries(targeted.map((name) => [name, 'max-age=900'])),
  })
  const { secret, place, admission } = await ready(sale)
  const seen = async (cookie: string) => {
    const response = await call(path, { headers: { ...page, cookie } }, protecting(sale))
    for (const name of targeted) expect(response.headers.has(name), name).toBe(false)
    expect(response.status).toBe(200)
    return [response.headers.get('cache-control'), cookiesOf(response).split('=')[0]]
  }
  // A visitor whose turn has come gets through at once, and gets the cookie of an admission.
  expect(await seen(`${secret}; ${place}`)).toEqual(['private, no-store', `admission-${sale.name}`])
  const admitted = `${secret}; ${admission}`
  expect(await seen(admitted)).toEqual(['private, max-age=600', ''])
  await stub(path, 200, 'the lamp', 0, { 'cache-control': 'no-store' })
  expect(await seen(admitted)).toEqual(['private, no-store', ''])
})

it('passes the site’s redirects on, to this host where they lead to the site itself', async () => {
  const sale = await new TestSale().publish()
  const site = edgeEnv.ORIGIN_URL
  for (const [location, passed] of [
    [`${site}/basket`, '/basket'],
    [`${site}.evil.example/basket`, `${site}.evil.example/basket`],
    ['https://bank.example/3ds', 'https://bank.example/3ds'],
  ] as const) {
    await stub('/moved', 302, '', 0, { location })
    const response = await call('/moved', { headers: page }, protecting(sale))
    expect([response.status, response.headers.get('location')]).toEqual([302, passed])
  }
})

it('extends an admission that has half expired, up to the end of the session', async () => {
  const sale = await new TestSale().publish()
  const { secret, place } = await ready(sale)
  const sub = String(decodeJwt(place.split('=')[1] ?? '').sub)
  stopClock()
  const path = `/${sale.name}/lamp`
  await stub(path, 200, 'the lamp')
  const session = 1_800
  const env = protecting(sale, { session_seconds: session })
  const { keys } = await readConfig(edgeEnv)
  const now = Math.floor(Date.now() / 1000)
  /** The seconds left to a visitor admitted so long ago, who had so many left when they came. */
  const leftAfter = async (agoSeconds: number, leftSeconds: number) => {
    const times = { iat: now - agoSeconds, exp: now + leftSeconds }
    const claims = { sub, sale: sale.name, num: 1, jti: 'x', ...times }
    const cookie = `${secret}; admission-${sale.name}=${await signToken(ADMISSION, keys.admission, claims)}`
    const response = await call(path, { headers: { ...page, cookie } }, env)
    expect(response.status).toBe(200)
    const given = cookiesOf(response).split('=')[1]
    return given ? Number(decodeJwt(given).exp) - now : 'as before'
  }
  const half = ADMISSION_TTL_SECONDS / 2
  expect([await leftAfter(half, half + 1), await leftAfter(half, half)]).toEqual(['as before', ADMISSION_TTL_SECONDS])
  expect([await leftAfter(session - 100, 50), await leftAfter(session - 50, 50)]).toEqual([100, 'as before'])
})

it('reports how long the site takes for those who were let in, and nothing of what its senders can hold back', async () => {
  const { sale, env, path } = await siteWith('/slow')
  await stub(path, 200, 'the site', 300)
  const { secret, admission } = await ready(sale)
  const headers = { ...page, cookie: `${secret}; ${admission}` }
  const reported = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const counts = requests.map(({ query }) => JSON.parse(new URLSearchParams(query).get('counts') ?? '{}'))
    return counts.flatMap(({ answers = {} }) => Object.values<number>(answers))
  }
  for (const method of ['POST', 'GET'])
    await call(path, { method, headers, ...(method === 'POST' && { body: 'x' }) }, env)
  await expect.poll(reported).toEqual([expect.any(Number)])
  expect((await reported())[0]).toBeGreaterThanOrEqual(290)
})

it('stands before several sites, by host and by path', async () => {
  const [shoes, lamps] = await Promise.all([new TestSale().publish(), new TestSale().publish()])
  const env = before(
    { host: 'edge.test', sale: shoes.name, paths: '/shoes/*' },
    { sale: lamps.name, paths: '/lamps/*' },
    { host: 'other.test', sale: lamps.name, paths: '/all/*', upstream: 'http://127.0.0.1:9' },
  )
  await stub('/about', 200, 'open to all')
  const heldBy = async (url: string) => {
    const response = await call(url, { headers: page }, env)
    return response.headers.get('location') ?? response.status
  }
  expect(await heldBy('/shoes/one')).toBe(`/sales/${shoes.name}`)
  expect(await heldBy('/lamps/one')).toBe(`/sales/${lamps.name}`)
  expect(await heldBy('/about')).toBe(200)
  // A sale of no site of this host is no sale here.
  const third = await new TestSale().publish()
  await stub(`/sales/${third.name}`, 418, 'the site has sales as well')
  expect(await heldBy(`/sales/${third.name}`)).toBe(418)
})

it('sends a share of the visitors through the room, the same ones each time', async () => {
  const sale = await new TestSale().publish()
  await stub(`/${sale.name}/lamp`, 200, 'the lamp')
  const env = protecting(sale, { share: 0.3 })
  const addresses = Array.from({ length: 200 }, (_, i) => `198.51.${i % 100}.${i}`)
  const held = async (address: string) =>
    (await call(`/${sale.name}/lamp`, { headers: { ...page, 'cf-connecting-ip': address } }, env)).status === 302
  const first = await Promise.all(addresses.map(held))
  expect(await Promise.all(addresses.map(held))).toEqual(first)
  const share = first.filter(Boolean).length / first.length
  expect(share).toBeGreaterThan(0.15)
  expect(share).toBeLessThan(0.45)
})

it('ends and renews a session as the site says, and tells the origin who is there', async () => {
  const sale = await new TestSale().publish()
  const path = `/${sale.name}/lamp`
  const { secret, place, admission } = await ready(sale)
  const visit = async (cookie: string, command?: string) => {
    await stub(path, 200, 'the lamp', 0, command ? { 'x-admission-session': command } : {})
    return call(path, { headers: { ...page, cookie: `${secret}; ${cookie}` } }, protecting(sale))
  }
  const numberOf = (cookie: string) => String(decodeJwt(cookie.split('=')[1] ?? '').num)
  const sessions = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    const counts = requests.map(({ query }) => JSON.parse(new URLSearchParams(query).get('counts') ?? '{}'))
    return Object.assign({}, ...counts.map((one) => one.sessions ?? {}))
  }
  // The line issued the admission, so that the site sees it first.
  expect((await visit(admission)).headers.has('x-admission-session')).toBe(false)
  await expect.poll(async () => (await sessions())[numberOf(place)]).toBeGreaterThan(ADMISSION_TTL_SECONDS - 60)

  const renewed = await visit(admission, 'renew')
  expect(renewed.headers.has('x-admission-session')).toBe(false)
  expect(cookiesOf(renewed)).toMatch(new RegExp(`^admission-${sale.name}=ey`))

  const ended = await visit(admission, 'end')
  expect(await ended.text()).toBe('the lamp')
  const deleted = ended.headers.getSetCookie().filter((cookie) => /max-age=0/i.test(cookie))
  expect(deleted.map((cookie) => cookie.split('=')[0]).sort()).toEqual([`admission-${sale.name}`, `queue-${sale.name}`])
  await expect.poll(sessions).toEqual({ [numberOf(place)]: 0 })
  // The place was given up, so its token opens the site no more.
  await expect.poll(async () => (await visit(place)).status).toBe(401)
})

it('tells those who wait and ask as clients of Cloudflare do where they are, in its fields', async () => {
  const lobby = await new TestSale(60_000).publish()
  const joined = await lobby.join({ 'sec-fetch-site': 'same-origin' })
  const asked = { headers: { accept: 'application/json', cookie: cookiesOf(joined) } }
  const env = protecting(lobby)
  for (const url of [`/${lobby.name}/lamp`, `/sales/${lobby.name}/cf-waiting-room`]) {
    const response = await call(url, asked, env)
    expect([response.status, response.headers.get('cache-control')]).toEqual([200, 'no-store'])
    const { cfWaitingRoom } = (await response.json()) as { cfWaitingRoom: Record<string, unknown> }
    expect(Object.keys(cfWaitingRoom)).toHaveLength(25)
    expect(cfWaitingRoom).toMatchObject({
      ...{ inWaitingRoom: true, waitTimeKnown: true, isEventPrequeueing: true, isEventActive: false },
      ...{ queueingMethod: 'random', timeUntilEventStart: 1, timeUntilEventStartFormatted: '1 minute' },
      ...{ timeUntilEventEnd: 0, timeUntilEventEndFormatted: 'unavailable' },
    })
  }
  // Any other client learns that it is not their turn.
  const other = { headers: { ...asked.headers, accept: 'application/json, text/plain' } }
  expect((await call(`/${lobby.name}/lamp`, other, env)).status).toBe(429)
  expect((await call(`/sales/${lobby.name}/cf-waiting-room`, { headers: { accept: 'application/json' } })).status).toBe(
    401,
  )
  const sale = await new TestSale().publish()
  const { cookie } = await ready(sale)
  const turn = await call(`/sales/${sale.name}/cf-waiting-room`, { headers: { ...asked.headers, cookie } })
  expect(await turn.json()).toMatchObject({ cfWaitingRoom: { inWaitingRoom: false, isFIFOQueue: true, waitTime: 0 } })
  // A visitor who has left hears so by this call too.
  const { queue_token } = await sale.ready({ cookie: 'visitor-secret=someone-who-keeps-the-token' })
  await sale.leave(queue_token)
  const left = { headers: { accept: 'application/json', authorization: `Bearer ${queue_token}` } }
  expect((await call(`/sales/${sale.name}/cf-waiting-room`, left)).status).toBe(401)
})

it('lets a client without cookies in by its token, as often as one visitor may ask', async () => {
  const sale = await new TestSale().publish()
  const path = `/${sale.name}/api`
  await stub(path, 200, 'the site')
  const { queue_token = '' } = await (await sale.join()).json<{ queue_token?: string }>()
  const { admission_token = '' } = await sale.ready({ authorization: `Bearer ${queue_token}` })
  const env = { ...protecting(sale), STATUS_PER_VISITOR: '5/60' }
  const ask = (token: string) => call(path, { headers: { authorization: `Bearer ${token}` } }, env)
  for (const token of [queue_token, admission_token]) expect(await (await ask(token)).text()).toBe('the site')
  await stub(path, 200, 'the site', 0, { 'x-admission-session': 'renew' })
  const renewed = await ask(admission_token)
  expect(decodeJwt(renewed.headers.get('x-admission-token') ?? '').sub).toBe(decodeJwt(admission_token).sub)
  const statuses = await Promise.all(Array.from({ length: 10 }, async () => (await ask(admission_token)).status))
  expect(statuses.filter((status) => status === 200).length).toBeLessThan(5)
  expect(statuses).toContain(429)
})

it('shows those who wait the page that the site wrote for Cloudflare, until it is their turn', async () => {
  const lobby = await new TestSale(60_000).publish()
  const custom_page_html =
    '<title>{{waitTimeFormatted}}</title>{{#isEventPrequeueing}}<p>In {{timeUntilEventStart}} min</p>{{/isEventPrequeueing}}'
  const env = protecting(lobby, { custom_page_html })
  const script = await lobby.join({ ...page, 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }, env)
  expect([script.status, script.headers.get('location')]).toEqual([303, `/sales/${lobby.name}/line`])
  const cookie = cookiesOf(script)
  const shown = await lobby.line({ cookie }, env)
  expect(await shown.text()).toBe('<title>1 minute</title><p>In 1 min</p>')
  expect(Number(shown.headers.get('refresh'))).toBeGreaterThan(0)
  expect(shown.headers.get('cache-control')).toBe('no-store')
  expect(shown.headers.get('content-security-policy')).toMatch(/^default-src 'none'; style-src [^;]+; img-src/)
  expect(shown.headers.get('content-security-policy')).not.toContain('script-src')
  // A visitor without a place sees our page, by which they join.
  expect(await (await lobby.line({}, env)).text()).toContain('Join')

  const { sale, env: open, path } = await siteWith('/lamp', {}, { custom_page_html })
  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' }, open)
  await eventually(async () => (await sale.line({ cookie: cookiesOf(joined) }, open)).status === 303)
  expect((await call(path, { headers: page }, open)).status).toBe(302)
})
