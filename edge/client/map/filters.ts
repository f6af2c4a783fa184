/**
 * Selects the seats that the map highlights: by price category, shown in the shade of its seats, and by wheelchair
 * places.
 */

import type { Hall } from '../../../shared/hall/hall-model.ts'
import type { Filter } from './choice.ts'
import { element, type Names } from './parts.ts'

interface Filters {
  readonly element: HTMLElement
  /** Shows the number of free seats at each price; none where it is not known. */
  readonly count: (free: ReadonlyMap<string, number>) => void
}

export function filtersOf(hall: Hall, names: Names, onChange: (changes: Partial<Filter>) => void): Filters {
  const { texts } = names
  const prices = new Map<string, number>()
  for (const { category, price_minor } of hall.seats)
    prices.set(category, Math.min(prices.get(category) ?? Infinity, price_minor))
  const choice = (category: string | null, ...content: readonly (Node | string)[]) => {
    const input = element('input', { type: 'radio', name: 'hall-price', class: 'sr', form: '' })
    input.checked = category === null
    input.addEventListener('change', () => onChange({ category }))
    return element('label', {}, input, ...content)
  }
  const counts = new Map([...prices.keys()].map((category) => [category, element('span', { class: 'quiet' })]))
  const ofPrices = [...prices].map(([category, price]) =>
    choice(
      category,
      element('i', { class: `dot c${hall.tiers.get(category) ?? 1}` }),
      element('span', {}, names.money(price), ' ', counts.get(category) ?? ''),
    ),
  )
  const box = element('input', { type: 'checkbox', class: 'sr', form: '' })
  box.addEventListener('change', () => onChange({ accessible: box.checked }))
  const accessible = hall.seats.some(({ kind }) => kind === 'accessible')
    ? [element('label', {}, box, element('span', {}, texts.accessible ?? ''))]
    : []
  const filters = element(
    'fieldset',
    {},
    element('legend', { class: 'sr' }, texts.price ?? ''),
    element('div', { class: 'filters' }, choice(null, texts.anyPrice ?? ''), ...ofPrices, ...accessible),
  )
  return {
    element: filters,
    count: (free) => {
      for (const [category, count] of counts) {
        const left = free.get(category)
        count.textContent = left === undefined ? '' : names.count(left)
      }
    },
  }
}
