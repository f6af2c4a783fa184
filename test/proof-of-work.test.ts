/** The price of entry in a real browser: the widget does its work when the form is sent, by mouse or by keyboard. */
import { existsSync } from 'node:fs'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import { installChromium, launchChromium } from './chromium.ts'
import { createSale, saleOf } from './origin-process.ts'

const executablePath = await installChromium()

describe.skipIf(!existsSync(executablePath))('with a proof of work', () => {
  let system: System
  let browser: Browser

  beforeAll(async () => {
    system = await startSystem({ originEnv: { LOG_LEVEL: 'warn' }, edgeVars: { POW_DIFFICULTY: '5000' } })
    browser = await launchChromium(executablePath)
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    await createSale(system, 'priced', saleOf(5, { opens_at }))
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await system?.stop()
  }, 60_000)

  test('a visitor joins by keyboard alone, and the strict content security policy holds', async () => {
    const page = await browser.newPage()
    const complaints: string[] = []
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(`${system.edgeUrl}/sales/priced`)
    await page.locator('altcha-widget input').first().waitFor()
    await page.getByRole('button', { name: 'Take a place in the lobby' }).focus()
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'You are in the lobby' }).waitFor()
    expect(complaints).toEqual([])
    await page.close()
  })

  test('a browser that sends the form without its proof gets a page that names what is missing', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${system.edgeUrl}/sales/priced`)
    expect(await page.locator('form noscript p').first().textContent()).toContain('JavaScript')
    await page.getByRole('button', { name: 'Take a place in the lobby' }).click()
    expect(await page.locator('h1').textContent()).toBe('A small task comes first')
    await context.close()
  })
})
