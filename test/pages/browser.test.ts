/**
 * A whole sale runs in a real browser: with the page's script, without it, through a lost connection, and to its end.
 * browser.long.test.ts has the other stories.
 */
import { describe } from 'vitest'
import { button, hasText, heading, isConnected, link, storyTest } from '../lib/in-browser.ts'
import { FOCUSED, numberOf, PRODUCT, pay, reserve, SLOW, toBank, useShopStories } from '../lib/shop-stories.ts'
import { hasBrowser } from '../run/shared-part.ts'

const test = storyTest(/ERR_INTERNET_DISCONNECTED|Failed to load resource/)

describe.skipIf(!hasBrowser)('in a browser', { concurrent: true }, () => {
  const { operator, sale } = useShopStories()

  test('a visitor joins the lobby, gets the turn on the same page, pays and sees it confirmed', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('whole', 600_000)
    const page = await visitor(`${url}?utm_source=Story&utm_campaign=Spring`)
    expect(await page.locator('h1').textContent()).toBe('Trainers "<b>Ünï</b>" 👟')
    const data = await page.locator('script[type="application/ld+json"]').textContent()
    expect(JSON.parse(data ?? '')).toMatchObject({ '@type': 'SaleEvent', name: 'Trainers "<b>Ünï</b>" 👟', url })
    const image = await page.locator('meta[property="og:image"]').getAttribute('content')
    expect((await fetch(image ?? '')).headers.get('content-type')).toBe('image/png')
    const requested: string[] = []
    page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    expect(await page.locator('#line .sale b').textContent()).toBe('Trainers "<b>Ünï</b>" 👟')
    await expect.poll(() => page.evaluate(FOCUSED)).toBe('You are in the lobby')
    expect(new URL(page.url()).pathname).toBe('/sales/whole/line')
    await operator('POST', 'whole/open')
    await heading(page, 'It is your turn').waitFor()
    // The Worker is called twice: to join, and for the page that sets the admission. All other responses are the same
    // for all visitors.
    const toWorker = () =>
      requested.filter((path) => !/\/(schedule|feed|views)$|^\/assets\/|^\/sales\/whole$|^\/orders\/[^/]+$/.test(path))
    expect(toWorker()).toEqual(['/sales/whole/queue', '/sales/whole/line'])
    await expect.poll(() => page.evaluate(FOCUSED)).toBe('It is your turn')

    const seenBy = async (by: 'page' | 'source') => {
      const { rows } = (await operator('GET', `whole/views?by=${by}`)) as { rows: { key: string }[] }
      return rows.map(({ key }) => key).toSorted()
    }
    // A page that is left within half a second does not count as seen.
    await expect.poll(() => seenBy('page')).toContain('turn')
    await reserve(page)
    const left = () => page.locator('time[role=timer]').textContent()
    const before = await left()
    await expect.poll(left).not.toBe(before)
    expect(await page.evaluate(FOCUSED)).toBe('Reserved for you')
    await pay(page)
    await expect.poll(() => page.evaluate(FOCUSED)).toBe('It is yours')
    expect(await page.title()).toMatch(/^It is yours · Trainers/)
    const order = page.url()
    const { pathname } = new URL(order)
    // The way from the turn to the confirmed order with its receipt takes four calls, because each form's response is
    // the page that follows it. Until the stream is open, the page may poll the order.
    const events = `/orders/${pathname.split('/').at(-1)}/events`
    const [, ...afterTurn] = toWorker()
    expect(afterTurn).toEqual(['/sales/whole/line', '/sales/whole/buy', `${pathname}/payment`, events])
    const shown = () => page.locator('#order').innerHTML()
    // The button is shown by the page's script.
    await button(page, 'Copy the order number').waitFor()
    const inPlace = await shown()
    await page.reload()
    await expect.poll(shown).toBe(inPlace)
    await page.goto(url)
    await link(page, 'Show it').click()
    await page.waitForURL(order)

    const cookies = await page.context().cookies()
    expect(cookies.length).toBeGreaterThan(0)
    expect(cookies.filter((cookie) => !cookie.httpOnly && cookie.name !== 'joined')).toEqual([])

    // Each page has said that it is seen, with where the visit began.
    await expect.poll(() => seenBy('page')).toEqual(['line', 'order', 'sale', 'turn'])
    expect(await seenBy('source')).toEqual(['story spring'])
  })

  test('a visitor with a lost connection and a wrong clock keeps the place and the countdown', async ({
    newPage,
    expect,
  }) => {
    const url = await sale('offline', 600_000, SLOW)
    const page = await newPage()
    // The visitor's clock is a day ahead, and jumps back an hour during the wait.
    await page.addInitScript(`{
      const now = Date.now.bind(Date)
      let wrongMs = 86_400_000
      Date.now = () => now() + wrongMs
      globalThis.putBack = () => { wrongMs -= 3_600_000 }
    }`)
    await page.goto(url)
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    await isConnected(page)
    const number = await numberOf(page)
    await page.evaluate('putBack()')
    await page.context().setOffline(true)
    await hasText(page.locator('#connection'), 'Offline')
    await hasText(page.getByRole('status'), 'you keep it')
    // The form cannot be sent now, so the page stays and says why.
    await page.getByText('Give up my place').click()
    await button(page, 'Yes, give it up').click()
    await expect.poll(() => page.evaluate(FOCUSED)).toMatch(/^You are offline/)
    await page.context().setOffline(false)
    await page.locator('#offline').waitFor({ state: 'hidden' })
    await isConnected(page)
    expect(await numberOf(page)).toBe(number)
    expect(await page.locator('time[role=timer]').first().textContent()).toMatch(/^(10:00|[5-9]:\d\d)$/)
  })

  test('without a script a visitor joins, waits, reserves, and pays by way of their bank', async ({
    visitor,
    expect,
  }) => {
    // The opening is near enough for the page to reload often, and far enough to join before it.
    const url = await sale('plain', 60_000)
    // The bank sends its buyer back to 127.0.0.1, where cookies of another name would be missing.
    const other = url.replace('127.0.0.1', 'localhost')
    const page = await visitor(other, { javaScriptEnabled: false, colorScheme: 'dark' })
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    await operator('POST', 'plain/open')
    // The page reloads itself from here on, until there is something to choose.
    await heading(page, 'It is your turn').waitFor()
    await reserve(page)
    const order = page.url()
    await toBank(page)
    await button(page, 'Approve').click()
    // The page may be loaded before the bank's result, and then reloads itself only after a while.
    const isTheirs = () => heading(page, 'It is yours').isVisible()
    await expect.poll(async () => (await isTheirs()) || page.reload().then(isTheirs)).toBe(true)
    expect(page.url()).toBe(order)
  })

  test('"sold out" is a page for caches, without a cookie, and a restock brings the sale back', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('gone', -1_000, { products: [{ ...PRODUCT, total: 0 }] })
    const cacheControl = async () => (await fetch(url)).headers.get('cache-control')
    await expect.poll(cacheControl).toBe('public, max-age=1')
    const page = await visitor(url)
    await heading(page, 'Sold out').waitFor()
    expect(await page.context().cookies()).toEqual([])
    await operator('POST', 'gone/products/one/restock', { quantity: 5 })
    await expect.poll(cacheControl).toBe('public, max-age=1')
    await button(page, 'Join the line').waitFor()
  })
})
