/**
 * Encrypts the secrets of endpoints for the ledger with AES-256-GCM, bound to the endpoint. In the key set
 * (WEBHOOK_KEYS) the first key encrypts and all keys decrypt.
 */
import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { SecretJwkSet } from '../../shared/keys.ts'
import type { webhookEndpoints } from '../ledger/schema/events.ts'

/** An endpoint as stored, with its secrets encrypted. */
export type EndpointRow = Readonly<typeof webhookEndpoints.$inferSelect>
export type Secrets = EndpointRow['sealed_secrets']
/** An endpoint with its decrypted secrets. */
export type Endpoint = Omit<EndpointRow, 'sealed_secrets'> & { readonly secrets: Secrets }

const CIPHER = 'aes-256-gcm'
const [KEY_BYTES, IV_BYTES, TAG_BYTES] = [32, 12, 16]

export class SecretSealer {
  /** The first key encrypts. */
  readonly #keys: ReadonlyMap<string, Uint8Array>
  readonly #first: string

  constructor({ keys }: SecretJwkSet) {
    this.#keys = new Map(keys.map(({ kid, k }) => [kid, derivedKey(Buffer.from(k, 'base64url'))]))
    this.#first = keys[0]?.kid ?? ''
  }

  seal(secrets: Secrets, endpoint: string): Secrets {
    return secrets.map((one) => ({ ...one, secret: this.#encrypt(one.secret, endpoint) }))
  }

  open({ sealed_secrets, ...endpoint }: EndpointRow): Endpoint {
    const secrets = sealed_secrets.map((one) => ({ ...one, secret: this.#decrypt(one.secret, endpoint.endpoint_id) }))
    return { ...endpoint, secrets }
  }

  /** True if all secrets are encrypted with the first key. */
  isCurrent({ sealed_secrets }: EndpointRow): boolean {
    return sealed_secrets.every(({ secret }) => kidOf(secret) === this.#first)
  }

  #encrypt(secret: string, endpoint: string): string {
    const iv = randomBytes(IV_BYTES)
    const cipher = createCipheriv(CIPHER, this.#keyOf(this.#first), iv).setAAD(Buffer.from(endpoint))
    const bytes = Buffer.concat([iv, cipher.update(secret, 'utf8'), cipher.final(), cipher.getAuthTag()])
    return `${this.#first}.${bytes.toString('base64url')}`
  }

  #decrypt(sealed: string, endpoint: string): string {
    const kid = kidOf(sealed)
    const bytes = Buffer.from(sealed.slice(kid.length + 1), 'base64url')
    const decipher = createDecipheriv(CIPHER, this.#keyOf(kid), bytes.subarray(0, IV_BYTES), {
      authTagLength: TAG_BYTES,
    })
    decipher.setAAD(Buffer.from(endpoint)).setAuthTag(bytes.subarray(-TAG_BYTES))
    return Buffer.concat([decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES)), decipher.final()]).toString()
  }

  #keyOf(kid: string): Uint8Array {
    const key = this.#keys.get(kid)
    if (!key) throw new Error(`WEBHOOK_KEYS has no key ${kid}, which encrypts secrets of webhook endpoints`)
    return key
  }
}

const derivedKey = (k: Buffer) => new Uint8Array(hkdfSync('sha256', k, '', 'secrets of webhook endpoints', KEY_BYTES))
/** A sealed secret consists of the `kid`, which may contain dots, and the bytes. */
const kidOf = (sealed: string) => sealed.slice(0, sealed.lastIndexOf('.'))
