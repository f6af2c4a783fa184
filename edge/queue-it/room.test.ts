/** A shop with Queue-it's own connector, whose visitors wait here. */
import { Token } from '@queue-it/queue-token'
import * as v from 'valibot'
import { expect, it } from 'vitest'
import type { QueueItCustomer } from '../http/queue-it-setting.ts'
import { eventually } from '../testing/clocks.ts'
import { edgeEnv, requestsTo } from '../testing/origin.ts'
import { call, cookiesOf, TestSale } from '../testing/visitors.ts'
import { pathOfRedirect, SECRET, ShopVisitor, settingOf } from './connector-shop.ts'

const PAGE = 'https://shop.example/checkout?colour=light%20red&size=4'

type Env = typeof edgeEnv

/** A sale, and the Worker before which it stands for the event of the same name. */
async function shopBefore(changed: Partial<QueueItCustomer> = {}, sale = new TestSale()) {
  await sale.publish()
  const env: Env = { ...edgeEnv, QUEUE_IT: settingOf(sale.name, changed) }
  return { sale, env, event: sale.name }
}

/** A browser with the cookies of the edge. */
class Browser {
  readonly #env: Env
  readonly #cookies = new Map<string, string>()
  readonly #address: string

  constructor(env: Env, address = '192.0.2.1') {
    this.#env = env
    this.#address = address
  }

  async open(path: string, method = 'GET'): Promise<Response> {
    const cookie = [...this.#cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const headers = { accept: 'text/html', 'sec-fetch-site': 'same-origin', cookie, 'cf-connecting-ip': this.#address }
    const response = await call(path, { method, headers }, this.#env)
    for (const line of response.headers.getSetCookie()) {
      const [name = '', value = ''] = line.split(';', 1)[0]?.split('=') ?? []
      if (value === '') this.#cookies.delete(name)
      else this.#cookies.set(name, value)
    }
    return response
  }

  /** Follows a connector's redirect, joins, and returns the address at which the edge leads back to the shop. */
  async waitFor(path: string, sale: TestSale): Promise<string> {
    expect(await locationOf(this.open(path))).toBe(`/sales/${sale.name}`)
    await this.open(`/sales/${sale.name}/queue`, 'POST')
    return this.turn(sale)
  }

  /** The address to which the page of the visitor's own place leads, once it does. */
  turn(sale: TestSale): Promise<string> {
    return eventually(async () => (await this.open(`/sales/${sale.name}/line`)).headers.get('location') ?? false)
  }
}

const locationOf = async (response: Promise<Response>) => (await response).headers.get('location')

/** A visitor who has waited, and is in the shop. */
async function admitted(changed: Partial<QueueItCustomer> = {}) {
  const before = await shopBefore(changed)
  const [visitor, browser] = [new ShopVisitor(before.event), new Browser(before.env)]
  const back = await browser.waitFor(pathOfRedirect(await visitor.open(PAGE)), before.sale)
  return { ...before, visitor, browser, back }
}

it('a visitor waits here, returns to the page they wanted, and is known to the connector there', async () => {
  const { visitor, back } = await admitted()
  expect(back).toMatch(/^https:\/\/shop\.example\/checkout\?colour=light%20red&size=4&queueittoken=e_/)
  const passed = await visitor.open(back)
  expect([passed.doRedirect(), passed.redirectType]).toEqual([false, 'queue'])
  expect(v.is(v.pipe(v.string(), v.uuid()), passed.queueId)).toBe(true)
  const again = await visitor.open(PAGE)
  expect([again.doRedirect(), again.queueId]).toEqual([false, passed.queueId])
})

it('a call by a page’s script waits for that page, and its token may come in the header', async () => {
  const { sale, env, event } = await shopBefore()
  const visitor = new ShopVisitor(event)
  const headers = { 'x-queueit-ajaxpageurl': encodeURIComponent(PAGE) }
  const held = await visitor.open('https://shop.example/api/basket', { headers })
  expect([held.isAjaxResult, held.getAjaxQueueRedirectHeaderKey()]).toEqual([true, 'x-queueit-redirect'])
  const redirectUrl = decodeURIComponent(held.getAjaxRedirectUrl())
  const back = await new Browser(env).waitFor(pathOfRedirect({ redirectUrl }), sale)
  expect(back.startsWith(`${PAGE}&queueittoken=`)).toBe(true)
  const token = back.slice(back.indexOf('queueittoken=') + 'queueittoken='.length)
  const passed = await visitor.open('https://shop.example/api/basket', {
    headers: { ...headers, 'x-queueittoken': token },
  })
  expect(passed.doRedirect()).toBe(false)
})

it('a token that is bound to an address is good there alone, and the error page says so', async () => {
  const { sale, env, visitor, browser, back } = await admitted({ bind_address: true })
  const refused = await visitor.open(back, { address: '198.51.100.7' })
  const location = await locationOf(browser.open(pathOfRedirect(refused)))
  expect(location).toBe(`/sales/${sale.name}/shop-error/ip`)
  const page = await (await call(`${location}?lang=de`, { headers: { accept: 'text/html' } }, env)).text()
  expect(page).toContain('Dein Netz hat gewechselt')
  expect(page).toContain(`href="/sales/${sale.name}/line?lang=de"`)
  expect((await visitor.open(await browser.turn(sale))).doRedirect()).toBe(false)
})

it.each(['hash', 'eventid', 'timestamp', 'ip', 'qidlimit', 'connector/sessionstate'])(
  'the error page of a connector explains %s',
  async (cause) => {
    const { env, event, sale } = await shopBefore()
    const token = 'queueittoken=e_a~h_b&ts=1'
    const query = `c=acme&e=${event}&ver=javascript-5.0.1&cver=7&man=x&${token}&t=${encodeURIComponent(PAGE)}`
    const browser = new Browser(env)
    const location = (await locationOf(browser.open(`/q/acme/error/${cause}/?${query}`))) ?? ''
    expect(location).toBe(`/sales/${sale.name}/shop-error/${cause.replace('connector/', '')}`)
    const page = await browser.open(location)
    expect([page.status, page.headers.get('cache-control')]).toEqual([200, 'no-store'])
    expect(await page.text()).toMatch(/<h1[^>]*>(The way back|Your network|Your pass|The shop could not)/)
  },
)

it('a real connector with another secret leads to the error page', async () => {
  const { env, event, sale, back } = await admitted()
  const refused = await new ShopVisitor(event, { secret: SECRET.replace('e', 'f') }).open(back)
  expect(await locationOf(new Browser(env).open(pathOfRedirect(refused)))).toBe(`/sales/${sale.name}/shop-error/hash`)
})

it('a cancelled visitor has given up the place, and waits again', async () => {
  const { sale, env, event, visitor, browser, back } = await admitted()
  await visitor.open(back)
  const cancelled = visitor.cancel('https://shop.example/thanks')
  // The same address gives up nothing in another browser.
  expect(await locationOf(new Browser(env).open(pathOfRedirect(cancelled)))).toBe('https://shop.example/thanks')
  expect(await browser.turn(sale)).toContain('queueittoken')
  expect(await locationOf(browser.open(pathOfRedirect(cancelled)))).toBe('https://shop.example/thanks')
  const held = await visitor.open(PAGE)
  expect(held.doRedirect()).toBe(true)
  expect(await locationOf(browser.open(pathOfRedirect(held)))).toBe(`/sales/${event}`)
})

it('an older connector cancels one place by its id, and a wrong id changes nothing', async () => {
  const { sale, event, visitor, browser, back } = await admitted()
  const { queueId } = await visitor.open(back)
  const r = encodeURIComponent('https://shop.example/thanks')
  const cancel = (id: string) => locationOf(browser.open(`/q/acme/cancel/acme/${event}/${id}?c=acme&e=${event}&r=${r}`))
  expect(await cancel('wrong')).toBe('https://shop.example/thanks')
  // A room of elsewhere does not hold up a buyer.
  expect(await locationOf(browser.open(`/q/acme/cancel/multiple/acme?wrl=elsewhere~x_${event}&r=${r}`))).toBe(
    'https://shop.example/thanks',
  )
  expect(await browser.turn(sale)).toContain('queueittoken')
  expect(await cancel(queueId)).toBe('https://shop.example/thanks')
  expect(await locationOf(browser.open(`/q/acme/?c=acme&e=${event}`))).toBe(`/sales/${event}`)
})

it('nobody is redirected to another host, by any way', async () => {
  const { env, event, sale } = await shopBefore()
  const evil = encodeURIComponent('https://evil.example/')
  for (const path of [
    `/q/acme/?c=acme&e=${event}&t=${evil}`,
    `/q/acme/error/hash/?c=acme&e=${event}&t=${evil}`,
    `/q/acme/cancel/multiple/acme?wrl=${event}~x&r=${evil}`,
    `/q/acme/cancel/acme/${event}/x?r=${evil}`,
  ]) {
    const response = await new Browser(env).open(path)
    expect([path, response.status, response.headers.get('location')]).toEqual([path, 400, null])
  }
  // A cookie that the visitor wrote is no visit, and leads to the start of the shop.
  const text = btoa(JSON.stringify({ c: 'acme', e: event, t: 'https://shop.example/secret' }))
  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' }, env)
  const cookie = `${cookiesOf(joined)}; return-shop.${sale.name}=${text}.${'A'.repeat(43)}`
  const turn = await eventually(async () => (await sale.line({ cookie }, env)).headers.get('location'))
  expect(turn).toMatch(/^https:\/\/shop\.example\/\?queueittoken=/)
})

it('a shop that requires enqueue tokens lets in nobody without one', async () => {
  const { sale, env, event } = await shopBefore({ enqueue_token: 'required' })
  const tokenFor = (customer: string) =>
    Token.Enqueue(customer).WithEventId(event).WithValidity(60_000).Generate(SECRET).Token
  for (const enqueueToken of ['', 'junk', tokenFor('other')]) {
    const held = await new ShopVisitor(event, { enqueueToken }).open(PAGE)
    const page = await locationOf(new Browser(env).open(pathOfRedirect(held)))
    expect(page).toBe(`/sales/${sale.name}/shop-error/enqueuetoken`)
  }
  // Joining at the sale's own page is not a way around it.
  const joined = await sale.join({ 'sec-fetch-site': 'same-origin' }, env)
  const turn = await eventually(async () => {
    const line = await sale.line({ cookie: cookiesOf(joined) }, env)
    return /id="turn"/.test(await line.text()) && line
  })
  expect(turn.headers.get('location')).toBeNull()
  const visitor = new ShopVisitor(event, { enqueueToken: tokenFor('acme') })
  const back = await new Browser(env).waitFor(pathOfRedirect(await visitor.open(PAGE)), sale)
  expect((await visitor.open(back)).doRedirect()).toBe(false)
})

it('an unknown customer, event or cause is not found, and without the setting nothing is here', async () => {
  const { env, event } = await shopBefore()
  for (const path of [
    `/q/other/?c=other&e=${event}`,
    `/q/acme/?c=other&e=${event}`,
    '/q/acme/?c=acme&e=constructor',
    '/q/acme/?c=acme',
    `/q/acme/error/other/?c=acme&e=${event}`,
    `/q/acme/cancel/multiple/other?wrl=${event}~x`,
    `/sales/${event}/shop-error/constructor`,
  ])
    expect([path, (await call(path, {}, env)).status]).toEqual([path, 404])
  expect((await call(`/q/acme/?c=acme&e=${event}`)).status).toBe(404)
  expect((await call(`/sales/${event}/shop-error/hash`)).status).toBe(404)
})

it('once the event is over everybody passes, for minutes at a time', async () => {
  const { sale, env, event } = await shopBefore()
  await sale.publish({ phase: 'ended' })
  await sale.push()
  await sale.until(({ phase }) => phase === 'ended')
  const visitor = new ShopVisitor(event)
  const back = (await locationOf(new Browser(env).open(pathOfRedirect(await visitor.open(PAGE))))) ?? ''
  const passed = await visitor.open(back)
  expect([passed.doRedirect(), passed.redirectType]).toEqual([false, 'afterevent'])
  expect([...visitor.cookies.values()][0]).toContain('FixedValidityMins=3')
})

it('a visitor who waited until the end goes on by the page that says so, and nobody before', async () => {
  const { sale, env, event } = await shopBefore()
  const browser = new Browser(env)
  await browser.open(pathOfRedirect(await new ShopVisitor(event).open(PAGE)))
  expect((await browser.open(`/sales/${event}/wanted`)).status).toBe(404)
  await sale.publish({ phase: 'ended' })
  await sale.push()
  await sale.until(({ phase }) => phase === 'ended')
  expect(await (await browser.open(`/sales/${event}/line`)).text()).toContain(`href="/sales/${event}/wanted"`)
  const back = (await locationOf(browser.open(`/sales/${event}/wanted`))) ?? ''
  expect(back.startsWith(`${PAGE}&queueittoken=`)).toBe(true)
  expect((await new ShopVisitor(event).open(back)).doRedirect()).toBe(false)
})

it('the room keeps the language of the connector', async () => {
  const { env, event } = await shopBefore()
  const open = (culture: string) => locationOf(new Browser(env).open(`/q/acme/?c=acme&e=${event}&cid=${culture}`))
  expect(await open('de-CH')).toBe(`/sales/${event}?lang=de`)
  expect(await open('nl-NL')).toBe(`/sales/${event}`)
})

it('who went to the shop counts as inside, until they cancel', async () => {
  const { sale, visitor, browser, back } = await admitted({ session_minutes: 7 })
  const sessions = async () => {
    const { requests } = await requestsTo(`/internal/sales/${sale.name}`)
    return requests.flatMap(({ query, body }) => [query, body].filter((text) => text.includes('sessions')))
  }
  await expect.poll(async () => decodeURIComponent((await sessions()).join())).toMatch(/"1":420/)
  await visitor.open(back)
  await browser.open(pathOfRedirect(visitor.cancel('https://shop.example/thanks')))
  await expect.poll(async () => decodeURIComponent((await sessions()).join())).toMatch(/"1":0/)
})

it('a form may lead to the shop, so that a browser without a script follows it', async () => {
  const { env, event } = await shopBefore()
  const page = await call(`/sales/${event}`, { headers: { accept: 'text/html' } }, env)
  expect(page.headers.get('content-security-policy')).toContain(
    "form-action 'self' https://shop.example http://shop.example;",
  )
  const other = await (await new TestSale().publish()).page()
  expect(other.headers.get('content-security-policy')).toContain("form-action 'self';")
})
