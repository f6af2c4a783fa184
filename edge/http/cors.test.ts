import { expect, it } from 'vitest'
import { edgeEnv, stub } from '../testing/origin.ts'
import { call, cookiesOf, TestSale } from '../testing/visitors.ts'

const SHOP = 'https://shop.example'
const env = { ...edgeEnv, CORS_ORIGINS: `${SHOP} http://127.0.0.1:4000` }
const from = (origin: string, more: Record<string, string> = {}) => ({
  origin,
  accept: 'application/json',
  'sec-fetch-site': 'same-site',
  'sec-fetch-mode': 'cors',
  ...more,
})
const corsOf = ({ headers }: Response) => [
  headers.get('access-control-allow-origin'),
  headers.get('access-control-allow-credentials'),
  headers.get('vary')?.includes('origin') ?? false,
]

it('lets a named origin join with cookies and read its place', async () => {
  const sale = await new TestSale().publish()
  const path = `/sales/${sale.name}/queue`
  const joined = await call(path, { method: 'POST', headers: from(SHOP) }, env)
  expect([joined.status, ...corsOf(joined)]).toEqual([201, SHOP, 'true', true])
  expect(await joined.json()).not.toHaveProperty('queue_token')
  const status = await call(`${path}/status`, { headers: from(SHOP, { cookie: cookiesOf(joined) }) }, env)
  expect([status.status, ...corsOf(status)]).toEqual([200, SHOP, 'true', true])
  expect(status.headers.get('access-control-expose-headers')).toContain('retry-after')
})

it('lets a named origin read problems and what the origin responds', async () => {
  const unknown = await call('/sales/-/queue', { headers: from('http://127.0.0.1:4000') }, env)
  expect([unknown.status, ...corsOf(unknown)]).toEqual([404, 'http://127.0.0.1:4000', 'true', true])
  const order = '019ab0c4-7d1e-7c3a-9a55-2f6f0c1b8e21'
  await stub(`/orders/${order}`, 404, {})
  const passed = await call(
    `/orders/${order}`,
    { headers: from(SHOP, { authorization: `Bearer a.b.${'c'.repeat(43)}` }) },
    env,
  )
  expect(corsOf(passed)).toEqual([SHOP, 'true', true])
})

it.each(['https://other.example', 'https://shop.example.other.example', 'http://shop.example', 'null'])(
  'lets %s neither join nor read',
  async (origin) => {
    const sale = await new TestSale().publish()
    const joined = await call(`/sales/${sale.name}/queue`, { method: 'POST', headers: from(origin) }, env)
    expect([joined.status, ...corsOf(joined)]).toEqual([403, null, null, true])
    const schedule = await call(`/sales/${sale.name}/schedule`, { headers: from(origin) }, env)
    expect([schedule.status, ...corsOf(schedule)]).toEqual([200, null, null, true])
  },
)

it('varies what caches hold by origin, for callers of its own origin too', async () => {
  const sale = await new TestSale().publish()
  const { headers } = await call(`/sales/${sale.name}/schedule`, {}, env)
  expect([headers.get('cache-control'), headers.get('vary')]).toEqual(['public, max-age=1', 'origin'])
  const page = await call(`/sales/${sale.name}`, { headers: { accept: 'text/html' } }, env)
  expect(page.headers.get('vary')).toBe('accept, accept-language, origin')
})

it('answers preflights of named origins, by the methods of the route', async () => {
  const sale = await new TestSale().publish()
  const ask = (origin: string, path: string, settings: typeof edgeEnv = env) =>
    call(path, { method: 'OPTIONS', headers: from(origin, { 'access-control-request-method': 'POST' }) }, settings)
  const asked = await ask(SHOP, `/sales/${sale.name}/queue`)
  expect([asked.status, ...corsOf(asked)]).toEqual([204, SHOP, 'true', true])
  expect(asked.headers.get('access-control-allow-methods')).toBe('POST, DELETE')
  for (const header of ['idempotency-key', 'x-shop-authorization'])
    expect(asked.headers.get('access-control-allow-headers')).toContain(header)
  expect((await ask(SHOP, `/sales/${sale.name}/nothing`)).status).toBe(404)
  const other = await ask('https://other.example', `/sales/${sale.name}/queue`)
  expect([other.status, ...corsOf(other)]).toEqual([403, null, null, true])
  expect((await ask(SHOP, `/sales/${sale.name}/queue`, edgeEnv)).status).toBe(403)
})

it('has no other origins without the setting, and says nothing of them', async () => {
  const sale = await new TestSale().publish()
  const schedule = await call(`/sales/${sale.name}/schedule`, { headers: from(SHOP) })
  expect([schedule.status, ...corsOf(schedule)]).toEqual([200, null, null, false])
})
