/** Lets visitors in by a code or by a signed link; visitors of the same moment share a transaction. */
import { randomUUID } from 'node:crypto'
import type { SyncKey, TokenKeys } from '../../shared/keys.ts'
import { INVITATION, readToken, signToken } from '../../shared/tokens.ts'
import type { Sql } from '../ledger/connection.ts'
import { BatcherByKey } from '../lib/batcher.ts'
import { type RedeemVerdict, type Redemption, redeem } from './access-queries.ts'

/** Visitors in one transaction, and waiting for one; more get try-again. */
const BATCH = 500
const QUEUE = 5_000

export class Invitations {
  readonly #keys: TokenKeys<SyncKey>
  readonly #redeemer: BatcherByKey<Redemption, RedeemVerdict>

  constructor(sql: Sql, keys: TokenKeys<SyncKey>) {
    this.#keys = keys
    this.#redeemer = new BatcherByKey({ size: BATCH, queue: QUEUE }, (saleId, batch) => redeem(sql, saleId, batch))
  }

  /** A signed link's invitation: it needs no storage until somebody comes in by it. Expires at `exp` (s since the epoch). */
  sign(sale: string, uses: number, exp: number): string {
    return signToken(INVITATION, this.#keys, { sub: randomUUID(), sale, uses, exp })
  }

  /** Fails with Overloaded, and as the ledger fails. */
  async redeem(saleId: string, visitor: string, invitation: string, nowMs: number): Promise<RedeemVerdict> {
    const link = readToken(INVITATION, this.#keys, invitation, nowMs)
    if (!link.ok) return this.#redeemer.add(saleId, { code: invitation, visitor, uses: null })
    const { sub, sale, uses } = link.claims
    return sale === saleId ? this.#redeemer.add(saleId, { code: `link ${sub}`, visitor, uses }) : 'unknown'
  }
}
