/**
 * The edge's settings: the one place for the name, the form, the default and the description of each. They come with
 * every request and are read once per isolate. Errors name a setting and never repeat its value.
 */

import { base64url } from 'jose'
import * as v from 'valibot'
import { MAX_DIFFICULTY } from '../../shared/api/access.ts'
import { MAX_SHARDS } from '../../shared/api/internal.ts'
import {
  AdmissionKeySetting,
  canSign,
  importKeys,
  isDevelopmentSet,
  type JwkSet,
  publicJwks,
  type SecretJwkSet,
  SecretKeySetting,
  type TokenKeys,
  webCryptoKey,
} from '../../shared/keys.ts'
import { limit, optional, required, setting, settingDocs } from '../../shared/lib/settings.ts'
import { edgeTraceSettings } from '../../shared/trace-settings.ts'
import { type Asset, namedByContent } from '../pages/assets.ts'
import { type Brand, brandSheet } from '../pages/brand.ts'
import type { StripePage } from '../pages/view.ts'
import { handoverSet } from './handover-keys.ts'
import { isLocalHost } from './limits/networks.ts'
import { QueueItCustomers } from './queue-it-setting.ts'
import {
  colour,
  host,
  legalLinks,
  multiples,
  number,
  origins,
  rate,
  units,
  url,
  whole,
  words,
} from './setting-forms.ts'
import { Sites } from './sites.ts'
import { derivedKey, type VisitorKey, visitorKey } from './visitor-secret.ts'

/** Our own page for paying, with Stripe's form. */
const STRIPE_PAGE = '/sales/{sale}/order/{order}/pay'

/** What the coordinator reads too; it needs no keys. */
const Room = v.object({
  ORIGIN_URL: required(url, 'The origin, asked for the state of each live sale about once a second'),
  INTERNAL_URL: optional(url, 'Where the origin has `/internal`, if on an `ADMIN_PORT`; `ORIGIN_URL` unless set'),
  EDGE_TOKEN: required(v.string(), 'Secret between edge and origin, the same in both'),
  EDGE_TOKEN_ALSO: optional(v.string(), 'Another one that is accepted, never sent: while the secret is changed'),
  TICKET_SHARDS: setting(
    whole(1, MAX_SHARDS),
    '1',
    'Ticket shards of a sale without `expected_visitors`; must not change during one',
  ),
  JURISDICTION: optional(
    v.picklist(['eu'], 'must be eu'),
    'Where Durable Objects run and store, on Cloudflare: `eu`, else anywhere; must not change once a sale exists',
  ),
  PLACES_RETENTION_DAYS: setting(
    whole(0, 3650),
    '30',
    "Days from a sale's end until the ticket shards delete who stood in line",
  ),
  CLAIM_SECONDS: setting(number(1, 24 * 3600), '180', 'How long a turn can be claimed'),
  ADMISSIONS_PER_UNIT: setting(number(1, 1000), '1.2', 'Most people on their way in or inside for each available unit'),
  NO_SHOW_BOOST: setting(
    number(1, 10),
    '2',
    'How many times the configured rate the line may reach, to make up for no-shows',
  ),
  ANSWER_TARGET_MS: setting(
    number(10, 60_000),
    '200',
    'The line slows down where a quarter of checkouts, payments and orders take longer (one in a hundred takes about ' +
      'twice as long then), or those called are later than usual by more; the distance to the origin does not count',
  ),
  DRAW_BEACON_URL: optional(url, 'Public random value mixed into the draw; `{round}` is a round of drand'),
  CACHE_PURGE_URL: optional(
    url,
    'Takes `PURGE` with `Cache-Tag`, for a cache other than Workers Cache before the Worker',
  ),
  CACHE_PURGE_TOKEN: optional(v.string(), 'Secret sent with `PURGE`, as a bearer token'),
})

const Worker = v.object({
  ...Room.entries,
  QUEUE_KEYS: required(SecretKeySetting, 'JWK set that signs places in line, symmetric'),
  ADMISSION_KEYS: required(AdmissionKeySetting, 'JWK set that signs admissions, symmetric or Ed25519'),
  ENVIRONMENT: setting(v.string(), 'production', '`development` has no limits and allows public secrets'),
  PUBLIC_URL: optional(host, "The edge as browsers reach it, for links to it; without it, the request's host"),
  CORS_ORIGINS: setting(
    origins,
    '',
    "Origins of the shop's own front, separated by spaces, whose scripts may call this half " +
      "with their visitors' cookies",
  ),
  SCHEDULE_URL: optional(
    host,
    'Host of a CDN that pulls `/sales/*/schedule` from the origin: pages read schedules there, ' +
      'and from the edge when it fails',
  ),
  JOINS_PER_ADDRESS: limit(
    rate,
    '60/600',
    'New places per address, from each isolate; also leaving, challenges, signing in and names of no sale, ' +
      'counted apart',
  ),
  JOINS_PER_VISITOR: limit(rate, '10/60', 'Joins per known visitor'),
  STATUS_PER_ADDRESS: limit(
    rate,
    '2400/60',
    'Calls for status or the own page, per address; also checkouts, calls for orders and joins of holders, ' +
      'counted apart',
  ),
  STATUS_PER_VISITOR: limit(rate, '120/60', 'The same per visitor; also checkouts, counted apart'),
  VIEWS_PER_ADDRESS: limit(
    rate,
    '2400/60',
    'Beacons of views per address, from each isolate; a page that is seen sends four a minute',
  ),
  SEARCHES_PER_ADDRESS: limit(rate, '300/60', 'Searches and completions per address, which take milliseconds each'),
  UNPAID_PER_ADDRESS: limit(
    units,
    '24',
    'Units of a sale that an address may hold unpaid at once; those who wait in line count as wanting no more',
  ),
  NETWORK_MULTIPLES: setting(
    multiples,
    '8/64',
    "Times an address's rates and unpaid units for the networks around it: a /24 of IPv4 or /56 of IPv6, then a /48",
  ),
  ADDRESS_HEADER: setting(v.string(), 'CF-Connecting-IP', "Header with the caller's address"),
  COUNTRY_HEADER: setting(
    v.string(),
    'CF-IPCountry',
    "Header with the caller's country, two letters, for rules and views",
  ),
  ASN_HEADER: optional(
    v.string(),
    "Header with the number of the caller's network (ASN), for rules and views; Cloudflare says it without a header",
  ),
  POW_DIFFICULTY: setting(
    whole(0, MAX_DIFFICULTY),
    '0',
    'Least proof of work of all sales; 100000 takes a phone about half a second, 0: whatever the sale asks',
  ),
  PAYMENT_PAGE: required(
    v.pipe(
      v.string(),
      // On this host, since the cookie that says whose order it is goes to no other.
      v.regex(
        /^((sandbox|stripe)$|\/(?![/\\]).*\{order\})/,
        'must be a path of this host with {order} in it, stripe or sandbox',
      ),
      v.transform((page) => (page === 'sandbox' ? null : page === 'stripe' ? STRIPE_PAGE : page)),
    ),
    "The shop's page for paying, a path with `{order}`; `stripe` for ours with Stripe's form; or `sandbox`. " +
      'Required in production',
  ),
  SECURITY_CONTACT: optional(
    v.pipe(v.string(), v.regex(/^(mailto:|https:\/\/|tel:)\S+$/, 'must be a mailto:, https: or tel: address')),
    'Whom to tell of a vulnerability, for /.well-known/security.txt, which is missing without it',
  ),
  ...edgeTraceSettings,
  BRAND_NAME: optional(v.string(), 'Name of the shop on pages; without it, that of the sale'),
  BRAND_LOGO: optional(
    v.pipe(v.string(), v.regex(/^(\/(?!\/)|data:image\/)/, 'must be a path of this host, or a data: URI of an image')),
    'Picture shown instead of the name; a path to a PNG, JPEG or WebP is shown with links to a sale too',
  ),
  BRAND_ACCENT: optional(colour, 'Accent colour, such as #0b6450'),
  BRAND_ACCENT_DARK: optional(colour, 'Accent colour of the dark look'),
  LEGAL_LINKS: setting(
    legalLinks,
    '[]',
    "The shop's legal pages in each footer: JSON such as " +
      '`[{"name":{"en":"Privacy","de":"Datenschutz"},"url":"https://shop.example/privacy"}]`',
  ),
  WORDS: setting(
    words,
    '{}',
    'The shop\'s own words over those of the pages: JSON such as `{"en":{"joinLine":"Get in line"}}`, ' +
      'by the names in edge/pages/words',
  ),
})

const Shop = v.object({
  SHOP_JWKS_URL: required(
    url,
    "Keys of the shop's own sessions (JWTs); a visitor who is signed in joins as that account",
  ),
  SHOP_ISSUER: required(v.string(), 'Issuer of the sessions'),
  SHOP_AUDIENCE: required(v.string(), 'Audience of the sessions'),
  SHOP_SIGN_IN_URL: optional(
    v.pipe(v.string(), v.regex(/^(https?:\/\/|\/(?![/\\]))/, 'must be an http(s) URL or a path of this host')),
    'Where visitors sign in; `{return}` is replaced by the address of the sale, to come back to',
  ),
  SHOP_COOKIE: setting(v.string(), 'shop_session', 'Cookie that holds the session'),
})

const Oidc = v.object({
  SHOP_OIDC_ISSUER: required(
    v.pipe(
      v.string(),
      v.check((text) => /^https?:\/\//.test(text) && URL.canParse(text), 'must be an http(s) URL'),
    ),
    'OpenID Connect issuer at which visitors sign in (docs/sign-in.md); https in production',
  ),
  SHOP_OIDC_CLIENT_ID: required(v.string(), 'Client id there'),
  SHOP_OIDC_CLIENT_SECRET: optional(
    v.string(),
    'Client secret there; without it the client is public, with PKCE alone',
  ),
})

const Turnstile = v.object({
  TURNSTILE_SITE_KEY: required(v.string(), "Cloudflare Turnstile's site key, for sales with `turnstile: true`"),
  TURNSTILE_SECRET_KEY: required(v.string(), "Cloudflare Turnstile's secret key"),
  TURNSTILE_VERIFY_URL: setting(
    url,
    'https://challenges.cloudflare.com/turnstile/v0/siteverify',
    'Where tokens of Turnstile are verified',
  ),
})

const Stripe = v.object({
  STRIPE_PUBLISHABLE_KEY: required(
    v.pipe(v.string(), v.regex(/^pk_/, 'must begin with pk_')),
    "Stripe's publishable key, for `PAYMENT_PAGE=stripe`",
  ),
  STRIPE_JS_URL: setting(url, 'https://js.stripe.com/endive/stripe.js', "Where Stripe's script is, for tests"),
})

const Protect = v.object({
  PROTECT: setting(
    Sites,
    '',
    'Other sites that the waiting room stands before, as JSON: ' +
      '`[{ host?, paths, bypass?, upstream, sale, session_seconds?, share?, custom_page_html? }]` (docs/protect.md)',
  ),
})

const QueueIt = v.object({
  QUEUE_IT: optional(
    QueueItCustomers,
    'Shops whose Queue-it connectors send their visitors here, as JSON; a secret (docs/queue-it.md)',
  ),
})

/** Every setting of the edge, for docs/settings.md. */
export const SETTINGS = settingDocs(Worker, Shop, Oidc, Turnstile, Stripe, Protect, QueueIt)

const DEVELOPMENT = {
  // A whole crowd comes from one machine there.
  ...Object.fromEntries(SETTINGS.flatMap(({ name, isLimit }) => (isLimit ? [[name, 'off']] : []))),
  PAYMENT_PAGE: 'sandbox',
}

type SettingName =
  | keyof typeof Worker.entries
  | keyof typeof Shop.entries
  | keyof typeof Oidc.entries
  | keyof typeof Turnstile.entries
  | keyof typeof Stripe.entries
  | keyof typeof Protect.entries
  | keyof typeof QueueIt.entries
type Required = 'ORIGIN_URL' | 'EDGE_TOKEN' | 'QUEUE_KEYS' | 'ADMISSION_KEYS'
export type Env = { readonly [Name in Required]: string } & {
  readonly [Name in SettingName]?: string
} & {
  readonly WAITING_ROOM: DurableObjectNamespace
  readonly TICKET_SHARD: DurableObjectNamespace
  /** Cloudflare's counters of joins. */
  readonly JOINS_BY_ADDRESS?: RateLimit
  readonly JOINS_BY_NETWORK?: RateLimit
  readonly JOINS_BY_WIDE_NETWORK?: RateLimit
  /** Cloudflare Queues and Workers Analytics Engine, which get the events of views too, where they are bound. */
  readonly VIEWS_QUEUE?: Queue
  readonly VIEWS_ANALYTICS?: AnalyticsEngineDataset
  /** The Worker of edge/preview, which renders the console's previews; absent where it is not deployed. */
  readonly PREVIEW?: Service
}

/** One line for each setting that is wrong. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

function read<T>(schema: v.GenericSchema<unknown, T>, given: Partial<Env>, presets: object = {}): T {
  const set = Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''))
  const parsed = v.safeParse(schema, { ...presets, ...set })
  if (parsed.success) return parsed.output
  const lines = parsed.issues.map(
    (issue) => `${v.getDotPath(issue)} ${issue.received === 'undefined' ? 'must be set' : issue.message}`,
  )
  throw new ConfigError(lines.join('\n'))
}

export function readRoomConfig(env: Env) {
  const room = read(Room, env)
  return {
    internalUrl: room.INTERNAL_URL ?? room.ORIGIN_URL,
    edgeToken: room.EDGE_TOKEN,
    ticketShards: room.TICKET_SHARDS,
    placesRetentionDays: room.PLACES_RETENTION_DAYS,
    beaconUrl: room.DRAW_BEACON_URL ?? null,
    cachePurgeUrl: room.CACHE_PURGE_URL ?? null,
    cachePurgeToken: room.CACHE_PURGE_TOKEN,
    claimSeconds: room.CLAIM_SECONDS,
    admissionsPerUnit: room.ADMISSIONS_PER_UNIT,
    noShowBoost: room.NO_SHOW_BOOST,
    answerTargetMs: room.ANSWER_TARGET_MS,
  }
}
export type RoomConfig = Readonly<ReturnType<typeof readRoomConfig>>

export async function readConfig(env: Env) {
  // A setting that was forgotten or misspelt must not open the doors.
  const production = env.ENVIRONMENT !== 'development'
  // Before somebody else's site that site sees to the paying.
  const sellsElsewhere = Boolean(env.PROTECT || env.QUEUE_IT)
  const presets = production ? (sellsElsewhere ? { PAYMENT_PAGE: 'sandbox' } : {}) : DEVELOPMENT
  const worker = read(Worker, env, presets)
  const turnstile = env.TURNSTILE_SITE_KEY ? read(Turnstile, env) : null
  const queueIt = read(QueueIt, env).QUEUE_IT ?? null
  if (production) {
    refusePublicSecrets(worker, turnstile?.TURNSTILE_SECRET_KEY)
    if (queueIt?.some(({ secret }) => secret.startsWith('development')))
      throw new ConfigError('QUEUE_IT is the one for development')
    const { ORIGIN_URL, INTERNAL_URL = ORIGIN_URL, CORS_ORIGINS } = worker
    const QUEUE_IT = (queueIt ?? []).flatMap(({ push_url }) => push_url ?? [])
    const urlsOf = { ORIGIN_URL: [ORIGIN_URL], INTERNAL_URL: [INTERNAL_URL], CORS_ORIGINS, QUEUE_IT }
    for (const [name, urls] of Object.entries(urlsOf))
      for (const { protocol, hostname } of urls.map((url) => new URL(url)))
        if (protocol === 'http:' && !isLocalHost(hostname))
          throw new ConfigError(`${name} must be https, except on this machine or in its private network`)
  }
  if (!canSign(worker.ADMISSION_KEYS)) throw new ConfigError('ADMISSION_KEYS must begin with a key that can sign')
  return {
    ...worker,
    INTERNAL_URL: worker.INTERNAL_URL ?? worker.ORIGIN_URL,
    production,
    shop: env.SHOP_JWKS_URL ? read(Shop, env) : null,
    oidc: readOidc(env, production),
    turnstile,
    stripe: worker.PAYMENT_PAGE === STRIPE_PAGE ? stripePage(read(Stripe, env)) : null,
    /** Null if the Worker stands before no other site. */
    protect: env.PROTECT ? read(Protect, env).PROTECT : null,
    /** Null if the Worker serves no connectors of Queue-it. */
    queueIt,
    brand: await brandOf(worker),
    keys: await keysOf(worker.QUEUE_KEYS, worker.ADMISSION_KEYS),
  }
}
export type Config = Readonly<Awaited<ReturnType<typeof readConfig>>>

/** Null without an issuer. Its settings are all there, or the Worker does not serve. */
function readOidc(env: Env, production: boolean): v.InferOutput<typeof Oidc> | null {
  if (!Object.keys(Oidc.entries).some((name) => env[name as keyof typeof Oidc.entries])) return null
  const oidc = read(Oidc, env)
  const { SHOP_OIDC_ISSUER: issuer, SHOP_OIDC_CLIENT_SECRET: secret } = oidc
  if (env.SHOP_JWKS_URL && env.SHOP_ISSUER !== issuer)
    throw new ConfigError('SHOP_OIDC_ISSUER must be SHOP_ISSUER: an account is the subject of one issuer')
  if (!production) return oidc
  const { protocol, hostname } = new URL(issuer)
  if (protocol === 'http:' && !isLocalHost(hostname)) throw new ConfigError('SHOP_OIDC_ISSUER must be https')
  // The issuer returns visitors to an address that is registered there.
  if (!env.PUBLIC_URL) throw new ConfigError('PUBLIC_URL must be set with SHOP_OIDC_ISSUER')
  if (secret?.startsWith('development')) throw new ConfigError('SHOP_OIDC_CLIENT_SECRET is the one for development')
  return oidc
}

const stripePage = ({
  STRIPE_PUBLISHABLE_KEY: key,
  STRIPE_JS_URL: script,
}: v.InferOutput<typeof Stripe>): StripePage => ({
  key,
  script,
})

/** The secrets that the repository gives away, and those that Cloudflare does for tests. */
function refusePublicSecrets(
  { EDGE_TOKEN, QUEUE_KEYS, ADMISSION_KEYS }: v.InferOutput<typeof Worker>,
  turnstileSecret = '',
) {
  const found = {
    EDGE_TOKEN: EDGE_TOKEN.startsWith('development'),
    QUEUE_KEYS: isDevelopmentSet(QUEUE_KEYS),
    ADMISSION_KEYS: isDevelopmentSet(ADMISSION_KEYS),
    TURNSTILE_SECRET_KEY: /^[123]x0{10}/.test(turnstileSecret),
  }
  for (const [name, isPublic] of Object.entries(found))
    if (isPublic) throw new ConfigError(`${name} is the one for development`)
}

interface BrandConfig extends Omit<Brand, 'name'> {
  /** Null: pages show the name of the sale. */
  readonly name: string | null
  readonly style: Asset | null
}

async function brandOf(worker: v.InferOutput<typeof Worker>): Promise<BrandConfig> {
  const {
    BRAND_NAME,
    BRAND_LOGO: logo,
    BRAND_ACCENT: accent,
    BRAND_ACCENT_DARK: accentDark,
    LEGAL_LINKS: legal,
  } = worker
  const style = accent ? await namedByContent('brand', 'css', 'text/css', brandSheet({ accent, accentDark })) : null
  return { name: BRAND_NAME ?? null, logo, sheet: style?.path, legal, style }
}

interface Keys {
  readonly queue: TokenKeys
  readonly admission: TokenKeys
  /** The key that signs admissions now. */
  readonly kid: string
  /** What `/.well-known/jwks.json` answers. */
  readonly jwks: string
  readonly handover: TokenKeys
  /** What `/.well-known/handover-keys.json` answers. */
  readonly handoverJwks: string
  /**
   * Signs challenges of the proof of work, and makes of visitors' secrets their names and the tags of their cookies.
   * Both are derived from the last of QUEUE_KEYS: they stay while a new key is put first, and change when the old one
   * is dropped. Places and turns hold the visitor's name and are not affected; a visitor without either becomes a new
   * one.
   */
  readonly proof: string
  readonly visitor: VisitorKey
}

async function keysOf(queue: SecretJwkSet, admission: JwkSet): Promise<Keys> {
  const handover = await handoverSet(admission)
  return {
    queue: await importKeys(queue, webCryptoKey),
    admission: await importKeys(admission, webCryptoKey),
    kid: admission.keys[0]?.kid ?? '',
    jwks: JSON.stringify(publicJwks(admission)),
    handover: await importKeys(handover, webCryptoKey),
    handoverJwks: JSON.stringify(publicJwks(handover)),
    proof: base64url.encode(derivedKey(queue, 'proof of work')),
    visitor: visitorKey(queue),
  }
}
