/** The script updates an order on the page. */
import { expect, it, vi } from 'vitest'
import { fire, heading, look, open, passes, stub, the, times, useBrowserPage } from './testing/browser-page.ts'

useBrowserPage()

const PATH = { path: '/sales/demo/order/an-order', number: '1' }
const orderIn = (status: string) =>
  `<div id="order" data-order="an-order" data-order-status="${status}" data-progress="${status}"></div>`

/** Opens a page with an order, whose event stream the test controls. */
async function orderOnPage(orderStatus = 'paying') {
  look()
  document.body.innerHTML = orderIn(orderStatus)
  const { followOrder } = await import('./order-watch.ts')
  return followOrder
}

/** What the script of the event stream reports. */
const stream = (detail: object) => fire('stream', the('order'), { detail })

it('polls an order soon where no stream opens, though the browser keeps trying', async () => {
  const followOrder = await orderOnPage()
  followOrder(vi.fn())
  for (let i = 0; i < 4; i++) {
    stream({ isOpen: false })
    await passes(1_500)
  }
  expect(stub.requested.length).toBeGreaterThan(0)
  stream({ isOpen: true })
  const before = stub.requested.length
  for (let i = 0; i < 14; i++) {
    await passes(1_000)
    stream({ isOpen: true })
  }
  expect(stub.requested).toHaveLength(before)
  stream({ isOpen: false })
  await passes(14_000)
  expect(stub.requested.length).toBeGreaterThan(before)
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
  const followOrder = await orderOnPage()
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
  const followOrder = await orderOnPage('reserved')
  const changed = vi.fn()
  stub.answer = () => ({ status: 'reserved', payment: null, expires_in_seconds: 30 })
  const following = followOrder(changed)
  await passes(600_000)
  expect(stub.requested).toEqual([])
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
  const followOrder = await orderOnPage('reserved')
  const changed = vi.fn()
  const following = followOrder(changed)
  stub.answer = () => ({ status: 'reserved', payment: { status: 'declined', attempts_left: 2 }, expires_in_seconds: 9 })
  following?.fetchNow()
  await passes(1_000)
  expect(changed).toHaveBeenCalledOnce()
})

it('shows a confirmed order by what the page has brought along, without a request', async () => {
  await orderOnPage()
  const prepared = '<template id="order-confirmed" data-title="It is yours"><h1>Yours</h1></template>'
  await open(orderIn('paying') + prepared, PATH)
  await passes(1_000)
  stream({ isOpen: true, now: { status: 'confirmed' } })
  await passes(1_000)
  expect(heading()).toBe('Yours')
  expect(document.title).toBe('It is yours · Air · Max')
  expect(times(/order/)).toBe(0)
})
