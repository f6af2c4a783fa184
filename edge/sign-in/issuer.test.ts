/** An issuer that is away, or that answers what proves nothing: the tests' origin plays it. */
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { beforeAll, expect, it } from 'vitest'
import type { Env } from '../http/config.ts'
import { edgeEnv, requestsTo, stub } from '../testing/origin.ts'
import { SignInBrowser } from '../testing/sign-in-browser.ts'

const CONFIGURATION = '/.well-known/openid-configuration'

let keys: Awaited<ReturnType<typeof generateKeyPair>>
let stranger: typeof keys
beforeAll(async () => {
  keys = await generateKeyPair('ES256')
  stranger = await generateKeyPair('ES256')
})

/** An issuer of its own for a test. */
class PlayedIssuer {
  readonly path = `/issuer-${crypto.randomUUID()}`
  readonly url = edgeEnv.ORIGIN_URL + this.path
  readonly env: Env = { ...edgeEnv, SHOP_OIDC_ISSUER: this.url, SHOP_OIDC_CLIENT_ID: 'edge' }
  readonly browser = new SignInBrowser(this.env)

  async publish(configuration: object = {}): Promise<this> {
    await stub(this.path + CONFIGURATION, 200, {
      issuer: this.url,
      authorization_endpoint: `${this.url}/auth`,
      token_endpoint: `${this.url}/token`,
      jwks_uri: `${this.url}/jwks`,
      response_types_supported: ['code'],
      subject_types_supported: ['public'],
      id_token_signing_alg_values_supported: ['ES256', 'HS256', 'none'],
      ...configuration,
    })
    const jwk = { ...(await exportJWK(keys.publicKey)), kid: 'one', alg: 'ES256', use: 'sig' }
    await stub(`${this.path}/jwks`, 200, { keys: [jwk] })
    return this
  }

  /** Begins to sign in, and returns the path back with the nonce that the ID token must have. */
  async begin() {
    const { searchParams } = await this.browser.begin('/sales/x')
    const query = new URLSearchParams({ code: 'a-code', state: searchParams.get('state') ?? '' })
    return { path: `/me/signed-in?${query}`, nonce: searchParams.get('nonce') ?? '' }
  }

  answers(status: number, body: object) {
    return stub(`${this.path}/token`, status, body)
  }
}

const nowSeconds = () => Math.floor(Date.now() / 1000)

interface Signing {
  readonly key?: CryptoKey
  readonly kid?: string
}

/** An ID token that proves who the visitor is, but for what is changed. */
function idToken(
  { url }: PlayedIssuer,
  nonce: string,
  changed: Readonly<Record<string, unknown>>,
  { key, kid = 'one' }: Signing = {},
) {
  const iat = nowSeconds()
  const claims = { iss: url, aud: 'edge', sub: 'ada', nonce, iat, exp: iat + 60, ...changed }
  return new SignJWT(claims).setProtectedHeader({ alg: 'ES256', kid }).sign(key ?? keys.privateKey)
}

const encoded = (part: object) => btoa(JSON.stringify(part)).replaceAll('=', '')

async function signInWith(token: (issuer: PlayedIssuer, nonce: string) => Promise<string> | string) {
  const issuer = await new PlayedIssuer().publish()
  const { path, nonce } = await issuer.begin()
  const id_token = await token(issuer, nonce)
  await issuer.answers(200, { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token })
  const response = await issuer.browser.load(path, { headers: { accept: 'application/json' } })
  const type = response.status === 303 ? null : (await response.json<{ type: string }>()).type
  return [response.status, type, issuer.browser.cookies().has('shop-account')]
}

const FAILED = [400, '/problems/sign-in-failed', false]

it('takes an account from an ID token of this issuer, this client and this attempt alone', async () => {
  expect(await signInWith((issuer, nonce) => idToken(issuer, nonce, {}))).toEqual([303, null, true])
  const [past, later] = [nowSeconds() - 3_600, nowSeconds() + 3_600]
  const changes = {
    'another audience': { aud: 'another-client' },
    'several audiences, for another of them': { aud: ['edge', 'another'], azp: 'another' },
    'another issuer': { iss: 'https://another.example' },
    'another nonce': { nonce: 'another' },
    'no nonce': { nonce: undefined },
    'an expired one': { iat: past - 60, exp: past },
    'one that is not valid yet': { nbf: later },
    'no subject': { sub: undefined },
    'a subject that no name can be': { sub: 'a\nb' },
    'a subject that is too long': { sub: 'x'.repeat(191) },
  }
  for (const [name, changed] of Object.entries(changes))
    expect([name, await signInWith((issuer, nonce) => idToken(issuer, nonce, changed))]).toEqual([name, FAILED])
})

it('takes an ID token by a key of the issuer alone, and by the algorithm of that key', async () => {
  const forged = (header: object) => async (issuer: PlayedIssuer, nonce: string) => {
    const [, payload, signature] = (await idToken(issuer, nonce, {})).split('.')
    return `${encoded(header)}.${payload}.${signature}`
  }
  const tokens: Record<string, Parameters<typeof signInWith>[0]> = {
    'another key': (issuer, nonce) => idToken(issuer, nonce, {}, { key: stranger.privateKey }),
    'an unknown key': (issuer, nonce) => idToken(issuer, nonce, {}, { key: stranger.privateKey, kid: 'two' }),
    'no algorithm': forged({ alg: 'none' }),
    'a secret': forged({ alg: 'HS256', kid: 'one' }),
    'another algorithm': forged({ alg: 'RS256', kid: 'one' }),
    'no signature': async (issuer, nonce) => (await idToken(issuer, nonce, {})).replace(/[^.]+$/, ''),
    'no token': () => '',
  }
  for (const [name, token] of Object.entries(tokens)) expect([name, await signInWith(token)]).toEqual([name, FAILED])
})

it('says that the issuer is away, keeps what was begun, and goes on when it is back', async () => {
  const issuer = new PlayedIssuer()
  const { browser } = issuer
  await stub(issuer.path + CONFIGURATION, 503, {})
  for (let times = 0; times < 20; times++) {
    const away = await browser.load('/me/sign-in', { headers: { accept: 'application/json' } })
    expect([away.status, away.headers.get('retry-after')]).toEqual([503, '2'])
    expect(await away.json()).toMatchObject({
      type: '/problems/try-again',
      detail: expect.stringMatching(/does not respond.*keep your place/i),
    })
  }
  // One request asked for all.
  expect((await requestsTo(issuer.path + CONFIGURATION)).calls).toBe(1)
  const page = await browser.load('/me/sign-in')
  expect([page.status, page.headers.get('content-type')]).toEqual([503, 'text/html; charset=utf-8'])
  expect(await page.text()).toContain('http-equiv="refresh"')
  expect(browser.cookies().size).toBe(0)

  await issuer.publish()
  await expect.poll(async () => (await browser.load('/me/sign-in')).status).toBe(303)
  const { path, nonce } = await issuer.begin()
  for (const status of [500, 503, 0]) {
    await issuer.answers(status, { error: 'server_error' })
    const away = await browser.load(path, { headers: { accept: 'application/json' } })
    expect([status, away.status, away.headers.get('retry-after')]).toEqual([status, 503, '2'])
    expect(browser.cookies().has('sign-in')).toBe(true)
  }
  const busy = `${path.replace(/code=[^&]+&/, '')}&error=temporarily_unavailable`
  expect((await browser.load(busy)).status).toBe(503)
  const id_token = await idToken(issuer, nonce, {})
  await issuer.answers(200, { access_token: 'a', token_type: 'Bearer', expires_in: 60, id_token })
  expect((await browser.load(path)).headers.get('location')).toBe('/sales/x')
})

it('asks for the configuration once for a crowd, and signs out where the issuer cannot', async () => {
  const issuer = await new PlayedIssuer().publish()
  const crowd = Array.from({ length: 20 }, () => new SignInBrowser(issuer.env).begin())
  await Promise.all(crowd)
  expect((await requestsTo(issuer.path + CONFIGURATION)).calls).toBe(1)
  expect(await issuer.browser.json('/me/sign-out', 'POST')).toEqual({ sign_out_url: null })
  const page = await issuer.browser.load('/me/sign-out', { method: 'POST' })
  expect([page.status, page.headers.get('refresh')]).toEqual([200, null])
})

it('waits for an issuer no longer than its bound', async () => {
  const issuer = await new PlayedIssuer().publish()
  const { path } = await issuer.begin()
  await stub(`${issuer.path}/token`, 200, {}, 15_000)
  const late = await issuer.browser.load(path, { headers: { accept: 'application/json' } })
  expect([late.status, late.headers.get('retry-after')]).toEqual([503, '2'])
})

it('trusts no configuration that names another issuer', async () => {
  const issuer = await new PlayedIssuer().publish({ issuer: 'https://another.example' })
  expect((await issuer.browser.load('/me/sign-in')).status).toBe(503)
})
