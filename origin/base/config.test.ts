import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { readConfig, SETTINGS } from './config.ts'

const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://localhost/shop',
  REDIS_URL: 'redis://localhost',
  ADMISSION_KEYS: JSON.stringify({ keys: [{ kty: 'oct', kid: 'k1', k: 'A'.repeat(43) }] }),
  ADMIN_TOKEN: 'an-admin-token-of-our-own-0123456789',
  EDGE_TOKEN: 'an-edge-token-of-our-own-0123456789',
  ORDER_KEYS: JSON.stringify({ keys: [{ kty: 'oct', kid: 'k2', k: 'B'.repeat(43) }] }),
  WEBHOOK_KEYS: JSON.stringify({ keys: [{ kty: 'oct', kid: 'k3', k: 'C'.repeat(43) }] }),
  WEBHOOK_SECRET: 'a-webhook-secret-of-our-own-0123456789',
  EDGE_URL: 'https://drop.example',
}
const stripe = {
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_our_own_0123456789abcdef',
}
const shop = {
  PAYMENT_PROVIDER: 'http',
  PAYMENT_URL: 'https://pay.example/calls',
  PAYMENT_SECRET: `whsec_${'A'.repeat(32)}`,
}
/** All that production with Stripe needs. */
const given = { ...production, ...stripe }
const sandbox = { PAYMENT_PROVIDER: 'sandbox', ALLOW_TEST_PAYMENTS: 'true' }
const oidc = {
  PUBLIC_URL: 'https://drop.example',
  OIDC_ISSUER: 'https://id.example',
  OIDC_CLIENT_ID: 'c',
  OIDC_CLIENT_SECRET: 's',
  CONSOLE_URL: 'https://ops.example',
}
const vapid = {
  VAPID_PUBLIC_KEY: 'BJP8RdbAZQGzY8sE6qImkBHlg7-78qNIAlI16e6xvB5uZN4yBGCYvHMKJ3rOnzohUXImhozLHWoBEys9jNssPOw',
  VAPID_PRIVATE_KEY: 'pS6YsPUq9pVUdiLdgOdhO0kwpqwb1HAqQ9rrPeNHQ04',
  VAPID_SUBJECT: 'mailto:shop@example.com',
}
const developmentKeys = production.ADMISSION_KEYS.replace('k1', 'development')
const ofAHeader = 'may hold letters, digits and -._~+/= only'
const token = 'a-token-read-from-a-file-0123456789'

it.each<[Record<string, string | undefined>, RegExp | string]>([
  [{ PORT: '70000' }, /^PORT: a port number is required$/],
  [{ ALLOW_DIRECT: 'yes' }, 'ALLOW_DIRECT: true or false is required'],
  [{ PAYMENT_PROVIDER: undefined }, /^PAYMENT_PROVIDER: must be set in production/],
  [{ PAYMENT_PROVIDER: '' }, /^PAYMENT_PROVIDER: must be set in production/],
  [{ ADMIN_TOKEN: `${token}\n` }, `ADMIN_TOKEN: ${ofAHeader}`],
  [{ ADMIN_TOKEN: `${token} ` }, `ADMIN_TOKEN: ${ofAHeader}`],
  [{ EDGE_TOKEN: `${token}!` }, `EDGE_TOKEN: ${ofAHeader}`],
  [{ ADMISSION_KEYS: undefined }, /^ADMISSION_KEYS: not set/],
  [{ ADMISSION_KEYS: 'no JSON' }, /^ADMISSION_KEYS: must be a JWK Set/],
  [{ ADMISSION_KEYS: '{"keys":[]}' }, /^ADMISSION_KEYS: must be a JWK Set/],
  [{ ADMISSION_KEYS: developmentKeys }, 'ADMISSION_KEYS: must be keys of your own'],
  [{ WEBHOOK_KEYS: developmentKeys }, 'WEBHOOK_KEYS: must be keys of your own'],
  [{ ORDER_KEYS: undefined }, /^ORDER_KEYS: not set$/],
  [{ ORDER_KEYS: '{"keys":[]}' }, /^ORDER_KEYS: must be a JWK Set/],
  [{ ORDER_KEYS: developmentKeys }, /^ORDER_KEYS: must be keys of your own in production$/],
  // A charge must end within the time of its job.
  [{ ...sandbox, SANDBOX_TIMEOUT_MS: '6001' }, 'SANDBOX_TIMEOUT_MS: milliseconds are required, 6000 or less'],
  [{ PAYMENTS_PER_SECOND: '0' }, /^PAYMENTS_PER_SECOND: 1 or more/],
  [{ ...shop, PAYMENT_URL: undefined }, /^PAYMENT_URL: not set$/],
  [{ ...shop, PAYMENT_SECRET: undefined }, /^PAYMENT_SECRET: not set$/],
  [{ ...shop, PAYMENT_SECRET: 'hunter2' }, /^PAYMENT_SECRET: whsec_ and 24 to 64 bytes/],
  [{ ...shop, PAYMENT_SECRET: `${shop.PAYMENT_SECRET}  ` }, /^PAYMENT_SECRET: whsec_ and 24 to 64 bytes/],
  [
    { ...shop, PAYMENT_URL: 'http://pay.example' },
    /^PAYMENT_URL: https is required in production, unless it is local$/,
  ],
  [{ ...shop, PAYMENT_URL: 'http://127.0.0.1.example' }, /^PAYMENT_URL: https is required/],
  [{ ...shop, EDGE_URL: undefined }, /^PUBLIC_URL: must be set/],
  // Banks send buyers back to the shop, and the sign-in service sends operators back to the console.
  [{ EDGE_URL: undefined }, /^PUBLIC_URL: must be set/],
  [{ ...oidc, CONSOLE_URL: undefined }, /^CONSOLE_URL: not set$/],
  [{ ...oidc, OIDC_ISSUER: 'http://id.example' }, /^OIDC_ISSUER: https is required/],
  [{ ...oidc, OIDC_ROLES: '{"a":"boss"}' }, /^OIDC_ROLES: a JSON object/],
  [{ ...vapid, VAPID_PUBLIC_KEY: undefined }, /^VAPID_PUBLIC_KEY: not set$/],
  [{ ...vapid, VAPID_PRIVATE_KEY: undefined }, /^VAPID_PRIVATE_KEY: not set$/],
  [{ ...vapid, VAPID_SUBJECT: undefined }, /^VAPID_SUBJECT: not set$/],
  [{ ...vapid, VAPID_SUBJECT: 'me' }, /^VAPID_SUBJECT: mailto: or/],
  [
    { ...vapid, VAPID_PRIVATE_KEY: '672UwT__ROF-5r6wuAt_8hI8n2l9EhBlFd_Ga6mhz6E' },
    /^VAPID_PRIVATE_KEY: is not that of VAPID_PUBLIC_KEY$/,
  ],
  // Anything but development is production.
  ...[undefined, '', 'prod', 'test', 'Development'].map((NODE_ENV): [Record<string, string | undefined>, RegExp] => [
    { NODE_ENV, ADMIN_TOKEN: undefined },
    /^ADMIN_TOKEN: must be set/,
  ]),
])('refuses %j in plain words', (changes, why) => {
  expect(() => readConfig({ ...given, ...changes })).toThrow(why)
})

it('reads a setting from a file that is named instead', () => {
  const { EDGE_TOKEN: _, ...rest } = given
  const folder = mkdtempSync(join(tmpdir(), 'flash-sale-settings-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  writeFileSync(join(folder, 'token'), `${token}\n`)
  expect(readConfig({ ...rest, EDGE_TOKEN_FILE: join(folder, 'token') }).EDGE_TOKEN).toBe(token)
  expect(() => readConfig({ ...given, EDGE_TOKEN_FILE: join(folder, 'token') })).toThrow(
    'EDGE_TOKEN: is set, and EDGE_TOKEN_FILE too',
  )
  const nowhere = join(folder, 'nowhere')
  expect(() => readConfig({ ...rest, EDGE_TOKEN_FILE: nowhere })).toThrow('EDGE_TOKEN_FILE: cannot be read (ENOENT)')
})

describe('in production', () => {
  it('takes the public address, the roles of a sign-in service, and the keys for push', () => {
    const { PUBLIC_URL, ...config } = readConfig({ ...given, ...oidc, ...vapid, PUBLIC_URL: 'https://drop.example/' })
    expect(PUBLIC_URL).toBe('https://drop.example')
    expect(config.oidc?.OIDC_ROLES).toMatchObject({ operator: 'operator' })
    expect(config.vapid).toMatchObject({ ...vapid, PUSH_SERVICES: expect.arrayContaining(['fcm.googleapis.com']) })
    const services = { PUSH_SERVICES: 'push.example *.other.example' }
    expect(readConfig({ ...given, ...vapid, ...services }).vapid?.PUSH_SERVICES).toEqual([
      'push.example',
      '*.other.example',
    ])
    expect(readConfig(given).vapid).toBeUndefined()
  })

  it('Stripe takes as many calls a second as its accounts do, unless set; the sandbox any number', () => {
    const perSecond = (changes: object) =>
      readConfig({ ...given, ALLOW_TEST_PAYMENTS: 'true', ...changes }).payment.perSecond
    expect([perSecond({}), perSecond({ STRIPE_SECRET_KEY: 'sk_test_1' })]).toEqual([100, 25])
    expect(perSecond({ PAYMENTS_PER_SECOND: '400' })).toBe(400)
    expect(perSecond({ PAYMENT_PROVIDER: 'sandbox' })).toBe(null)
  })

  it.each([
    [{ PAYMENT_PROVIDER: 'sandbox' }, 'PAYMENT_PROVIDER: the sandbox takes no money'],
    [{ STRIPE_SECRET_KEY: 'sk_test_1' }, 'STRIPE_SECRET_KEY: is a test key of Stripe'],
  ])('test payments by %j are refused, or allowed with a warning', (payments, why) => {
    const refused = /^.*; ALLOW_TEST_PAYMENTS=true allows it in production, for a rehearsal$/
    expect(() => readConfig({ ...given, ...payments })).toThrow(refused)
    expect(readConfig({ ...given, ...payments, ALLOW_TEST_PAYMENTS: 'true' }).warnings).toEqual([why])
  })

  it.each([
    ['ADMIN_TOKEN', sandbox],
    ['EDGE_TOKEN', sandbox],
    ['WEBHOOK_SECRET', sandbox],
    ['STRIPE_WEBHOOK_SECRET', {}],
  ])('%s needs 32 characters and is never shown', (name, provider) => {
    expect(() => readConfig({ ...given, ...provider, [name]: undefined })).toThrow(name)
    const short = () => readConfig({ ...given, ...provider, [name]: 'hunter2' })
    expect(short).toThrow(new RegExp(`^${name}: 32 characters or more are required$`))
  })

  it('Stripe needs no setting of the sandbox', () => {
    const { WEBHOOK_SECRET: _, ...given } = { ...production, ...stripe }
    expect(readConfig({ ...given, STRIPE_API_URL: 'https://proxy.example/' }).payment).toEqual({
      provider: 'stripe',
      perSecond: 100,
      STRIPE_SECRET_KEY: 'sk_1',
      STRIPE_WEBHOOK_SECRET: stripe.STRIPE_WEBHOOK_SECRET,
      STRIPE_API_URL: 'https://proxy.example/',
    })
    // A client that knows the sandbox's secret can confirm orders of test sales, so the public default must not be
    // used.
    const otherKeys = given.ORDER_KEYS.replace('BBB', 'CCC')
    const [one, other] = [given.ORDER_KEYS, otherKeys].map(
      (ORDER_KEYS) => readConfig({ ...given, ORDER_KEYS }).sandbox.WEBHOOK_SECRET,
    )
    expect(one).toMatch(/^[0-9a-f]{64}$/)
    expect(other).not.toBe(one)
  })
})

it("takes the shop's own payment server: several secrets while one is changed, and no https on this machine", () => {
  const other = `whsec_${'B'.repeat(32)}`
  const { PAYMENT_SECRET } = shop
  expect(readConfig({ ...given, ...shop, PAYMENT_SECRET: `${other} ${PAYMENT_SECRET}` }).payment).toEqual({
    provider: 'http',
    perSecond: null,
    PAYMENT_URL: shop.PAYMENT_URL,
    secrets: [other, PAYMENT_SECRET],
  })
  expect(readConfig({ ...given, PAYMENT_SECRET }).PAYMENT_SECRET).toEqual([PAYMENT_SECRET])
  for (const PAYMENT_URL of ['http://127.0.0.1:4000/', 'http://localhost:4000/', 'http://[::1]:4000/'])
    expect(readConfig({ ...given, ...shop, PAYMENT_URL }).payment).toMatchObject({ PAYMENT_URL })
})

it('takes buyers from the edge alone unless told otherwise, and warns in production', () => {
  expect(readConfig(given).ALLOW_DIRECT).toBe(false)
  const { ALLOW_DIRECT, warnings } = readConfig({ ...given, ALLOW_DIRECT: 'true' })
  expect({ ALLOW_DIRECT, warnings }).toEqual({
    ALLOW_DIRECT: true,
    warnings: ["ALLOW_DIRECT is true: a sold admission passes by the edge's check of the session"],
  })
  expect(readConfig(given).warnings).toEqual([])
})

it('needs no secret and no provider in development, and warns', () => {
  const { ADMIN_TOKEN: _, ...given } = production
  const config = readConfig({ ...given, NODE_ENV: 'development' })
  expect(config.payment).toMatchObject({ provider: 'sandbox', SANDBOX_TIMEOUT_MS: 2000 })
  expect(config.warnings).toEqual(['ADMIN_TOKEN is not set: the public default is used'])
})

it('reports all invalid settings at once', () => {
  const wrong = {
    NODE_ENV: 'production',
    PORT: 'http',
    REDIS_URL: 'here',
    ADMISSION_KEYS: 'there',
    PAYMENT_PROVIDER: 'stripe',
    EDGE_TOKEN: 'hunter2',
  }
  const names = [
    ...[
      'PORT',
      'DATABASE_URL',
      'REDIS_URL',
      'ADMISSION_KEYS',
      'ORDER_KEYS',
      'WEBHOOK_KEYS',
      'ADMIN_TOKEN',
      'EDGE_TOKEN',
    ],
    ...['STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET', 'PUBLIC_URL'],
  ]
  expect(() => readConfig(wrong)).toThrow(new RegExp(`^${names.map((name) => `${name}: .*`).join('\n')}$`))
  expect(() => readConfig(wrong)).not.toThrow('hunter2')
})

it('takes what is at the limit, and the keys for development there', () => {
  expect(readConfig({ ...given, ...sandbox, SANDBOX_TIMEOUT_MS: '6000' }).sandbox.SANDBOX_TIMEOUT_MS).toBe(6000)
  const development = readConfig({ ...given, ADMISSION_KEYS: developmentKeys, NODE_ENV: 'development' })
  expect(development.ADMISSION_KEYS.keys).toHaveLength(1)
})

it('describes every setting once', () => {
  expect(SETTINGS.filter(({ description }) => description === '')).toEqual([])
  expect(new Set(SETTINGS.map(({ name }) => name)).size).toBe(SETTINGS.length)
  expect(SETTINGS).toContainEqual({ name: 'PORT', default: '3000', description: 'Port of the origin' })
})
