/** The script updates an order on the page. */
import { expect, it, vi } from 'vitest'
import { heading, look, open, passes, stub, times, useBrowserPage } from './testing/browser-page.ts'

useBrowserPage()

const PATH = { path: '/sales/demo/order/an-order', number: '1' }
const orderIn = (status: string) =>
  `<div id="order" data-order="an-order" data-order-status="${status}" data-progress="${status}"></div>`

/** Opens a page with an order, whose event stream the test controls. */
async function orderOnPage(orderStatus = 'paying') {
  const streams: { onopen(of: object): void; onerror(of: object): void; send(order: object): void }[] = []
  class Stream {
    onopen(_: object) {}
    onerror(_: object) {}
    #received = (_: { data: string }) => {}
    addEventListener(_: string, received: (event: { data: string }) => void) {
      this.#received = received
    }
    send = (order: object) => this.#received({ data: JSON.stringify(order) })
    close() {
      streams.splice(streams.indexOf(this), 1)
    }
    constructor() {
      streams.push(this)
    }
  }
  vi.stubGlobal('EventSource', Stream)
  look()
  document.body.innerHTML = orderIn(orderStatus)
  const { followOrder } = await import('./order-watch.ts')
  return { streams, followOrder }
}

it('polls an order soon where no stream opens, though the browser keeps trying', async () => {
  const { streams, followOrder } = await orderOnPage()
  followOrder(vi.fn())
  const [stream] = streams
  for (let i = 0; i < 4; i++) {
    stream?.onerror({ type: 'error' })
    await passes(1_500)
  }
  expect(stub.requested.length).toBeGreaterThan(0)
  stream?.onopen({ type: 'open' })
  const before = stub.requested.length
  await passes(14_000)
  expect(stub.requested).toHaveLength(before)
  stream?.onerror({ type: 'error' })
  await passes(14_000)
  expect(stub.requested.length).toBeGreaterThan(before)
})

it('has a stream only while its tab is shown, and polls meanwhile', async () => {
  const { streams, followOrder } = await orderOnPage()
  const following = followOrder(vi.fn())
  const turnsTo = (hidden: boolean) => {
    look(!hidden)
    following?.fetchNow()
    return streams.length
  }
  streams[0]?.onopen({ type: 'open' })
  expect(turnsTo(true)).toBe(0)
  await passes(60_000)
  expect(stub.requested.length).toBeGreaterThan(2)
  expect(turnsTo(false)).toBe(1)
  following?.stop()
  expect(streams).toEqual([])
})

it('fetches the schedule rarely beside an order', async () => {
  await orderOnPage()
  look(false)
  await open(orderIn('paying'), PATH)
  await passes(200_000)
  expect(times(/schedule$/)).toBeGreaterThan(2)
  expect(times(/schedule$/)).toBeLessThan(8)
})

it('stops polling an order that is no longer followed', async () => {
  const { followOrder } = await orderOnPage()
  const changed = vi.fn()
  stub.answer = () => ({ json: async () => ({ status: 'confirmed' }) })
  const following = followOrder(changed)
  following?.fetchNow()
  following?.stop()
  await passes(60_000)
  expect(stub.requested).toHaveLength(1)
  expect(changed).not.toHaveBeenCalled()
})

it('asks nothing while an order waits for its buyer, but when they come back, and once the hold is over', async () => {
  const { streams, followOrder } = await orderOnPage('reserved')
  const changed = vi.fn()
  stub.answer = () => ({ status: 'reserved', payment: null, expires_in_seconds: 30 })
  const following = followOrder(changed)
  await passes(600_000)
  expect([streams.length, stub.requested.length]).toEqual([0, 0])
  following?.fetchNow()
  await passes(600_000)
  expect(stub.requested).toHaveLength(1)
  // The hold is over, but the order has not expired yet.
  stub.answer = () => ({ status: 'reserved', payment: null, expires_in_seconds: 0 })
  following?.fetchNow()
  await passes(10_000)
  expect(stub.requested.length).toBeGreaterThan(2)
  expect(changed).not.toHaveBeenCalled()
  stub.answer = () => ({ status: 'expired', payment: null, expires_in_seconds: 0 })
  await passes(20_000)
  expect(changed).toHaveBeenCalledWith('expired')
})

it('shows a payment that was declined in another tab, though the order is reserved as before', async () => {
  const { followOrder } = await orderOnPage('reserved')
  const changed = vi.fn()
  const following = followOrder(changed)
  stub.answer = () => ({ status: 'reserved', payment: { status: 'declined', attempts_left: 2 }, expires_in_seconds: 9 })
  following?.fetchNow()
  await passes(1_000)
  expect(changed).toHaveBeenCalledOnce()
})

it('shows a confirmed order by what the page has brought along, without a request', async () => {
  const { streams } = await orderOnPage()
  const prepared = '<template id="order-confirmed" data-title="It is yours"><h1>Yours</h1></template>'
  await open(orderIn('paying') + prepared, PATH)
  await passes(1_000)
  streams[0]?.send({ status: 'confirmed' })
  await passes(1_000)
  expect(heading()).toBe('Yours')
  expect(document.title).toBe('It is yours · Air · Max')
  expect(times(/order/)).toBe(0)
})
