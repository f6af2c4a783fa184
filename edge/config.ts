/**
 * The Worker's settings: what wrangler.toml (or raw workerd's bindings) gives as text, read once per isolate.
 * wrangler.toml says what each one means; here stand the defaults and what is refused.
 */
import { hmac } from '@noble/hashes/hmac.js'
import { sha256 } from '@noble/hashes/sha2.js'
import { base64url } from 'jose'
import * as v from 'valibot'
import {
  AdmissionKeySetting,
  canSign,
  importKeys,
  isDevelopmentSet,
  type JwkSet,
  publicJwks,
  QueueKeySetting,
  type TokenKeys,
  webCryptoKey,
} from '../shared/tokens.ts'
import { brandSheet, HEX_COLOUR } from './pages/brand.ts'
import type { Brand } from './pages/view.ts'
import { type Asset, namedByContent } from './routes/assets.ts'

export interface Env {
  readonly WAITING_ROOM: DurableObjectNamespace
  readonly TICKET_SHARD: DurableObjectNamespace
  readonly ORIGIN_URL: string
  readonly EDGE_TOKEN: string
  readonly QUEUE_KEYS: string
  readonly ADMISSION_KEYS: string
  readonly ENVIRONMENT?: string
  readonly TICKET_SHARDS?: string
  readonly CLAIM_SECONDS?: string
  readonly ADMISSIONS_PER_UNIT?: string
  readonly NO_SHOW_BOOST?: string
  readonly JOINS_PER_ADDRESS?: string
  readonly JOINS_PER_VISITOR?: string
  readonly STATUS_PER_ADDRESS?: string
  readonly STATUS_PER_VISITOR?: string
  readonly ADDRESS_HEADER?: string
  readonly POW_DIFFICULTY?: string
  readonly PAYMENT_PAGE?: string
  readonly SHOP_JWKS_URL?: string
  readonly SHOP_ISSUER?: string
  readonly SHOP_AUDIENCE?: string
  readonly SHOP_COOKIE?: string
  readonly PROTECT_UPSTREAM?: string
  readonly PROTECT_SALE?: string
  readonly PROTECT_PATHS?: string
  readonly PROTECT_BYPASS?: string
  readonly PROTECT_SESSION_SECONDS?: string
  readonly DRAW_BEACON_URL?: string
  readonly BRAND_NAME?: string
  readonly BRAND_LOGO?: string
  readonly BRAND_ACCENT?: string
  readonly BRAND_ACCENT_DARK?: string
}

type Setting = Exclude<keyof Env, 'WAITING_ROOM' | 'TICKET_SHARD'>

/** So many calls in so many seconds. */
export interface Rate {
  readonly calls: number
  readonly seconds: number
}

export interface Config {
  readonly originUrl: string
  readonly edgeToken: string
  readonly production: boolean
  readonly ticketShards: number
  /** How long a turn waits for whoever it is. */
  readonly claimSeconds: number
  readonly limits: {
    readonly joinsPerAddress: Rate | null
    readonly joinsPerVisitor: Rate | null
    readonly statusPerAddress: Rate | null
    readonly statusPerVisitor: Rate | null
  }
  readonly addressHeader: string
  /** Largest number a client may have to try in the proof of work; 0 when none is asked for. */
  readonly powDifficulty: number
  /** The shop's own page for paying, a path of this host with `{order}` in it; null where the sandbox is played with. */
  readonly paymentPage: string | null
  readonly shop: {
    readonly jwksUrl: string
    readonly issuer: string
    readonly audience: string
    readonly cookie: string
  } | null
  readonly protect: {
    readonly upstream: string
    readonly sale: string
    readonly paths: RegExp
    readonly bypass: RegExp
    readonly sessionSeconds: number
  } | null
  /** Whose shop it is; without a name, pages show the sale's. */
  readonly brand: Omit<Brand, 'name'> & { readonly name: string | null; readonly style: Asset | null }
  readonly keys: Keys
}

interface Keys {
  /** Sign and read places in line. */
  readonly queue: TokenKeys
  readonly admission: TokenKeys
  /**
   * Signs challenges of the proof of work, and makes visitors' names of their secrets. Both are derived from the last of
   * QUEUE_KEYS: they stay while a new key is put first, and change when the old one is dropped. Places and turns hold a
   * visitor's name and are not affected; a visitor without either is a new one then.
   */
  readonly proof: string
  readonly visitor: Uint8Array
  /** What `/.well-known/jwks.json` answers. */
  readonly jwks: string
  /** The key that signs admissions now. */
  readonly kid: string
}

/** What is wrong with the settings, for the log: names of settings, never their values. */
export class ConfigError extends Error {
  override readonly name = 'ConfigError'
}

/** The coordinator's settings; it needs no keys. */
export interface RoomConfig {
  readonly originUrl: string
  readonly edgeToken: string
  readonly ticketShards: number
  readonly beaconUrl: string | null
  readonly claimSeconds: number
  readonly admissionsPerUnit: number
  readonly noShowBoost: number
}

const MAX_TICKET_SHARDS = 256

export function readRoomConfig(env: Env): RoomConfig {
  return {
    originUrl: url(env, 'ORIGIN_URL'),
    edgeToken: required(env, 'EDGE_TOKEN'),
    ticketShards: whole(env, 'TICKET_SHARDS', 1, 1, MAX_TICKET_SHARDS),
    beaconUrl: env.DRAW_BEACON_URL ? url(env, 'DRAW_BEACON_URL') : null,
    claimSeconds: number(env, 'CLAIM_SECONDS', 180, 1, 24 * 3600),
    admissionsPerUnit: number(env, 'ADMISSIONS_PER_UNIT', 1.2, 1, 1000),
    noShowBoost: number(env, 'NO_SHOW_BOOST', 2, 1, 10),
  }
}

export async function readConfig(env: Env): Promise<Config> {
  // A setting that was forgotten or misspelt must not open the doors.
  const production = env.ENVIRONMENT !== 'development'
  // The coordinator's settings too: what it refuses the Worker must not take, or all seems well and nobody can join.
  const { originUrl, ticketShards, claimSeconds } = readRoomConfig(env)
  // In development nothing is limited: a whole crowd comes from one machine there.
  const limit = (name: Setting, usual: string) => rate(env, name, production ? usual : 'off')
  return {
    originUrl,
    edgeToken: secret(env, 'EDGE_TOKEN', production),
    production,
    ticketShards,
    claimSeconds,
    limits: {
      joinsPerAddress: limit('JOINS_PER_ADDRESS', '120/60'),
      joinsPerVisitor: limit('JOINS_PER_VISITOR', '10/60'),
      statusPerAddress: limit('STATUS_PER_ADDRESS', '2400/60'),
      statusPerVisitor: limit('STATUS_PER_VISITOR', '120/60'),
    },
    addressHeader: env.ADDRESS_HEADER || 'CF-Connecting-IP',
    powDifficulty: whole(env, 'POW_DIFFICULTY', 0, 0, 10_000_000),
    paymentPage: paymentPage(env, production),
    shop: env.SHOP_JWKS_URL
      ? {
          jwksUrl: url(env, 'SHOP_JWKS_URL'),
          issuer: required(env, 'SHOP_ISSUER'),
          audience: required(env, 'SHOP_AUDIENCE'),
          cookie: env.SHOP_COOKIE || 'shop_session',
        }
      : null,
    protect: env.PROTECT_UPSTREAM
      ? {
          upstream: url(env, 'PROTECT_UPSTREAM'),
          sale: required(env, 'PROTECT_SALE'),
          // In any case, and over line breaks: a site may read them all as one path. What is let through is read to the letter.
          paths: patterns(env.PROTECT_PATHS || '/*', 'is'),
          bypass: patterns(env.PROTECT_BYPASS || ''),
          sessionSeconds: number(env, 'PROTECT_SESSION_SECONDS', 1800, 60, 24 * 3600),
        }
      : null,
    brand: await readBrand(env),
    keys: await readKeys(env, production),
  }
}

/** In production it is not left to chance that nobody can pay; before somebody else's site that site sees to it. */
function paymentPage(env: Env, production: boolean): string | null {
  const page = env.PAYMENT_PAGE || (production && !env.PROTECT_UPSTREAM ? '' : 'sandbox')
  if (page === 'sandbox') return null
  // On this host, since the cookie that says whose order it is goes to no other.
  if (!/^\/(?![/\\]).*\{order\}/.test(page))
    throw new ConfigError('PAYMENT_PAGE must be a path of this host with {order} in it, or sandbox')
  return page
}

async function readBrand(env: Env): Promise<Config['brand']> {
  const logo = env.BRAND_LOGO || undefined
  if (logo !== undefined && !/^(\/(?!\/)|data:image\/)/.test(logo))
    throw new ConfigError('BRAND_LOGO must be a path of this host, or a data: URI of an image')
  const accent = colour(env, 'BRAND_ACCENT')
  const accentDark = colour(env, 'BRAND_ACCENT_DARK')
  const style =
    accent === undefined
      ? null
      : await namedByContent('brand', 'css', 'text/css', brandSheet({ accent, accentDark }))
  return { name: env.BRAND_NAME || null, logo, sheet: style?.path, style }
}

function colour(env: Env, name: Setting): string | undefined {
  const text = env[name]
  if (!text) return undefined
  if (!HEX_COLOUR.test(text)) throw new ConfigError(`${name} must be a colour such as #0b6450`)
  return text
}

async function readKeys(env: Env, production: boolean): Promise<Keys> {
  const queue = keySet(env, 'QUEUE_KEYS', QueueKeySetting, production)
  const admission = keySet(env, 'ADMISSION_KEYS', AdmissionKeySetting, production)
  if (!canSign(admission)) throw new ConfigError('ADMISSION_KEYS must begin with a key that can sign')
  const last = base64url.decode(queue.keys.at(-1)?.k ?? '')
  const derived = (purpose: string) => hmac(sha256, last, new TextEncoder().encode(purpose))
  return {
    queue: await importKeys(queue, webCryptoKey),
    admission: await importKeys(admission, webCryptoKey),
    proof: base64url.encode(derived('proof of work')),
    visitor: derived('names of visitors'),
    jwks: JSON.stringify(publicJwks(admission)),
    kid: admission.keys[0]?.kid ?? '',
  }
}

function keySet<T extends JwkSet>(
  env: Env,
  name: Setting,
  schema: v.GenericSchema<unknown, T>,
  production: boolean,
): T {
  const parsed = v.safeParse(schema, required(env, name))
  if (!parsed.success) throw new ConfigError(`${name} ${parsed.issues[0].message}`)
  if (production && isDevelopmentSet(parsed.output))
    throw new ConfigError(`${name} is the one for development`)
  return parsed.output
}

function required(env: Env, name: Setting): string {
  const text = env[name]
  if (!text) throw new ConfigError(`${name} is not set`)
  return text
}

/** A secret; in production not one of those that the repository gives away. */
function secret(env: Env, name: Setting, production: boolean): string {
  const given = required(env, name)
  if (production && given.startsWith('development'))
    throw new ConfigError(`${name} is the one for development`)
  return given
}

function url(env: Env, name: Setting): string {
  const given = required(env, name)
  if (!/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new ConfigError(`${name} must be an http(s) URL`)
  return given.replace(/\/+$/, '')
}

function number(env: Env, name: Setting, usual: number, min: number, max: number): number {
  const text = env[name]
  const value = text ? Number(text) : usual
  if (!(value >= min && value <= max)) throw new ConfigError(`${name} must be between ${min} and ${max}`)
  return value
}

function whole(env: Env, name: Setting, usual: number, min: number, max: number): number {
  const value = number(env, name, usual, min, max)
  if (!Number.isInteger(value)) throw new ConfigError(`${name} must be a whole number`)
  return value
}

function rate(env: Env, name: Setting, usual: string): Rate | null {
  const text = env[name] || usual
  if (text === 'off') return null
  const [calls, seconds] = text.split('/').map(Number)
  if (!calls || !seconds || !(calls > 0) || !(seconds > 0))
    throw new ConfigError(`${name} must be "off" or calls/seconds, such as 60/60`)
  return { calls, seconds }
}

/** Paths in which `*` stands for anything, separated by spaces or commas, as one expression. */
function patterns(text: string, flags = ''): RegExp {
  const each = text
    .split(/[\s,]+/)
    .filter((pattern) => pattern !== '')
    .map((pattern) => pattern.replace(/[.+?^${}()|[\]\\]/g, '\\$&').replaceAll('*', '.*'))
  return each.length > 0 ? new RegExp(`^(?:${each.join('|')})$`, flags) : /^(?!)/
}
