/** The example shop (examples/next-shop) as its developers install it, before a whole system, in a real browser. */
import { cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { execa } from 'execa'
import postgres from 'postgres'
import { afterAll, beforeAll, describe, expect } from 'vitest'
import { freePort, LOOPBACK, Server, temporaryFolder } from '../../dev/lib/processes.ts'
import { type System, startSystem } from '../../dev/system.ts'
import { button, goTo, heading, link, storyTest } from '../lib/in-browser.ts'
import { admin } from '../lib/operator.ts'
import { createSale } from '../lib/origin-process.ts'
import { PAYMENT_SECRET } from '../lib/payment-server.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'
import { TEST_WITHIN_MS } from '../run/patience.ts'
import { hasBrowser } from '../run/shared-part.ts'

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const INSTALL_WITHIN_MS = 10 * TEST_WITHIN_MS
const SALES = ['lamp', 'chair']
const folder = temporaryFolder('next-shop')
const cwd = join(folder.path, 'examples/next-shop')
const env = { NEXT_TELEMETRY_DISABLED: '1', NODE_ENV: 'production', DATABASE: join(folder.path, 'shop.db') }

/** Installs the shop with the client as it is packed, checks its types and builds it. */
async function build(): Promise<void> {
  mkdirSync(join(folder.path, 'client'))
  await execa('npm', ['pack', '--pack-destination', folder.path], { cwd: join(ROOT, 'client') })
  await execa('sh', ['-c', 'tar -xzf flash-sale-client-*.tgz --strip-components 1 -C client'], { cwd: folder.path })
  const own = (path: string) => !/\/(node_modules|\.next|shop\.db.*)$/.test(path)
  cpSync(join(ROOT, 'examples/next-shop'), cwd, { recursive: true, filter: own })
  await execa('npm', ['ci', '--include=dev', '--no-audit', '--no-fund'], { cwd, env })
  await execa('npm', ['run', 'check'], { cwd, env })
  await execa('npm', ['run', 'build'], { cwd, env })
}

/** The built shop. Its settings are known once there is a system, which needs its address. */
function shopServer(port: number, settings: () => Readonly<Record<string, string>>): Server {
  const url = `http://${LOOPBACK}:${port}`
  return new Server({
    url,
    port,
    process: () => ({
      name: 'the shop',
      command: process.execPath,
      args: ['node_modules/next/dist/bin/next', 'start', '--hostname', LOOPBACK, '--port', String(port)],
      cwd,
      logFile: join(folder.path, 'shop.log'),
      env: { PATH: process.env.PATH, ...env, ...settings() },
    }),
    probe: async () => (await fetch(url)).ok,
    remove: () => folder.remove(),
  })
}

// The browser asks for an icon, which the shop has none of.
const test = storyTest(/404/)
let system: System
let shop: Server

describe.skipIf(!hasBrowser)('the example shop', () => {
  beforeAll(async () => {
    await build()
    const port = await freePort()
    let settings = {}
    shop = shopServer(port, () => settings)
    const { url: databaseUrl } = await ledgerDatabase()
    system = await startSystem({
      databaseUrl,
      originEnv: { LOG_LEVEL: 'warn', PAYMENT_SECRET },
      edgeVars: { CORS_ORIGINS: shop.url },
    })
    for (const sale of SALES) {
      const delivery = { ...saleOf(0).delivery, return_url: `${shop.url}/checkout/${sale}` }
      const admission = { rate_per_second: 50, max_inside: null }
      await createSale(system, sale, saleOf(5, { name: sale, payment: 'handover', delivery, admission }))
    }
    const hook = { url: `${shop.url}/webhooks`, events: ['order.confirmed', 'order.cancelled'] }
    const { secret } = await admin<{ secret: string }>(system, 'POST', '/webhooks', hook)
    settings = {
      EDGE_URL: system.edgeUrl,
      ORIGIN_URL: system.originUrl,
      OPERATOR_KEY: system.adminToken,
      SALES: SALES.join(' '),
      PAYMENT_SECRET,
      WEBHOOK_SECRET: secret,
    }
    await shop.start()
  }, INSTALL_WITHIN_MS)
  afterAll(async () => {
    await shop?.stop()
    await system?.stop()
  })

  test('leads from its catalogue through the line to its checkout, and sends what was paid', async ({ newPage }) => {
    const page = await newPage()
    await page.goto(shop.url)
    // The page's own script reads what is left from the edge, which is another origin.
    await page.getByText('One, €10.00, 5 left').first().waitFor()
    await link(page, 'Buy lamp').click()
    await page.locator('#connection[data-state]').waitFor({ state: 'attached' })
    await button(page, 'Join the line').click()
    await heading(page, 'It is your turn').waitFor()
    await button(page, 'Reserve').click()
    await heading(page, 'Pay €10.00').waitFor()
    expect(page.url()).toContain(`${shop.url}/checkout/lamp?order=`)
    await button(page, 'Pay now').click()
    await heading(page, 'On its way').waitFor()
    const order = new URL(page.url()).pathname.split('/').at(-1)
    expect(await admin(system, 'GET', `/orders/${order}`)).toMatchObject({ status: 'fulfilled', total_minor: 1000 })
    await link(page, 'Your order in the sale').click()
    await page.waitForURL(`${system.edgeUrl}/sales/lamp/order/${order}`)
    await heading(page, 'On its way').waitFor()
  })

  test('gives the money back if the hold ended while its buyer paid', async ({ newPage }) => {
    const page = await newPage()
    await goTo(page, `${system.edgeUrl}/sales/chair`)
    await button(page, 'Join the line').click()
    await button(page, 'Reserve').click()
    await heading(page, 'Pay €10.00').waitFor()
    const sql = postgres(system.databaseUrl, { max: 1 })
    await sql`update orders set reserved_until = now() where sale_id = 'chair'`
    await sql.end()
    await button(page, 'Pay now').click()
    await heading(page, 'You get your money back').waitFor()
  })

  test('shows no checkout without a hold, and hears no webhook that is not signed', async () => {
    const checkout = await fetch(`${shop.url}/checkout/lamp?order=eyJhbGciOiJub25lIn0.e30.`, { redirect: 'manual' })
    expect(checkout.headers.get('location')).toBe(`${system.edgeUrl}/sales/lamp`)
    const body = JSON.stringify({ type: 'order.confirmed', data: { order_id: '1' } })
    expect((await fetch(`${shop.url}/webhooks`, { method: 'POST', body })).status).toBe(400)
  })
})
