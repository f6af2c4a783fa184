/**
 * A browser before a shop whose server runs Queue-it's own connector: it waits at the edge, returns to the page that
 * it wanted, and after its order has given up the place. Connectors know rooms at https alone, so this shop leads to
 * http instead.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { ShopVisitor, settingOf } from '../../edge/queue-it/connector-shop.ts'
import { button, heading, storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'
import { hasBrowser } from '../run/shared-part.ts'

const test = storyTest()

describe.skipIf(!hasBrowser)('before a shop with a connector of Queue-it', () => {
  let shop: Loopback
  let system: System

  async function serve({ url: path = '/', headers }: IncomingMessage, response: ServerResponse): Promise<void> {
    if (path === '/favicon.ico') return void response.writeHead(204).end()
    const visitor = new ShopVisitor('drop', { domain: new URL(system.edgeUrl).host })
    for (const pair of headers.cookie?.split('; ') ?? []) {
      const [name = '', value = ''] = pair.split('=')
      visitor.cookies.set(name, decodeURIComponent(value))
    }
    const known = [...visitor.cookies.keys()]
    const isOrder = path.startsWith('/thanks')
    const url = shop.url + path
    const result = isOrder ? visitor.cancel(url) : await visitor.open(url)
    const stored = [...visitor.cookies].map(([name, value]) => `${name}=${encodeURIComponent(value)}; Path=/; HttpOnly`)
    const deleted = known.filter((name) => !visitor.cookies.has(name)).map((name) => `${name}=; Path=/; Max-Age=0`)
    response.setHeader(
      'set-cookie',
      [...stored, ...deleted].filter((cookie) => cookie.startsWith('QueueIT')),
    )
    if (result.doRedirect()) response.writeHead(302, { location: result.redirectUrl.replace('https:', 'http:') }).end()
    else
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><h1>${isOrder ? 'Thank you' : 'In the shop'}</h1><a href="/thanks">Buy</a>`)
  }

  beforeAll(async () => {
    shop = await serveOnLoopback((request, response) => void serve(request, response))
    const { url: databaseUrl } = await ledgerDatabase()
    const edgeVars = { QUEUE_IT: settingOf('drop', { hosts: [new URL(shop.url).host] }) }
    system = await startSystem({ databaseUrl, originEnv: { LOG_LEVEL: 'warn' }, edgeVars })
    const admission = { rate_per_second: 1_000, max_inside: null }
    await createSale(system, 'drop', saleOf(1, { admission, products: [] }))
  })
  afterAll(async () => {
    await system?.stop()
    shop?.stop()
  })

  async function buys(page: Page): Promise<void> {
    await page.goto(`${shop.url}/checkout?size=4`)
    await button(page, 'Join the line').click()
    await heading(page, 'In the shop').waitFor()
  }

  test('a visitor waits, returns, buys, and then begins anew', async ({ newPage, expect }) => {
    const page = await newPage()
    await buys(page)
    expect(page.url()).toMatch(/\/checkout\?size=4&queueittoken=e_drop~q_/)
    // The cookie of the connector is enough now.
    await page.goto(`${shop.url}/checkout`)
    await heading(page, 'In the shop').waitFor()
    await page.getByRole('link', { name: 'Buy' }).click()
    await heading(page, 'Thank you').waitFor()
    expect(page.url()).toBe(`${shop.url}/thanks`)
    await page.goto(`${shop.url}/checkout`)
    await button(page, 'Join the line').waitFor()
  })

  test('a browser without a script does the same by its form', async ({ newPage }) => {
    await buys(await newPage({ javaScriptEnabled: false }))
  })
})
