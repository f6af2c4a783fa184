/**
 * The script of a cart: the steppers go as far as the limits do, a limit is told where it binds, and one more size is
 * one more line.
 */
import { count, fill } from '../../../shared/format.ts'
import type { Fields } from '../../../shared/parse.ts'
import { type Bound, boundsOf } from '../../pages/turn/cart/limits.ts'
import type { Offer } from '../../pages/turn/checkout-fields.ts'
import { write } from '../page.ts'

const inputs = (form: HTMLFormElement) => form.querySelectorAll<HTMLInputElement>('.cart-lines input[type=number]')

/** `touched` is the name of the field that was changed last, where a limit of all lines together is told. */
export function showBounds(form: HTMLFormElement, fields: Fields, offer: Offer, lang: string, touched: string): void {
  const bounds = boundsOf(fields, offer.units, offer.limit)
  for (const input of inputs(form)) {
    const bound = bounds.get(input.name)
    const { quantity, most, limit } = bound ?? { quantity: 0, most: 0, limit: 'stock' }
    input.dataset.most = String(most)
    const isOver = bound !== undefined && limit === 'together' && quantity > most
    input.setCustomValidity(isOver ? boundText(bound, offer, lang) : '')
    const stepper = input.parentElement
    for (const button of stepper?.querySelectorAll<HTMLButtonElement>('[data-step]') ?? [])
      button.disabled = Number(button.dataset.step) < 0 ? quantity === 0 : quantity >= most
    const isBound = bound !== undefined && quantity >= most && quantity > 0 && !isOver
    const line = input.closest('li')
    // The line names its own limit in any case.
    line?.querySelector('.each')?.classList.toggle('bound', isBound && limit === 'each')
    const isToldHere = limit !== 'each' && input.name === touched
    write(line?.querySelector('[data-limit-of]') ?? null, isBound && isToldHere ? boundText(bound, offer, lang) : '')
  }
}

function boundText({ limit, most }: Bound, { limit: perVisitor, words }: Offer, lang: string): string {
  if (limit === 'together') return fill(words.most, { n: count(lang, perVisitor) })
  return fill(limit === 'each' ? words.each : words.left, { n: count(lang, most) })
}

/** A size that was just chosen counts one. */
export function countSize(size: HTMLInputElement): void {
  const number = size.closest('li')?.querySelector<HTMLInputElement>('input[type=number]')
  if (number && !(Number(number.value) > 0)) number.value = '1'
}

/** The field that a cart without a choice has to name. */
export const firstChoice = (form: HTMLFormElement) =>
  form.querySelector<HTMLInputElement>('.cart-lines :is(li:not(:has(.sizes)), .sizes) input:enabled:not([type=hidden])')

/** Adds a line for another size: a copy of the last one, of which nothing is chosen yet. */
export function addLine(button: HTMLElement): void {
  const last = button.closest('li')
  if (!last?.querySelector('.sizes :checked')) return
  const next = last.cloneNode(true) as HTMLElement
  button.closest('p')?.remove()
  const renamed = (name: string) => name.replace(/\d+$/, (row) => String(Number(row) + 1))
  const inLine = <E extends Element>(selector: string, act: (element: E) => void) =>
    next.querySelectorAll<E>(selector).forEach((element) => void act(element))
  inLine<HTMLInputElement>('input', (input) => {
    input.name = renamed(input.name)
    if (input.type === 'radio') input.checked = false
    else [input.id, input.value] = [input.name, '']
  })
  inLine<HTMLLabelElement>('label[for]', (label) => {
    label.htmlFor = renamed(label.htmlFor)
  })
  inLine('.fault', (fault) => fault.remove())
  inLine('[data-limit-of]', (note) => {
    note.textContent = ''
  })
  last.after(next)
  next.querySelector<HTMLElement>('.sizes input:enabled')?.focus()
}
