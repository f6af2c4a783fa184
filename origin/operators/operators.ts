/**
 * Identifies the operator of a call by the admin token (for machines, with the owner's rights), a key, or a browser
 * session. Keys and cookies have 256 random bits, so a plain SHA-256 protects them. Results are remembered for a
 * second. The hash of a session that an admin token began is keyed by that token, so the session ends with it.
 * Invented cookies cost the ledger almost nothing: malformed and known wrong ones are refused without a query, and
 * the others are looked up together.
 */
import { createHash, createHmac, randomBytes } from 'node:crypto'
import type { Operator, Role } from '../../shared/api/operators/roles.ts'
import { RecentMap } from '../../shared/lib/recent-map.ts'
import type { Config } from '../base/config.ts'
import type { Sql } from '../ledger/connection.ts'
import { Batcher } from '../lib/batcher.ts'
import { withTimeout } from '../lib/with-timeout.ts'
import { KNOWN_WITHOUT_LEDGER_MS, OperatorKeys } from './operator-keys.ts'
import {
  checkSignedIn,
  deleteSessions,
  findSessions,
  type Identity,
  insertSession,
  nameOf,
  readKeys,
  type SessionHashes,
} from './operator-queries.ts'

/** The operator that the audit log shows for calls with the admin token. */
export const ADMIN: Operator = { name: 'admin', role: 'owner' }
/** A session lasts a working day and a long evening. */
export const SESSION_SECONDS = 16 * 3600
/** A session that ended stops working after this time. */
const REMEMBERED_MS = 1_000
/** Wrong cookies are remembered separately, so that they cannot evict correct ones. */
const MAX_WRONG = 10_000
/** The number of cookies in one query, the number that may wait for a query, and the pause between two queries. */
const LOOKUPS = { size: 5_000, queue: 20_000, pauseMs: 100 }
const LEDGER_TIMEOUT_MS = 2_000
const KEY_BYTES = 32

/** The admin token, and another one while it is changed. A session begun by one lasts no longer than it is accepted. */
export type AdminTokens = readonly [string, ...string[]]
export const adminTokensOf = ({ ADMIN_TOKEN, ADMIN_TOKEN_ALSO }: Pick<Config, 'ADMIN_TOKEN' | 'ADMIN_TOKEN_ALSO'>) =>
  [ADMIN_TOKEN, ...(ADMIN_TOKEN_ALSO === undefined ? [] : [ADMIN_TOKEN_ALSO])] as const

const adminHashOf = (token: string, cookie: string) => createHmac('sha256', token).update(cookie).digest('base64url')
const hashOf = (secret: string) => createHash('sha256').update(secret).digest('base64url')
/** A new key or cookie, and the hash that is stored. */
export function newSecret(prefix = ''): { secret: string; hash: string } {
  const secret = prefix + randomBytes(KEY_BYTES).toString('base64url')
  return { secret, hash: hashOf(secret) }
}
const KEY_PREFIX = 'op_'
const KEY = new RegExp(`^${KEY_PREFIX}[\\w-]{43}$`)
const COOKIE = /^[\w-]{43}$/
export const newKey = () => newSecret(KEY_PREFIX)

interface Found {
  readonly operator: Operator
  readonly atMs: number
}

export class Operators {
  readonly #sql: Sql
  readonly #isLedgerAway: () => boolean
  readonly #adminTokens: AdminTokens
  readonly #keys: OperatorKeys
  readonly #found = new RecentMap<string, Found>(1_000)
  readonly #wrong = new RecentMap<string, true>(MAX_WRONG)
  readonly #lookups: Batcher<SessionHashes, Operator | undefined>

  constructor(sql: Sql, isLedgerAway: () => boolean, adminTokens: AdminTokens) {
    this.#sql = sql
    this.#isLedgerAway = isLedgerAway
    this.#adminTokens = adminTokens
    this.#lookups = new Batcher(LOOKUPS, (cookies) => withTimeout(findSessions(sql, cookies), LEDGER_TIMEOUT_MS))
    this.#keys = new OperatorKeys(() => withTimeout(readKeys(sql), LEDGER_TIMEOUT_MS), isLedgerAway)
  }

  /** Returns the operator who has this key. */
  async byKey(key: string): Promise<Operator | undefined> {
    return KEY.test(key) ? this.#keys.find(hashOf(key)) : undefined
  }

  /** Returns the operator whose session has this cookie. */
  async bySession(cookie: string): Promise<Operator | undefined> {
    if (!COOKIE.test(cookie)) return undefined
    const hash = hashOf(cookie)
    if (this.#wrong.get(hash)) return undefined
    const known = this.#found.get(hash)
    if (known && performance.now() - known.atMs < REMEMBERED_MS) return known.operator
    const isFresh = known && performance.now() - known.atMs < KNOWN_WITHOUT_LEDGER_MS
    if (isFresh && this.#isLedgerAway()) return known.operator
    try {
      const operator = await this.#lookups.add({ own: hash, admin: this.#adminHashesOf(cookie) })
      // A session that ended never becomes valid again.
      if (operator) this.#found.set(hash, { operator, atMs: performance.now() })
      else this.#wrong.set(hash, true)
      return operator
    } catch (error) {
      if (isFresh) return known.operator
      throw error
    }
  }

  /**
   * Handles a sign-in at the company's service, which grants and removes roles. Returns the person's name in this
   * system.
   */
  async signedIn(identity: Identity, called: string, role: Role | undefined): Promise<string> {
    const name = await nameOf(this.#sql, identity, called)
    await checkSignedIn(this.#sql, identity, role)
    return name
  }

  /** Begins a session and returns its cookie. */
  async beginSession(operator: Operator, byKey: boolean): Promise<string> {
    const { secret, hash } = newSecret()
    const kept = operator === ADMIN ? adminHashOf(this.#adminTokens[0], secret) : hash
    await insertSession(this.#sql, kept, operator, byKey, SESSION_SECONDS)
    this.#found.set(hash, { operator, atMs: performance.now() })
    return secret
  }

  async endSession(cookie: string): Promise<void> {
    if (!(await this.bySession(cookie))) return
    const hash = hashOf(cookie)
    await deleteSessions(this.#sql, [hash, ...this.#adminHashesOf(cookie)])
    this.#found.delete(hash)
  }

  #adminHashesOf(cookie: string): string[] {
    return this.#adminTokens.map((token) => adminHashOf(token, cookie))
  }
}
