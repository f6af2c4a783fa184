/**
 * Waiting visitors read the schedule from a CDN, which reads it from the origin. No Worker serves them, and the edge
 * does so while the CDN fails.
 */
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import type { Schedule } from '../shared/schedule.ts'
import { button, hasText, storyTest } from './lib/in-browser.ts'
import { admin } from './lib/operator.ts'
import { createSale } from './lib/origin-process.ts'
import { saleOf } from './lib/samples.ts'
import { ledgerDatabase } from './lib/servers.ts'
import { hasBrowser } from './run/shared-part.ts'
import { startScheduleCdn } from './stand-ins/schedule-cdn.ts'

const SALE = 'pulled'
const PATH = `/sales/${SALE}/schedule`
/** The event that the browser fires when the visitor returns to the page, which then reads at once. */
const RETURNING = `document.dispatchEvent(new Event('visibilitychange'))`

const test = storyTest(/Failed to load resource|blocked by CORS policy/)

describe.skipIf(!hasBrowser)('a schedule on a CDN', () => {
  let cdn: Awaited<ReturnType<typeof startScheduleCdn>>
  let system: System

  beforeAll(async () => {
    const [database, started] = await Promise.all([ledgerDatabase(), startScheduleCdn()])
    cdn = started
    system = await startSystem({ databaseUrl: database.url, edgeVars: { SCHEDULE_URL: cdn.url } })
    cdn.pullsFrom(system.originUrl)
    const lines = ['members', 'public'].map((line) => ({ line, weight: 1, opens_early_seconds: 0, access: null }))
    await createSale(system, SALE, saleOf(5, { lines, admission: { rate_per_second: 0.01, max_inside: null } }))
  })
  afterAll(async () => {
    await system?.stop()
    cdn?.stop()
  })

  const announce = (text: string) =>
    admin(system, 'PUT', `/sales/${SALE}/announcement`, { level: 'info', text: { en: text } })

  /** A page in the queue, with its reads of the schedule at the edge. */
  async function pageInLine(visitor: (url: string) => Promise<Page>) {
    const page = await visitor(`${system.edgeUrl}/sales/${SALE}`)
    const atEdge: string[] = []
    page.on('request', (request) => {
      if (request.url().startsWith(system.edgeUrl + PATH)) atEdge.push(request.url())
    })
    await button(page, 'Join the line').first().click()
    await page.locator('#line').waitFor()
    return { page, atEdge }
  }

  test('is the edge’s, for anyone, for a second, and costs the edge five reads a second at most', async ({
    expect,
  }) => {
    const [own, pulled] = await Promise.all([scheduleAt(system.edgeUrl), fetch(system.originUrl + PATH)])
    expect(Object.fromEntries(pulled.headers)).toMatchObject({
      'content-type': 'application/json',
      'cache-control': 'public, max-age=1',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': 'age',
      etag: expect.stringMatching(/^W\/"/),
    })
    expect(await pulled.json()).toEqual({ ...own, server_time_ms: expect.any(Number) })
    const many = await Promise.all(Array.from({ length: 50 }, () => fetch(system.originUrl + PATH)))
    const times = await Promise.all(many.map(async (one) => ((await one.json()) as Schedule).server_time_ms))
    expect(new Set(times).size).toBeLessThanOrEqual(1 + (Math.max(...times) - Math.min(...times)) / 100)
    expect(await scheduleAt(system.originUrl, '?line=members')).toMatchObject({ sale: SALE, line: 'members' })
    for (const path of [`${PATH}?line=none`, '/sales/none/schedule', `${PATH}/more`])
      expect((await fetch(system.originUrl + path)).status).toBeGreaterThanOrEqual(403)
    expect((await fetch(`${system.edgeUrl}/internal${PATH}`)).status).toBe(401)
  })

  test('is read there by the page, without a token, and never at the edge', async ({ visitor, expect }) => {
    const { page, atEdge } = await pageInLine(visitor)
    const before = cdn.requests.length
    await announce('Doors are open.')
    await expect.poll(() => page.evaluate(`${RETURNING}, document.body.innerText`)).toContain('Doors are open.')
    expect(atEdge).toEqual([])
    expect(cdn.requests.length).toBeGreaterThan(before)
    for (const { url, headers } of cdn.requests) {
      expect(url).toMatch(PATH)
      for (const secret of ['cookie', 'authorization', 'referer']) expect(headers).not.toHaveProperty(secret)
    }
    const policy = (await fetch(`${system.edgeUrl}/sales/${SALE}`)).headers.get('content-security-policy')
    expect(policy).toContain(`connect-src 'self' ${cdn.url};`)
  })

  // The tests of other failures are in edge/client/schedule-reader.test.ts.
  test('is read at the edge by a page whose CDN fails', async ({ visitor, expect }) => {
    const { page, atEdge } = await pageInLine(visitor)
    cdn.fail()
    await announce('The CDN is away.')
    await page.evaluate(RETURNING)
    await hasText(page.locator('#shop-announcement'), 'The CDN is away.')
    expect(atEdge.length).toBeGreaterThan(0)
  })
})

async function scheduleAt(url: string, query = ''): Promise<Schedule> {
  const response = await fetch(url + PATH + query)
  if (!response.ok) throw new Error(`${response.status}`)
  return response.json() as Promise<Schedule>
}
