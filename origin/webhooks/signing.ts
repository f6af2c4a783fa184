/** Secrets and signatures by the Standard Webhooks specification. Pure. */
import { randomBytes } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import type { Secrets } from './sealing.ts'

const PREFIX = 'whsec_'
/** How long a replaced secret still signs. */
const ROTATION_MS = 24 * 3_600_000

export const newSecret = () => `${PREFIX}${randomBytes(32).toString('base64')}`

/** The new secret first, and the one before beside it for a while, also if the call comes again. */
export function rotate(secrets: Secrets, secret: string, nowMs: number): Secrets {
  const [before] = liveSecrets(secrets, nowMs)
  if (before === secret) return secrets
  if (before === undefined) return [{ secret }]
  return [{ secret }, { secret: before, until: new Date(nowMs + ROTATION_MS).toISOString() }]
}

export const liveSecrets = (secrets: Secrets, nowMs: number) =>
  secrets.filter(({ until }) => until === undefined || Date.parse(until) > nowMs).map(({ secret }) => secret)

/** The last characters, by which operators can distinguish two secrets. */
export const maskSecret = (secret: string) => `${PREFIX}...${secret.slice(-4)}`

/** The headers of one attempt: receivers refuse an old timestamp, so each attempt has its own. */
export function signedHeaders(secrets: Secrets, id: string, body: string, at: Date): Record<string, string> {
  const signatures = liveSecrets(secrets, at.getTime()).map((secret) => new Webhook(secret).sign(id, at, body))
  return {
    'webhook-id': id,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1000)),
    'webhook-signature': signatures.join(' '),
  }
}
