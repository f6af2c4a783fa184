/** A shop with encrypted sessions signs its visitors in by the token route of docs/sign-in.md. */
import { exportJWK, generateKeyPair } from 'jose'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { GET as authJs } from '../../examples/token-route/auth-js.ts'
import { GET as ironSession } from '../../examples/token-route/iron-session.ts'
import { lineKeys } from '../../examples/token-route/line-session.ts'
import { authJsCookie, ironSessionCookie } from '../../examples/token-route/shop-sessions.ts'
import type { Env } from '../http/config.ts'
import { edgeEnv, stub } from '../testing/origin.ts'
import { cookiesOf, TestSale } from '../testing/visitors.ts'

const SHOP_URL = 'https://shop.example'
const KEYS = `/token-route-${crypto.randomUUID()}/keys`
const [AUTH_SECRET, SESSION_PASSWORD] = ['the secret of the shop', 'a password of 32 characters or more']

const env: Env = {
  ...edgeEnv,
  SHOP_JWKS_URL: edgeEnv.ORIGIN_URL + KEYS,
  SHOP_ISSUER: SHOP_URL,
  SHOP_AUDIENCE: 'line',
  SHOP_SIGN_IN_URL: `${SHOP_URL}/line-session?return={return}`,
}

const before = { ...process.env }
beforeAll(async () => {
  const { privateKey } = await generateKeyPair('ES256', { extractable: true })
  const LINE_KEY = JSON.stringify({ ...(await exportJWK(privateKey)), kid: 'one', alg: 'ES256' })
  const shop = { LINE_KEY, SHOP_URL, LINE_URL: 'http://edge.test', SHOP_DOMAIN: 'shop.example' }
  Object.assign(process.env, shop, { AUTH_SECRET, SESSION_PASSWORD })
  await stub(KEYS, 200, await lineKeys().json())
})
afterAll(() => {
  process.env = before
})

/** The cookie of an account that is signed in, by default with the shop's secrets. */
const SHOPS = {
  'Auth.js': (account: string, secret = AUTH_SECRET) => authJsCookie(account, secret),
  'iron-session': (account: string, password = SESSION_PASSWORD) => ironSessionCookie(account, password),
}
const ROUTES = { 'Auth.js': authJs, 'iron-session': ironSession }

it.each(['Auth.js', 'iron-session'] as const)('an account of %s has one place from two browsers', async (shop) => {
  const sale = await new TestSale().publish()
  const visit = (cookie: string, address: string) => ROUTES[shop](new Request(address, { headers: { cookie } }))
  const address = `${SHOP_URL}/line-session?return=${encodeURIComponent(`http://edge.test/sales/${sale.name}/line`)}`
  const numbers: number[] = []
  for (let browsers = 0; browsers < 2; browsers++) {
    const back = await visit(await SHOPS[shop]('ada'), address)
    expect([back.status, back.headers.get('location')]).toEqual([302, `http://edge.test/sales/${sale.name}/line`])
    expect(back.headers.get('set-cookie')).toMatch(/; Domain=shop.example; Path=\/; .*HttpOnly; Secure; SameSite=Lax$/)
    numbers.push((await sale.joined({ cookie: cookiesOf(back) }, env)).number)
    expect((await sale.status(null, { cookie: cookiesOf(back) }, env)).status).toBe(200)
  }
  expect(new Set(numbers).size).toBe(1)

  const toSignIn = `${SHOP_URL}/sign-in?callbackUrl=${encodeURIComponent(address)}`
  for (const cookie of ['', await SHOPS[shop]('ada', 'another secret of another shop than this one')]) {
    const asked = await visit(cookie, address)
    expect([asked.headers.get('location'), asked.headers.get('set-cookie')]).toEqual([toSignIn, null])
  }
  const elsewhere = `${SHOP_URL}/line-session?return=${encodeURIComponent('https://evil.example/')}`
  expect((await visit(await SHOPS[shop]('ada'), elsewhere)).status).toBe(400)
})

it('publishes no private half of the key', async () => {
  expect(JSON.stringify(await lineKeys().json())).not.toContain('"d"')
})
