/**
 * Further stories of a sale in a real browser: languages, announcements, tabs, pushes, late scripts, and orders that end.
 */
import type { Locator, Page } from 'playwright-core'
import { describe } from 'vitest'
import { newVapidKeys } from '../../dev/lib/data-folder.ts'
import { commitmentOf } from '../../shared/draw.ts'
import { eventually } from '../lib/eventually.ts'
import { button, goTo, hasText, heading, isConnected, link, newTab, storyTest, toggle } from '../lib/in-browser.ts'
import { FOCUSED, numberOf, PRODUCT, pay, reserve, SLOW, toBank, useShopStories } from '../lib/shop-stories.ts'
import { call } from '../lib/visitor.ts'
import { hasBrowser } from '../run/shared-part.ts'

const FEW_AND_MANY = {
  limit_per_visitor: 5,
  products: [
    { ...PRODUCT, product_id: 'few', name: 'Few', total: 2 },
    { ...PRODUCT, product_id: 'many', name: 'Many', total: 20 },
  ],
}
/** The event that the browser fires when the visitor returns to the page, which then fetches at once. */
const RETURNING = `document.dispatchEvent(new Event('visibilitychange'))`
/** Reads what a page shows to a visitor who returns to it. */
async function returned<T>(page: Page, read: () => Promise<T>): Promise<T> {
  await page.evaluate(RETURNING)
  return read()
}

/** Returns to the page until it shows this. */
async function seesOnReturn(page: Page, shown: Locator): Promise<void> {
  const isShown = () => returned(page, () => shown.isVisible())
  if (!(await eventually(isShown, Boolean))) throw new Error(`The page does not show ${shown}.`)
}

const test = storyTest(/ERR_INTERNET_DISCONNECTED|Failed to load resource/)

describe.skipIf(!hasBrowser)('in a browser', { concurrent: true }, () => {
  const { operator, sale, system } = useShopStories()

  /** Further visitors take places in the queue. */
  const othersJoin = async (url: string, times: number) => {
    for (let i = 0; i < times; i++) await call('POST', `${url}/queue`)
  }

  const giveBack = async (page: Page) => {
    await page.getByText('Give it back', { exact: true }).click()
    await button(page, 'Yes, give it back').click()
  }

  test('a visitor chooses a language, and keeps it on every page', async ({ visitor, expect }) => {
    const url = await sale('spoken', 600_000)
    const page = await visitor(url)
    const language = (of: Page) => of.evaluate<string>('document.documentElement.lang')
    await link(page, 'Deutsch').click()
    await button(page, 'Platz in der Lobby nehmen').waitFor()
    // The page that is the same for all visitors has another language in this browser.
    const tab = await newTab(page, url)
    await button(tab, 'Platz in der Lobby nehmen').click()
    await heading(tab, 'Du bist in der Lobby').waitFor()
    await tab.reload()
    await heading(tab, 'Du bist in der Lobby').waitFor()
    expect(await language(tab)).toBe('de')
    await link(tab, 'English').click()
    await heading(tab, 'You are in the lobby').waitFor()
    await tab.context().clearCookies()
    await operator('POST', 'spoken/open')
    await heading(tab, 'This needs cookies').waitFor()
    await tab.getByText('it blocks cookies, or they were deleted').waitFor()
  })

  test('an announcement is seen by all without a request of its own, and read out once', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('announced', -1_000, SLOW)
    const [line, landing] = await Promise.all([visitor(url), visitor(url)])
    await button(line, 'Join the line').click()
    await heading(line, 'You are in line').waitFor()
    const pages = [line, landing]
    const CHANGES = 'globalThis.announced'
    for (const page of pages) {
      await page.evaluate(`${CHANGES} = 0; new MutationObserver(() => ${CHANGES}++)
        .observe(document.getElementById('shop-announcement'), { childList: true, subtree: true })`)
    }
    const requested: string[] = []
    for (const page of pages) page.on('request', (request) => requested.push(new URL(request.url()).pathname))
    const announce = (text: object) => operator('PUT', 'announced/announcement', { level: 'warning', text })
    const sees = (page: Page, hasText: string) =>
      seesOnReturn(page, page.locator('#shop-announcement p[dir=auto]', { hasText }))
    const text = 'Doors close at noon.'
    await announce({ en: text })
    await Promise.all(pages.map((page) => sees(page, text)))
    for (const page of pages) await page.locator('#shop-announcement').getByText('Important', { exact: true }).waitFor()
    // The page's second script may arrive only now.
    const own = requested.filter((path) => !path.startsWith('/assets/'))
    expect(new Set(own.filter((path) => !path.endsWith('/feed')))).toEqual(new Set(['/sales/announced/schedule']))
    // The next schedule has the same announcement. If a page shows another one, its script has read it.
    for (const page of [...pages, ...pages])
      await Promise.all([page.waitForResponse(/\/schedule$/), page.evaluate(RETURNING)])
    expect(await Promise.all(pages.map((page) => page.evaluate(CHANGES)))).toEqual([1, 1])

    await operator('POST', 'announced/end')
    await seesOnReturn(line, heading(line, 'The sale has ended'))
    await announce({ en: 'Thank you all.' })
    await sees(line, 'Thank you all.')
    await operator('DELETE', 'announced/announcement')
    const shown = line.locator('#shop-announcement p[dir=auto]')
    await expect.poll(() => returned(line, () => shown.count())).toBe(0)
    // Both posts stay in the feed.
    await expect.poll(() => line.locator('#posts p[dir=auto]').allTextContents()).toEqual(['Thank you all.', text])
  })

  test('posts of the shop come to a page that is open, with older ones, and go when they are taken away', async ({
    visitor,
    newPage,
    expect,
  }) => {
    const url = await sale('posting', -1_000, SLOW)
    const post = (en: string) => operator('POST', 'posting/feed', { text: { en } })
    for (let i = 1; i <= 11; i++) await post(`Number ${i}`)
    const page = await visitor(url)
    const texts = () => page.locator('#posts p[dir=auto]').allTextContents()
    const numbers = (from: number, to: number) => Array.from({ length: from - to + 1 }, (_, i) => `Number ${from - i}`)
    await expect.poll(() => returned(page, texts)).toEqual(numbers(11, 2))
    // Until the script handles the link, it leads to a separate page.
    const isTaken = () => page.evaluate("document.getElementById('older-posts').onclick !== null")
    await expect.poll(isTaken).toBe(true)
    await link(page, 'Older posts').click()
    await expect.poll(texts).toEqual(numbers(11, 1))
    expect(await link(page, 'Older posts').isVisible()).toBe(false)
    // A screen reader reads only the new post.
    await post('<b>Number</b> 12')
    await expect.poll(() => returned(page, texts)).toEqual(['<b>Number</b> 12', ...numbers(11, 1)])
    expect(await page.locator('#posts[aria-live=polite] > li:not([aria-live])').count()).toBeGreaterThan(0)
    expect(await page.locator('#posts > li').last().getAttribute('aria-live')).toBe('off')
    // An edited post changes where it stands, once.
    await operator('PATCH', 'posting/feed/10', { text: { en: 'Number ten' } })
    await expect.poll(texts).toContain('Number ten')
    expect(await page.locator('#posts li[data-n="10"]').getByText('edited', { exact: true }).count()).toBe(1)
    await operator('PATCH', 'posting/feed/10', { text: { en: 'Number 10' } })
    await expect.poll(texts).toContain('Number 10')
    await operator('DELETE', 'posting/feed/11')
    await expect.poll(() => returned(page, texts)).toEqual(['<b>Number</b> 12', ...numbers(10, 1)])

    const plain = await newPage({ javaScriptEnabled: false })
    await plain.goto(url)
    await link(plain, 'Older posts').click()
    await expect.poll(() => plain.locator('.feed p[dir=auto]').allTextContents()).toEqual(numbers(10, 1))
    await link(plain, 'Deutsch').click()
    await heading(plain, 'Vom Shop').waitFor()
  })

  test('a turn is told by a sound and a notification to whoever switched them on, once', async ({
    newPage,
    expect,
  }) => {
    const url = await sale('noticed', 600_000)
    const page = await newPage({ permissions: ['notifications'] })
    await page.addInitScript(`globalThis.told = []
      globalThis.Notification = class {
        static permission = 'granted'
        constructor(title, { body }) { told.push(title + ': ' + body) }
      }
      document.hasFocus = () => false
      const { createOscillator } = AudioContext.prototype
      AudioContext.prototype.createOscillator = function () {
        told.push('tone')
        return createOscillator.call(this)
      }`)
    await page.goto(url)
    await button(page, 'Take a place in the lobby').click()
    for (const name of ['Play a sound', 'Show a notification']) {
      await toggle(page, name).click()
      await expect.poll(() => toggle(page, name).getAttribute('aria-checked')).toBe('true')
    }
    // The sound is played when it is switched on, so that the visitor knows its volume.
    const told = () => page.evaluate<string[]>('told')
    expect(await told()).toEqual(['tone', 'tone', 'tone'])
    await operator('POST', 'noticed/open')
    await heading(page, 'It is your turn').waitFor()
    expect((await told()).slice(3)).toEqual([
      ...Array.from({ length: 9 }, () => 'tone'),
      'It is your turn: Trainers "<b>Ünï</b>" 👟',
    ])
    expect(await page.title()).toContain('It is your turn')
    const again = await newTab(page, await sale('noticed-again', 600_000))
    await button(again, 'Take a place in the lobby').click()
    await expect.poll(() => toggle(again, 'Play a sound').getAttribute('aria-checked')).toBe('true')
  })

  test('a visitor switches messages by push on and off, and a click on one opens its page', async ({
    newPage,
    expect,
  }) => {
    const url = await sale('pushed', 600_000)
    const page = await newPage()
    // A headless browser without a network has no push service and shows no notifications.
    const subscription = {
      endpoint: 'https://127.0.0.1/push',
      keys: { p256dh: newVapidKeys().public, auth: 'A'.repeat(22) },
    }
    await page.addInitScript(`globalThis.asked = 0
      Object.defineProperty(Notification, 'permission', { get: () => (localStorage.allowed ? 'granted' : 'default') })
      Notification.requestPermission = async () => {
        asked++
        localStorage.allowed = 'yes'
        return 'granted'
      }
      const subscribed = ${JSON.stringify(subscription)}
      subscribed.toJSON = () => subscribed
      PushManager.prototype.getSubscription = async () => (localStorage.key ? subscribed : null)
      PushManager.prototype.subscribe = async ({ applicationServerKey }) => {
        localStorage.key = applicationServerKey
        return subscribed
      }`)
    const statuses: number[] = []
    page.on('response', (response) => response.url() === `${url}/push` && statuses.push(response.status()))
    await page.goto(url)
    await button(page, 'Take a place in the lobby').click()
    const push = toggle(page, 'Notify this device, even with the page closed')
    await push.waitFor()
    const asked = () => page.evaluate<number>('asked')
    expect([await asked(), page.context().serviceWorkers()]).toEqual([0, []])
    const [worker] = await Promise.all([page.context().waitForEvent('serviceworker'), push.click()])
    const isOn = (wanted: boolean) => expect.poll(() => push.getAttribute('aria-checked')).toBe(String(wanted))
    await isOn(true)
    expect([await asked(), statuses]).toEqual([1, [204]])
    expect(await page.evaluate('localStorage.key')).toMatch(/^B[\w-]{86}$/)
    expect(await page.evaluate('navigator.serviceWorker.controller')).toBeNull()

    await worker.evaluate(`globalThis.told = []
      registration.showNotification = async (...shown) => void told.push(shown)
      clients.openWindow = async (...opened) => void told.push(opened)`)
    const message = { title: 'Hello', body: 'You', lang: 'en', url: `${url}/order/7`, tag: 'a' }
    const cdp = await page.context().newCDPSession(page)
    const registered = Promise.withResolvers<string>()
    cdp.on('ServiceWorker.workerRegistrationUpdated', ({ registrations }) => {
      for (const { registrationId, scopeURL } of registrations)
        if (scopeURL.startsWith(system().edgeUrl)) registered.resolve(registrationId)
    })
    await cdp.send('ServiceWorker.enable')
    const to = { origin: system().edgeUrl, registrationId: await registered.promise }
    await cdp.send('ServiceWorker.deliverPushMessage', { ...to, data: JSON.stringify(message) })
    const told = () => worker.evaluate<unknown>('told')
    const shown = [message.title, { body: 'You', lang: 'en', tag: 'a', data: message.url }]
    await expect.poll(told).toEqual([shown])
    await worker.evaluate(
      `dispatchEvent(Object.assign(new ExtendableEvent('notificationclick'), { notification: { close() {}, ` +
        `data: '${message.url}' } }))`,
    )
    await expect.poll(told).toEqual([shown, [message.url]])

    await page.reload()
    await isOn(true)
    await push.click()
    await isOn(false)
    expect([await asked(), statuses]).toEqual([0, [204, 204]])
    // The subscription still exists when the turn comes.
    await operator('POST', 'pushed/open')
    await heading(page, 'It is your turn').waitFor()
    await push.click()
    await isOn(true)
    expect(statuses).toEqual([204, 204, 204])
    const plain = await newPage({ javaScriptEnabled: false })
    await plain.goto(url)
    await button(plain, 'Join the line').click()
    await heading(plain, 'It is your turn').waitFor()
    expect(await plain.locator('#notice-push').isVisible()).toBe(false)
  })

  test('the page confirms that the revealed seed fits its commitment', async ({ visitor, expect }) => {
    const url = await sale('confirmed', 600_000, SLOW)
    const pages = await Promise.all([visitor(url), visitor(url)])
    for (const page of pages) {
      await button(page, 'Take a place in the lobby').click()
      await heading(page, 'You are in the lobby').waitFor()
    }
    await operator('POST', 'confirmed/open')
    for (const page of pages) {
      await page.getByText('Checked on this device').waitFor()
      await page.getByText('Opened', { exact: true }).waitFor()
      await hasText(page.locator('#draw-yours'), /^Draw number \d+ of \d+ was drawn to place \d+\.$/)
    }
    const places = await Promise.all(pages.map((page) => page.locator('#draw-yours').textContent()))
    expect(new Set(places.map((text) => text?.split(' ').at(-1))).size).toBe(2)
  })

  test('the page warns of a seed that does not fit the commitment it saw', async ({ visitor, expect }) => {
    const page = await visitor(await sale('swapped', 600_000, SLOW))
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in the lobby').waitFor()
    // The shop replaces both seed and commitment, as if nobody had stored the old one.
    await page.route('**/schedule', async (route) => {
      const schedule = await (await route.fetch()).json()
      const draw_seed = schedule.draw_seed && 'ab'.repeat(32)
      await route.fulfill({
        json: { ...schedule, draw_seed, draw_commitment: commitmentOf('ab'.repeat(32)) },
      })
    })
    await operator('POST', 'swapped/open')
    await page.getByText('This does not fit').waitFor()
    expect(await page.getByText('Checked on this device').isVisible()).toBe(false)
    await page.unrouteAll({ behavior: 'ignoreErrors' })
  })

  test('six tabs that join at once share one place, and each shows what happens in another', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('tabs', -1_000, SLOW)
    await othersJoin(url, 5)
    const page = await visitor(url)
    const [tab, ...more] = await Promise.all([1, 2, 3, 4, 5].map(() => newTab(page, url)))
    if (!tab) throw new Error('There is no second tab.')
    const tabs = [page, tab, ...more]
    for (const one of tabs) await isConnected(one)
    await Promise.all(
      tabs.map((one) => one.evaluate(`document.querySelector('form[action$="/queue"]').requestSubmit()`)),
    )
    for (const one of tabs) await heading(one, 'You are in line').waitFor()
    expect(new Set(await Promise.all(tabs.map(numberOf))).size).toBe(1)
    expect(await numberOf(page)).toMatch(/^\d+$/)
    await hasText(page.locator('#ahead'), /^[3-5]$/)
    await tab.getByText('Give up my place').click()
    await button(tab, 'Yes, give it up').click()
    await button(page, 'Join the line').waitFor()
  })

  test('whoever has a place is led to it from the page that all see, and left there once it is given up', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('led', -1_000, SLOW)
    await othersJoin(url, 5)
    const page = await visitor(url)
    await button(page, 'Join the line').click()
    await heading(page, 'You are in line').waitFor()
    const number = await numberOf(page)
    await page.goto(url)
    await heading(page, 'You are in line').waitFor()
    expect([await numberOf(page), page.url()]).toEqual([number, `${url}/line?joined`])
    await page.getByText('Give up my place').click()
    await button(page, 'Yes, give it up').click()
    await button(page, 'Join the line').waitFor()
    await expect.poll(() => page.url()).toBe(url)
    await page.reload()
    await button(page, 'Join the line').waitFor()
    expect(await numberOf(page)).toBeNull()

    const plain = await visitor(url, { javaScriptEnabled: false })
    await button(plain, 'Join the line').click()
    await heading(plain, 'You are in line').waitFor()
    const own = await numberOf(plain)
    await plain.goto(url)
    await link(plain, 'I already have a place').click()
    await heading(plain, 'You are in line').waitFor()
    expect(await numberOf(plain)).toBe(own)
  })

  test('whoever has no session is led to sign in, and finds their place again after the session ended', async ({
    visitor,
    expect,
  }) => {
    const url = await sale('members', -1_000, { access: { sign_in: 'required' } })
    const page = await visitor(url)
    const signIn = async () => {
      await link(page, 'Sign in').click()
      await page.getByLabel('Account').fill('bob')
      await button(page, 'Sign in').click()
    }
    const joins: string[] = []
    page.on('request', (request) => request.url().endsWith('/queue') && joins.push(request.method()))
    await button(page, 'Join the line').click()
    await hasText(page.getByRole('alert'), 'Please sign in first')
    expect(joins).toEqual(['POST'])
    await page.getByText('This sale is for people who are signed in').filter({ visible: true }).waitFor()
    await signIn()
    await page.getByText('You are signed in to the shop').filter({ visible: true }).waitFor()
    expect(await link(page, 'Sign in').isVisible()).toBe(false)
    expect(page.url()).toBe(`${url}/line`)
    await isConnected(page)
    await button(page, 'Join the line').click()
    await heading(page, 'It is your turn').waitFor()
    const number = await numberOf(page)
    await page.context().clearCookies({ name: 'shop_session' })
    await page.goto(url)
    await heading(page, 'You are signed out of the shop').waitFor()
    await signIn()
    await heading(page, 'It is your turn').waitFor()
    expect(await numberOf(page)).toBe(number)
  })

  test('a page is painted before its script has arrived', async ({ newPage, expect }) => {
    const url = await sale('late', -1_000, SLOW)
    const page = await newPage()
    await page.route('**/*.js', () => {})
    await page.goto(url, { waitUntil: 'commit' })
    const painted = () => page.evaluate(`performance.getEntriesByName('first-paint').length`)
    await expect.poll(painted).toBe(1)
  })

  test('a page whose script is lost says so after a while, and is live once it is loaded again', async ({
    newPage,
    expect,
  }) => {
    const url = await sale('stuck', 600_000, SLOW)
    const page = await newPage({ reducedMotion: 'reduce' })
    const note = page.getByText('Part of this page has not arrived')
    await page.route('**/*.js', (route) => route.abort())
    await page.goto(url)
    expect(await note.isVisible()).toBe(false)
    await page.evaluate(`document.getAnimations().forEach((animation) => animation.finish())`)
    await note.waitFor()
    await page.unroute('**/*.js')
    await link(page, 'Load it again').click()
    await isConnected(page)
    expect(await note.getAttribute('hidden')).toBe('')
  })

  test('a visitor can join and leave by keyboard alone', async ({ visitor }) => {
    const page = await visitor(await sale('keys', 600_000))
    const press = async (name: string) => {
      for (let i = 0; i < 10; i++) {
        await page.keyboard.press('Tab')
        if ((await page.evaluate(FOCUSED)) === name) return page.keyboard.press('Enter')
      }
      throw new Error(`${name} cannot be reached by keyboard`)
    }
    await press('Take a place in the lobby')
    await heading(page, 'You are in the lobby').waitFor()
    await press('Give up my place')
    await press('Yes, give it up')
    await button(page, 'Take a place in the lobby').waitFor()
  })

  test('the focus moves from content that goes away to the heading that replaces it', async ({ visitor, expect }) => {
    const url = await sale('focus', -1_000, SLOW)
    await othersJoin(url, 1)
    const page = await visitor(url)
    await button(page, 'Join the line').click()
    await page.getByText('Give up my place').focus()
    await operator('POST', 'focus/end')
    await expect.poll(() => page.evaluate(`${RETURNING}, ${FOCUSED}`)).toBe('The sale has ended')
  })

  test('a visitor who wants more than is left may choose again, also by a reload', async ({
    visitorWithTurn,
    expect,
  }) => {
    const page = await visitorWithTurn(await sale('fewer', -1_000, FEW_AND_MANY))
    const few = page.getByLabel('Few', { exact: true })
    // The page preselects nothing.
    expect(await few.inputValue()).toBe('')
    await few.fill('4')
    await button(page, 'Reserve').click()
    await hasText(page.getByRole('alert'), 'Only 2 left: Few.')
    expect(await few.inputValue()).toBe('2')
    await page.reload()
    await heading(page, 'It is your turn').waitFor()
  })

  test('the one order that the limit allows replaces the turn, until it is given back', async ({
    visitorWithTurn,
    expect,
  }) => {
    const url = await sale('one-each', -1_000)
    const page = await visitorWithTurn(url)
    const tab = await newTab(page, url)
    await button(tab, 'Reserve').focus()
    await reserve(page)
    await heading(tab, 'You have an order here').waitFor()
    expect(await tab.evaluate(FOCUSED)).toBe('You have an order here')
    expect(await button(tab, 'Reserve').isVisible()).toBe(false)
    expect(await tab.title()).toMatch(/^You have an order here · /)
    await giveBack(page)
    await heading(tab, 'It is your turn').waitFor()
    expect(await tab.getByText('You have an order here').isVisible()).toBe(false)
  })

  test('a turn shows what others reserve and give back, and a changed price', async ({ visitorWithTurn, expect }) => {
    const url = await sale('shared', -1_000, FEW_AND_MANY)
    const page = await visitorWithTurn(url)
    await page.getByLabel('Many', { exact: true }).fill('1')
    const few = page.locator('.cart-lines li').filter({ hasText: 'Few' })
    const sees = (hasText: string) => seesOnReturn(page, few.filter({ hasText }))
    await sees('2 left')
    const other = await visitorWithTurn(url)
    await other.getByLabel('Few', { exact: true }).fill('2')
    await button(other, 'Reserve').click()
    await sees('gone')
    await giveBack(other)
    await sees('2 left')
    expect(await page.getByLabel('Many', { exact: true }).inputValue()).toBe('1')
    await sees('€1.00')
    const products = FEW_AND_MANY.products.map((product) => ({ ...product, unit_price_minor: 250 }))
    await sale('shared', -1_000, { ...FEW_AND_MANY, products })
    await sees('€2.50')
  })

  test('the landing page shows and announces a pause, and then the end', async ({ visitor, expect }) => {
    const page = await visitor(await sale('landing', -1_000, SLOW))
    await button(page, 'Join the line').waitFor()
    await operator('POST', 'landing/pause')
    await expect.poll(() => page.evaluate(`${RETURNING}, document.title`)).toMatch(/^The line is paused · /)
    await hasText(page.getByRole('status'), 'The line is paused')
    await operator('POST', 'landing/end')
    await expect.poll(() => returned(page, () => page.locator('#final h1').count())).toBe(1)
  })

  test('whoever has a turn reads why the sale is paused, also when they reserve', async ({ visitorWithTurn }) => {
    const page = await visitorWithTurn(await sale('turn-paused', -1000))
    await operator('POST', 'turn-paused/pause', { reason: { en: 'The bank is slow.' } })
    await page.getByText('Nobody can reserve for the moment').waitFor()
    await page.locator('#turn').getByText('The bank is slow.').waitFor()
    await hasText(page.locator('#announcement'), 'The line is paused. The bank is slow.')
    // The response is the same page, and shows nothing new.
    const answered = page.waitForResponse(/\/buy$/)
    await button(page, 'Reserve').click()
    await answered
    await page.locator('#turn').getByText('The bank is slow.').waitFor()
    await operator('POST', 'turn-paused/resume')
    await page.reload()
    await page.getByText('Nobody can reserve for the moment').waitFor({ state: 'hidden' })
    await reserve(page)
  })

  test('the page of an order shows that its hold has ended, and the way back', async ({ visitorWithTurn }) => {
    const page = await visitorWithTurn(await sale('brief', -1_000, { hold_seconds: 2 }))
    await button(page, 'Reserve').click()
    await heading(page, 'The time was up').waitFor()
    await link(page, 'Back to the sale').waitFor()
  })

  test('the page of all leads a member into the members’ line, whose schedule its script follows', async ({
    visitor,
    expect,
  }) => {
    const members = {
      line: 'members',
      name: { en: 'Club members' },
      opens_early_seconds: 700,
      access: { sign_in: 'required' },
    }
    const url = await sale('two-lines', 600_000, { ...SLOW, lines: [members, { line: 'public' }] })
    const page = await visitor(url)
    await page.getByText('There is a line of its own').filter({ visible: true }).waitFor()
    await link(page, 'Sign in').filter({ visible: true }).click()
    await page.getByLabel('Account').fill('mia')
    await button(page, 'Sign in').click()
    await page.getByText('You are signed in to the shop').filter({ visible: true }).waitFor()
    const schedules: string[] = []
    page.on('request', (request) => schedules.push(new URL(request.url()).search))
    await button(page, 'Take a place in the lobby').click()
    await heading(page, 'You are in line').waitFor()
    await page.getByText('Your line: Club members').waitFor()
    await page.evaluate(RETURNING)
    await expect.poll(() => schedules).toContain('?line=members')
    await isConnected(page)
    const tab = await newTab(page, url)
    await heading(tab, 'You are in line').waitFor()
    // The tab starts on the page that is the same for all, with the public line's schedule.
    await page.evaluate(RETURNING)
    expect(await heading(page, 'You are in line').isVisible()).toBe(true)
    const stranger = await visitor(url)
    await button(stranger, 'Take a place in the lobby').click()
    await heading(stranger, 'You are in the lobby').waitFor()
    await stranger.getByText('Your line: for everyone').waitFor()
  })

  test('a problem is a page in the visitor’s language', async ({ newPage }) => {
    const url = await sale('wrong', -1_000, SLOW)
    const page = await newPage({ locale: 'de-DE' })
    await page.goto(`${system().edgeUrl}/sales/no-such-sale`)
    await heading(page, 'Diesen Verkauf gibt es nicht').waitFor()
    await page.goto(`${url}/order/019a1fcb-824e-74eb-bb3e-e54755d9709e`)
    await heading(page, 'Diese Bestellung kann hier nicht gezeigt werden').waitFor()
    await link(page, 'Zurück zum Verkauf').click()
    await button(page, 'Anstellen').waitFor()
  })

  test('two tabs that show one order do not keep waking each other', async ({ newPage, expect }) => {
    const page = await newPage()
    await page.context().addInitScript(`
      globalThis.woken = 0
      addEventListener('storage', ({ key, newValue }) => {
        if (key !== 'ping') globalThis.woken++
        else if (newValue === 'there') localStorage.setItem('ping', 'and back')
        else globalThis.isBack = true
      })`)
    await goTo(page, await sale('quiet', -1_000))
    await button(page, 'Join the line').click()
    await heading(page, 'It is your turn').waitFor()
    await reserve(page)
    const tab = await newTab(page, page.url())
    await isConnected(tab)
    // The second tab stores the order too, and the first does not react.
    await expect.poll(() => page.evaluate('woken')).toBe(1)
    // Storage events arrive in order, so once this one arrives, any that the first tab had caused would have arrived
    // too.
    await tab.evaluate(`localStorage.setItem('ping', 'there')`)
    await expect.poll(() => tab.evaluate('globalThis.isBack')).toBe(true)
    expect([await page.evaluate('woken'), await tab.evaluate('woken')]).toEqual([1, 0])
  })

  test('an order whose hold ended on no page gives the turn back', async ({ visitorWithTurn, expect }) => {
    const url = await sale('unseen', -1_000, { hold_seconds: 5 })
    const page = await visitorWithTurn(url)
    await button(page, 'Reserve').click()
    // On a slow machine the hold may end before.
    await heading(page, /Reserved for you|The time was up/).waitFor()
    await page.goto(url)
    await heading(page, /You have an order here|It is your turn/).waitFor()
    await heading(page, 'It is your turn').waitFor()
    expect(await button(page, 'Reserve').isVisible()).toBe(true)
  })

  test('after an order is given back, the sale links to the one before', async ({ visitorWithTurn, expect }) => {
    const url = await sale('several', -1_000, FEW_AND_MANY)
    const page = await visitorWithTurn(url)
    await page.getByLabel('Many', { exact: true }).fill('1')
    await reserve(page)
    await pay(page)
    const paid = page.url()
    await page.goto(url)
    await page.getByLabel('Many', { exact: true }).fill('1')
    await reserve(page)
    await giveBack(page)
    await link(page, 'Back to the sale').click()
    await link(page, 'Show it').click()
    await heading(page, 'It is yours').waitFor()
    expect(page.url()).toBe(paid)
  })

  test('a declined card keeps its hold, the bank says no and then yes, and the order has a receipt', async ({
    visitorWithTurn,
    expect,
  }) => {
    const url = await sale('declined', -1_000)
    const page = await visitorWithTurn(url, { timezoneId: 'Asia/Tokyo' })
    await reserve(page)
    const order = page.url()
    const streams: Page[] = []
    page.context().on('request', (request) => request.url().endsWith('/events') && streams.push(request.frame().page()))
    const left = () => page.locator('#hold time').textContent()
    await page.getByLabel('Card without enough money').check()
    await button(page, /^Pay/).click()
    await heading(page, 'The payment did not go through').waitFor()
    await hasText(page.locator('#order'), 'not enough money on the account')
    await hasText(page.locator('#order'), 'You can try 2 more times.')
    const before = await left()
    await expect.poll(left).not.toBe(before)

    await toBank(page)
    await button(page, 'Decline').click()
    await hasText(page.locator('#order'), 'You can try once more.')
    expect(page.url()).toBe(order)
    await page.getByLabel('Card whose bank asks you to confirm').check()
    await button(page, /^Pay/).click()
    await heading(page, 'Your bank asks you to confirm').waitFor()
    // Six tabs leave connections free for other pages, because one of them has a stream, and then the next one.
    const [tab, ...more] = await Promise.all([1, 2, 3, 4, 5].map(() => newTab(page, order)))
    if (!tab) throw new Error('There is no second tab.')
    const STREAMS = `performance.getEntriesByType('resource').some(({ name }) => name.includes('/flash-sale-order.'))`
    for (const one of [page, tab, ...more]) await expect.poll(() => one.evaluate(STREAMS)).toBe(true)
    await (await newTab(page, url)).close()
    expect(new Set(streams)).toEqual(new Set([page]))
    // The page updates itself, even if the bank's page is in another tab.
    const bank = await newTab(page, (await link(page, 'On to your bank').getAttribute('href')) ?? '')
    await page.close()
    await expect.poll(() => new Set(streams).size).toBe(2)
    await button(bank, 'Approve').click()
    for (const one of [tab, ...more]) await heading(one, 'It is yours').waitFor()

    await link(tab, 'Receipt').click()
    await heading(tab, 'Receipt').waitFor()
    // The time is in the buyer's time zone, which it names.
    await expect.poll(() => tab.locator('time[data-moment]').textContent()).toMatch(/ GMT\+9$/)
    await tab.goto(tab.url().replace(/order\/.*$/, 'orders'))
    await heading(tab, 'Your orders').waitFor()
    await link(tab, 'It is yours').click()
    await heading(tab, 'It is yours').waitFor()
  })
})
