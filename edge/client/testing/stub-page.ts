/** A stub of a page for the page's script: what it shows, what the script requests, and what it is sent. */
import { afterEach, beforeEach, type Mock, vi } from 'vitest'
import { scheduleIn } from '../../preview/sample-sale.ts'

export const NOW_MS = Date.parse('2026-11-27T12:00:00Z')
/** On the origin's clock, which is an hour behind. */
export const iso = (inMs: number) => new Date(NOW_MS - 3_600_000 + inMs).toISOString()

export class Thing {
  dataset: Record<string, string | undefined>
  textContent: string | null = ''
  dateTime = ''
  action = '/sales/demo/buy'
  parentElement: Thing | null = null
  readonly focus: Mock = vi.fn()
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

export const stub = {
  /** Elements by their id. */
  things: {} as Record<string, Thing>,
  timers: [] as Thing[],
  requested: [] as string[],
  /** What the page in a response does not have. */
  absent: ['proof'],
  listeners: new Map<string, (event: unknown) => void>(),
  answer: (_path: string): unknown => schedule(),
  answersInMs: 20,
  answersIn: null as ((path: string) => number) | null,
}
export const reload: Mock = vi.fn()
export const replaceState: Mock = vi.fn()
export const browser = { onLine: true, cookieEnabled: true }

const OPEN = { ...scheduleIn('open', NOW_MS), version: 3, pre_queue_size: 0 }
export const schedule = (changes: object = {}) => ({
  ...OPEN,
  anchor_position: 1,
  rate_per_second: 0.01,
  opens_at: iso(-60_000),
  server_time_ms: Date.now(),
  ...changes,
})

/** Responds with a schedule, and with something else to any other request. */
export const responding =
  (changes: object, other: object): typeof stub.answer =>
  (path) =>
    path.endsWith('/schedule') ? schedule(changes) : other

/** A redirect to another site, which is opaque to the script. */
export const ELSEWHERE = { ok: false, status: 0 }

export const times = (path: RegExp) => stub.requested.filter((one) => path.test(one)).length
export const passes = (ms: number) => vi.advanceTimersByTimeAsync(ms)

interface PageOptions {
  path?: string | null
  number?: string
  /** One visitor's page, and not the same for all. */
  own?: boolean
  /** The host of a CDN from which it reads the schedule. */
  scheduleHost?: string
  /** The longest pause between two reads, in milliseconds; empty for a page that says none. */
  poll?: string
  /** Loads the second script. */
  load?: () => Promise<typeof import('../extras/extras.ts')>
}

/** Loads of the second script under way: one that outlived its test would end within another. */
const loads: Promise<unknown>[] = []

export async function begin({
  path,
  number = '50',
  own = true,
  scheduleHost,
  poll = '120000',
  load = () => import('../extras/extras.ts'),
}: PageOptions = {}): Promise<void> {
  const stage = new Thing({
    ...(poll && { poll }),
    sale: 'demo',
    ...(path === null ? {} : { path: path ?? '/sales/demo' }),
    number,
    ...(own && { own: '' }),
    ...(scheduleHost && { host: scheduleHost }),
    nowMs: String(NOW_MS),
    commitment: OPEN.draw_commitment,
    name: 'Air · Max',
  })
  stub.things = { stage, announcement: new Thing(), offline: new Thing(), ...stub.things }
  const { start } = await import('../live-page.ts')
  const loadNow = () => {
    const loading = load()
    loads.push(loading)
    return loading
  }
  start((act) => void setInterval(act, 500), loadNow)
}

/** Starts the script, and lets it run for so long. */
export async function run(ms: number, page?: PageOptions): Promise<void> {
  await begin(page)
  await passes(ms)
}

export function useStubPage(): void {
  beforeEach(() => {
    vi.resetModules()
    vi.useFakeTimers({ now: NOW_MS })
    Object.assign(stub, {
      things: {},
      timers: [],
      requested: [],
      absent: ['proof'],
      listeners: new Map(),
      answer: () => schedule(),
      answersInMs: 20,
      answersIn: null,
    })
    browser.onLine = true
    const listen = (name: string, act: (event: unknown) => void) => void stub.listeners.set(name, act)
    vi.stubGlobal('document', {
      title: 'The line · Air · Max',
      documentElement: { lang: 'en' },
      visibilityState: 'hidden',
      getElementById: (id: string) => stub.things[id] ?? null,
      querySelector: () => null,
      querySelectorAll: (selector: string) => (/^time\[(role|data-at)\]$/.test(selector) ? stub.timers : []),
      addEventListener: listen,
    })
    vi.stubGlobal('addEventListener', listen)
    const next = { ...document, getElementById: (id: string) => (stub.absent.includes(id) ? null : new Thing()) }
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
      stub.requested.push(path)
      await new Promise((done, fail) => {
        setTimeout(done, stub.answersIn?.(path) ?? stub.answersInMs)
        signal.addEventListener('abort', fail)
      })
      const body = stub.answer(path)
      if (body instanceof Error) throw body
      return { ok: true, status: 200, headers: new Headers(), json: async () => body, ...(body as object) }
    })
  })

  afterEach(async () => {
    await Promise.allSettled(loads.splice(0))
    vi.useRealTimers()
    vi.unstubAllGlobals()
    vi.restoreAllMocks()
    reload.mockClear()
    replaceState.mockClear()
  })
}

/** What the browser keeps. */
export function keeping(...entries: [string, string][]): Map<string, string> {
  const stored = new Map(entries)
  vi.stubGlobal('localStorage', {
    getItem: (key: string) => stored.get(key) ?? null,
    setItem: (key: string, value: string) => void stored.set(key, value),
    removeItem: (key: string) => void stored.delete(key),
  })
  return stored
}

/** The page of someone in line. */
export const inLine = () => ({
  line: new Thing({ status: 'waiting' }),
  'ahead-of-you': new Thing({ one: 'person ahead', other: 'people ahead', next: 'You are next' }),
  wait: new Thing({ waitAbout: 'About {t}', waitUntil: 'at {t}', waitPastEnd: 'Too late' }),
})
