/** Every response says who may cache it: otherwise a cache decides by itself, and for everyone alike. */
import { expect, it, onTestFinished, vi } from 'vitest'
import type { Schedule } from '../../shared/schedule.ts'
import type { Env } from '../config.ts'
import { proofScript, proofStyle, proofWorker, script, style } from '../pages/assets.ts'
import { call, cookiesOf, edgeEnv, ORDER_TOKEN, orderOf, product, stub, TestSale } from '../testing/visitors.ts'

const HTML = { accept: 'text/html' }
const FORM = { ...HTML, 'content-type': 'application/x-www-form-urlencoded', 'content-length': '15' }

it('says with every response of its own who may cache it', async () => {
  const [sale, gone] = [await new TestSale().publish(), await new TestSale().publish()]
  const order = crypto.randomUUID()
  const here = `/sales/${sale.name}`
  const secret = cookiesOf(await sale.join({ 'sec-fetch-site': 'same-origin' }))
  const { queue_token, admission_token } = await sale.ready({ cookie: secret })
  // The origin says nothing about caching, as if it had been forgotten.
  const reserved = orderOf(sale.name, order)
  await stub(`${here}/checkout`, 201, reserved)
  await stub(`/orders/${order}`, 200, reserved)
  await stub(`${here}/orders`, 200, { orders: [reserved] })
  await stub(`/orders/${order}/events`, 200, 'data: {}\n\n', 0, { 'content-type': 'text/event-stream' })
  await stub(`/orders/${order}/payment`, 202, reserved)
  await gone.publish({ phase: 'sold_out', products: [product(0, 0, 1)] })
  await gone.push()
  await gone.until((schedule) => schedule.phase === 'sold_out')

  const proof: Env = { ...edgeEnv, POW_DIFFICULTY: '10' }
  const protects: Env = { ...edgeEnv, PROTECT_UPSTREAM: edgeEnv.ORIGIN_URL, PROTECT_SALE: sale.name }
  const place = { authorization: `Bearer ${queue_token}` }
  const cookie = `${secret}; admission-${sale.name}=${admission_token}; order-${order}=${ORDER_TOKEN}; queue-${sale.name}=${queue_token}`
  const edgeToken = { authorization: `Bearer ${edgeEnv.EDGE_TOKEN}` }
  const etagOf = async (path: string, headers: Record<string, string> = {}) =>
    (await call(path, { headers })).headers.get('etag') ?? ''
  const requests: [status: number, method: string, path: string, headers?: Record<string, string>, env?: Env][] = [
    [200, 'GET', here, HTML],
    [200, 'HEAD', here, HTML],
    [200, 'GET', here, { accept: 'application/json' }],
    [200, 'GET', here, { ...HTML, cookie }],
    [200, 'GET', `${here}/line`, { ...HTML, cookie }],
    [200, 'GET', `${here}/line`, HTML],
    [201, 'POST', `${here}/queue`],
    [200, 'POST', `${here}/queue`, place],
    [303, 'POST', `${here}/queue`, HTML],
    [201, 'POST', `${here}/queue`, { ...HTML, 'sec-fetch-dest': 'empty' }],
    [401, 'POST', `${here}/queue`, {}, proof],
    [405, 'PATCH', `${here}/queue`],
    [200, 'GET', `${here}/queue/status`, place],
    [401, 'GET', `${here}/queue/status`],
    [200, 'GET', `${here}/schedule`],
    [304, 'GET', `/sales/${gone.name}/schedule`, { 'if-none-match': '*' }],
    [200, 'GET', `${here}/challenge`, {}, proof],
    [404, 'GET', `${here}/challenge`],
    [201, 'POST', `${here}/checkout`, { cookie }],
    [201, 'POST', `${here}/checkout`, { cookie, 'sec-fetch-site': 'same-origin' }],
    [429, 'POST', `${here}/checkout`],
    [303, 'POST', `${here}/buy`, { ...FORM, cookie }],
    [429, 'POST', `${here}/buy`, FORM],
    [200, 'GET', `${here}/order/${order}`, { ...HTML, cookie }],
    [303, 'POST', `${here}/order/${order}/payment`, { ...FORM, cookie }],
    [303, 'POST', `${here}/order/${order}/cancel`, { ...FORM, cookie }],
    [403, 'POST', `${here}/buy`, { ...FORM, 'sec-fetch-site': 'cross-site' }],
    [200, 'GET', `${here}/orders`, { cookie }],
    [200, 'GET', `${here}/orders`, { ...HTML, cookie }],
    [200, 'GET', `${here}/orders`, HTML],
    [303, 'GET', `${here}/order/${order}/receipt`, { ...HTML, cookie }],
    [200, 'GET', `/orders/${order}`, { cookie }],
    [200, 'DELETE', `/orders/${order}`, { cookie }],
    [200, 'GET', `/orders/${order}/events`, { cookie, accept: 'text/event-stream' }],
    [202, 'POST', `/orders/${order}/payment`, { cookie }],
    [303, 'POST', `${here}/leave`, { ...FORM, ...place }],
    [204, 'DELETE', `${here}/queue`, place],
    [200, 'GET', `/sales/${gone.name}`, HTML],
    [200, 'GET', `/sales/${gone.name}`, { accept: 'application/json' }],
    [304, 'GET', `/sales/${gone.name}`, { ...HTML, 'if-none-match': await etagOf(`/sales/${gone.name}`, HTML) }],
    [410, 'POST', `/sales/${gone.name}/queue`],
    [404, 'GET', '/sales/no-such-sale', HTML],
    [200, 'GET', style.path],
    [200, 'GET', '/.well-known/jwks.json'],
    [200, 'GET', '/healthz'],
    [503, 'GET', '/healthz', {}, { ...edgeEnv, QUEUE_KEYS: 'short' }],
    [204, 'POST', `/internal/sales/${sale.name}/refresh`, edgeToken],
    [401, 'POST', `/internal/sales/${sale.name}/refresh`],
    [404, 'GET', '/nothing/here'],
    [302, 'GET', '/a-page-of-the-site', HTML, protects],
    [429, 'POST', '/a-page-of-the-site', {}, protects],
    [303, 'GET', `${here}/line`, { ...HTML, cookie }, protects],
  ]
  for (const [status, method, path, headers = {}, env] of requests) {
    const body = 'content-length' in headers ? 'product_id=lamp' : null
    const response = await call(path, { method, headers, body }, env)
    const about = `${method} ${path} ${JSON.stringify(headers)}`
    expect(response.status, about).toBe(status)
    expect(response.headers.get('cache-control'), about).toMatch(/no-store|no-cache|max-age=\d+/)
  }
})

it('gives a revalidating cache no old server time', async () => {
  const sale = await new TestSale().publish({ phase: 'paused' })
  const path = `/sales/${sale.name}/schedule`
  const { version } = await sale.until(({ phase }) => phase === 'paused')
  // The clock of the test, on which every response comes at once.
  vi.useFakeTimers({ toFake: ['Date'] })
  onTestFinished(() => void vi.useRealTimers())
  let copy = await call(path)
  const body = async () => copy.clone().json<Schedule>()
  for (let times = 0; times < 3; times++) {
    // As long as it may be cached.
    vi.setSystemTime(Date.now() + 1_020)
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
  const page = await (await call(`/sales/${(await new TestSale().publish()).name}`, { headers: HTML }, env)).text()
  const [brand = ''] = /\/assets\/[a-z-]+brand[^"]+/.exec(page) ?? []
  for (const path of [style.path, script.path, proofStyle.path, proofScript.path, proofWorker.path, brand]) {
    const own = await call(path, {}, env)
    expect(own.headers.get('cache-control'), path).toContain('immutable')
    const other = await call(path.replace(/[0-9a-f]{16}/, '0123456789abcdef'), {}, env)
    expect([other.status, other.headers.get('cache-control')], path).toEqual([200, 'no-store'])
    expect(other.headers.get('content-type')).toBe(own.headers.get('content-type'))
    expect(await other.text()).toBe(await own.text())
  }
  for (const path of [
    style.path.replace('style', 'other'),
    style.path.replace('css', 'js'),
    '/assets/0123456789abcdef.css',
  ])
    expect((await call(path, {}, env)).status, path).toBe(404)
})
