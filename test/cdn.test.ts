/** What a cache before the edge saves, gives back after a restock, and keeps to itself. */
import { describe, expect, test } from 'vitest'
import { HttpClient, requestText } from '../bench/lib/http.ts'
import { findOnPath } from '../dev/servers/install.ts'
import { ENGLISH, FORMS, useCachedSale } from './lib/cached-sale.ts'
import { admin } from './lib/operator.ts'
import { visitorsOf } from './lib/visitor.ts'

const SALE = 'gone'
const CROWD = 500
const CONNECTIONS = 16
describe.skipIf(!findOnPath('varnishd'))('behind a cache', () => {
  const { system, page, counts } = useCachedSale(SALE, 0)

  test('500 requests of a sold-out page reach no Worker', async () => {
    await expect.poll(async () => (await visitorsOf(system().edgeUrl, SALE).schedule()).phase).toBe('sold_out')
    const client = new HttpClient({ url: system().edgeUrl, connections: CONNECTIONS })
    const ask = (visitor: number) => {
      const headers = [...(FORMS[visitor % FORMS.length] ?? []), `cookie: queue-${SALE}=${visitor}`]
      return client.request(requestText('GET', `/sales/${SALE}`, client.host, headers))
    }
    const crowd = async () => {
      for (const form of FORMS.keys()) await ask(form)
      const before = await counts()
      const answers = await Promise.all(Array.from({ length: CROWD }, (_, visitor) => ask(visitor)))
      const { requests, toEdge } = await counts()
      expect(answers.filter(({ status }) => status !== 200)).toEqual([])
      expect(new Set(answers.map(({ body }) => body)).size).toBe(FORMS.length)
      return [requests - before.requests, toEdge - before.toEdge]
    }
    // Two purges follow the end of a sale, one of them late, so content that was stored in between is fetched once
    // more.
    await expect.poll(crowd).toEqual([CROWD, 0])
    client.close()
  })

  test('a restock is seen', async () => {
    expect(await page(ENGLISH)).toContain('id="final"')
    await admin(system(), 'POST', `/sales/${SALE}/products/poster/restock`, { quantity: 5 })
    await expect.poll(() => page(ENGLISH)).toContain('id="landing"')
  })

  test('a page asked for by another host is sent to nobody else, and nobody else takes pages back', async () => {
    const purged = await fetch(system().edgeUrl, { method: 'PURGE', headers: { 'cache-tag': `sale-${SALE}` } })
    expect(purged.status).toBe(403)
    const client = new HttpClient({ url: system().edgeUrl, connections: 1 })
    const foreign = await client.request(requestText('GET', `/sales/${SALE}?poison`, 'evil.test', ENGLISH))
    client.close()
    expect(foreign.body).toContain('evil.test')
    const others = await page(ENGLISH, '?poison')
    expect(others).toContain(`${new URL(system().edgeUrl).host}/sales/${SALE}`)
    expect(others).not.toContain('evil.test')
  })
})
