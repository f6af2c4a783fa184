/**
 * The origin's settings, read from the environment once, as what they are used for: a setting of Stripe's is there where
 * Stripe takes the money, and only there. In production nothing secret has a default, and nothing that decides about money.
 */
import * as v from 'valibot'
import { AdmissionKeySetting, isDevelopmentSet } from '../shared/tokens.ts'
import { isRedisUrl } from './lib/redis.ts'
import { PROVIDER_TIMEOUT_MS } from './payments/provider.ts'

const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'a port number is required'),
  v.transform(Number),
  v.maxValue(65_535, 'a port number is required'),
)
const url = (protocol: RegExp, what: string) =>
  v.pipe(
    v.string(),
    v.check((text) => URL.canParse(text) && protocol.test(text), `${what} is required`),
  )
const httpUrl = url(/^https?:/, 'an http(s) URL')

const milliseconds = v.pipe(
  v.string(),
  v.regex(/^\d{2,7}$/, 'milliseconds are required, 10 or more'),
  v.transform(Number),
)

/** Known to everyone who can read; so that a newcomer needs to set nothing, and never used in production. */
const DEVELOPMENT_SECRETS = {
  ADMIN_TOKEN: 'development-admin-token-0000000000',
  EDGE_TOKEN: 'development-edge-token-00000000000',
  ORDER_TOKEN_SECRET: 'development-order-token-secret-000',
  WEBHOOK_SECRET: 'development-webhook-secret-0000000',
} as const
type SecretName = keyof typeof DEVELOPMENT_SECRETS
/** Shorter ones can be guessed, or are no HS256 key. An operator's own admin token may be shorter outside production. */
const MIN_SECRET_LENGTH = 32
/** What may stand after "Bearer" (RFC 6750): with a line's end from a file, say, no header could match it. */
export const BEARER = /^[A-Za-z0-9._~+/-]+=*$/
export const NO_BEARER = 'may hold letters, digits and -._~+/= only: it travels in a header'

const Settings = v.object({
  PORT: v.optional(port, '3000'),
  HOST: v.optional(v.string(), '127.0.0.1'),
  ROLE: v.optional(v.picklist(['api', 'worker', 'all'], 'api, worker or all is required'), 'all'),
  DATABASE_URL: url(/^postgres(ql)?:/, 'a postgres:// URL'),
  REDIS_URL: v.pipe(
    v.string(),
    v.check(isRedisUrl, 'a redis://, redis+sentinel://hosts/name or redis+cluster://hosts URL is required'),
  ),
  /** The edge's keys, or of Ed25519 ones their public halves. */
  ADMISSION_KEYS: AdmissionKeySetting,
  /** Where to say "look again" after an operator's change. */
  EDGE_URL: v.optional(httpUrl),
  LOG_LEVEL: v.optional(
    v.picklist(
      ['trace', 'debug', 'info', 'warn', 'error', 'silent'],
      'trace, debug, info, warn, error or silent is required',
    ),
    'info',
  ),
})

const Stripe = v.pipe(
  v.object({
    STRIPE_SECRET_KEY: v.string(),
    STRIPE_WEBHOOK_SECRET: v.string(),
    /** Where Stripe is, when it is not where it usually is: a proxy, or a server that plays it. */
    STRIPE_API_URL: v.optional(httpUrl),
  }),
  v.transform((stripe) => ({
    provider: 'stripe' as const,
    secretKey: stripe.STRIPE_SECRET_KEY,
    webhookSecret: stripe.STRIPE_WEBHOOK_SECRET,
    apiUrl: stripe.STRIPE_API_URL,
  })),
)
const Sandbox = v.pipe(
  v.object({
    /** Without it the origin starts one of its own. */
    SANDBOX_URL: v.optional(httpUrl),
    /** How long an answer of the sandbox is waited for, and how late its slow and its late ones are. */
    SANDBOX_TIMEOUT_MS: v.optional(
      v.pipe(
        milliseconds,
        v.maxValue(PROVIDER_TIMEOUT_MS, `milliseconds are required, ${PROVIDER_TIMEOUT_MS} or less`),
      ),
      '2000',
    ),
    SANDBOX_SLOW_MS: v.optional(milliseconds),
    SANDBOX_LATE_MS: v.optional(milliseconds),
  }),
  v.transform((sandbox) => ({
    provider: 'sandbox' as const,
    url: sandbox.SANDBOX_URL,
    timeoutMs: sandbox.SANDBOX_TIMEOUT_MS,
    slowMs: sandbox.SANDBOX_SLOW_MS,
    lateMs: sandbox.SANDBOX_LATE_MS,
  })),
)

export interface Config extends v.InferOutput<typeof Settings> {
  readonly ADMIN_TOKEN: string
  readonly EDGE_TOKEN: string
  readonly ORDER_TOKEN_SECRET: string
  readonly payment:
    | v.InferOutput<typeof Stripe>
    | (v.InferOutput<typeof Sandbox> & { readonly webhookSecret: string })
  readonly warnings: readonly string[]
}

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Throws ConfigError with one line for each setting that is wrong, all at once: its name and why, never its value. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given: Record<string, string | undefined> = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== ''),
  )
  const production = given.NODE_ENV === 'production'
  const errors: string[] = []
  const warnings: string[] = []

  function read<T>(schema: v.GenericSchema<unknown, T>): T | undefined {
    const parsed = v.safeParse(schema, given)
    for (const issue of parsed.issues ?? [])
      errors.push(`${v.getDotPath(issue)}: ${issue.received === 'undefined' ? 'not set' : issue.message}`)
    return parsed.success ? parsed.output : undefined
  }

  function secret(name: SecretName): string {
    const value = given[name] ?? DEVELOPMENT_SECRETS[name]
    if (value === DEVELOPMENT_SECRETS[name]) {
      if (production) errors.push(`${name}: must be set to a secret of your own in production`)
      else warnings.push(`${name} is not set: a default known to everyone is used`)
    } else if (production || name === 'ORDER_TOKEN_SECRET') requireLength(name, value)
    return value
  }

  /** One that is shown in a header. */
  function token(name: SecretName): string {
    const value = secret(name)
    if (!BEARER.test(value)) errors.push(`${name}: ${NO_BEARER}`)
    return value
  }

  function requireLength(name: string, value: string): void {
    if (value.length < MIN_SECRET_LENGTH)
      errors.push(`${name}: ${MIN_SECRET_LENGTH} characters or more are required`)
  }

  function readPayment(): Config['payment'] | undefined {
    const { PAYMENT_PROVIDER = production ? undefined : 'sandbox' } = given
    if (PAYMENT_PROVIDER === 'stripe') {
      const stripe = read(Stripe)
      // Whoever guesses it has orders confirmed for nothing.
      if (stripe && production) requireLength('STRIPE_WEBHOOK_SECRET', stripe.webhookSecret)
      return stripe
    }
    if (PAYMENT_PROVIDER === 'sandbox') {
      if (production) warnings.push('PAYMENT_PROVIDER is sandbox: no money is taken')
      const sandbox = read(Sandbox)
      const webhookSecret = secret('WEBHOOK_SECRET')
      return sandbox && { ...sandbox, webhookSecret }
    }
    errors.push(
      PAYMENT_PROVIDER === undefined
        ? // Forgotten, it would give goods away; said, it is a rehearsal.
          'PAYMENT_PROVIDER: must be set in production, to stripe (or to sandbox, which takes no money)'
        : 'PAYMENT_PROVIDER: sandbox or stripe is required',
    )
    return undefined
  }

  const settings = read(Settings)
  const secrets = {
    ADMIN_TOKEN: token('ADMIN_TOKEN'),
    EDGE_TOKEN: token('EDGE_TOKEN'),
    ORDER_TOKEN_SECRET: secret('ORDER_TOKEN_SECRET'),
  }
  if (production && settings && isDevelopmentSet(settings.ADMISSION_KEYS))
    errors.push('ADMISSION_KEYS: must be keys of your own in production')
  const payment = readPayment()
  if (!settings || !payment || errors.length > 0) throw new ConfigError(errors.join('\n'))
  return { ...settings, ...secrets, payment, warnings }
}
