/** Admission tokens by the thousand, signed with the system's own keys: what the edge would have given the buyers. */
import { randomUUID } from 'node:crypto'
import {
  ADMISSION,
  ADMISSION_TTL_SECONDS,
  importSecrets,
  type SecretJwkSet,
  type SyncKey,
  signToken,
  type TokenKeys,
} from '../../shared/tokens.ts'

export class AdmissionMint {
  readonly #keys: TokenKeys<SyncKey>
  #number = 0

  constructor(keys: SecretJwkSet) {
    this.#keys = importSecrets(keys)
  }

  /** A token for a visitor of that name, by default one never seen before. */
  next(sale: string, sub = `bench-${randomUUID()}`): string {
    const iat = Math.floor(Date.now() / 1000)
    const claims = {
      sub,
      sale,
      num: ++this.#number,
      jti: randomUUID(),
      iat,
      exp: iat + ADMISSION_TTL_SECONDS,
    }
    return signToken(ADMISSION, this.#keys, claims)
  }

  many(sale: string, count: number): string[] {
    return Array.from({ length: count }, () => this.next(sale))
  }
}
