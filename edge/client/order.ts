/** An order on the page: its changes come by themselves, and where no stream can be had the page asks now and then. */
import { isSettled } from '../../shared/order-status.ts'
import { byId, each, get, keep, kept, nowMs, type Page, retitle, show } from './page.ts'

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
  let events: EventSource | null = new EventSource(`/orders/${order}/events`)
  let [timer, settling, pauseMs] = [0, 0, ASK_MS]
  let stopped = false

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
    timer = setTimeout(ask, (events ? ASK_BESIDE_MS : pauseMs) * (0.75 + Math.random() / 2))
  }
  events.addEventListener('order', ({ data }) => heard(JSON.parse(data).status))
  events.onerror = () => {
    if (events?.readyState !== EventSource.CLOSED) return
    events = null
    plan()
  }
  plan()
  return {
    ask,
    stop: () => {
      stopped = true
      events?.close()
      clearTimeout(timer)
      clearTimeout(settling)
    },
  }
}

export const keyOfOrder = (page: Page) => `order ${page.sale}`

/** Remembers the order that this page shows. */
export function rememberOrder(page: Page): void {
  const { order, orderStatus } = byId('order')?.dataset ?? {}
  if (!order) return
  const gone = orderStatus === 'expired' || orderStatus === 'cancelled'
  keep(keyOfOrder(page), gone ? null : `${order} ${Math.round(nowMs())}`)
}

/** On the sale's other pages shows the way back to the order, be it in place of the turn. */
export function showOwnOrder(page: Page): void {
  const own = byId('own-order')
  if (!own) return
  const [known, atMs] = kept(keyOfOrder(page))?.split(' ') ?? []
  const shown = known !== undefined && nowMs() - Number(atMs) <= SHOWN_FOR_MS
  if (shown)
    each<HTMLAnchorElement>('#own-order a', (link) => {
      link.href = `/sales/${page.sale}/order/${known}`
    })
  show(own, shown)
  const heading = own.querySelector('h1')
  const otherwise = document.querySelector('#turn h1, [data-when=missed_turn] h1')
  if (!heading || !otherwise) return
  show(otherwise.closest('.card'), !shown)
  retitle((shown ? heading : otherwise).textContent ?? '')
}
