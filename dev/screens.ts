/**
 * The command `npm run screens` takes a picture of every page in every state, and of the console with a running sale,
 * on a phone and on a large screen, in both looks. It starts the console's system and stops it.
 */
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Browser, Page } from 'playwright-core'
import { LANGUAGES, type Language } from '../shared/api/fields.ts'
import { optionsOf, ProgressLines, paint, run, terminal, UsageError, writableFolder } from './lib/command.ts'
import { LocalError } from './lib/leftovers.ts'
import { builtPages, SHOW_MAP, servePages } from './previews.ts'
import { launchChromium } from './servers/chromium.ts'
import { type System, startSystem } from './system.ts'

const HELP = `Takes a picture of every page in every state: on a phone and on a desk, in both looks.

  npm run screens -- [options]

  --to FOLDER      (screens)
  --lang LANGUAGE  of visitors' pages: ${LANGUAGES.join(', ')} (en)
  --only NAME      pages whose name begins so, such as turn or console
  --help           this text`

const WIDTHS = { phone: { width: 390, height: 844 }, desk: { width: 1280, height: 800 } } as const
const LOOKS = ['light', 'dark'] as const
/** The console's charts have something to show after this time. */
const SETTLES_MS = 2_500
const BUYERS = 8
const TURN_WITHIN_MS = 20_000
const CONSOLE = {
  sales: '',
  sale: '/sales/friday',
  edit: '/sales/friday/edit',
  preview: '/sales/friday/preview',
  feed: '/sales/friday/feed',
  scheduled: '/sales/friday/scheduled',
  access: '/sales/friday/access',
  invitations: '/sales/friday/invitations',
  report: '/sales/friday/report',
  orders: '/orders?q=',
  queues: '/queues',
  search: '/search',
  webhooks: '/webhooks',
  audit: '/audit',
  operators: '/operators',
} as const

let browser: Browser | undefined

async function main(): Promise<number> {
  const { to = 'screens', lang = 'en', only = '' } = optionsOf('run screens', { texts: 'to lang only' })
  const language = LANGUAGES.find((one) => one === lang)
  if (!language) throw new UsageError(`--lang needs one of ${LANGUAGES.join(', ')}, not "${lang}".`)
  writableFolder(to)
  browser = await launchChromium()
  const isWanted = (name: string) => name.startsWith(only)
  const pages = await takePages(browser, to, language, isWanted)
  const shown = Object.entries(CONSOLE).filter(([name]) => isWanted(`console-${name}`))
  if (shown.length > 0) await takeConsole(browser, to, shown)
  const many = (pages + shown.length) * Object.keys(WIDTHS).length * LOOKS.length
  console.log(paint('green', `${many} pictures in ${to}`))
  return 0
}

/** Takes the visitors' pages in the state before their script has read a schedule. Returns their number. */
async function takePages(on: Browser, to: string, lang: Language, isWanted: (name: string) => boolean) {
  const { samples, assets } = await builtPages()
  const pages = samples({ lang, nowMs: Date.now() }).filter(({ name }) => isWanted(name))
  const page = await on.newPage()
  const server = await servePages(assets)
  for (const [i, { name, html }] of pages.entries()) {
    await page.goto(server.put(`/${name}`, html))
    await page.evaluate(SHOW_MAP)
    await take(page, to, name)
    if (terminal) process.stdout.write(`\r${i + 1} of ${pages.length} pages`)
  }
  if (terminal && pages.length > 0) process.stdout.write('\n')
  await page.close()
  server.stop()
  return pages.length
}

async function takeConsole(on: Browser, to: string, shown: readonly (readonly [string, string])[]): Promise<void> {
  const progress = new ProgressLines()
  const system = await startSystem({ progress }).finally(() => progress.done())
  const name = 'Friday drop'
  const products = [{ product_id: 'cap', name: 'Cap', unit_price_minor: 2_500, currency: 'EUR', total: 40 }]
  const opens_at = new Date(Date.now() - 1_000).toISOString()
  const sale = { name, opens_at, products, admission: { rate_per_second: 10 } }
  await call(`${system.originUrl}/admin/sales/friday`, 'PUT', system.adminToken, sale)
  for (let i = 0; i < BUYERS; i++) await buy(system)
  const page = await on.newPage({ baseURL: system.originUrl })
  await page.goto('/console')
  await page.fill('input[name=key]', system.adminToken)
  await page.click('button[type=submit]')
  await page.waitForSelector('nav')
  for (const [name, path] of shown) {
    await page.goto(`/console${path}`)
    await page.waitForTimeout(SETTLES_MS)
    await take(page, to, `console-${name}`)
  }
  await page.close()
  await system.stop()
}

/** Takes a page in both widths and both looks. */
async function take(page: Page, to: string, name: string): Promise<void> {
  for (const [width, size] of Object.entries(WIDTHS))
    for (const look of LOOKS) {
      await page.setViewportSize(size)
      await page.emulateMedia({ colorScheme: look, reducedMotion: 'reduce' })
      await page.screenshot({ path: join(to, `${name}-${width}-${look}.png`), fullPage: true })
    }
}

/** A visitor joins, waits and buys, so that the console shows a purchase. */
async function buy({ edgeUrl }: System): Promise<void> {
  const ask = (method: string, path: string, token?: string, body?: object) =>
    call(`${edgeUrl}/sales/friday${path}`, method, token, body)
  const { queue_token } = await ask('POST', '/queue')
  for (const untilMs = Date.now() + TURN_WITHIN_MS; Date.now() < untilMs; await sleep(200)) {
    const { admission_token } = await ask('GET', '/queue/status', queue_token)
    if (!admission_token) continue
    await ask('POST', '/checkout', admission_token, { payment_method: 'pm_ok' })
    return
  }
  throw new LocalError('Nobody was called in the sale that the console should show.')
}

async function call(url: string, method: string, token?: string, body?: object): Promise<Record<string, string>> {
  const response = await fetch(url, {
    method,
    headers: {
      ...(token !== undefined && { authorization: `Bearer ${token}` }),
      ...(body && { 'content-type': 'application/json' }),
      'idempotency-key': crypto.randomUUID(),
    },
    ...(body && { body: JSON.stringify(body) }),
  })
  if (!response.ok) throw new LocalError(`${method} ${url}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Record<string, string>
}

await run(HELP, 'No pictures could be taken.', main, async () => browser?.close())
