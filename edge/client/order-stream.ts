/**
 * The event stream of the order on the page. Without HTTP/2 a browser has six connections to a server for all of its
 * tabs, so one visible tab at a time has a stream, and passes on to the others what it receives. When it is hidden or
 * closed, the next one has the stream.
 */
import type { Order } from '../../shared/api/public.ts'

/** What the page of an order learns from the stream: whether it is open, and the order after a change. */
interface News {
  readonly isOpen: boolean
  readonly now?: Order
}

export type StreamEvent = CustomEvent<News>

declare global {
  interface HTMLElementEventMap {
    readonly stream: StreamEvent
  }
}

/** Tabs that open later learn within this time that there is a stream. */
const REPEAT_MS = 1_000
const NAME = 'flash-sale order stream'

/** Follows the order of this part of the page until the part is replaced. */
export function start(part: HTMLElement): void {
  const { order } = part.dataset
  const channel = new BroadcastChannel(NAME)
  let turn: AbortController | null = null
  let isOpen = false

  const apply = (detail: News) => part.dispatchEvent(new CustomEvent('stream', { detail }))
  channel.onmessage = ({ data }) => data.order === order && apply(data.news)
  const publish = (news: News) => {
    apply(news)
    channel.postMessage({ order, news })
  }

  /** Streams until the signal. */
  const stream = (signal: AbortSignal) =>
    new Promise<void>((done) => {
      const events = new EventSource(`/orders/${order}/events`)
      events.addEventListener('order', ({ data }) => publish({ isOpen, now: JSON.parse(data) }))
      // `readyState` is not used, because a stream that never opens stays "connecting".
      events.onopen = events.onerror = ({ type }) => {
        isOpen = type === 'open'
        publish({ isOpen })
      }
      signal.addEventListener('abort', () => {
        events.close()
        isOpen = false
        publish({ isOpen })
        done()
      })
    })

  const leave = () => {
    turn?.abort()
    turn = null
  }
  const enter = () => {
    if (turn) return
    turn = new AbortController()
    const { signal } = turn
    // A page without https has no locks, so each visible tab has a stream there.
    const held = navigator.locks ? navigator.locks.request(NAME, { signal }, () => stream(signal)) : stream(signal)
    // Waiting for the lock ends with an error when the tab is hidden.
    held.catch(() => {})
  }
  const check = () => {
    if (document.hidden || !part.isConnected) leave()
    else enter()
    if (isOpen) publish({ isOpen })
    if (part.isConnected) return
    clearInterval(timer)
    document.removeEventListener('visibilitychange', check)
    channel.close()
  }
  const timer = setInterval(check, REPEAT_MS)
  document.addEventListener('visibilitychange', check)
  check()
}
