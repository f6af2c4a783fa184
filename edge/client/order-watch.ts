/**
 * An order on the page: its changes come by a stream of events, and without one the page polls. On the sale's other pages,
 * the way back to the order.
 */
import type { Order } from '../../shared/api/public.ts'
import { isSold, progressOf } from '../../shared/order-status.ts'
import { byId, each, get, keepFocus, nowMs, type Page, retitle, show, store, stored } from './page.ts'

/** Several changes arrive at once after a break: the last one counts. */
const SETTLE_MS = 80
/** Between two polls, in milliseconds: beside a stream, which may have died silently, and without one. */
const POLL_BESIDE_MS = 20_000
const POLL_MS = 2_000
const POLL_MAX_MS = 15_000
/** An order is shown in its own browser for a day. */
const SHOWN_FOR_MS = 24 * 3_600_000

export interface Following {
  /** Polls now: the hold may be over. */
  fetchNow(): void
  stop(): void
}

/** Watches the order on the page, and calls `changed` when it or its payment is no longer as shown. */
export function followOrder(changed: () => void): Following | null {
  const { order, progress } = byId('order')?.dataset ?? {}
  if (!progress) return null
  const events = new EventSource(`/orders/${order}/events`)
  let [timer, settling, pauseMs] = [0, 0, POLL_MS]
  let [isStreaming, isStopped] = [false, false]

  const received = (now: Order) => {
    clearTimeout(settling)
    if (!isStopped && now.status && progressOf(now) !== progress) settling = setTimeout(changed, SETTLE_MS)
  }
  const poll = async () => {
    clearTimeout(timer)
    try {
      const response = await get(`/orders/${order}`)
      if (response.ok) received(await response.json())
    } catch {
      // Polls again below.
    }
    pauseMs = Math.min(POLL_MAX_MS, pauseMs * 1.5)
    schedulePoll()
  }
  const schedulePoll = () => {
    clearTimeout(timer)
    // A response may come after stop().
    if (isStopped) return
    timer = setTimeout(poll, (isStreaming ? POLL_BESIDE_MS : pauseMs) * (0.75 + Math.random() / 2))
  }
  events.addEventListener('order', ({ data }) => received(JSON.parse(data)))
  // Not by readyState: a stream that never opens stays "connecting".
  const setStreaming = (now: boolean) => {
    if (isStreaming === now) return
    isStreaming = now
    schedulePoll()
  }
  events.onopen = () => setStreaming(true)
  events.onerror = () => setStreaming(false)
  schedulePoll()
  return {
    fetchNow: poll,
    stop: () => {
      isStopped = true
      events.close()
      clearTimeout(timer)
      clearTimeout(settling)
    },
  }
}

// -- The way back ------------------------------------------------------------------------------------------------------

/** The browser's list of a sale's orders, each with the time its page was last seen; the latest is last. */
export const storageKeyOfOrders = (page: Page) => `order ${page.sale}`

function storedOrders(page: Page): string[] {
  const orders = stored(storageKeyOfOrders(page))?.split(',') ?? []
  return orders.filter((order) => nowMs() - Number(order.split(' ')[1]) <= SHOWN_FOR_MS)
}

const isGone = (status: string | undefined) => status === 'expired' || status === 'cancelled'

/** Keeps an order, or removes one that is gone; the visitor's other orders stay. */
function storeOrder(page: Page, order: string, gone: boolean): void {
  const orders = storedOrders(page).filter((other) => !other.startsWith(order))
  if (!gone) orders.push(`${order} ${Math.round(nowMs())}`)
  store(storageKeyOfOrders(page), orders.join() || null)
}

/** Keeps the order that this page shows. */
export function rememberOrder(page: Page): void {
  const { order, orderStatus } = byId('order')?.dataset ?? {}
  if (order) storeOrder(page, order, isGone(orderStatus))
}

let checkTimer = 0

/**
 * Shows the way back to the latest order on the sale's other pages, in place of the turn where one order is the limit. The
 * order's page may not have been open when the order ended, so its status is checked: few visitors have one.
 */
export function showOwnOrder(page: Page): void {
  clearTimeout(checkTimer)
  const own = byId('own-order')
  if (!own) return
  const order = storedOrders(page).at(-1)?.split(' ')[0]
  const shown = order !== undefined
  each<HTMLAnchorElement>('#own-order a', (link) => {
    if (shown) link.href = `/sales/${page.sale}/order/${order}`
  })
  show(own, shown)
  if (shown) void checkOrder(page, order)
  const heading = own.querySelector('h1')
  const otherwise = document.querySelector('#turn h1, [data-when=missed_turn] h1')
  if (!heading || !otherwise) return
  show(otherwise.closest('.card'), !shown)
  keepFocus()
  retitle((shown ? heading : otherwise).textContent ?? '')
}

/** Removes the order once it is gone. */
async function checkOrder(page: Page, order: string): Promise<void> {
  let againMs = POLL_MAX_MS
  try {
    const response = await get(`/orders/${order}`)
    const { status, expires_in_seconds } = await response.json()
    if (response.status === 404 || isGone(status)) {
      storeOrder(page, order, true)
      return showOwnOrder(page)
    }
    if (isSold(status)) return
    if (expires_in_seconds > 0) againMs = expires_in_seconds * 1000 + POLL_MS
  } catch {
    // Checks again below.
  }
  clearTimeout(checkTimer)
  checkTimer = setTimeout(showOwnOrder, againMs, page)
}
