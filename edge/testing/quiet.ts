/** Around every file's tests. */
import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterAll } from 'vitest'

// The Worker, its objects and the origin share one busy machine with the tests: a response that is late is no failure.
const PATIENCE = 10
const timeoutSignal = AbortSignal.timeout
AbortSignal.timeout = (ms) => timeoutSignal.call(AbortSignal, PATIENCE * ms)

// Stops everything: an alarm that rings while the run ends would not find its code.
afterAll(async () => {
  await reset()
  await abortAllDurableObjects()
})
