/**
 * The origin's settings: name, form, default and description of each. In production no secret has a default, and
 * neither has what decides about money.
 */
import { createECDH } from 'node:crypto'
import * as v from 'valibot'
import { ROLES } from '../../shared/api/operators/roles.ts'
import { AdmissionKeySetting, isDevelopmentSet, SecretKeySetting } from '../../shared/keys.ts'
import { optional, required, setting, settingDocs } from '../../shared/lib/settings.ts'
import { traceSettings } from '../../shared/trace-settings.ts'
import { isRedisUrl } from '../lib/redis/redis.ts'
import { ConfigError, DatabaseUrl, type Env, withFiles } from './env.ts'
import { Http, type PaymentConfig, PaymentSecrets, readPayments, Sandbox, Stripe } from './payment-config.ts'
import {
  bearer,
  callsPerSecond,
  days,
  httpBase,
  httpUrl,
  mailAddresses,
  number,
  oneOf,
  port,
  url,
} from './setting-forms.ts'

/** Shorter secrets can be guessed, or are no HS256 key. */
const MIN_SECRET_LENGTH = 32
const longBearer = v.pipe(bearer, v.minLength(MIN_SECRET_LENGTH, `${MIN_SECRET_LENGTH} characters are required`))
export const RedisUrl = v.pipe(
  v.string(),
  v.check(isRedisUrl, 'a redis://, redis+sentinel://hosts/name or redis+cluster://hosts URL is required'),
)

const Settings = v.object({
  NODE_ENV: optional(
    v.string(),
    '`development` has public secrets and a sandbox for payments; anything else is production',
  ),
  PORT: setting(port, '3000', 'Port of the origin'),
  OPS_PORT: setting(port, '3001', 'Port for monitors, who need no token'),
  HOST: setting(v.string(), '127.0.0.1', 'Address to listen on'),
  OPS_HOST: setting(v.string(), '127.0.0.1', 'The same for monitors'),
  ADMIN_PORT: optional(
    port,
    "Port of its own for operators and the edge's own calls (`/admin`, `/console`, `/internal`), which `PORT` then has not",
  ),
  ADMIN_HOST: setting(v.string(), '127.0.0.1', 'Address to listen on there'),
  ADDRESS_HEADER: optional(
    v.pipe(v.string(), v.regex(/^[\w-]+$/, 'the name of a header is required'), v.toLowerCase()),
    "Header in which a proxy before the origin writes the caller's address last; otherwise the connection's",
  ),
  DRAIN_SECONDS: setting(
    v.pipe(number(/^\d{1,3}$/, 'seconds are required'), v.maxValue(300, '300 or less is required')),
    '5',
    'After SIGTERM `/readyz` says 503 for so long, while calls are served; then the port closes. 0 in development',
  ),
  ROLE: setting(
    oneOf('api', 'worker', 'all'),
    'all',
    'Every role serves calls; `worker` and `all` also do the background work',
  ),
  DATABASE_URL: required(
    DatabaseUrl,
    'Postgres, in a database of its own. Off this machine by TLS, verified, unless it says `sslmode=disable`; ' +
      '`sslrootcert=PATH` names the authority, `passwordfile=PATH` the password, which is read for each connection',
  ),
  REDIS_URL: required(
    RedisUrl,
    'Redis: `redis://`, `redis+sentinel://host:port,../name` or `redis+cluster://host:port,..`; ' +
      '`rediss` for TLS, verified, with `?cafile=PATH` for the authority, and `passwordfile=PATH` as above',
  ),
  ADMISSION_KEYS: required(AdmissionKeySetting, 'JWK set of admission tokens: those of the edge, or public halves'),
  EDGE_URL: optional(httpUrl, 'The edge, notified there of changes'),
  PUBLIC_URL: optional(
    httpBase,
    'The edge as browsers reach it, to which banks send buyers back and mails link; `EDGE_URL` unless set',
  ),
  SMTP_URL: optional(
    url(/^smtps?:/, 'an smtp(s):// URL'),
    'Server for mails to buyers, `smtp(s)://user:password@host:port`; unless set none are sent. ' +
      '`smtp:` needs STARTTLS, unless it is local or ends with `?requireTLS=false`',
  ),
  MAIL_FROM: optional(
    v.pipe(
      v.string(),
      v.regex(/^([^<>@\r\n]*<[^\s<>@]+@[^\s<>@]+>|[^\s<>@]+@[^\s<>@]+)$/, 'an address or `Name <address>` is required'),
    ),
    'Sender of the mails: an address, or `Name <address>`',
  ),
  ALERT_MAIL_TO: optional(
    mailAddresses,
    'Addresses that hear of findings by mail, with a space between them; needs `SMTP_URL`',
  ),
  ALERT_SLACK_URL: optional(httpUrl, 'Incoming webhook of Slack that hears of findings'),
  ALERT_PAGERDUTY_KEY: optional(
    v.pipe(v.string(), v.regex(/^\w{32}$/, '32 letters and digits are required')),
    'Integration key of PagerDuty (Events API v2) that hears of findings',
  ),
  ALERT_PAGERDUTY_URL: setting(httpUrl, 'https://events.pagerduty.com/v2/enqueue', 'Where its events are sent'),
  LOG_LEVEL: setting(oneOf('trace', 'debug', 'info', 'warn', 'error', 'silent'), 'info', 'Least severe lines logged'),
  ...traceSettings('flash-sale-origin', 'Share of the mails and webhooks that are traced; the edge draws calls'),
  ADMIN_TOKEN: setting(bearer, 'development-admin-token-0000000000', "Secret of the operators' API"),
  ADMIN_TOKEN_ALSO: optional(longBearer, 'Another one that is accepted: while the secret is changed'),
  EDGE_TOKEN: setting(bearer, 'development-edge-token-00000000000', 'Secret between edge and origin'),
  EDGE_TOKEN_ALSO: optional(longBearer, 'Another one that is accepted, never sent: while the secret is changed'),
  ALLOW_DIRECT: setting(
    v.pipe(
      oneOf('true', 'false'),
      v.transform((text) => text === 'true'),
    ),
    'false',
    '`true`: buyers may call the origin without the edge, past its check of their session; for development',
  ),
  ORDER_KEYS: required(
    SecretKeySetting,
    'JWK set, symmetric: signs order tokens and invitations, and hashes their codes; keys stay as long as these',
  ),
  PROOF_OF_WORK: setting(
    v.pipe(
      v.string(),
      v.regex(/^(off|auto|[1-9]\d{0,6})$/, 'off, auto or a number from 1 to 9999999 is required'),
      v.transform((text) => (text === 'off' || text === 'auto' ? text : Number(text))),
    ),
    'auto',
    'Proof of work of sales that leave it open (`access.proof_of_work`); development asks for none',
  ),
  CALLS_PER_VISITOR: setting(
    v.pipe(number(/^\d{1,5}$/, 'a whole number is required'), v.minValue(1, '1 or more is required')),
    '6',
    'Calls of one visitor in progress, in each process; 100 in development',
  ),
  MAILS_PER_ADDRESS: setting(
    v.pipe(number(/^\d{1,6}$/, 'a whole number is required'), v.minValue(1, '1 or more is required')),
    '10',
    'Mails an hour to an address with which whoever left it has paid no order; 100000 in development',
  ),
  PAYMENT_PROVIDER: setting(
    oneOf('sandbox', 'stripe', 'http'),
    'sandbox',
    "Takes the money: `stripe`, or the shop's own payment server by `http`; `sandbox` takes none. " +
      'Production has no default',
  ),
  PAYMENTS_PER_SECOND: optional(
    callsPerSecond,
    'Calls that the provider takes a second, for all workers together. ' +
      'Stripe: ask for more before a large sale; 100, or 25 with a test key, unless set. ' +
      'The others: no limit unless set',
  ),
  PAYMENT_SECRET: optional(
    PaymentSecrets,
    "Signs calls and webhooks between the origin and the shop's payment server, and the shop's word of holds that it " +
      'was handed: `whsec_..` (Standard Webhooks). Several, with a space between them, while it is changed: each ' +
      'signs, and any one of them is accepted',
  ),
  PAYMENT_ACTION_SECONDS: setting(
    v.pipe(number(/^\d{1,4}$/, 'seconds are required'), v.minValue(1, '1 or more is required')),
    '300',
    'How long a payment may wait for its buyer at their bank; the hold waits with it, ' +
      'at most so long after its end, for one order of a visitor who has let none fail',
  ),
  WEBHOOK_KEYS: required(SecretKeySetting, 'JWK set that encrypts webhook secrets, symmetric'),
  WEBHOOKS_ALLOW_PRIVATE: setting(
    v.pipe(
      oneOf('true', 'false'),
      v.transform((text) => text === 'true'),
    ),
    'false',
    '`true`: webhooks, and pictures fetched from elsewhere, may reach private networks and this machine; ' +
      'development allows it',
  ),
  IMAGES_DIR: setting(
    v.string(),
    'images',
    'Folder of uploaded pictures, the same for all origins; unless they are in S3',
  ),
  RETENTION_ORDERS_DAYS: setting(days, '400', "Days from a sale's end until its orders are made anonymous"),
  RETENTION_EVENTS_DAYS: setting(
    days,
    '400',
    "Days until events and runs of scheduled actions are deleted; from a sale's end also its minutes and posts",
  ),
  RETENTION_PICTURES_DAYS: setting(days, '30', 'Days until pictures are deleted that no sale and no post names'),
  RETENTION_FINDINGS_DAYS: setting(days, '400', 'Days until closed findings are deleted'),
  RETENTION_DELIVERIES_DAYS: setting(days, '30', 'Days until ended webhooks are deleted'),
  RETENTION_AUDIT_DAYS: setting(days, '3650', 'Days until audit entries are deleted'),
  ALLOW_TEST_PAYMENTS: setting(
    oneOf('true', 'false'),
    'false',
    'Allows the sandbox and test keys of Stripe in production, for a rehearsal',
  ),
})

const Vapid = v.object({
  VAPID_PUBLIC_KEY: required(
    v.pipe(v.string(), v.regex(/^B[\w-]{86}$/, '65 bytes of an uncompressed P-256 point in base64url are required')),
    'Key that browsers subscribe with to messages by push (RFC 8292); none are sent unless set',
  ),
  VAPID_PRIVATE_KEY: required(
    v.pipe(v.string(), v.regex(/^[\w-]{43}$/, '32 bytes in base64url are required')),
    'Its private half, which signs what is sent',
  ),
  VAPID_SUBJECT: required(
    v.pipe(v.string(), v.regex(/^(mailto:[^\s@]+@[^\s@]+|https:\/\/\S+)$/, 'mailto: or an https URL is required')),
    'Where the operators of push services reach the shop, `mailto:` or an https URL',
  ),
  PUSH_SERVICES: setting(
    v.pipe(
      v.string(),
      v.regex(/^(\*|(\*\.)?[\w.-]+)( (\*\.)?[\w.-]+)*$/, 'hosts with a space between them are required, or *'),
      v.transform((text) => text.split(' ')),
    ),
    'fcm.googleapis.com *.push.apple.com *.push.services.mozilla.com *.notify.windows.com',
    'Hosts of the push services of browsers; a subscription at another one is refused. ' +
      '`*.` stands for any name below; `*`, as in development, for any host',
  ),
})
export type VapidConfig = v.InferOutput<typeof Vapid>

const S3 = v.object({
  IMAGES_S3_ENDPOINT: required(httpBase, 'S3-compatible storage of uploaded pictures, such as R2; a folder unless set'),
  IMAGES_S3_BUCKET: required(v.string(), 'Bucket there'),
  IMAGES_S3_ACCESS_KEY_ID: required(v.string(), 'Key there'),
  IMAGES_S3_SECRET_ACCESS_KEY: required(v.string(), 'Secret of the key'),
  IMAGES_S3_REGION: setting(v.string(), 'auto', 'Region there; R2 has `auto`'),
})

const nonEmpty = v.pipe(v.string(), v.nonEmpty('a text is required'))
const Roles = v.record(v.string(), v.picklist(ROLES))
const Oidc = v.object({
  OIDC_ISSUER: required(httpUrl, 'OpenID Connect issuer for operators; none unless set'),
  OIDC_CLIENT_ID: required(nonEmpty, 'Client id there'),
  OIDC_CLIENT_SECRET: required(nonEmpty, 'Client secret there'),
  CONSOLE_URL: required(httpUrl, "The origin as operators' browsers reach it"),
  OIDC_ROLE_CLAIM: setting(nonEmpty, 'roles', 'Claim of the ID token that gives the role'),
  OIDC_ROLES: setting(
    v.pipe(
      v.string(),
      v.check((text) => v.is(Roles, jsonOf(text)), 'a JSON object of values and viewer, operator or owner is required'),
      v.transform((text) => jsonOf(text) as v.InferOutput<typeof Roles>),
    ),
    '{"viewer":"viewer","operator":"operator","owner":"owner"}',
    'Which of its values gives which role; the highest counts, and without one nobody enters',
  ),
})
export type OidcConfig = v.InferOutput<typeof Oidc>

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** Every setting of the origin, for docs/settings.md. */
export const SETTINGS = settingDocs(Settings, Vapid, S3, Stripe, Http, Sandbox, Oidc)

export interface Config extends v.InferOutput<typeof Settings> {
  readonly payment: PaymentConfig
  /** Absent unless OpenID Connect is configured. */
  readonly oidc?: OidcConfig
  /** Absent unless push messages are configured. */
  readonly vapid?: VapidConfig
  /** Absent unless a store for pictures is configured. */
  readonly s3?: v.InferOutput<typeof S3>
  /** The sandbox, which takes the payments of test sales in every case. */
  readonly sandbox: v.InferOutput<typeof Sandbox>
  readonly warnings: readonly string[]
}

const DEVELOPMENT_KEYS = JSON.stringify({ keys: [{ kty: 'oct', kid: 'development', k: 'A'.repeat(43) }] })
/** What development has besides the defaults. A whole crowd comes from one machine there. */
const DEVELOPMENT = {
  DRAIN_SECONDS: '0',
  PROOF_OF_WORK: 'off',
  CALLS_PER_VISITOR: '100',
  MAILS_PER_ADDRESS: '100000',
  PUSH_SERVICES: '*',
  WEBHOOKS_ALLOW_PRIVATE: 'true',
  ORDER_KEYS: DEVELOPMENT_KEYS,
  WEBHOOK_KEYS: DEVELOPMENT_KEYS,
}

/** The point of P-256 that belongs to a private key, uncompressed, in base64url; null for no key. */
function publicKeyOf(privateKey: string): string | null {
  const pair = createECDH('prime256v1')
  try {
    pair.setPrivateKey(privateKey, 'base64url')
    return pair.getPublicKey('base64url')
  } catch {
    return null
  }
}

/** Throws ConfigError with one line per invalid setting, all at once: its name and the reason, never its value. */
export function readConfig(env: Env): Config {
  const errors: string[] = []
  const set = withFiles(
    env,
    SETTINGS.map(({ name }) => name),
    errors,
  )
  // A setting that was forgotten or misspelt must not open the doors.
  const production = set.NODE_ENV !== 'development'
  const given = production ? set : { ...DEVELOPMENT, ...set }
  const warnings: string[] = []

  function read<T>(schema: v.GenericSchema<unknown, T>): T | undefined {
    const parsed = v.safeParse(schema, given)
    for (const issue of parsed.issues ?? [])
      errors.push(`${v.getDotPath(issue)}: ${issue.received === 'undefined' ? 'not set' : issue.message}`)
    return parsed.success ? parsed.output : undefined
  }

  function checkSecret(name: string): void {
    const preset = SETTINGS.find((one) => one.name === name)?.default
    const value = given[name] ?? preset
    if (value === preset) {
      if (production) errors.push(`${name}: must be set to a secret of your own in production`)
      else warnings.push(`${name} is not set: the public default is used`)
    } else if (production && value !== undefined && value.length < MIN_SECRET_LENGTH)
      errors.push(`${name}: ${MIN_SECRET_LENGTH} characters or more are required`)
  }

  /** They would give goods away, unless it is a rehearsal. */
  function refuseTestPayments(why: string): void {
    if (!production) return
    if (given.ALLOW_TEST_PAYMENTS === 'true') warnings.push(why)
    else errors.push(`${why}; ALLOW_TEST_PAYMENTS=true allows it in production, for a rehearsal`)
  }

  function readOidc(): OidcConfig | undefined {
    if (!Object.keys(given).some((name) => name.startsWith('OIDC_'))) return undefined
    for (const name of ['OIDC_ISSUER', 'CONSOLE_URL'])
      if (production && given[name]?.startsWith('http:')) errors.push(`${name}: https is required in production`)
    return read(Oidc)
  }

  function readVapid(): VapidConfig | undefined {
    if (!Object.keys(given).some((name) => name.startsWith('VAPID_'))) return undefined
    const vapid = read(Vapid)
    if (vapid && publicKeyOf(vapid.VAPID_PRIVATE_KEY) !== vapid.VAPID_PUBLIC_KEY)
      errors.push('VAPID_PRIVATE_KEY: is not that of VAPID_PUBLIC_KEY')
    return vapid
  }

  const settings = read(Settings)
  const oidc = readOidc()
  const vapid = readVapid()
  const s3 = Object.keys(given).some((name) => name.startsWith('IMAGES_S3_')) ? read(S3) : undefined
  for (const name of ['ADMIN_TOKEN', 'EDGE_TOKEN']) checkSecret(name)
  for (const name of ['ADMISSION_KEYS', 'ORDER_KEYS', 'WEBHOOK_KEYS'] as const)
    if (production && settings?.[name] && isDevelopmentSet(settings[name]))
      errors.push(`${name}: must be keys of your own in production`)
  if (production && settings?.ALLOW_DIRECT)
    warnings.push("ALLOW_DIRECT is true: a sold admission passes by the edge's check of the session")
  if (settings?.SMTP_URL !== undefined && settings.MAIL_FROM === undefined)
    errors.push('MAIL_FROM: must be set, since SMTP_URL is')
  if (settings?.ALERT_MAIL_TO !== undefined && settings.SMTP_URL === undefined)
    errors.push('SMTP_URL: must be set, since ALERT_MAIL_TO is')
  const sends = settings?.SMTP_URL !== undefined || vapid !== undefined
  if (production && sends && (settings?.PUBLIC_URL ?? settings?.EDGE_URL) === undefined)
    errors.push('PUBLIC_URL: must be set, since mails link there')
  const { payment, sandbox } = readPayments({
    given,
    production,
    settings,
    errors,
    read,
    checkSecret,
    refuseTestPayments,
  })
  if (!settings || !payment || !sandbox || errors.length > 0) throw new ConfigError([...new Set(errors)].join('\n'))
  return { ...settings, payment, sandbox, ...(oidc && { oidc }), ...(vapid && { vapid }), ...(s3 && { s3 }), warnings }
}
