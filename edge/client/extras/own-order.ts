/**
 * Checks whether the order to which the page links still exists, because its own page may not have been open when it
 * ended. Few visitors have an order.
 */

import { isLive, isSold } from '../../../shared/api/order-status.ts'
import type { Order } from '../../../shared/api/public.ts'
import { byId, get } from '../page.ts'
import type { PageState, Tools } from './page-state.ts'

/** The pause after a response without a decision, and after the end of a hold. */
const AGAIN_MS = 15_000
const AFTER_HOLD_MS = 2_000

let asked: HTMLElement | null = null
let againAtMs = 0

export async function checkOwnOrder({ page }: PageState, { ownOrder, forgetOrder }: Tools): Promise<void> {
  const shown = byId('own-order')
  const order = shown ? ownOrder(page) : undefined
  if (order === undefined || (asked === shown && performance.now() < againAtMs)) return
  asked = shown
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
