/** A sale of one poster behind a real HTTP cache, with a system of its own. */
import { afterAll, beforeAll } from 'vitest'
import type { CdnCounts } from '../../dev/servers/cdn.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { admin } from './operator.ts'
import { ledgerDatabase } from './servers.ts'

export const ENGLISH = ['accept: text/html', 'accept-language: en']
/** The forms of a page, which a cache keeps apart. */
export const FORMS = [ENGLISH, ['accept: text/html', 'accept-language: de'], ['accept: application/json']]

export function useCachedSale(sale: string, total: number) {
  let system: System
  beforeAll(async () => {
    const database = await ledgerDatabase()
    system = await startSystem({ databaseUrl: database.url, cdn: true })
    await admin(system, 'PUT', `/sales/${sale}`, {
      name: 'Poster',
      opens_at: new Date().toISOString(),
      products: [{ product_id: 'poster', name: 'Poster', unit_price_minor: 2500, currency: 'EUR', total }],
      admission: { rate_per_second: 10 },
    })
  })
  afterAll(() => system?.stop())
  const at = (path: string) => `${system.edgeUrl}/sales/${sale}${path}`
  return {
    system: () => system,
    at,
    async page(headers: readonly string[], path = ''): Promise<string> {
      const response = await fetch(at(path), { headers: headers.map((line) => line.split(': ') as [string, string]) })
      return response.text()
    },
    /** The requests that reached the cache, and those that reached the edge. */
    async counts(): Promise<CdnCounts> {
      if (!system.cdn) throw new Error('The system has no cache.')
      return system.cdn.counts()
    },
  }
}
