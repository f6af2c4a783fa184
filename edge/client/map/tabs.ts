/** The views of a hall: the whole hall, the current or last section, and the list. */
import type { Section } from '../../../shared/hall/hall-model.ts'
import { element } from './parts.ts'

export type ViewName = 'hall' | 'section' | 'list'

interface TabsOf {
  readonly labels: { readonly hall: string; readonly list: string }
  readonly onPress: (view: ViewName) => void
}

export class Tabs {
  readonly #buttons: Readonly<Record<ViewName, HTMLButtonElement>>

  constructor({ labels, onPress }: TabsOf) {
    const tab = (view: ViewName, label: string) => {
      const button = element('button', { type: 'button', hidden: label === '' }, label)
      button.addEventListener('click', () => onPress(view))
      return button
    }
    this.#buttons = { hall: tab('hall', labels.hall), section: tab('section', ''), list: tab('list', labels.list) }
    const place = document.getElementById('hall-tabs')
    place?.replaceChildren(...Object.values(this.#buttons))
    if (place) place.hidden = false
  }

  show(view: ViewName, section: Section | null): void {
    const tab = this.#buttons.section
    tab.hidden = section === null
    if (section && tab.textContent !== section.name) tab.replaceChildren(element('bdi', {}, section.name))
    for (const [name, button] of Object.entries(this.#buttons))
      button.setAttribute('aria-pressed', String(name === view))
  }
}
