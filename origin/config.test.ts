import { describe, expect, it } from 'vitest'
import { readConfig } from './config.ts'

const production = {
  NODE_ENV: 'production',
  DATABASE_URL: 'postgres://localhost/shop',
  REDIS_URL: 'redis://localhost',
  ADMISSION_JWKS_URL: 'https://shop.example/.well-known/jwks.json',
  ADMIN_TOKEN: 'an-admin-token-of-our-own-0123456789',
  EDGE_TOKEN: 'an-edge-token-of-our-own-0123456789',
  ORDER_TOKEN_SECRET: 'an-order-token-secret-of-our-own-0123456789',
  WEBHOOK_SECRET: 'a-webhook-secret-of-our-own-0123456789',
}
const stripe = { PAYMENT_PROVIDER: 'stripe', STRIPE_SECRET_KEY: 'sk_1', STRIPE_WEBHOOK_SECRET: 'whsec_1' }

describe('in production', () => {
  it.each([undefined, ''])('the payment provider is not left to a default (%j)', (PAYMENT_PROVIDER) => {
    expect(() => readConfig({ ...production, PAYMENT_PROVIDER })).toThrow(
      /^PAYMENT_PROVIDER: must be set in production/,
    )
  })

  it('play money is allowed to those who say so, with a warning', () => {
    expect(readConfig({ ...production, PAYMENT_PROVIDER: 'sandbox' }).warnings).toEqual([
      'PAYMENT_PROVIDER is sandbox: no money is taken',
    ])
    expect(readConfig({ ...production, ...stripe }).warnings).toEqual([])
  })

  it.each(['ADMIN_TOKEN', 'EDGE_TOKEN', 'ORDER_TOKEN_SECRET', 'WEBHOOK_SECRET'])(
    '%s is a secret of 32 characters, never told',
    (name) => {
      expect(() => readConfig({ ...production, ...stripe, [name]: undefined })).toThrow(name)
      expect(() => readConfig({ ...production, ...stripe, [name]: 'hunter2' })).toThrow(
        `${name}: 32 characters or more are required`,
      )
    },
  )
})

it('a newcomer needs to set no secret and no provider, and is warned', () => {
  const { NODE_ENV: _, ADMIN_TOKEN: __, ...given } = production
  const config = readConfig(given)
  expect(config.PAYMENT_PROVIDER).toBe('sandbox')
  expect(config.warnings).toEqual(['ADMIN_TOKEN is not set: a default known to everyone is used'])
})
