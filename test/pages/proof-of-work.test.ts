/** What entry costs in a real browser: the widgets do their work when the form is sent, by mouse or by keyboard. */
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { TURNSTILE_TOKEN } from '../run/one-system.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const access = { sign_in: 'optional', invitation: 'off', proof_of_work: 'off', turnstile: false } as const
const opens_at = new Date(Date.now() + 600_000).toISOString()
const system = await sharedPart('system')

describe.skipIf(!hasBrowser)('what entry costs', () => {
  let browser: Browser

  beforeAll(async () => {
    browser = await chromium.connect(await sharedPart('browser'))
    const [proof, turnstile] = [{ proof_of_work: 5_000 }, { turnstile: true }]
    for (const [sale, asked] of [
      ['priced', proof],
      ['ruled', {}],
      ['checked', turnstile],
      ['both', { ...proof, ...turnstile }],
    ] as const)
      await createSale(system, sale, saleOf(5, { opens_at, access: { ...access, ...asked } }))
  })
  afterAll(() => browser?.close())

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

  test('a browser without scripts reads once that this sale needs them, and is not sent round', async () => {
    const context = await browser.newContext({ javaScriptEnabled: false })
    const page = await context.newPage()
    await page.goto(`${system.edgeUrl}/sales/priced`)
    expect(await page.locator('form noscript p').first().textContent()).toContain('JavaScript')
    expect(await page.getByRole('button').filter({ visible: true }).count()).toBe(0)
    await context.close()
  })

  /** Cloudflare's script is not ours: a stand-in with its calls, which gives a token after some time. */
  async function pageWith(script: string | null): Promise<Page> {
    const page = await browser.newPage()
    await page.route('https://challenges.cloudflare.com/**', (route) =>
      script === null ? route.abort() : route.fulfill({ contentType: 'text/javascript', body: script }),
    )
    return page
  }
  const STAND_IN = `globalThis.turnstile = {
    render(box, options) {
      const field = document.createElement('input')
      Object.assign(field, { type: 'hidden', name: options['response-field-name'] })
      box.append(field)
      setTimeout(() => { field.value = '${TURNSTILE_TOKEN}'; options.callback(field.value) }, 500)
      return options.sitekey
    },
    remove() {},
  }`
  const join = (page: Page) => page.getByRole('button', { name: 'Take a place in the lobby' }).press('Enter')
  const inLobby = (page: Page) => page.getByRole('heading', { name: 'You are in the lobby' }).waitFor()

  test('a visitor whom a rule asks for a proof joins from the page that asks for it', async () => {
    const rule = { when: { user_agent: 'Chrome' }, action: 'prove', note: '' }
    const headers = { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' }
    const rules = `${system.originUrl}/admin/sales/ruled/rules`
    const made = await fetch(rules, { method: 'POST', headers, body: JSON.stringify(rule) })
    expect(made.status).toBe(201)
    const page = await browser.newPage()
    await page.goto(`${system.edgeUrl}/sales/ruled`)
    expect(await page.locator('altcha-widget').count()).toBe(0)
    await join(page)
    await page.getByRole('alert').filter({ hasText: 'A small task comes first' }).waitFor()
    await page.locator('altcha-widget input').first().waitFor()
    await join(page)
    await inLobby(page)
    await page.close()
  })

  test.each(['checked', 'both'])(
    "a form of the sale %s waits for Turnstile's token, under the strict policy",
    async (sale) => {
      const page = await pageWith(STAND_IN)
      const complaints: string[] = []
      page.on('pageerror', (error) => complaints.push(String(error)))
      page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
      await page.goto(`${system.edgeUrl}/sales/${sale}`)
      await join(page)
      await inLobby(page)
      expect(complaints).toEqual([])
      await page.close()
    },
  )

  test("a page on which Turnstile's script does not load says so", async () => {
    const page = await pageWith(null)
    await page.goto(`${system.edgeUrl}/sales/checked`)
    await page.getByRole('alert').filter({ hasText: 'could not be loaded' }).waitFor()
    await page.close()
  })
})
