/**
 * The service worker for push messages. It controls and caches no page, because its scope is a path without pages. A
 * message has the same content as the mail of its kind.
 */
interface Message {
  readonly title: string
  readonly body: string
  readonly lang: string
  /** A click opens this page of the sale or of the order. */
  readonly url: string
  /** The tag is the same if a message arrives twice. */
  readonly tag: string
}

/** The used part of ServiceWorkerGlobalScope, whose types cannot be loaded together with those of a page. */
interface Scope {
  readonly registration: ServiceWorkerRegistration
  readonly clients: {
    matchAll(options: object): Promise<readonly { readonly url: string; focus(): Promise<unknown> }[]>
    openWindow(url: string): Promise<unknown>
  }
  addEventListener<Of extends object>(
    type: 'push' | 'notificationclick',
    act: (event: Of & { waitUntil(work: Promise<unknown>): void }) => void,
  ): void
}
const worker = self as unknown as Scope

worker.addEventListener<{ readonly data: { json(): Message } }>('push', (event) => {
  const { title, body, lang, url, tag } = event.data.json()
  event.waitUntil(worker.registration.showNotification(title, { body, lang, tag, data: url }))
})

worker.addEventListener<{ readonly notification: Notification }>('notificationclick', (event) => {
  event.notification.close()
  event.waitUntil(open(event.notification.data))
})

/** Opens the page, in its existing tab if there is one. */
async function open(url: string): Promise<void> {
  const tabs = await worker.clients.matchAll({ type: 'window', includeUncontrolled: true })
  const tab = tabs.find((one) => one.url.split('?')[0] === url)
  await (tab ? tab.focus() : worker.clients.openWindow(url))
}
