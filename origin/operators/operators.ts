/**
 * Who an operator's call comes from: the admin token (the owner's, for machines), an operator's key, or a session in a browser.
 * Keys and cookies have 256 random bits, so a plain SHA-256 keeps them; what was found is remembered for a second.
 */
import { createHash, randomBytes } from 'node:crypto'
import type { Operator } from '../../shared/api/roles.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Sql } from '../ledger/connection.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { deleteSession, findByKey, findSession, insertSession } from './operator-queries.ts'

/** What the admin token's calls are called in the audit log. */
export const ADMIN: Operator = { name: 'admin', role: 'owner' }
/** A working day and a long evening. */
export const SESSION_SECONDS = 16 * 3600
/** A revoked key or session opens nothing after this long. */
const REMEMBERED_MS = 1_000
/** While the ledger does not respond, operators authenticated this recently stay so: the console must show what is wrong. */
const KNOWN_WITHOUT_LEDGER_MS = 15 * 60_000
const LEDGER_TIMEOUT_MS = 2_000
const KEY_BYTES = 32

const hashOf = (secret: string) => createHash('sha256').update(secret).digest('base64url')
/** A new key or cookie, and what is kept of it. */
export function newSecret(prefix = ''): { secret: string; hash: string } {
  const secret = prefix + randomBytes(KEY_BYTES).toString('base64url')
  return { secret, hash: hashOf(secret) }
}
const KEY_PREFIX = 'op_'
export const newKey = () => newSecret(KEY_PREFIX)

interface Found {
  readonly operator: Operator | undefined
  readonly atMs: number
}

export class Operators {
  readonly #sql: Sql
  readonly #isLedgerAway: () => boolean
  readonly #found = new RecentMap<string, Found>(1_000)

  constructor(sql: Sql, isLedgerAway: () => boolean) {
    this.#sql = sql
    this.#isLedgerAway = isLedgerAway
  }

  /** The operator whose key this is. */
  byKey(key: string): Promise<Operator | undefined> {
    return this.#find(hashOf(key), findByKey)
  }

  /** The operator whose session has this cookie. */
  bySession(cookie: string): Promise<Operator | undefined> {
    return this.#find(hashOf(cookie), findSession)
  }

  /** Begins a session; returns its cookie. */
  async beginSession(operator: Operator, byKey: boolean): Promise<string> {
    const { secret, hash } = newSecret()
    await insertSession(this.#sql, hash, operator, byKey, SESSION_SECONDS)
    return secret
  }

  async endSession(cookie: string): Promise<void> {
    const hash = hashOf(cookie)
    await deleteSession(this.#sql, hash)
    this.#found.delete(hash)
  }

  async #find(hash: string, find: typeof findByKey): Promise<Operator | undefined> {
    const known = this.#found.get(hash)
    if (known && performance.now() - known.atMs < REMEMBERED_MS) return known.operator
    const isFresh = known?.operator !== undefined && performance.now() - known.atMs < KNOWN_WITHOUT_LEDGER_MS
    if (isFresh && this.#isLedgerAway()) return known.operator
    try {
      const operator = await withTimeout(find(this.#sql, hash), LEDGER_TIMEOUT_MS)
      this.#found.set(hash, { operator, atMs: performance.now() })
      return operator
    } catch (error) {
      if (isFresh) return known.operator
      throw error
    }
  }
}
