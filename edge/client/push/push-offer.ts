/**
 * Subscribes the browser to the sale's push messages (W3C Push API), which arrive while no page of the sale is open.
 * They are off at first. The ticket number and the endpoint of the subscription are stored: a visitor who joins
 * again, or returns when all is sold, is subscribed again.
 */
import { byId, get, loadStored, type Page, show, store, write } from '../page.ts'

/** The address of the service worker, which build.ts inserts. */
declare const __PUSH_WORKER__: string
/** The scope is a path without pages, so the worker controls none. */
const SCOPE = '/assets/flash-sale-'

const storageKeyOf = ({ sale }: Page) => `push ${sale}`
/** True if this browser gets the sale's messages. */
export const isPushed = (page: Page) => loadStored(storageKeyOf(page)) !== null && Notification.permission === 'granted'

const sentOf = ({ number }: Page, { endpoint }: PushSubscription) => `${number} ${endpoint}`

const subscription = async () =>
  (await navigator.serviceWorker.getRegistration(SCOPE))?.pushManager.getSubscription() ?? null

let set: HTMLElement | null = null

export async function showPush(page: Page): Promise<void> {
  const button = byId('notice-push')
  if (!button || button === set) return
  set = button
  // `pushManager` is missing if the page is not secure.
  const isSupported = 'PushManager' in globalThis && 'Notification' in globalThis && 'serviceWorker' in navigator
  if (!isSupported || Notification.permission === 'denied') return
  const subscribed = isPushed(page) ? await subscription() : null
  check(button, subscribed !== null)
  show(button, true)
  button.onclick = () => void attempt(() => toggle(button, page), button)
  if (subscribed && loadStored(storageKeyOf(page)) !== sentOf(page, subscribed))
    await attempt(() => subscribe(button, page), button)
}

const check = (button: HTMLElement, isOn: boolean) => button.setAttribute('aria-checked', String(isOn))

async function attempt(act: () => Promise<void>, button: HTMLElement): Promise<void> {
  const failed = await act().then(
    () => '',
    () => button.dataset.failed,
  )
  write(byId('push-failed'), failed)
}

async function toggle(button: HTMLElement, page: Page): Promise<void> {
  if (button.getAttribute('aria-checked') === 'true') return unsubscribe(button, page)
  // The permission is requested before the subscription, so that a refusal does not count as an error.
  if ((await Notification.requestPermission()) === 'granted') await subscribe(button, page)
  else show(button, Notification.permission !== 'denied')
}

async function subscribe(button: HTMLElement, page: Page): Promise<void> {
  const { pushManager } = await registerWorker()
  const options = { userVisibleOnly: true, applicationServerKey: button.dataset.key ?? null }
  const subscribed = await pushManager.subscribe(options).catch(async () => {
    // The subscription uses an earlier key of the shop.
    await (await pushManager.getSubscription())?.unsubscribe()
    return pushManager.subscribe(options)
  })
  await send('POST', page, subscribed.toJSON())
  store(storageKeyOf(page), sentOf(page, subscribed))
  check(button, true)
}

async function registerWorker(): Promise<ServiceWorkerRegistration> {
  const registration = await navigator.serviceWorker.register(__PUSH_WORKER__, { scope: SCOPE })
  const worker = registration.installing ?? registration.waiting
  if (registration.active || !worker) return registration
  // A subscription needs an active worker.
  await new Promise<void>((resolve, reject) => {
    worker.onstatechange = () => {
      if (worker.state === 'activated') resolve()
      if (worker.state === 'redundant') reject()
    }
  })
  return registration
}

/** Ends the messages of this sale. The browser stays subscribed, because other sales may send it messages. */
async function unsubscribe(button: HTMLElement, page: Page): Promise<void> {
  const { endpoint } = (await subscription()) ?? {}
  if (endpoint !== undefined) await send('DELETE', page, { endpoint })
  store(storageKeyOf(page), null)
  check(button, false)
}

async function send(method: 'POST' | 'DELETE', { sale }: Page, body: object): Promise<void> {
  const headers = { 'content-type': 'application/json' }
  const response = await get(`/sales/${sale}/push`, { method, headers, body: JSON.stringify(body) })
  if (!response.ok) throw response.status
}
