/** Visitors sign in by OpenID Connect: the whole way, with a real issuer. */
import { decodeJwt } from 'jose'
import { beforeAll, expect, it, vi } from 'vitest'
import type { Env } from '../http/config.ts'
import { stopClock } from '../testing/clocks.ts'
import { edgeEnv } from '../testing/origin.ts'
import { EDGE, issuerEnv, SignInBrowser } from '../testing/sign-in-browser.ts'
import { OPEN_TO_ALL } from '../testing/simulation.ts'
import { call, TestSale } from '../testing/visitors.ts'
import { ACCOUNT_SESSION_SECONDS } from '../visitor/account-session.ts'

let env: Env
beforeAll(async () => {
  env = await issuerEnv()
})

/** A sale for accounts alone. */
async function saleForAccounts(): Promise<TestSale> {
  const sale = await new TestSale().publish()
  const [line] = OPEN_TO_ALL.lines
  if (!line) throw new Error('no line')
  const lines = [{ ...line, access: { ...line.access, sign_in: 'required' as const } }]
  await sale.publish({ policy: { ...OPEN_TO_ALL, version: 'accounts', lines } })
  await sale.push()
  return sale
}

/** A browser that is signed in. */
async function signedIn(login: string): Promise<SignInBrowser> {
  const browser = new SignInBrowser(env)
  expect((await browser.signIn(login)).status).toBe(303)
  return browser
}

const statusPath = ({ name }: TestSale) => `/sales/${name}/queue/status`
const queuePath = ({ name }: TestSale) => `/sales/${name}/queue`

it('leads a visitor from a sale that requires an account to the issuer, and back to a place in line', async () => {
  const sale = await saleForAccounts()
  const browser = new SignInBrowser(env)
  const back = `/sales/${sale.name}/line`
  const sign_in_url = `${EDGE}/me/sign-in?return=${encodeURIComponent(back)}`
  expect(await browser.json(queuePath(sale), 'POST')).toMatchObject({ type: '/problems/sign-in-required', sign_in_url })
  expect(await (await browser.load(`/sales/${sale.name}`)).text()).toContain(`href="${sign_in_url}"`)

  const begun = await browser.load(sign_in_url)
  expect(begun.headers.getSetCookie()).toEqual([
    expect.stringMatching(/^sign-in=[^;]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/),
  ])
  const asked = new URL(begun.headers.get('location') ?? '')
  expect(asked.origin).toBe(env.SHOP_OIDC_ISSUER)
  expect(Object.fromEntries(asked.searchParams)).toEqual({
    client_id: 'edge',
    redirect_uri: `${EDGE}/me/signed-in`,
    response_type: 'code',
    scope: 'openid',
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
    state: expect.any(String),
    nonce: expect.any(String),
  })
  const signedIn = await browser.load(await browser.signInAt(asked, 'ada'))
  expect([signedIn.status, signedIn.headers.get('location')]).toEqual([303, back])
  expect(decodeJwt(browser.cookies().get('shop-account') ?? '')).toEqual({
    iss: 'flash-sale-edge',
    aud: 'account',
    sub: 'ada',
    iat: expect.any(Number),
    exp: expect.any(Number),
  })
  expect(browser.cookies().has('sign-in')).toBe(false)

  expect(await (await browser.load(back)).text()).toContain('You are signed in to the shop.')
  expect(await browser.json(queuePath(sale), 'POST')).toMatchObject({ number: expect.any(Number) })
  expect(decodeJwt(browser.cookies().get(`queue-${sale.name}`) ?? '').sub).toBe('user:ada')
})

it('gives an account one place from two browsers, its status and its leave without the place’s token', async () => {
  const sale = await saleForAccounts()
  const [first, second] = [await signedIn('bea'), await signedIn('bea')]
  const { number } = await first.json<{ number: number }>(queuePath(sale), 'POST')
  expect(await (await second.load(`/sales/${sale.name}/line`)).text()).toContain(`data-number="${number}"`)
  expect(await second.json(queuePath(sale), 'POST')).toMatchObject({ number })
  first.cookies().delete(`queue-${sale.name}`)
  expect(await first.json(statusPath(sale))).toMatchObject({ number })
  first.cookies().delete(`queue-${sale.name}`)
  expect((await first.load(queuePath(sale), { method: 'DELETE' })).status).toBe(204)
  const third = await signedIn('bea')
  expect(await third.json(statusPath(sale))).toMatchObject({ type: '/problems/invalid-token' })
  const other = await signedIn('cy')
  expect(await other.json(statusPath(sale))).toMatchObject({ type: '/problems/invalid-token' })
})

it('asks a visitor whose session is over to sign in again, and keeps their place', async () => {
  const sale = await saleForAccounts()
  const browser = await signedIn('dee')
  const { number } = await browser.json<{ number: number }>(queuePath(sale), 'POST')
  const beganMs = Date.now()
  stopClock()
  vi.setSystemTime(beganMs + (ACCOUNT_SESSION_SECONDS - 60) * 1000)
  expect(await browser.json('/me/searches')).not.toMatchObject({ type: '/problems/sign-in-required' })
  vi.setSystemTime(beganMs + (ACCOUNT_SESSION_SECONDS + 60) * 1000)
  const over = { type: '/problems/signed-out', sign_in_url: expect.stringContaining(`${EDGE}/me/sign-in?return=`) }
  expect(await browser.json(statusPath(sale))).toMatchObject(over)
  const page = await (await browser.load(`/sales/${sale.name}/line`)).text()
  expect(page).toContain('your place is kept')
  expect(page).toContain(`href="${EDGE}/me/sign-in?return=`)
  browser.cookies().delete(`queue-${sale.name}`)
  expect(await browser.json(statusPath(sale))).toMatchObject({ ...over, detail: expect.stringContaining('is over') })
  vi.setSystemTime(beganMs + 1_000)
  expect((await browser.signIn('dee')).status).toBe(303)
  expect(await browser.json(statusPath(sale))).toMatchObject({ number })
})

it('signs out here and at the issuer, and keeps the place for the next sign-in', async () => {
  const sale = await saleForAccounts()
  const browser = await signedIn('eve')
  const { number } = await browser.json<{ number: number }>(queuePath(sale), 'POST')
  const foreign = { method: 'POST', headers: { 'sec-fetch-site': 'cross-site' } }
  expect((await browser.load('/me/sign-out', foreign)).status).toBe(403)
  expect(browser.cookies().has('shop-account')).toBe(true)

  const out = await browser.load('/me/sign-out', { method: 'POST' })
  expect(out.status).toBe(200)
  expect([...browser.cookies().keys()]).not.toContain('shop-account')
  expect([...browser.cookies().keys()]).not.toContain('signed-in')
  const leads = out.headers.get('refresh')?.replace('0;url=', '') ?? ''
  expect(leads).toBe(
    `${env.SHOP_OIDC_ISSUER}/session/end?post_logout_redirect_uri=${encodeURIComponent(`${EDGE}/`)}&client_id=edge`,
  )
  expect(await browser.json(statusPath(sale))).toMatchObject({ type: '/problems/signed-out' })

  const confirm = await (await browser.load(leads)).text()
  const xsrf = /name="xsrf" value="([^"]+)"/.exec(confirm)?.[1] ?? ''
  const body = new URLSearchParams({ xsrf, logout: 'yes' })
  const ended = await browser.load(`${env.SHOP_OIDC_ISSUER}/session/end/confirm`, { method: 'POST', body })
  expect(ended.headers.get('location')).toBe(`${EDGE}/`)
  // The issuer asks for the name again.
  expect((await browser.signIn('eve')).status).toBe(303)
  expect(await browser.json(statusPath(sale))).toMatchObject({ number })
})

it('tells a program where to sign out, which a page’s form does by itself', async () => {
  const browser = await signedIn('fay')
  const sign_out_url = expect.stringContaining(`${env.SHOP_OIDC_ISSUER}/session/end?`)
  expect(await browser.json('/me/sign-out', 'POST')).toEqual({ sign_out_url })
  const sale = await saleForAccounts()
  const back = await signedIn('fay')
  expect(await (await back.load(`/sales/${sale.name}/line`)).text()).toContain('action="/me/sign-out"')
  expect((await back.load('/me/sign-out')).headers.get('location')).toBe('/')
})

it('signs in with a client secret, and not with a wrong one', async () => {
  const secret = { SHOP_OIDC_CLIENT_ID: 'edge-with-secret', SHOP_OIDC_CLIENT_SECRET: 'the secret of the edge' }
  expect((await new SignInBrowser(await issuerEnv(secret)).signIn('gus')).status).toBe(303)
  const wrong = await issuerEnv({ ...secret, SHOP_OIDC_CLIENT_SECRET: 'another secret' })
  expect((await new SignInBrowser(wrong).signIn('gus')).status).toBe(400)
})

it('refuses an answer that does not belong to what this browser began', async () => {
  const failed = async (address: string, browser: SignInBrowser) => {
    const response = await browser.load(address, { headers: { accept: 'application/json' } })
    expect([response.status, await response.json()]).toMatchObject([
      400,
      { type: '/problems/sign-in-failed', sign_in_url: expect.stringContaining(`${EDGE}/me/sign-in`) },
    ])
    expect(browser.cookies().has('shop-account')).toBe(false)
  }
  const changed: Record<string, (address: URL) => void> = {
    'another state': ({ searchParams }) => searchParams.set('state', 'another'),
    'no state': ({ searchParams }) => searchParams.delete('state'),
    'another code': ({ searchParams }) => searchParams.set('code', 'another'),
    'another issuer': ({ searchParams }) => searchParams.set('iss', 'https://another.example'),
    'cancelled there': ({ searchParams }) => {
      searchParams.delete('code')
      searchParams.set('error', 'access_denied')
    },
  }
  for (const [, change] of Object.entries(changed)) {
    const browser = new SignInBrowser(env)
    const address = new URL(await browser.signInAt(await browser.begin('/sales/x'), 'hal'))
    change(address)
    await failed(address.href, browser)
  }
  // The issuer answers another nonce, another client, or another challenge.
  for (const [name, value] of [
    ['nonce', 'another'],
    ['client_id', 'another-shop'],
    ['code_challenge', 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'],
  ] as const) {
    const browser = new SignInBrowser(env)
    const begun = await browser.begin()
    begun.searchParams.set(name, value)
    await failed(await browser.signInAt(begun, 'hal'), browser)
  }
  const [browser, victim] = [new SignInBrowser(env), new SignInBrowser(env)]
  const address = await browser.signInAt(await browser.begin(), 'mallory')
  await failed(address, victim)
  expect((await browser.load(address)).status).toBe(303)
  // An answer is good once.
  browser.cookies().delete('shop-account')
  await failed(address, browser)
})

it('takes no account from a cookie that it did not sign, or signed for something else', async () => {
  const sale = await saleForAccounts()
  const browser = await signedIn('ida')
  await browser.json(queuePath(sale), 'POST')
  const own = browser.cookies().get('shop-account') ?? ''
  const place = browser.cookies().get(`queue-${sale.name}`) ?? ''
  const [head, , signature] = own.split('.')
  const forged = btoa(JSON.stringify({ ...decodeJwt(own), sub: 'grace' })).replaceAll('=', '')
  for (const bad of [`${head}.${forged}.${signature}`, place, 'junk']) {
    const stranger = new SignInBrowser(env)
    stranger.cookies().set('shop-account', bad)
    expect(await stranger.json(statusPath(sale))).toMatchObject({ type: '/problems/signed-out' })
    expect(await stranger.json(queuePath(sale), 'POST')).toMatchObject({ type: '/problems/sign-in-required' })
  }
  // An account's session is no place in line.
  const asPlace = { authorization: `Bearer ${own}` }
  expect((await call(statusPath(sale), { headers: asPlace }, env)).status).toBe(401)
})

it('comes back to paths of this host alone, and names what is wrong with a link', async () => {
  const browser = new SignInBrowser(env)
  for (const back of ['https://evil.example/', '//evil.example', '/\\evil.example', '/a\\b', 'sales', '/\tx', '/a b']) {
    const response = await browser.load(`/me/sign-in?return=${encodeURIComponent(back)}`, {
      headers: { accept: 'application/json' },
    })
    expect([back, response.status, await response.json()]).toMatchObject([back, 422, { errors: [{ field: 'return' }] }])
  }
  const unknown = await browser.json('/me/sign-in?return=/&prompt=none')
  expect(unknown).toMatchObject({ status: 422, errors: [{ field: 'prompt' }] })
  expect(browser.cookies().size).toBe(0)
  expect((await browser.signIn('jon', '/sales/a-sale/line?lang=de')).headers.get('location')).toBe(
    '/sales/a-sale/line?lang=de',
  )
})

it('has no routes to sign in without an issuer, also before another site that has its own', async () => {
  for (const [method, path] of [
    ['GET', '/me/sign-in'],
    ['GET', '/me/signed-in'],
    ['POST', '/me/sign-out'],
  ] as const)
    expect((await call(path, { method }, edgeEnv)).status).toBe(404)
  const PROTECT = JSON.stringify([{ paths: ['/shop/*'], sale: 'drop', upstream: edgeEnv.ORIGIN_URL }])
  for (const method of ['GET', 'POST']) {
    const response = await call('/me/sign-in', { method }, { ...edgeEnv, PROTECT })
    // It is the site's own response.
    expect(await response.text()).toBe('{}')
  }
})
