/** A whole sale in a real browser: with the page's script, without any, in two tabs, and through a lost connection. */
import { existsSync } from 'node:fs'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type System, startSystem } from '../origin/local/system.ts'
import { installChromium, launchChromium } from './chromium.ts'

const executablePath = await installChromium()

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

  async function visitor(
    options: Parameters<Browser['newContext']>[0] = {},
  ): Promise<{ context: BrowserContext; page: Page }> {
    const context = await browser.newContext({ viewport: { width: 390, height: 800 }, ...options })
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    return { context, page }
  }

  test('a visitor joins the lobby, sees the draw checked, gets the turn, pays and is told so', async () => {
    const url = await sale('whole', 4_000)
    const { context, page } = await visitor()
    await page.goto(url)
    expect(await page.locator('h1').textContent()).toBe('Trainers "<b>Ünï</b>" 👟')
    await page.getByRole('button', { name: 'Take a place in the lobby' }).click()
    await page.getByRole('heading', { name: 'You are in the lobby' }).waitFor()
    await page.getByRole('heading', { name: /Your turn/ }).waitFor({ timeout: 20_000 })
    await page.getByRole('button', { name: 'Reserve' }).click()
    await page.getByRole('heading', { name: 'Reserved for you' }).waitFor()
    const left = () => page.locator('time[data-until-ms]').textContent()
    const before = await left()
    await expect.poll(left, { timeout: 5_000 }).not.toBe(before)
    await page.getByRole('button', { name: /^Pay/ }).click()
    await page.getByRole('heading', { name: 'It is yours' }).waitFor({ timeout: 15_000 })
    const cookies = await context.cookies()
    expect(cookies.length).toBeGreaterThan(0)
    expect(cookies.every((cookie) => cookie.httpOnly)).toBe(true)
    await context.close()
  })

  test('the page ticks off that the revealed seed is the one committed to', async () => {
    const url = await sale('ticked', 2_500, { admission: { rate_per_second: 0.05 } })
    const { context, page } = await visitor()
    await page.goto(url)
    await page.locator('#join button').click()
    const { context: other, page: second } = await visitor()
    await second.goto(url)
    await second.locator('#join button').click()
    for (const one of [page, second])
      await one.locator('#tick').waitFor({ state: 'visible', timeout: 20_000 })
    const seed = (await page.locator('#seed').textContent()) ?? ''
    expect(seed).toMatch(/^[0-9a-f]{64}$/)
    const positions = await Promise.all([page, second].map((one) => one.locator('#position').textContent()))
    expect(new Set(positions).size).toBe(2)
    await Promise.all([context.close(), other.close()])
  })

  test('two tabs are one place, and a lost connection loses nothing', async () => {
    const url = await sale('tabs', -1_000, { admission: { rate_per_second: 0.05 } })
    for (let i = 0; i < 5; i++) await (await fetch(`${url}/queue`, { method: 'POST' })).body?.cancel()
    const { context, page } = await visitor()
    await page.goto(url)
    await page.locator('#join button').click()
    await page.getByRole('heading', { name: 'You are in the line' }).waitFor()
    const number = await page.locator('main').getAttribute('data-number')
    const tab = await context.newPage()
    await tab.goto(url)
    expect(await tab.locator('main').getAttribute('data-number')).toBe(number)
    await context.setOffline(true)
    await page.locator('#connection').waitFor({ state: 'visible', timeout: 20_000 })
    expect(await page.locator('#connection').textContent()).toContain('You keep your place')
    await context.setOffline(false)
    await page.locator('#connection').waitFor({ state: 'hidden', timeout: 20_000 })
    expect(await page.locator('main').getAttribute('data-number')).toBe(number)
    await context.close()
  })

  test('without a script a visitor joins, waits, reserves and pays all the same', async () => {
    const url = await sale('plain', -1_000)
    const { context, page } = await visitor({
      javaScriptEnabled: false,
      locale: 'de-DE',
      colorScheme: 'dark',
    })
    await page.goto(url)
    await page.locator('#join button').click()
    await expect
      .poll(
        async () => {
          await page.goto(url)
          return page.locator('h1:visible').first().textContent()
        },
        { timeout: 20_000 },
      )
      .toBe('Du bist dran. Wähle und reserviere.')
    await page.getByRole('button', { name: 'Reservieren' }).click()
    expect(await page.locator('h1').textContent()).toBe('Für dich reserviert')
    await page.getByRole('button', { name: /bezahlen$/ }).click()
    await expect
      .poll(
        async () => {
          await page.reload()
          return page.locator('h1').textContent()
        },
        { timeout: 15_000 },
      )
      .toBe('Es gehört dir')
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
    await page.getByRole('heading', { name: 'You are in the lobby' }).waitFor()
    await press('Leave the line')
    await page.getByRole('button', { name: 'Take a place in the lobby' }).waitFor()
    await context.close()
  })

  test('sold out is a page without a cookie that may be kept, and a restock is seen', async () => {
    const url = await sale('gone', -1_000, {
      products: [{ product_id: 'one', name: 'One', unit_price_minor: 100, currency: 'EUR', total: 0 }],
    })
    await expect
      .poll(async () => (await fetch(url)).headers.get('cache-control'), { timeout: 10_000 })
      .toMatch(/^public, max-age=\d+/)
    const { context, page } = await visitor()
    await page.goto(url)
    expect(await page.locator('h1').textContent()).toBe('Sold out')
    expect(await context.cookies()).toEqual([])
    await admin('POST', '/sales/gone/products/one/restock', { quantity: 5 })
    await expect
      .poll(async () => (await fetch(url)).headers.get('cache-control'), { timeout: 5_000 })
      .toBe('no-store')
    await context.close()
  })

  test('nothing was blocked by the content security policy, and no script failed', () => {
    expect(complaints.filter((c) => !/ERR_INTERNET_DISCONNECTED|Failed to load resource/.test(c))).toEqual([])
  })
})
