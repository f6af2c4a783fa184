/** The stores of an explorer in a test file, on the Postgres of the run. */
import { afterAll } from 'vitest'
import { sharedPart } from '../../run/shared-part.ts'
import { openStores, type Stores } from './stores.ts'

/** While one order of events waits for a store, another one goes on. */
const WIDTH = 3

export async function useStores(width = WIDTH): Promise<readonly Stores[]> {
  const stores = await openStores(await sharedPart('postgres'), width)
  afterAll(async () => {
    for (const one of stores) await one.stop()
  })
  return stores
}
