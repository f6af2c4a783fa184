/** Cookies that no page script and no neighbouring host can read or set. */
import { expect, it } from 'vitest'
import type { Call } from '../call.ts'
import { waitUntil } from '../testing/background.ts'
import { call, cookiesOf, edgeEnv, eventually, TestSale } from '../testing/visitors.ts'
import worker from '../worker.ts'
import { readCookie, withoutOurs } from './cookies.ts'

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
  // Of no network that another test has join too often.
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

it('reads no cookie inside the value of another one, which a neighbouring host may have set', () => {
  const read = (cookie: string) =>
    readCookie('visitor-secret', {
      request: new Request('https://edge.test', { headers: { cookie } }),
      secure: true,
    } as Call)
  expect(read('x=y __Host-visitor-secret=planted; __Host-visitor-secret=own')).toBe('own')
  expect(read('x=y __Host-visitor-secret=planted')).toBeNull()
  for (const own of ['__Host-visitor-secret=own', 'x=y;__Host-visitor-secret=own', 'x=y;  __Host-visitor-secret=own;z'])
    expect(read(own)).toBe('own')
})

it('finds a cookie among ten thousand', async () => {
  const sale = await new TestSale().publish()
  const first = await sale.join()
  const { number } = await first.json<{ number: number }>()
  const crumbs = Array.from({ length: 10_000 }, (_, i) => `crumb-${i}=queue-${sale.name}=x`).join('; ')
  const again = await sale.join({ cookie: `${crumbs}; ${cookiesOf(first)}` })
  expect(again.status).toBe(200)
  expect(await again.json()).toMatchObject({ number })
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
})

it('passes the protected site all of its own cookies and none of ours, even with equal names', () => {
  const names = [
    'visitor-secret',
    'page-language',
    'queue-drop',
    'admission-drop',
    'return-drop',
    `order-${crypto.randomUUID()}`,
  ]
  const [ours, named] = [names.map((name) => `__Host-${name}=ours`), names.map((name) => `${name}=x`)]
  const shown = (pairs: string[], secure: boolean) => withoutOurs(pairs.join('; '), 'drop', secure).split('; ')
  expect(shown([...ours, '__Host-basket=1', ...named], true)).toEqual(['__Host-basket=1', ...named])
  const theirs = ['visitor_id1234=abc', 'order-by=price', 'return-url=x', 'queue-another=x']
  expect(shown([...named, ...theirs], false)).toEqual(theirs)
  // And no empty pairs.
  expect(shown(['', named[0] ?? '', '', 'basket=1', ''], false)).toEqual(['basket=1'])
  expect(shown([' ', named[0] ?? ''], false)).toEqual([''])
})
