/** What a cache keeps, for how long and for whom, and what a crowd costs behind it. */
import { setTimeout as sleep } from 'node:timers/promises'
import { describe, expect, test } from 'vitest'
import { findOnPath } from '../dev/servers/install.ts'
import { ENGLISH, FORMS, useCachedSale } from './lib/cached-sale.ts'

const SALE = 'busy'
describe.skipIf(!findOnPath('varnishd'))('behind a cache', () => {
  const { at, page, counts } = useCachedSale(SALE, 5)

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
