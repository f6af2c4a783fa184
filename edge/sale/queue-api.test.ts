import { abortAllDurableObjects, runInDurableObject } from 'cloudflare:test'
import { expect, it, vi } from 'vitest'
import type { TicketShard } from '../queue/numbers/ticket-shard.ts'
import type { SnapshotRequest } from '../queue/rpc.ts'
import type { WaitingRoom } from '../queue/waiting-room.ts'
import { eventually, slowClock, stopClock } from '../testing/clocks.ts'
import { edgeEnv, stub } from '../testing/origin.ts'
import { product } from '../testing/simulation.ts'
import { call, callNow, cookiesOf, knownCookie, TestSale, withShards } from '../testing/visitors.ts'

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
  const cookie = knownCookie('someone-with-many-tabs')
  const places = await Promise.all(Array.from({ length: 20 }, () => sale.joined({ cookie })))
  expect(new Set(places.map((place) => place.number)).size).toBe(1)
})

it.each([
  ['a chunked body of two bytes', { 'content-type': 'application/json' }, '{}', 201],
  ['a form', { 'content-type': 'application/x-www-form-urlencoded' }, 'line=', 201],
  ['plain text', { 'content-type': 'text/plain' }, '{}', 415],
  ['a compressed body', { 'content-type': 'application/json', 'content-encoding': 'gzip' }, '{}', 415],
  ['a chunked body that is too large', { 'content-type': 'application/json' }, 'x'.repeat(70_000), 413],
] as const)('reads what a join sends as HTTP says: %s', async (_, headers, text, status) => {
  const sale = await new TestSale().publish()
  const body = new Blob([text]).stream()
  const response = await call(`/sales/${sale.name}/queue`, { method: 'POST', headers, body })
  expect(response.status).toBe(status)
  expect(response.headers.get('accept-encoding')).toBe(status === 415 ? 'identity' : null)
})

it('knows a sale by any spelling of its address', async () => {
  const sale = await new TestSale().publish()
  const escaped = `%${sale.name.charCodeAt(0).toString(16)}${sale.name.slice(1)}`
  const answers = [`/sales/${escaped}`, `/sales/${sale.name}%2f`].map((path) =>
    call(path, { headers: { accept: 'application/json' } }),
  )
  expect((await Promise.all(answers)).map(({ status }) => status)).toEqual([200, 404])
})

it('reports a missed turn, and gives its visitor one new number at the end', async () => {
  const sale = await new TestSale().publish()
  const place = await sale.ready()
  await sale.missed(place.number)
  expect(await sale.statusOf(place.queue_token)).toMatchObject({ status: 'missed_turn', number: place.number })
  const headers = { authorization: `Bearer ${place.queue_token}` }
  const [first, second] = await Promise.all([sale.join(headers), sale.join(headers)])
  expect([first.status, second.status].sort()).toEqual([200, 201])
  const number = (await first.json<{ number: number }>()).number
  expect(number).toBeGreaterThan(place.number)
  expect(await second.json()).toMatchObject({ number })
})

it('does not let a newcomer miss a turn that was called before they joined', async () => {
  const sale = await new TestSale().publish({ admission: { rate_per_second: 1000, max_inside: null } })
  let last = 0
  for (let i = 0; i < 60; i++) last = (await sale.joined()).number
  // The unused numbers of the aborted objects are never issued.
  await abortAllDurableObjects()
  await sale.until((schedule) => schedule.phase === 'open')
  // All visitors were called and missed their turn, and the queue is ready for the next one.
  await sale.missed(last)
  const newcomer = await sale.joined()
  expect(newcomer.number).toBeGreaterThan(last)
  expect(newcomer.status).not.toBe('missed_turn')
})

it('takes no place for one that was given up, known or not, and turns nobody else away', async () => {
  const sale = await new TestSale().publish()
  const known = { cookie: 'visitor-secret=someone-who-keeps-the-token' }
  const other = await sale.joined()
  for (const headers of [known, {}]) {
    const { queue_token, number } = await sale.ready(headers)
    const left = await sale.leave(queue_token)
    expect([left.status, cookiesOf(left)]).toEqual([204, ''])
    const old = await sale.status(queue_token, headers)
    expect(old.status).toBe(401)
    expect(await problemOf(old)).toMatchObject({ type: '/problems/invalid-token' })
    expect((await sale.line({ cookie: `queue-${sale.name}=${queue_token}` })).status).toBe(401)
    // A visitor who joins by this place gets a new number, and leaving once more has no other effect.
    const again = await sale.joined({ authorization: `Bearer ${queue_token}`, ...headers })
    expect(again.number).toBeGreaterThan(number)
    expect(again.queue_token).not.toBe(queue_token)
    expect((await sale.status(again.queue_token, headers)).status).toBe(200)
  }
  expect((await sale.status(other.queue_token)).status).toBe(200)
})

it('admits the holder of a place although its shard does not respond', async () => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.ready()
  const away = () => Promise.reject(new Error('away'))
  const silent = withShards(() => ({ poll: (request: SnapshotRequest) => sale.shard(0).poll(request), haveLeft: away }))
  const now = await (await sale.status(queue_token, {}, silent)).json<{ status: string }>()
  expect(now.status).toBe('ready')
})

it('keeps the lot of a visitor who leaves the lobby, known before or not', async () => {
  const sale = await new TestSale().publish({ opensInMs: 60_000 })
  for (const known of [{ cookie: knownCookie('someone-who-wants-many-lots') }, {}]) {
    const first = await sale.join(known)
    const { number, queue_token } = await first.json<{ number: number; queue_token: string }>()
    expect((await sale.leave(queue_token)).status).toBe(204)
    const [cookie = ''] = /visitor-secret=[^;]+/.exec(cookiesOf(first)) ?? []
    expect((await sale.joined({ cookie })).number).toBe(number)
  }
})

it('serves a crowd that meets an isolate before it knows the sale', async () => {
  slowClock()
  const sale = await new TestSale().publish()
  const crowdAt = (name: string, settings = edgeEnv) =>
    Promise.all(Array.from({ length: 300 }, () => callNow(`/sales/${name}/queue`, { method: 'POST' }, settings)))
  const { promise: crowdIsHere, resolve: respond } = Promise.withResolvers<void>()
  const slow = withShards((name) => {
    const shard = edgeEnv.TICKET_SHARD.getByName(name) as DurableObjectStub<TicketShard>
    const poll = async (request: SnapshotRequest) => {
      await crowdIsHere
      return shard.poll(request)
    }
    return new Proxy(shard, { get: (_, method) => (method === 'poll' ? poll : Reflect.get(shard, method)) })
  })
  await expect.poll(async () => (await sale.room.poll({ queue: sale.name })).known).toBe(true)
  const crowd = crowdAt(sale.name, slow)
  respond()
  const joins = await crowd
  expect(new Set(joins.map((join) => join.status))).toEqual(new Set([201]))
  const unknown = await crowdAt('nobody-knows-it')
  expect(new Set(unknown.map((answer) => answer.status))).toEqual(new Set([404]))
})

it('hears the origin by either of two tokens, while the secret is changed', async () => {
  const env = { ...edgeEnv, EDGE_TOKEN_ALSO: 'the-edge-token-after-this-one-0123456789' }
  const told = async (token: string) =>
    (await callNow('/internal/sales/x/purge', { method: 'POST', headers: { authorization: `Bearer ${token}` } }, env))
      .status
  expect(await told(edgeEnv.EDGE_TOKEN)).toBe(204)
  expect(await told(env.EDGE_TOKEN_ALSO)).toBe(204)
  expect(await told('another')).toBe(401)
})

it('responds to unknown sales, paths and methods as the contract says', async () => {
  for (const [method, path, status, type] of [
    ['POST', '/sales/no-such-sale/queue', 404, 'unknown-sale'],
    ['GET', '/sales/no-such-sale', 404, 'unknown-sale'],
    ['GET', '/sales/no-such-sale/schedule', 404, 'unknown-sale'],
    ['GET', '/sales/%F0%9F%98%80/schedule', 404, 'unknown-sale'],
    ['GET', '/sales/..%2fadmin/schedule', 404, 'unknown-sale'],
    ['GET', '/nothing/here', 404, 'not-found'],
    ['GET', '/sales', 404, 'unknown-sale'],
    ['GET', '/internal/sales/x', 404, 'not-found'],
    ['POST', '/internal/sales/x/refresh', 401, 'unauthorized'],
    ['GET', '/orders/junk', 404, 'unknown-order'],
    ['GET', '/sales/x/order/junk', 404, 'not-found'],
    ['POST', '/internal/sales/x~/refresh', 404, 'not-found'],
    ['GET', `/${'.'.repeat(2_048)}x`, 431, 'headers-too-large'],
    ['PUT', '/healthz', 405, 'method-not-allowed'],
    ['PATCH', '/sales/x/queue', 405, 'method-not-allowed'],
  ] as const) {
    const response = await call(path, { method })
    expect(response.status, `${method} ${path}`).toBe(status)
    expect((await problemOf(response)).type, `${method} ${path}`).toBe(`/problems/${type}`)
    // A browser gets the problem as a page.
    const page = await call(path, { method, headers: { accept: 'text/html,*/*' } })
    expect(page.status, `${method} ${path}`).toBe(status)
    expect(page.headers.get('content-type')).toContain('text/html')
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
    expect(await page.text()).toContain('<h1 ')
  }
})

it('limits lookups of made-up sales per second', async () => {
  // The clock is stopped, so that all calls are in the same second.
  stopClock()
  const statuses = await Promise.all(
    Array.from({ length: 120 }, async (_, i) => (await call(`/sales/made-up-${i}/schedule`)).status),
  )
  expect(statuses.filter((status) => status === 503).length).toBeGreaterThan(30)
  const response = await call('/sales/made-up-again/schedule')
  if (response.status === 503) expect(response.headers.get('retry-after')).toBe('1')
  vi.useRealTimers()
  await expect.poll(async () => (await call('/sales/made-up-later/schedule')).status).toBe(404)
})

it('looks up no more names for an address that makes them up', async () => {
  const sale = await new TestSale().publish()
  const env = { ...edgeEnv, JOINS_PER_ADDRESS: '2/600' }
  const statusOf = async (name: string, address = '192.0.2.9') =>
    (await call(`/sales/${name}/schedule`, { headers: { 'cf-connecting-ip': address } }, env)).status
  const unknown = [1, 2, 3].map((n) => `no-${n}-${sale.name}`)
  const statuses: number[] = []
  for (const name of unknown) statuses.push(await statusOf(name))
  expect(statuses).toEqual([404, 404, 429])
  expect([await statusOf('no-4', '198.51.100.9'), await statusOf(sale.name, '198.51.100.9')]).toEqual([404, 200])
  // A known name needs no lookup.
  expect(await statusOf(sale.name)).toBe(200)
})

it('stores nothing in the objects of an unknown sale, whatever is asked of them', async () => {
  const sale = new TestSale()
  expect((await sale.join()).status).toBe(404)
  expect((await call(`/sales/${sale.name}/schedule`)).status).toBe(404)
  await sale.shard(0).leave({ visitor: 'nobody' })
  for (const object of [sale.room, sale.shard(0)] as DurableObjectStub<WaitingRoom | TicketShard>[]) {
    const stored = await runInDurableObject(object, async (_, { storage }) => ({
      tables: storage.sql.exec('select name from sqlite_master').toArray(),
      values: [...storage.kv.list()],
      alarm: await storage.getAlarm(),
    }))
    expect(stored).toEqual({ tables: [], values: [], alarm: null })
  }
})

it('keeps a known sale in memory, however many names are made up', async () => {
  const sale = await new TestSale().publish()
  await sale.schedule()
  stopClock()
  const away = withShards(() => ({ poll: () => Promise.reject(new Error('away')) }))
  for (let i = 0; i < 2_100; i++) await callNow(`/sales/made-up-${i}-${sale.name}/schedule`, {}, away)
  expect((await callNow(`/sales/${sale.name}/schedule`, {}, away)).status).toBe(200)
})

it('leads a browser without scripts back to the page after joining', async () => {
  const sale = await new TestSale().publish()
  const form = { accept: 'text/html,*/*', 'sec-fetch-site': 'same-origin' }
  const joined = await sale.join(form)
  expect(joined.status).toBe(303)
  const location = joined.headers.get('location') ?? ''
  expect(location).toBe(`/sales/${sale.name}/line?joined`)
  const cookie = cookiesOf(joined)
  expect(cookie).toContain(`queue-${sale.name}=`)
  const page = await call(location, { headers: { ...form, cookie } })
  expect(await page.text()).toMatch(/id="(line|turn)"/)
  expect(page.headers.get('content-type')).toContain('text/html')
  expect(page.headers.get('cache-control')).toBe('no-store')
  expect(page.headers.get('content-security-policy')).toContain("default-src 'none'; script-src 'self';")
})

it.each(['cross-site', 'same-site'])('takes no form of another host, %s', async (site) => {
  const sale = await new TestSale().publish()
  const { queue_token } = await sale.joined()
  const headers = { 'sec-fetch-site': site, cookie: `queue-${sale.name}=${queue_token}` }
  for (const path of ['queue', 'leave'])
    expect((await call(`/sales/${sale.name}/${path}`, { method: 'POST', headers })).status, path).toBe(403)
})

it('answers the join of a page’s script with the visitor’s page, in line or with their turn', async () => {
  const script = { accept: 'text/html', 'sec-fetch-site': 'same-origin', 'sec-fetch-dest': 'empty' }
  const soon = await new TestSale().publish()
  const full = await new TestSale().publish({ admission: { rate_per_second: 0.001, max_inside: null } })
  for (let i = 0; i < 3; i++) await full.joined()
  const joined = await full.join(script)
  const page = await joined.text()
  expect([joined.status, joined.headers.get('cache-control')]).toEqual([201, 'no-store'])
  expect(page).toMatch(/id="line" data-status="waiting"/)
  const cookie = cookiesOf(joined)
  const again = await full.join({ ...script, cookie })
  const numberIn = (text: string) => /data-number="(\d+)"/.exec(text)?.[1]
  expect([again.status, numberIn(await again.text())]).toEqual([200, numberIn(page)])
  await soon.joined()
  const ready = async () => {
    const response = await soon.join(script)
    return { cookie: cookiesOf(response), page: await response.text() }
  }
  const turn = await eventually(async () => {
    const one = await ready()
    return one.page.includes('id="turn"') && one
  })
  expect(turn.cookie).toContain(`admission-${soon.name}=`)
})

it('redirects the address of a form, opened as a page, to the form’s page', async () => {
  const page = '/sales/x'
  const order = `${page}/order/${crypto.randomUUID()}`
  const forms = [
    ...['queue', 'leave'].map((form) => [`${page}/${form}`, page] as const),
    [`${page}/buy`, `${page}/line`] as const,
    ...['payment', 'cancel'].map((form) => [`${order}/${form}`, order] as const),
  ]
  for (const [path, wanted] of forms) {
    const opened = await call(path, { headers: { accept: 'text/html' } })
    expect([opened.status, opened.headers.get('location')], path).toEqual([303, wanted])
    expect((await call(path)).status).toBe(405)
  }
})

it('tells those who still wait that all is sold, and calls no object when they leave', async () => {
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
  expect(await sale.statusOf(queue_token, counting)).toMatchObject({ status: 'sold_out' })
  expect((await sale.leave(queue_token, counting)).status).toBe(204)
  expect(asked).toBe(0)
})

it('stores nothing for an unknown sale', async () => {
  const name = `made-up-${Date.now()}`
  await stub(`/internal/sales/${name}`, 404, {})
  expect((await call(`/sales/${name}`)).status).toBe(404)
  const shard = edgeEnv.TICKET_SHARD.getByName(`${name}/0`) as DurableObjectStub<TicketShard>
  const tables = (_: TicketShard, state: DurableObjectState) =>
    state.storage.sql.exec('select name from sqlite_master').toArray()
  expect(await runInDurableObject(shard, tables)).toEqual([])
})

it('shows the turn while the admission is valid, even after the time to claim it', async () => {
  const sale = await new TestSale().publish()
  const { queue_token, admission_token, number } = await sale.ready()
  const place = `queue-${sale.name}=${queue_token}`
  await sale.missed(number)
  const shown = async (cookie: string) => {
    const response = await sale.line({ cookie })
    return [(await response.text()).includes('id="turn"'), cookiesOf(response).includes('admission-')]
  }
  expect(await shown(place)).toEqual([false, false])
  expect(await shown(`${place}; admission-${sale.name}=${admission_token}`)).toEqual([true, false])
})

it('names its own address to search engines, and keeps them away from a sale that is not to be found', async () => {
  const sale = await new TestSale(60_000).publish({ indexed: false })
  const noindex = '<meta name="robots" content="noindex">'
  // A prefix before the path is part of the host's name.
  for (const more of ['', '.example']) {
    const response = await call(`${more}/sales/${sale.name}`, { headers: { accept: 'text/html' } })
    const page = await response.text()
    expect(page).toContain(`<link rel="canonical" href="http://edge.test${more}/sales/${sale.name}">`)
    expect(page).toContain(noindex)
  }
  const found = await new TestSale(60_000).publish()
  expect(await (await found.page({})).text()).not.toContain(noindex)
})

it('responds 503, and says no more, when a setting is wrong', async () => {
  const response = await call('/healthz', {}, { ...edgeEnv, QUEUE_KEYS: 'short' })
  expect(response.status).toBe(503)
  expect(await response.text()).not.toContain('QUEUE_KEYS')
})

it('responds in the shop’s own words, as text', async () => {
  const sale = await new TestSale().publish()
  const page = await sale.page({ 'accept-language': 'de' }, { ...edgeEnv, WORDS: '{"de":{"joinLine":"<b>Rein</b>"}}' })
  expect(await page.text()).toContain('&lt;b&gt;Rein&lt;/b&gt;</button>')
})

it('responds in the language that the browser prefers', async () => {
  const sale = await new TestSale(60_000).publish()
  const spoken = async (wanted: string) => {
    const response = await sale.page({ 'accept-language': wanted })
    return /<html lang="(..)"/.exec(await response.text())?.[1]
  }
  expect([await spoken('de-DE,de;q=0.9,en;q=0.8'), await spoken('en;q=0.1, de')]).toEqual(['de', 'de'])
  expect([await spoken('de;q=0, en'), await spoken('nl, nonsense;q=x')]).toEqual(['en', 'en'])
  expect(await spoken('ar-EG, fr;q=0.8')).toBe('ar')
  // The language is Slave, spoken in Canada, whose code only begins like that of German.
  expect(await spoken('den')).toBe('en')
})
