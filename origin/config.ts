/** The origin's settings, read from the environment once; in production nothing secret has a default. */
import * as v from 'valibot'
import { isRedisUrl } from './gate/redis.ts'

const port = v.pipe(
  v.string(),
  v.regex(/^\d{1,5}$/, 'a port number is required'),
  v.transform(Number),
  v.maxValue(65_535),
)
const url = (protocol: RegExp, what: string) =>
  v.pipe(
    v.string(),
    v.check((text) => URL.canParse(text) && protocol.test(text), `${what} is required`),
  )

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

const Environment = v.object({
  NODE_ENV: v.optional(v.string(), 'development'),
  PORT: v.optional(port, '3000'),
  HOST: v.optional(v.string(), '127.0.0.1'),
  ROLE: v.optional(v.picklist(['api', 'worker', 'all'], 'api, worker or all is required'), 'all'),
  DATABASE_URL: url(/^postgres(ql)?:/, 'a postgres:// URL'),
  REDIS_URL: v.pipe(
    v.string(),
    v.check(isRedisUrl, 'a redis://, redis+sentinel://hosts/name or redis+cluster://hosts URL is required'),
  ),
  /** Buckets that a product's stock is split into, so that the nodes of a Cluster share it; the same for all origins. */
  STOCK_BUCKETS: v.optional(
    v.pipe(
      v.string(),
      v.regex(/^([1-9]|[1-5]\d|6[0-4])$/, 'a number from 1 to 64 is required'),
      v.transform(Number),
    ),
    '1',
  ),
  ADMIN_TOKEN: v.optional(v.string()),
  EDGE_TOKEN: v.optional(v.string()),
  ORDER_TOKEN_SECRET: v.optional(v.string()),
  WEBHOOK_SECRET: v.optional(v.string()),
  /** The edge's public keys, as JSON or as the address where they are. */
  ADMISSION_JWKS: v.optional(v.pipe(v.string(), v.parseJson({}, 'a JWKS as JSON is required'))),
  ADMISSION_JWKS_URL: v.optional(url(/^https?:/, 'an http(s) URL')),
  /** Where to say "look again" after an operator's change. */
  EDGE_URL: v.optional(url(/^https?:/, 'an http(s) URL')),
  PAYMENT_PROVIDER: v.optional(v.picklist(['sandbox', 'stripe'], 'sandbox or stripe is required'), 'sandbox'),
  SANDBOX_URL: v.optional(url(/^https?:/, 'an http(s) URL')),
  /** How long an answer of the sandbox is waited for, and how late its slow and its late ones are. */
  SANDBOX_TIMEOUT_MS: v.optional(milliseconds, '2000'),
  SANDBOX_SLOW_MS: v.optional(milliseconds),
  SANDBOX_LATE_MS: v.optional(milliseconds),
  STRIPE_SECRET_KEY: v.optional(v.string()),
  STRIPE_WEBHOOK_SECRET: v.optional(v.string()),
  /** Where Stripe is, when it is not where it usually is: a proxy, or a server that plays it. */
  STRIPE_API_URL: v.optional(url(/^https?:/, 'an http(s) URL')),
  LOG_LEVEL: v.optional(v.picklist(['trace', 'debug', 'info', 'warn', 'error', 'silent']), 'info'),
})
export type Config = Omit<v.InferOutput<typeof Environment>, SecretName> &
  Record<SecretName, string> & { readonly warnings: readonly string[] }

export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** Throws ConfigError with one line for each setting that is wrong: its name and why, never its value. */
export function readConfig(env: Record<string, string | undefined>): Config {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''))
  const parsed = v.safeParse(Environment, given)
  if (!parsed.success) {
    throw new ConfigError(
      parsed.issues
        .map((i) => `${v.getDotPath(i)}: ${i.received === 'undefined' ? 'not set' : i.message}`)
        .join('\n'),
    )
  }
  const settings = parsed.output
  const production = settings.NODE_ENV === 'production'
  const errors: string[] = []
  const warnings: string[] = []
  const secrets = {} as Record<SecretName, string>
  for (const name of Object.keys(DEVELOPMENT_SECRETS) as SecretName[]) {
    const value = settings[name]
    const isDefault = value === undefined || value === DEVELOPMENT_SECRETS[name]
    secrets[name] = value ?? DEVELOPMENT_SECRETS[name]
    if (production && isDefault) errors.push(`${name}: must be set to a secret of your own in production`)
    else if ((production || name === 'ORDER_TOKEN_SECRET') && secrets[name].length < MIN_SECRET_LENGTH) {
      errors.push(`${name}: ${MIN_SECRET_LENGTH} characters or more are required`)
    } else if (isDefault) warnings.push(`${name} is not set: a default known to everyone is used`)
  }
  if (!settings.ADMISSION_JWKS && !settings.ADMISSION_JWKS_URL)
    errors.push('ADMISSION_JWKS or ADMISSION_JWKS_URL: not set')
  if (
    settings.PAYMENT_PROVIDER === 'stripe' &&
    !(settings.STRIPE_SECRET_KEY && settings.STRIPE_WEBHOOK_SECRET)
  ) {
    errors.push('STRIPE_SECRET_KEY, STRIPE_WEBHOOK_SECRET: not set')
  }
  // Forgotten, it would give goods away; said, it is a rehearsal.
  if (production && given.PAYMENT_PROVIDER === undefined)
    errors.push(
      'PAYMENT_PROVIDER: must be set in production, to stripe (or to sandbox, which takes no money)',
    )
  else if (production && settings.PAYMENT_PROVIDER === 'sandbox')
    warnings.push('PAYMENT_PROVIDER is sandbox: no money is taken')
  if (errors.length > 0) throw new ConfigError(errors.join('\n'))
  return { ...settings, ...secrets, warnings }
}
