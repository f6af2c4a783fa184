import { expect, it } from 'vitest'
import { newKeySet } from '../../shared/keys.ts'
import { ADMISSION, type AdmissionClaims, QUEUE, readToken, signToken } from '../../shared/tokens.ts'
import { WORDS } from '../pages/words/words.ts'
import { settingsOf } from '../testing/settings.ts'
import { ConfigError, type Env, readConfig, SETTINGS } from './config.ts'
import { identityOf } from './visitor-secret.ts'

// The types of this module would load Node's types, in which a timer is not a number.
const { readFileSync } = await import('node:fs' as string)
const wrangler: string = readFileSync('wrangler.toml', 'utf8')

const env = settingsOf('http://127.0.0.1:1') as unknown as Env

const ED25519_PUBLIC = JSON.stringify({
  keys: [{ kty: 'OKP', crv: 'Ed25519', kid: 'e', x: '11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo' }],
})

/** Cloudflare publishes it: every token passes. */
const TURNSTILE_FOR_TESTS = {
  TURNSTILE_SITE_KEY: '1x00000000000000000000AA',
  TURNSTILE_SECRET_KEY: '1x0000000000000000000000000000000AA',
}

const QUEUE_IT_CUSTOMER = {
  customer: 'acme',
  secret: 'a-secret-of-a-customer-of-queue-it-0',
  hosts: ['shop.example'],
  events: { drop: 'drop' },
}

const refusal = async (changed: Partial<Record<keyof Env, string>>) => {
  try {
    await readConfig({ ...env, ...changed } as Env)
    return null
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigError)
    return (error as ConfigError).message
  }
}

it('names the setting that is missing or wrong, and never its value', async () => {
  const wrong: Partial<Record<keyof Env, string>>[] = [
    { ORIGIN_URL: '' },
    { ORIGIN_URL: 'not-an-address' },
    { EDGE_TOKEN: '' },
    { QUEUE_KEYS: 'no-json-at-all' },
    { QUEUE_KEYS: ED25519_PUBLIC },
    { QUEUE_KEYS: '{"keys":[{"kty":"oct","kid":"short","k":"c2hvcnQ"}]}' },
    { ADMISSION_KEYS: '{"keys":[]}' },
    { ADMISSION_KEYS: ED25519_PUBLIC },
    { ENVIRONMENT: 'production', QUEUE_KEYS: env.QUEUE_KEYS.replace('"kid":"', '"kid":"development-') },
    { TICKET_SHARDS: '0' },
    { TICKET_SHARDS: 'many' },
    { TICKET_SHARDS: '2.5' },
    { CLAIM_SECONDS: '-1' },
    { CLAIM_SECONDS: '3m' },
    { ADMISSIONS_PER_UNIT: '0' },
    { NO_SHOW_BOOST: '20' },
    { DRAW_BEACON_URL: 'soon' },
    { JOINS_PER_ADDRESS: '10' },
    { POW_DIFFICULTY: 'hard' },
    { SHOP_JWKS_URL: 'https://shop.example/jwks' },
    { TURNSTILE_SITE_KEY: '1x00000000000000000000AA' },
    { ENVIRONMENT: 'production', PAYMENT_PAGE: '/pay/{order}', ...TURNSTILE_FOR_TESTS },
    { PROTECT: 'https://shop.example' },
    ...[
      [{ upstream: 'https://shop.example', sale: 'drop' }],
      [{ upstream: 'https://shop.example', sale: 'drop', paths: '/*', path: '/x' }],
      [{ upstream: 'shop.example', sale: 'drop', paths: '/*' }],
      [{ upstream: 'https://shop.example', sale: 'drop', paths: '/*', share: 0 }],
      [{ upstream: 'https://shop.example', sale: 'drop', paths: '/*', host: 'https://a.example' }],
      [{ upstream: 'https://shop.example', sale: 'drop', paths: '/*', custom_page_html: '{{#waitTimeKnown}}' }],
    ].map((sites) => ({ PROTECT: JSON.stringify(sites) })),
    { QUEUE_IT: 'acme' },
    ...[
      { customer: 'Acme_1' },
      { secret: 'short-secret' },
      { secret: 5 },
      { api_key: 'short-secret' },
      { hosts: [] },
      { hosts: ['https://shop.example'] },
      { events: { drop_1: 'drop' } },
      { session_minutes: 0 },
      { enqueue_token: 'perhaps' },
      { bind_address: 'sometimes' },
      { push_url: 'shop.example' },
      { another: 'field' },
      { integration: { Version: 0, Integrations: [] } },
      { integration: { Version: 1, Integrations: [{ ActionType: 'Queue', EventId: 'other-event' }] } },
      { integration: { Version: 1, Integrations: [{ ActionType: 'Wait-here', EventId: 'drop' }] } },
    ].map((changed) => ({ QUEUE_IT: JSON.stringify([{ ...QUEUE_IT_CUSTOMER, ...changed }]) })),
    { QUEUE_IT: JSON.stringify([QUEUE_IT_CUSTOMER, QUEUE_IT_CUSTOMER]) },
    ...[{ secret: 'development-secret-of-queue-it-00000' }, { push_url: 'http://shop.example/push' }].map(
      (changed) => ({
        ...{ ENVIRONMENT: 'production', PAYMENT_PAGE: 'sandbox' },
        QUEUE_IT: JSON.stringify([{ ...QUEUE_IT_CUSTOMER, ...changed }]),
      }),
    ),
    { PAYMENT_PAGE: 'https://pay.example/{order}' },
    { PAYMENT_PAGE: '//pay.example/{order}' },
    { PAYMENT_PAGE: '/pay-here' },
    { WORDS: 'Hello' },
    { WORDS: '{"nl":{"joinLine":"In de rij"}}' },
    { WORDS: '{"en":{"joinLine":""}}' },
    { WORDS: '{"en":{"problems":{"sold-out":[1]}}}' },
    { WORDS: '{"en":{"perVisitor":"{p} each"}}' },
    { PUBLIC_URL: 'https://shop.example/queue' },
    { CORS_ORIGINS: '*' },
    { CORS_ORIGINS: 'https://shop.example https://www.shop.example/cart' },
    { CORS_ORIGINS: 'https://*.shop.example' },
    { PAYMENT_PAGE: 'stripe' },
    { PAYMENT_PAGE: 'stripe', STRIPE_PUBLISHABLE_KEY: 'sk_live_secret' },
    { ENVIRONMENT: 'production', EDGE_TOKEN: 'development-edge-token-00000000000' },
  ]
  for (const changed of wrong) {
    const message = await refusal(changed)
    expect(message, JSON.stringify(changed)).toMatch(/^[A-Z_]+(\.[\w.]+)? (is|must)/)
    for (const value of Object.values(changed)) if (value.length > 4) expect(message).not.toContain(value)
  }
  expect(await refusal({})).toBeNull()
  expect(await refusal({ QUEUE_IT: JSON.stringify([QUEUE_IT_CUSTOMER]) })).toBeNull()
})

it('requires https in production, unless a host is on this machine or in its network', async () => {
  const production = { ENVIRONMENT: 'production', PAYMENT_PAGE: '/pay/{order}' }
  const refusalOf = (ORIGIN_URL: string) => refusal({ ...production, ORIGIN_URL })
  for (const host of ['origin.shop.example', '203.0.113.5:3000', '[2001:4860::1]', '172.32.0.1', '10.shop.example']) {
    expect(await refusalOf(`http://${host}`), host).toMatch(/^ORIGIN_URL must be https/)
    expect(await refusalOf(`https://${host}`), host).toBeNull()
  }
  for (const host of [
    '127.0.0.1:3000',
    'localhost',
    '[::1]:3000',
    '10.0.0.7',
    '192.168.1.2',
    '[fd00::1]',
    'origin:3000',
    'api.internal',
  ])
    expect(await refusalOf(`http://${host}`), host).toBeNull()
  expect(await refusal({ ORIGIN_URL: 'http://origin.shop.example' })).toBeNull()
  expect(await refusal({ ...production, INTERNAL_URL: 'http://origin.shop.example' })).toMatch(
    /^INTERNAL_URL must be https/,
  )
  expect(await refusal({ ...production, CORS_ORIGINS: 'https://shop.example http://shop.example' })).toMatch(
    /^CORS_ORIGINS must be https/,
  )
})

it('serves with a sign-in issuer only if nothing about it is missing or open', async () => {
  const oidc = { SHOP_OIDC_ISSUER: 'https://id.shop.example/realms/shop', SHOP_OIDC_CLIENT_ID: 'line' }
  const production = { ENVIRONMENT: 'production', PAYMENT_PAGE: '/pay/{order}', PUBLIC_URL: 'https://line.example' }
  const complete = { ...production, ...oidc }
  expect(await refusal(complete)).toBeNull()
  expect(await refusal({ ...complete, SHOP_OIDC_CLIENT_SECRET: 'a secret' })).toBeNull()
  const wrong: [Partial<Record<keyof Env, string>>, RegExp][] = [
    [{ ...production, SHOP_OIDC_CLIENT_ID: 'line' }, /^SHOP_OIDC_ISSUER must be set$/],
    [{ ...production, SHOP_OIDC_CLIENT_SECRET: 'a secret' }, /^SHOP_OIDC_ISSUER must be set/],
    [{ ...complete, SHOP_OIDC_CLIENT_ID: '' }, /^SHOP_OIDC_CLIENT_ID must be set$/],
    [{ ...complete, SHOP_OIDC_ISSUER: 'id.shop.example' }, /^SHOP_OIDC_ISSUER must be an http/],
    [{ ...complete, SHOP_OIDC_ISSUER: 'http://id.shop.example' }, /^SHOP_OIDC_ISSUER must be https$/],
    [{ ...complete, PUBLIC_URL: '' }, /^PUBLIC_URL must be set with SHOP_OIDC_ISSUER$/],
    [{ ...complete, SHOP_OIDC_CLIENT_SECRET: 'development-secret' }, /^SHOP_OIDC_CLIENT_SECRET is the one for dev/],
  ]
  for (const [changed, message] of wrong) expect(await refusal(changed), JSON.stringify(changed)).toMatch(message)
  // Subjects of another issuer could have the names of these accounts.
  const shop = { SHOP_JWKS_URL: 'https://id.shop.example/jwks', SHOP_AUDIENCE: 'app' }
  expect(await refusal({ ...oidc, ...shop, SHOP_ISSUER: 'https://other.example' })).toMatch(/^SHOP_OIDC_ISSUER must be/)
  expect(await refusal({ ...oidc, ...shop, SHOP_ISSUER: oidc.SHOP_OIDC_ISSUER })).toBeNull()
})

it('requires a payment page in production, except before another site', async () => {
  const forgotten = { ENVIRONMENT: 'production', PAYMENT_PAGE: '' }
  expect(await refusal(forgotten)).toMatch(/^PAYMENT_PAGE must/)
  const protect = { PROTECT: JSON.stringify([{ upstream: 'https://shop.example', sale: 'drop', paths: '/*' }]) }
  expect(await refusal({ ...forgotten, ...protect })).toBeNull()
  expect(await refusal({ ...forgotten, QUEUE_IT: JSON.stringify([QUEUE_IT_CUSTOMER]) })).toBeNull()
  expect(await refusal({ ...forgotten, PAYMENT_PAGE: '/pay/{order}' })).toBeNull()
  const inDevelopment = { ...env, PAYMENT_PAGE: '' }
  expect((await readConfig(inDevelopment)).PAYMENT_PAGE).toBeNull()
})

it('has no default limits in development, and some everywhere else', async () => {
  const named = SETTINGS.flatMap(({ name, isLimit }) => (isLimit ? [name] : []))
  expect(named).toEqual(expect.arrayContaining(['JOINS_PER_ADDRESS', 'UNPAID_PER_ADDRESS']))
  const limits = async (env: Env) => {
    const config = (await readConfig(env)) as unknown as Readonly<Record<string, unknown>>
    return named.map((name) => config[name])
  }
  expect(new Set(await limits(env))).toEqual(new Set([null]))
  for (const ENVIRONMENT of ['production', 'Development', ''])
    expect(await limits({ ...env, ENVIRONMENT }), ENVIRONMENT).not.toContain(null)
})

it('is documented by wrangler.toml, with the same defaults', () => {
  for (const { name, default: preset } of SETTINGS) {
    const value = new RegExp(`^${name} = "(.*)"$`, 'm').exec(wrangler)?.[1]
    // A secret: one that must be set, or one that may be.
    if (value === undefined) expect(wrangler).toMatch(new RegExp(`^required = .*"${name}"|^#   ${name} `, 'm'))
    else if (preset !== undefined && value !== '') expect(value, name).toBe(preset)
  }
})

it('puts the shop’s own words over those of the pages, by language', async () => {
  const own = { de: { joinLine: 'Rein da', perVisitor: 'Je {n}', problems: { 'sold-out': ['Alles weg'] } } }
  const { WORDS: words } = await readConfig({ ...env, WORDS: JSON.stringify(own) })
  expect(words.de).toEqual({
    ...WORDS.de,
    joinLine: 'Rein da',
    perVisitor: 'Je {n}',
    problems: { ...WORDS.de.problems, 'sold-out': ['Alles weg', WORDS.de.problems['sold-out'][1]] },
  })
  expect(words.en).toEqual(WORDS.en)
  expect(await refusal({ WORDS: '{"en":{"joinLine":"In","joinLin":"In"},"fr":{"ahead":{"two":"x"}}}' })).toMatch(
    /^WORDS must .*: en.joinLin, fr.ahead.two$/,
  )
})

it('reads every place, admission and cookie beside a Worker that is one step of a rotation ahead', async () => {
  const [old, next] = [newKeySet().keys[0], newKeySet().keys[0]]
  // The steps are those of docs/deploying.md. The last key names visitors, so the old one is repeated there.
  const again = { ...old, kid: 'old-again' }
  const queueSteps = [[old], [old, next, again], [next, old]]
  const admissionSteps = [[old], [old, next], [next, old]]
  const steps = await Promise.all(
    queueSteps.map((queue, i) => {
      const [QUEUE_KEYS, ADMISSION_KEYS] = [queue, admissionSteps[i]].map((keys) => JSON.stringify({ keys }))
      return readConfig({ ...env, QUEUE_KEYS, ADMISSION_KEYS } as Env)
    }),
  )
  const nowMs = Date.now()
  const [iat, exp] = [Math.floor(nowMs / 1000), Math.floor(nowMs / 1000) + 60]
  const place = { sub: 'v', sale: 's', num: 1, iat, exp }
  const admission = { ...place, jti: 'j' } as AdmissionClaims
  for (const [i, signer] of steps.entries())
    for (const reader of steps.slice(Math.max(0, i - 1), i + 2)) {
      const { keys } = reader
      const queueToken = await signToken(QUEUE, signer.keys.queue, place)
      expect(await readToken(QUEUE, keys.queue, queueToken, nowMs)).toMatchObject({ ok: true })
      const admissionToken = await signToken(ADMISSION, signer.keys.admission, admission)
      expect(await readToken(ADMISSION, keys.admission, admissionToken, nowMs)).toMatchObject({ ok: true })
      expect(identityOf('secret', keys.visitor)).toEqual(identityOf('secret', signer.keys.visitor))
      expect(keys.proof).toBe(signer.keys.proof)
    }
})
