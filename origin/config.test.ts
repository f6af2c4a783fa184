import { describe, expect, it } from 'vitest'
import { readConfig, SETTINGS } from './config.ts'

const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://localhost/shop',
  REDIS_URL: 'redis://localhost',
  ADMISSION_KEYS: JSON.stringify({ keys: [{ kty: 'oct', kid: 'k1', k: 'A'.repeat(43) }] }),
  ADMIN_TOKEN: 'an-admin-token-of-our-own-0123456789',
  EDGE_TOKEN: 'an-edge-token-of-our-own-0123456789',
  ORDER_TOKEN_SECRET: 'an-order-token-secret-of-our-own-0123456789',
  WEBHOOK_SECRET: 'a-webhook-secret-of-our-own-0123456789',
}
const stripe = {
  PAYMENT_PROVIDER: 'stripe',
  STRIPE_SECRET_KEY: 'sk_1',
  STRIPE_WEBHOOK_SECRET: 'whsec_of_our_own_0123456789abcdef',
}

describe('in production', () => {
  it.each([undefined, ''])('the payment provider has no default (%j)', (PAYMENT_PROVIDER) => {
    expect(() => readConfig({ ...production, PAYMENT_PROVIDER })).toThrow(
      /^PAYMENT_PROVIDER: must be set in production/,
    )
  })

  it('the sandbox is allowed when set, with a warning', () => {
    expect(readConfig({ ...production, PAYMENT_PROVIDER: 'sandbox' }).warnings).toEqual([
      'PAYMENT_PROVIDER is sandbox: no money is taken',
    ])
    expect(readConfig({ ...production, ...stripe }).warnings).toEqual([])
  })

  it.each(['ADMIN_TOKEN', 'EDGE_TOKEN', 'ORDER_TOKEN_SECRET', 'WEBHOOK_SECRET'])(
    '%s needs 32 characters and is never shown',
    (name) => {
      const sandbox = { ...production, PAYMENT_PROVIDER: 'sandbox' }
      expect(() => readConfig({ ...sandbox, [name]: undefined })).toThrow(name)
      expect(() => readConfig({ ...sandbox, [name]: 'hunter2' })).toThrow(
        `${name}: 32 characters or more are required`,
      )
    },
  )

  it('the webhook secret of Stripe has 32 characters too, since it confirms orders', () => {
    expect(() => readConfig({ ...production, ...stripe, STRIPE_WEBHOOK_SECRET: 'x' })).toThrow(
      'STRIPE_WEBHOOK_SECRET: 32 characters or more are required',
    )
  })

  it('Stripe needs no setting of the sandbox', () => {
    const { WEBHOOK_SECRET: _, ...given } = production
    expect(readConfig({ ...given, ...stripe, STRIPE_API_URL: 'https://proxy.example/' }).payment).toEqual({
      provider: 'stripe',
      STRIPE_SECRET_KEY: 'sk_1',
      STRIPE_WEBHOOK_SECRET: stripe.STRIPE_WEBHOOK_SECRET,
      STRIPE_API_URL: 'https://proxy.example/',
    })
  })
})

it.each(['ADMIN_TOKEN', 'EDGE_TOKEN'])('%s holds only what a header can hold', (name) => {
  for (const end of ['\n', ' ', '!']) {
    const wrong = { ...production, ...stripe, [name]: `a-token-read-from-a-file-0123456789${end}` }
    expect(() => readConfig(wrong), end).toThrow(`${name}: may hold letters, digits and -._~+/= only`)
  }
})

it('needs no secret and no provider in development, and warns', () => {
  const { NODE_ENV: _, ADMIN_TOKEN: __, ...given } = production
  const config = readConfig(given)
  expect(config.payment).toMatchObject({ provider: 'sandbox', SANDBOX_TIMEOUT_MS: 2000 })
  expect(config.warnings).toEqual(['ADMIN_TOKEN is not set: the public default is used'])
})

it('reports all invalid settings at once', () => {
  const wrong = {
    ...{ NODE_ENV: 'production', PORT: 'http', REDIS_URL: 'here', ADMISSION_KEYS: 'there' },
    ...{ PAYMENT_PROVIDER: 'stripe', EDGE_TOKEN: 'hunter2' },
  }
  const lines = () => {
    try {
      readConfig(wrong)
      return []
    } catch (error) {
      return String((error as Error).message).split('\n')
    }
  }
  expect(lines().map((line) => line.split(':')[0])).toEqual([
    ...['PORT', 'DATABASE_URL', 'REDIS_URL', 'ADMISSION_KEYS', 'ADMIN_TOKEN', 'EDGE_TOKEN'],
    ...['ORDER_TOKEN_SECRET', 'STRIPE_SECRET_KEY', 'STRIPE_WEBHOOK_SECRET'],
  ])
  expect(lines().join()).not.toContain('hunter2')
})

it('says what is wrong in plain words', () => {
  const given = { ...production, ...stripe }
  expect(() => readConfig({ ...given, PORT: '70000' })).toThrow(/^PORT: a port number is required$/)
})

describe('the admission keys', () => {
  const given = { ...production, ...stripe }

  it.each([undefined, 'no JSON', '{"keys":[]}'])('are required, as a JWK Set: %s', (ADMISSION_KEYS) => {
    expect(() => readConfig({ ...given, ADMISSION_KEYS })).toThrow(
      /^ADMISSION_KEYS: (not set|must be a JWK Set)/,
    )
  })

  it('are not those for development in production', () => {
    const ADMISSION_KEYS = given.ADMISSION_KEYS.replace('k1', 'development')
    expect(() => readConfig({ ...given, ADMISSION_KEYS })).toThrow('ADMISSION_KEYS: must be keys of your own')
    expect(readConfig({ ...given, ADMISSION_KEYS, NODE_ENV: '' }).ADMISSION_KEYS.keys).toHaveLength(1)
  })
})

it('limits SANDBOX_TIMEOUT_MS to the time of a payment job', () => {
  const given = { ...production, PAYMENT_PROVIDER: 'sandbox' }
  expect(readConfig({ ...given, SANDBOX_TIMEOUT_MS: '6000' }).payment).toMatchObject({
    SANDBOX_TIMEOUT_MS: 6000,
  })
  expect(() => readConfig({ ...given, SANDBOX_TIMEOUT_MS: '6001' })).toThrow(
    'SANDBOX_TIMEOUT_MS: milliseconds are required, 6000 or less',
  )
})

it('describes every setting once', () => {
  expect(SETTINGS.filter(({ description }) => description === '')).toEqual([])
  expect(new Set(SETTINGS.map(({ name }) => name)).size).toBe(SETTINGS.length)
  expect(SETTINGS).toContainEqual({ name: 'PORT', default: '3000', description: 'Port of the origin' })
})
