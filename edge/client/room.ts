/**
 * The page's script, and the worker that beats for it twice a second: browsers slow the timers of a background page down to
 * one a minute, and a turn called meanwhile would be found late, but a worker's timers go on. The worker runs this same
 * script, and there is no document in it.
 */
import { start } from './live-page.ts'

const BEAT_MS = 500

/** Calls `act` at every beat, by a worker where the browser has one. */
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

/** Where the second script is; build.ts puts it in. */
declare const __EXTRAS__: string

if ('document' in globalThis) start(everyBeat, () => import(__EXTRAS__))
else setInterval(() => postMessage(0), BEAT_MS)
