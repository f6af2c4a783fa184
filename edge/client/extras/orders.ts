/** The visitor's order: the link to it, which a page may show after the order ended, and its buttons. */

import { isLive, isSold } from '../../../shared/api/order-status.ts'
import type { Order } from '../../../shared/api/public.ts'
import { byId, each, get, type PageState, show, type Tools } from '../page.ts'

/** The pause after a response without a decision, and after the end of a hold. */
const AGAIN_MS = 15_000
const AFTER_HOLD_MS = 2_000

let checkedPart: HTMLElement | null = null
let againAtMs = 0

/**
 * Checks whether the order to which the page links still exists, because its own page may not have been open when it
 * ended. Few visitors have an order.
 */
export async function checkOwnOrder({ page }: PageState, { ownOrder, forgetOrder }: Tools): Promise<void> {
  const shown = byId('own-order')
  const order = shown ? ownOrder(page) : undefined
  if (order === undefined || (checkedPart === shown && performance.now() < againAtMs)) return
  checkedPart = shown
  againAtMs = performance.now() + AGAIN_MS
  try {
    const response = await get(`/orders/${order}`)
    const { status, expires_in_seconds }: Order = await response.json()
    if (response.status === 404 || (response.ok && !isLive(status) && !isSold(status))) forgetOrder(page, order)
    else if (isSold(status)) againAtMs = Number.POSITIVE_INFINITY
    else if (expires_in_seconds > 0) againAtMs = performance.now() + expires_in_seconds * 1000 + AFTER_HOLD_MS
  } catch {
    // The next check comes later.
  }
}

/** The buttons that need a script are shown only if the browser has the function for them. */
export function showOrderButtons(): void {
  each<HTMLButtonElement>('[data-copy]', (button) => {
    show(button, 'clipboard' in navigator)
    button.onclick = () => void copy(button)
  })
  each<HTMLButtonElement>('[data-share]', (button) => {
    show(button, 'share' in navigator)
    button.onclick = () => void share(button)
  })
}

async function copy(button: HTMLButtonElement): Promise<void> {
  await navigator.clipboard.writeText(button.dataset.copy ?? '').then(
    () => {
      button.dataset.done = ''
    },
    () => {},
  )
}

async function share({ dataset }: HTMLButtonElement): Promise<void> {
  const url = new URL(dataset.share ?? '', location.href).href
  // A visitor who cancels sharing has not caused an error.
  await navigator.share({ title: saleName(), url }).catch(() => {})
}

const saleName = () => document.getElementById('stage')?.dataset.name ?? ''
