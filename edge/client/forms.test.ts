/** The page's script sends the forms or holds them back. */
import { expect, it, vi } from 'vitest'
import {
  browser,
  fire,
  has,
  heading,
  LANDING,
  open,
  passes,
  reload,
  responding,
  showing,
  stub,
  TURN,
  times,
  useBrowserPage,
} from './testing/browser-page.ts'

useBrowserPage()

const formTo = (action: string) => `<form class="once" action="/sales/demo/${action}"><button></button></form>`

/** Submits the page's form. True if the script sends it or holds it back. */
const press = () => fire('submit', document.querySelector('form') as HTMLFormElement)

it('sends an order once, and shows the page in the answer without another request', async () => {
  await open(formTo('buy'))
  stub.answersInMs = () => 5_000
  stub.answer = responding({}, showing('<h1>The order</h1>'))
  expect([press(), press()]).toEqual([true, true])
  await passes(6_000)
  expect(heading()).toBe('The order')
  expect(stub.requested.filter((path) => !path.endsWith('schedule'))).toEqual(['https://shop.example/sales/demo/buy'])
})

it('lets an order be sent again after some seconds, since it has a key, and shows the last answer alone', async () => {
  await open(formTo('buy'))
  stub.answersInMs = () => 12_000
  stub.answer = responding({}, showing('<h1>The order</h1>'))
  press()
  await passes(10_000)
  press()
  expect(times(/buy$/)).toBe(2)
  await passes(5_000)
  expect(heading()).toBeUndefined()
  await passes(10_000)
  expect(heading()).toBe('The order')
})

it('leaves it to the browser to send a form for another language', async () => {
  await open(formTo('buy'))
  const submitter = Object.assign(document.querySelector('button') as HTMLButtonElement, { lang: 'de' })
  const isHeldBack = fire('submit', document.querySelector('form') as HTMLFormElement, { submitter })
  expect([isHeldBack, times(/buy/)]).toEqual([false, 0])
})

/** Opens the landing page with its form to join, in a browser that stores the response's cookies. */
const openLanding = async (action = 'queue') => {
  await open(LANDING + formTo(action), { own: false, number: '' })
  // biome-ignore lint/suspicious/noDocumentCookie: the test is the server here.
  document.cookie = 'joined=1'
}

it('joins once, however long that takes, and shows the response without another request', async () => {
  await openLanding()
  stub.answersInMs = () => 50_000
  stub.answer = responding({}, showing('<h1>In line</h1>'))
  expect(press()).toBe(true)
  await passes(49_000)
  expect(press()).toBe(true)
  expect(heading()).toBeUndefined()
  await passes(2_000)
  expect(heading()).toBe('In line')
  expect([times(/queue$/), times(/line$/)]).toEqual([1, 0])
})

it('tells with a join which campaign and site brought the visit, from the first of its pages', async () => {
  const extras = await import('./extras/extras.ts')
  const openAt = async (search: string, referrer: string) => {
    history.replaceState(null, '', search)
    Object.defineProperty(document, 'referrer', { value: referrer, configurable: true })
    document.body.innerHTML = ''
    await open(LANDING + formTo('queue'), { own: false, number: '' }, { load: async () => extras })
    const field = () => document.forms[0]?.elements.namedItem('source') as HTMLInputElement | null
    for (let i = 0; i < 100 && !field(); i++) await passes(500)
    return field()?.value
  }
  const first = await openAt('/sales/demo?utm_source=ads&gclid=1', 'https://search.example/?q=private')
  expect(first).toBe('utm_source=ads&referrer=search.example')
  expect(await openAt('/sales/demo', 'https://shop.example/')).toBe(first)
})

it('follows a turn more closely than the page before the join', async () => {
  await openLanding()
  stub.answer = responding({}, showing(TURN))
  await passes(1_000)
  press()
  await passes(1_000)
  expect(has('turn')).toBe(true)
  const before = times(/schedule$/)
  await passes(6_000)
  expect(times(/schedule$/)).toBeGreaterThan(before)
})

it.each([
  ['the page with the form again', 401, showing('<h1>The answer</h1>')],
  ['a page without a sale', 503, { text: async () => '<main id="main"><h1>The answer</h1></main>' }],
])('shows the answer to a refused join without asking again: %s', async (_, status, page) => {
  await openLanding()
  stub.answer = responding({}, { ...page, ok: false, status })
  press()
  await passes(1_000)
  expect(heading()).toBe('The answer')
  expect(times(/queue$/)).toBe(1)
  expect(reload).not.toHaveBeenCalled()
})

it('lets a join without a response be tried again', async () => {
  await openLanding()
  const submit = vi.spyOn(document.forms[0] as HTMLFormElement, 'submit')
  stub.answer = () => new Error('no network')
  press()
  await passes(1_000)
  press()
  await passes(1_000)
  expect(times(/queue$/)).toBe(2)
  expect(submit).not.toHaveBeenCalled()
})

it('waits with a join for that of another tab, whose cookies it then sends', async () => {
  const turn = Promise.withResolvers<void>()
  browser.locks = {
    request: async (_: string, join: () => unknown) => {
      await turn.promise
      return join()
    },
  }
  await openLanding()
  stub.answer = responding({}, showing('<h1>In line</h1>'))
  press()
  await passes(1_000)
  expect(times(/queue$/)).toBe(0)
  turn.resolve()
  await passes(1_000)
  expect([times(/queue$/), heading()]).toEqual([1, 'In line'])
})

it('opens the page that says that it needs cookies where the browser stored none of the join', async () => {
  await openLanding('queue?lang=de')
  // biome-ignore lint/suspicious/noDocumentCookie: the test is the server here.
  document.cookie = 'joined=; max-age=0'
  const replace = vi.spyOn(location, 'replace').mockImplementation(() => {})
  stub.answer = responding({}, showing('<h1>In line</h1>'))
  press()
  await passes(1_000)
  expect(replace.mock.calls).toEqual([['https://shop.example/sales/demo/line?joined&lang=de']])
  expect(heading()).toBeUndefined()
})

it('sends no form while offline, and says so', async () => {
  await open('<form action="/sales/demo/leave"><button></button></form>')
  await passes(100)
  browser.onLine = false
  expect(press(), 'the browser may be wrong').toBe(false)
  stub.answer = () => new Error('no network')
  fire('offline')
  await passes(100)
  expect(press()).toBe(true)
  expect(document.activeElement?.id).toBe('offline')
})
