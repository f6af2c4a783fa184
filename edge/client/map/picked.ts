/** Shows the chosen seats above the button that reserves them: their names, prices and form fields. */

import type { Hall, Seat } from '../../../shared/hall/hall-model.ts'
import { type Units, unitsIn } from './choice.ts'
import { element, type Names } from './parts.ts'

/** The name of the field as the form's handler expects it (edge/pages/turn/cart-fields.ts). */
export const fieldOf = ({ section, seat_id }: Seat) => `seat:${section.id}:${seat_id}`

/** The standing places, products and best seats that the form requests in addition to the seats of the map. */
export function unitsOf(form: HTMLFormElement | null, { sections }: Hall): Units[] {
  const inputs = [...(form?.querySelectorAll<HTMLInputElement>('input[type=number]') ?? [])]
  const least = sections.reduce((a, { priceFrom }) => Math.min(a, priceFrom ?? Infinity), Infinity)
  return inputs.map(({ value, dataset }) => {
    const price = dataset.price === undefined ? least : Number(dataset.price)
    return { quantity: Math.max(0, Math.floor(Number(value) || 0)), price_minor: Number.isFinite(price) ? price : 0 }
  })
}

interface Picked {
  readonly hall: Hall
  readonly names: Names
  readonly chosen: readonly Seat[]
  readonly form: HTMLFormElement | null
  readonly onTakeOut: (seat: Seat) => void
}

export function showPicked({ hall, names, chosen, form, onTakeOut }: Picked): void {
  const { texts } = names
  const place = document.getElementById('cart-choice')
  if (!place) return
  const items = chosen.map((seat) => {
    const label = names.fill('remove', { seat: names.whole(seat) })
    const out = element('button', { type: 'button', class: 'icon-button', 'aria-label': label }, '×')
    out.addEventListener('click', () => onTakeOut(seat))
    const price = String(seat.price_minor)
    const field = element('input', { type: 'hidden', name: fieldOf(seat), value: '1', 'data-seat-price': price })
    return element('li', {}, field, names.shown(seat), element('b', {}, names.money(seat.price_minor)), out)
  })
  const isEmpty = items.length === 0 && unitsIn(unitsOf(form, hall)) === 0
  place.replaceChildren(
    ...(items.length > 0
      ? [element('h2', {}, texts.yourSeats ?? ''), element('ul', { class: 'picked' }, ...items)]
      : []),
    ...(isEmpty ? [element('p', { class: 'small quiet' }, texts.chooseFirst ?? '')] : []),
  )
  // The form's own script calculates the new total.
  form?.dispatchEvent(new Event('choice'))
}
