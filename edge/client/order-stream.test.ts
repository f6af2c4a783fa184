/** One visible tab at a time has the event stream of orders, and the others hear from it. */
import { expect, it, vi } from 'vitest'
import { browser, look, passes, useBrowserPage } from './testing/browser-page.ts'

useBrowserPage()

/** The open streams, oldest first. */
const streams: Stream[] = []
class Stream {
  onopen = (_: object) => {}
  onerror = (_: object) => {}
  #received = (_: { data: string }) => {}
  readonly path: string
  constructor(path: string) {
    this.path = path
    streams.push(this)
  }
  addEventListener(_: string, received: (event: { data: string }) => void) {
    this.#received = received
  }
  send = (order: object) => this.#received({ data: JSON.stringify(order) })
  close() {
    streams.splice(streams.indexOf(this), 1)
  }
}

class Channel {
  static readonly all = new Set<Channel>()
  onmessage = (_: object) => {}
  constructor() {
    Channel.all.add(this)
  }
  postMessage(data: object) {
    for (const one of Channel.all) if (one !== this) one.onmessage({ data })
  }
  close = () => Channel.all.delete(this)
}

/** The browser's locks, of which the script uses one. */
function locks() {
  let last: Promise<unknown> = Promise.resolve()
  return {
    request: (_: string, { signal }: { signal: AbortSignal }, act: () => Promise<void>) => {
      const before = last
      const held = before.then(() => (signal.aborted ? Promise.reject(new Error('aborted')) : act()))
      last = held.catch(() => {})
      return held
    },
  }
}

/** Opens tabs, which are parts of one page here, and returns what each of them has heard. */
async function openTabs(...orders: string[]) {
  streams.length = 0
  Channel.all.clear()
  vi.stubGlobal('EventSource', Stream)
  vi.stubGlobal('BroadcastChannel', Channel)
  vi.stubGlobal('CustomEvent', document.defaultView?.CustomEvent)
  look()
  const { start } = await import('./order-stream.ts')
  const tabs = orders.map((order) => {
    const part = document.createElement('section')
    part.dataset.order = order
    document.body.append(part)
    const heard: object[] = []
    part.addEventListener('stream', ({ detail }) => heard.push(detail))
    start(part)
    return { heard, close: () => part.remove() }
  })
  await passes(0)
  return tabs
}

const paths = () => streams.map(({ path }) => path)

it('has one stream for all tabs, and the next tab has it when the first is closed', async () => {
  browser.locks = locks()
  const [first, second, other] = await openTabs('one', 'one', 'two')
  expect(paths()).toEqual(['/orders/one/events'])
  streams[0]?.onopen({ type: 'open' })
  const now = { status: 'confirmed' }
  streams[0]?.send(now)
  for (const tab of [first, second]) expect(tab?.heard).toEqual([{ isOpen: true }, { isOpen: true, now }])
  expect(other?.heard).toEqual([])
  await passes(1_000)
  expect(second?.heard.at(-1)).toEqual({ isOpen: true })
  first?.close()
  await passes(1_000)
  expect(second?.heard.at(-1)).toEqual({ isOpen: false })
  expect(paths()).toEqual(['/orders/one/events'])
  second?.close()
  await passes(1_000)
  expect(paths()).toEqual(['/orders/two/events'])
  other?.close()
  await passes(1_000)
  expect([paths(), Channel.all.size]).toEqual([[], 0])
})

it.each([true, false])('has no stream in hidden tabs: with locks %s', async (hasLocks) => {
  browser.locks = hasLocks ? locks() : undefined
  await openTabs('one')
  expect(streams).toHaveLength(1)
  look(false)
  await passes(1_000)
  expect(streams).toEqual([])
  look(true)
  await passes(1_000)
  expect(streams).toHaveLength(1)
})
