/** The page's script runs from its start. */
import { expect, it, vi } from 'vitest'
import {
  browser,
  fire,
  has,
  IN_LINE,
  LANDING,
  open,
  passes,
  reload,
  responding,
  schedule,
  showing,
  stub,
  textOf,
  the,
  times,
  useBrowserPage,
} from './testing/browser-page.ts'

useBrowserPage()

const PLACE = 'place demo'
/** The page that is the same for all visitors. */
const COMMON = { own: false, number: '' }
/** Restores the page from the back-forward cache. */
const comesBack = () => fire('pageshow', undefined, { persisted: true })

it('leads from the page that all see to the page of whoever has a place, also where that fails at first', async () => {
  localStorage.setItem(PLACE, '50')
  stub.answer = responding({}, { ok: false, status: 503 })
  await open(LANDING, COMMON)
  await passes(30_000)
  expect(stub.requested[0]).toBe('/sales/demo/line')
  expect(times(/line$/)).toBeGreaterThan(2)
  expect(times(/demo$/)).toBe(0)
})

it('loads a page whose language was changed in another tab as a whole', async () => {
  const inLanguage = (lang: string) => `${LANDING}<script type="module" src="/page.js" lang="${lang}"></script>`
  await open(inLanguage('en'))
  for (const [lang, reloads] of [
    ['en', 0],
    ['ar', 1],
  ] as const) {
    stub.answer = responding({}, showing(inLanguage(lang), { lang }))
    comesBack()
    await passes(30_000)
    expect(reload).toHaveBeenCalledTimes(reloads)
  }
})

it('leads nobody without a place away from the page that all see', async () => {
  await open(LANDING, COMMON)
  await passes(30_000)
  expect(times(/line$/)).toBe(0)
})

it('remembers a place, and forgets one that is gone', async () => {
  await open(IN_LINE)
  expect(localStorage.getItem(PLACE)).toBe('50')
  stub.answer = responding({}, showing(LANDING, { number: '' }))
  comesBack()
  await passes(30_000)
  expect(localStorage.getItem(PLACE)).toBeNull()
  expect(times(/line$/)).toBe(0)
})

it('does without its second script, and loads it again', async () => {
  // The second script is loaded in advance, because the test's clock does not wait for the real loading.
  const extras = await import('./extras/extras.ts')
  const load = vi.fn(async () => extras)
  load.mockRejectedValueOnce(new Error('no network'))
  stub.answer = () => schedule({ rate_per_second: 1 })
  await open(`${IN_LINE}<div id="draw" data-draw="before"></div>`, { number: '5000' }, { load })
  await passes(20_000)
  expect(Number(textOf('serving'))).toBeGreaterThan(3)
  expect(the('draw').dataset.draw).toBe('before')
  await passes(45_000)
  expect(load).toHaveBeenCalledTimes(2)
  const drawn = async () => {
    await passes(500)
    return the('draw').dataset.draw
  }
  await expect.poll(drawn).toBe('holds')
})

it('on a problem’s page takes the form’s address, and shows a connection only if offline', async () => {
  await open('<p id="connection" data-online="Connected" data-offline="Offline"></p>', { path: null })
  expect(location.pathname).toBe('/sales/demo/line')
  await passes(10_000)
  expect(stub.requested).toEqual([])
  expect(the('connection').hidden).toBe(true)
  browser.onLine = false
  fire('offline')
  expect(the('connection').hidden).toBe(false)
  expect(textOf('connection')).toBe('Offline')
})

it('retries an order’s page that could not be shown, until it can be', async () => {
  let isAway = true
  stub.answer = (path) =>
    path.endsWith('/schedule') ? schedule() : { ...showing('<div id="order"></div>'), ok: !isAway, status: 503 }
  await open('<div id="away"></div>', { path: '/sales/demo/order/an-order' })
  await passes(20_000)
  expect(times(/an-order$/)).toBeGreaterThan(1)
  expect(has('order')).toBe(false)
  isAway = false
  await passes(120_000)
  expect(has('order')).toBe(true)
})

it('refreshes a page from the back-forward cache, also one that seems offline', async () => {
  stub.answer = () => new Error('no network')
  browser.onLine = false
  await open()
  comesBack()
  await passes(1_000)
  expect(times(/demo$/)).toBe(1)
  expect(reload).not.toHaveBeenCalled()
})

it('loads a problem’s page from the back-forward cache anew, but not while offline', async () => {
  browser.onLine = false
  await open('', { path: null })
  comesBack()
  expect(reload).not.toHaveBeenCalled()
  browser.onLine = true
  comesBack()
  expect(reload).toHaveBeenCalledOnce()
})
