/** The page's script from its start, on a stub of a page. */
import { expect, it, vi } from 'vitest'
import {
  begin,
  browser,
  inLine,
  keeping,
  passes,
  reload,
  replaceState,
  responding,
  run,
  schedule,
  stub,
  Thing,
  times,
  useStubPage,
} from './testing/stub-page.ts'

useStubPage()

it('leads from the page that all see to the page of whoever has a place, also where that fails at first', async () => {
  keeping(['place demo', '50'])
  stub.things = { landing: new Thing({ phase: 'open' }) }
  stub.answer = responding({}, { ok: false, status: 503 })
  await run(30_000, { own: false, number: '' })
  expect(stub.requested[0]).toBe('/sales/demo/line')
  expect(times(/line$/)).toBeGreaterThan(2)
  expect(times(/demo$/)).toBe(0)
})

it('leads nobody without a place away from the page that all see', async () => {
  stub.things = { landing: new Thing({ phase: 'open' }) }
  await run(30_000, { own: false, number: '' })
  expect(times(/line$/)).toBe(0)
})

it('remembers a place', async () => {
  const stored = keeping()
  stub.things = inLine()
  await run(1_000)
  expect(stored.get('place demo')).toBe('50')
})

it('forgets a place that is gone', async () => {
  const stored = keeping(['place demo', '50'])
  stub.things = { landing: new Thing({ phase: 'open' }) }
  await run(30_000, { number: '' })
  expect(stored.has('place demo')).toBe(false)
  expect(times(/line$/)).toBe(0)
})

it('does without its second script, and loads it again', async () => {
  stub.things = { ...inLine(), serving: new Thing(), draw: new Thing({ draw: 'before' }) }
  // Loaded before: the test's clock does not wait for the machine's.
  const extras = await import('./extras/extras.ts')
  const load = vi.fn(async () => extras)
  load.mockRejectedValueOnce(new Error('no network'))
  stub.answer = () => schedule({ rate_per_second: 1 })
  await run(20_000, { number: '5000', load })
  expect(Number(stub.things.serving?.textContent)).toBeGreaterThan(3)
  expect(stub.things.draw?.dataset.draw).toBe('before')
  await passes(45_000)
  expect(load).toHaveBeenCalledTimes(2)
  await vi.waitFor(() => expect(stub.things.draw?.dataset.draw).toBe('holds'), 30_000)
})

it('on a problem’s page takes the form’s address, and shows a connection only if offline', async () => {
  const sign = new Thing({ online: 'Connected', offline: 'Offline' })
  stub.things = { connection: sign }
  const shown = vi.spyOn(sign, 'toggleAttribute')
  await begin({ path: null })
  expect(replaceState).toHaveBeenCalledExactlyOnceWith(null, '', '/sales/demo/line')
  await passes(10_000)
  expect(stub.requested).toEqual([])
  expect(shown).toHaveBeenLastCalledWith('hidden', true)
  browser.onLine = false
  stub.listeners.get('offline')?.({})
  expect(shown).toHaveBeenLastCalledWith('hidden', false)
  expect(sign.textContent).toBe('Offline')
})

it('retries an order’s page that could not be shown, until it can be', async () => {
  stub.things = { away: new Thing() }
  let away = true
  stub.answer = (path) => (path.endsWith('/schedule') ? schedule() : { ok: !away, status: 503, text: async () => '' })
  await begin({ path: '/sales/demo/order/an-order' })
  const replaced = vi.fn(() => delete stub.things.away)
  Object.assign(stub.things.stage ?? {}, { replaceWith: replaced })
  await passes(20_000)
  expect(times(/an-order$/)).toBeGreaterThan(1)
  expect(replaced).not.toHaveBeenCalled()
  away = false
  await passes(120_000)
  expect(replaced).toHaveBeenCalledOnce()
})

it('keeps a page from the back-forward cache while offline', async () => {
  stub.answer = () => new Error('no network')
  browser.onLine = false
  await begin()
  stub.listeners.get('pageshow')?.({ persisted: true })
  await passes(1_000)
  expect(times(/demo$/)).toBe(1)
  vi.resetModules()
  stub.things = {}
  await begin({ path: null })
  stub.listeners.get('pageshow')?.({ persisted: true })
  expect(reload).not.toHaveBeenCalled()
  browser.onLine = true
  stub.listeners.get('pageshow')?.({ persisted: true })
  expect(reload).toHaveBeenCalledOnce()
})
