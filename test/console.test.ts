/** The console in a real browser: signing in, a sale live, what each role may press, and every page checked by axe (WCAG 2.2 AA). */
import { randomBytes } from 'node:crypto'
import axe from 'axe-core'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, inject, test } from 'vitest'
import { type System, startSystem } from '../dev/system.ts'
import type { Role } from '../shared/api/roles.ts'

const RULES = { type: 'tag', values: ['wcag2a', 'wcag2aa', 'wcag21aa', 'wcag22aa'] }
/** Both widths and both looks, in two passes. */
const LOOKS = [
  { colorScheme: 'light', viewport: { width: 390, height: 844 } },
  { colorScheme: 'dark', viewport: { width: 1440, height: 900 } },
] as const
const PAGES = [
  '',
  '/sales/live',
  '/sales/new',
  '/sales/live/edit',
  '/sales/live/preview',
  '/sales/live/scheduled',
  '/sales/live/access',
  '/sales/live/report',
]
const OTHER_PAGES = ['/orders', '/queues', '/audit?sale=live', '/operators', '/nothing']

describe.skipIf(!inject('browser'))('the console', () => {
  let system: System
  let browser: Browser
  const contexts: BrowserContext[] = []
  const complaints: string[] = []

  beforeAll(async () => {
    system = await startSystem({ originEnv: { LOG_LEVEL: 'warn' } })
    browser = await chromium.connect(inject('browser'))
    const created = await admin('PUT', '/sales/live', {
      name: 'Friday drop',
      opens_at: new Date(Date.now() - 1000).toISOString(),
      products: ['Red', 'Blue'].map((name) => ({
        product_id: name.toLowerCase(),
        name,
        unit_price_minor: 2500,
        currency: 'EUR',
        total: 50,
      })),
      admission: { rate_per_second: 10 },
    })
    expect(created.status).toBe(201)
  }, 120_000)
  afterEach(async () => {
    for (const context of contexts.splice(0)) await context.close()
    expect(complaints.splice(0)).toEqual([])
  })
  afterAll(async () => {
    await browser?.close()
    await system?.stop()
  })

  const admin = (method: string, path: string, body?: unknown) =>
    fetch(`${system.originUrl}/admin${path}`, {
      method,
      headers: { authorization: `Bearer ${system.adminToken}`, 'content-type': 'application/json' },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })

  /** A visitor stands in line, checks out and pays. */
  async function buy(email: string): Promise<void> {
    const opens_at = new Date(Date.now() - 1000).toISOString()
    const products = [{ product_id: 'cap', name: 'Cap', unit_price_minor: 2500, currency: 'EUR', total: 5 }]
    const contact = { email: 'required' }
    await admin('PUT', '/sales/caps', { name: 'Caps', opens_at, products, contact, admission: { rate_per_second: 50 } })
    const at = (path: string) => `${system.edgeUrl}/sales/caps${path}`
    const json = async (response: Response) => (await response.json()) as Record<string, string>
    await expect.poll(async () => (await fetch(at('/schedule'))).status).toBe(200)
    const { queue_token } = await json(await fetch(at('/queue'), { method: 'POST' }))
    const ask = async () =>
      json(await fetch(at('/queue/status'), { headers: { authorization: `Bearer ${queue_token}` } }))
    await expect.poll(async () => (await ask()).status).toBe('ready')
    const { admission_token } = await ask()
    const headers = { authorization: `Bearer ${admission_token}`, 'content-type': 'application/json' }
    const response = await fetch(at('/checkout'), {
      method: 'POST',
      headers: { ...headers, 'idempotency-key': crypto.randomUUID() },
      body: JSON.stringify({ payment_method: 'pm_ok', contact: { email } }),
    })
    expect(response.status).toBe(201)
  }

  async function newPage(look: (typeof LOOKS)[number] = LOOKS[0]): Promise<Page> {
    const context = await browser.newContext(look)
    contexts.push(context)
    const page = await context.newPage()
    page.on('pageerror', (error) => complaints.push(String(error)))
    page.on('console', (message) => message.type() === 'error' && complaints.push(message.text()))
    await page.goto(`${system.originUrl}/console`)
    return page
  }

  async function signIn(page: Page, name: string, role: Role): Promise<void> {
    const { key } = (await (await admin('POST', '/operators', { name, role })).json()) as { key: string }
    await page.getByLabel('Your key').fill(key)
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Sales', exact: true }).waitFor()
  }

  /** What axe finds, and whether the page is wider than its window. */
  async function faultsOf(page: Page): Promise<string[]> {
    await page.evaluate(axe.source)
    const { violations } = await page.evaluate<axe.AxeResults>(
      `axe.run({ runOnly: ${JSON.stringify(RULES)}, resultTypes: ['violations'], preload: false })`,
    )
    const wide = await page.evaluate<number>('document.documentElement.scrollWidth - innerWidth')
    const faults = violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html)}`)
    return [...faults, ...(wide > 0 ? [`${wide} px too wide`] : [])]
  }

  test('an operator follows a sale, pauses it with a reason by keyboard, and resumes it', async () => {
    const page = await newPage()
    await signIn(page, 'ada', 'operator')
    await page.getByLabel('Search').fill('nothing like it')
    await page.getByText('No sale has these words.').waitFor()
    await page.getByLabel('Search').fill('drop fri')
    await page.getByRole('link', { name: 'Friday drop', exact: true }).click()
    await page.getByText('0 sold + 0 held + 100 free = 100').waitFor()
    // What is shown moves by itself.
    await admin('POST', '/sales/live/products/red/restock', { quantity: 5 })
    await page.getByText('0 sold + 0 held + 105 free = 105').waitFor()
    await page.getByRole('button', { name: 'Pause', exact: true }).focus()
    await page.keyboard.press('Enter')
    const dialog = page.getByRole('dialog', { name: 'Pause' })
    await dialog.waitFor()
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'hidden' })
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Pause')
    await page.keyboard.press('Enter')
    await dialog.getByLabel('English').fill('We check the payments.')
    await dialog.getByRole('button', { name: 'Pause' }).click()
    await page.getByRole('status').getByText('The sale is paused.').waitFor()
    await page.getByText('We check the payments.').waitFor()
    await page.getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Resume' }).click()
    await page.getByRole('button', { name: 'Pause', exact: true }).waitFor()
    // What is typed stays, though the page is drawn again and again.
    await page.getByRole('button', { name: 'Change rate' }).click()
    const rate = page.getByRole('dialog', { name: 'Change rate' })
    await rate.getByLabel('People a second').fill('25')
    await page.waitForTimeout(1_500)
    await rate.getByRole('button', { name: 'Change rate' }).click()
    await page.getByText('of 25 asked for').waitFor()
    // The audit log names who it was.
    await page.getByRole('link', { name: 'Audit' }).last().click()
    await page.getByText('We check the payments.', { exact: true }).waitFor()
    expect(await page.getByRole('listitem').filter({ hasText: 'resumed' }).first().textContent()).toContain('ada')
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('Your key').waitFor()
  })

  test('an operator creates a sale, edits it while it runs, and copies it', async () => {
    const page = await newPage(LOOKS[1])
    await signIn(page, 'nora', 'operator')
    await page.goto(`${system.originUrl}/console/sales/new`)
    const name = page.getByLabel('Name', { exact: true })
    const lot = randomBytes(3).toString('hex')
    const [title, id] = [`Night Swim ${lot}`, `night-swim-${lot}`]
    await name.fill(title)
    expect(await page.getByLabel('Id', { exact: true }).inputValue()).toBe(id)
    // Each field says what is wrong as it is left, in the words of the API.
    await page.getByLabel('Most units for one visitor').fill('0')
    await name.focus()
    await page.getByText('at least 1', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    expect(await page.evaluate('document.activeElement.name')).toBe('products.0.name')
    await page.getByLabel('Most units for one visitor').fill('2')
    await page.getByLabel('Name of the product').fill('Vinyl')
    await page.getByLabel('Product id').fill('vinyl')
    await page.getByLabel('Price').fill('42.50')
    await page.getByLabel('Units', { exact: true }).fill('10000')
    await page.getByText('At 50 people a second 10,000 units last about 3:20 minutes').waitFor()
    await page.getByLabel('Opens', { exact: true }).fill('2020-01-01T12:00:00')
    await page.getByText('This is in the past: the sale opens at once.').waitFor()
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: title, exact: true }).waitFor()

    await page.getByRole('link', { name: 'Edit' }).click()
    await page.getByLabel('People a second who are called').fill('80')
    page.once('dialog', (dialog) => void dialog.dismiss())
    await page.getByRole('link', { name: 'Leave' }).click()
    await page.getByRole('button', { name: 'Save' }).click()
    const dialog = page.getByRole('dialog', { name: 'Save' })
    expect(await dialog.textContent()).toMatch(/admission\.rate_per_second\s+50\s+→\s+80/)
    // What somebody else does meanwhile is not taken back.
    await admin('POST', `/sales/${id}/products/vinyl/restock`, { quantity: 5 })
    await dialog.getByRole('button', { name: 'Save' }).click()
    await dialog.getByText('products.vinyl.total is 10005').waitFor()
    page.once('dialog', (question) => void question.accept())
    await page.reload()
    await page.getByLabel('People a second who are called').fill('80')
    await page.getByRole('button', { name: 'Save' }).click()
    await dialog.getByRole('button', { name: 'Save' }).click()
    await page.getByRole('heading', { name: title, exact: true }).waitFor()

    await page.goto(`${system.originUrl}/console/sales/new?copy=${id}`)
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByText('there is a sale with this id already').first().waitFor()
    complaints.splice(0)
    await page.getByLabel('Name', { exact: true }).fill(`${title}, again`)
    await page.getByRole('button', { name: 'Create the sale' }).click()
    await page.getByRole('heading', { name: `${title}, again`, exact: true }).waitFor()
    const copy = (await (await admin('GET', `/sales/${id}-again`)).json()) as Record<string, unknown>
    expect(copy).toMatchObject({
      phase: 'upcoming',
      limit_per_visitor: 2,
      admission: { rate_per_second: 80 },
      products: [{ product_id: 'vinyl', unit_price_minor: 4250, total: 10_005, sold: 0 }],
    })
  })

  test('an operator looks at the pages of a sale in another language', async () => {
    const page = await newPage(LOOKS[1])
    await signIn(page, 'lena', 'operator')
    await page.goto(`${system.originUrl}/console/sales/live`)
    await page.getByRole('link', { name: 'Preview' }).click()
    const framed = 'iframe[title="sale open"]'
    await page.frameLocator(framed).getByRole('heading', { name: 'Friday drop', exact: true }).waitFor()
    await page.getByLabel('Language').selectOption('de')
    await page.locator(`${framed}[src*="lang=de"]`).waitFor()
    // In a page of its own, since Playwright may lose a frame whose address changes while it loads.
    const opening = page.waitForEvent('popup')
    await page.getByRole('link', { name: 'sale open', exact: true }).click()
    const opened = await opening
    await opened.getByRole('heading', { name: 'Friday drop', exact: true }).waitFor()
    expect(await opened.locator('html').getAttribute('lang')).toBe('de')
  })

  test('an operator announces in one language, whichever it is', async () => {
    const page = await newPage()
    await signIn(page, 'uli', 'operator')
    await page.goto(`${system.originUrl}/console/sales/live`)
    await page.getByRole('button', { name: 'Announce', exact: true }).click()
    const dialog = page.getByRole('dialog', { name: 'Announce' })
    await dialog.getByRole('button', { name: 'Announce' }).click()
    await dialog.getByRole('alert').getByText('a text in one language is required').waitFor()
    await dialog.getByLabel('German').fill('Es geht gleich los.')
    await dialog.getByRole('button', { name: 'Announce' }).click()
    await page.getByLabel('What visitors read').getByText('Es geht gleich los.').waitFor()
    await admin('DELETE', '/sales/live/announcement')
    complaints.splice(0)
  })

  test('the form never hides what has the focus behind its bar', async () => {
    const page = await newPage()
    await page.setViewportSize({ width: 390, height: 700 })
    await signIn(page, 'pia', 'operator')
    await page.goto(`${system.originUrl}/console/sales/new`)
    await page.getByLabel('Name', { exact: true }).focus()
    const hidden: string[] = []
    const focused = 'document.activeElement'
    const top = (of: string) => page.evaluate<number>(`${of}.getBoundingClientRect().top`)
    for (let i = 0; i < 60 && (await page.evaluate(`${focused}.textContent`)) !== 'Leave'; i++) {
      if ((await top(focused)) >= (await top(`document.querySelector('.save')`)))
        hidden.push(await page.evaluate<string>(`${focused}.outerHTML`))
      await page.keyboard.press('Tab')
    }
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Leave')
    expect(hidden).toEqual([])
  })

  test('a viewer sees all of it and has nothing to press', async () => {
    const page = await newPage(LOOKS[1])
    await signIn(page, 'vic', 'viewer')
    expect(await page.getByRole('link', { name: 'Operators' }).count()).toBe(0)
    await page.getByRole('link', { name: 'Friday drop', exact: true }).click()
    await page.getByRole('status').waitFor()
    expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign out'])
    for (const name of ['Rules and blocks', 'Scheduled']) {
      await page.getByRole('link', { name, exact: true }).first().click()
      await page.getByRole('heading', { level: 1, name }).waitFor()
      expect(await page.getByRole('button').allInnerTexts()).toEqual(['Sign out'])
    }
    expect(await page.getByRole('link', { name: 'Edit' }).count()).toBe(0)
  })

  test('an operator finds an order by a mistyped mail, refunds a part of it, and reads that in its story', async () => {
    const email = `mary.poppins@${crypto.randomUUID()}.example`
    await buy(email)
    const page = await newPage()
    await signIn(page, 'ida', 'operator')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    const field = page.getByLabel('Find an order')
    // A search that another one follows holds none of the browser's connections.
    await page.route(/[?&]q=never$/, () => {})
    const ended: (string | null)[] = []
    for (const end of ['requestfailed', 'requestfinished'] as const)
      page.on(end as 'requestfailed', (one) => ended.push(new URL(one.url()).searchParams.get('q')))
    await field.fill('never')
    await field.fill('mary')
    await expect.poll(() => ended).toContain('mary')
    expect(ended.filter((q) => q === 'never' || q === 'mary')).toEqual(['never', 'mary'])
    // An order is found about a second after it was made.
    const typedAgain = async () => {
      await field.fill('')
      await field.fill('mary.popins')
      await page.waitForTimeout(500)
      return page.getByRole('link', { name: email }).count()
    }
    await expect.poll(typedAgain, { interval: 100 }).toBe(1)
    expect(page.url()).toContain('q=mary.popins')
    await page.getByRole('link', { name: email }).click()
    await page.getByRole('heading', { name: 'Paid' }).waitFor()
    await page.getByRole('button', { name: 'Refund' }).click()
    const dialog = page.getByRole('dialog', { name: 'Refund' })
    await dialog.getByLabel('Amount in EUR').fill('99')
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await dialog.getByRole('alert').getByText('At most €25.00 is left.').waitFor()
    await dialog.getByLabel('Amount in EUR').fill('4,50')
    await dialog.getByLabel('Reason').fill('a scratch')
    await dialog.getByRole('button', { name: 'Refund' }).click()
    await page.getByText('€4.50, by ida, a scratch').last().waitFor()
    // The page follows what is still to happen.
    await page.getByText('€4.50 in all').waitFor()
    await page.getByText('of which €4.50 was given back').waitFor()
    expect(await faultsOf(page)).toEqual([])
    await page.goBack()
    expect(await field.inputValue()).toBe('mary.popins')
    await page.getByRole('button', { name: 'mary.popins' }).waitFor()
  })

  test('an operator adds a rule, changes it, blocks somebody, and takes both back', async () => {
    const page = await newPage(LOOKS[1])
    await signIn(page, 'rosa', 'operator')
    await page.getByRole('link', { name: 'Friday drop', exact: true }).click()
    await page.getByRole('link', { name: 'Rules and blocks' }).first().click()
    await page.getByText('There is no rule').waitFor()
    await page.getByRole('button', { name: 'Add a rule' }).click()
    const adding = page.getByRole('dialog', { name: 'Add a rule' })
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await adding.getByRole('alert').getByText('at least one condition').waitFor()
    await adding.getByLabel('Network address').fill('192.0.2.999')
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await adding.getByRole('alert').getByText('an address or a range such as 192.0.2.0/24').waitFor()
    await adding.getByLabel('Network address').fill('')
    await adding.getByLabel('Country').fill('de')
    await adding.getByLabel('Network number').fill('64500')
    await adding.getByLabel('Note').fill('resellers')
    await adding.getByRole('button', { name: 'Add a rule' }).click()
    await page.getByText('network number 64500, and country DE', { exact: true }).waitFor()
    await page.getByRole('button', { name: 'Change the rule resellers' }).click()
    const changing = page.getByRole('dialog', { name: 'Change' })
    await changing.getByLabel('What happens').selectOption('last')
    await changing.getByLabel('Country').fill('')
    await changing.getByRole('button', { name: 'Change', exact: true }).click()
    await page.getByText('network number 64500', { exact: true }).waitFor()
    const { rules } = (await (await admin('GET', '/sales/live/rules')).json()) as { rules: object[] }
    expect(rules).toMatchObject([{ when: { asn: 64_500 }, action: 'last', note: 'resellers' }])
    await page.getByRole('button', { name: 'Remove the rule resellers' }).click()
    await page.getByRole('dialog', { name: 'Remove' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('There is no rule').waitFor()

    await page.getByRole('button', { name: 'Block somebody' }).click()
    const blocking = page.getByRole('dialog', { name: 'Block somebody' })
    await blocking.getByLabel('Whom').selectOption('account')
    await blocking.getByLabel('As it is written').fill('eve')
    await blocking.getByRole('button', { name: 'Block somebody' }).click()
    await page.getByRole('button', { name: 'Remove the block of account eve' }).click()
    await page.getByRole('dialog', { name: 'Remove' }).getByRole('button', { name: 'Remove' }).click()
    await page.getByText('Nobody is blocked.').waitFor()
    complaints.splice(0)
  })

  test('the stock adds up to the total, withheld units among them', async () => {
    const opens_at = new Date(Date.now() + 3_600_000).toISOString()
    const product = { product_id: 'cap', name: 'Cap', unit_price_minor: 100, currency: 'EUR', total: 100, buffer: 10 }
    await admin('PUT', '/sales/held', {
      name: 'Held',
      opens_at,
      products: [product],
      admission: { rate_per_second: 1 },
    })
    const page = await newPage()
    await signIn(page, 'una', 'viewer')
    await page.goto(`${system.originUrl}/console/sales/held`)
    await page.getByText('0 sold + 0 held + 90 free + 10 withheld = 100').waitFor()
    await page.getByText('opens in').waitFor()
  })

  test('data is at most a second old', async () => {
    const response = await fetch(`${system.originUrl}/admin/sales/live/live`, {
      headers: { authorization: `Bearer ${system.adminToken}`, accept: 'text/event-stream' },
      signal: AbortSignal.timeout(60_000),
    })
    let ageMs = Number.POSITIVE_INFINITY
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      const events = text.split('\n\n')
      text = events.pop() ?? ''
      for (const event of events) {
        const data = /^data: (.*)$/m.exec(event)?.[1]
        if (data) ageMs = Math.min(ageMs, Date.now() - Date.parse((JSON.parse(data) as { read_at: string }).read_at))
      }
      // A busy machine holds some up on their way.
      if (ageMs < 1_000) break
    }
    expect(ageMs).toBeLessThan(1_000)
  })

  test.each(LOOKS)('axe finds nothing on any page: $colorScheme', async (look) => {
    const page = await newPage(look)
    const found: Record<string, unknown> = {}
    const check = async (path: string) => {
      const faults = await faultsOf(page)
      if (faults.length > 0) found[path] = faults
    }
    await page.getByLabel('Your key').waitFor()
    await check('sign-in')
    await signIn(page, 'olga', 'owner')
    for (const path of [...PAGES, ...OTHER_PAGES]) {
      await page.goto(`${system.originUrl}/console${path}`)
      await page.getByRole('heading', { level: 1 }).waitFor()
      await check(path)
    }
    expect(found).toEqual({})
  })
})
