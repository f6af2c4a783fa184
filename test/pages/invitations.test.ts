/** A sale by invitation on a whole system, in real browsers: by link and by code, with and without a script, used once, and void. */
import { type Browser, type BrowserContextOptions, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { hasBrowser, sharedPart } from '../run/shared-part.ts'

const SALE = 'invited'
const system = await sharedPart('system')

describe.skipIf(!hasBrowser)('a sale by invitation', () => {
  let browser: Browser
  const complaints: string[] = []

  beforeAll(async () => {
    browser = await chromium.connect(await sharedPart('browser'))
    const opens_at = new Date(Date.now() + 600_000).toISOString()
    await createSale(system, SALE, saleOf(5, { opens_at, access: { ...saleOf(5).access, invitation: 'required' } }))
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
  })

  async function operator(method: string, path: string, body?: string, type = 'text/csv') {
    const headers = {
      authorization: `Bearer ${system.adminToken}`,
      ...(body !== undefined && { 'content-type': type }),
    }
    const url = `${system.originUrl}/admin/sales/${SALE}/invitations${path}`
    return (await fetch(url, { method, headers, body: body ?? null })).json() as Promise<Record<string, unknown>>
  }

  async function visitor(address: string, options: BrowserContextOptions = {}): Promise<Page> {
    const page = await (await browser.newContext(options)).newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    await page.goto(`${system.edgeUrl}${address}`)
    return page
  }

  const join = (page: Page) => page.getByRole('button', { name: 'Take a place in the lobby' }).click()
  const hasPlace = (page: Page) => page.getByRole('heading', { name: 'You are in the lobby' }).waitFor()
  const code = (page: Page) => page.getByLabel('The code of your invitation').first()

  test('lets one browser in by a code for one, and says to the next that it is used', async () => {
    expect(await operator('PUT', '', 'code,uses\nSUMMER-24,1\n')).toMatchObject({ imported: 1 })
    const ada = await visitor(`/sales/${SALE}?invitation=summer-24`)
    expect(await code(ada).inputValue()).toBe('summer-24')
    await join(ada)
    await hasPlace(ada)

    for (const javaScriptEnabled of [true, false]) {
      const eve = await visitor(`/sales/${SALE}`, { javaScriptEnabled })
      await code(eve).fill('SUMMER-24')
      await join(eve)
      await eve.getByText('used by as many people as it is for').first().waitFor()
      expect(await code(eve).inputValue()).toBe('SUMMER-24')
      expect(await code(eve).getAttribute('aria-invalid')).toBe('true')
      const { invitation } = await operator('POST', '/links', '{}', 'application/json')
      await code(eve).fill(String(invitation))
      await join(eve)
      await hasPlace(eve)
    }
    expect(await operator('GET', '')).toEqual({ invitations: 3, uses: 3, used: 3 })
    expect(complaints).toEqual([])
  })

  test('takes the code of a link from the address where the page came from a cache that knows no links', async () => {
    const { invitation } = await operator('POST', '/links', '{}', 'application/json')
    const context = await browser.newContext()
    const page = await context.newPage()
    await page.route('**/*invitation=*', async (route) => {
      const url = new URL(route.request().url())
      await route.fulfill({ response: await route.fetch({ url: url.origin + url.pathname }) })
    })
    await page.goto(`${system.edgeUrl}/sales/${SALE}?invitation=${invitation}`)
    await expect.poll(() => code(page).inputValue()).toBe(invitation)
    await join(page)
    await hasPlace(page)
  })

  test('refuses a link that was declared void, and lets one in that was signed later', async () => {
    const link = async () => String((await operator('POST', '/links', '{}', 'application/json')).invitation)
    const old = await link()
    // A time to come counts as now, by the clock that signs.
    const void_before = new Date(Date.now() + 60_000).toISOString()
    await operator('POST', '/links', JSON.stringify({ void_before }), 'application/json')
    const page = await visitor(`/sales/${SALE}?invitation=${old}`, { javaScriptEnabled: false })
    await join(page)
    await page.getByText('This invitation is no longer valid').first().waitFor()
    await code(page).fill(await link())
    await join(page)
    await hasPlace(page)
  })
})
