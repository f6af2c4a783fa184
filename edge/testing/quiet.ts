/** Around every file's tests, which may share a runtime with those of other files. */
import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterAll } from 'vitest'
import { background } from './background.ts'

declare global {
  var platformTimeout: typeof AbortSignal.timeout | undefined
}

// The Worker, its objects and the origin share one busy machine with the tests: a response that is late is no failure.
const PATIENCE = 10
globalThis.platformTimeout ??= AbortSignal.timeout
const timeoutSignal = globalThis.platformTimeout
AbortSignal.timeout = (ms) => timeoutSignal.call(AbortSignal, PATIENCE * ms)

/** How long work behind a response may take to notice that the objects are gone. */
const NOTICE_MS = 50

// Stops everything: an alarm that rings while the run ends would not find its code, and an object that is still awake would
// meet the stubs of the next file. Work behind a response retries its calls, and so wakes objects again.
afterAll(async () => {
  for (let isFirst = true; isFirst || background.size > 0; isFirst = false) {
    await reset()
    await abortAllDurableObjects()
    await Promise.race([Promise.allSettled(background), scheduler.wait(NOTICE_MS)])
  }
  await reset()
  await abortAllDurableObjects()
})
