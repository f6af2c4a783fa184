/**
 * The page's script, and the worker that provides its timer twice a second. Browsers slow the timers of a background
 * page to one a minute, so a turn would be detected late, but a worker's timers continue. The worker runs this same
 * script, in which there is no document.
 */
import { start } from './live-page.ts'

const BEAT_MS = 500

/** Calls `act` at every beat, by a worker if the browser has one. */
function everyBeat(act: () => void): void {
  const withoutWorker = () => void setInterval(act, BEAT_MS)
  try {
    const worker = new Worker(import.meta.url, { type: 'module' })
    worker.onmessage = act
    worker.onerror = withoutWorker
  } catch {
    withoutWorker()
  }
}

/** The address of the second script, which build.ts inserts. */
declare const __EXTRAS__: string

if ('document' in globalThis) start(everyBeat, () => import(__EXTRAS__))
else setInterval(() => postMessage(0), BEAT_MS)
