/** Limits failed attempts to sign in, by address: keys cannot be guessed, and each attempt costs the ledger a query. */
import { RecentMap } from '../../shared/lib/recent-map.ts'

const MAX_ADDRESSES = 10_000
/** Failures allowed per address, and the time in which they count. */
const FAILURES = 10
const WINDOW_MS = 10 * 60_000

export class SignInAttempts {
  readonly #failedAtMs = new RecentMap<string, number[]>(MAX_ADDRESSES)

  /** How long this address must wait; 0 if it may try. */
  waitSeconds(address: string, nowMs = performance.now()): number {
    const recent = this.#recent(address, nowMs)
    const [first = nowMs] = recent
    return recent.length < FAILURES ? 0 : (first + WINDOW_MS - nowMs) / 1000
  }

  failed(address: string, nowMs = performance.now()): void {
    this.#failedAtMs.set(address, [...this.#recent(address, nowMs), nowMs].slice(-FAILURES))
  }

  #recent(address: string, nowMs: number): number[] {
    return (this.#failedAtMs.get(address) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS)
  }
}
