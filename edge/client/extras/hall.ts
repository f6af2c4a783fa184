/**
 * Loads the map of a hall, only for a turn in a sale that has one. Without the map the form still sells the best
 * seats.
 */
import type * as HallMap from '../map/map.ts'
import { byId } from '../page.ts'

let shown: HTMLElement | null = null

export function showHall(): void {
  const place = byId('hall')
  if (place === shown) return
  shown = place
  if (place) void load(place)
}

async function load(place: HTMLElement): Promise<void> {
  try {
    const { start }: typeof HallMap = await import(place.dataset.script ?? '')
    await start(place)
  } catch {
    place.textContent = place.dataset.away ?? ''
    place.className = ''
    byId('hall-tabs')?.parentElement?.classList.remove('beside')
  }
}
