/** The payment page in a real browser, with stand-ins for Stripe's API and for its script. */
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'
import { type Loopback, serveOnLoopback } from '../../dev/lib/loopback.ts'
import { type System, startSystem } from '../../dev/system.ts'
import type { SaleConfig } from '../../shared/api/operators/sale-config.ts'
import { button, goTo, heading, link, storyTest } from '../lib/in-browser.ts'
import { createSale } from '../lib/origin-process.ts'
import { saleOf } from '../lib/samples.ts'
import { ledgerDatabase } from '../lib/servers.ts'
import { hasBrowser } from '../run/shared-part.ts'
import { startStripe } from '../stand-ins/stripe.ts'

/** The calls that stripe-js.ts records in the page. */
interface StripeJsCalls {
  key: string
  locale: string
  elements: { mode: string; amount: number; currency: string; appearance: unknown }
}

const SECRETS = { secretKey: 'sk_test_stand_in', webhookSecret: 'whsec_stand_in_for_the_tests_of_pages' }
const KEY = 'pk_test_stand_in'

/** Serves Stripe's script from another origin. */
async function serveScript(): Promise<Loopback> {
  const entry = fileURLToPath(new URL('../stand-ins/stripe-js.ts', import.meta.url))
  const { outputFiles } = await build({ entryPoints: [entry], bundle: true, format: 'iife', write: false })
  return serveOnLoopback((_, response) => {
    response.setHeader('content-type', 'text/javascript')
    response.end(outputFiles[0]?.text)
  })
}

const card = (page: Page) => page.getByLabel('Card number')
const callsOf = (page: Page) => page.evaluate<StripeJsCalls>('calls')

let system: System
let sales = 0

const productIn = (currency: string) => ({
  ...{ product_id: 'one', name: 'One', unit_price_minor: 1_250, currency, total: 5, buffer: 0 },
})

/** Creates a sale and returns its address. */
async function sale(changes: Partial<SaleConfig>): Promise<string> {
  const name = `paid-${++sales}`
  const products = [productIn('EUR')]
  await createSale(
    system,
    name,
    saleOf(0, { products, hold_seconds: 600, admission: { rate_per_second: 50, max_inside: null }, ...changes }),
  )
  return `${system.edgeUrl}/sales/${name}`
}

const test = storyTest().extend<{
  /** Opens the order of a buyer who has just reserved. */
  reserved(changes: Partial<SaleConfig>): Promise<Page>
  /** The same on the payment page. */
  atPayment(currency?: string, options?: BrowserContextOptions): Promise<Page>
}>({
  reserved: ({ visitorWithTurn }, use) =>
    use(async (changes) => {
      const page = await visitorWithTurn(await sale(changes))
      await button(page, 'Reserve').click()
      return page
    }),
  atPayment: ({ visitorWithTurn }, use) =>
    use(async (currency = 'EUR', options) => {
      const page = await visitorWithTurn(await sale({ products: [productIn(currency)] }), options)
      await button(page, 'Reserve').click()
      await link(page, /^Pay/).click()
      await heading(page, 'Pay for your order').waitFor()
      await card(page).waitFor()
      return page
    }),
})

describe.skipIf(!hasBrowser)('the payment page', { concurrent: true }, () => {
  let stripe: Awaited<ReturnType<typeof startStripe>>
  let scripts: Loopback

  beforeAll(async () => {
    scripts = await serveScript()
    stripe = await startStripe({ ...SECRETS, webhookUrl: () => `${system.originUrl}/webhooks/stripe` })
    const { url: databaseUrl } = await ledgerDatabase()
    system = await startSystem({
      databaseUrl,
      originEnv: {
        LOG_LEVEL: 'warn',
        PAYMENT_PROVIDER: 'stripe',
        STRIPE_SECRET_KEY: SECRETS.secretKey,
        STRIPE_WEBHOOK_SECRET: SECRETS.webhookSecret,
        STRIPE_API_URL: stripe.url,
      },
      edgeVars: {
        PAYMENT_PAGE: 'stripe',
        STRIPE_PUBLISHABLE_KEY: KEY,
        STRIPE_JS_URL: `${scripts.url}/stripe.js`,
      },
    })
  })
  afterAll(async () => {
    await system?.stop()
    await stripe?.stop()
    scripts?.stop()
  })

  test('takes a card by Stripe’s form, and leads back to the order, which is confirmed', async ({
    atPayment,
    expect,
  }) => {
    const page = await atPayment('ISK')
    const back = page.url().replace(/\/pay$/, '')
    const { key, locale, elements } = await callsOf(page)
    expect({ key, locale }).toEqual({ key: KEY, locale: 'en' })
    // Stripe's smallest unit of the króna has two more digits.
    const sent = { mode: 'payment', amount: 125_000, currency: 'isk' }
    expect(elements).toMatchObject({ ...sent, captureMethod: 'manual', paymentMethodCreation: 'manual' })
    expect(elements.appearance).toMatchObject({ theme: 'stripe', variables: { colorBackground: '#fff' } })

    await card(page).fill('42')
    await page.keyboard.press('Enter')
    await page.getByRole('alert').filter({ hasText: 'Your card number is incomplete.' }).waitFor()
    await card(page).fill('4242')
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor()
    expect(page.url()).toBe(back)
    const [intent] = stripe.intents(back.split('/').at(-1))
    expect(intent).toMatchObject({ amount: 125_000, currency: 'isk' })
  })

  test('is not for a test sale, which says so and takes the methods of the sandbox', async ({ reserved, expect }) => {
    const page = await reserved({ test: true })
    await page.getByLabel('Card that works').waitFor()
    await page.getByText('This is a test sale.').waitFor()
    const order = page.url()
    await goTo(page, `${order}/pay`)
    await page.getByLabel('Card that works').check()
    expect(page.url()).toBe(order)
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor()
    expect(stripe.intents(order.split('/').at(-1))).toEqual([])
  })

  test('shows what the bank asks for, also after a reload', async ({ atPayment, expect }) => {
    const page = await atPayment('EUR', { colorScheme: 'dark' })
    expect((await callsOf(page)).elements.appearance).toMatchObject({ theme: 'night' })
    let asked = 0
    await page.exposeFunction('bank', async (secret: string) => {
      // The first request hangs, and the visitor reloads the page.
      if (++asked === 1) return new Promise(() => {})
      stripe.authenticate(secret.split('_secret_')[0] ?? '', true)
    })
    await card(page).fill('3155')
    await button(page, /^Pay/).click()
    await expect.poll(() => asked).toBe(1)
    await page.reload()
    await heading(page, 'It is yours').waitFor()
    expect(asked).toBe(2)
  })

  test('keeps the order of someone whose bank says no, and lets them try again', async ({ atPayment }) => {
    const page = await atPayment()
    await page.exposeFunction('bank', async (secret: string) =>
      stripe.authenticate(secret.split('_secret_')[0] ?? '', false),
    )
    await card(page).fill('3155')
    await button(page, /^Pay/).click()
    await heading(page, 'The payment did not go through').waitFor()
    await page.getByText('Your bank could not confirm that it was you.').waitFor()
    await link(page, /^Pay/).click()
    await card(page).fill('4242')
    await button(page, /^Pay/).click()
    await heading(page, 'It is yours').waitFor()
  })

  test('may load Stripe’s script on this page alone, and nothing else', async ({ atPayment, complaints, expect }) => {
    const page = await atPayment()
    const policyAt = async (url: string) =>
      (await page.request.get(url, { headers: { accept: 'text/html' } })).headers()['content-security-policy'] ?? ''
    const policy = await policyAt(page.url())
    expect(policy).toContain(`script-src 'self' ${scripts.url} https://*.js.stripe.com;`)
    expect(policy).toContain("connect-src 'self' https://api.stripe.com;")
    expect(policy).not.toContain('unsafe')
    expect(await policyAt(page.url().replace(/\/pay$/, ''))).not.toMatch(/stripe|http/)
    const elsewhere = await serveScript()
    const blocked = page.evaluate<string>(`new Promise((resolve) => {
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective }) => resolve(effectiveDirective))
      document.head.append(Object.assign(document.createElement('script'), { src: '${elsewhere.url}/x.js' }))
    })`)
    expect(await blocked).toBe('script-src-elem')
    elsewhere.stop()
    expect(complaints.splice(0).join()).toContain('Content Security Policy')
  })

  test('says that it needs a script, where there is none', async ({ atPayment, newPage, expect }) => {
    const page = await atPayment()
    const storageState = await page.context().storageState()
    const still = await newPage({ javaScriptEnabled: false, storageState })
    await still.goto(page.url())
    expect(await still.locator('#payment noscript p').isVisible()).toBe(true)
    expect(await button(still, /^Pay/).isVisible()).toBe(false)
  })
})
