/** Stops everything after a file's tests: an alarm that rings while the run ends would not find its code. */
import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterAll } from 'vitest'

afterAll(async () => {
  await reset()
  await abortAllDurableObjects()
})
