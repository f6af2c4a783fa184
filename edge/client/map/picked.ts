/** Shows the chosen seats above the button that reserves them: their names, prices and form fields. */

import type { Seat } from '../../../shared/hall/hall-model.ts'
import { type Units, unitsIn } from './choice.ts'
import { element, type Names } from './parts.ts'

/** The name of the field as the form's handler expects it (edge/pages/turn/cart-fields.ts). */
export const fieldOf = ({ section, seat_id }: Seat) => `seat:${section.id}:${seat_id}`

/** The standing places and products that the form, or the cart before it, has in addition to the seats of the map. */
export function unitsOf(form: HTMLFormElement | null): Units[] {
  const inputs = [...(form?.querySelectorAll<HTMLInputElement>('input[data-price]') ?? [])]
  return inputs.map(({ value, dataset }) => ({
    quantity: Math.max(0, Math.floor(Number(value) || 0)),
    price_minor: Number(dataset.price),
  }))
}

interface Picked {
  readonly names: Names
  readonly chosen: readonly Seat[]
  readonly form: HTMLFormElement | null
  /** True if the shop offers these seats, which are held for nobody. */
  readonly isOffer: boolean
  readonly onTakeOut: (seat: Seat) => void
  readonly onAnother: () => void
}

export function showPicked({ names, chosen, form, isOffer, onTakeOut, onAnother }: Picked): void {
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
  const isEmpty = items.length === 0 && unitsIn(unitsOf(form)) === 0
  const heading = element('h2', { tabindex: '-1' }, (isOffer ? texts.wouldTake : texts.yourSeats) ?? '')
  const another = element('button', { type: 'button', class: 'button second' }, texts.another ?? '')
  another.addEventListener('click', onAnother)
  const offer = [element('p', { class: 'small quiet' }, texts.notHeld ?? ''), another]
  place.replaceChildren(
    ...(items.length > 0 ? [heading, element('ul', { class: 'picked' }, ...items)] : []),
    ...(isOffer ? [element('div', { class: 'row offer' }, ...offer)] : []),
    ...(isEmpty ? [element('p', { class: 'small quiet' }, texts.chooseFirst ?? '')] : []),
  )
  const take = document.querySelector<HTMLElement>('.bar [data-take-these]')
  if (take) take.textContent = (chosen.length > 0 ? take.dataset.takeThese : take.dataset.withoutSeat) ?? ''
  // The form's own script calculates the new total.
  form?.dispatchEvent(new Event('choice'))
}
