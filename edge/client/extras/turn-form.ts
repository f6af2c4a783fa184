/** Loads the script of a turn's form, only if there is something to choose. Without it the server reports errors. */

import { byId } from '../page.ts'
import type * as TurnForm from '../turn-form/turn-form.ts'

let shown: HTMLElement | null = null

export function showTurnForm(): void {
  const offer = byId('offer')
  if (offer === shown) return
  shown = offer
  if (offer) void load(offer)
}

async function load(offer: HTMLElement): Promise<void> {
  try {
    const { start }: typeof TurnForm = await import(offer.dataset.script ?? '')
    start(offer)
  } catch {
    // The form also works without the script.
  }
}
