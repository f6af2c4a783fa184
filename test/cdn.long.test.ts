/** What a cache keeps, for how long and for whom, and what a crowd costs behind it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findOnPath } from '../dev/servers/install.ts'
import { type System, startSystem } from '../dev/system.ts'
import { admin } from './lib/operator.ts'
import { ledgerDatabase } from './lib/servers.ts'

const SALE = 'busy'
const ENGLISH = ['accept: text/html', 'accept-language: en']
const FORMS = [ENGLISH, ['accept: text/html', 'accept-language: de'], ['accept: application/json']]

let system: System

describe.skipIf(!findOnPath('varnishd'))('behind a cache', () => {
  beforeAll(async () => {
    const database = await ledgerDatabase()
    system = await startSystem({ databaseUrl: database.url, cdn: true })
    await admin(system, 'PUT', `/sales/${SALE}`, {
      name: 'Busy',
      opens_at: new Date().toISOString(),
      products: [{ product_id: 'poster', name: 'Poster', unit_price_minor: 2500, currency: 'EUR', total: 5 }],
      admission: { rate_per_second: 10 },
    })
  })
  afterAll(() => system?.stop())

  test('a schedule is at most a second old, also for the only one who reads it', async () => {
    const read = async () => {
      const response = await fetch(at('/schedule'))
      expect(response.status).toBe(200)
      return Number(response.headers.get('age'))
    }
    await read()
    // The test waits by the cache's own clock. If the copy were served once too often, it would be two seconds old.
    await sleep(2_050)
    expect(await read()).toBeLessThanOrEqual(1)
  })

  test('a thousand visitors who open the page cost a request or two a second for each form, and then see their own', async () => {
    for (const form of FORMS) await page(form)
    const [began, before] = [performance.now(), await counts()]
    for (let i = 0; i < 10; i++)
      await Promise.all(Array.from({ length: 100 }, (_, n) => page([...(FORMS[n % 2] ?? []), `cookie: visitor=${n}`])))
    const seconds = (performance.now() - began) / 1000
    expect((await counts()).toEdge - before.toEdge).toBeLessThanOrEqual(4 * (1 + Math.floor(seconds)))

    const numbers: (string | undefined)[] = []
    for (let i = 0; i < 2; i++) {
      const joined = await fetch(at('/queue'), { method: 'POST', headers: { accept: 'text/html' }, redirect: 'manual' })
      expect(joined.headers.get('location')).toBe(`/sales/${SALE}/line?joined`)
      const cookie = joined.headers.getSetCookie().map((line) => line.split(';', 1)[0])
      const own = await fetch(at('/line'), { headers: { accept: 'text/html', cookie: cookie.join('; ') } })
      numbers.push(/data-number="(\d+)"/.exec(await own.text())?.[1])
    }
    expect(numbers[0]).toMatch(/^\d+$/)
    expect(new Set(numbers).size).toBe(2)
    expect(await page(ENGLISH)).not.toContain('data-number')
  })
})

const at = (path: string) => `${system.edgeUrl}/sales/${SALE}${path}`

async function page(headers: readonly string[], path = ''): Promise<string> {
  const response = await fetch(at(path), { headers: headers.map((line) => line.split(': ') as [string, string]) })
  return response.text()
}

async function counts() {
  if (!system.cdn) throw new Error('The system has no cache.')
  return system.cdn.counts()
}
