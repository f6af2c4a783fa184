/** The visitor's place at the server. It is extended until its turn has come, and then claimed. */
import { get, nowMs, page, SLOW_TIMEOUT_MS } from './page.ts'
import { isRefreshDue, refresh } from './refresh.ts'

/** A turn that the server's page did not show is claimed again after this long, on average. */
const CLAIM_AGAIN_MS = 3_000
/**
 * A place lasts for a day after the opening or the end, which may be put off, and each status request extends it.
 * Renewals are so rare that few sales see one, and they are spread, because visitors who joined together must not all
 * renew at the sale's opening.
 */
const RENEW_EVERY_MS = 4 * 3_600_000 * (0.75 + Math.random() / 2)

let claimAtMs = 0
/** The time on the server's clock, which continues while the machine sleeps. */
let renewedAtMs = 0

/** Claims a turn that has come: the server's page shows it and sets the admission as a cookie. */
export async function claimTurn(): Promise<void> {
  if (performance.now() < claimAtMs || isRefreshDue()) return
  claimAtMs = Number.POSITIVE_INFINITY
  await refresh()
  claimAtMs = performance.now() + CLAIM_AGAIN_MS * (0.5 + Math.random())
}

/** Loading the page has extended the place. */
export const countsAsRenewal = () => {
  renewedAtMs = nowMs()
}

/** Extends the place from time to time. */
export async function renewPlace(): Promise<void> {
  if (nowMs() - renewedAtMs < RENEW_EVERY_MS) return
  renewedAtMs = nowMs()
  try {
    const headers = { accept: 'application/json' }
    const response = await get(`/sales/${page.sale}/queue/status`, { headers }, SLOW_TIMEOUT_MS)
    // The place has expired, or another tab gave it up.
    if (response.status === 401) await refresh()
  } catch {
    // One renewal may fail, because a place lasts for several.
  }
}
