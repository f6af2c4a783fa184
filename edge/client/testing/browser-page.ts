/**
 * Runs the page's script in a browser window of its own (happy-dom), and records what it shows, requests and
 * receives. Each test has a new window and loads the script again, because a page's script ends only with its page.
 */
import { afterEach, beforeEach, type Mock, vi } from 'vitest'
import { scheduleIn } from '../../preview/sample-sale.ts'

// The types of these modules would load Node's types, in which a timer is not a number.
const { Window } = await import('happy-dom' as string)
const { registerHooks } = await import('node:module' as string)

/** The number of the current page. Each page loads the modules of the client anew, under addresses of its own. */
let pages = 0
const OF_CLIENT = /\/edge\/client\/(?!testing\/)(?!.*\.test\.ts).*\.ts$/
type Resolve = (specifier: string, context: object) => { url: string }
registerHooks({
  resolve(specifier: string, context: object, next: Resolve) {
    const resolved = next(specifier, context)
    return OF_CLIENT.test(resolved.url) ? { ...resolved, url: `${resolved.url}?page=${pages}` } : resolved
  },
})

export const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
/** The time on the origin's clock, which is an hour behind. */
export const iso = (inMs: number) => new Date(NOW_MS - 3_600_000 + inMs).toISOString()

const atFirst = () => ({
  requested: [] as string[],
  answer: (_path: string): unknown => schedule(),
  answersInMs: (_path: string) => 20,
})
/** The simulated server. */
export const stub = atFirst()
export const reload: Mock = vi.fn()
export const browser: { onLine: boolean; language: string; locks?: object | undefined } = {
  onLine: true,
  language: 'de',
}

const OPEN = { ...scheduleIn('open', NOW_MS), version: 3, pre_queue_size: 0 }
export const schedule = (changes: object = {}) => ({
  ...OPEN,
  anchor_position: 1,
  rate_per_second: 0.01,
  opens_at: iso(-60_000),
  server_time_ms: Date.now(),
  ...changes,
})

/** Returns a function that responds with a schedule, and with `other` to any other request. */
export const responding =
  (changes: object, other: object): typeof stub.answer =>
  (path) =>
    path.endsWith('/schedule') ? schedule(changes) : other

/** A redirect to another site, which is opaque to the script. */
export const ELSEWHERE = { ok: false, status: 0 }
/** A response with a page of the sale, in the form in which the script reads it. */
export const showing = (content: string, page: PageData = {}) => ({ text: async () => htmlOf(content, page) })

export const times = (path: RegExp) => stub.requested.filter((one) => path.test(one)).length
export const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

/** The content of the page of a visitor in the queue. */
export const IN_LINE = `<div id="line" data-status="waiting">
  <p id="ahead-of-you" data-one="person ahead" data-other="people ahead" data-next="You are next"></p>
  <p id="wait" data-wait-about="About {t}" data-wait-until="at {t}" data-wait-past-end="Too late"></p>
  <p id="wait-until"></p>
  <p id="serving"></p></div>`
export const LANDING = '<div id="landing" data-phase="open"></div>'
/** A turn with something to choose. */
export const TURN = '<div id="turn"><input name="product_id"></div>'

interface PageData {
  lang?: string
  path?: string | null
  number?: string
  /** True for the page of one visitor, false for the page that is the same for all. */
  own?: boolean
  /** The host of a CDN from which the page reads the schedule. */
  scheduleHost?: string
  /** The longest pause between two reads, in milliseconds. */
  poll?: string
}

function htmlOf(content: string, page: PageData): string {
  const { lang = 'en', path = '/sales/demo', number = '50', own = true, scheduleHost, poll = '120000' } = page
  const data: Record<string, string> = {
    poll,
    sale: 'demo',
    home: '/sales/demo',
    ...(path !== null && { path }),
    number,
    // happy-dom omits empty texts from `{ ...dataset }`.
    ...(own && { own: 'yes' }),
    ...(scheduleHost && { host: scheduleHost }),
    'now-ms': String(Date.now()),
    commitment: OPEN.draw_commitment,
    name: 'Air · Max',
  }
  const attributes = Object.entries(data).map(([name, value]) => `data-${name}="${value}"`)
  return `<!doctype html><html lang="${lang}"><head><title>The line · Air · Max</title></head><body>
    <p id="offline" tabindex="-1" hidden></p><p id="announcement"></p>
    <main id="main"><div id="stage" ${attributes.join(' ')}>${content}</div></main></body></html>`
}

/** Returns the element with this id, which must exist. */
export function the<E extends HTMLElement>(id: string): E {
  const element = document.getElementById(id)
  if (!element) throw new Error(`the page has no #${id}`)
  return element as E
}
export const has = (id: string) => document.getElementById(id) !== null
export const textOf = (id: string) => the(id).textContent
export const heading = () => document.querySelector('h1')?.textContent

let window: typeof globalThis & { readonly happyDOM: { close(): Promise<void> } }

/** Sends an event to an element, the document, or by default the window. True if the script prevents the default. */
export function fire(name: string, target: EventTarget = window, properties: object = {}) {
  const event = Object.assign(new window.Event(name, { bubbles: true, cancelable: true }), properties)
  target.dispatchEvent(event)
  return event.defaultPrevented
}

/** Makes the page visible or hidden. */
export function look(isVisible = true): void {
  const visibilityState = { value: isVisible ? 'visible' : 'hidden', configurable: true }
  Object.defineProperty(document, 'visibilityState', visibilityState)
  Object.defineProperty(document, 'hidden', { value: !isVisible, configurable: true })
  fire('visibilitychange', document)
}

interface ScriptOptions {
  /** Loads the second script. Without this function the page works without it. */
  load?: () => Promise<typeof import('../extras/extras.ts')>
  /** The interval of the page's timers, which a browser slows while the page is hidden. */
  beatMs?: number
}

/** Opens a page with this content, and starts its script. */
export async function open(content = '', page: PageData = {}, script: ScriptOptions = {}): Promise<void> {
  const { load = () => new Promise(() => {}), beatMs = 500 } = script
  document.write(htmlOf(content, page))
  const { start } = await import('../live-page.ts')
  start((act) => void setInterval(act, beatMs), load)
}

/**
 * Provides the browser's objects that the page's script uses. Tabs do not hear each other, because the tests of a run
 * are not tabs of one browser.
 */
function openWindow(): void {
  window = new Window({ url: 'https://shop.example/sales/demo/buy' })
  const { document, location, history, localStorage, sessionStorage, DOMParser, FormData, Element } = window
  // happy-dom does not support `:enabled`.
  const { querySelector } = Element.prototype
  Element.prototype.querySelector = function (this: Element, selector: string) {
    return querySelector.call(this, selector.replace(':enabled', ':not([disabled])'))
  } as typeof querySelector
  Object.defineProperty(location, 'reload', { value: reload })
  const globals = {
    ...{ document, location, history, localStorage, sessionStorage, DOMParser, FormData },
    addEventListener: window.addEventListener.bind(window),
    scrollTo: () => {},
    navigator: browser,
    BroadcastChannel: class {
      postMessage() {}
    },
    fetch: async (path: string, { signal }: { signal: AbortSignal }) => {
      stub.requested.push(path)
      await new Promise((done, fail) => {
        setTimeout(done, stub.answersInMs(path))
        signal.addEventListener('abort', fail)
      })
      const body = stub.answer(path)
      if (body instanceof Error) throw body
      return { ok: true, status: 200, headers: new Headers(), json: async () => body, ...(body as object) }
    },
  }
  for (const [name, value] of Object.entries(globals)) vi.stubGlobal(name, value)
}

export function useBrowserPage(): void {
  beforeEach(() => {
    pages++
    vi.useFakeTimers({ now: NOW_MS })
    Object.assign(stub, atFirst())
    Object.assign(browser, { onLine: true, locks: undefined })
    openWindow()
    look(false)
    vi.spyOn(AbortSignal, 'timeout').mockImplementation((ms) => {
      const abort = new AbortController()
      setTimeout(() => abort.abort(), ms)
      return abort.signal
    })
  })

  afterEach(async () => {
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
    reload.mockClear()
    await window.happyDOM.close()
  })
}
