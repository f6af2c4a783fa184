/**
 * An order on the page: its changes come by themselves, and where no stream can be had the page asks now and then. On the
 * sale's other pages, the way back to it.
 */
import { isSettled } from '../../shared/order-status.ts'
import { byId, each, get, keep, keepFocus, kept, nowMs, type Page, retitle, show } from './page.ts'

/** Several changes come at once after a break: the last one counts. */
const SETTLE_MS = 80
/** Asked while there is a stream (which might be silent without our knowing), and while there is none. */
const ASK_BESIDE_MS = 20_000
const ASK_MS = 2_000
const ASK_MAX_MS = 15_000
/** An order is shown in its own browser for a day. */
const SHOWN_FOR_MS = 24 * 3_600_000

export interface Following {
  /** Asks now: the hold may be over. */
  ask(): void
  stop(): void
}

/** Watches the order on the page, and calls `changed` when it is no longer what the page shows. */
export function followOrder(changed: () => void): Following | null {
  const { order, orderStatus: shown } = byId('order')?.dataset ?? {}
  if (!order || !shown || isSettled(shown)) return null
  const events = new EventSource(`/orders/${order}/events`)
  let [timer, settling, pauseMs] = [0, 0, ASK_MS]
  let [streaming, stopped] = [false, false]

  const heard = (status: unknown) => {
    clearTimeout(settling)
    if (!stopped && typeof status === 'string' && status !== shown) settling = setTimeout(changed, SETTLE_MS)
  }
  const ask = async () => {
    clearTimeout(timer)
    try {
      const response = await get(`/orders/${order}`)
      if (response.ok) heard((await response.json()).status)
    } catch {
      // Asked again below.
    }
    pauseMs = Math.min(ASK_MAX_MS, pauseMs * 1.5)
    plan()
  }
  const plan = () => {
    clearTimeout(timer)
    // An answer may come after the page that asked has gone.
    if (stopped) return
    timer = setTimeout(ask, (streaming ? ASK_BESIDE_MS : pauseMs) * (0.75 + Math.random() / 2))
  }
  events.addEventListener('order', ({ data }) => heard(JSON.parse(data).status))
  // By its own word a stream that never opens is connecting, again and again.
  const streams = (now: boolean) => {
    if (streaming === now) return
    streaming = now
    plan()
  }
  events.onopen = () => streams(true)
  events.onerror = () => streams(false)
  plan()
  return {
    ask,
    stop: () => {
      stopped = true
      events.close()
      clearTimeout(timer)
      clearTimeout(settling)
    },
  }
}

// -- The way back ------------------------------------------------------------------------------------------------------

/** What this browser keeps of a sale's orders: each with when its page was last seen, the latest last. */
export const keyOfOrder = (page: Page) => `order ${page.sale}`

function keptOrders(page: Page): string[] {
  const orders = kept(keyOfOrder(page))?.split(',') ?? []
  return orders.filter((order) => nowMs() - Number(order.split(' ')[1]) <= SHOWN_FOR_MS)
}

const isGone = (status: string | undefined) => status === 'expired' || status === 'cancelled'

/** Keeps an order, or forgets one that is gone; those that one may have beside it stay. */
function keepOrder(page: Page, order: string, gone: boolean): void {
  const others = keptOrders(page).filter((other) => !other.startsWith(order))
  if (!gone) others.push(`${order} ${Math.round(nowMs())}`)
  keep(keyOfOrder(page), others.join() || null)
}

/** Remembers the order that this page shows. */
export function rememberOrder(page: Page): void {
  const { order, orderStatus } = byId('order')?.dataset ?? {}
  if (order) keepOrder(page, order, isGone(orderStatus))
}

let standsTimer = 0

/**
 * On the sale's other pages shows the way back to the latest order, be it in place of the turn. Its own page may not have
 * been open when it went, so it is asked after: those who have one are few.
 */
export function showOwnOrder(page: Page): void {
  clearTimeout(standsTimer)
  const own = byId('own-order')
  if (!own) return
  const order = keptOrders(page).at(-1)?.split(' ')[0]
  const shown = order !== undefined
  each<HTMLAnchorElement>('#own-order a', (link) => {
    if (shown) link.href = `/sales/${page.sale}/order/${order}`
  })
  show(own, shown)
  if (shown) void askWhetherItStands(page, order)
  const heading = own.querySelector('h1')
  const otherwise = document.querySelector('#turn h1, [data-when=missed_turn] h1')
  if (!heading || !otherwise) return
  show(otherwise.closest('.card'), !shown)
  keepFocus()
  retitle((shown ? heading : otherwise).textContent ?? '')
}

async function askWhetherItStands(page: Page, order: string): Promise<void> {
  let againMs = ASK_MAX_MS
  try {
    const response = await get(`/orders/${order}`)
    const { status, expires_in_seconds } = await response.json()
    if (response.status === 404 || isGone(status)) {
      keepOrder(page, order, true)
      return showOwnOrder(page)
    }
    if (isSettled(status)) return
    if (expires_in_seconds > 0) againMs = expires_in_seconds * 1000 + ASK_MS
  } catch {
    // Asked again below.
  }
  clearTimeout(standsTimer)
  standsTimer = setTimeout(showOwnOrder, againMs, page)
}
