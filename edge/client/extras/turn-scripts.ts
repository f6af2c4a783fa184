/** Loads the scripts of a turn, only if its page has a form to fill in or a hall to choose from. */
import type * as HallMap from '../map/map.ts'
import { byId } from '../page.ts'
import type * as TurnForm from '../turn-form/turn-form.ts'

const parts: Record<string, HTMLElement | null> = {}

export function loadTurnScripts(): void {
  void load('offer')
  void load('hall')
}

/** Loads the script of a part of the page once, and again when a refresh has replaced the part. */
async function load(id: 'offer' | 'hall'): Promise<void> {
  const part = byId(id)
  if (part === parts[id]) return
  parts[id] = part
  if (!part) return
  try {
    const { start }: typeof TurnForm | typeof HallMap = await import(part.dataset.script ?? '')
    await start(part)
  } catch {
    // The form works without its script, and sells the best seats without the map, which says that it is away.
    if (id === 'offer') return
    part.textContent = part.dataset.away ?? ''
    part.className = ''
    byId('hall-tabs')?.parentElement?.classList.remove('beside')
  }
}
