/** An order on the page. */
import { expect, it, vi } from 'vitest'
import { passes, run, stub, Thing, times, useStubPage } from './testing/stub-page.ts'

useStubPage()

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
  stub.things = { order: new Thing({ order: 'an-order', orderStatus: 'reserved', progress: 'reserved' }) }
  const { followOrder } = await import('./order-watch.ts')
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
  expect(stub.requested.length).toBeGreaterThan(0)
  stream?.onopen()
  const before = stub.requested.length
  await passes(14_000)
  expect(stub.requested).toHaveLength(before)
  stream?.onerror()
  await passes(14_000)
  expect(stub.requested.length).toBeGreaterThan(before)
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
  stub.answer = () => ({ json: async () => ({ status: 'confirmed' }) })
  const following = followOrder(changed)
  following?.fetchNow()
  following?.stop()
  await passes(60_000)
  expect(stub.requested).toHaveLength(1)
  expect(changed).not.toHaveBeenCalled()
})

it('shows a payment that was declined, though the order is reserved as before', async () => {
  const { followOrder } = await orderOnPage()
  const changed = vi.fn()
  stub.answer = () => ({ status: 'reserved', payment: null })
  followOrder(changed)
  await passes(20_000)
  expect(changed).not.toHaveBeenCalled()
  stub.answer = () => ({ status: 'reserved', payment: { status: 'declined', attempts_left: 2 } })
  await passes(20_000)
  expect(changed).toHaveBeenCalled()
})
