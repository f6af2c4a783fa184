/** Runs before and after the tests of every file, which may share a runtime with those of other files. */
import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterAll } from 'vitest'
import { background } from './background.ts'

declare global {
  var platformTimeout: typeof AbortSignal.timeout | undefined
}

// The Worker, its objects and the origin share a busy machine with the tests, so a late response is not an error.
const PATIENCE = 10
globalThis.platformTimeout ??= AbortSignal.timeout
const timeoutSignal = globalThis.platformTimeout
AbortSignal.timeout = (ms) => timeoutSignal.call(AbortSignal, PATIENCE * ms)

/** Work behind a response may take this long to notice that the objects are gone. */
const NOTICE_MS = 50

// Stops everything. An alarm that rings while the run ends would not find its code, and an active object would use
// the stubs of the next file. Work behind a response retries its calls, which starts objects again.
afterAll(async () => {
  for (let isFirst = true; isFirst || background.size > 0; isFirst = false) {
    await reset()
    await abortAllDurableObjects()
    await Promise.race([Promise.allSettled(background), scheduler.wait(NOTICE_MS)])
  }
  await reset()
  await abortAllDurableObjects()
})
