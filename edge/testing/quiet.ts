/** After a file's tests nothing may go on: an alarm that rings while the run ends would look for its code in vain. */
import { abortAllDurableObjects, reset } from 'cloudflare:test'
import { afterAll } from 'vitest'

afterAll(async () => {
  await reset()
  await abortAllDurableObjects()
})
