/** The page's script on a stub of a page: its requests, how often, and what it does with the responses. */
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { scheduleIn } from '../pages/samples.ts'

const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
/** On the origin's clock, which is an hour behind. */
const iso = (inMs: number) => new Date(NOW_MS - 3_600_000 + inMs).toISOString()

class Thing {
  dataset: Record<string, string | undefined>
  textContent: string | null = ''
  dateTime = ''
  action = '/sales/demo/buy'
  parentElement: Thing | null = null
  readonly focus = vi.fn()
  constructor(dataset: Record<string, string> = {}) {
    this.dataset = dataset
  }
  toggleAttribute(_name: string, _force: boolean) {}
  replaceWith() {}
  setAttribute() {}
  removeAttribute() {}
  querySelector(): Thing | null {
    return null
  }
  closest(): null {
    return null
  }
  matches = () => true
}

let things: Record<string, Thing>
let timers: Thing[]
let requested: string[]
let listeners: Map<string, (event: unknown) => void>
let answer: (path: string) => unknown
let answersInMs: number
const reload = vi.fn()
const replaceState = vi.fn()
const browser = { onLine: true, cookieEnabled: true }

const OPEN = { ...scheduleIn('open', NOW_MS), version: 3, pre_queue_size: 0 }
const schedule = (changes: object = {}) => ({
  ...OPEN,
  anchor_position: 1,
  rate_per_second: 0.01,
  opens_at: iso(-60_000),
  server_time_ms: Date.now(),
  ...changes,
})

/** Responds with a schedule, and with something else to any other request. */
const responding =
  (changes: object, other: object): typeof answer =>
  (path) =>
    path.endsWith('/schedule') ? schedule(changes) : other

/** A redirect to another site, which is opaque to the script. */
const ELSEWHERE = { ok: false, status: 0 }

const times = (path: RegExp) => requested.filter((one) => path.test(one)).length
const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

interface PageOptions {
  path?: string | null
  number?: string
  /** One visitor's page, and not the same for all. */
  own?: boolean
}

async function begin({ path, number = '50', own = true }: PageOptions = {}): Promise<void> {
  const stage = new Thing({
    sale: 'demo',
    ...(path === null ? {} : { path: path ?? '/sales/demo' }),
    number,
    ...(own && { own: '' }),
    nowMs: String(NOW_MS),
    commitment: OPEN.draw_commitment,
    name: 'Air · Max',
  })
  things = { stage, announcement: new Thing(), offline: new Thing(), ...things }
  const { start } = await import('./live.ts')
  start((act) => void setInterval(act, 500))
}

/** Starts the script, and lets it run for so long. */
async function run(ms: number, page?: PageOptions): Promise<void> {
  await begin(page)
  await passes(ms)
}

beforeEach(() => {
  vi.resetModules()
  vi.useFakeTimers({ now: NOW_MS })
  ;[things, timers, requested, listeners] = [{}, [], [], new Map()]
  browser.onLine = true
  answer = () => schedule()
  answersInMs = 20
  const listen = (name: string, act: (event: unknown) => void) => void listeners.set(name, act)
  vi.stubGlobal('document', {
    title: 'The line · Air · Max',
    documentElement: { lang: 'en' },
    visibilityState: 'visible',
    getElementById: (id: string) => things[id] ?? null,
    querySelector: () => null,
    querySelectorAll: (selector: string) => (/^time\[(role|data-at)\]$/.test(selector) ? timers : []),
    addEventListener: listen,
  })
  vi.stubGlobal('addEventListener', listen)
  const next = { ...document, getElementById: () => new Thing() }
  const DOMParser = class {
    parseFromString = () => next
  }
  vi.stubGlobal('DOMParser', DOMParser)
  vi.stubGlobal('scrollTo', () => {})
  vi.stubGlobal('location', { pathname: '/sales/demo/buy', reload })
  vi.stubGlobal('history', { replaceState })
  vi.stubGlobal('navigator', browser)
  vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
    const abort = new AbortController()
    setTimeout(() => abort.abort(), ms)
    return abort.signal
  })
  vi.stubGlobal('fetch', async (path: string, { signal }: { signal: AbortSignal }) => {
    requested.push(path)
    await new Promise((done, fail) => {
      setTimeout(done, answersInMs)
      signal.addEventListener('abort', fail)
    })
    const body = answer(path)
    if (body instanceof Error) throw body
    return { ok: true, status: 200, headers: new Headers(), json: async () => body, ...(body as object) }
  })
})

afterEach(() => {
  vi.useRealTimers()
  vi.unstubAllGlobals()
  vi.restoreAllMocks()
  reload.mockClear()
  replaceState.mockClear()
})

it('fetches no sooner after a schedule that is older than its own', async () => {
  let version = 11
  answer = () => schedule({ version: version-- > 10 ? 11 : 10, rate_per_second: 1 })
  await run(40_000)
  expect(times(/schedule$/)).toBeLessThan(10)
})

it('counts down to an opening that an operator puts off', async () => {
  const [timer, label] = [new Thing({ at: 'anchor_at_ms' }), new Thing({ over: 'Opening' })]
  timer.dateTime = new Date(NOW_MS + 2_000).toISOString()
  label.textContent = 'The sale opens in'
  timer.parentElement = Object.assign(new Thing(), { querySelector: () => label })
  timers = [timer]
  answer = () => new Error('no network')
  await run(2_600)
  expect(label.textContent).toBe('Opening')
  const later = { opens_at: iso(3_600_000), anchor_at_ms: NOW_MS + 3_600_000 }
  answer = () => schedule({ phase: 'pre_queue', draw_seed: null, ...later })
  await passes(30_000)
  expect(label.textContent).toBe('The sale opens in')
  expect(timer.textContent).toMatch(/^59:2\d$/)
})

it('understands a schedule of the version before, which has moments for people only', async () => {
  timers = [new Thing({ at: 'pre_queue_opens_at_ms' })]
  const before = { pre_queue_opens_at_ms: undefined, ends_at_ms: undefined }
  const pre_queue_opens_at = new Date(NOW_MS + 30_000).toISOString()
  answer = () => schedule({ ...before, phase: 'upcoming', draw_seed: null, pre_queue_opens_at })
  await run(20_000, { number: '' })
  expect(times(/schedule$/)).toBeGreaterThan(1)
})

it.each([20, 20_000])('claims its turn on a protected site, with responses in %i ms', async (ms) => {
  things = { line: new Thing({ status: 'waiting' }) }
  answersInMs = ms
  answer = responding({ anchor_position: 100 }, ELSEWHERE)
  await run(9 * ms + 9_000)
  expect(reload).toHaveBeenCalledOnce()
})

/** What the browser keeps. */
function keeping(...entries: [string, string][]): Map<string, string> {
  const stored = new Map(entries)
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  })
  return stored
}

it('leads from the page that all see to the page of whoever has a place, also where that fails at first', async () => {
  keeping(['place demo', '50'])
  things = { landing: new Thing({ phase: 'open' }) }
  answer = responding({}, { ok: false, status: 503 })
  await run(30_000, { own: false, number: '' })
  expect(requested[0]).toBe('/sales/demo/line')
  expect(times(/line$/)).toBeGreaterThan(2)
  expect(times(/demo$/)).toBe(0)
})

it('leads nobody without a place away from the page that all see', async () => {
  things = { landing: new Thing({ phase: 'open' }) }
  await run(30_000, { own: false, number: '' })
  expect(times(/line$/)).toBe(0)
})

it('remembers a place', async () => {
  const stored = keeping()
  things = inLine()
  await run(1_000)
  expect(stored.get('place demo')).toBe('50')
})

it('forgets a place that is gone', async () => {
  const stored = keeping(['place demo', '50'])
  things = { landing: new Thing({ phase: 'open' }) }
  await run(30_000, { number: '' })
  expect(stored.has('place demo')).toBe(false)
  expect(times(/line$/)).toBe(0)
})

it('claims its turn by loading the page, and leaves its own while that shows no turn', async () => {
  const line = new Thing({ status: 'waiting' })
  things = { line }
  answer = responding({ anchor_position: 100 }, { text: async () => '' })
  await begin()
  const replaced = vi.fn()
  Object.assign(things.stage ?? {}, { replaceWith: replaced })
  let parts: Record<string, Thing | undefined> = { stage: things.stage, line }
  const next = { ...document, getElementById: (id: string) => parts[id] ?? null }
  const DOMParser = class {
    parseFromString = () => next
  }
  vi.stubGlobal('DOMParser', DOMParser)
  await passes(20_000)
  expect(times(/status$/)).toBe(0)
  const claims = times(/demo$/)
  expect(claims).toBeGreaterThan(2)
  expect(claims).toBeLessThan(12)
  expect(replaced).not.toHaveBeenCalled()
  parts = { stage: things.stage }
  await passes(6_000)
  expect(replaced).toHaveBeenCalled()
})

it('renews a place that waits long, so that it does not expire', async () => {
  vi.spyOn(Math, 'random').mockReturnValue(0.5)
  things = { ...inLine(), line: new Thing({ status: 'paused' }) }
  const status = { json: async () => ({ status: 'paused', poll_after_ms: 5_000 }) }
  answer = responding({ phase: 'paused', rate_per_second: 0 }, status)
  await run(3.9 * 3_600_000)
  expect(times(/status$/)).toBe(0)
  await passes(4.2 * 3_600_000)
  expect(times(/status$/)).toBe(2)
})

it.each(['turn', 'landing'])('leaves the %s when the sale is over, and retries with pauses', async (here) => {
  vi.spyOn(Math, 'random').mockReturnValue(0)
  things = { [here]: new Thing() }
  answer = responding({ phase: 'sold_out' }, { text: async () => '' })
  await run(10_000)
  expect(times(/demo$/)).toBeGreaterThan(0)
  expect(times(/demo$/)).toBeLessThan(5)
})

it('refreshes a turn with nothing to choose when there is stock, and not before', async () => {
  const turn = new Thing()
  things = { turn }
  const missed = { anchor_position: 500, missed_through: 400 }
  answer = responding({ ...missed, phase: 'all_in_carts' }, ELSEWHERE)
  await run(20_000)
  expect(times(/demo$/)).toBe(0)
  answer = responding({ ...missed, version: 4 }, ELSEWHERE)
  await passes(10_000)
  expect(reload).toHaveBeenCalledOnce()
})

it('does not refresh a turn with something to choose', async () => {
  things = { turn: Object.assign(new Thing(), { querySelector: () => new Thing() }) }
  await run(20_000)
  expect(times(/demo$/)).toBe(0)
  expect(times(/schedule$/)).toBeLessThan(8)
})

/** The page of someone in line. */
const inLine = () => ({
  line: new Thing({ status: 'waiting' }),
  'ahead-of-you': new Thing({ one: 'person ahead', other: 'people ahead', next: 'You are next' }),
  wait: new Thing({ waitAbout: 'About {t}', waitUntil: 'at {t}', waitPastEnd: 'Too late' }),
})

it('shows and announces the place, and leaves a translation of it until it changes', async () => {
  things = inLine()
  const announced = () => things.announcement?.textContent
  const who = things['ahead-of-you']
  answer = () => schedule({ anchor_position: 48 })
  await run(100)
  expect(announced()).toBe('1 person ahead. About 3 minutes.')
  Object.assign(who ?? {}, { textContent: 'personne devant' })
  await passes(2_000)
  expect(who?.textContent).toBe('personne devant')
  answer = () => schedule({ version: 4, anchor_position: 49, ends_at: iso(90_000), ends_at_ms: NOW_MS + 90_000 })
  await passes(70_000)
  expect(who?.textContent).toBe('You are next')
  expect(announced()).toBe('You are next. Too late.')
  expect(document.title).toBe('You are next · Air · Max')
})

it.each([
  ['in the page’s language', 'en', 2, /^at 2:0\d.PM$/],
  ['with the weekday, on another day', 'en', 28, /^at Saturday 4:0\d.PM$/],
  ['in the browser’s language, where the page’s is no language', 'en_US', 2, /^at 14:0\d$/],
])('shows the time of the turn %s', async (_where, lang, inHours, text) => {
  const until = new Thing()
  things = { ...inLine(), 'wait-until': until }
  vi.stubGlobal('navigator', { ...browser, language: 'de' })
  Object.assign(document.documentElement, { lang })
  answer = () => schedule({ anchor_position: 49, rate_per_second: 1 / (inHours * 3_600) })
  await run(100)
  expect(until.textContent).toMatch(text)
})

it('shows a late visitor’s progress from where they started', async () => {
  const progress = Object.assign(new Thing(), { value: Number.NaN })
  things = { ...inLine(), progress }
  const kept = new Map<string, string>()
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => kept.get(key) ?? null,
    setItem: (key: string, value: string) => kept.set(key, value),
  })
  const shown = vi.spyOn(progress, 'toggleAttribute')
  answer = () => schedule({ anchor_position: 30, rate_per_second: 0.0001 })
  await run(10)
  expect(shown).not.toHaveBeenCalled()
  await passes(90)
  expect(shown).toHaveBeenLastCalledWith('hidden', false)
  expect(Math.round(progress.value)).toBe(0)
  answer = () => schedule({ version: 4, anchor_position: 40, rate_per_second: 0.0001 })
  await passes(40_000)
  expect(Math.round(progress.value)).toBe(50)
})

it('stops the line some seconds after the last schedule, in case it stands still', async () => {
  things = { ...inLine(), serving: new Thing() }
  answer = () => schedule({ rate_per_second: 1 })
  await run(5_000, { number: '5000' })
  expect(Number(things.serving?.textContent)).toBeGreaterThan(3)
  await passes(23_000)
  expect(times(/schedule$/)).toBe(1)
  expect(Number(things.serving?.textContent)).toBeLessThan(13)
})

it('fetches the schedule when the sale ends', async () => {
  answer = () => schedule({ rate_per_second: 0.0001, ends_at: iso(12_000), ends_at_ms: NOW_MS + 12_000 })
  await run(11_900)
  const before = times(/schedule$/)
  await passes(2_500)
  expect(times(/schedule$/)).toBe(before + 1)
})

/** Sends a form; returns the mock that is called if the script holds it back. */
function press(form = new Thing()) {
  const event = { target: form, defaultPrevented: false, preventDefault: vi.fn() }
  listeners.get('submit')?.(event)
  return event.preventDefault
}

it('does not repeat an order for some seconds: it has a key', async () => {
  await begin()
  const form = Object.assign(new Thing(), { action: 'https://shop.example/sales/demo/buy' })
  expect(press(form)).not.toHaveBeenCalled()
  expect(press(form)).toHaveBeenCalledOnce()
  await passes(10_000)
  expect(press(form)).not.toHaveBeenCalled()
})

/** The landing page, with the way in. */
async function joinOnLanding() {
  things = { landing: new Thing({ phase: 'open' }) }
  const FormData = class {
    [Symbol.iterator] = () => [].values()
  }
  vi.stubGlobal('FormData', FormData)
  await begin({ own: false, number: '' })
  const form = Object.assign(new Thing(), { action: '/sales/demo/queue', submit: vi.fn() })
  const replaced = vi.fn()
  Object.assign(things.stage ?? {}, { replaceWith: replaced })
  return { form, replaced }
}

it('joins once, however long that takes, and shows the response without another request', async () => {
  const { form, replaced } = await joinOnLanding()
  answersInMs = 50_000
  answer = responding({}, { text: async () => '' })
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
    things = { stage: things.stage as Thing, announcement: new Thing(), turn }
  })
  answer = responding({}, { text: async () => '' })
  await passes(1_000)
  press(form)
  await passes(1_000)
  expect(replaced).toHaveBeenCalledOnce()
  const before = times(/schedule$/)
  await passes(6_000)
  expect(times(/schedule$/)).toBeGreaterThan(before)
})

it('sends the form of a join that met a problem, which then shows it', async () => {
  const { form, replaced } = await joinOnLanding()
  answer = responding({}, { ok: false, status: 410 })
  press(form)
  await passes(1_000)
  expect(form.submit).toHaveBeenCalledOnce()
  expect(replaced).not.toHaveBeenCalled()
})

it('lets a join without a response be tried again', async () => {
  const { form } = await joinOnLanding()
  answer = () => new Error('no network')
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
  expect(press(), 'the browser may be wrong').not.toHaveBeenCalled()
  answer = () => new Error('no network')
  listeners.get('offline')?.({})
  await passes(100)
  expect(press()).toHaveBeenCalledOnce()
  expect(things.offline?.focus).toHaveBeenCalledOnce()
})

it('on a problem’s page takes the form’s address, and shows a connection only if offline', async () => {
  const sign = new Thing({ online: 'Connected', offline: 'Offline' })
  things = { connection: sign }
  const shown = vi.spyOn(sign, 'toggleAttribute')
  await begin({ path: null })
  expect(replaceState).toHaveBeenCalledExactlyOnceWith(null, '', '/sales/demo/line')
  await passes(10_000)
  expect(requested).toEqual([])
  expect(shown).toHaveBeenLastCalledWith('hidden', true)
  browser.onLine = false
  listeners.get('offline')?.({})
  expect(shown).toHaveBeenLastCalledWith('hidden', false)
  expect(sign.textContent).toBe('Offline')
})

it('retries an order’s page that could not be shown, until it can be', async () => {
  things = { away: new Thing() }
  let away = true
  answer = (path) => (path.endsWith('/schedule') ? schedule() : { ok: !away, status: 503, text: async () => '' })
  await begin({ path: '/sales/demo/order/an-order' })
  const replaced = vi.fn(() => delete things.away)
  Object.assign(things.stage ?? {}, { replaceWith: replaced })
  await passes(20_000)
  expect(times(/an-order$/)).toBeGreaterThan(1)
  expect(replaced).not.toHaveBeenCalled()
  away = false
  await passes(120_000)
  expect(replaced).toHaveBeenCalledOnce()
})

it('keeps a page from the back-forward cache while offline', async () => {
  answer = () => new Error('no network')
  browser.onLine = false
  await begin()
  listeners.get('pageshow')?.({ persisted: true })
  await passes(1_000)
  expect(times(/demo$/)).toBe(1)
  vi.resetModules()
  things = {}
  await begin({ path: null })
  listeners.get('pageshow')?.({ persisted: true })
  expect(reload).not.toHaveBeenCalled()
  browser.onLine = true
  listeners.get('pageshow')?.({ persisted: true })
  expect(reload).toHaveBeenCalledOnce()
})

/** An order on the page, whose stream of events the test controls. */
async function orderOnPage() {
  const streams: { onopen(): void; onerror(): void }[] = []
  class Stream {
    onopen() {}
    onerror() {}
    addEventListener() {}
    close() {}
    constructor() {
      streams.push(this)
    }
  }
  vi.stubGlobal('EventSource', Stream)
  things = { order: new Thing({ order: 'an-order', orderStatus: 'reserved' }) }
  const { followOrder } = await import('./order.ts')
  return { streams, followOrder }
}

it('polls an order soon where no stream opens, though the browser keeps trying', async () => {
  const { streams, followOrder } = await orderOnPage()
  followOrder(vi.fn())
  const [stream] = streams
  for (let i = 0; i < 4; i++) {
    stream?.onerror()
    await passes(1_500)
  }
  expect(requested.length).toBeGreaterThan(0)
  stream?.onopen()
  const before = requested.length
  await passes(14_000)
  expect(requested).toHaveLength(before)
  stream?.onerror()
  await passes(14_000)
  expect(requested.length).toBeGreaterThan(before)
})

it('fetches the schedule rarely beside an order', async () => {
  await orderOnPage()
  await run(120_000, { path: '/sales/demo/order/an-order', number: '1' })
  expect(times(/schedule$/)).toBeGreaterThan(2)
  expect(times(/schedule$/)).toBeLessThan(8)
})

it('stops polling an order that is no longer followed', async () => {
  const { followOrder } = await orderOnPage()
  const changed = vi.fn()
  answer = () => ({ json: async () => ({ status: 'confirmed' }) })
  const following = followOrder(changed)
  following?.fetchNow()
  following?.stop()
  await passes(60_000)
  expect(requested).toHaveLength(1)
  expect(changed).not.toHaveBeenCalled()
})
