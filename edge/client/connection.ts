/** Shows whether the page reaches the edge. The sign is hidden while it does. */
import { announce, byId, page, show, write } from './page.ts'

/** The number of failed attempts in a row. */
export const failures = { reads: 0, refreshes: 0 }

const hasFailed = () => failures.reads + failures.refreshes > 0

/** `onLine` alone is not enough, because some browsers report offline in a local network. */
export const isOffline = () => !navigator.onLine && (hasFailed() || page.path === null)

export function showConnection(): void {
  const state = isOffline() ? 'offline' : hasFailed() ? 'reconnecting' : 'online'
  const note = byId('offline')
  show(note, state === 'offline')
  const sign = byId('connection')
  // The page of a problem reads no schedule, so it does not know whether it is connected.
  show(sign, state === 'offline' || (state === 'reconnecting' && page.path !== null))
  if (!sign || sign.dataset.state === state) return
  if (state === 'offline') announce(note?.textContent)
  if (sign.dataset.state === 'offline') announce(sign.dataset.online)
  sign.dataset.state = state
  write(sign, sign.dataset[state])
}
