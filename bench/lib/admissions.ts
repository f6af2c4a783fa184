/** Admission tokens by the thousand, signed with the system's own key: what the edge would have given the buyers. */
import { createPrivateKey, type KeyObject, randomUUID, sign } from 'node:crypto'
import { ADMISSION_TTL_SECONDS, EDGE_ISSUER } from '../../shared/tokens.ts'

export class AdmissionMint {
  readonly #key: KeyObject
  readonly #header: string
  #number = 0

  constructor(privateJwk: Readonly<Record<string, unknown>>) {
    this.#key = createPrivateKey({ key: privateJwk as never, format: 'jwk' })
    this.#header = encoded({ alg: 'EdDSA', typ: 'JWT', kid: privateJwk.kid })
  }

  /** A token for someone who was never seen before. */
  next(sale: string): string {
    const num = ++this.#number
    const iat = Math.floor(Date.now() / 1000)
    const payload = {
      sub: `bench-${randomUUID()}`,
      sale,
      num,
      jti: randomUUID(),
      iat,
      exp: iat + ADMISSION_TTL_SECONDS,
      iss: EDGE_ISSUER,
      aud: 'checkout',
    }
    const signed = `${this.#header}.${encoded(payload)}`
    return `${signed}.${sign(null, Buffer.from(signed), this.#key).toString('base64url')}`
  }

  many(sale: string, count: number): string[] {
    return Array.from({ length: count }, () => this.next(sale))
  }
}

const encoded = (part: object) => Buffer.from(JSON.stringify(part)).toString('base64url')
