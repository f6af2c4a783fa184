/**
 * The settings of payments: which provider takes the money, and what it needs. In production each must be one that
 * takes money, and none of its secrets has a default.
 */
import { createHmac } from 'node:crypto'
import * as v from 'valibot'
import type { SecretJwkSet } from '../../shared/keys.ts'
import { optional, required, setting } from '../../shared/lib/settings.ts'
import { isSecret } from '../lib/http/standard-webhooks.ts'
import { PROVIDER_TIMEOUT_MS, SANDBOX_DELAYS } from '../providers/provider.ts'
import { callsPerSecond, httpUrl, milliseconds } from './setting-forms.ts'

export const Stripe = v.object({
  STRIPE_SECRET_KEY: required(v.string(), 'Secret key of the Stripe account'),
  STRIPE_WEBHOOK_SECRET: required(v.string(), 'Signing secret of its webhook endpoint'),
  STRIPE_API_URL: optional(httpUrl, 'Replaces the API of Stripe'),
})

/** Old and new secret, while one is changed. */
const MAX_SECRETS = 4

/** The secrets between this system and the shop's payment server or checkout. */
export const PaymentSecrets = v.pipe(
  v.string(),
  v.transform((text) => text.split(' ')),
  v.maxLength(MAX_SECRETS, `${MAX_SECRETS} secrets or fewer are required`),
  v.everyItem(isSecret, 'whsec_ and 24 to 64 bytes in base64 are required'),
)

export const Http = v.object({
  PAYMENT_URL: required(
    httpUrl,
    "The shop's own payment server, for `PAYMENT_PROVIDER=http` (docs/payments.md); https, unless it is local",
  ),
})

export const Sandbox = v.object({
  WEBHOOK_SECRET: setting(
    v.string(),
    'development-webhook-secret-0000000',
    "Signs the sandbox's webhooks; beside another provider made from the key of orders unless set",
  ),
  SANDBOX_URL: optional(httpUrl, 'A running sandbox; otherwise the origin starts one'),
  SANDBOX_TIMEOUT_MS: setting(
    v.pipe(milliseconds, v.maxValue(PROVIDER_TIMEOUT_MS, `milliseconds are required, ${PROVIDER_TIMEOUT_MS} or less`)),
    '2000',
    'How long the sandbox may take to answer',
  ),
  SANDBOX_SLOW_MS: setting(milliseconds, `${SANDBOX_DELAYS.slowMs}`, 'How long `pm_slow` takes'),
  SANDBOX_CALLS_PER_SECOND: optional(
    callsPerSecond,
    'The sandbox turns away what exceeds so many calls a second; for a rehearsal of `PAYMENTS_PER_SECOND`',
  ),
  SANDBOX_LATE_MS: setting(milliseconds, `${SANDBOX_DELAYS.lateMs}`, 'How late the webhook of a late charge comes'),
})

/** `perSecond`: the calls that the provider takes a second; null: any number. */
export type PaymentConfig = { readonly perSecond: number | null } & (
  | ({ readonly provider: 'stripe' } & v.InferOutput<typeof Stripe>)
  | ({ readonly provider: 'http'; readonly secrets: readonly string[] } & v.InferOutput<typeof Http>)
  | ({ readonly provider: 'sandbox' } & v.InferOutput<typeof Sandbox>)
)
/** The rate limits of a Stripe account by default (docs.stripe.com/rate-limits). */
const STRIPE_PER_SECOND = { live: 100, test: 25 } as const

const isTestKey = (key: string) => key.includes('_test_')

const isLocal = (url: string) => /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(new URL(url).hostname)

/** What readConfig has read so far, and how it reads on. */
interface Reading {
  readonly given: Readonly<Record<string, string | undefined>>
  readonly production: boolean
  readonly settings:
    | {
        readonly ORDER_KEYS: SecretJwkSet
        readonly PAYMENTS_PER_SECOND?: number | undefined
        readonly PAYMENT_SECRET?: readonly string[] | undefined
      }
    | undefined
  readonly errors: string[]
  readonly read: <T>(schema: v.GenericSchema<unknown, T>) => T | undefined
  readonly checkSecret: (name: string) => void
  /** Test payments would give goods away, unless it is a rehearsal. */
  readonly refuseTestPayments: (why: string) => void
}

/** The provider of payments, and the sandbox, which takes those of test sales in every case. */
export function readPayments(reading: Reading) {
  const { given, production } = reading
  const provider = given.PAYMENT_PROVIDER ?? (production ? undefined : 'sandbox')
  if (provider === undefined) reading.errors.push('PAYMENT_PROVIDER: must be set in production, to stripe or http')
  const sandbox = readSandbox(reading)
  return { sandbox, payment: readProvider(provider, sandbox, reading) }
}

function readSandbox({ given, settings, read, checkSecret }: Reading) {
  const sandbox = read(Sandbox)
  if (!sandbox || !['stripe', 'http'].includes(given.PAYMENT_PROVIDER ?? '')) return sandbox
  if (given.WEBHOOK_SECRET !== undefined) checkSecret('WEBHOOK_SECRET')
  // Where a provider takes money, test sales need no settings, but the public default of the secret is not safe.
  const key = settings?.ORDER_KEYS.keys[0]?.k ?? ''
  const own = createHmac('sha256', key).update('webhooks of the sandbox').digest('hex')
  return { ...sandbox, WEBHOOK_SECRET: given.WEBHOOK_SECRET ?? own }
}

function readProvider(
  provider: string | undefined,
  sandbox: v.InferOutput<typeof Sandbox> | undefined,
  { given, production, settings, errors, read, checkSecret, refuseTestPayments }: Reading,
): PaymentConfig | undefined {
  const perSecond = settings?.PAYMENTS_PER_SECOND ?? null
  const requireReturn = (who: string) => {
    if (production && given.PUBLIC_URL === undefined && given.EDGE_URL === undefined)
      errors.push(`PUBLIC_URL: must be set, since ${who} back there`)
  }
  switch (provider) {
    case 'stripe': {
      // With it, anybody could have orders confirmed for nothing.
      if (given.STRIPE_WEBHOOK_SECRET !== undefined) checkSecret('STRIPE_WEBHOOK_SECRET')
      const stripe = read(Stripe)
      requireReturn('banks send buyers')
      if (stripe && isTestKey(stripe.STRIPE_SECRET_KEY))
        refuseTestPayments('STRIPE_SECRET_KEY: is a test key of Stripe')
      if (!stripe) return undefined
      const usual = STRIPE_PER_SECOND[isTestKey(stripe.STRIPE_SECRET_KEY) ? 'test' : 'live']
      return { provider, ...stripe, perSecond: perSecond ?? usual }
    }
    case 'http': {
      const http = read(Http)
      requireReturn('the shop sends buyers')
      if (production && http?.PAYMENT_URL.startsWith('http:') && !isLocal(http.PAYMENT_URL))
        errors.push('PAYMENT_URL: https is required in production, unless it is local')
      if (given.PAYMENT_SECRET === undefined) errors.push('PAYMENT_SECRET: not set')
      const secrets = settings?.PAYMENT_SECRET
      return http && secrets && { provider, perSecond, secrets, ...http }
    }
    case 'sandbox':
      refuseTestPayments('PAYMENT_PROVIDER: the sandbox takes no money')
      checkSecret('WEBHOOK_SECRET')
      return sandbox && { provider, perSecond, ...sandbox }
    default:
      return undefined
  }
}
