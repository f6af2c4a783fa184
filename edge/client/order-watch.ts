/**
 * Updates an order on the page. While a change is expected, changes come by an event stream (order-stream.ts), or by
 * polling without one. While the order is reserved, the page asks when the buyer returns to it and when the hold is
 * over. On the sale's other pages it shows the link to the order.
 */

import { progressOf } from '../../shared/api/order-status.ts'
import type { Order } from '../../shared/api/public.ts'
import type { StreamEvent } from './order-stream.ts'
import { byId, each, get, keepFocus, loadStored, nowMs, type Page, pathUnder, retitle, show, store } from './page.ts'

/** Several changes arrive at once after an interruption, and only the last one is needed. */
const SETTLE_MS = 80
/** The pause between two polls in milliseconds: with a stream, which may have failed silently, and without one. */
const POLL_BESIDE_MS = 20_000
const POLL_MS = 2_000
const POLL_MAX_MS = 15_000
/** A browser shows its order for a day. */
const SHOWN_FOR_MS = 24 * 3_600_000

export interface Following {
  /** Polls now, because the hold may be over, or the buyer left the tab or came back to it. */
  fetchNow(): void
  stop(): void
}

/**
 * Watches the order on the page, and calls `changed` with its status when the order or its payment differs from what
 * is shown.
 */
export function followOrder(changed: (status: string) => void): Following | null {
  const section = byId('order')
  if (!section?.dataset.progress) return null
  const { order, orderStatus, progress } = section.dataset
  const isListening = orderStatus !== 'reserved'
  let [timer, settling, pauseMs, isStreaming, isStopped] = [0, 0, POLL_MS, false, false]

  const received = (now: Order) => {
    clearTimeout(settling)
    if (!isStopped && now.status && progressOf(now) !== progress) settling = setTimeout(changed, SETTLE_MS, now.status)
  }
  const poll = async () => {
    clearTimeout(timer)
    try {
      const response = await get(`/orders/${order}`)
      if (response.ok) {
        const now: Order = await response.json()
        received(now)
        // Until its hold is over, only the buyer changes a reserved order.
        if (!isListening && now.expires_in_seconds > 0) return
      }
    } catch {
      // The next poll is scheduled below.
    }
    pauseMs = Math.min(POLL_MAX_MS, pauseMs * 1.5)
    schedulePoll()
  }
  const schedulePoll = () => {
    clearTimeout(timer)
    // A response may arrive after stop().
    if (isStopped) return
    timer = setTimeout(poll, (isStreaming ? POLL_BESIDE_MS : pauseMs) * (0.75 + Math.random() / 2))
  }
  if (isListening) schedulePoll()
  section.addEventListener('stream', ({ detail }: StreamEvent) => {
    if (detail.now) received(detail.now)
    if (isStreaming === detail.isOpen) return
    isStreaming = detail.isOpen
    schedulePoll()
  })
  return {
    fetchNow: poll,
    stop: () => {
      isStopped = true
      clearTimeout(timer)
      clearTimeout(settling)
    },
  }
}

// -- The way back ---------------------------------------------------------------------------------------------------

/** The browser's list of a sale's orders, each with the time at which its page was last seen, the latest last. */
export const storageKeyOfOrders = (page: Page) => `order ${page.sale}`

function storedOrders(page: Page): string[] {
  const orders = loadStored(storageKeyOfOrders(page))?.split(',') ?? []
  return orders.filter((order) => nowMs() - Number(order.split(' ')[1]) <= SHOWN_FOR_MS)
}

const isGone = (status: string | undefined) => status === 'expired' || status === 'cancelled'

/** Stores an order, or removes one that is gone. The visitor's other orders stay. */
function storeOrder(page: Page, order: string, gone: boolean): void {
  const orders = storedOrders(page).filter((other) => !other.startsWith(order))
  if (!gone) orders.push(`${order} ${Math.round(nowMs())}`)
  store(storageKeyOfOrders(page), orders.join() || null)
}

/** Stores the order that this page shows. */
export function rememberOrder(page: Page): void {
  const { order, orderStatus } = byId('order')?.dataset ?? {}
  if (order) storeOrder(page, order, isGone(orderStatus))
}

/** Returns the latest order of the page's sale. */
export const ownOrder = (page: Page): string | undefined => storedOrders(page).at(-1)?.split(' ')[0]

/** Removes an order that is gone. */
export function forgetOrder(page: Page, order: string): void {
  storeOrder(page, order, true)
  showOwnOrder(page)
}

/**
 * Shows the link to the latest order on the sale's other pages, in place of the turn if one order is the limit. The
 * second script checks whether the order has ended meanwhile.
 */
export function showOwnOrder(page: Page): void {
  const own = byId('own-order')
  if (!own) return
  const order = ownOrder(page)
  const shown = order !== undefined
  each<HTMLAnchorElement>('#own-order a', (link) => {
    link.href = pathUnder(`/order/${order}`)
  })
  show(own, shown)
  const heading = own.querySelector('h1')
  const otherwise = document.querySelector('#turn h1, [data-when=missed_turn] h1')
  if (!heading || !otherwise) return
  show(otherwise.closest('#turn, #line'), !shown)
  keepFocus()
  retitle((shown ? heading : otherwise).textContent ?? '')
}
