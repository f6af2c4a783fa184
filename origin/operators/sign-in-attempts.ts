/** Counts failed sign-ins by address. */
import { RecentMap } from '../../shared/lib/recent-map.ts'

const MAX_ADDRESSES = 10_000
/** The number of failures allowed per address, and the time for which they count. */
const FAILURES = 10
const WINDOW_MS = 10 * 60_000

export class SignInAttempts {
  readonly #failedAtMs = new RecentMap<string, number[]>(MAX_ADDRESSES)

  /** Counts a failure. Returns how long this address must wait before it may fail again; 0 if it need not wait. */
  failed(address: string, nowMs = performance.now()): number {
    const recent = this.#recent(address, nowMs)
    const [first = nowMs] = recent
    if (recent.length >= FAILURES) return (first + WINDOW_MS - nowMs) / 1000
    this.#failedAtMs.set(address, [...recent, nowMs])
    return 0
  }

  #recent(address: string, nowMs: number): number[] {
    return (this.#failedAtMs.get(address) ?? []).filter((atMs) => nowMs - atMs < WINDOW_MS)
  }
}
