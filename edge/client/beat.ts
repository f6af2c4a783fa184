/**
 * A beat twice a second. Browsers slow the timers of a page in the background down to one a minute, and a turn that is
 * called meanwhile would be found late: a worker's timers go on. The worker is this same script, which beats where
 * there is no document.
 */
const BEAT_MS = 500

/** Calls `act` at every beat, by a worker where one can be had. */
export function beat(act: () => void): void {
  const byOurselves = () => void setInterval(act, BEAT_MS)
  try {
    const worker = new Worker(import.meta.url, { type: 'module' })
    worker.onmessage = act
    worker.onerror = byOurselves
  } catch {
    byOurselves()
  }
}

export const beatFromWorker = () => void setInterval(() => postMessage(0), BEAT_MS)
