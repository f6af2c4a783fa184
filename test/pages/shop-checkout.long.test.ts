/** A sale whose money the shop takes, in a real browser: the buyer goes to the shop's own checkout and comes back. */
import { decodeJwt } from 'jose'
import type { BrowserContextOptions, Page } from 'playwright-core'
import postgres from 'postgres'
import { Webhook } from 'standardwebhooks'
import { afterAll, beforeAll, describe } from 'vitest'
import { TokenVerifier } from '../../client/src/tokens.ts'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { button, heading, link, storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { PAYMENT_SECRET } from '../lib/payment-server.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'
import { hasBrowser } from '../run/shared-part.ts'

let system: System
let shop: Loopback
let sales = 0

/** The shop's checkout, as its developer would write it: shows what it was handed, takes the money, and says so. */
function serveShop(): Promise<Loopback> {
  return serveOnLoopback(async (request, response) => {
    const token = new URL(request.url ?? '', 'http://shop').searchParams.get('order') ?? ''
    const { sale } = decodeJwt(token)
    const hold = await new TokenVerifier(system.edgeUrl).hold(token, String(sale))
    const { sub, total_minor: amount_minor, currency } = hold
    const page = (text: string) =>
      response
        .writeHead(200, { 'content-type': 'text/html' })
        .end(`<!doctype html><h1>${text}</h1><form method="post"><button>Pay at the shop</button></form>`)
    if (request.method !== 'POST') return page(`Pay ${amount_minor} ${currency}`)
    const body = JSON.stringify({ reference: `pay of ${sub}`, amount_minor, currency })
    const at = new Date()
    const headers = {
      'content-type': 'application/json',
      'webhook-id': `confirm-${sub}`,
      'webhook-timestamp': `${Math.floor(at.getTime() / 1000)}`,
      'webhook-signature': new Webhook(PAYMENT_SECRET).sign(`confirm-${sub}`, at, body),
    }
    const answer = await fetch(`${system.originUrl}/orders/${sub}/confirm`, { method: 'POST', headers, body })
    if (answer.status !== 200) return page('You get your money back')
    response.writeHead(303, { location: `${system.edgeUrl}/sales/${sale}/order/${sub}` }).end()
  })
}

const test = storyTest().extend<{
  /** Opens the order of a buyer who has just reserved. */
  reserved(options?: BrowserContextOptions): Promise<Page>
}>({
  reserved: ({ visitorWithTurn }, use) =>
    use(async (options) => {
      const sale = `at-shop-${++sales}`
      const delivery = { ...saleOf(0).delivery, return_url: `${shop.url}/checkout` }
      const admission = { rate_per_second: 50, max_inside: null }
      await createSale(system, sale, saleOf(5, { payment: 'handover', delivery, hold_seconds: 600, admission }))
      const page = await visitorWithTurn(`${system.edgeUrl}/sales/${sale}`, options)
      await button(page, 'Reserve').click()
      return page
    }),
})

describe.skipIf(!hasBrowser)('a sale that the shop takes the money of', { concurrent: true }, () => {
  beforeAll(async () => {
    shop = await serveShop()
    const { url: databaseUrl } = await ledgerDatabase()
    system = await startSystem({ databaseUrl, originEnv: { LOG_LEVEL: 'warn', PAYMENT_SECRET } })
  })
  afterAll(async () => {
    await system?.stop()
    shop?.stop()
  })

  test('sends its buyer there at once, and has the order confirmed when they are back', async ({ reserved }) => {
    const page = await reserved()
    await heading(page, 'Pay 1000 EUR').waitFor()
    await button(page, 'Pay at the shop').click()
    await page.waitForURL(`${system.edgeUrl}/**`)
    await heading(page, 'It is yours').waitFor()
  })

  test('works without a script: the order leads there', async ({ reserved }) => {
    const page = await reserved({ javaScriptEnabled: false })
    await link(page, /^Pay/).click()
    await button(page, 'Pay at the shop').click()
    await heading(page, 'It is yours').waitFor()
  })

  test('gives the money back at the shop if the hold has ended', async ({ reserved }) => {
    const page = await reserved()
    await heading(page, 'Pay 1000 EUR').waitFor()
    const order = JSON.parse(atob(new URL(page.url()).searchParams.get('order')?.split('.')[1] ?? '')).sub
    const sql = postgres(system.databaseUrl, { max: 1 })
    await sql`update orders set reserved_until = now() where order_id = ${order}`
    await sql.end()
    await button(page, 'Pay at the shop').click()
    await heading(page, 'You get your money back').waitFor()
  })
})
