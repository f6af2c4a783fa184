/** The page's forms, as its script sends them or holds them back. */
import { expect, it, vi } from 'vitest'
import {
  begin,
  browser,
  passes,
  reload,
  responding,
  run,
  stub,
  Thing,
  times,
  useStubPage,
} from './testing/stub-page.ts'

useStubPage()

/** Sends a form; returns the mock that is called if the script holds it back. */
function press(form = new Thing()) {
  const event = { target: form, defaultPrevented: false, preventDefault: vi.fn() }
  stub.listeners.get('submit')?.(event)
  return event.preventDefault
}

/** Forms of pages have text fields only. */
function useForms() {
  const FormData = class {
    [Symbol.iterator] = () => [].values()
  }
  vi.stubGlobal('FormData', FormData)
}

it('sends an order once, and shows the page in the answer without another request', async () => {
  useForms()
  await begin()
  const replaced = vi.fn()
  Object.assign(stub.things.stage ?? {}, { replaceWith: replaced })
  const form = Object.assign(new Thing(), { action: 'https://shop.example/sales/demo/buy' })
  stub.answersInMs = 5_000
  stub.answer = responding({}, { text: async () => '' })
  expect(press(form)).toHaveBeenCalledOnce()
  expect(press(form)).toHaveBeenCalledOnce()
  await passes(6_000)
  expect(times(/buy$/)).toBe(1)
  expect(replaced).toHaveBeenCalledOnce()
  expect(times(/order/)).toBe(0)
})

it('lets an order be sent again after some seconds, since it has a key, and shows the last answer alone', async () => {
  useForms()
  await begin()
  const replaced = vi.fn()
  Object.assign(stub.things.stage ?? {}, { replaceWith: replaced })
  const form = Object.assign(new Thing(), { action: 'https://shop.example/sales/demo/buy' })
  stub.answersInMs = 12_000
  stub.answer = responding({}, { text: async () => '' })
  press(form)
  await passes(10_000)
  press(form)
  expect(times(/buy$/)).toBe(2)
  await passes(5_000)
  expect(replaced).not.toHaveBeenCalled()
  await passes(10_000)
  expect(replaced).toHaveBeenCalledOnce()
})

/** The landing page, with the way in. */
async function joinOnLanding() {
  stub.things = { landing: new Thing({ phase: 'open' }) }
  useForms()
  await begin({ own: false, number: '' })
  const form = Object.assign(new Thing(), { action: '/sales/demo/queue', submit: vi.fn() })
  const replaced = vi.fn()
  Object.assign(stub.things.stage ?? {}, { replaceWith: replaced })
  return { form, replaced }
}

it('joins once, however long that takes, and shows the response without another request', async () => {
  const { form, replaced } = await joinOnLanding()
  stub.answersInMs = 50_000
  stub.answer = responding({}, { text: async () => '' })
  expect(press(form)).toHaveBeenCalledOnce()
  await passes(49_000)
  expect(press(form)).toHaveBeenCalledOnce()
  expect(replaced).not.toHaveBeenCalled()
  await passes(2_000)
  expect(replaced).toHaveBeenCalledOnce()
  expect(times(/queue$/)).toBe(1)
  expect(times(/line$/)).toBe(0)
})

it('follows a turn more closely than the page before the join', async () => {
  const { form, replaced } = await joinOnLanding()
  const turn = Object.assign(new Thing(), { querySelector: () => new Thing() })
  replaced.mockImplementation(() => {
    stub.things = { stage: stub.things.stage as Thing, announcement: new Thing(), turn }
  })
  stub.answer = responding({}, { text: async () => '' })
  await passes(1_000)
  press(form)
  await passes(1_000)
  expect(replaced).toHaveBeenCalledOnce()
  const before = times(/schedule$/)
  await passes(6_000)
  expect(times(/schedule$/)).toBeGreaterThan(before)
})

it.each([
  ['the page with the form again', 401, []],
  ['a page without a sale', 503, ['stage']],
])('shows the answer to a refused join without asking again: %s', async (_, status, absent) => {
  const { form, replaced } = await joinOnLanding()
  const main = Object.assign(new Thing(), { replaceWith: vi.fn() })
  Object.assign(stub.things, { main })
  stub.absent.push(...absent)
  stub.answer = responding({}, { ok: false, status, text: async () => '' })
  press(form)
  await passes(1_000)
  expect(times(/queue$/)).toBe(1)
  expect(form.submit).not.toHaveBeenCalled()
  expect(reload).not.toHaveBeenCalled()
  expect(absent.length === 0 ? replaced : main.replaceWith).toHaveBeenCalledOnce()
})

it('lets a join without a response be tried again', async () => {
  const { form } = await joinOnLanding()
  stub.answer = () => new Error('no network')
  press(form)
  await passes(1_000)
  press(form)
  await passes(1_000)
  expect(times(/queue$/)).toBe(2)
  expect(form.submit).not.toHaveBeenCalled()
})

it('leaves the join to the form in a browser without cookies, whose page says that it needs them', async () => {
  const { form } = await joinOnLanding()
  vi.stubGlobal('navigator', { ...browser, cookieEnabled: false })
  expect(press(form)).not.toHaveBeenCalled()
  expect(times(/queue$/)).toBe(0)
})

it('sends no form while offline, and says so', async () => {
  await run(100)
  browser.onLine = false
  const leave = Object.assign(new Thing(), { action: '/sales/demo/leave' })
  expect(press(leave), 'the browser may be wrong').not.toHaveBeenCalled()
  stub.answer = () => new Error('no network')
  stub.listeners.get('offline')?.({})
  await passes(100)
  expect(press()).toHaveBeenCalledOnce()
  expect(stub.things.offline?.focus).toHaveBeenCalledOnce()
})
