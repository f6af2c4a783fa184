/**
 * The channel of push messages. The push service of each browser (RFC 8030) identifies the origin by VAPID (RFC 8292)
 * and cannot read the message (RFC 8291).
 */
import { createPublicKey } from 'node:crypto'
import { buildPushPayload } from '@block65/webcrypto-web-push'
import type { MailKind, PushSubscription } from '../../../shared/api/mails.ts'
import type { VapidConfig } from '../../base/config.ts'
import type { Sender } from '../../webhooks/sender.ts'
import type { Headline } from '../template.ts'
import { Undelivered } from './undelivered.ts'

/** The time for which a message is useful to its reader. */
const USEFUL_SECONDS: Readonly<Partial<Record<MailKind, number>>> = { turn_near: 300, turn: 300, hold_ends: 30 }
const OTHERS_USEFUL_SECONDS = 24 * 3600
const usefulSeconds = (kind: MailKind) => USEFUL_SECONDS[kind] ?? OTHERS_USEFUL_SECONDS

/** The remaining useful time of a message that is late by `lateMs`; 0 or less means that it is no longer useful. */
export const usefulMs = (kind: MailKind, lateMs: number) => usefulSeconds(kind) * 1000 - lateMs

/** The browser has unsubscribed, or its service has forgotten it (RFC 8030, 7.3). */
const GONE = [404, 410]
/**
 * A retry would not help: the request is wrong or too large. A refusal of the keys is not among these, because the
 * keys can be corrected.
 */
const REFUSED = [400, 413]

export class Push {
  readonly #vapid: VapidConfig
  readonly #sender: Pick<Sender, 'send'>

  constructor(vapid: VapidConfig, sender: Pick<Sender, 'send'>) {
    this.#vapid = vapid
    this.#sender = sender
  }

  /**
   * `id` is the same for every attempt, so that a repeated message replaces the one that is shown. A browser that
   * connects later than `withinMs` does not get the message. Throws Undelivered.
   */
  async send(
    { kind, language, subject, text, url }: Headline,
    to: PushSubscription,
    id: string,
    withinMs: number,
  ): Promise<void> {
    const { VAPID_SUBJECT: subject_, VAPID_PUBLIC_KEY: publicKey, VAPID_PRIVATE_KEY: privateKey } = this.#vapid
    const ttl = Math.min(usefulSeconds(kind), Math.floor(withinMs / 1000))
    const { headers, body } = await buildPushPayload(
      {
        data: { title: subject, body: text, lang: language, url, tag: id },
        options: { ttl, urgency: kind in USEFUL_SECONDS ? 'high' : 'normal' },
      },
      { ...to, expirationTime: null },
      { subject: subject_, publicKey, privateKey },
    )
    const { status, error, retryAfterMs } = await this.#sender.send(to.endpoint, headers, body)
    if (error === null) return
    // The error names only the status, because the body may repeat the endpoint, which is a secret of the browser.
    if (status === null) throw new Undelivered('the push service was not reached', 'failed')
    const why = GONE.includes(status) ? 'gone' : REFUSED.includes(status) ? 'refused' : 'failed'
    throw new Undelivered(`the push service answered ${status}`, why, { status }, retryAfterMs)
  }
}

/**
 * The faulty field of a subscription; null if messages can be sent to it. The service must be in a list and is not
 * looked up, because a subscriber could name many hosts that do not resolve and make the origin wait.
 */
export function faultIn(
  { endpoint, keys }: PushSubscription,
  services: readonly string[],
  sender: Pick<Sender, 'refusal'>,
): { readonly field: string; readonly detail: string } | null {
  if (!URL.canParse(endpoint)) return { field: 'push.endpoint', detail: 'an https URL is required' }
  if (!isPoint(keys.p256dh)) return { field: 'push.keys.p256dh', detail: 'a point of P-256 is required' }
  const url = new URL(endpoint)
  if (!isService(url.hostname, services))
    return { field: 'push.endpoint', detail: 'the push service of a browser is required (PUSH_SERVICES)' }
  return sender.refusal(url) === null
    ? null
    : { field: 'push.endpoint', detail: 'an address of the public Internet is required' }
}

const isService = (host: string, services: readonly string[]) =>
  services.some((one) => one === '*' || (one.startsWith('*.') ? host.endsWith(one.slice(1)) : host === one))

/** True for an uncompressed point on the curve (RFC 8291, 2.1). */
function isPoint(p256dh: string): boolean {
  const bytes = Buffer.from(p256dh, 'base64url')
  const coordinate = (from: number) => bytes.subarray(from, from + 32).toString('base64url')
  try {
    createPublicKey({ format: 'jwk', key: { kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) } })
    return bytes[0] === 4
  } catch {
    return false
  }
}
