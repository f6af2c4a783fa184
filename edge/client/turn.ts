/** The visitor's place at the server: claimed when its turn has come, and extended until then. */
import { get, nowMs, page, SLOW_TIMEOUT_MS } from './page.ts'
import { isRefreshDue, refresh } from './refresh.ts'

/** A turn that the server's page did not show is claimed again after so long, on average. */
const CLAIM_AGAIN_MS = 3_000
/**
 * A place lasts for a day, also after an opening or an end, which may be put off; each status request extends it. Rare enough
 * that few sales see one, and spread: a crowd that joined together must not request together at the sale's opening.
 */
const RENEW_EVERY_MS = 4 * 3_600_000 * (0.75 + Math.random() / 2)

let claimAtMs = 0
/** On the server's clock, which goes on while the machine sleeps. */
let renewedAtMs = 0

/** The turn has come: the server's page shows it, and brings the admission as a cookie. */
export async function claimTurn(): Promise<void> {
  if (performance.now() < claimAtMs || isRefreshDue()) return
  claimAtMs = Number.POSITIVE_INFINITY
  await refresh()
  claimAtMs = performance.now() + CLAIM_AGAIN_MS * (0.5 + Math.random())
}

/** Loading the page extended the place. */
export const countsAsRenewal = () => {
  renewedAtMs = nowMs()
}

/** Extends the place, once in a while. */
export async function renewPlace(): Promise<void> {
  if (nowMs() - renewedAtMs < RENEW_EVERY_MS) return
  renewedAtMs = nowMs()
  try {
    const headers = { accept: 'application/json' }
    const response = await get(`/sales/${page.sale}/queue/status`, { headers }, SLOW_TIMEOUT_MS)
    // Another tab gave the place up, or it has expired.
    if (response.status === 401) await refresh()
  } catch {
    // A place lasts for several renewals, so that one may fail.
  }
}
