/** A whole sale in a real browser: with the page's script, without any, in two tabs, and through a lost connection. */
import { existsSync } from 'node:fs'
import type { Browser, BrowserContext, BrowserContextOptions, Locator, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import { commitmentOf } from '../shared/draw.ts'
import { installChromium, launchChromium } from './chromium.ts'

const executablePath = await installChromium()
/** Slow enough that nobody's turn comes during a test. */
const STANDING = { admission: { rate_per_second: 0.05 } }
const WITHIN = { timeout: 15_000 }
const PRODUCT = { unit_price_minor: 100, currency: 'EUR' }
const FEW_AND_MANY = {
  limit_per_visitor: 5,
  products: [
    { ...PRODUCT, product_id: 'few', name: 'Few', total: 2 },
    { ...PRODUCT, product_id: 'many', name: 'Many', total: 20 },
  ],
}

describe.skipIf(!existsSync(executablePath))('in a browser', () => {
  let system: System
  let browser: Browser
  const complaints: string[] = []

  beforeAll(async () => {
    system = await startSystem({ originEnv: { LOG_LEVEL: 'warn' } })
    browser = await launchChromium(executablePath)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await system?.stop()
  }, 60_000)

  async function admin(method: string, path: string, body?: unknown): Promise<void> {
    const response = await fetch(`${system.originUrl}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}`)
    await response.body?.cancel()
  }

  async function sale(name: string, opensInMs: number, changes: object = {}): Promise<string> {
    await admin('PUT', `/sales/${name}`, {
      name: 'Trainers "<b>Ünï</b>" 👟',
      opens_at: new Date(Date.now() + opensInMs).toISOString(),
      products: [
        { product_id: 'one', name: 'Dusk & Dawn', unit_price_minor: 12_900, currency: 'EUR', total: 50 },
      ],
      admission: { rate_per_second: 50 },
      ...changes,
    })
    return `${system.edgeUrl}/sales/${name}`
  }

  /** Someone with a browser of their own, on a narrow phone. */
  async function visitor(
    options: BrowserContextOptions = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ viewport: { width: 360, height: 780 }, ...options })
    context.on('page', (page) => {
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    })
    return { context, page: await context.newPage() }
  }

  const heading = (page: Page, name: string | RegExp) => page.getByRole('heading', { level: 1, name })
  const button = (page: Page, name: string | RegExp) => page.getByRole('button', { name })
  const comeToTurn = async (page: Page, url: string) => {
    await page.goto(url)
    await button(page, 'Join the line').click()
    await heading(page, 'It is your turn').waitFor(WITHIN)
  }
  const numberOf = (page: Page) => page.locator('#stage').getAttribute('data-number')
  const hasText = (locator: Locator, text: string | RegExp) =>
    locator.filter({ hasText: text }).waitFor(WITHIN)

  test('a visitor joins the lobby, gets the turn on the same page, pays and is told so', async () => {
    const url = await sale('whole', 4_000)
    const { context, page } = await visitor()
    await page.goto(url)
    expect(await page.locator('h1').textContent()).toBe('Trainers "<b>Ünï</b>" 👟')
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    const asked: string[] = []
    page.on('request', (request) => asked.push(new URL(request.url()).pathname))
    await heading(page, 'It is your turn').waitFor({ timeout: 20_000 })
    // Coming to the Worker once for the admission and once for the page; all else is the public document.
    expect(asked.filter((path) => !path.endsWith('/schedule'))).toEqual([
      '/sales/whole/queue/status',
      '/sales/whole',
    ])
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toBe('It is your turn')

    await button(page, 'Reserve').click()
    await heading(page, 'Reserved for you').waitFor()
    const left = () => page.locator('time[role=timer]').textContent()
    const before = await left()
    await expect.poll(left, { timeout: 5_000 }).not.toBe(before)
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor(WITHIN)
    const order = page.url()
    await page.goto(url)
    await page.getByRole('link', { name: 'Show it' }).click()
    expect(page.url()).toBe(order)

    const cookies = await context.cookies()
    expect(cookies.length).toBeGreaterThan(0)
    expect(cookies.every((cookie) => cookie.httpOnly)).toBe(true)
    await context.close()
  })

  test('the page ticks off that the revealed seed is the one committed to', async () => {
    const url = await sale('ticked', 6_000, STANDING)
    const people = await Promise.all([visitor(), visitor()])
    for (const { page } of people) {
      await page.goto(url)
      await button(page, 'Take a place in the lobby').click()
    }
    for (const { page } of people) {
      await page.getByText('Checked on this device').waitFor({ timeout: 20_000 })
      await page.getByText('Opened', { exact: true }).waitFor()
      await hasText(page.locator('#draw-yours'), /^Lot [12] of 2 was drawn to place [12]\.$/)
    }
    const places = await Promise.all(people.map(({ page }) => page.locator('#draw-yours').textContent()))
    expect(new Set(places.map((text) => text?.slice(-2))).size).toBe(2)
    for (const { context } of people) await context.close()
  })

  test('a seed that is not the one committed to is shown for what it is', async () => {
    const url = await sale('swapped', 6_000, STANDING)
    const { context, page } = await visitor()
    await page.goto(url)
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    // Somebody who would rather have another draw changes both, and hopes that nobody kept the old fingerprint.
    await page.route('**/schedule', async (route) => {
      const told = await (await route.fetch()).json()
      const draw_seed = told.draw_seed && 'ab'.repeat(32)
      await route.fulfill({ json: { ...told, draw_seed, draw_commitment: commitmentOf('ab'.repeat(32)) } })
    })
    await page.getByText('This does not fit').waitFor(WITHIN)
    expect(await page.getByText('Checked on this device').isVisible()).toBe(false)
    await context.close()
  })

  test('two tabs are one place: what happens in one, the other shows', async () => {
    const url = await sale('tabs', -1_000, STANDING)
    for (let i = 0; i < 5; i++) await (await fetch(`${url}/queue`, { method: 'POST' })).body?.cancel()
    const { context, page } = await visitor()
    const tab = await context.newPage()
    await Promise.all([page.goto(url), tab.goto(url)])
    await button(page, 'Join the line').click()
    await heading(page, 'You are in line').waitFor()
    await heading(tab, 'You are in line').waitFor(WITHIN)
    expect(await numberOf(tab)).toBe(await numberOf(page))
    expect(await numberOf(page)).toMatch(/^\d+$/)
    await hasText(page.locator('#ahead'), /^[3-5]$/)
    await tab.getByText('Give up my place').click()
    await button(tab, 'Yes, give it up').click()
    await button(page, 'Join the line').waitFor(WITHIN)
    await context.close()
  })

  test('a lost connection and a wrong clock lose nothing', async () => {
    const url = await sale('offline', 60_000, STANDING)
    const { context, page } = await visitor()
    // A visitor whose clock is a day ahead, and jumps an hour back while they wait.
    await context.addInitScript(`{
      const now = Date.now.bind(Date)
      let wrongMs = 86_400_000
      Date.now = () => now() + wrongMs
      globalThis.putBack = () => { wrongMs -= 3_600_000 }
    }`)
    await page.goto(url)
    await button(page, 'Take a place in the lobby').click()
    await hasText(page.locator('#connection'), 'Connected')
    const number = await numberOf(page)
    await page.evaluate('putBack()')
    await context.setOffline(true)
    await hasText(page.locator('#connection'), 'Offline')
    await hasText(page.getByRole('status'), 'you keep it')
    // Nothing can be sent now: the page stays, and says why.
    await page.getByText('Give up my place').click()
    await button(page, 'Yes, give it up').click()
    await expect.poll(() => page.evaluate('document.activeElement?.textContent')).toMatch(/^You are offline/)
    await context.setOffline(false)
    await page.locator('#offline').waitFor({ state: 'hidden' })
    await hasText(page.locator('#connection'), 'Connected')
    expect(await numberOf(page)).toBe(number)
    expect(await page.locator('time[role=timer]').first().textContent()).toMatch(/^(1:00|0:[345]\d)$/)
    await context.close()
  })

  test('without a script a visitor joins, waits, reserves and pays all the same', async () => {
    const url = await sale('plain', 3_000)
    const { context, page } = await visitor({
      javaScriptEnabled: false,
      locale: 'de-DE',
      colorScheme: 'dark',
    })
    await page.goto(url)
    await button(page, 'Platz in der Lobby nehmen').click()
    // From here on the page loads itself again, until there is something to choose.
    await heading(page, 'Du bist dran').waitFor({ timeout: 30_000 })
    await button(page, 'Reservieren').click()
    await heading(page, 'Für dich zurückgelegt').waitFor()
    await button(page, /bezahlen$/).click()
    await heading(page, 'Es gehört dir').waitFor(WITHIN)
    await context.close()
  })

  test('a page is seen before its script has come', async () => {
    const url = await sale('late', -1_000, STANDING)
    const { context, page } = await visitor()
    await page.route('**/*.js', () => {})
    await page.goto(url, { waitUntil: 'commit' })
    const painted = () => page.evaluate(`performance.getEntriesByName('first-paint').length`)
    await expect.poll(painted, WITHIN).toBe(1)
    await context.close()
  })

  test('a page whose script is lost says so after a while, and is live once it is loaded again', async () => {
    const url = await sale('stuck', 60_000, STANDING)
    const { context, page } = await visitor({ reducedMotion: 'reduce' })
    const note = page.getByText('Part of this page has not arrived')
    await page.route('**/*.js', (route) => route.abort())
    await page.goto(url)
    expect(await note.isVisible()).toBe(false)
    await page.evaluate(`document.getAnimations().forEach((animation) => animation.finish())`)
    await note.waitFor()
    await page.unroute('**/*.js')
    await page.getByRole('link', { name: 'Load it again' }).click()
    await hasText(page.locator('#connection'), 'Connected')
    expect(await note.getAttribute('hidden')).toBe('')
    await context.close()
  })

  test('by keyboard alone a visitor can join and leave', async () => {
    const url = await sale('keys', 600_000)
    const { context, page } = await visitor()
    await page.goto(url)
    const press = async (name: string) => {
      for (let i = 0; i < 10; i++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate('document.activeElement?.textContent')) === name)
          return page.keyboard.press('Enter')
      }
      throw new Error(`${name} cannot be reached by keyboard`)
    }
    await press('Take a place in the lobby')
    await heading(page, 'You are in the lobby').waitFor()
    await press('Give up my place')
    await press('Yes, give it up')
    await button(page, 'Take a place in the lobby').waitFor()
    await context.close()
  })

  test('who had the focus in what goes away has it in what comes instead', async () => {
    const url = await sale('focus', -1_000, STANDING)
    await (await fetch(`${url}/queue`, { method: 'POST' })).body?.cancel()
    const { context, page } = await visitor()
    await page.goto(url)
    await button(page, 'Join the line').click()
    await page.getByText('Give up my place').focus()
    await admin('POST', '/sales/focus/end')
    const focused = () =>
      page.evaluate(`
        document.dispatchEvent(new Event('visibilitychange'))
        document.activeElement?.textContent`)
    await expect.poll(focused, { ...WITHIN, interval: 500 }).toBe('The sale has ended')
    await context.close()
  })

  test('who asks for more than is left may choose again, also by loading the page again', async () => {
    const url = await sale('fewer', -1_000, FEW_AND_MANY)
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    await page.getByLabel('Quantity').fill('4')
    await button(page, 'Reserve').click()
    await heading(page, 'Not that many are left').waitFor()
    await page.getByRole('link', { name: 'Choose again' }).waitFor()
    await page.reload()
    await heading(page, 'It is your turn').waitFor()
    await context.close()
  })

  test('the one order that one can have stands in place of the turn, until it is given back', async () => {
    const url = await sale('one-each', -1_000)
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    const tab = await context.newPage()
    await tab.goto(url)
    await heading(tab, 'It is your turn').waitFor()
    await button(page, 'Reserve').click()
    await heading(page, 'Reserved for you').waitFor()
    await heading(tab, 'You have an order here').waitFor(WITHIN)
    expect(await button(tab, 'Reserve').isVisible()).toBe(false)
    expect(await tab.title()).toMatch(/^You have an order here · /)
    await button(page, 'Give it back').click()
    await heading(tab, 'It is your turn').waitFor(WITHIN)
    expect(await tab.getByText('You have an order here').isVisible()).toBe(false)
    await context.close()
  })

  test('whose turn it is sees what others take, and what they give back', async () => {
    const url = await sale('shared', -1_000, FEW_AND_MANY)
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    await page.getByLabel('Many').check()
    const few = page.locator('label').filter({ hasText: 'Few' })
    await hasText(few, 'about 2 left')
    const other = await visitor()
    await comeToTurn(other.page, url)
    await other.page.getByLabel('Quantity').fill('2')
    await button(other.page, 'Reserve').click()
    await hasText(few, 'none left')
    await button(other.page, 'Give it back').click()
    await hasText(few, 'about 2 left')
    expect(await page.getByLabel('Many').isChecked()).toBe(true)
    await Promise.all([context.close(), other.context.close()])
  })

  test('on a small screen a long price leaves the name of what it is for room to be read', async () => {
    const dear = { unit_price_minor: 250_000_000, currency: 'IDR' }
    const products = [{ ...dear, product_id: 'one', name: 'Trainers', total: 20 }]
    const url = await sale('dear', -1_000, { products })
    const { context, page } = await visitor({ viewport: { width: 320, height: 640 } })
    await comeToTurn(page, url)
    const [name, price] = await Promise.all(
      ['Trainers', '2,500,000.00'].map((text) => page.locator('.choice').getByText(text).boundingBox()),
    )
    expect(name?.height).toBeLessThan(30)
    expect((price?.x ?? 0) + (price?.width ?? 0)).toBeLessThan(320)
    await context.close()
  })

  test('at the door one sees and hears what changes, and what is over', async () => {
    const url = await sale('door', -1_000, STANDING)
    const { context, page } = await visitor()
    await page.goto(url)
    await button(page, 'Join the line').waitFor()
    await admin('POST', '/sales/door/pause')
    const soon = () => page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await expect.poll(() => soon().then(() => page.title()), WITHIN).toMatch(/^The line is paused · /)
    await hasText(page.getByRole('status'), 'The line is paused')
    await admin('POST', '/sales/door/end')
    await expect
      .poll(() => soon().then(() => page.locator('#final h1').count()), { ...WITHIN, interval: 500 })
      .toBe(1)
    await context.close()
  })

  test('a hold that runs out is seen on the page, and the way back is there', async () => {
    const url = await sale('brief', -1_000, { hold_seconds: 2 })
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    await button(page, 'Reserve').click()
    await heading(page, 'The time was up').waitFor(WITHIN)
    await page.getByRole('link', { name: 'Back to the sale' }).waitFor()
    await context.close()
  })

  test('sold out is a page without a cookie that may be kept, and a restock brings the sale back', async () => {
    const url = await sale('gone', -1_000, {
      products: [{ product_id: 'one', name: 'One', unit_price_minor: 100, currency: 'EUR', total: 0 }],
    })
    await expect
      .poll(async () => (await fetch(url)).headers.get('cache-control'), { timeout: 10_000 })
      .toMatch(/^public, max-age=\d+/)
    const { context, page } = await visitor()
    await page.goto(url)
    await heading(page, 'Sold out').waitFor()
    expect(await context.cookies()).toEqual([])
    await admin('POST', '/sales/gone/products/one/restock', { quantity: 5 })
    await expect
      .poll(async () => (await fetch(url)).headers.get('cache-control'), { timeout: 5_000 })
      .toBe('no-store')
    // The page looks now and then; coming back to it, it looks at once.
    await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`)
    await button(page, 'Join the line').waitFor(WITHIN)
    await context.close()
  })

  test('what goes wrong is said on a page, in the visitor’s language', async () => {
    const url = await sale('wrong', -1_000, STANDING)
    const { context, page } = await visitor({ locale: 'de-DE' })
    await page.goto(`${system.edgeUrl}/sales/no-such-sale`)
    await heading(page, 'Diesen Verkauf gibt es nicht').waitFor()
    await page.goto(`${url}/order/019a1fcb-824e-74eb-bb3e-e54755d9709e`)
    await heading(page, 'Diese Bestellung kann hier nicht gezeigt werden').waitFor()
    await page.getByRole('link', { name: 'Zurück zum Verkauf' }).click()
    await button(page, 'Anstellen').waitFor()
    await context.close()
  })

  test('two tabs that show one order leave each other alone', async () => {
    const url = await sale('quiet', -1_000)
    const { context, page } = await visitor()
    await context.addInitScript(`
      globalThis.woken = 0
      addEventListener('storage', () => globalThis.woken++)`)
    await comeToTurn(page, url)
    await button(page, 'Reserve').click()
    await heading(page, 'Reserved for you').waitFor()
    const tab = await context.newPage()
    await tab.goto(page.url())
    await hasText(tab.locator('#connection'), 'Connected')
    await tab.waitForTimeout(500)
    // The second tab remembers the order as well, and the first has nothing to answer.
    expect([await page.evaluate('woken'), await tab.evaluate('woken')]).toEqual([1, 0])
    await context.close()
  })

  test('an order whose hold ended unseen gives the turn its place back', async () => {
    const url = await sale('unseen', -1_000, { hold_seconds: 10 })
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    await button(page, 'Reserve').click()
    await heading(page, 'Reserved for you').waitFor()
    await page.goto(url)
    await heading(page, 'You have an order here').waitFor()
    await heading(page, 'It is your turn').waitFor({ timeout: 40_000 })
    expect(await button(page, 'Reserve').isVisible()).toBe(true)
    await context.close()
  })

  test('an order given back leaves the way to another one that stands', async () => {
    const url = await sale('several', -1_000, FEW_AND_MANY)
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    await button(page, 'Reserve').click()
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor(WITHIN)
    const paid = page.url()
    await page.goto(url)
    await button(page, 'Reserve').click()
    await button(page, 'Give it back').click()
    await page.getByRole('link', { name: 'Back to the sale' }).click()
    await page.getByRole('link', { name: 'Show it' }).click()
    await heading(page, 'It is yours').waitFor()
    expect(page.url()).toBe(paid)
    await context.close()
  })

  test('whose turn it is sees a price that has changed', async () => {
    const product = { ...PRODUCT, product_id: 'one', name: 'One', total: 5 }
    const url = await sale('dearer', -1_000, { products: [product] })
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    const choice = page.locator('label').filter({ hasText: 'One' })
    await hasText(choice, '€1.00')
    await sale('dearer', -1_000, { products: [{ ...product, unit_price_minor: 250 }] })
    await hasText(choice, '€2.50')
    await context.close()
  })

  test('who had the focus in a turn has it where an order takes its place', async () => {
    const url = await sale('taken', -1_000)
    const { context, page } = await visitor()
    await comeToTurn(page, url)
    const tab = await context.newPage()
    await tab.goto(url)
    await button(tab, 'Reserve').focus()
    await button(page, 'Reserve').click()
    await expect
      .poll(() => tab.evaluate('document.activeElement?.textContent'), WITHIN)
      .toBe('You have an order here')
    await context.close()
  })

  test('nothing was blocked by the content security policy, and no script failed', () => {
    expect(complaints.filter((c) => !/ERR_INTERNET_DISCONNECTED|Failed to load resource/.test(c))).toEqual([])
  })
})
