/**
 * Signatures of messages by the Standard Webhooks specification (standardwebhooks.com): of the webhooks that leave, and
 * of calls between this system and a shop's payment server. Pure, except for a cache of keys.
 */
import { createHmac, createSecretKey, type KeyObject, timingSafeEqual } from 'node:crypto'

export const SECRET_PREFIX = 'whsec_'

/** True for a secret of the specification: 24 to 64 bytes in base64 after its prefix. */
export function isSecret(text: string): boolean {
  const encoded = text.startsWith(SECRET_PREFIX) ? text.slice(SECRET_PREFIX.length) : ''
  const bytes = Buffer.from(encoded, 'base64')
  return bytes.length >= 24 && bytes.length <= 64 && bytes.toString('base64') === encoded
}
/** An older or later timestamp is refused: the message may be a replay. */
const TOLERANCE_SECONDS = 300
/** A message may have several signatures, one for each secret of its sender; more than so many are not read. */
const MAX_SIGNATURES = 8

/**
 * The headers of one attempt, signed with each secret. Each attempt has a new timestamp, since receivers refuse an old
 * one.
 */
export function signedHeaders(secrets: readonly string[], id: string, body: string, at: Date): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1000))
  return {
    'webhook-id': id,
    'webhook-timestamp': timestamp,
    'webhook-signature': secrets.map((secret) => sign(secret, `${id}.${timestamp}.${body}`)).join(' '),
  }
}

/** True if a message is signed with one of the secrets, and its timestamp is within five minutes of now. */
export function isSigned(
  secrets: readonly string[],
  header: (name: Lowercase<string>) => string | undefined,
  body: string,
  nowMs: number,
): boolean {
  const [id, timestamp = '', signatures = ''] = [
    header('webhook-id'),
    header('webhook-timestamp'),
    header('webhook-signature'),
  ]
  if (!id || !/^\d{1,12}$/.test(timestamp)) return false
  if (Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS) return false
  const expected = secrets.map((secret) => Buffer.from(sign(secret, `${id}.${timestamp}.${body}`)))
  return signatures
    .split(' ', MAX_SIGNATURES)
    .map((sent) => Buffer.from(sent))
    .some((sent) => expected.some((one) => one.length === sent.length && timingSafeEqual(one, sent)))
}

/** Node's own HMAC takes less than half the time of the specification's library. */
const sign = (secret: string, content: string) =>
  `v1,${createHmac('sha256', keyOf(secret)).update(content).digest('base64')}`

/** The limit exceeds the number of endpoints, which have two keys each while their secrets rotate. */
const MAX_KEYS = 100
/** The keys are cached, because making a key takes as long as a signature. */
const keys = new Map<string, KeyObject>()

function keyOf(secret: string): KeyObject {
  const known = keys.get(secret)
  if (known) return known
  const bytes = Buffer.from(secret.startsWith(SECRET_PREFIX) ? secret.slice(SECRET_PREFIX.length) : secret, 'base64')
  const key = createSecretKey(bytes)
  if (keys.size >= MAX_KEYS) keys.clear()
  keys.set(secret, key)
  return key
}
