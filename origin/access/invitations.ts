/**
 * Admits visitors by a code or by a signed link; concurrent visitors share a transaction. The first key signs links
 * and hashes codes, and all keys are tried. People choose codes that can be guessed, so a plain hash would not hide
 * them in a stolen ledger.
 */
import { hash, randomUUID } from 'node:crypto'
import { InvitationCode } from '../../shared/api/access.ts'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { tryParse } from '../../shared/parse.ts'
import { INVITATION, readToken, signToken } from '../../shared/tokens.ts'
import type { Sql } from '../ledger/connection.ts'
import type { SaleRow } from '../ledger/sale-row.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import { type RedeemVerdict, type Redemption, redeem } from './access-queries.ts'

/** The number of visitors in one transaction, and the number that may wait for one; further ones get try-again. */
const BATCH = 500
const QUEUE = 5_000

/** A link's id is random, so that a plain hash hides it well enough. */
const linkHash = (saleId: string, id: string) => hash('sha256', `${saleId} ${id}`, 'base64url')

export class Invitations {
  readonly #keys: TokenKeys<SyncKey>
  readonly #redeemer: BatcherByKey<Redemption, RedeemVerdict>

  constructor(sql: Sql, keys: TokenKeys<SyncKey>) {
    this.#keys = keys
    this.#redeemer = new BatcherByKey({ size: BATCH, queue: QUEUE }, (saleId, batch) => redeem(sql, saleId, batch))
  }

  /**
   * Signs a link's invitation, which needs no storage until a visitor uses it. `iat` is in seconds since the epoch.
   */
  sign(sale: string, uses: number, { iat, valid_for_seconds }: { iat: number; valid_for_seconds: number }): string {
    return signToken(INVITATION, this.#keys, { sub: randomUUID(), sale, uses, iat, exp: iat + valid_for_seconds })
  }

  /**
   * The hashes under which a code may be stored. People type codes in upper or lower case. The space makes a hash
   * differ from a token's signature.
   */
  hashesOf(saleId: string, code: string): Redemption['hashes'] {
    const { first, byHeader } = this.#keys
    const text = `${saleId} ${code.toUpperCase()}`
    const earlier = new Set([...byHeader.values()].filter((key) => key !== first))
    return [first.sign(text), ...[...earlier].map((key) => key.sign(text))]
  }

  /**
   * Redeems an invitation. A link that has expired or was declared void gives `void`. Fails with Overloaded, and as
   * the ledger fails.
   */
  async redeem(
    { sale_id: saleId, links_void_before }: Pick<SaleRow, 'sale_id' | 'links_void_before'>,
    visitor: string,
    invitation: string,
    nowMs: number,
  ): Promise<RedeemVerdict | 'void'> {
    const link = readToken(INVITATION, this.#keys, invitation, nowMs)
    if (link.ok) {
      const { sub, sale, uses, iat } = link.claims
      if (sale !== saleId) return 'unknown'
      if (links_void_before && iat * 1000 < links_void_before.getTime()) return 'void'
      return this.#redeemer.add(saleId, { hashes: [linkHash(saleId, sub)], visitor, uses })
    }
    if (link.reason === 'expired') return 'void'
    // A forged link does not have the form of a code, so it needs no query.
    if (tryParse(InvitationCode, invitation) === undefined) return 'unknown'
    return this.#redeemer.add(saleId, { hashes: this.hashesOf(saleId, invitation), visitor, uses: null })
  }
}
