/**
 * Loads the scripts of a turn and of an order, only if the page has a form to fill in or a hall to choose from, now or
 * ahead, or an order that is about to change.
 */
import type * as HallMap from '../map/map.ts'
import type * as OrderStream from '../order-stream.ts'
import type * as Prepare from '../turn-form/prepare.ts'
import type * as TurnForm from '../turn-form/turn-form.ts'

type Script = typeof TurnForm | typeof HallMap | typeof Prepare | typeof OrderStream

const parts: Record<string, HTMLElement | null> = {}

export function loadTurnScripts(): void {
  void load('#offer')
  void load('#hall')
  void load('#order')
  // What may be filled in ahead has its script once it is opened.
  void load('#prepare[open]')
}

/** Loads the script of a part of the page once, and again when a refresh has replaced the part. */
async function load(id: '#offer' | '#hall' | '#order' | '#prepare[open]'): Promise<void> {
  const part = document.querySelector<HTMLElement>(id)
  if (part === parts[id]) return
  parts[id] = part
  const path = part?.dataset.script
  if (!part || !path) return
  try {
    const { start }: Script = await import(path)
    await start(part)
  } catch {
    // An order is polled without its script. The form works without its own, and sells the best seats without the map,
    // which says that it is away.
    if (id !== '#hall') return
    part.className = ''
    part.replaceChildren(part.dataset.away as string)
    document.querySelector('.beside')?.classList.remove('beside')
  }
}
