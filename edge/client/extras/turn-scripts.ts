/** Loads the scripts of a turn, only if its page has a form to fill in or a hall to choose from, now or ahead. */
import type * as HallMap from '../map/map.ts'
import type * as Prepare from '../turn-form/prepare.ts'
import type * as TurnForm from '../turn-form/turn-form.ts'

const parts: Record<string, HTMLElement | null> = {}

export function loadTurnScripts(): void {
  void load('#offer')
  void load('#hall')
  // What may be filled in ahead has its script once it is opened.
  void load('#prepare[open]')
}

/** Loads the script of a part of the page once, and again when a refresh has replaced the part. */
async function load(id: '#offer' | '#hall' | '#prepare[open]'): Promise<void> {
  const part = document.querySelector<HTMLElement>(id)
  if (part === parts[id]) return
  parts[id] = part
  if (!part) return
  try {
    const { start }: typeof TurnForm | typeof HallMap | typeof Prepare = await import(part.dataset.script as string)
    await start(part)
  } catch {
    // The form works without its script, and sells the best seats without the map, which says that it is away.
    if (id !== '#hall') return
    part.className = ''
    part.replaceChildren(part.dataset.away as string)
    document.querySelector('.beside')?.classList.remove('beside')
  }
}
