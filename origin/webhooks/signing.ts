/** The secrets of an endpoint, which rotate, and what they sign. Pure. */
import { randomBytes } from 'node:crypto'
import { SECRET_PREFIX, signedHeaders as signed } from '../lib/http/standard-webhooks.ts'
import type { Secrets } from './sealing.ts'

/** A replaced secret still signs for this long. */
const ROTATION_MS = 24 * 3_600_000

export const newSecret = () => `${SECRET_PREFIX}${randomBytes(32).toString('base64')}`

/** The new secret comes first, followed for a while by the one before. A repeated call has the same result. */
export function rotate(secrets: Secrets, secret: string, nowMs: number): Secrets {
  const [before] = liveSecrets(secrets, nowMs)
  if (before === secret) return secrets
  if (before === undefined) return [{ secret }]
  return [{ secret }, { secret: before, until: new Date(nowMs + ROTATION_MS).toISOString() }]
}

export const liveSecrets = (secrets: Secrets, nowMs: number) =>
  secrets.filter(({ until }) => until === undefined || Date.parse(until) > nowMs).map(({ secret }) => secret)

/** The last characters of a secret, by which operators can distinguish two secrets. */
export const maskSecret = (secret: string) => `${SECRET_PREFIX}...${secret.slice(-4)}`

/** The headers of one attempt. */
export const signedHeaders = (secrets: Secrets, id: string, body: string, at: Date) =>
  signed(liveSecrets(secrets, at.getTime()), id, body, at)
