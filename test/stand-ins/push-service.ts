/**
 * A push service (RFC 8030) with the browsers that subscribe to it. It checks its messages by the specifications,
 * without the library that sent them: the sender's signature (VAPID, RFC 8292), and the encryption with each
 * browser's keys (RFC 8291, RFC 8188).
 */
import { createDecipheriv, createECDH, hkdfSync, randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { importJWK, type JWTPayload, jwtVerify } from 'jose'
import { LOOPBACK } from '../../dev/lib/processes.ts'
import type { PushSubscription } from '../../shared/api/mails.ts'

/**
 * The certificate is for tests only and valid until 2126: openssl req -x509 -newkey ec -nodes -days 36500 -addext
 * subjectAltName=IP:127.0.0.1
 */
const KEY = `-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgbrnaahqr7xJS70zO
hdCY/bUcRW5sVtKfUiWp1LzlQLihRANCAATf2hh4QtYkPC9eKEJR07342eRzBOy3
EE+DK8iSNflJqP0gpgQBQSnTC3GbAK7voe1UwkzHzgvWkkko3SuTP1BC
-----END PRIVATE KEY-----`
/** A process that must trust the service has this certificate in NODE_EXTRA_CA_CERTS. */
export const CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBhjCCASygAwIBAgIUPuZ80rfJ13HmrNsCeBnKQLcjS6EwCgYIKoZIzj0EAwIw
DzENMAsGA1UEAwwEcHVzaDAgFw0yNjExMjYwNjMxNDBaGA8yMTI2MTEwMjA2MzE0
MFowDzENMAsGA1UEAwwEcHVzaDBZMBMGByqGSM49AgEGCCqGSM49AwEHA0IABN/a
GHhC1iQ8L14oQlHTvfjZ5HME7LcQT4MryJI1+Umo/SCmBAFBKdMLcZsAru+h7VTC
TMfOC9aSSSjdK5M/UEKjZDBiMB0GA1UdDgQWBBQwdORN7ZXBUA7oMOK3xy6FUZDE
ojAfBgNVHSMEGDAWgBQwdORN7ZXBUA7oMOK3xy6FUZDEojAPBgNVHRMBAf8EBTAD
AQH/MA8GA1UdEQQIMAaHBH8AAAEwCgYIKoZIzj0EAwIDSAAwRQIgfMGJzbtacekx
IqsqmiWrWUoHGPTEnvUJl02dwR80fkkCIQDGR5BIb62gKxJ/b8824kBIxtlxjF3B
i8g6QcsQNL1ihw==
-----END CERTIFICATE-----`

export interface Pushed {
  /** The decrypted message. */
  readonly message: Readonly<Record<string, string>>
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  /** The claims of the token that identifies the sender. */
  readonly claims: JWTPayload
}

interface Answer {
  readonly status: number
  readonly retryAfter?: string
}

export async function startPushService(vapidKey: string) {
  const browsers = new Map<string, ReturnType<typeof browserKeys>>()
  const pushed = new Map<string, Pushed[]>()
  const wrong: unknown[] = []
  let answer: Answer = { status: 201 }
  const server = createServer({ key: KEY, cert: CERTIFICATE }, async (request, response) => {
    const body = await buffer(request)
    const path = request.url ?? ''
    const browser = browsers.get(path)
    const { status, retryAfter }: Answer = browser ? answer : { status: 404 }
    try {
      const claims = await verified(request.headers.authorization, vapidKey, url())
      if (request.headers['content-encoding'] !== 'aes128gcm') throw new Error('another encoding')
      if (browser && status === 201)
        pushed.get(path)?.push({ message: JSON.parse(browser.decrypt(body)), headers: request.headers, claims })
    } catch (error) {
      wrong.push(error)
    }
    response.writeHead(status, retryAfter === undefined ? {} : { 'retry-after': retryAfter }).end()
  })
  server.listen(0, LOOPBACK)
  await once(server, 'listening')
  const url = () => `https://${LOOPBACK}:${(server.address() as AddressInfo).port}`
  return {
    /** The violations of the specifications. */
    wrong,
    /** Subscribes a browser; `pushed` lists its messages. */
    subscribe(): { readonly push: PushSubscription; readonly pushed: readonly Pushed[] } {
      const path = `/${randomUUID()}`
      const browser = browserKeys()
      const came: Pushed[] = []
      browsers.set(path, browser)
      pushed.set(path, came)
      return { push: { endpoint: url() + path, keys: browser.keys }, pushed: came }
    },
    unsubscribe: ({ endpoint }: PushSubscription) => browsers.delete(new URL(endpoint).pathname),
    answers: (given: Answer) => {
      answer = given
    },
    stop: () => {
      server.closeAllConnections()
      server.close()
    },
  }
}

/**
 * The token must be signed with the key to which the browsers subscribed, for this service, for a day at most (RFC
 * 8292, 2 and 3).
 */
async function verified(authorization: string | undefined, vapidKey: string, audience: string): Promise<JWTPayload> {
  const [, token = '', key] = /^vapid t=([^,]+), ?k=(.+)$/.exec(authorization ?? '') ?? []
  if (key !== vapidKey) throw new Error('another key')
  const point = Buffer.from(key, 'base64url')
  const coordinate = (from: number) => point.subarray(from, from + 32).toString('base64url')
  const jwk = await importJWK({ kty: 'EC', crv: 'P-256', x: coordinate(1), y: coordinate(33) }, 'ES256')
  const { payload } = await jwtVerify(token, jwk, { audience, algorithms: ['ES256'], requiredClaims: ['exp', 'sub'] })
  if ((payload.exp ?? Number.POSITIVE_INFINITY) * 1000 > Date.now() + 24 * 3600 * 1000) throw new Error('too long')
  return payload
}

function browserKeys() {
  const pair = createECDH('prime256v1')
  const own = pair.generateKeys()
  const auth = randomBytes(16)
  const derive = (secret: Buffer, salt: Buffer, info: string | Buffer, bytes: number) =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, bytes))
  return {
    keys: { p256dh: own.toString('base64url'), auth: auth.toString('base64url') },
    /** The body consists of salt, record size, key id (the sender's key) and one record (RFC 8188, 2). */
    decrypt(body: Buffer): string {
      const [salt, length] = [body.subarray(0, 16), body.readUInt8(20)]
      const [sender, record] = [body.subarray(21, 21 + length), body.subarray(21 + length)]
      if (record.length > body.readUInt32BE(16) || body.length > 4096) throw new Error('longer than a record')
      const info = Buffer.concat([Buffer.from('WebPush: info\0'), own, sender])
      const secret = derive(pair.computeSecret(sender), auth, info, 32)
      const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
      const cipher = createDecipheriv('aes-128-gcm', key, derive(secret, salt, 'Content-Encoding: nonce\0', 12))
      cipher.setAuthTag(record.subarray(-16))
      const plain = Buffer.concat([cipher.update(record.subarray(0, -16)), cipher.final()])
      const end = plain.lastIndexOf(2)
      if (end < 0 || plain.subarray(end + 1).some((byte) => byte !== 0)) throw new Error('no end of the last record')
      return plain.subarray(0, end).toString()
    },
  }
}
