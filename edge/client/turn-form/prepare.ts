/**
 * Keeps what a visitor fills in while in line, for the form of the turn. The line's page loads it when its part is
 * opened.
 */
import type { Prepared } from '../../pages/line/prepare.ts'
import { exchangeFields } from './address.ts'
import { fillIn, keepTyped, loadTyped } from './typed.ts'

export function start(part: HTMLElement): void {
  const form = part.querySelector('form')
  // The part may be closed and opened again.
  if (!form || form.dataset.isStarted) return
  form.dataset.isStarted = 'yes'
  const { delivery, words }: Prepared = JSON.parse(form.querySelector('script')?.textContent ?? '')
  const address = form.querySelector<HTMLElement>('#address')
  const country = form.elements.namedItem('country')
  const [typed, begun] = [loadTyped(form), begunIn(form)]
  if (typed) fillIn(form, { ...typed, ...begun })
  if (address && country instanceof HTMLSelectElement) exchangeFields(address, country, delivery, words)
  const kept = form.querySelector<HTMLElement>('[data-kept]')
  const keep = () => {
    keepTyped(form)
    kept?.replaceChildren(kept.dataset.kept ?? '')
  }
  form.addEventListener('input', keep)
  if (Object.keys(begun).length > 0) keep()
  // The form is not sent before the turn.
  form.addEventListener('submit', (event) => event.preventDefault())
}

/** What a visitor filled in before this script arrived, which takes seconds on a slow network. */
function begunIn(form: HTMLFormElement): Record<string, string> {
  const fields = [...form.querySelectorAll<HTMLInputElement>('input[name]')]
  const begun = fields.filter((field) =>
    field.type === 'radio' ? field.checked && !field.defaultChecked : field.value !== field.defaultValue,
  )
  return Object.fromEntries(begun.map(({ name, value }) => [name, value]))
}
