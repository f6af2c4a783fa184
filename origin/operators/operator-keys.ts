/**
 * The operators' keys. They are read all together and at most once a second, so any number of wrong keys costs the
 * ledger one query a second, and a correct key is never refused because of them.
 */
import { setTimeout as sleep } from 'node:timers/promises'
import type { Operator } from '../../shared/api/operators/roles.ts'

/** The operators by the hash of their key. */
type Keys = ReadonlyMap<string, Operator>

/** A revoked key stops working after this time. */
const REMEMBERED_MS = 1_000
/**
 * While the ledger does not respond, the last keys stay valid for this long, because operators need the console to
 * see what is wrong.
 */
export const KNOWN_WITHOUT_LEDGER_MS = 15 * 60_000

export class OperatorKeys {
  readonly #read: () => Promise<Keys>
  readonly #isLedgerAway: () => boolean
  #known: { readonly keys: Keys; readonly atMs: number } | undefined
  #reading: Promise<Keys> = Promise.resolve(new Map())
  #readAtMs = Number.NEGATIVE_INFINITY

  constructor(read: () => Promise<Keys>, isLedgerAway: () => boolean) {
    this.#read = read
    this.#isLedgerAway = isLedgerAway
  }

  async find(hash: string): Promise<Operator | undefined> {
    const readAtMs = this.#readAtMs
    const known = (await this.#current()).get(hash)
    if (known || this.#readAtMs !== readAtMs) return known
    // The key may have been created since the last read, so unknown keys wait together for the next one.
    await sleep(readAtMs + REMEMBERED_MS - performance.now())
    return (this.#readAtMs === readAtMs ? await this.#refresh() : await this.#reading).get(hash)
  }

  #current(): Promise<Keys> {
    return performance.now() - this.#readAtMs < REMEMBERED_MS ? this.#reading : this.#refresh()
  }

  #refresh(): Promise<Keys> {
    const nowMs = performance.now()
    const known = this.#known && nowMs - this.#known.atMs < KNOWN_WITHOUT_LEDGER_MS ? this.#known.keys : undefined
    this.#readAtMs = nowMs
    this.#reading = known && this.#isLedgerAway() ? Promise.resolve(known) : this.#readOr(known, nowMs)
    return this.#reading
  }

  async #readOr(known: Keys | undefined, nowMs: number): Promise<Keys> {
    try {
      const keys = await this.#read()
      this.#known = { keys, atMs: nowMs }
      return keys
    } catch (error) {
      if (known) return known
      throw error
    }
  }
}
