import { createRemoteJWKSet, jwtVerify } from 'jose'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type DemoShop, startDemoShop } from './demo-shop.ts'

let shop: DemoShop
beforeAll(async () => {
  shop = await startDemoShop()
})
afterAll(() => shop.stop())

const signIn = (fields: Record<string, string>, back = '') =>
  fetch(`${shop.signInUrl}?return=${encodeURIComponent(back)}`, {
    method: 'POST',
    headers: { origin: new URL(shop.signInUrl).origin },
    body: new URLSearchParams(fields),
    redirect: 'manual',
  })

test('signs a session for any account, with the claims that were typed, and leads back', async () => {
  const back = 'http://127.0.0.1:8787/sales/members'
  const response = await signIn({ account: ' ada ', tier: 'gold', age: '40', country: 'de' }, back)
  expect([response.status, response.headers.get('location')]).toEqual([303, back])
  const [cookie = ''] = response.headers.getSetCookie()
  expect(cookie).toMatch(/^shop_session=[\w.-]+; .*HttpOnly/)
  const { SHOP_JWKS_URL = '', SHOP_ISSUER: issuer = '', SHOP_AUDIENCE: audience = '' } = shop.vars
  const keys = createRemoteJWKSet(new URL(SHOP_JWKS_URL))
  const token = cookie.slice('shop_session='.length).split(';', 1)[0] ?? ''
  const { payload } = await jwtVerify(token, keys, { issuer, audience, algorithms: ['ES256'] })
  expect(payload).toMatchObject({ sub: 'ada', tier: 'gold', age: 40, country: 'DE' })
})

test('leads to this machine alone, and takes the name by which the visitor came', async () => {
  const elsewhere = ['https://evil.example/', 'http://127.0.0.1.evil.example/', '//evil.example', 'javascript:alert(1)']
  for (const back of elsewhere)
    expect((await signIn({ account: 'ada' }, back)).headers.get('location')).toBe('/demo/sign-in')
  const back = encodeURIComponent('http://localhost:8787/sales/members')
  const moved = await fetch(`${shop.signInUrl}?return=${back}`, { redirect: 'manual' })
  expect(moved.headers.get('location')).toMatch(/^http:\/\/localhost:\d+\/demo\/sign-in\?return=/)
})

test('refuses a form without an account, and one of another host', async () => {
  expect((await signIn({ account: ' ' })).status).toBe(422)
  const body = new URLSearchParams({ account: 'ada' })
  const headers = { origin: 'http://evil.example' }
  expect((await fetch(shop.signInUrl, { method: 'POST', headers, body })).status).toBe(403)
})
