/** Verifies webhooks by the Standard Webhooks specification, with WebCrypto alone. */
import type { WebhookMessages } from './types/webhooks.ts'

export type { Finding, Order, Sale, WebhookMessages } from './types/webhooks.ts'

/** A message may be so much older or newer than the clock here. */
const TOLERANCE_SECONDS = 300

/**
 * A message by its `type`, or one of a type that this version does not know.
 *
 * @example
 * ```ts
 * import type { WebhookMessage } from '@flash-sale/client/webhooks'
 *
 * function handle(message: WebhookMessage) {
 *   if (message.type === 'order.confirmed') console.log(message.data.order_id, message.data.total_minor)
 * }
 * console.log(handle)
 * ```
 */
export type WebhookMessage = WebhookMessages[keyof WebhookMessages]

/**
 * A message that is not signed with the secret, or is too old.
 *
 * @example
 * ```ts
 * import { verifyWebhook, WebhookError } from '@flash-sale/client/webhooks'
 *
 * export async function handle(request: Request): Promise<Response> {
 *   try {
 *     const { type } = await verifyWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)
 *     return new Response(type)
 *   } catch (error) {
 *     if (error instanceof WebhookError) return new Response(error.message, { status: 400 })
 *     throw error
 *   }
 * }
 * ```
 */
export class WebhookError extends Error {
  override readonly name = 'WebhookError'
}

interface Received {
  readonly headers: Headers
  text(): Promise<string>
}

/**
 * The message in a request, once its signature and its time hold. `request` is any `Request`, whose body was not read.
 *
 * @param secret The endpoint's secret, or both while it is rotated.
 * @throws WebhookError
 *
 * @example
 * ```ts
 * import { verifyWebhook } from '@flash-sale/client/webhooks'
 *
 * // A Worker, and as well a route of Deno, Bun or Next.js. Handle each `webhook-id` once.
 * export default {
 *   async fetch(request: Request): Promise<Response> {
 *     const message = await verifyWebhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw', request)
 *     if (message.type === 'order.confirmed') console.log('ship', message.data.lines)
 *     return new Response(null, { status: 204 })
 *   },
 * }
 * ```
 */
export async function verifyWebhook(
  secret: string | readonly string[],
  request: Received,
  { nowMs = Date.now() }: { readonly nowMs?: number } = {},
): Promise<WebhookMessage> {
  const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
    request.headers.get(name),
  )
  if (!id || !timestamp || !signatures) throw new WebhookError('The headers of a webhook are missing.')
  if (!/^\d{1,12}$/.test(timestamp) || Math.abs(nowMs / 1000 - Number(timestamp)) > TOLERANCE_SECONDS)
    throw new WebhookError('The webhook is too old, or the clock is wrong.')
  const body = await request.text()
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const sent = signatures
    .split(' ')
    .filter((one) => one.startsWith('v1,'))
    .map((one) => bytesIn(one.slice('v1,'.length)))
  for (const one of [secret].flat()) {
    const key = await keyOf(one)
    // WebCrypto compares in constant time.
    for (const signature of sent)
      if (signature && (await crypto.subtle.verify('HMAC', key, signature, content))) return JSON.parse(body)
  }
  throw new WebhookError('The signature does not hold.')
}

function keyOf(secret: string): Promise<CryptoKey> {
  const bytes = bytesIn(secret.replace(/^whsec_/, ''))
  if (!bytes) throw new TypeError('The secret of an endpoint is whsec_ and base64.')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function bytesIn(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (byte) => byte.charCodeAt(0))
  } catch {
    return undefined
  }
}
