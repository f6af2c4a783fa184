/** Loads the scripts of a turn, only if its page has a form to fill in or a hall to choose from. */
import type * as HallMap from '../map/map.ts'
import { byId } from '../page.ts'
import type * as TurnForm from '../turn-form/turn-form.ts'

let offer: HTMLElement | null = null
let hall: HTMLElement | null = null

/** Loads each script once for its part of the page, which a refresh of the page replaces. */
export function loadTurnScripts(): void {
  if (byId('offer') !== offer) {
    offer = byId('offer')
    if (offer) void loadForm(offer)
  }
  if (byId('hall') !== hall) {
    hall = byId('hall')
    if (hall) void loadMap(hall)
  }
}

async function loadForm(offer: HTMLElement): Promise<void> {
  try {
    const { start }: typeof TurnForm = await import(offer.dataset.script ?? '')
    start(offer)
  } catch {
    // The form also works without the script, and then the server reports errors.
  }
}

async function loadMap(hall: HTMLElement): Promise<void> {
  try {
    const { start }: typeof HallMap = await import(hall.dataset.script ?? '')
    await start(hall)
  } catch {
    // The form sells the best seats without the map too.
    hall.textContent = hall.dataset.away ?? ''
    hall.className = ''
    byId('hall-tabs')?.parentElement?.classList.remove('beside')
  }
}
